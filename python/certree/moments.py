"""How dates, durations and times of day are kept: as whole numbers of a unit, which the text of a
dtype names. Dates count it since 1970, and times since midnight."""

from __future__ import annotations

import re

import numpy as np

#: Ticks per day of each unit that they are kept in.
TICKS = {"day": 1, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def time_unit(dtype: str) -> str:
    """The unit of a column's physical integers, from its dtype's text."""
    if dtype == "Time":
        return "ns"
    found = re.search(r"time_unit='(\w+)'", dtype)
    return found[1] if found else "day"


def time_zone(dtype: str) -> str | None:
    """The time zone of a polars ``Datetime``, from its text.

    >>> time_zone("Datetime(time_unit='us', time_zone='Europe/Paris')")
    'Europe/Paris'
    """
    found = re.search(r"time_zone='([^']+)'", dtype)
    return found.group(1) if found else None


def in_unit(values: np.ndarray, given: str, fitted: str) -> np.ndarray:
    """Physical values in the fitted unit, so that comparing with a threshold keeps its answer.

    To a coarser unit they are rounded up: x ≤ t for an integer t exactly if ⌈x⌉ ≤ t. To a finer one
    they saturate, which is beyond any threshold.
    """
    if given == fitted:
        return values
    values = values.astype(np.int64, copy=False)
    up, down = TICKS[fitted], TICKS[given]
    if up < down:
        return -(-values // (down // up))
    factor = up // down
    most = np.iinfo(np.int64).max // factor
    return np.clip(values, -most, most) * factor


def length_text(ticks: int, unit: str) -> str:
    """A duration in words.

    >>> print(length_text(93_784_005, "ms"), length_text(-3600, "ms"), length_text(0, "us"))
    1d 2h 3m 4.005s -3.6s 0s
    >>> length_text(-7_200_000, "ms")
    '-2h'
    """
    days, rest = divmod(abs(ticks), TICKS[unit])
    text = [f"{days}d"] if days else []
    for sign, per_day in (("h", 24), ("m", 24 * 60)):
        count, rest = divmod(rest, TICKS[unit] // per_day)
        text += [f"{count}{sign}"] if count else []
    if rest or not text:
        text.append(f"{seconds_text(rest, unit)}s")
    minus = "-" if ticks < 0 else ""
    return minus + " ".join(text) if len(text) == 1 or not minus else f"-({' '.join(text)})"


def clock_text(nanoseconds: int) -> str:
    """A time of day.

    >>> print(clock_text(0), clock_text(45_296_500_000_000))
    00:00:00 12:34:56.5
    """
    minutes, rest = divmod(nanoseconds, 60 * 10**9)
    whole, point, part = seconds_text(rest, "ns").partition(".")
    return f"{minutes // 60:02}:{minutes % 60:02}:{whole:>02}{point}{part}"


def seconds_text(ticks: int, unit: str) -> str:
    """Ticks that are no negative number in seconds, as a decimal."""
    per_second = TICKS[unit] // 86_400
    whole, part = divmod(ticks, per_second)
    digits = str(part).rjust(len(str(per_second)) - 1, "0").rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)
