"""Fitting under constraints where each row has a number for each label, and none is its true one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core, ingest
from certree.constraints import Capacity, DemographicParity, EqualOpportunity, Met
from certree.estimators._base import as_core_takes
from certree.estimators._constrained import DECIMALS, Limit, most_of, nobody, place, rule_of

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
    ": the other constraints are about rows whose right label is known, which OptimalTreeClassifier and "
    "OptimalCostTree have",
)


def solve(
    model: Any,
    located: ingest.Located,
    labels: NDArray[Any],
    row_costs: NDArray[np.float64],
    sides: Mapping[str, NDArray[np.uint32]],
    costs: NDArray[np.float64],
    error: float,
    normalizer: float,
) -> tuple[_core.Answer, list[Met]]:
    """Search for labels by their costs, by point, that keep to the model's constraints. ``row_costs`` are by row,
    ``sides`` by sensitive column and row."""
    weights, points = located.weights, located.points
    known = labels.tolist()
    counts = Counts(located, row_costs, sides)
    limited = [counts.limits(each, known) for each in model.constraints]
    n_limits = sum(map(len, limited))
    if n_limits > MOST_LIMITS:
        raise ValueError(
            f"constraints set {n_limits} limits, one for each label where none is named, but at most {MOST_LIMITS} "
            "are possible: name labels with label="
        )
    counted = np.column_stack(counts.weights)
    if weights is None or (np.round(weights, DECIMALS) == weights).all():
        # Sums of short decimals are short decimals, which the core counts exactly.
        counted = np.round(counted, DECIMALS)
    leaf_penalty, *limits = model._asked()
    answer, attained = _core.solve_limited_rows(
        *as_core_takes(located.cuts, points),
        costs.ravel(),
        len(known),
        error,
        normalizer,
        counted.ravel(),
        counted.shape[1],
        leaf_penalty,
        [limit for each in limited for limit in each],
        *limits,
    )
    found = iter(attained)
    worst = [max(abs(next(found)) for _ in each) for each in limited]
    return answer, [
        Met(each, most_of(each), value) for each, value in zip(model.constraints, worst)
    ]


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

    def limits(self, constraint: Any, known: list[Any]) -> list[Limit]:
        most = most_of(constraint)
        if isinstance(constraint, Capacity):
            everybody = np.ones(len(self.row_costs), dtype=bool)
            among = self._place((), everybody)
            return [(repr(constraint), place(constraint, known, "labels are"), [among], [], most)]
        if constraint.label is not None:
            return [self._apart(constraint, known, place(constraint, known, "labels are"), most)]
        # Of two labels both shares are equally far apart.
        parity = isinstance(constraint, DemographicParity)
        labels: Sequence[int] = [1] if parity and len(known) == 2 else range(len(known))
        return [self._apart(constraint, known, label, most) for label in labels]

    def _apart(self, constraint: Any, known: list[Any], label: int, most: float) -> Limit:
        side = self.sides[constraint.sensitive]
        counts, of = np.ones(len(side), dtype=bool), None
        if isinstance(constraint, EqualOpportunity):
            counts, of = self.row_costs[:, label] <= self.row_costs.min(axis=1), label
        places = []
        for value in (1, 0):
            rows = counts & (side == value)
            at = self._place((constraint.sensitive, value, of), rows)
            if self.weights[at].sum() == 0:
                raise ValueError(nobody(constraint, f"that {known[label]!r} costs least for"))
            places.append(at)
        return f"{constraint!r} of {known[label]!r}", label, places[:1], places[1:], most

    def _place(self, key: tuple[Any, ...], rows: NDArray[np.bool_]) -> int:
        if key not in self.places:
            self.places[key] = len(self.weights)
            point_of, n_points = self.located.point_of, self.located.points.n_points
            ones = rows.astype(np.float64)[:, None]
            summed = _core.sum_by_point(point_of, n_points, ones, self.located.weights)
            self.weights.append(summed[:, 0])
        return self.places[key]
