"""Opening a training set: features, target and weights in one lazy frame, checked once.

Everything after this is the same for a frame in memory and for one that is streamed from disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import sources, target, weights
from certree.ingest.checks import check_complete, check_same_length
from certree.ingest.kinds import kind_of
from certree.ingest.slots import listed
from certree.schema import Column


@dataclass(frozen=True)
class Training:
    """Checked rows, read when they are needed. ``frame`` holds the feature columns under their own
    names, the class number of each row, and the row's weight in whole units; rows that weigh nothing
    are left out of it."""

    frame: pl.LazyFrame
    columns: list[Column]
    #: Whether the columns came with names.
    named: bool
    #: The classes in order; empty without a target.
    labels: np.ndarray
    class_column: str
    weight_column: str
    #: None: every row counts once.
    unit: weights.Unit | None


def read_features(X: Any) -> Training:
    """Open features without a target, for transformers."""
    source = sources.read(X)
    frame, columns, _ = _features(source.lazy(), source, source.names)
    return Training(frame, columns, source.named, np.empty(0), "", "", None)


def read_training(X: Any, y: Any, sample_weight: Any = None) -> Training:
    """Open features, target and weights. The latter two may be names of columns of X."""
    source = sources.read(X)
    whole = source.take(range(len(source.names)))
    vectors = {}
    given = {"y": y} if sample_weight is None else {"y": y, "sample_weight": sample_weight}
    readers = {"y": target.read, "sample_weight": weights.read}
    roles = {}
    for role, value in given.items():
        if isinstance(value, str):
            roles[role] = _column_named(role, value, source)
            continue
        if isinstance(whole, pl.LazyFrame):
            raise ValueError(
                f"with a LazyFrame, {role} must be the name of one of its columns, not values"
            )
        vectors[role] = readers[role](value)
        roles[role] = _free(role, source.names)
    names = [name for name in source.names if name not in roles.values()]
    features, columns, n_rows = _features(whole.lazy(), source, names)
    for role, series in vectors.items():
        check_same_length(n_rows, len(series), role)
        whole = whole.with_columns(series.alias(roles[role]))
    lazy = whole.lazy()

    shown = {role: value if isinstance(value, str) else role for role, value in given.items()}
    goal = lazy.select(pl.col(roles["y"]).alias(shown["y"]))
    labels = target.labels_of(goal, shown["y"], y)
    dtype = goal.collect_schema()[shown["y"]]
    wanted = [*map(pl.col, names), target.codes(roles["y"], dtype, labels).alias(roles["y"])]
    unit = None
    if "sample_weight" in roles:
        raw = pl.col(roles["sample_weight"])
        unit = weights.measure(
            lazy.select(raw.alias(shown["sample_weight"])), shown["sample_weight"]
        )
        lazy = lazy.filter(raw > 0)
        wanted.append(unit.whole(raw.cast(pl.Float64)).alias(roles["sample_weight"]))
    return Training(
        lazy.select(wanted),
        columns,
        source.named,
        labels,
        roles["y"],
        roles.get("sample_weight", ""),
        unit,
    )


def _features(
    lazy: pl.LazyFrame, source: sources.Source, names: Sequence[str]
) -> tuple[pl.LazyFrame, list[Column], int]:
    if not names:
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({sources.height(source)}, 0)) while a minimum of 1 "
            "is required."
        )
    frame = lazy.select(names)
    schema = frame.collect_schema()
    columns = [Column(name, kind_of(name, schema[name]), str(schema[name])) for name in names]
    return frame, columns, check_complete(frame, names)


def _column_named(role: str, name: str, source: sources.Source) -> str:
    if not source.named or name not in source.names:
        raise ValueError(
            f"{role}={name!r} is not a column of X; its columns are {listed(source.names)}"
            if source.named
            else f"{role}={name!r} names a column, but X is an array without names; pass the values"
        )
    return name


def _free(name: str, taken: Sequence[str]) -> str:
    """A column name that the user's frame does not have."""
    while name in taken:
        name += "_"
    return name
