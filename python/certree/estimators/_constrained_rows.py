"""Fitting under constraints where each row has a number for each label, and none is its true one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core, ingest
from certree.constraints import Capacity, Constraint, DemographicParity, EqualOpportunity, Met
from certree.estimators._constrained import most_of, nobody, place, rule_of
from certree.ingest.weights import are_short, shortened
from certree.scalars import shown

#: The core takes no more.
MOST_LIMITS = 8


#: Of costs: the label that costs least is the right one.
OF_COSTS = rule_of(
    (Capacity, DemographicParity, EqualOpportunity),
    ": FalsePositiveRate is about true classes, which OptimalTreeClassifier has",
)

#: Of estimated rewards, which do not tell the right one.
OF_REWARDS = rule_of(
    (Capacity, DemographicParity),
    ": the other constraints are about rows whose right label is known, which "
    "OptimalTreeClassifier and OptimalCostTree have",
)


def core(
    constraints: Sequence[Constraint],
    located: ingest.Located,
    labels: NDArray[Any],
    row_costs: NDArray[np.float64],
    sides: Mapping[str, NDArray[np.uint32]],
) -> tuple[_core.Constraints, Callable[[Sequence[float]], list[Met]]]:
    """The constraints as limits on groups of rows, and what they are in a tree, from what the core
    says of the limits. ``row_costs`` are by row, ``sides`` by sensitive column and row."""
    known = labels.tolist()
    counts = Counts(located, row_costs, sides)
    limited = [counts.limits(each, known) for each in constraints]
    n_limits = [len(limits) for limits in limited]
    if sum(n_limits) > MOST_LIMITS:
        raise ValueError(
            f"constraints set {sum(n_limits)} limits, one for each label where none is named, but "
            f"at most {MOST_LIMITS} are possible: name labels with label="
        )
    counted = np.column_stack(counts.weights)
    if located.weights is None or are_short(located.weights):
        counted = shortened(counted)

    def met(attained: Sequence[float]) -> list[Met]:
        found = iter(attained)
        worst = [max(abs(next(found)) for _ in range(n)) for n in n_limits]
        return [Met(each, most_of(each), value) for each, value in zip(constraints, worst)]

    limits = [limit for each in limited for limit in each]
    return _core.Constraints(limits, weights=np.ascontiguousarray(counted)), met


class Counts:
    """Row weights by point that limits count, each set of rows once."""

    def __init__(
        self,
        located: ingest.Located,
        row_costs: NDArray[np.float64],
        sides: Mapping[str, NDArray[np.uint32]],
    ) -> None:
        self.located = located
        self.row_costs = row_costs
        self.sides = sides
        self.weights: list[NDArray[np.float64]] = []
        self.places: dict[tuple[Any, ...], int] = {}

    def limits(self, constraint: Any, known: list[Any]) -> list[_core.ShareLimit]:
        most = most_of(constraint)
        if isinstance(constraint, Capacity):
            everybody = np.ones(len(self.row_costs), dtype=bool)
            among = self._place((), everybody)
            label = place(constraint, known, "labels are")
            return [_core.ShareLimit(shown(constraint, most=200), label, [among], [], most)]
        if constraint.label is not None:
            return [self._apart(constraint, known, place(constraint, known, "labels are"), most)]
        # Of two labels both shares are equally far apart.
        parity = isinstance(constraint, DemographicParity)
        labels: Sequence[int] = [1] if parity and len(known) == 2 else range(len(known))
        return [self._apart(constraint, known, label, most) for label in labels]

    def _apart(
        self, constraint: Any, known: list[Any], label: int, most: float
    ) -> _core.ShareLimit:
        side = self.sides[constraint.sensitive]
        counts, of = np.ones(len(side), dtype=bool), None
        if isinstance(constraint, EqualOpportunity):
            counts, of = self.row_costs[:, label] <= self.row_costs.min(axis=1), label
        places = []
        for value in (1, 0):
            rows = counts & (side == value)
            at = self._place((constraint.sensitive, value, of), rows)
            if self.weights[at].sum() == 0:
                raise ValueError(nobody(constraint, f"that {shown(known[label])} costs least for"))
            places.append(at)
        name = f"{shown(constraint, most=200)} of {shown(known[label])}"
        return _core.ShareLimit(name, label, places[:1], places[1:], most)

    def _place(self, key: tuple[Any, ...], rows: NDArray[np.bool_]) -> int:
        if key not in self.places:
            self.places[key] = len(self.weights)
            point_of, n_points = self.located.point_of, self.located.points.n_points
            ones = rows.astype(np.float64)[:, None]
            summed = _core.sum_by_point(point_of, n_points, ones, self.located.weights)
            self.weights.append(summed[:, 0])
        return self.places[key]
