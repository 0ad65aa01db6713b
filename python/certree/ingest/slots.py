"""The arrays that a finished tree reads to route rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Union

import numpy as np
import polars as pl

from certree.ingest import engine, sources
from certree.ingest.kinds import check_kind, machine
from certree.moments import in_unit, time_unit
from certree.schema import TIMED, Column, MissingUnseen, Sets, Unseen
from certree.unseen import Strange, lacking, refuse_missing, report


#: What one test reads: a column, and of it whether it is a value of a category, on which side of
#: sets it is, whether it is missing (None), or its values (True).
Slot = tuple[int, Union[str, Sets, bool, None]]


class Slots(NamedTuple):
    """What a finished tree reads of some rows."""

    #: One array for each slot, in one piece.
    arrays: list[np.ndarray]
    #: By slot: which of its values are missing, if any are.
    missing: list[np.ndarray | None]
    n_rows: int


def slot_arrays(
    X: Any,
    columns: Sequence[Column],
    slots: Sequence[Slot],
    missing_unseen: MissingUnseen = "larger",
    unseen: Unseen | None = None,
) -> Slots:
    """The values of each slot.

    Frames are matched to the fitted columns by name, in any order; other columns are ignored.
    Arrays are matched by position. Only columns that some slot reads are looked into. With
    ``missing_unseen="refuse"`` a missing value there is a ValueError, if the column had none in
    training; ``unseen`` says what becomes of other values that were not there.

    Numbers come in their own type, without a copy where polars has them in one piece; dates,
    durations and times as integers in the fitted unit; levels as their places; Booleans, "is
    value", "in a set" (on the right) and "is missing" slots as Boolean arrays. A category that was
    never seen is not equal to any value, and on no side of sets, nor is it a level: there it is
    masked like a missing one.
    """
    source = sources.read(X)
    places = match(source, columns)
    used = sorted({column for column, _ in slots})
    if not used:
        return Slots([], [], sources.height(source))
    frame = source.frame([places[column] for column in used])
    series = dict(zip(used, map(engine.unnamed, frame.get_columns())))
    missing = {index: where_missing(series[index]) for index in used}
    if missing_unseen == "refuse":
        refuse_missing([(columns[index], missing[index]) for index in used])
    read = sorted({index for index, asked in slots if asked is not None})
    known = {index: _known(columns[index], series[index], missing[index]) for index in read}
    if unseen is not None:
        _report_unseen([(columns[index], known[index], missing[index]) for index in read], unseen)
    pairs = [
        (_is_missing(missing[index], frame.height), None)
        if asked is None
        else _slot(columns[index], known[index], missing[index], frame.height, asked)
        for index, asked in slots
    ]
    return Slots([values for values, _ in pairs], [gone for _, gone in pairs], frame.height)


def _is_missing(missing: np.ndarray | None, n_rows: int) -> np.ndarray:
    return np.zeros(n_rows, dtype=bool) if missing is None else missing


def _known(column: Column, series: pl.Series, missing: np.ndarray | None) -> pl.Series | None:
    """The series with any value where one is missing; None if all are, which may have any type."""
    if missing is not None and missing.all():
        return None
    check_kind(column, series.dtype)
    return series if missing is None else filled_in(series, missing)


def _slot(
    column: Column,
    known: pl.Series | None,
    missing: np.ndarray | None,
    n_rows: int,
    asked: str | Sets | bool,
) -> tuple[np.ndarray, np.ndarray | None]:
    """What one slot reads of a column's values, and which of them are masked; there, anything."""
    if known is None:
        return no_values(column, n_rows), missing
    if isinstance(asked, Sets):
        text = known.cast(pl.String)
        right = _is_one_of(text, asked.right)
        return right, _either(missing, ~(right | _is_one_of(text, asked.left)))
    if isinstance(asked, str):
        return is_value(known, asked), missing
    if column.kind == "ordered":
        levels = levels_of(column, known)
        return values_of(column, levels.fill_null(0)), _either(missing, where_missing(levels))
    return values_of(column, known), missing


def _is_one_of(text: pl.Series, values: Sequence[str]) -> np.ndarray:
    return _contiguous(text.is_in(list(values)))


def _either(one: np.ndarray | None, other: np.ndarray | None) -> np.ndarray | None:
    """Where one of them holds; None if nowhere."""
    if one is None or other is None:
        found = other if one is None else one
    else:
        found = one | other
    return found if found is not None and found.any() else None


def levels_of(column: Column, series: pl.Series) -> pl.Series:
    """The place of each value among the levels of a declared order; null if it is none."""
    if isinstance(series.dtype, pl.Enum):
        return series.to_physical().cast(pl.UInt32)
    places = pl.Series(range(len(column.values)), dtype=pl.UInt32)
    levels = pl.Series(column.values, dtype=pl.String)
    return series.cast(pl.String).replace_strict(
        levels, places, default=None, return_dtype=pl.UInt32
    )


def no_values(column: Column, n_rows: int) -> np.ndarray:
    """What stands in an array of a column whose values are all missing."""
    flags = column.kind in ("boolean", "category")
    return np.zeros(n_rows, dtype=bool if flags else np.int64)


def where_missing(series: pl.Series) -> np.ndarray | None:
    """Which values are missing; None if none are."""
    if series.dtype == pl.Null:
        return np.ones(len(series), dtype=bool) if len(series) else None
    missing = series.is_null() if series.null_count() else None
    if series.dtype.is_float() and np.isnan(float(series.sum() or 0.0)):
        # A sum that is a number means that every value is one. It is none of infinities, too.
        nan = series.is_nan().fill_null(True)
        missing = nan if missing is None else missing | nan
    if missing is None or not missing.any():
        return None
    return _contiguous(missing)


def filled_in(series: pl.Series, missing: np.ndarray) -> pl.Series:
    """The series with some value of it in place of missing ones. It has one."""
    first = int(np.argmin(missing))
    if series.dtype.is_integer() or series.dtype == pl.Boolean:
        return series.fill_null(series[first])
    rows = np.arange(len(series))
    rows[missing] = first
    return series.gather(rows)


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
        raise lacking(missing, len(names))
    return [where[name] for name in names]


def values_of(column: Column, series: pl.Series) -> np.ndarray:
    """A column's values, none of which is missing, as the router compares them."""
    dtype = series.dtype
    if column.kind == "boolean":
        return _booleans(column, series)
    if isinstance(dtype, pl.Enum):
        return _contiguous(series.to_physical().cast(pl.UInt32))
    if column.kind in TIMED:
        given = time_unit(str(dtype))
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


def _report_unseen(
    read: Sequence[tuple[Column, pl.Series | None, np.ndarray | None]], unseen: Unseen
) -> None:
    """A warning of values that were not there in training, or an error."""
    found = []
    for column, series, missing in read:
        if series is None or column.kind not in ("category", "ordered"):
            continue
        if isinstance(series.dtype, pl.Enum) and tuple(series.dtype.categories) == column.values:
            continue
        present = series.unique().cast(pl.String)
        strange = present.filter(~present.is_in(list(column.values))).sort()
        if len(strange):
            # What stands where a value is missing does not count.
            rows_of = series.cast(pl.String).is_in(strange.to_list()).to_numpy()
            count = int((rows_of if missing is None else rows_of & ~missing).sum())
            found.append(Strange(column, strange.to_list(), count))
    report(found, unseen)
