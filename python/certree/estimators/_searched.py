"""The set of trees that a fit searches, so that it can be counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import ingest
from certree.generalization import Losses, Questions, Searched
from certree.ingest.categories import n_sets
from certree.ingest.cuts import Wish, read_wishes

WEIGHTS = Losses(
    "rows have weights, and rows of different weight are not drawn alike; fit without weights"
)
CLASS_WEIGHTS = Losses(
    "class weights or balanced accuracy divide by the shares of classes in these rows"
)
#: Of nearly all columns, of which there may be 100,000: all cuts between values, and if some are
#: missing.
KNOWN, MISSING = Questions(0, 1), Questions(1, 2)
COLUMN_COSTS = Losses("feature_costs are no loss of a row, but a price of what is asked")


def of_labels(
    training: ingest.Training, costs: Sequence[float], weighted: bool, labels: NDArray[Any]
) -> Losses:
    """Of the costs of classes, which are errors if nothing else was asked for: then a label that
    was not there in training is one."""
    if weighted:
        return CLASS_WEIGHTS
    if training.unit is not None:
        return WEIGHTS
    low, high = float(min(costs)), float(max(costs))
    return Losses(None, len(labels), (low, high) if low < high else (low, low + 1.0))


def of_costs(training: ingest.Training, seen: tuple[float, float], labels: Any) -> Losses:
    """Of costs by row and label, whose range nobody has told. ``seen``: the least and the most."""
    if training.unit is not None:
        return WEIGHTS
    return Losses(None, len(labels), None, "all costs that a row can have", seen)


def of_squares(
    training: ingest.Training,
    targets: NDArray[np.float64],
    counts: NDArray[np.float64] | None = None,
) -> Losses:
    """Of squared errors, as a share of those of a single leaf. ``counts``: how many rows have each
    of the targets; None: one."""
    if training.unit is not None:
        return WEIGHTS
    if targets.shape[1] > 1:
        return Losses("there are several targets: fit a tree to each of them")
    seen = float(targets.min()), float(targets.max())
    # Squares of the largest floats are none. A power of two, so that nothing else is rounded.
    size = 2.0 ** (math.frexp(max(map(abs, seen)))[1] - 1)
    scaled = targets / size
    if counts is None:
        variance = float(scaled.var())
    else:
        mean = np.average(scaled[:, 0], weights=counts)
        variance = float(np.average((scaled[:, 0] - mean) ** 2, weights=counts))
    variance = variance * size * size
    return Losses(None, None, None, "the targets", seen, variance)


def searched(cuts: Sequence[ingest.Cuts], thresholds: Any, losses: Losses) -> Searched:
    """The questions of these columns. A cut that anyone has chosen by looking at the rows, be it a
    midpoint, a quantile or a guess, counts as one of all that rows can have."""
    wishes = read_wishes([each.column for each in cuts], thresholds)
    fitted = hasattr(thresholds, "thresholds_")
    questions = [_questions(each, wish, fitted) for each, wish in zip(cuts, wishes)]
    named = [each.column.name for each in cuts if each.column.kind == "category"]
    return Searched(tuple(questions), losses, tuple(named))


def _questions(cuts: ingest.Cuts, wish: Wish, fitted: bool) -> Questions:
    column = cuts.column
    # Where values are missing, they go either way, and may be asked for.
    ways, more = (2, 1) if column.missing else (1, 0)
    n_values = len(column.values)
    if column.kind == "boolean":
        return Questions(ways + more)
    if column.kind == "category":
        if cuts.way.sets or cuts.way.groups is not None:
            return Questions(n_sets(n_values + more))
        return Questions(ways * n_values + more)
    if column.kind == "ordered":
        return Questions(ways * max(n_values - 1, 0) + more)
    if not fitted and not isinstance(wish.cuts, (str, int, np.integer)):
        return Questions(ways * len(wish.cuts) + more)
    return MISSING if more else KNOWN
