"""How dates are kept: as whole numbers of a unit since 1970, which the text of a dtype names."""

from __future__ import annotations

import re

import numpy as np

#: Ticks per day of each unit that dates are kept in.
TICKS = {"day": 1, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def time_unit(dtype: str) -> str:
    """The unit of a date column's physical integers, from its dtype's text."""
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
    """Physical dates in the fitted unit, so that comparing with a threshold keeps its answer.

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
