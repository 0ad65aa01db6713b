"""Objectives of the classifier that are no mean over rows: metrics of two classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from certree import _core, ingest
from certree.scalars import shown

#: What the core calls them.
NAMES = {"f1": "fbeta", "fbeta": "fbeta", "jaccard": "jaccard", "mcc": "mcc"}


def goal(
    model: Any,
    labels: NDArray[Any],
    points: ingest.Points,
    factors: Sequence[float],
    balanced: bool,
) -> _core.Metric:
    """The model's metric of these points. ``factors`` are of the classes, which may be cut into
    groups."""
    known = labels.tolist()
    if len(known) != 2:
        raise ValueError(
            f"objective={model.objective!r} needs two classes, but y has {len(known)}: "
            f"{shown(known[:10])}"
        )
    beta = float(model.beta) if model.objective == "fbeta" else 1.0
    return _core.Metric(
        NAMES[model.objective],
        points.weights.ravel(),
        factors,
        balanced,
        positive_of(model, known),
        float(model.leaf_penalty),
        beta,
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
