"""Objectives of the classifier that are functions of the confusion matrix of any number of classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core, combinations
from certree.estimators.parameters import Rule
from certree.scalars import shown

Floats = NDArray[np.float64]

#: Metrics by their names, and what they are called in a certificate.
NAMES = {
    "f1_macro": "mean F1 of the classes",
    "f1_weighted": "F1 of the classes, each by its weight",
}

#: The F1 of all classes together is the accuracy, where each row has one class and one label.
MICRO = "f1_micro"


def rule(*names: str) -> Rule:
    """What ``objective`` may be."""
    return Rule(
        lambda value: callable(value) or (isinstance(value, str) and value in names),
        f"one of {', '.join(map(repr, names))}, or a function of the confusion matrix",
    )


def is_matrix(model: Any, n_classes: int) -> bool:
    """Whether the objective is a function of a confusion matrix of so many classes."""
    objective = model.objective
    return callable(objective) or objective in NAMES or (objective == "mcc" and n_classes > 2)


def check(model: Any) -> None:
    """An error unless "f1_micro" counts errors alone."""
    if model.objective == MICRO and model.cost_matrix is not None:
        raise ValueError(
            "objective='f1_micro' has no costs: leave cost_matrix out, or take class_weight"
        )


def goal(
    model: Any,
    labels: NDArray[Any],
    weights: Floats,
    factors: Sequence[float],
    balanced: bool,
) -> _core.Matrix:
    """The model's objective of points with these weights by class."""
    combinations.check(model, "Matrix", named(model))
    known = labels.tolist()
    if len(known) < 2:
        raise ValueError(
            f"{named(model)} needs two classes or more, but y has {len(known)}: {shown(known)}"
        )
    totals = weights.reshape(-1, len(known)).sum(axis=0) * np.asarray(factors)
    empty = [label for label, total in zip(known, totals) if not total > 0]
    if empty:
        raise ValueError(
            f"{named(model)} needs rows of every class, but no row of {shown(empty[:10])} weighs "
            "anything: leave these classes out"
        )
    penalty = float(model.leaf_penalty)
    return _core.Matrix(model.objective, weights.ravel(), factors, balanced, penalty)


def named(model: Any) -> str:
    """The objective as an error names it."""
    objective = model.objective
    if isinstance(objective, str):
        return f"objective={objective!r}"
    return f"objective={_name(objective)}"


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def in_words(model: Any) -> str:
    """The loss, for the certificate."""
    objective = model.objective
    if callable(objective):
        words = f"{_name(objective)} of the confusion matrix"
    else:
        words = "1 minus the " + NAMES.get(objective, "Matthews correlation coefficient")
    return words + (", class weights applied" if model.class_weight else "")


def matrix_of(
    actual: NDArray[np.intp], answers: NDArray[np.intp], weights: Floats, k: int
) -> Floats:
    """Weights by class and label, a row for each class."""
    cells = np.bincount(actual * k + answers, weights=weights, minlength=k * k)
    return np.asarray(cells, dtype=np.float64).reshape(k, k)


def loss_of_matrix(model: Any, matrix: Floats) -> float:
    """The loss of weights by class and label. A class that neither occurs nor is answered has no
    F1, and the mean is over the others."""
    objective = model.objective
    if callable(objective):
        return float(objective(matrix))
    right, totals, given = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    if objective == "mcc":
        return 1.0 - _correlation(float(right.sum()), totals, given)
    occurs = totals + given > 0
    f1 = 2.0 * right[occurs] / (totals + given)[occurs]
    weights = totals[occurs] if objective == "f1_weighted" else np.ones(len(f1))
    return 1.0 - float(np.average(f1, weights=weights))


def _correlation(right: float, totals: Floats, given: Floats) -> float:
    """Matthews' correlation of K classes; 0 where all is answered alike."""
    every = float(totals.sum())
    spread = [every**2 - float((each**2).sum()) for each in (totals, given)]
    if min(spread) <= 1e-14 * every**2:
        return 0.0
    covered = right * every - float((totals * given).sum())
    return covered / math.sqrt(spread[0]) / math.sqrt(spread[1])
