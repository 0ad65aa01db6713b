"""Guessed lower bounds: by point, how much more a reference loses than the best label there, or the
mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core, budget, ingest
from certree.estimators import _balanced
from certree.estimators.parameters import Rule
from certree.ingest import in_memory


def _is_given(value: Any) -> bool:
    return (
        value is None
        or (isinstance(value, str) and value == "guess")
        or hasattr(value, "predict")
        or (hasattr(value, "__len__") and not isinstance(value, (str, bytes, dict)))
    )


RULE = Rule(
    _is_given, "'guess', a classifier, the labels that one predicts for the training rows, or None"
)

#: Of regression.
NUMBERS = Rule(
    _is_given, "'guess', a regressor, the numbers that one predicts for the training rows, or None"
)

#: The regrets of a reference by point, and what it is, in words.
Guess = tuple[NDArray[np.float64], str]


def in_time(of: Callable[..., Guess], arguments: tuple[Any, ...]) -> Guess | tuple[None, None]:
    """What one of the functions below guesses; nothing if the time of the fit is over before."""
    try:
        return of(*arguments)
    except budget.OutOfTime:
        return None, None


def of_classes(
    model: Any,
    features: Any,
    training: ingest.InMemory,
    thresholds: Any,
    costs: Sequence[float],
    factors: Sequence[float],
    balanced: bool,
) -> Guess:
    """For costs by class. ``costs`` by class and label, ``factors`` by class."""
    from certree.guess import answers
    from certree.guess.table import Goal

    assert training.classes is not None
    k = len(training.labels)
    weights = _row_weights(training)
    if balanced:
        totals = np.bincount(training.classes, weights=weights, minlength=k)
        factors = _balanced.factors(factors, totals[None, :])
    factor = np.array(factors)
    matrix = np.array(costs).reshape(k, k) * factor[:, None]
    # Labels are learnt where it is dear to miss them.
    counts = factor[training.classes] if weights is None else factor[training.classes] * weights
    even = bool((counts == counts[0]).all())
    goal = Goal(training.classes.astype(np.int64), training.labels, None if even else counts)
    guesser = thresholds if hasattr(thresholds, "n_fits_") else None
    labels, words = answers.of_rows(model.reference, features, training.kept, goal, guesser)
    both = replace(
        training, classes=training.classes * np.uint32(k) + labels, labels=np.arange(k * k)
    )
    _, points = in_memory.count(both, thresholds)
    if points.cut_short:
        raise budget.OutOfTime
    by_answer = points.weights.reshape(-1, k, k)
    lost = (by_answer * matrix).sum(axis=(1, 2))
    least = (by_answer.sum(axis=2) @ matrix).min(axis=1)
    return np.maximum(lost - least, 0.0) / counts.sum(), words


def of_rows(
    model: Any,
    features: Any,
    training: ingest.InMemory,
    located: ingest.Located,
    costs: NDArray[np.float64],
    by_point: NDArray[np.float64],
    labels: NDArray[Any],
) -> Guess:
    """For costs by row and label, and their sums by point and label."""
    from certree.guess import answers
    from certree.guess.table import Goal

    weights = np.ones(len(costs)) if located.weights is None else located.weights
    cheapest = costs.argmin(axis=1)
    goal = Goal(cheapest, labels, np.ptp(costs, axis=1) * weights)
    thresholds = model.thresholds
    guesser = thresholds if hasattr(thresholds, "n_fits_") else None
    if guesser is not None and (
        guesser.classes_ is None or set(guesser.classes_.tolist()) - set(labels.tolist())
    ):
        # It learnt something else.
        guesser = None
    answered, words = answers.of_rows(model.reference, features, training.kept, goal, guesser)
    chosen = np.ascontiguousarray(costs[np.arange(len(costs)), answered][:, None])
    lost = _core.sum_by_point(located.point_of, len(by_point), chosen, located.weights)[:, 0]
    return np.maximum(lost - by_point.min(axis=1), 0.0) / weights.sum(), words


def of_squares(
    model: Any,
    features: Any,
    training: ingest.InMemory,
    thresholds: Any,
    located: ingest.Located,
    targets: NDArray[np.float64],
) -> Guess:
    """For squared errors: what those of the reference add to the least that each point can have, if
    it answers each point's rows by its mean over them."""
    from certree.guess import answers
    from certree.guess.table import Goal

    y = targets[:, 0] if targets.shape[1] == 1 else targets
    goal = Goal(y, None, located.weights)
    guesser = thresholds if hasattr(thresholds, "n_fits_") else None
    answered, words = answers.of_rows(model.reference, features, training.kept, goal, guesser)
    n_points, weights = located.points.n_points, located.weights
    # Of a size whose squares are numbers still.
    centre = np.average(targets, axis=0, weights=weights)
    spread = targets - centre
    size = np.abs(spread).max()
    if size == 0.0:
        return np.zeros(n_points), words
    spread /= size
    with np.errstate(over="ignore"):
        off = np.clip(spread - (answered - centre) / size, -1e100, 1e100)

    def by_point(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return _core.sum_by_point(located.point_of, n_points, np.ascontiguousarray(values), weights)

    ones = np.ones((len(targets), 1))
    lost = (by_point(off) ** 2 / by_point(ones)).sum(axis=1)
    total = by_point(spread**2).sum()
    # No point costs more than all rows as one leaf.
    return np.minimum(lost / total, 1.0), words


def _row_weights(training: ingest.InMemory) -> NDArray[np.float64] | None:
    if training.unit is None or training.weights is None:
        return None
    return training.unit.restore(training.weights, *training.finer)
