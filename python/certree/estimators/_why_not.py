"""What the best tree is that begins otherwise, and what no such tree can be better than."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
from sklearn.base import clone

from certree.conditions import plain
from certree.ingest import sources
from certree.path_rules import FirstColumn
from certree.scalars import shown

if TYPE_CHECKING:
    from certree.options import Status
    from certree.tree import Tree


@dataclass(frozen=True)
class WhyNot:
    """All trees of the searched set that begin with another question, against the fitted one."""

    #: In words, such as "age" or "age <= 40".
    question: str
    #: Of the fitted tree.
    own: float
    #: Of the best tree found that begins so; of a single leaf, where that is better than all of
    #: them.
    objective: float
    #: No tree that begins so has a lower objective.
    lower_bound: float
    status: Status
    tree: Tree

    @property
    def worse_by(self) -> float:
        """Every tree that begins so has an objective higher than that of the fitted tree by at
        least this; 0 where that is not proved of any amount."""
        return max(self.lower_bound - self.own, 0.0)

    def statement(self) -> str:
        """All of it as plain sentences."""
        begins = f"No tree that begins with {self.question} has an objective below "
        told = f"{begins}{self.lower_bound:.6g}; this tree has {self.own:.6g}."
        close = 1e-12 * max(1.0, abs(self.own))
        if self.worse_by > close:
            told += f" So any of them is worse by at least {self.worse_by:.3g}."
            if self.tree.n_leaves == 1:
                told += " A single leaf is better than all of them."
        elif self.objective <= self.own + close:
            told += " One of them is as good."
        else:
            told += f" The best one found has {self.objective:.6g}."
        return told

    def __str__(self) -> str:
        return self.statement()


def why_not(
    model: Any, column: str, threshold: Any, X: Any, data: tuple[Any, ...], more: Mapping[str, Any]
) -> WhyNot:
    tree: Tree = model.tree_
    names = [each.name for each in tree.columns]
    if column not in names:
        raise ValueError(f"column={shown(column)} is not one of the tree's: {shown(names)}")
    alternative = clone(model)
    if hasattr(model, "guesser_"):
        alternative.set_params(thresholds=dict(model.guesser_.thresholds_))
    question = plain(column)
    if threshold is not None:
        if model.path_rules or getattr(model, "feature_costs", None):
            raise ValueError(
                "threshold asks as of a column of its own, which path_rules and feature_costs "
                "know nothing of: leave it out"
            )
        X, column, question = _with_question(X, column, threshold)
    rules = [*model.path_rules, FirstColumn(column)]
    alternative.set_params(path_rules=rules).fit(X, *data, **more)
    found = alternative.tree_
    root, other = tree.nodes[0], found.nodes[0]
    if root.rows != other.rows or not _alike(root.value, other.value):
        raise ValueError(
            "these are not the rows that the tree was fitted to: pass those of the fit"
        )
    return WhyNot(
        question,
        model.objective_,
        alternative.objective_,
        alternative.lower_bound_,
        alternative.status_,
        found,
    )


def _alike(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return len(one) == len(other) and all(
        math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) for a, b in zip(one, other)
    )


def _with_question(X: Any, column: str, threshold: Any) -> tuple[pl.DataFrame, str, str]:
    """The table with a column that holds the answer of each row, and that column's name: a tree
    that begins with it begins with the question, and below it asks all others as before."""
    source = sources.whole(X)
    frame = source.frame(range(len(source.names)))
    if column not in frame.columns:
        raise ValueError(f"X has no column {column!r}")
    values = frame[column]
    if isinstance(threshold, (list, tuple, set, frozenset)):
        wanted = [str(value) for value in threshold]
        answers = values.cast(pl.String).is_in(wanted)
        words = f"{plain(column)} in {{{', '.join(map(plain, wanted))}}}"
    elif isinstance(threshold, str):
        answers = values.cast(pl.String) == threshold
        words = f"{plain(column)} = {plain(threshold)}"
    else:
        try:
            answers = values <= threshold
        except (TypeError, NotImplementedError, pl.exceptions.PolarsError):
            raise ValueError(
                f"threshold={shown(threshold)} cannot be compared with {column!r}, which has the "
                f"type {values.dtype}"
            ) from None
        words = f"{plain(column)} <= {threshold}"
    if values.dtype.is_float():
        answers = answers.set(values.is_nan().fill_null(False), None)
    name = words
    while name in frame.columns:
        name += "'"
    return frame.with_columns(answers.alias(name)), name, words
