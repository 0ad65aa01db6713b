"""Fitting under constraints where each row has a number for each label, and none is its true one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core, ingest
from certree.constraints import (
    Capacity,
    Constraint,
    DemographicParity,
    EqualOpportunity,
    GroupConstraint,
    Met,
    SumLimit,
)
from certree.estimators._constrained import (
    Named,
    groups_of,
    met_of,
    nobody,
    place,
    rule_of,
    sums_by_point,
)
from certree.estimators._limits import (
    Rate,
    apart,
    bounds_of,
    check_number,
    limit,
    sum_terms,
)
from certree.ingest.weights import are_short, shortened
from certree.scalars import shown

#: Of costs: the label that costs least is the right one.
OF_COSTS = rule_of(
    (Capacity, DemographicParity, EqualOpportunity, SumLimit),
    ": the other constraints are about true classes, which OptimalTreeClassifier has",
)

#: Of estimated rewards, which do not tell the right one.
OF_REWARDS = rule_of(
    (Capacity, DemographicParity, SumLimit),
    ": the other constraints are about rows whose right label is known, which "
    "OptimalTreeClassifier and OptimalCostTree have",
)


def core(
    constraints: Sequence[Constraint],
    X: Any,
    training: ingest.InMemory,
    located: ingest.Located,
    labels: NDArray[Any],
    row_costs: NDArray[np.float64],
    named: Named,
) -> tuple[_core.Constraints, Callable[[Sequence[float]], list[Met]]]:
    """The constraints as limits on groups of rows, and what they are in a tree, from what the core
    says of the limits. ``row_costs`` are by row."""
    sides = {name: ingest.read_sides(name, X, training) for name in named.sensitive}
    counts = Counts(located, row_costs, sides, labels.tolist())
    counts.add_sums(sums_by_point(constraints, named, X, training, located))
    limited = [counts.limits(at, each, named.columns[at]) for at, each in enumerate(constraints)]
    check_number(sum(map(len, limited)), constraints)
    limits = [one for each in limited for one in each]
    weights = _core.Constraints(limits, weights=np.ascontiguousarray(counts.all_weights))
    return weights, partial(met_of, tuple(constraints), [len(each) for each in limited])


class Counts:
    """Row weights by point that limits count, each set of rows once."""

    def __init__(
        self,
        located: ingest.Located,
        row_costs: NDArray[np.float64],
        sides: Mapping[str, ingest.Sides],
        known: list[Any],
    ) -> None:
        self.located = located
        self.row_costs = row_costs
        self.sides = sides
        self.known = known
        self.weights: list[NDArray[np.float64]] = []
        self.places: dict[tuple[Any, ...], int] = {}
        self.sums: dict[int, int] = {}
        # All rows, so that something weighs something.
        self.everybody = self._place((), np.ones(len(row_costs), dtype=bool))

    @property
    def all_weights(self) -> NDArray[np.float64]:
        return np.column_stack(self.weights)

    def add_sums(self, by_constraint: Mapping[int, NDArray[np.float64]]) -> None:
        for at, sums in by_constraint.items():
            self.sums[at] = len(self.weights)
            self.weights.extend(sums.T)

    def limits(
        self, at: int, constraint: Any, columns: Sequence[str]
    ) -> list[_core.LinearLimit]:
        bounds, name = bounds_of(constraint), shown(constraint, most=200)
        if isinstance(constraint, (Capacity, SumLimit)):
            label = place(constraint, self.known, "labels are")
            if isinstance(constraint, Capacity):
                rate = Rate("all", [(self.everybody, label)], [self.everybody])
                return [limit(name, [rate.times(1.0)], bounds)]
            first = self.sums[at]
            return [limit(name, sum_terms(first, label), bounds)]
        if constraint.label is not None:
            own = [place(constraint, self.known, "labels are")]
        else:
            # Of two labels both shares are equally far apart.
            is_twofold = constraint.rate == "selection" and constraint.min_ratio is None
            own = [1] if is_twofold and len(self.known) == 2 else list(range(len(self.known)))
        found = []
        for label in own:
            of = f"{name} of {shown(self.known[label])}"
            found.extend(apart(constraint, of, self._rates(constraint, columns, label)))
        return found

    def _rates(
        self, constraint: GroupConstraint, columns: Sequence[str], label: int
    ) -> list[Rate]:
        everybody = np.ones(len(self.row_costs), dtype=bool)
        counts, of = everybody, None
        if isinstance(constraint, EqualOpportunity):
            counts, of = self.row_costs[:, label] <= self.row_costs.min(axis=1), label
        found = []
        for group, rows in groups_of([self.sides[name] for name in columns]):
            if not rows.any():
                # A combination of values that no row has is no group.
                continue
            at = self._place((tuple(columns), group, of), rows & counts)
            if self.weights[at].sum() == 0:
                which = f"that {shown(self.known[label])} costs least for"
                raise ValueError(nobody(constraint, group, which))
            found.append(Rate(group, [(at, label)], [at]))
        return found

    def _place(self, key: tuple[Any, ...], rows: NDArray[np.bool_]) -> int:
        if key not in self.places:
            self.places[key] = len(self.weights)
            point_of, n_points = self.located.point_of, self.located.points.n_points
            ones, weights = rows.astype(np.float64)[:, None], self.located.weights
            summed = _core.sum_by_point(point_of, n_points, ones, weights)
            if weights is None or are_short(weights):
                summed = shortened(summed)
            self.weights.append(summed[:, 0])
        return self.places[key]
