"""From constraints to the linear limits that the core takes, and back to what a tree attains.

Every constraint is one or several linear limits: the weight of some rows that get a label, as it is
or as a share of some rows, is added up, and the total is within bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import inf
from typing import Any

from certree import _core
from certree.constraints import (
    RATES,
    Capacity,
    Constraint,
    FalsePositiveRate,
    GroupConstraint,
    Met,
    SumLimit,
    of_groups,
)
from certree.scalars import is_number, shown

#: The core takes no more.
MOST_LIMITS = 24

#: A ratio of more decimals is not kept exactly.
DECIMALS = 6

#: The bounds of a value: the least and the largest one.
Bounds = tuple[float, float]


@dataclass(frozen=True)
class Rate:
    """A share of rows: the weight of some classes with some labels, of the weight of classes."""

    group: str
    counts: Sequence[tuple[int, int]]
    of: Sequence[int]

    def times(self, factor: float) -> tuple[list[tuple[int, int]], list[int], float]:
        return list(self.counts), list(self.of), factor

    def and_(self, others: Sequence[Rate]) -> Rate:
        """The rate of several groups together, which share no row."""
        every = [self, *others]
        counts = [count for each in every for count in each.counts]
        return Rate("all others", counts, [one for each in every for one in each.of])


def bounds_of(constraint: Constraint) -> Bounds:
    """What the constraint allows, after a look at its numbers."""
    if isinstance(constraint, SumLimit):
        return _sum_bounds(constraint)
    if isinstance(constraint, Capacity):
        return _between(_share(constraint, "min_fraction"), _share(constraint, "max_fraction"))
    if isinstance(constraint, FalsePositiveRate):
        return -inf, _share(constraint, "max_rate", must=True)
    if not isinstance(constraint.rate, str) or constraint.rate not in RATES:
        raise ValueError(
            f"rate={shown(constraint.rate)} is not valid: it must be one of {', '.join(RATES)}"
        )
    if constraint.against not in ("each", "rest"):
        raise ValueError(
            f"against={shown(constraint.against)} is not valid: it must be 'each' or 'rest'"
        )
    most, least = _share(constraint, "max_difference"), _share(constraint, "min_ratio")
    if (most is None) == (least is None):
        raise ValueError(
            f"{type(constraint).__name__} takes one of max_difference and min_ratio; to keep both, "
            "give two of them"
        )
    if least is not None and round(least, DECIMALS) != least:
        raise ValueError(
            f"min_ratio={shown(least)} is not valid: it must have at most {DECIMALS} decimals"
        )
    return (-inf, most) if most is not None else (least or 0.0, inf)


def _share(constraint: Any, name: str, must: bool = False) -> Any:
    value = getattr(constraint, name)
    if value is None and not must:
        return None
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"{name}={shown(value)} is not valid: it must be a number from 0 to 1")
    return float(value)


def _sum_bounds(constraint: SumLimit) -> Bounds:
    found = []
    for name in ("at_least", "at_most"):
        value = getattr(constraint, name)
        if value is not None and not (is_number(value) and abs(value) < inf):
            raise ValueError(f"{name}={shown(value)} is not valid: it must be a finite number")
        found.append(None if value is None else float(value))
    return _between(*found)


def _between(least: float | None, most: float | None) -> Bounds:
    if least is None and most is None:
        raise ValueError("a constraint has no limit: give the least or the most that is allowed")
    if least is not None and most is not None and least > most:
        raise ValueError(f"a constraint allows nothing: at least {least:g} and at most {most:g}")
    return -inf if least is None else least, inf if most is None else most


def limit(
    name: str, terms: Sequence[Any], bounds: Bounds, is_strict: bool = False
) -> _core.LinearLimit:
    return _core.LinearLimit(name, list(terms), *bounds, is_strict)


def sum_terms(first: int, label: int) -> list[tuple[list[tuple[int, int]], list[int], float]]:
    """A sum over the rows that get a label: what is above zero is counted by the class at place
    ``first``, and what is below by the next one."""
    return [([(first, label)], [], 1.0), ([(first + 1, label)], [], -1.0)]


def apart(
    constraint: GroupConstraint, name: str, rates: Sequence[Rate], is_strict: bool = False
) -> list[_core.LinearLimit]:
    """The limits that keep rates of groups together."""
    least, most = bounds_of(constraint)
    pairs: list[tuple[Rate, Rate]]
    if constraint.against == "rest" and len(rates) > 2:
        rest = [[other for other in rates if other is not each] for each in rates]
        pairs = [(each, others[0].and_(others[1:])) for each, others in zip(rates, rest)]
    else:
        pairs = [(b, a) for a, b in combinations(rates, 2)]
    if most == inf:
        # Each is at least so many times the other one.
        pairs = [both for pair in pairs for both in permutations(pair)]
    found = []
    for a, b in pairs:
        # Two groups need no names.
        of = name if len(rates) == 2 else f"{name} of {a.group} and {b.group}"
        bounds, factor = ((0.0, inf), -least) if most == inf else ((-most, most), -1.0)
        found.append(limit(of, [a.times(1.0), b.times(factor)], bounds, is_strict))
    return found


def met(constraint: Constraint, values: Sequence[float], positive: Any = None) -> Met:
    """What the limits of a constraint say of a tree. ``positive``: the label that is meant where
    none is named."""
    least, most = bounds_of(constraint)
    edge = least if most == inf else most
    if isinstance(constraint, SumLimit):
        column = "given numbers"
        if constraint.is_column:
            is_name = isinstance(constraint.values, str)
            column = shown(constraint.values) if is_name else f"column {constraint.values}"
        label = positive if constraint.label is None else constraint.label
        what = f"sum of {column} over rows that get {shown(label)}: it is"
    elif isinstance(constraint, Capacity):
        what = f"capacity of {shown(constraint.label)}: the share is"
    elif isinstance(constraint, FalsePositiveRate):
        what = "false positives: the rate is"
    else:
        what = of_groups(constraint)
        value = max(map(abs, values)) if most < inf else _least_ratio(values, least)
        return Met(constraint, edge, value, (least, most), what)
    return Met(constraint, edge, values[0], (least, most), what)


def _least_ratio(values: Sequence[float], least: float) -> float:
    """The least ratio of two rates, from a − r · b and b − r · a of each pair."""
    found = 1.0
    if least == 1.0:
        return found
    for first, second in zip(values[::2], values[1::2]):
        a, b = first + least * second, second + least * first
        if max(a, b) > 0:
            found = min(found, max(min(a, b), 0.0) / max(a, b))
    return found


def check_number(n_limits: int, constraints: Sequence[Constraint]) -> None:
    if n_limits <= MOST_LIMITS:
        return
    raise ValueError(
        f"constraints set {n_limits} limits, one for each pair of groups and each label where none "
        f"is named, but at most {MOST_LIMITS} are possible: name labels with label=, or compare "
        'groups with against="rest"'
    )
