"""The user's own thresholds for a column, in the form that is compared."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from certree.ingest import midpoints
from certree.moments import TICKS, time_unit
from certree.scalars import is_number, shown
from certree.schema import TIMED, Column

#: By kind of column, what its thresholds are in Python.
_MOMENTS: Mapping[str, type] = {"date": dt.date, "duration": dt.timedelta, "time": dt.time}


def read_list(column: Column, wish: Iterable[Any], values: np.ndarray) -> list[float] | list[int]:
    """Ascending thresholds: integers for dates and wide integers, else floats."""
    numbers = [_number(column, item) for item in wish]
    if midpoints.whole(values, column):
        return sorted({math.floor(number) for number in numbers})
    return sorted({float(number) for number in numbers})


def read_values(column: Column, wish: Iterable[Any]) -> list[str] | list[bool]:
    """What to ask of a category: those of the given values that it has, in their order. Of a
    Boolean: ``True``, or nothing."""
    kind, what = (str, "a value of it") if column.kind == "category" else (bool, "True")
    wish = [item.item() if isinstance(item, np.generic) else item for item in wish]
    for item in wish:
        if not isinstance(item, kind) or item is False:
            raise ValueError(
                f"thresholds of column {column.name!r} has {shown(item)}, which is not {what}"
            )
    if column.kind == "boolean":
        return [True] if wish else []
    wanted = set(wish)
    return [value for value in column.values if value in wanted]


def _number(column: Column, item: Any) -> float | int:
    if isinstance(item, np.generic):
        item = item.item()
    if column.kind == "ordered":
        if item not in column.values:
            raise ValueError(
                f"thresholds of column {column.name!r} has {shown(item)}, which is no level of it"
            )
        return column.values.index(item)
    if (kind := _MOMENTS.get(column.kind)) and isinstance(item, kind):
        micros = _microseconds(column, item)
        return micros * TICKS[time_unit(column.dtype)] // TICKS["us"]
    if not (isinstance(item, (int, float)) and is_number(item)):
        timed = column.kind in TIMED
        what = f"a {column.kind} or an integer" if timed else "a finite number"
        raise ValueError(
            f"thresholds of column {column.name!r} has {shown(item)}, which is not {what}"
        )
    return item


def _microseconds(column: Column, moment: Any) -> int:
    if isinstance(moment, dt.timedelta):
        return moment // dt.timedelta(microseconds=1)
    if isinstance(moment, dt.time):
        if moment.tzinfo is not None:
            raise ValueError(
                f"thresholds of column {column.name!r}: {moment!r} must not have a time zone"
            )
        since_midnight = dt.datetime.combine(dt.date.min, moment) - dt.datetime.min
        return since_midnight // dt.timedelta(microseconds=1)
    zoned = "time_zone='" in column.dtype
    if not isinstance(moment, dt.datetime):
        moment = dt.datetime(moment.year, moment.month, moment.day)
    if (moment.tzinfo is not None) != zoned:
        raise ValueError(
            f"thresholds of column {column.name!r}: {moment!r} must {'' if zoned else 'not '}have "
            f"a time zone, as the column does{'' if zoned else ' not'}"
        )
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc if zoned else None)
    return (moment - epoch) // dt.timedelta(microseconds=1)
