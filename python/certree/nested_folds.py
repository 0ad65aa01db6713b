"""Nested cross-validation: a tree's size is chosen anew without each part of the rows, and the tree
is scored on that part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from certree.fan_out import FanOut
from certree.frontiers import Clock, check_time_limit
from certree.rows import Rows, in_memory, take
from certree.tree_frames import TreeFrame
from certree.tuning import (
    OptimalTreeCV,
    OutOfTime,
    one_warning,
    score,
    scorer_of,
    splits_of,
    standard_error,
)
from certree.warned import warn


@dataclass(frozen=True)
class Nested:
    """The scores of trees whose size was chosen without the rows that they are scored on."""

    #: A row for each part that was left out: ``split``, its ``rows``, the ``depth`` and ``leaves``
    #: that were chosen on the other rows, the mean score that the choice promised
    #: (``promised``), the ``score`` on the rows that were left out, the ``status`` of the chosen
    #: tree's search, and the ``tree``.
    splits: pl.DataFrame

    @property
    def scores(self) -> list[float]:
        """By part."""
        return list(self.splits["score"])

    @property
    def mean(self) -> float:
        """The mean score over the parts."""
        return float(np.mean(self.scores))

    @property
    def standard_error(self) -> float:
        """Of the mean over the parts; nan of a single one. Parts share most of their training rows,
        so that it is rather too small."""
        return standard_error(self.scores)

    @property
    def optimism(self) -> float:
        """By how much the choice promised more than it kept, in the mean over the parts."""
        return float(np.mean(self.splits["promised"].to_numpy())) - self.mean

    def statement(self) -> str:
        """All of it as plain sentences."""
        n = len(self.scores)
        error = "" if n < 2 else f" (standard error {self.standard_error:.2g})"
        leaves, depths = (_range(self.splits[name].to_list()) for name in ("leaves", "depth"))
        better = "more" if self.optimism >= 0 else "less"
        times = "once" if n == 1 else f"{n} times, each time"
        return (
            f"The size was chosen {times} without the rows that the score is of: {self.mean:.4g}"
            f"{error}. While choosing, the scores of the chosen sizes were {abs(self.optimism):.2g}"
            f" {better} than that. The chosen trees have {leaves} leaves and depth {depths}."
        )

    def __str__(self) -> str:
        return self.statement()


def nested(
    search: OptimalTreeCV,
    X: Any,
    y: Any = None,
    *,
    cv: Any = 5,
    groups: Any = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    **fit_params: Any,
) -> Nested:
    """Choose the size of a tree on a part of the rows, score it on the rest, for each part.

    The mean score of the size that :class:`OptimalTreeCV` chooses is the largest of several, so
    that it flatters. Here the rows that a tree is scored on have no part in its choice.

    Parameters
    ----------
    search : OptimalTreeCV
        How a size is chosen; it is cloned, and scores by its ``scoring``.
    X, y, **fit_params
        What its ``fit`` takes. Vectors and tables with a value for each row are divided with the
        rows.
    cv : int, splitter or iterable, default=5
        How rows are left out, as for ``OptimalTreeCV``, whose own ``cv`` divides the others.
    groups : vector, default=None
        The group of each row, for splitters that keep groups together, of either kind.
    time_limit : float or None, default=None
        Seconds for all of it. Where they end, the parts that are done are answered, and a
        ``ConvergenceWarning`` says so.
    n_jobs : int or None, default=None
        How many parts are left out at once, in threads; -1 for all cores.
    client : distributed.Client or None, default=None
        A connection to a Dask cluster, on whose workers the searches run then, instead of in
        threads: see ``docs/dask.md``.

    Returns
    -------
    Nested

    Examples
    --------
    >>> from certree import OptimalTreeClassifier, OptimalTreeCV, nested
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = OptimalTreeCV(OptimalTreeClassifier(max_depth=2, thresholds=6), cv=3)
    >>> found = nested(search, X, y, cv=4)
    >>> round(found.mean, 4), round(found.optimism, 4)
    (-0.0509, -0.0199)
    """
    if not isinstance(search, OptimalTreeCV):
        raise TypeError(f"an OptimalTreeCV is needed, not {type(search).__name__}")
    if not (isinstance(search.cv, (int, np.integer)) or hasattr(search.cv, "split")):
        raise ValueError(
            "cv of the search divides other rows each time: it must be a number or a splitter"
        )
    if search.client is not None:
        raise ValueError("the search has a client of its own: give it to nested(client=) instead")
    check_time_limit(time_limit)
    rows = Rows(in_memory(X), y, fit_params)
    splits = splits_of(rows, cv, search.estimator, groups)
    clock = Clock(time_limit, search.time_limit)
    fan_out = FanOut(rows, n_jobs, client)
    given = [
        (search, split, None if groups is None else take(groups, split[0]), clock, rounds)
        for split, rounds in zip(splits, _rounds(len(splits), n_jobs))
    ]
    with one_warning():
        ended = enumerate(fan_out.run(_chosen, given))
        by_split = {place: each for place, each in ended if each is not None}
    if not by_split:
        raise OutOfTime(
            f"time_limit={time_limit} was over before any part had its tree: raise it, or take "
            "fewer parts, folds or cuts"
        )
    if len(by_split) < len(splits):
        warn(
            f"the time limit was over after {len(by_split)} of {len(splits)} parts",
            ConvergenceWarning,
        )
    found = by_split.values()
    frame = {
        "split": pl.Series(list(by_split), dtype=pl.Int64),
        "rows": pl.Series([each.rows for each in found], dtype=pl.Int64),
        "depth": pl.Series([each.depth for each in found], dtype=pl.Int64),
        "leaves": pl.Series([each.tree.n_leaves for each in found], dtype=pl.Int64),
        "promised": pl.Series([each.promised for each in found], dtype=pl.Float64),
        "score": pl.Series([each.score for each in found], dtype=pl.Float64),
        "status": pl.Series([each.status for each in found], dtype=pl.String),
        "tree": pl.Series([each.tree for each in found], dtype=pl.Object),
    }
    return Nested(TreeFrame(frame))


@dataclass(frozen=True)
class _Chosen:
    """The tree that was chosen without a part of the rows, and its score on that part."""

    rows: int
    depth: int
    promised: float
    score: float
    status: str
    tree: Any


def _chosen(
    rows: Rows,
    search: OptimalTreeCV,
    split: tuple[Any, Any],
    groups: Any,
    clock: Clock,
    rounds: int,
) -> _Chosen | None:
    """None where the time is over. ``rounds``: how many searches share the time that is left, one
    after the other."""
    if clock.is_over_now():
        return None
    train, test = split
    own = clone(search).set_params(time_limit=clock.limit(rounds))
    data = rows.data(train)
    try:
        own._fit(data.X, data.y, groups, data.more)
    except OutOfTime:
        return None
    best = own.best_estimator_
    depth = own.path_.filter("chosen")["depth"].item()
    worth = score(scorer_of(best, own.scoring), best, rows.data(test))
    return _Chosen(len(test), depth, own.best_score_, worth, best.status_, best.tree_)


def _rounds(n: int, n_jobs: int | None) -> Sequence[int]:
    """For each of n searches, how many follow one after the other from it on."""
    at_once = effective_n_jobs(n_jobs)
    return [math.ceil((n - before) / at_once) for before in range(n)]


def _range(values: Sequence[int]) -> str:
    least, most = min(values), max(values)
    return str(least) if least == most else f"{least} to {most}"
