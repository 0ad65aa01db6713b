"""Objectives of the classifier that are no mean over rows: metrics of two classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from certree import _core

#: What the core calls them.
NAMES = {"f1": "fbeta", "fbeta": "fbeta", "jaccard": "jaccard", "mcc": "mcc"}


def solve(
    model: Any,
    labels: NDArray[Any],
    data: tuple[Any, Any, Any],
    factors: Sequence[float],
    limits: tuple[Any, Any, Any, Any],
) -> _core.Answer:
    """Search for the best tree by the model's metric."""
    balanced = model.class_weight == "balanced"
    return _core.solve_metric(*data, factors, balanced, *asked(model, labels.tolist()), *limits)


def asked(model: Any, known: list[Any]) -> tuple[str, float, int]:
    """The metric, its beta, and the number of the positive class."""
    beta = float(model.beta) if model.objective == "fbeta" else 1.0
    return NAMES[model.objective], beta, _positive(model, known)


def _positive(model: Any, known: list[Any]) -> int:
    """The number of the positive class, if the objective can be asked of these classes."""
    if model.cost_matrix is not None:
        raise ValueError(
            f"objective={model.objective!r} has no costs: leave cost_matrix out, or take class_weight"
        )
    if len(known) != 2:
        raise ValueError(
            f"objective={model.objective!r} needs two classes, but y has {len(known)}: {known[:10]!r}"
        )
    return positive_of(model, known)


def positive_of(model: Any, known: list[Any]) -> int:
    """The number of the positive class: the second one, if none is named."""
    if model.positive_label is None:
        return 1
    if model.positive_label not in known:
        raise ValueError(
            f"positive_label={model.positive_label!r} is not one of the classes in y, {known!r}"
        )
    return known.index(model.positive_label)


def in_words(model: Any) -> str:
    """The loss, for the certificate of a fitted model."""
    name = {
        "f1": "F1",
        "fbeta": f"F-beta (beta {model.beta:g})",
        "jaccard": "Jaccard index",
        "mcc": "Matthews correlation coefficient",
    }[model.objective]
    positive = model.classes_[-1] if model.positive_label is None else model.positive_label
    whose = "" if model.objective == "mcc" else f" of {str(positive)!r}"
    weighted = ", class weights applied" if model.class_weight else ""
    return f"1 minus the {name}{whose}{weighted}"
