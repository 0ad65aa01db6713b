"""How much of a tree stays when other rows of the population are drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from certree.conditions import plain
from certree.fan_out import FanOut
from certree.frontiers import Clock, check_time_limit
from certree.rows import Rows, in_memory
from certree.scalars import is_number, shown
from certree.schema import NUMBERS
from certree.nodes import Node
from certree.tree import Tree
from certree.warned import warn

#: Splits by the sides on the way to them: "" is the root, "LR" its left child's right one.
Places = Mapping[str, Node]


@dataclass(frozen=True)
class Stability:
    """A tree, and the trees of resampled rows."""

    tree: Tree
    #: Of each resample that there was time for.
    trees: tuple[Tree, ...]
    #: A row for each split of the tree: its node, its depth, its test, and the shares of
    #: resampled trees that ask its column (``column_asked``), ask it at this place
    #: (``column_here``), and ask the same there (``test_here``).
    splits: pl.DataFrame
    #: A row for each column that any tree asks: the shares of resampled trees that ask it
    #: (``asked``) and begin with it (``first``).
    columns: pl.DataFrame
    #: By resample, the share of all rows that both trees answer alike; of numbers, the share of the
    #: variance of the tree's answers that stays.
    agreements: tuple[float, ...]

    @property
    def agreement(self) -> float:
        """The mean over the resamples."""
        return float(np.mean(self.agreements))

    @property
    def root(self) -> float:
        """The share of resampled trees that begin with the column of the tree; where it is a single
        leaf, of those that are, too."""
        wanted = self.tree.nodes[0].column
        return float(np.mean([each.nodes[0].column == wanted for each in self.trees]))

    def statement(self) -> str:
        """All of it as plain sentences."""
        first = self.tree.nodes[0].column
        begin = "are a single leaf" if first is None else f"begin with {plain(first)}"
        told = [
            f"Of {len(self.trees)} trees of resampled rows, {self.root:.0%} {begin}, as the tree of"
            f" all rows does. They have {min(self._leaves)} to {max(self._leaves)} leaves (it has "
            f"{self.tree.n_leaves}), and answer {self.agreement:.1%} of the rows as it does."
        ]
        for row in self.splits.iter_rows(named=True):
            told.append(
                f"  {row['test']}: the column is asked by {row['column_asked']:.0%}, at this place "
                f"by {row['column_here']:.0%}, and in these words by {row['test_here']:.0%}"
            )
        return "\n".join(told)

    @property
    def _leaves(self) -> list[int]:
        return [each.n_leaves for each in self.trees]

    def __str__(self) -> str:
        return self.statement()


def stability(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    refits: int = 20,
    time_limit: float | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    client: Any = None,
    **fit_params: Any,
) -> Stability:
    """Fit an estimator to resampled rows, and tell what of its tree stays.

    Rows are drawn with replacement, as many as there are. A split that most trees have is in the
    data; one that few have could as well be another. What a tree is worth, it does not tell: trees
    that look different often answer alike, so look at ``agreement`` first.

    Parameters
    ----------
    estimator : an estimator of certree
        It is cloned.
    X, y, **fit_params
        What its ``fit`` takes. Vectors and tables with a value for each row are drawn with the
        rows.
    refits : int, default=20
        How many resamples.
    time_limit : float or None, default=None
        Seconds for all fits. Where they end, the resamples that are done are answered, and a
        ``ConvergenceWarning`` says so.
    random_state : int or None, default=0
        Of the draws.
    n_jobs : int or None, default=None
        How many fits at once, in threads; -1 for all cores. The estimator's own ``n_jobs`` are the
        threads of each search.
    client : distributed.Client or None, default=None
        A connection to a Dask cluster, on whose workers the fits run then, instead of in threads:
        see ``docs/dask.md``.

    Returns
    -------
    Stability

    Examples
    --------
    >>> from certree import OptimalTreeClassifier, stability
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = OptimalTreeClassifier(max_depth=1, thresholds=8)
    >>> found = stability(model, X, y, refits=10)
    >>> found.root, round(found.agreement, 3)
    (0.2, 0.935)
    >>> found.columns.head(2).rows()
    [('worst perimeter', 0.3, 0.3), ('worst concave points', 0.3, 0.3)]
    """
    if not (hasattr(estimator, "get_params") and hasattr(type(estimator), "certify")):
        raise TypeError(f"an estimator of certree is needed, not a {type(estimator).__name__}")
    if not is_number(refits) or refits != int(refits) or refits < 1:
        raise ValueError(f"refits={shown(refits)} is not valid: it must be a whole number above 0")
    check_time_limit(time_limit)
    rows = Rows(in_memory(X), y, fit_params)
    clock = Clock(time_limit, estimator.time_limit)
    n = rows.n
    state = check_random_state(random_state)
    draws = [np.sort(state.randint(0, n, n)) for _ in range(int(refits))] if n else []
    tree = _fitted(rows, estimator, None, clock)
    assert tree is not None
    given = [(estimator, drawn, clock) for drawn in draws]
    found = FanOut(rows, n_jobs, client).run(_fitted, given)
    trees = tuple(each for each in found if each is not None)
    if not trees:
        raise ValueError(
            f"time_limit={time_limit} was over before a tree of resampled rows was found: raise it"
        )
    if len(trees) < refits:
        warn(
            f"the time limit was over after {len(trees)} of {refits} resamples",
            ConvergenceWarning,
        )
    own = tree.predict(rows.X)
    agreements = tuple(_agreement(tree, own, each.predict(rows.X)) for each in trees)
    return Stability(tree, trees, _splits(tree, trees), _columns(tree, trees), agreements)


def _fitted(rows: Rows, estimator: Any, drawn: Any, clock: Clock) -> Tree | None:
    """The tree of these rows, or of all; none where the time is over."""
    if drawn is not None and clock.is_over_now():
        return None
    model = clone(estimator).set_params(time_limit=clock.limit())
    found: Tree = rows.data(drawn).fit(model).tree_
    return found


def _agreement(tree: Tree, own: Any, others: Any) -> float:
    if tree.task not in NUMBERS:
        alike = np.asarray(own == others).reshape(len(own), -1).all(axis=1)
        return float(alike.mean())
    own, others = (np.asarray(each, dtype=np.float64) for each in (own, others))
    spread = float(np.var(own, axis=0).sum())
    strayed = float(((own - others) ** 2).mean(axis=0).sum())
    if spread == 0:
        return float(math.isclose(strayed, 0.0, abs_tol=1e-24))
    return max(1.0 - strayed / spread, 0.0)


def _places(tree: Tree) -> Places:
    found: dict[str, Node] = {}
    waiting = [("", 0)]
    while waiting:
        place, at = waiting.pop()
        node = tree.nodes[at]
        if node.split is not None:
            found[place] = node
            waiting += [(f"{place}L", node.split.left), (f"{place}R", node.split.right)]
    return found


def _splits(tree: Tree, trees: tuple[Tree, ...]) -> pl.DataFrame:
    by_tree = [_places(each) for each in trees]
    asked = [{node.column for node in places.values()} for places in by_tree]
    lines = []
    for place, node in sorted(_places(tree).items(), key=lambda item: item[1].id):
        there = [places.get(place) for places in by_tree]
        columns = [each is not None and each.column == node.column for each in there]
        tests = [each is not None and each.test == node.test for each in there]
        any_place = [node.column in own for own in asked]
        shares = (float(np.mean(each)) for each in (any_place, columns, tests))
        lines.append((node.id, node.depth, node.test, *shares))
    schema = {
        "node": pl.Int64,
        "depth": pl.Int64,
        "test": pl.String,
        "column_asked": pl.Float64,
        "column_here": pl.Float64,
        "test_here": pl.Float64,
    }
    return pl.DataFrame(lines, schema=schema, orient="row")


def _columns(tree: Tree, trees: tuple[Tree, ...]) -> pl.DataFrame:
    asked = [{node.column for node in each.nodes if node.column is not None} for each in trees]
    own = {node.column for node in tree.nodes if node.column is not None}
    names = [each.name for each in tree.columns if each.name in own.union(*asked)]
    first = [each.nodes[0].column for each in trees]
    shares = {
        "asked": [float(np.mean([name in each for each in asked])) for name in names],
        "first": [float(np.mean([name == each for each in first])) for name in names],
    }
    return pl.DataFrame(
        {
            "column": pl.Series(names, dtype=pl.String),
            "asked": pl.Series(shares["asked"], dtype=pl.Float64),
            "first": pl.Series(shares["first"], dtype=pl.Float64),
        }
    ).sort("asked", descending=True, maintain_order=True)
