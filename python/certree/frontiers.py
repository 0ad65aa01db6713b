"""All trees that are best for some trade between two aims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from certree import notebook, whole_frontiers
from certree.constraints import (
    NO_TREE,
    DemographicParity,
    EqualOpportunity,
    EqualRates,
    FalsePositiveRate,
)
from certree.estimators._metrics import positive_of
from certree.scalars import is_number, shown
from certree.tree import Tree
from certree.tree_frames import TreeFrame
from certree.warned import warn

AXES = (("loss", "leaves"), ("false_negatives", "false_positives"), ("loss", "disparity"))

Row = tuple[float, float, Any]


def frontier(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    axes: tuple[Any, ...] = ("loss", "leaves"),
    time_limit: float | None = None,
    max_points: int = 1_000_000,
    **fit_params: Any,
) -> Frontier:
    """Every tree that no other one is better than on all axes.

    Parameters
    ----------
    estimator : an estimator of certree
        What is searched: its limits on size, cuts and objective. Its ``leaf_penalty`` is not used.
    X : frame, array or list of rows
        The features.
    y : default=None
        The second argument of the estimator's ``fit``: labels, numbers, costs, treatments, times or
        statistics. None where ``fit`` needs none, as with ``rewards=``.
    **fit_params
        Further arguments of its ``fit``, such as ``sample_weight``, ``exposure``, ``event``,
        ``outcome``, ``propensity`` or ``rewards``.
    axes : tuple of two or three axes, default=("loss", "leaves")
        - ``("loss", "leaves")``: the least loss with 1, 2, ... leaves, for any estimator that
          limits ``max_depth`` or ``max_leaf_nodes``, but for a classifier by "mdl", whose leaves
          have a cost of their own. For every ``leaf_penalty``, the best tree is among them.
        - ``("false_negatives", "false_positives")``: row weights of the two errors of a classifier
          of two classes. The best tree by any metric that falls with both is among them, and of
          trees that keep to ``constraints`` if there are any.
        - ``("loss", "disparity")``: the loss against what the first ``DemographicParity`` or
          ``EqualOpportunity`` of ``constraints`` limits, from its ``max_difference`` down.
        - Two or three different ones of "loss", "leaves", "errors" (the row weight that gets
          another label), "false_negatives", "false_positives", ``("errors", label)`` (the row
          weight of a label that gets another one) and ``("rows", label)`` (the row weight that
          gets the label), for a classifier that limits ``max_depth`` or ``max_leaf_nodes``, without
          constraints and feature costs. The loss may have class weights or costs, if they are
          short decimals.
    time_limit : float or None, default=None
        Seconds for all rows together, reading included; each row also has the estimator's own.
        Where they end before the last row, the trees that are missing are beyond the rows that
        there are, and a ``ConvergenceWarning`` says so.
    max_points : int, default=1_000_000
        A frontier of sums over rows that has more trees is an error.

    Returns
    -------
    polars.DataFrame
        A row for each tree: the axes, the ``tree``, and the ``status`` of its search. Where that
        is not "optimal", trees may be missing. The first axis rises from row to row, and of two
        axes the second one falls. A notebook shows it as a curve, with trees that open.

        Of sums over rows, the frame also has a ``certificate``, which says in a sentence what was
        proved, and ``open``, a frame of the axes: every tree is no better than one of the rows, or
        than one of these. It is empty where the frontier is complete. What polars makes of the
        frame has neither.

    Notes
    -----
    Sums over rows are found in one search, which joins the frontiers of both sides of a split. It
    adds up whole numbers, so that a frontier of weights that are short decimals is exact; other
    weights are rounded to 2⁻⁴⁰ of the total, and trees that are closer than that count as one. Each
    tree is recounted from the rows. A row whose status is "optimal" is on the frontier even where
    others may be missing.

    Otherwise (the loss against leaves or disparity, and errors under constraints) each row is a
    search with a limit on the second axis that excludes what the last tree had, and the estimator's
    time limit for itself. Shares of real-valued weights are compared in units of 2⁻⁴⁰ there, too.
    For leaves, and losses that add up over rows, it goes on from what was proved of nodes for the
    rows before, so that all of them take little more than one.

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

    False negatives, false positives and leaves at once:

    >>> axes = ("false_negatives", "false_positives", "leaves")
    >>> front = frontier(OptimalTreeClassifier(max_depth=2), X, y, axes=axes)
    >>> front.select(axes).rows()
    [(0.0, 0.0, 4.0), (0.0, 1.0, 2.0), (0.0, 3.0, 1.0), (1.0, 0.0, 2.0), (3.0, 0.0, 1.0)]
    """
    has_sums = whole_frontiers.are_axes(axes) and tuple(axes) != AXES[0]
    if not has_sums and not (isinstance(axes, (tuple, list)) and _are_axes(axes)):
        raise ValueError(
            f"axes={shown(axes)} is not valid: it must be one of {', '.join(map(repr, AXES))}, or "
            + whole_frontiers.HELP
        )
    is_whole = isinstance(max_points, (int, np.integer)) and not isinstance(max_points, bool)
    if not (is_whole and max_points >= 1):
        raise ValueError(
            f"max_points={shown(max_points)} is not valid: it must be a whole number of at least 1"
        )
    if getattr(estimator, "reference", None) is not None:
        raise ValueError(
            "a frontier holds the best trees, and reference= finds trees that may not be: leave it "
            "at None"
        )
    check_time_limit(time_limit)
    if getattr(estimator, "objective", None) == "mdl":
        raise ValueError(
            "objective='mdl' sets what a leaf costs, so that there is no trade to choose: fit it "
            "alone, or take "
            "'log_loss', which is the same loss without that cost"
        )
    # Of trees that keep to constraints, each is searched by itself.
    if has_sums and not (tuple(axes) == AXES[1] and getattr(estimator, "constraints", ())):
        return _by_sums(estimator, Data(X, y, fit_params), axes, time_limit, int(max_points))
    model = clone(estimator).set_params(leaf_penalty=0)
    searches = {"leaves": by_leaves, "false_positives": _by_errors, "disparity": _by_disparity}
    search = searches[axes[1]]
    clock = Clock(time_limit, model.time_limit)
    rows = undominated(search(model, Data(X, y, fit_params), clock))
    return Frontier(
        {
            axes[0]: [row[0] for row in rows],
            axes[1]: [float(row[1]) for row in rows],
            "tree": pl.Series([row[2].tree_ for row in rows], dtype=pl.Object),
            "status": [row[2].status_ for row in rows],
        }
    )


def check_time_limit(time_limit: Any) -> None:
    """An error unless it can be the limit of several searches together."""
    if time_limit is not None and not (is_number(time_limit) and time_limit > 0):
        raise ValueError(
            f"time_limit={shown(time_limit)} is not valid: it must be a positive number of "
            "seconds, or None"
        )


def undominated(rows: Iterable[Row]) -> list[Row]:
    """The rows that no later one is as good as on the first axis; later ones are better on the
    second."""
    kept: list[Row] = []
    for row in rows:
        while kept and kept[-1][0] >= row[0]:
            kept.pop()
        kept.append(row)
    return kept


def _by_sums(
    estimator: Any, data: Data, axes: Sequence[Any], time_limit: float | None, most: int
) -> Frontier:
    """One search of all rows."""
    more = dict(data.more)
    given = (data.X, data.y, more.pop("sample_weight", None))
    if more:
        raise ValueError(f"axes={shown(tuple(axes))} take no {next(iter(more))}=")
    model = clone(estimator)
    model.set_params(time_limit=Clock(time_limit, model.time_limit).limit())
    found = whole_frontiers.search(model, given, axes, most)
    columns = {
        name: [float(values[at]) for values, *_ in found.rows]
        for at, name in enumerate(found.names)
    }
    front = Frontier(
        {
            **columns,
            "tree": pl.Series([tree for _, tree, _ in found.rows], dtype=pl.Object),
            "status": [status for *_, status in found.rows],
        }
    )
    front.certificate, front.open = found.statement, whole_frontiers.open_frame(found)
    return front


class Frontier(TreeFrame):
    """The frame that :func:`frontier` answers, which a notebook shows with its curve and trees.
    What polars makes of it is a frame like any other."""

    #: Of sums over rows: what was proved, in a sentence.
    certificate: str | None = None
    #: Of sums over rows: where trees may be that were not found.
    open: pl.DataFrame | None = None

    def _repr_html_(self) -> str:
        columns = self.columns
        if columns[2:] != ["tree", "status"] or tuple(columns[:2]) not in AXES:
            return str(super()._repr_html_())
        return notebook.of_frontier(self)


def _are_axes(axes: Sequence[Any]) -> bool:
    # Arrays and numbers of other libraries are compared in ways of their own.
    return all(isinstance(axis, str) for axis in axes) and tuple(axes) in AXES


class Clock:
    """Tells how much is left of the time for all rows, and keeps the estimator's own limit for
    each."""

    def __init__(self, total: float | None, each: float | None) -> None:
        self.end = None if total is None else monotonic() + total
        self.each = each

    def __getstate__(self) -> tuple[float | None, float | None]:
        # Another machine has another clock, which only agrees on how much is left.
        return None if self.end is None else self.end - monotonic(), self.each

    def __setstate__(self, state: tuple[float | None, float | None]) -> None:
        left, self.each = state
        self.end = None if left is None else monotonic() + left

    def limit(self, shares: int = 1) -> float | None:
        """For the next row, if so many share what is left; hardly anything where all is over."""
        if self.end is None:
            return self.each
        left = max(self.end - monotonic(), 1e-9) / shares
        return left if self.each is None else min(left, self.each)

    def is_over_now(self) -> bool:
        return self.end is not None and monotonic() >= self.end

    def is_over(self, last: Any) -> bool:
        """As above, with a warning: there would be a row after this last one."""
        if not self.is_over_now():
            return False
        warn(
            "the time limit of the frontier was reached: trees beyond the last row, which has an "
            f"objective of {last.objective_:.6g}, are missing",
            ConvergenceWarning,
        )
        return True


@dataclass(frozen=True)
class Data:
    """The arguments of ``fit``."""

    X: Any
    y: Any
    more: Mapping[str, Any]

    def fit(self, model: Any) -> Any:
        """The model, fitted to them."""
        data = (self.X,) if self.y is None else (self.X, self.y)
        return model.fit(*data, **self.more)


def _fit(
    model: Any, data: Data, clock: Clock, strict: int | None = None, **parameters: Any
) -> Any:
    """A fit with other parameters. ``strict``: the constraint whose limit is excluded itself."""
    model = clone(model).set_params(time_limit=clock.limit(), **parameters)
    model._strict_constraint = strict
    return data.fit(model)


def _fit_within(
    model: Any, data: Data, clock: Clock, strict: int | None, **parameters: Any
) -> Any | None:
    """A fit, or ``None`` where a strict limit leaves no tree."""
    try:
        return _fit(model, data, clock, strict, **parameters)
    except ValueError as error:
        if strict is not None and str(error).startswith(NO_TREE):
            return None
        raise


def by_leaves(model: Any, data: Data, clock: Clock) -> Iterator[Row]:
    """Loss, leaves and the model, from the largest tree to a single leaf, or until the time is
    over."""
    if model.max_depth is None and model.max_leaf_nodes is None:
        raise ValueError(
            "loss against leaves needs a limit on the size of trees: set max_depth or "
            "max_leaf_nodes"
        )
    model = clone(model)
    model._keeps_search = True
    model.set_params(time_limit=clock.limit())
    found = data.fit(model)
    while True:
        leaves = found.get_n_leaves()
        yield found.objective_, leaves, found
        if leaves == 1 or clock.is_over(found):
            return
        found.time_limit = clock.limit()
        smaller = found._with_most_leaves(leaves - 1)
        found = smaller or _fit(model, data, clock, max_leaf_nodes=leaves - 1)


def _by_errors(model: Any, data: Data, clock: Clock) -> Iterator[Row]:
    """Of trees that keep to constraints."""
    _classifier(model, "false_negatives against false_positives")
    if model.cost_matrix is not None or model.class_weight is not None:
        raise ValueError(
            "false_negatives against false_positives is for a classifier without cost_matrix and "
            "class_weight"
        )
    least = _fit(model, data, clock, objective="accuracy", max_depth=0, constraints=())
    labels = least.classes_.tolist()
    if len(labels) != 2:
        raise ValueError(
            f"false negatives and positives are of two classes, but y has {len(labels)}: "
            f"{shown(labels[:10])}"
        )
    positive = positive_of(model, labels)
    costs = np.zeros((2, 2))
    costs[1 - positive, positive] = 1
    # False negatives come first: false positives only decide among as many of them.
    costs[positive, 1 - positive] = 1e9
    limit, strict = 1.0, None
    while True:
        constraints = (FalsePositiveRate(limit), *model.constraints)
        found = _fit_within(
            model,
            data,
            clock,
            strict,
            objective="accuracy",
            cost_matrix=costs,
            constraints=constraints,
        )
        if found is None:
            return
        yield *_errors(found.tree_, labels, positive), found
        attained = found.certificate_.constraints[0].attained
        if attained == 0 or clock.is_over(found):
            return
        limit, strict = min(attained, 1.0), 0


def _by_disparity(model: Any, data: Data, clock: Clock) -> Iterator[Row]:
    _classifier(model, "loss against disparity")
    kinds = (DemographicParity, EqualOpportunity, EqualRates)
    first = next(
        (
            at
            for at, each in enumerate(model.constraints)
            if isinstance(each, kinds) and each.max_difference is not None
        ),
        None,
    )
    if first is None:
        raise ValueError(
            "loss against disparity needs a DemographicParity, EqualOpportunity or EqualRates with "
            "max_difference among constraints, which names the sensitive column"
        )
    own = model.constraints[first]
    limit, strict = own.max_difference, None
    while True:
        constraints = list(model.constraints)
        constraints[first] = replace(own, max_difference=limit)
        found = _fit_within(model, data, clock, strict, constraints=tuple(constraints))
        if found is None:
            return
        attained = found.certificate_.constraints[first].attained
        yield found.objective_, attained, found
        if attained == 0 or clock.is_over(found):
            return
        limit, strict = min(attained, 1.0), first


def _classifier(model: Any, what: str) -> None:
    if not hasattr(model, "cost_matrix"):
        raise ValueError(f"{what} is for OptimalTreeClassifier, not {type(model).__name__}")


def _errors(tree: Tree, labels: list[Any], positive: int) -> tuple[float, float]:
    """Row weight of false negatives and of false positives."""
    wrong = [0.0, 0.0]
    for node in tree.nodes:
        if node.is_leaf:
            label = labels.index(node.label)
            wrong[int(label == positive)] += node.value[1 - label]
    return wrong[0], wrong[1]
