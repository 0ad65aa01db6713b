"""Rows cut by sensitive columns: each class stands there once for each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import engine, in_memory, sources
from certree.ingest.checks import values
from certree.ingest.classes import with_classes
from certree.ingest.in_memory import InMemory
from certree.ingest.training import assign, check_some, column_named


@dataclass(frozen=True)
class Grouped:
    #: Its classes are class · groups + group.
    training: InMemory
    #: The user's classes.
    labels: np.ndarray
    #: By sensitive column: the side, 0 or 1, of each group.
    sides: dict[str, np.ndarray]
    #: The labels in y, which may be fewer.
    present: np.ndarray

    @property
    def n_groups(self) -> int:
        return 2 ** len(self.sides)


def read_grouped(
    X: Any, y: Any, sample_weight: Any, sensitive: Mapping[str, bool], classes: Any = None
) -> Grouped:
    """Open features, target and weights, and cut the classes by sensitive columns of X, which are
    features too where they are said to be. ``classes``: all labels, if y may lack some. All of it
    is read into memory."""
    source = sources.read(X)
    for name in sensitive:
        column_named("sensitive", name, source)
    source = sources.whole(source)
    roles = assign(source, y, sample_weight)
    for name in sensitive:
        if name in roles.named.values():
            role = next(role for role, known in roles.named.items() if known == name)
            raise ValueError(f"sensitive={name!r} is the column of {role}; it must be another one")
    features = [name for name in roles.features if sensitive.get(name, True)]
    check_some(source, features)
    read = in_memory.read(replace(roles, features=features))
    training = with_classes(read, classes)
    assert isinstance(training, InMemory) and training.classes is not None
    groups = np.zeros(len(training.classes), dtype=np.uint32)
    for name in sensitive:
        series = source.frame([source.names.index(name)]).to_series()
        groups = groups * 2 + _sides(name, series, training.kept)
    n_groups = 2 ** len(sensitive)
    labels = training.labels
    cut = replace(
        training,
        classes=(training.classes * np.uint32(n_groups) + groups).astype(np.uint32),
        labels=np.arange(len(labels) * n_groups),
    )
    places = reversed(range(len(sensitive)))
    sides = {name: np.arange(n_groups) >> place & 1 for name, place in zip(sensitive, places)}
    return Grouped(cut, labels, sides, read.labels)


def check_sensitive(name: str, X: Any) -> None:
    """An error unless it is a column of X."""
    column_named("sensitive", name, sources.read(X))


def read_sides(name: str, training: InMemory) -> np.ndarray:
    """0 or 1 for each row that weighs something, by a sensitive column of the table that they came
    from."""
    source = training.source
    return _sides(name, source.frame([source.names.index(name)]).to_series(), training.kept)


def without(X: Any, names: Sequence[str]) -> Any:
    """This table without some of its columns."""
    if not names:
        return X
    source = sources.read(X)
    dropped = set(names)
    return source.frame([at for at, name in enumerate(source.names) if name not in dropped])


def _sides(name: str, series: pl.Series, kept: np.ndarray | None) -> np.ndarray:
    """0 or 1 for each row."""
    engine.check_threads()
    series = engine.unnamed(series)
    missing = series.null_count()
    if series.dtype.is_float():
        missing += int(series.is_nan().sum())
    if missing:
        raise ValueError(
            f"sensitive column {name!r} has {values(missing)} missing (null or NaN); "
            "fill them, or drop those rows"
        )
    if isinstance(series.dtype, (pl.Categorical, pl.Enum)):
        series = series.cast(pl.String)
    if kept is not None:
        series = series.filter(pl.Series(kept))
    known = series.unique().sort()
    if len(known) == 1:
        raise ValueError(
            f"sensitive column {name!r} has one value, {known[0]!r}: there are no two groups to "
            "compare"
        )
    if len(known) > 2:
        raise ValueError(
            f"sensitive column {name!r} has {len(known)} values, such as {known[0]!r}, "
            f"{known[1]!r} and {known[2]!r}, but two groups are compared: make it a column of two "
            "values"
        )
    return (series == known[1]).to_numpy().astype(np.uint32)
