"""Objectives of the classifier that are no mean over rows: metrics of two classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core
from certree.scalars import shown

#: What the core calls them.
NAMES = {"f1": "fbeta", "fbeta": "fbeta", "jaccard": "jaccard", "mcc": "mcc"}


def goal(
    model: Any,
    labels: NDArray[Any],
    weights: NDArray[np.float64],
    factors: Sequence[float],
    balanced: bool,
    n_sums: int = 0,
) -> _core.Metric:
    """The model's metric of points with these weights. ``factors`` are of the classes, which may be
    cut into groups; the last ``n_sums`` of them are sums that constraints count."""
    known = labels.tolist()
    if len(known) != 2:
        raise ValueError(
            f"objective={model.objective!r} needs two classes, but y has {len(known)}: "
            f"{shown(known[:10])}"
        )
    beta = float(model.beta) if model.objective == "fbeta" else 1.0
    return _core.Metric(
        NAMES[model.objective],
        weights.ravel(),
        factors,
        balanced,
        positive_of(model, known),
        float(model.leaf_penalty),
        beta,
        n_sums,
    )


def positive_of(model: Any, known: list[Any]) -> int:
    """The number of the positive class: the second one, if none is named."""
    if model.positive_label is None:
        return 1
    if model.positive_label not in known:
        raise ValueError(
            f"positive_label={shown(model.positive_label)} is not one of the classes in y, "
            f"{shown(known)}"
        )
    return known.index(model.positive_label)


def loss_of_counts(model: Any, counts: tuple[float, float, float, float]) -> float:
    """1 − the metric of true positives, false negatives, false positives and true negatives, which
    is 0 where it has nothing to divide by."""
    tp, fn, fp, tn = counts
    name = NAMES[model.objective]
    if name == "mcc":
        under = math.sqrt(tp + fp) * math.sqrt(tp + fn) * math.sqrt(tn + fp) * math.sqrt(tn + fn)
        return 1.0 - (tp * tn - fp * fn) / under if under > 0 else 1.0
    beta = float(model.beta) if model.objective == "fbeta" else 1.0
    square = beta**2 if name == "fbeta" else 0.0
    over = (1 + square) * tp
    under = over + (square if name == "fbeta" else 1.0) * fn + fp
    return 1.0 - over / under if under > 0 else 1.0


def in_words(model: Any, labels: NDArray[Any]) -> str:
    """The loss, for the certificate."""
    name = {
        "f1": "F1",
        "fbeta": f"F-beta (beta {float(model.beta):g})",
        "jaccard": "Jaccard index",
        "mcc": "Matthews correlation coefficient",
    }[model.objective]
    known = labels.tolist()
    # Of one class alone, whose goal will be refused, there is no second one.
    positive = known[min(positive_of(model, known), len(known) - 1)]
    whose = "" if model.objective == "mcc" else f" of {str(positive)!r}"
    weighted = ", class weights applied" if model.class_weight else ""
    return f"1 minus the {name}{whose}{weighted}"
