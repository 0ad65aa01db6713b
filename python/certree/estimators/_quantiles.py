"""Objectives of the regressor whose leaves answer with one of a few levels: absolute error and
pinball loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core, ingest
from certree.ingest.checks import check_sum
from certree.scalars import shown
from certree.tree import Tree

OBJECTIVES = ("absolute_error", "quantile")


def alpha(model: Any) -> float:
    return 0.5 if model.objective == "absolute_error" else float(model.quantile)


def check(model: Any) -> None:
    """An error for a quantile that the objective does not use."""
    if model.objective != "quantile" and model.quantile != 0.5:
        raise ValueError(
            f"quantile={shown(model.quantile)} is only for objective='quantile', not "
            f"{model.objective!r}"
        )


def in_words(model: Any, levels: NDArray[np.float64], every: bool) -> str:
    what = f"pinball loss at {alpha(model):g}"
    if model.objective == "absolute_error":
        what = "absolute error"
    of = "all targets" if every else f"{len(levels)} levels"
    return f"{what} as a share of that of a single leaf, with answers among {of},"


def pinball(
    targets: NDArray[np.float64], answers: NDArray[np.float64], share: float
) -> NDArray[np.float64]:
    """The loss of each row; twice that of the usual definition, so that at one half it is the
    absolute error. Infinite where it is more than a float holds."""
    with np.errstate(over="ignore"):
        return 2.0 * np.where(
            targets >= answers, share * (targets - answers), (1 - share) * (answers - targets)
        )


def choose_levels(
    targets: NDArray[np.float64], weights: NDArray[np.float64] | None, share: float, most: int
) -> tuple[NDArray[np.float64], bool]:
    """The answers that leaves may give, and whether that is every target. Otherwise so many
    quantiles of the targets, each at the middle of an equal share of the row weight, and the
    quantile of all rows."""
    distinct, place = np.unique(targets, return_inverse=True)
    if len(distinct) <= most:
        return distinct, True
    weight = np.bincount(place, weights=weights, minlength=len(distinct)).cumsum()
    chosen = {float(distinct[_at(weight, share)])}
    middles = (np.arange(most - 1) + 0.5) / max(most - 1, 1)
    chosen |= {float(distinct[_at(weight, middle)]) for middle in middles[: most - 1]}
    return np.array(sorted(chosen)), False


def _at(cumulated: NDArray[np.float64], share: float) -> int:
    """The first value by which this share of the weight is reached."""
    return min(int(np.searchsorted(cumulated, share * cumulated[-1])), len(cumulated) - 1)


def best_constant(
    targets: NDArray[np.float64], weights: NDArray[np.float64] | None, share: float
) -> float:
    """The loss of one answer for all rows, the best there is."""
    distinct, place = np.unique(targets, return_inverse=True)
    weight = np.bincount(place, weights=weights, minlength=len(distinct)).cumsum()
    each = pinball(targets, np.full(len(targets), distinct[_at(weight, share)]), share)
    return float((each if weights is None else each * weights).sum())


def goal(
    model: Any,
    located: ingest.Located,
    targets: NDArray[np.float64],
    levels: NDArray[np.float64],
) -> _core.RowCosts:
    """The goal of the search: the costs of each level for each row."""
    share = alpha(model)
    weights, points = located.weights, located.points
    costs = np.column_stack(
        [pinball(targets, np.full(len(targets), level), share) for level in levels]
    )
    check_sum(costs)
    sizes = costs.sum(axis=1)
    size = float((sizes if weights is None else sizes * weights).sum())
    summed = _core.sum_by_point(located.point_of, points.n_points, costs, weights)
    whole = _of_one_leaf(model, located, targets)
    paying = points.weights.ravel() * paid_by_weight(model, located, targets)
    return _core.RowCosts(summed, paying, size, whole, float(model.leaf_penalty))


def paid_by_weight(
    model: Any, located: ingest.Located, targets: NDArray[np.float64]
) -> float:
    """What a row with a weight of 1 adds to the summed loss for a cost of 1: its share of all
    weight, times the loss of one leaf, by which the objective is divided."""
    return _of_one_leaf(model, located, targets) / float(located.points.weights.sum())


def _of_one_leaf(model: Any, located: ingest.Located, targets: NDArray[np.float64]) -> float:
    """The loss of a single leaf. A target that all rows have is explained by one, which costs
    nothing."""
    return best_constant(targets, located.weights, alpha(model)) or 1.0


def with_levels(tree: Tree, levels: NDArray[np.float64], names: NDArray[Any]) -> Tree:
    """The tree whose nodes hold the levels that they answer."""
    parts = [
        (split, 0, rows, [float(levels[label])], loss)
        for split, label, rows, _, loss in tree._core.parts()
    ]
    return tree._with(core=_core.Tree(parts), labels=names, task="quantiles")
