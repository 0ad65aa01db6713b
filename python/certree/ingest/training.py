"""Opening a training set: features, target and weights, checked once.

A frame in memory is ranked and grouped by the core (``in_memory``); what is streamed from disk, or
is too large to be copied, stays one lazy frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import engine, sources, target, weights
from certree.ingest.checks import check_same_length, count_missing
from certree.ingest.kinds import described
from certree.schema import Column
from certree.unseen import listed


@dataclass(frozen=True)
class Training:
    """Checked rows. Those that weigh nothing are left out."""

    columns: list[Column]
    #: Whether the columns came with names.
    named: bool
    #: The classes in order; empty without a target.
    labels: np.ndarray
    #: None: every row counts once.
    unit: weights.Unit | None
    #: A table that prediction reads, and which of its rows weigh something; None for all of them.
    source: Any
    kept: np.ndarray | None

    @property
    def n_partitions(self) -> int | None:
        """Of rows that lie in partitions, else None."""
        return None


@dataclass(frozen=True)
class Streamed(Training):
    """Rows that are read when they are needed: the feature columns under their own names, the class
    number of each row, and the row's weight in whole units."""

    class_column: str
    #: Of its parts (``weights.Unit``); none where every row counts once.
    weight_columns: list[str]

    @property
    def frame(self) -> pl.LazyFrame:
        return self.source


@dataclass(frozen=True)
class Roles:
    """Which column of a source is what: names of its columns, or values beside it."""

    source: sources.Source
    features: list[str]
    #: By role, "y" or "sample_weight".
    named: Mapping[str, str]
    values: Mapping[str, pl.Series]
    #: y as it was given.
    y: Any

    def shown(self, role: str) -> str:
        """What an error calls it."""
        return self.named.get(role, role)


def read_features(X: Any) -> Streamed:
    """Open features without a target, for transformers."""
    source = sources.read(X)
    check_some(source, source.names)
    frame, columns, _ = _features(source.lazy(), source.names)
    return Streamed(columns, source.named, np.empty(0), None, frame, None, "", "")


def assign(source: sources.Source, y: Any, sample_weight: Any) -> Roles:
    """Find the target and the weights."""
    given = {"y": y} if sample_weight is None else {"y": y, "sample_weight": sample_weight}
    return _assign(source, given, ())


def assign_rows(source: sources.Source, others: Sequence[str], sample_weight: Any) -> Roles:
    """Find the weights, where the target is not one column of labels. ``others`` are no features.
    """
    columns_named("a target", others, source)
    return _assign(
        source, {} if sample_weight is None else {"sample_weight": sample_weight}, others
    )


def _assign(source: sources.Source, given: Mapping[str, Any], others: Sequence[str]) -> Roles:
    named, values = {}, {}
    readers = {"y": target.read, "sample_weight": weights.read}
    for role, value in given.items():
        if isinstance(value, str):
            named[role] = column_named(role, value, source)
            continue
        if source.height is None:
            raise ValueError(
                f"with a LazyFrame, {role} must be the name of one of its columns, not values"
            )
        values[role] = readers[role](value)
    taken = {*named.values(), *others}
    features = [name for name in source.names if name not in taken]
    check_some(source, features)
    return Roles(source, features, named, values, given.get("y"))


def read_streamed(roles: Roles) -> Streamed:
    """Make one lazy frame of it all."""
    source = roles.source
    whole = source.take(range(len(source.names)))
    features, columns, n_rows = _features(whole.lazy(), roles.features)
    names = dict(roles.named)
    for role, series in roles.values.items():
        check_same_length(n_rows, len(series), role)
        names[role] = _free(role, source.names)
        whole = whole.with_columns(series.alias(names[role]))
    lazy = whole.lazy()

    shown = roles.shown("y")
    goal = lazy.select(engine.column(names["y"]).alias(shown))
    labels = target.labels_of(goal, shown, roles.y)
    dtype = engine.schema(goal)[shown]
    wanted = [
        *engine.columns(roles.features),
        target.codes(names["y"], dtype, labels).alias(names["y"]),
    ]
    unit = None
    weight_columns: list[str] = []
    if "sample_weight" in names:
        raw = engine.column(names["sample_weight"])
        shown = roles.shown("sample_weight")
        unit = weights.measure(lazy.select(raw.alias(shown)), shown)
        lazy = lazy.filter(raw > 0)
        columns = _missing_in(lazy, columns)
        amount = raw.cast(pl.Float64)
        weight_columns.append(names["sample_weight"])
        for part in range(1, unit.n_parts):
            weight_columns.append(_free(f"sample_weight_{part}", [*source.names, *weight_columns]))
        wanted.extend(
            unit.whole(amount, part).alias(name) for part, name in enumerate(weight_columns)
        )
    return Streamed(
        columns,
        source.named,
        labels,
        unit,
        lazy.select(wanted),
        None,
        names["y"],
        weight_columns,
    )


def _features(lazy: pl.LazyFrame, names: Sequence[str]) -> tuple[pl.LazyFrame, list[Column], int]:
    frame = lazy.select(engine.columns(names))
    schema = engine.schema(frame)
    n_rows, missing = count_missing(frame, names)
    columns = [
        described(name, schema[name], count > 0) for name, count in zip(names, missing)
    ]
    return frame, columns, n_rows


def _missing_in(lazy: pl.LazyFrame, columns: list[Column]) -> list[Column]:
    """The columns, with what is missing in these rows alone."""
    some = [column.name for column in columns if column.missing]
    if not some:
        return columns
    _, counts = count_missing(lazy, some)
    gone = dict(zip(some, counts))
    return [replace(column, missing=gone.get(column.name, 0) > 0) for column in columns]


def check_some(source: sources.Source, features: Sequence[str]) -> None:
    if not features:
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({sources.height(source)}, 0)) while a minimum "
            "of 1 is required."
        )


def column_named(role: str, name: str, source: sources.Source) -> str:
    """The name, if it is one of the source's columns."""
    columns_named(role, [name], source)
    return name


def columns_named(role: str, names: Iterable[str], source: sources.Source) -> None:
    """An error unless these are all names of columns."""
    known = set(source.names) if source.named else set()
    for name in names:
        if name not in known:
            # Constraints speak of columns, so that values would be no help there.
            instead = "give its number" if role == "sensitive" else "pass the values"
            raise ValueError(
                f"{role}={name!r} is not a column of X; its columns are {listed(source.names)}"
                if source.named
                else f"{role}={name!r} names a column, but X is an array without names; {instead}"
            )


def _free(name: str, taken: Sequence[str]) -> str:
    """A column name that the user's frame does not have."""
    while name in taken:
        name += "_"
    return name
