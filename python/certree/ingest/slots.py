"""The arrays that a finished tree reads to route rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import engine, sources
from certree.ingest.kinds import check_kind, in_unit, machine, time_unit
from certree.schema import Column


def slot_arrays(
    X: Any, columns: Sequence[Column], slots: Sequence[tuple[int, str | None]]
) -> tuple[list[np.ndarray], int]:
    """One contiguous array for each slot, and the number of rows.

    A slot is a fitted column's index, and the category that is asked for or None. Frames are
    matched to the fitted columns by name, in any order; other columns are ignored. Arrays are
    matched by position. Only columns that some slot reads are looked into: a missing value there is
    a ValueError.

    Numbers come in their own type, without a copy where polars has them in one piece; dates as
    integers in the fitted unit; Booleans and "is value" slots as Boolean arrays. A category that
    was never seen is not equal to any value.
    """
    source = sources.read(X)
    places = match(source, columns)
    used = sorted({column for column, _ in slots})
    if not used:
        return [], sources.height(source)
    frame = source.frame([places[column] for column in used])
    series = dict(zip(used, map(engine.unnamed, frame.get_columns())))
    for index in used:
        check_kind(columns[index], series[index].dtype)
    _refuse_missing([(columns[index], series[index]) for index in used])
    arrays = []
    for index, value in slots:
        column = columns[index]
        if value is None:
            arrays.append(values_of(column, series[index]))
        else:
            arrays.append(is_value(series[index], value))
    return arrays, frame.height


def match(source: sources.Source, columns: Sequence[Column]) -> list[int]:
    """Where in the source each fitted column is."""
    names = [column.name for column in columns]
    where = {name: index for index, name in enumerate(source.names)}
    missing = [name for name in names if name not in where]
    by_position = not source.named or (missing and names == sources.numbered(len(names)))
    if by_position:
        if len(source.names) != len(names):
            # scikit-learn's words.
            raise ValueError(
                f"X has {len(source.names)} features, but Tree is expecting {len(names)} features "
                "as input"
            )
        return list(range(len(names)))
    if missing:
        raise ValueError(
            f"X lacks {len(missing)} of the {len(names)} columns that the tree was fitted with: "
            f"{listed(missing)}"
        )
    return [where[name] for name in names]


def listed(names: Sequence[str], most: int = 10) -> str:
    """Names for an error message."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more


def values_of(column: Column, series: pl.Series) -> np.ndarray:
    """A column's values as the router compares them."""
    dtype = series.dtype
    if column.kind == "boolean":
        return _booleans(column, series)
    if column.kind == "date":
        given = dtype.time_unit if isinstance(dtype, pl.Datetime) else "day"
        return in_unit(_contiguous(series.to_physical()), given, time_unit(column.dtype))
    if dtype == pl.Boolean:
        return _contiguous(series.cast(pl.UInt8))
    return _contiguous(series.cast(machine(dtype)) if machine(dtype) != dtype else series)


def is_value(series: pl.Series, value: str) -> np.ndarray:
    """Where a column of strings or categories equals a value."""
    if isinstance(series.dtype, pl.Enum) and value not in series.dtype.categories:
        return np.zeros(len(series), dtype=bool)
    return _contiguous(series == value)


def _contiguous(series: pl.Series) -> np.ndarray:
    if series.n_chunks() > 1:
        series = series.rechunk()
    return np.ascontiguousarray(series.to_numpy())


def _booleans(column: Column, series: pl.Series) -> np.ndarray:
    if series.dtype == pl.Boolean:
        return _contiguous(series)
    bad = int(((series != 0) & (series != 1)).sum())
    if bad:
        raise ValueError(
            f"column {column.name!r} was Boolean when the tree was fitted, but has {bad} values "
            "here that are neither 0 nor 1"
        )
    return _contiguous(series == 1)


def _refuse_missing(pairs: list[tuple[Column, pl.Series]]) -> None:
    found = []
    for column, series in pairs:
        missing = series.null_count()
        infinite = 0
        # A finite sum means that every value is finite; otherwise they are counted.
        if series.dtype.is_float() and not np.isfinite(float(series.sum())):
            missing += int(series.is_nan().sum())
            infinite = int(series.is_infinite().sum())
        if missing:
            found.append(f"{column.name!r} has {missing} missing values (null or NaN)")
        if infinite:
            found.append(f"{column.name!r} has {infinite} infinite values (inf)")
    if found:
        raise ValueError(
            f"columns that the tree tests must be complete: {', '.join(found)}; fill them first"
        )
