"""Thresholds between neighbouring values, exactly as prediction will compare with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from certree import _core
from certree.ingest import shortest
from certree.schema import TIMED, Column

#: Integers up to here are floats.
EXACT = 2**53

#: Quantiles that are listed.
MOST_GOALS = 10**6

#: Values that are worked on together: enough to make calls few, and few enough to stay close by.
BATCH = 8192


def between(
    values: np.ndarray, places: np.ndarray, column: Column, exact: bool = False
) -> list[float] | list[int]:
    """A threshold between ``values[i]`` and ``values[i + 1]`` for each place i; ``values`` ascend.

    As short as can be, and whole if all values are; or ``exact`` midpoints. Those of dates,
    durations and times and of integers beyond 2^53 are integers, and rounded down. Others are
    floats; where none lies between, the lower value.
    """
    floats = values.dtype.kind == "f" or not whole(values, column)
    values = values if exact else as_integers(values)
    low, high = values[places], values[places + 1]
    if floats:
        return _floats(low, high, exact).tolist()
    if exact or column.kind == "ordered" or (len(low) and int(low[-1]) >= 2**63):
        found = [(a + b) // 2 for a, b in zip(low.tolist(), high.tolist())]
    elif column.kind in TIMED:
        found = shortest.moments(low, high, column.dtype).tolist()
    else:
        found = shortest.whole_numbers(low, high).tolist()
    return check_width(found, column)


def between_all(columns: Sequence[np.ndarray], exact: bool = False) -> list[np.ndarray]:
    """``between`` at all places of many columns of one type, whose thresholds are floats: as
    arrays, since there may be as many as values."""
    found: list[np.ndarray] = []
    batch: list[np.ndarray] = []
    size = 0
    for values in columns:
        values = values if exact else as_integers(values)
        if size >= BATCH or (batch and values.dtype != batch[-1].dtype):
            found += _between_some(batch, exact)
            batch, size = [], 0
        batch.append(values)
        size += len(values)
    return found + _between_some(batch, exact) if batch else found


def _between_some(columns: Sequence[np.ndarray], exact: bool) -> list[np.ndarray]:
    joined = np.concatenate(columns)
    # Those between two columns are in nobody's part.
    found = _floats(joined[:-1], joined[1:], exact)
    ends = np.cumsum([len(values) for values in columns]).tolist()
    return [found[end - len(values) : end - 1] for values, end in zip(columns, ends)]


def as_integers(values: np.ndarray) -> np.ndarray:
    """Floats that are all whole numbers as integers, since a table of numpy holds both as floats;
    any other values as they are."""
    if values.dtype.kind != "f" or not len(values):
        return values
    if not (-EXACT <= values[0] and values[-1] <= EXACT):
        return values
    return values.astype(np.int64) if (values == np.rint(values)).all() else values


def _floats(low: np.ndarray, high: np.ndarray, exact: bool) -> np.ndarray:
    """Thresholds between numbers of up to 53 bits."""
    if low.dtype.kind != "f":
        if not exact:
            return shortest.whole_numbers(low, high).astype(np.float64)
        low, high = low.astype(np.float64), high.astype(np.float64)
    if exact:
        return _float_midpoints(low, high).astype(np.float64, copy=False)
    low, high = low.astype(np.float64, copy=False), high.astype(np.float64, copy=False)
    return _core.shortest_decimals(low, high, _float_midpoints(low, high))


def _float_midpoints(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    two = low.dtype.type(2)
    with np.errstate(over="ignore", invalid="ignore"):
        width = high - low
        middle = low + width / two
        if not (finite := np.isfinite(width)).all():
            middle = np.where(finite, middle, low / two + high / two)
            middle = _beside_infinity(middle, low, high)
    return np.where((middle < low) | (middle >= high), low, middle)


def _beside_infinity(middle: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Where a neighbour is infinite: the largest finite number below the upper one that is
    not the lower one. Of both infinities it is 0; only the least finite number has none."""
    least = np.finfo(low.dtype).min
    from_below = np.where(high > least, least, low)
    middle = np.where(np.isneginf(low), np.where(np.isposinf(high), 0, from_below), middle)
    return middle.astype(low.dtype)


def whole(values: np.ndarray, column: Column) -> bool:
    """Whether the thresholds of these values are integers."""
    if column.kind in (*TIMED, "ordered"):
        return True
    if values.dtype.kind == "f" or len(values) == 0:
        return False
    return int(values[-1]) > EXACT or int(values[0]) < -EXACT


def check_width(thresholds: list[int], column: Column) -> list[int]:
    if thresholds and (thresholds[-1] >= 2**63 or thresholds[0] < -(2**63)):
        raise ValueError(
            f"column {column.name!r} has thresholds beyond 64-bit signed integers, such as "
            f"{thresholds[-1]}; cast it to Float64, or to strings if it is an identifier"
        )
    return thresholds


def quantiles(weights: np.ndarray, k: int) -> np.ndarray:
    """Places after which about 1/(k+1), 2/(k+1), ... of the weight has passed; each once."""
    if len(weights) < 2:
        return np.empty(0, dtype=np.int64)
    # Whole numbers are added without rounding, whatever was added before.
    passed = np.cumsum(weights).astype(np.float64)
    if k > MOST_GOALS:
        # Too many to be written down: a value is the end of a quantile if one lies in its own
        # share.
        share = np.floor(passed / passed[-1] * float(k + 1))
        ends = np.flatnonzero(np.diff(share, prepend=0.0) > 0)
        return np.unique(np.minimum(ends, len(weights) - 2))
    goals = np.arange(1, k + 1) / (k + 1) * passed[-1]
    places = np.searchsorted(passed, goals)
    return np.unique(np.minimum(places, len(weights) - 2))


def separating(values: np.ndarray, thresholds: list[float] | list[int]) -> list[float] | list[int]:
    """The thresholds that separate some of the values; the lowest of those that do so alike."""
    below = np.searchsorted(values, rounded_down(thresholds, values.dtype), side="right")
    below[: n_below_all(thresholds, values.dtype)] = 0
    kept, last = [], 0
    for threshold, count in zip(thresholds, below.tolist()):
        if last < count < len(values):
            kept.append(threshold)
            last = count
    return kept


def rounded_down(thresholds: Sequence[float] | Sequence[int], dtype: np.dtype) -> np.ndarray:
    """The greatest values of a type that are at most the thresholds, saturating at its ends."""
    if dtype.kind != "f":
        ends = np.iinfo(dtype)
        whole_numbers = [int(np.floor(t)) if isinstance(t, float) else t for t in thresholds]
        return np.array([min(max(t, ends.min), ends.max) for t in whole_numbers], dtype=dtype)
    exact = np.array(thresholds, dtype=np.float64)
    found = exact.astype(dtype)
    with np.errstate(over="ignore"):
        below = np.nextafter(found, dtype.type(-np.inf))
    return np.where(found > exact, below, found)


def n_below_all(thresholds: Sequence[float] | Sequence[int], dtype: np.dtype) -> int:
    """How many of the ascending thresholds are below every value that a type has, so that rounding
    them down saturates and no value is at most them."""
    least = -np.inf if dtype.kind == "f" else int(np.iinfo(dtype).min)
    return sum(threshold < least for threshold in thresholds)


def unsigned_zero(values: np.ndarray) -> np.ndarray:
    return values + values.dtype.type(0) if values.dtype.kind == "f" else values
