"""All trees that are best for some trade between two aims."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from time import monotonic
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from certree import notebook
from certree.constraints import NO_TREE, DemographicParity, EqualOpportunity, FalsePositiveRate
from certree.estimators._metrics import positive_of
from certree.estimators.parameters import is_number
from certree.tree import Tree

AXES = (("loss", "leaves"), ("false_negatives", "false_positives"), ("loss", "disparity"))

Row = tuple[float, float, Any]


def frontier(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    axes: tuple[str, str] = ("loss", "leaves"),
    sample_weight: Any = None,
    time_limit: float | None = None,
) -> pl.DataFrame:
    """Every tree that no other one is better than on both axes.

    Parameters
    ----------
    estimator : an estimator of certree
        What is searched: its limits on size, cuts and objective. Its ``leaf_penalty`` is not used.
    X, y, sample_weight
        As for its ``fit``.
    axes : tuple of two str, default=("loss", "leaves")
        - ``("loss", "leaves")``: the least loss with 1, 2, ... leaves, for any estimator that limits
          ``max_depth`` or ``max_leaf_nodes``. For every ``leaf_penalty``, the best tree is among
          them.
        - ``("false_negatives", "false_positives")``: row weights of the two errors of a classifier of two classes.
          The best tree by any metric that falls with both is among them, and of trees that keep to
          ``constraints`` if there are any.
        - ``("loss", "disparity")``: the loss against what the first ``DemographicParity`` or ``EqualOpportunity`` of
          ``constraints`` limits, from its ``max_difference`` down.
    time_limit : float or None, default=None
        Seconds for all rows together, reading included; each row also has the estimator's own.
        Where they end before the last row, the trees that are missing are beyond the rows that
        there are, and a ``ConvergenceWarning`` says so.

    Returns
    -------
    polars.DataFrame
        A row for each tree: both axes, the ``tree``, and the ``status`` of its search. Where that
        is not "optimal", trees may be missing. The first axis rises from row to row, the second one
        falls. A notebook shows it as a curve, with trees that open.

    Notes
    -----
    Each row has a limit on the second axis just below what the last tree had, and the estimator's
    time limit for itself. For leaves, and losses that add up over rows, it goes on from what was
    proved of nodes for the rows before, so that all of them take little more than one. Else it is a
    search of its own.

    Examples
    --------
    >>> import polars as pl
    >>> from certree import OptimalTreeClassifier, frontier
    >>> X, y = pl.DataFrame({"a": [1, 2, 3, 4, 5, 6]}), [0, 0, 1, 0, 1, 1]
    >>> front = frontier(OptimalTreeClassifier(max_depth=2), X, y)
    >>> front.select("loss", "leaves").rows()
    [(0.0, 4.0), (0.16666666666666666, 2.0), (0.5, 1.0)]
    >>> front["tree"][1]
    Tree(2 leaves, depth 1, columns used: a)
    """
    if axes not in AXES:
        raise ValueError(f"axes={axes!r} is not valid: it must be one of {', '.join(map(repr, AXES))}")
    if getattr(estimator, "reference", None) is not None:
        raise ValueError(
            "a frontier holds the best trees, and reference= finds trees that may not be: leave it at None"
        )
    if time_limit is not None and not (is_number(time_limit) and time_limit > 0):
        raise ValueError(
            f"time_limit={time_limit!r} is not valid: it must be a positive number of seconds, or None"
        )
    model = clone(estimator).set_params(leaf_penalty=0)
    search = {"leaves": _by_leaves, "false_positives": _by_errors, "disparity": _by_disparity}[axes[1]]
    rows: list[Row] = []
    clock = Clock(time_limit, model.time_limit)
    for row in search(model, X, y, sample_weight, clock):
        # As good on the first axis, and better on the second: the last one is not among the best.
        while rows and rows[-1][0] >= row[0]:
            rows.pop()
        rows.append(row)
    return Frontier(
        {
            axes[0]: [row[0] for row in rows],
            axes[1]: [float(row[1]) for row in rows],
            "tree": pl.Series([row[2].tree_ for row in rows], dtype=pl.Object),
            "status": [row[2].status_ for row in rows],
        }
    )


class Frontier(pl.DataFrame):
    """The frame that :func:`frontier` answers, which a notebook shows with its curve and trees.
    What polars makes of it is a frame like any other."""

    def _repr_html_(self) -> str:
        columns = self.columns
        if tuple(columns[:2]) not in AXES or columns[2:] != ["tree", "status"]:
            return str(super()._repr_html_())
        return notebook.of_frontier(self)


class Clock:
    """Tells how much is left of the time for all rows, and keeps the estimator's own limit for
    each."""

    def __init__(self, total: float | None, each: float | None) -> None:
        self.end = None if total is None else monotonic() + total
        self.each = each

    def limit(self) -> float | None:
        """For the next row; hardly anything where all is over."""
        if self.end is None:
            return self.each
        left = max(self.end - monotonic(), 1e-9)
        return left if self.each is None else min(left, self.each)

    def is_over(self, last: Any) -> bool:
        """True if the time has ended before the row that would come after this last one."""
        if self.end is None or monotonic() < self.end:
            return False
        warnings.warn(
            "the time limit of the frontier was reached: trees beyond the last row, which has an "
            f"objective of {last.objective_:.6g}, are missing",
            ConvergenceWarning,
            stacklevel=4,
        )
        return True


def _fit(model: Any, X: Any, y: Any, sample_weight: Any, clock: Clock, **parameters: Any) -> Any:
    model = clone(model).set_params(time_limit=clock.limit(), **parameters)
    return model.fit(X, y) if sample_weight is None else model.fit(X, y, sample_weight=sample_weight)


def _fit_within(
    model: Any, X: Any, y: Any, sample_weight: Any, clock: Clock, tightened: bool, **parameters: Any
) -> Any | None:
    """A fit, or ``None`` where a limit that was tightened leaves no tree."""
    try:
        return _fit(model, X, y, sample_weight, clock, **parameters)
    except ValueError as error:
        if tightened and str(error).startswith(NO_TREE):
            return None
        raise


def _by_leaves(
    model: Any, X: Any, y: Any, sample_weight: Any, clock: Clock
) -> Iterator[Row]:
    if model.max_depth is None and model.max_leaf_nodes is None:
        raise ValueError(
            "loss against leaves needs a limit on the size of trees: set max_depth or max_leaf_nodes"
        )
    model = clone(model)
    model._keeps_search = True
    model.set_params(time_limit=clock.limit())
    found = model.fit(X, y) if sample_weight is None else model.fit(X, y, sample_weight=sample_weight)
    while True:
        leaves = found.get_n_leaves()
        yield found.objective_, leaves, found
        if leaves == 1 or clock.is_over(found):
            return
        found.set_params(time_limit=clock.limit())
        smaller = found._with_most_leaves(leaves - 1)
        found = smaller or _fit(model, X, y, sample_weight, clock, max_leaf_nodes=leaves - 1)


def _by_errors(
    model: Any, X: Any, y: Any, sample_weight: Any, clock: Clock
) -> Iterator[Row]:
    _classifier(model, "false_negatives against false_positives")
    if model.cost_matrix is not None or model.class_weight is not None:
        raise ValueError(
            "false_negatives against false_positives is for a classifier without cost_matrix and class_weight"
        )
    least = _fit(
        model, X, y, sample_weight, clock, objective="accuracy", max_depth=0, constraints=()
    )
    labels = least.classes_.tolist()
    if len(labels) != 2:
        raise ValueError(
            f"false negatives and positives are of two classes, but y has {len(labels)}: {labels[:10]!r}"
        )
    positive = positive_of(model, labels)
    costs = np.zeros((2, 2))
    costs[1 - positive, positive] = 1
    # False negatives come first: false positives only decide among as many of them.
    costs[positive, 1 - positive] = 1e9
    limit = 1.0
    while limit >= 0:
        constraints = (FalsePositiveRate(limit), *model.constraints)
        found = _fit_within(
            model,
            X,
            y,
            sample_weight,
            clock,
            limit < 1,
            objective="accuracy",
            cost_matrix=costs,
            constraints=constraints,
        )
        if found is None:
            return
        yield *_errors(found.tree_, labels, positive), found
        if clock.is_over(found):
            return
        limit = _below(found.certificate_.constraints[0].attained)


def _by_disparity(
    model: Any, X: Any, y: Any, sample_weight: Any, clock: Clock
) -> Iterator[Row]:
    _classifier(model, "loss against disparity")
    kinds = (DemographicParity, EqualOpportunity)
    first = next((at for at, each in enumerate(model.constraints) if isinstance(each, kinds)), None)
    if first is None:
        raise ValueError(
            "loss against disparity needs a DemographicParity or EqualOpportunity among constraints, which "
            "names the sensitive column"
        )
    own = model.constraints[first]
    limit = own.max_difference
    while limit >= 0:
        constraints = list(model.constraints)
        constraints[first] = replace(own, max_difference=limit)
        tightened = limit < own.max_difference
        found = _fit_within(
            model, X, y, sample_weight, clock, tightened, constraints=tuple(constraints)
        )
        if found is None:
            return
        attained = found.certificate_.constraints[first].attained
        yield found.objective_, attained, found
        if clock.is_over(found):
            return
        limit = _below(attained)


def _classifier(model: Any, what: str) -> None:
    if not hasattr(model, "cost_matrix"):
        raise ValueError(f"{what} is for OptimalTreeClassifier, not {type(model).__name__}")


def _below(value: float) -> float:
    """The next smaller number; below zero there is nothing more to find."""
    return float(np.nextafter(value, -1.0)) if value > 0 else -1.0


def _errors(tree: Tree, labels: list[Any], positive: int) -> tuple[float, float]:
    """Row weight of false negatives and of false positives."""
    wrong = [0.0, 0.0]
    for node in tree.nodes:
        if node.is_leaf:
            label = labels.index(node.label)
            wrong[int(label == positive)] += node.value[1 - label]
    return wrong[0], wrong[1]
