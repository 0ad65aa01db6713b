"""Factors that make all classes weigh the same, for who cannot leave that to the core: its
``balanced`` is about the classes that it is given, and those may be cut into groups."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from certree.ingest.weights import DECIMALS, are_short

#: Larger whole numbers are not told apart by floats.
MOST_WHOLE = 2**53


def factors(
    given: Sequence[float], weights: NDArray[np.float64], n_groups: int = 1
) -> list[float]:
    """Each factor divided by the weight of its class. Where weights are short decimals, all factors
    are multiplied by one number that makes the quotients whole, if floats hold them. ``weights``
    are by point, class and group."""
    totals = weights.sum(axis=0).reshape(-1, n_groups).sum(axis=1).tolist()
    if are_short(weights):
        whole = [int(round(total * 10**DECIMALS)) or 1 for total in totals]
        common = math.lcm(*whole)
        divisor = math.gcd(*(common // total for total in whole))
        multiples = [common // total // divisor for total in whole]
        if max(multiples) <= MOST_WHOLE:
            return [factor * multiple for factor, multiple in zip(given, multiples)]
    return [factor / (total or 1.0) for factor, total in zip(given, totals)]
