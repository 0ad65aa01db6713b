"""Intervals for shares and means, of rows that had no say in what is asked of them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from certree.generalization import check_confidence

Floats = NDArray[np.float64]


def check(confidence: float) -> None:
    """A ValueError unless it is a number between 0 and 1."""
    check_confidence(confidence)


def clopper_pearson(successes: float, n: float, confidence: float) -> tuple[float, float]:
    """For the share that successes have in the population: it holds exactly, for any n.

    >>> low, high = clopper_pearson(8, 10, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.444, 0.975)
    >>> clopper_pearson(0, 0, 0.95)
    (0.0, 1.0)
    """
    from scipy.special import betaincinv

    half = (1.0 - confidence) / 2
    low = betaincinv(successes, n - successes + 1, half) if successes > 0 else 0.0
    high = betaincinv(successes + 1, n - successes, 1.0 - half) if successes < n else 1.0
    return float(low), float(high)


def student(values: Floats, confidence: float) -> tuple[float, float]:
    """For the mean of the population, by Student's t: exact for normal values, and nearly so for
    many others.

    >>> low, high = student(np.array([1.0, 2.0, 3.0]), 0.95)
    >>> round(low, 3), round(high, 3)
    (-0.484, 4.484)
    """
    from scipy.special import stdtrit

    n = len(values)
    if n < 2:
        return -math.inf, math.inf
    half = float(stdtrit(n - 1, 0.5 + confidence / 2) * values.std(ddof=1) / math.sqrt(n))
    mean = float(values.mean())
    return mean - half, mean + half


def paired_shares(gained: int, lost: int, n: int, confidence: float) -> tuple[float, float]:
    """For the difference of two shares that are counted on the same rows, of which so many count
    for the first alone and so many for the second (Bonett and Price 2012).

    >>> low, high = paired_shares(12, 4, 100, 0.95)
    >>> round(low, 3), round(high, 3)
    (-0.002, 0.159)
    """
    from scipy.special import ndtri

    first, second = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    middle = first - second
    spread = (first + second - middle**2) / (n + 2)
    half = float(ndtri(0.5 + confidence / 2)) * math.sqrt(spread)
    return max(middle - half, -1.0), min(middle + half, 1.0)


def of_each(confidence: float, n: int) -> float:
    """The confidence of each of n independent intervals, so that all of them hold at once with this
    one (Šidák).

    >>> round(of_each(0.95, 8), 4)
    0.9936
    """
    return float(confidence ** (1.0 / n))
