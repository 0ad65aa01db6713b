"""The training rows as guessing reads them: columns by rank, a target that any reference
understands, weights.

Trees ask only for the order of values, so a reference that is fitted here gets ranks. They are
exact in the 32-bit floats of most libraries where values often are not, and dates have them, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from certree import budget
from certree.ingest import engine, midpoints, numbers, read_weights, sources, strings, target
from certree.ingest.checks import check_same_length, count_missing
from certree.ingest.kinds import described
from certree.ingest.slots import filled_in, values_of, where_missing
from certree.ingest.training import Roles, assign, assign_rows
from certree.schema import Column


@dataclass(frozen=True)
class Table:
    columns: list[Column]
    #: Whether the columns came with names.
    named: bool
    #: By column: the distinct values of numbers and dates, ascending, as they are compared.
    values: list[np.ndarray]
    #: By column: the rank of each row's value, or its place in the values of a category; 0 or 1 of
    #: a Boolean. Missing values come after all others.
    ranks: list[np.ndarray]

    @property
    def n_rows(self) -> int:
        return len(self.ranks[0])

    def n_values(self, column: int) -> int:
        """How many ranks known values have."""
        kind = self.columns[column].kind
        if kind == "boolean":
            return 2
        return len(self.columns[column].values if kind == "category" else self.values[column])


@dataclass(frozen=True)
class Goal:
    """What the reference is to predict."""

    #: Class numbers, or real values in one or more columns.
    y: np.ndarray
    #: The labels in order; None: real values.
    classes: np.ndarray | None
    weight: np.ndarray | None


def read_table(X: Any) -> Table:
    """Features alone."""
    source = sources.read(X)
    return _ranked(source, list(range(len(source.names))), None)


def read(X: Any, y: Any, sample_weight: Any, classify: bool | None) -> tuple[Table, Goal]:
    """Features, target and weights; rows that weigh nothing are left out. ``classify`` None:
    classes, unless the target has fractions or several columns."""
    source = sources.whole(X)
    if classify is None:
        classify = y is None or not _is_real(source, y)
    if classify:
        roles = assign(source, y, sample_weight)
        values, classes = _classes(roles)
    else:
        targets = numbers.read_targets(source, y)
        roles = assign_rows(source, targets.named, sample_weight)
        values, classes = targets.values, None
        values = values[:, 0] if values.shape[1] == 1 else values
    check_same_length(source.height or 0, len(values), roles.shown("y"))
    weight = None
    if sample_weight is not None:
        weight = read_weights(source, sample_weight)
        check_same_length(source.height or 0, len(weight), roles.shown("sample_weight"))
    kept = None if weight is None or (weight > 0).all() else weight > 0
    if kept is not None and weight is not None:
        values, weight = values[kept], weight[kept]
    if classes is not None and kept is not None:
        # Classes of rows that weigh nothing are none.
        present, values = np.unique(values, return_inverse=True)
        classes = classes[present]
    picks = source.places(roles.features)
    return _ranked(source, picks, kept), Goal(values, classes, weight)


def _is_real(source: sources.Source, y: Any) -> bool:
    if isinstance(y, str):
        if y not in source.names:
            return False  # an error for later
        series = source.frame([source.names.index(y)]).to_series()
    elif len(getattr(y, "shape", ())) == 2 and y.shape[1] > 1:
        return True
    else:
        series = target.read(y)
    if not series.dtype.is_float():
        return False
    # What is missing or infinite is an error of either kind.
    series = engine.unnamed(series)
    known = series.filter(series.is_finite())
    return bool((known != known.floor()).any())


def _classes(roles: Roles) -> tuple[np.ndarray, np.ndarray]:
    """The class number of each row, and the labels."""
    if "y" in roles.named:
        place = roles.source.names.index(roles.named["y"])
        series = roles.source.frame([place]).to_series()
    else:
        series = roles.values["y"]
    labels, found = target.classes_of(series, roles.shown("y"), roles.y)
    return found.astype(np.int64), labels


def _ranked(source: sources.Source, picks: Sequence[int], kept: np.ndarray | None) -> Table:
    frame = source.frame(picks)
    if not frame.height:
        count_missing(frame.lazy(), frame.columns)
    if kept is not None:
        frame = frame.filter(pl.Series(kept))
    columns, values, ranks = [], [], []
    for series in frame.get_columns():
        if budget.is_over():
            raise budget.OutOfTime
        budget.require(40 * len(series), "a column by rank")
        column = described(series.name, series.dtype)
        series = engine.unnamed(series)
        missing, own = where_missing(series), np.empty(0)
        if column.kind == "category":
            text, rank = strings.numbered(series.cast(pl.String))
            column = replace(column, values=tuple(text))
        elif missing is not None and missing.all():
            rank = np.zeros(len(series))
        else:
            filled = series if missing is None else filled_in(series, missing)
            found = midpoints.unsigned_zero(values_of(column, filled))
            if column.kind == "boolean":
                rank = found
            else:
                own, rank = np.unique(found, return_inverse=True)
        if missing is not None:
            n_values = {"boolean": 2, "category": len(column.values)}.get(column.kind, len(own))
            column = replace(column, missing=True)
            rank = np.where(missing, n_values, rank)
        columns.append(column)
        values.append(own)
        ranks.append(rank.astype(np.int64))
    return Table(columns, source.named, values, ranks)
