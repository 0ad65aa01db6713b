"""What a tree's tests say, in words.

A test is ``True`` ("is true": false goes left), a string ("is value": other values go left),
``Sets`` (the values on either side), None ("is missing": values that are there go left), or a
threshold (``x <= t`` goes left; of a declared order, the place of the last level that does). Every
export that people read takes its words from here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from certree.moments import clock_text, length_text, time_unit, time_zone
from certree.schema import Column, Sets, Side, is_threshold

Test = bool | str | int | float | Sets | None

#: Of a set in a picture.
MOST_SHOWN = 5

_PER_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9}


class Words(NamedTuple):
    """The two ways out of a test, without the column's name in front: ``<= 38.5`` and ``> 38.5``.
    """

    left: str
    right: str


def words(column: Column, test: Test, missing: Side | None = None) -> Words:
    """What holds on the left and on the right of a test; ``missing`` is where missing values go, if
    there are any.

    >>> words(Column("age", "number", "Int64"), 38.5)
    Words(left='<= 38.5', right='> 38.5')
    >>> words(Column("sex", "category", "String", ("female", "male")), "female")
    Words(left='is not female', right='= female')
    >>> words(Column("age", "number", "Int64", missing=True), 38.5, "left")
    Words(left='<= 38.5 or missing', right='> 38.5')
    >>> words(Column("grade", "ordered", "Enum", ("I", "II", "III")), 1)
    Words(left='<= II', right='> II')
    >>> words(Column("site", "category", "String", ("a", "b", "c")), Sets(("a", "c"), ("b",)))
    Words(left='in {a, c}', right='= b')
    """
    if test is None:
        return Words("is not missing", "is missing")
    if isinstance(test, bool):
        return _with_missing(Words("is false", "is true"), missing)
    if isinstance(test, Sets):
        return _with_missing(Words(*map(_set_text, test)), missing)
    if isinstance(test, str):
        return _with_missing(Words(f"is not {plain(test)}", f"= {plain(test)}"), missing)
    text = threshold_text(column, test)
    return _with_missing(Words(f"<= {text}", f"> {text}"), missing)


def _set_text(values: Sequence[str], most: int | None = None) -> str:
    """``= a`` or ``in {a, c}``; of more than ``most`` values the first ones, and how many more."""
    if len(values) == 1:
        return f"= {plain(values[0])}"
    shown = [_member(value) for value in values]
    if most is not None and len(shown) > most:
        shown = [*shown[: most - 1], f"… {len(shown) - most + 1} more"]
    return f"in {{{', '.join(shown)}}}"


def _member(value: str) -> str:
    """A value within a list, in quotes where it would look like several, or like the end."""
    if any(mark in value for mark in ",{}"):
        return json.dumps(value, ensure_ascii=not value.isprintable())
    return plain(value)


def _with_missing(found: Words, missing: Side | None) -> Words:
    if missing is None:
        return found
    return found._replace(**{missing: f"{getattr(found, missing)} or missing"})


def brief(column: Column, test: Test, missing: Side | None = None) -> Words:
    """The two ways out of a test for a picture: a long threshold is rounded to six digits, so that
    it is only about what the tree compares with.

    >>> brief(Column("s5", "number", "Float64"), 4.629849999999999)
    Words(left='≤ 4.62985', right='> 4.62985')
    """
    if isinstance(test, Sets):
        return _with_missing(Words(*(_set_text(side, MOST_SHOWN) for side in test)), missing)
    if not is_threshold(test):
        return words(column, test, missing)
    text = threshold_text(column, test)
    if isinstance(test, float) and column.kind == "number" and len(text) > 9:
        text = f"{test:.6g}"
    return _with_missing(Words(f"≤ {text}", f"> {text}"), missing)


def question(column: Column, test: Test, missing: Side | None = None) -> str:
    """The test as a question: ``age <= 38.5``, ``sex = female``, ``smoker is true``, ``age is
    missing``."""
    left, right = words(column, test, missing)
    asks_right = not is_threshold(test)
    return f"{plain(column.name)} {right if asks_right else left}"


def plain(text: str) -> str:
    """The text itself if it reads well within a line, otherwise in quotes.

    >>> print(plain("female"), plain(""), plain("a" + chr(10) + "b"))
    female "" "a\\nb"
    """
    if text and text.isprintable() and text == text.strip() and not text.startswith('"'):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if quoted.isprintable() else json.dumps(text)


def printable(text: str) -> str:
    """The text with every character escaped that could command a terminal; lines stay lines.

    >>> print(printable("a" + chr(27) + "[2J"))
    a\\x1b[2J
    """
    if text.isprintable():
        return text
    return "".join(c if c == "\n" or c.isprintable() else ascii(c)[1:-1] for c in text)


def threshold_text(column: Column, threshold: int | float) -> str:
    """A threshold as short as it can be while it still sends every value the same way.

    >>> threshold_text(Column("day", "date", "Date"), 18691)
    '2021-03-05'
    >>> threshold_text(Column("wait", "duration", "Duration(time_unit='us')"), 5_400_000_000)
    '1h 30m'
    >>> threshold_text(Column("id", "number", "Int64"), 2**53 + 1)
    '9007199254740993'
    """
    if column.kind == "ordered":
        return plain(column.values[math.floor(threshold)])
    if column.kind == "date":
        return _moment_text(column.dtype, math.floor(threshold))
    if column.kind == "duration":
        return length_text(math.floor(threshold), time_unit(column.dtype))
    if column.kind == "time":
        return clock_text(math.floor(threshold))
    if isinstance(threshold, int):
        return str(threshold)
    if column.dtype == "Float32":
        threshold = _short_float32(threshold)
    return repr(threshold).removesuffix(".0")


def levels_apart(column: Column, threshold: int | float) -> Sets:
    """The levels of a declared order on either side of a threshold.

    >>> levels_apart(Column("grade", "ordered", "Enum", ("I", "II", "III")), 1)
    Sets(left=('I', 'II'), right=('III',))
    """
    end = math.floor(threshold) + 1
    return Sets(column.values[:end], column.values[end:])


def _short_float32(threshold: float) -> float:
    """The number of fewest digits with the same 32-bit floats below it."""
    low = float32_at_most(threshold)
    with np.errstate(over="ignore"):
        high = np.nextafter(low, np.float32(np.inf))
    for digits in range(1, 17):
        short = float(f"{threshold:.{digits}g}")
        if float(low) <= short < float(high):
            return short
    return threshold


def float32_at_most(threshold: float) -> np.float32:
    """The largest 32-bit float that is at most the threshold."""
    with np.errstate(over="ignore"):
        near = np.float32(threshold)
        return near if float(near) <= threshold else np.nextafter(near, np.float32(-np.inf))


def float_at_most(threshold: int | float) -> float:
    """The largest 64-bit float that is at most the threshold."""
    near = float(threshold)
    return near if near <= threshold else math.nextafter(near, -math.inf)


def _moment_text(dtype: str, threshold: int) -> str:
    unit = time_unit(dtype)
    if unit == "day":
        try:
            return (date(1970, 1, 1) + timedelta(days=threshold)).isoformat()
        except OverflowError:
            return f"{threshold} days since 1970-01-01"
    seconds, part = divmod(threshold, _PER_SECOND[unit])
    try:
        moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)
        zone = time_zone(dtype)
        moment = moment.astimezone(ZoneInfo(zone)) if zone else moment.replace(tzinfo=None)
    except OverflowError:
        return f"{threshold} {unit} since 1970-01-01T00:00:00"
    except (LookupError, ValueError, OSError):
        # This machine does not know the zone; the same moment reads as well in UTC.
        pass
    text = moment.isoformat()
    if part:
        digits = str(part).rjust(len(str(_PER_SECOND[unit])) - 1, "0").rstrip("0")
        text = f"{text[:19]}.{digits}{text[19:]}"
    return text
