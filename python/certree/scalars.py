"""Numbers that users give: told from other values, and shown in errors."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

#: Integers of as many digits are no sizes, limits or prices, and some Python versions refuse to
#: write them. Floats hold all that are smaller.
BEYOND = 10**300


def is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))


def is_number(value: Any) -> bool:
    """Whether it is a finite number, which a float can hold."""
    real = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    try:
        return real and math.isfinite(value)
    except OverflowError:
        # Larger than a float holds.
        return False


def shown(value: Any, most: int = 100) -> str:
    """A value for an error message: not all of its digits, if there are hundreds.

    >>> print(shown(10**5000), shown(0.5), shown("a" * 200, most=30))
    an integer of 16,610 bits 0.5 'aaaaaaaaa… (202 characters)
    """
    if is_integer(value) and abs(value) >= BEYOND:
        return f"an integer of {int(value).bit_length():,} bits"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001
        # Python writes no integer of more than some thousand digits, such as one in a list, and a
        # class of the user's may fail for any reason.
        return f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= most else f"{text[: most - 20]}… ({len(text):,} characters)"
