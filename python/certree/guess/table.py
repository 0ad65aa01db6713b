"""The training rows as guessing reads them: columns by rank, a target that any reference understands, weights.

Trees ask only for the order of values, so a reference that is fitted here gets ranks. They are exact in
the 32-bit floats of most libraries where values often are not, and dates have them, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import midpoints, sources, target, weights
from certree.ingest.checks import check_complete, check_same_length
from certree.ingest.kinds import kind_of
from certree.ingest.slots import values_of
from certree.ingest.training import assign
from certree.schema import Column


@dataclass(frozen=True)
class Table:
    columns: list[Column]
    #: Whether the columns came with names.
    named: bool
    #: By column: the distinct values of numbers and dates, ascending, as they are compared.
    values: list[np.ndarray]
    #: By column: the rank of each row's value, or its place in the values of a category; 0 or 1 of a Boolean.
    ranks: list[np.ndarray]

    @property
    def n_rows(self) -> int:
        return len(self.ranks[0])


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
    """Features, target and weights; rows that weigh nothing are left out. ``classify`` None: classes, unless
    the target has fractions."""
    several = _several_outputs(y) if classify is not True else None
    source = sources.read(X)
    roles = assign(source, y if several is None else several[:, 0], sample_weight)
    picks = [source.names.index(name) for name in roles.features]
    vectors = {}
    for role in ("y", "sample_weight"):
        if role in roles.named:
            vectors[role] = source.frame([source.names.index(roles.named[role])]).to_series()
        elif role in roles.values:
            vectors[role] = roles.values[role]
    for role, series in vectors.items():
        check_same_length(sources.height(source), len(series), role)

    weight = kept = None
    if "sample_weight" in vectors:
        shown = roles.shown("sample_weight")
        weights.measure(vectors["sample_weight"].alias(shown).to_frame().lazy(), shown)
        weight = vectors["sample_weight"].cast(pl.Float64).to_numpy()
        if not (weight > 0).all():
            kept = weight > 0
            weight = weight[kept]
    if several is not None:
        values, classes = several, None
    else:
        values, classes = _goal(vectors["y"], roles.shown("y"), roles.y, classify)
    goal = Goal(values if kept is None else values[kept], classes, weight)
    return _ranked(source, picks, kept), goal


def _several_outputs(y: Any) -> np.ndarray | None:
    if y is None or isinstance(y, str) or len(getattr(y, "shape", ())) != 2 or y.shape[1] < 2:
        return None
    return np.asarray(y, dtype=np.float64)


def _goal(
    series: pl.Series, shown: str, y: Any, classify: bool | None
) -> tuple[np.ndarray, np.ndarray | None]:
    if classify is None:
        classify = not series.dtype.is_float() or bool((series == series.floor()).all())
    if classify:
        labels, numbers = target.classes_of(series, shown, y)
        return numbers.astype(np.int64), labels
    if not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
        raise ValueError(
            f"the reference is a regressor, but the target {shown!r} has the type {series.dtype}; give a "
            "classifier"
        )
    values = series.cast(pl.Float64).to_numpy()
    bad = int((~np.isfinite(values)).sum())
    if bad:
        raise ValueError(f"target {shown!r} has {bad} values that are missing or infinite")
    return values, None


def _ranked(source: sources.Source, picks: Sequence[int], kept: np.ndarray | None) -> Table:
    frame = source.frame(picks)
    check_complete(frame.lazy(), frame.columns)
    if kept is not None:
        frame = frame.filter(pl.Series(kept))
    columns, values, ranks = [], [], []
    for series in frame.get_columns():
        column = Column(series.name, kind_of(series.name, series.dtype), str(series.dtype))
        if column.kind == "category":
            text = series.cast(pl.String)
            known = text.unique().sort()
            column = replace(column, values=tuple(known))
            numbers = pl.Series(range(len(known)), dtype=pl.UInt32)
            rank = text.replace_strict(known, numbers, return_dtype=pl.UInt32).to_numpy()
            own = np.empty(0)
        elif column.kind == "boolean":
            rank, own = series.to_numpy(), np.empty(0)
        else:
            own, rank = np.unique(
                midpoints.unsigned_zero(values_of(column, series)), return_inverse=True
            )
        columns.append(column)
        values.append(own)
        ranks.append(rank.astype(np.int64))
    return Table(columns, source.named, values, ranks)
