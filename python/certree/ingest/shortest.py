"""Thresholds that one can say aloud: of all that send the training rows the same way, integers of
fewest digits, and of dates, durations and times those at the coarsest unit. Of several, the one
nearest to the midpoint. Floats are the core's (``_core.shortest_decimals``).

The range that a threshold may lie in has the midpoint as its centre. So if any number of d digits
lies in it, the one nearest to the midpoint does; and a number of d digits is one of d + 1, too.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from certree.moments import TICKS, time_unit, time_zone

#: By unit of ticks, from coarse to fine, as polars writes them.
_CLOCK = ("1y", "1mo", "1d", "1h", "1m", "1s")
UNITS = {
    "day": ("1y", "1mo"),
    "ms": _CLOCK,
    "us": (*_CLOCK, "1ms"),
    "ns": (*_CLOCK, "1ms", "1us"),
}

#: How many hours, minutes, seconds, milliseconds and microseconds a day has.
PARTS_OF_DAY = (1, 24, 1_440, 86_400, 86_400_000, 86_400_000_000)

#: Between these years there are dates in every unit of ticks.
YEARS = (1700, 2200)


def whole_numbers(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The integer of fewest digits strictly between two integers, by pair; the lower one where none
    lies between. Lower ones are 64-bit integers."""
    low, last, middle, half = _range(low, high)
    found = middle.copy()
    searched = np.ones(len(found), dtype=bool)
    # Each digit less is a step ten times as wide, up to that of the first digit.
    for power in range(1, 19):
        step = 10**power
        searched &= np.abs(middle) >= step
        if not searched.any():
            break
        below = middle // step * step
        room = np.iinfo(np.int64).max - step
        above = np.where(below <= room, below + np.where(below <= room, step, 0), below)
        nearer = np.where(middle - below + half <= above - middle, below, above)
        searched &= (low <= nearer) & (nearer <= last)
        found = np.where(searched, nearer, found)
    return found


def _range(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, ...]:
    """From where to where a threshold between two integers may lie, the middle of that, rounded
    down, and whether it is a half more: 1 or 0."""
    most = min(int(np.iinfo(high.dtype).max), int(np.iinfo(np.int64).max))
    last = np.minimum(high - high.dtype.type(1), high.dtype.type(most)).astype(np.int64)
    low = low.astype(np.int64)
    low = low + (low < last)
    # No sum is out of range.
    return low, last, (low & last) + ((low ^ last) >> 1), (low ^ last) & 1


def moments(low: np.ndarray, high: np.ndarray, dtype: str) -> np.ndarray:
    """Of dates the last day of a year, of a month, or any day; of moments the beginning of a year,
    month, day, hour and so on: strictly between two neighbours, by pair, or the lower one where
    nothing lies between. In ticks of the dtype, which is given as text. Durations and times of day
    have no calendar: theirs are whole days, hours, minutes and so on."""
    unit, zone = time_unit(dtype), time_zone(dtype)
    if dtype == "Time" or dtype.startswith("Duration"):
        return _multiples(low, high, TICKS[unit])
    low, last, found, _ = _range(low, high)
    start, end = ((year - 1970) * 365.2425 * TICKS[unit] for year in YEARS)
    usual = np.flatnonzero((low > start) & (last < end))
    low, last, middle = low[usual], last[usual], found[usual]
    local = _local(middle, unit, zone)
    searched = np.ones(len(usual), dtype=bool)
    for step in UNITS[unit]:
        begin = local.dt.truncate(step)
        below, above = (_ticks(each, unit, zone) for each in (begin, begin.dt.offset_by(step)))
        below_fits = searched & (low <= below) & (below <= last)
        above_fits = searched & (low <= above) & (above <= last)
        take_above = above_fits & (~below_fits | (above - middle < middle - below))
        found[usual[below_fits]] = below[below_fits]
        found[usual[take_above]] = above[take_above]
        searched &= ~(below_fits | above_fits)
    return found


def _multiples(low: np.ndarray, high: np.ndarray, day: int) -> np.ndarray:
    """Of the integers strictly between two, by pair, a multiple of the longest unit of time that
    has one; the lower integer where nothing lies between. ``day``: in ticks."""
    low, last, middle, _ = _range(low, high)
    found, searched = middle.copy(), np.ones(len(middle), dtype=bool)
    for step in (day // parts for parts in PARTS_OF_DAY if day >= parts):
        below = middle // step * step
        # Sums that are out of range wrap around, and lie in nobody's.
        with np.errstate(over="ignore"):
            above = below + step
        below_fits = searched & (low <= below) & (below <= last)
        above_fits = searched & (low <= above) & (above <= last)
        take_above = above_fits & (~below_fits | (above - middle < middle - below))
        found = np.where(take_above, above, np.where(below_fits, below, found))
        searched &= ~(below_fits | above_fits)
    return found


def _local(ticks: np.ndarray, unit: str, zone: str | None) -> pl.Series:
    """What calendars and clocks show."""
    if unit == "day":
        return pl.Series(ticks, dtype=pl.Int64).cast(pl.Date)
    moments = pl.Series(ticks, dtype=pl.Int64).cast(pl.Datetime(unit, zone))
    return moments if zone is None else moments.dt.replace_time_zone(None)


def _ticks(local: pl.Series, unit: str, zone: str | None) -> np.ndarray:
    """Moments by the clock in ticks; of the first day of a unit, the day before. What clocks skip
    is no moment: the least number, which is nobody's threshold."""
    if zone is not None:
        local = local.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    ticks = local.to_physical().cast(pl.Int64).fill_null(np.iinfo(np.int64).min + 1)
    return ticks.to_numpy() - int(unit == "day")
