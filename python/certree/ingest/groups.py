"""Rows cut by sensitive columns: each class stands there once for each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import engine, in_memory, sources, vectors
from certree.ingest.checks import values as values_in_words
from certree.ingest.classes import with_classes
from certree.ingest.in_memory import InMemory
from certree.ingest.training import assign, check_some, column_named
from certree.scalars import is_integer, shown


#: A column of more values than this makes no groups.
MOST_VALUES = 50

#: Groups of all sensitive columns together.
MOST_GROUPS = 1000


@dataclass(frozen=True)
class Sides:
    """The values of a sensitive column, and which of them each group, or each row, has."""

    values: tuple[Any, ...]
    of: np.ndarray


@dataclass(frozen=True)
class Grouped:
    #: Its classes are class · groups + group.
    training: InMemory
    #: The user's classes.
    labels: np.ndarray
    #: By sensitive column: the value of each group.
    sides: dict[str, Sides]
    #: The labels in y, which may be fewer.
    present: np.ndarray

    @property
    def n_groups(self) -> int:
        return prod(len(side.values) for side in self.sides.values())


def read_grouped(
    X: Any,
    y: Any,
    sample_weight: Any,
    columns: Mapping[str, bool],
    sensitive: Sequence[str],
    classes: Any = None,
) -> Grouped:
    """Open features, target and weights, and cut the classes by sensitive columns of X.
    ``columns``: the columns that constraints name, and whether they are features too. ``classes``:
    all labels, if y may lack some. All of it is read into memory."""
    whole = sources.whole(X)
    source = sources.read(blanked(whole, [name for name, used in columns.items() if not used]))
    roles = assign(source, y, sample_weight)
    for name in columns:
        if name in roles.named.values():
            role = next(role for role, known in roles.named.items() if known == name)
            own = "sensitive" if name in sensitive else "values"
            raise ValueError(f"{own}={name!r} is the column of {role}; it must be another one")
    features = [name for name in roles.features if columns.get(name, True) or not source.named]
    check_some(source, features)
    read = in_memory.read(replace(roles, features=features))
    training = with_classes(read, classes)
    assert isinstance(training, InMemory) and training.classes is not None
    groups = np.zeros(len(training.classes), dtype=np.uint32)
    by_row = [read_sides(name, whole, training) for name in sensitive]
    n_groups = prod(len(side.values) for side in by_row)
    if n_groups > MOST_GROUPS:
        raise ValueError(
            f"sensitive columns make {n_groups} groups, but at most {MOST_GROUPS} are possible"
        )
    for side in by_row:
        groups = groups * len(side.values) + side.of
    labels = training.labels
    cut = replace(
        training,
        classes=(training.classes * np.uint32(n_groups) + groups).astype(np.uint32),
        labels=np.arange(len(labels) * n_groups),
    )
    sides, below = {}, n_groups
    for name, side in zip(sensitive, by_row):
        below //= len(side.values)
        sides[name] = Sides(side.values, np.arange(n_groups) // below % len(side.values))
    return Grouped(cut, labels, sides, read.labels)


def named_columns(role: str, columns: Sequence[Any], X: Any) -> list[str]:
    """The names of columns that are given by name, or by number from 0."""
    source = sources.read(X)
    found = []
    for column in columns:
        if is_integer(column):
            if not 0 <= column < len(source.names):
                raise ValueError(
                    f"{role}={shown(column)} is no column of X, which has {len(source.names)} "
                    "columns, counted from 0"
                )
            found.append(source.names[column])
        elif isinstance(column, str):
            found.append(column_named(role, column, source))
        else:
            raise ValueError(
                f"{role}={shown(column)} is not valid: it must be the name of a column of X, or "
                "its number from 0"
            )
    return found


def read_sides(name: str, X: Any, training: InMemory) -> Sides:
    """The value of each row that weighs something, by a sensitive column of the table that they
    came from."""
    return _sides(name, _column(name, X), training.kept)


def read_numbers(values: Any, name: str | None, X: Any, training: InMemory) -> np.ndarray:
    """A number for each row that weighs something: of the column of this name, or as given."""
    what = "values" if name is None else f"column {name!r} of values"
    numbers = row_numbers(values, name, training.source if name is None else X, what)
    return numbers if training.kept is None else numbers[training.kept]


def row_numbers(values: Any, name: str | None, X: Any, what: str) -> np.ndarray:
    """A finite number for each row of X: of the column of this name, or as given."""
    source = sources.read(X)
    series = vectors.series(values, "values") if name is None else _column(name, source)
    if not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
        raise ValueError(f"{what} must be numbers, but has the type {series.dtype}; cast it")
    if source.height is not None and len(series) != source.height:
        raise ValueError(
            f"{what} has {len(series)} rows, but X has {source.height}; name a column of "
            "X where rows are drawn from it"
        )
    numbers = engine.unnamed(series).cast(pl.Float64).to_numpy()
    missing = int(np.isnan(numbers).sum())
    infinite = int(np.isinf(numbers).sum())
    if missing or infinite:
        raise ValueError(
            f"{what} must be finite, but {values_in_words(missing + infinite)} are missing (null "
            "or NaN) or infinite; fill them, or drop those rows"
        )
    return numbers


def plain_values(name: str, X: Any) -> list[Any]:
    """The values of a column as Python has them; None where they are missing."""
    source = sources.read(X)
    if name not in source.names:
        raise ValueError(f"X has no column {name!r}")
    series = engine.unnamed(_column(name, source))
    if isinstance(series.dtype, (pl.Categorical, pl.Enum)):
        series = series.cast(pl.String)
    if series.dtype.is_float():
        series = series.fill_nan(None)
    return series.to_list()


def blanked(X: Any, names: Sequence[str]) -> Any:
    """This table, where these columns say nothing if they have no names. An array keeps its shape,
    so that rows to predict have the shape of those of the fit, and a column that is the same for
    all rows is never asked for."""
    source = sources.read(X)
    if source.named or not names:
        return X
    frame = source.frame(range(len(source.names)))
    frame = frame.with_columns(pl.lit(0.0).alias(name) for name in names)
    return replace(sources.read(frame), names=source.names, named=False)


def _column(name: str, X: Any) -> pl.Series:
    source = sources.read(X)
    return source.frame([source.names.index(name)]).to_series()


def without(X: Any, names: Sequence[str]) -> Any:
    """This table without some of its columns; an array keeps its shape."""
    source = sources.read(X)
    if not names or not source.named:
        return blanked(X, names)
    dropped = set(names)
    return source.frame([at for at, name in enumerate(source.names) if name not in dropped])


def _sides(name: str, series: pl.Series, kept: np.ndarray | None) -> Sides:
    engine.check_threads()
    series = engine.unnamed(series)
    missing = series.null_count()
    if series.dtype.is_float():
        missing += int(series.is_nan().sum())
    if missing:
        raise ValueError(
            f"sensitive column {name!r} has {values_in_words(missing)} missing (null or NaN); "
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
    if len(known) > MOST_VALUES:
        raise ValueError(
            f"sensitive column {name!r} has {len(known)} values, such as {known[0]!r}, "
            f"{known[1]!r} and {known[2]!r}, but at most {MOST_VALUES} groups are compared: make "
            "it a column of few values"
        )
    of = np.zeros(len(series), dtype=np.uint32)
    for place, value in enumerate(known):
        of[(series == value).to_numpy()] = place
    return Sides(tuple(known.to_list()), of)
