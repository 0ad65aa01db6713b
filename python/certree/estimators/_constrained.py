"""Fitting under constraints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core, ingest
from certree.constraints import (
    Capacity,
    Constraint,
    DemographicParity,
    EqualOpportunity,
    EqualRates,
    FalsePositiveRate,
    GroupConstraint,
    Met,
    SumLimit,
)
from certree.estimators import _metrics
from certree.estimators._limits import (
    Rate,
    apart,
    bounds_of,
    check_number,
    limit,
    met,
    sum_terms,
)
from certree.estimators.parameters import Rule
from certree.feature_costs import differ_by_row
from certree.ingest.weights import are_short, shortened
from certree.scalars import shown


def rule_of(kinds: tuple[type, ...], why: str = "") -> Rule:
    """A tuple of constraints of these kinds."""
    names = [f"{kind.__name__}(...)" for kind in kinds]
    return Rule(
        lambda value: (
            isinstance(value, (tuple, list)) and all(isinstance(each, kinds) for each in value)
        ),
        f"a tuple of {', '.join(names[:-1])} and {names[-1]} objects{why}",
    )


RULE = rule_of(
    (DemographicParity, EqualOpportunity, EqualRates, Capacity, FalsePositiveRate, SumLimit)
)


def place(
    constraint: Capacity | SumLimit | GroupConstraint, known: list[Any], named: str
) -> int:
    """The number of the constraint's label."""
    label = constraint.label
    if label not in known:
        name = type(constraint).__name__
        raise ValueError(f"{name} names the label {shown(label)}, but the {named} {shown(known)}")
    return known.index(label)


def goal(
    model: Any,
    read: ingest.Grouped,
    counted: Counted,
    costs: Sequence[float],
    factors: Sequence[float],
) -> _core.Classes | _core.Metric:
    """The model's goal by class and group, and by sums, which cost nothing. ``costs`` and
    ``factors`` are by the user's classes."""
    labels, n_groups = read.labels, read.n_groups
    n_sums = counted.all_sums.shape[1]
    weights = np.column_stack([counted.weights, counted.all_sums])
    by_group = [*np.repeat(factors, n_groups).tolist(), *[0.0] * n_sums]
    if model.objective in _metrics.NAMES:
        return _metrics.goal(model, labels, weights, by_group, False, n_sums)
    by_class = np.asarray(costs).reshape(len(labels), -1)
    by_class = np.repeat(by_class, n_groups, axis=0)
    by_class = np.vstack([by_class, np.zeros((n_sums, by_class.shape[1]))])
    return _core.Classes(
        weights.ravel(), by_class.ravel().tolist(), by_group, False, float(model.leaf_penalty)
    )


def core(model: Any, read: ingest.Grouped, counted: Counted) -> tuple[_core.Constraints, Any]:
    """The model's constraints, as limits on classes that are cut into groups, and what they are in
    a tree, from what the core says of the limits."""
    # A frontier asks for trees beyond the last one.
    strict = getattr(model, "_strict_constraint", None)
    each = [
        _of(model, at, read, counted, at == strict) for at in range(len(model.constraints))
    ]
    check_number(sum(map(len, each)), model.constraints)
    limits = [one for several in each for one in several]
    class_of = np.repeat(np.arange(len(read.labels)), read.n_groups).tolist()
    known = read.labels.tolist()
    positive = known[_metrics.positive_of(model, known)] if len(known) == 2 else None
    n_limits = [len(several) for several in each]
    found = partial(met_of, tuple(model.constraints), n_limits, positive=positive)
    return _core.Constraints(limits, class_of), found


def met_of(
    constraints: Sequence[Constraint],
    n_limits: Sequence[int],
    attained: Sequence[float],
    positive: Any = None,
) -> list[Met]:
    """The constraints with their values in a tree."""
    values = iter(attained)
    return [
        met(each, list(islice(values, n)), positive) for each, n in zip(constraints, n_limits)
    ]


@dataclass(frozen=True)
class Named:
    """The columns of X that constraints name."""

    #: By name: whether it is a feature too.
    used: dict[str, bool]
    #: Those that make groups.
    sensitive: list[str]
    #: By constraint: its columns.
    columns: list[tuple[str, ...]]

    @property
    def hidden(self) -> list[str]:
        """Those that are no features."""
        return [name for name, used in self.used.items() if not used]


def named_columns(constraints: Sequence[Constraint], X: Any) -> Named:
    found = Named({}, [], [])
    for each in constraints:
        columns: tuple[str, ...] = ()
        if isinstance(each, (DemographicParity, EqualOpportunity, EqualRates)):
            columns = tuple(dict.fromkeys(ingest.named_columns("sensitive", each.columns, X)))
            if not columns:
                raise ValueError(f"{type(each).__name__} names no sensitive column")
            found.sensitive.extend(name for name in columns if name not in found.sensitive)
        elif isinstance(each, SumLimit) and each.is_column:
            columns = tuple(ingest.named_columns("values", [each.values], X))
        for name in columns:
            found.used[name] = found.used.get(name, False) or each.use_as_feature
        found.columns.append(columns)
    return found


@dataclass(frozen=True)
class Counted:
    """What constraints count."""

    named: Named
    #: By point and class, which is cut by group.
    weights: NDArray[np.float64]
    #: By point: for each constraint on a sum the parts above and below zero.
    sums: dict[int, NDArray[np.float64]]

    @property
    def all_sums(self) -> NDArray[np.float64]:
        return np.column_stack([np.zeros((len(self.weights), 0)), *self.sums.values()])


def count(
    model: Any, X: Any, read: ingest.Grouped, named: Named, thresholds: Any
) -> tuple[ingest.Located, Counted]:
    """The cuts of the columns and the points, and what constraints count of them. The rows of
    points are known where something is summed over them."""
    training = read.training
    has_sums = any(isinstance(each, SumLimit) for each in model.constraints)
    if not has_sums and not differ_by_row(model.feature_costs):
        cuts, points = ingest.cut_and_group(training, thresholds, model._categories())
        return without_rows(cuts, points), Counted(named, points.weights, {})
    # Sums are over the rows of each point.
    located = located_by_class(training, thresholds, model._categories())
    sums = sums_by_point(model.constraints, named, X, training, located)
    return located, Counted(named, located.points.weights, sums)


def located_by_class(
    training: ingest.InMemory, thresholds: Any, categories: ingest.Categories
) -> ingest.Located:
    """The cuts of the columns, the rows of each point, and what points weigh by class."""
    located = ingest.locate(training, thresholds, categories)
    n_classes, n_points = len(training.labels), located.points.n_points
    assert training.classes is not None
    place = located.point_of * np.uint32(n_classes) + training.classes
    ones = np.ones((len(place), 1))
    weights = _core.sum_by_point(place, n_points * n_classes, ones, located.weights)
    if located.weights is None or are_short(located.weights):
        weights = shortened(weights)
    points = replace(located.points, weights=weights.reshape(n_points, n_classes))
    return replace(located, points=points)


def without_rows(cuts: Sequence[ingest.Cuts], points: ingest.Points) -> ingest.Located:
    """Points of which nobody asks for the rows."""
    return ingest.Located(list(cuts), points, np.empty(0, dtype=np.uint32), None)


def sums_by_point(
    constraints: Sequence[Constraint],
    named: Named,
    X: Any,
    training: ingest.InMemory,
    located: ingest.Located,
) -> dict[int, NDArray[np.float64]]:
    """By the place of each constraint on a sum: by point the sums of its numbers above zero and of
    those below."""
    found = {}
    for at, each in enumerate(constraints):
        if not isinstance(each, SumLimit):
            continue
        name = named.columns[at][0] if each.is_column else None
        numbers = ingest.read_numbers(each.values, name, X, training)
        parts = np.column_stack([np.maximum(numbers, 0.0), np.maximum(-numbers, 0.0)])
        point_of, n_points, weights = located.point_of, located.points.n_points, located.weights
        with np.errstate(over="ignore"):
            summed = _core.sum_by_point(point_of, n_points, parts, weights)
            total = float(summed.sum())
        if not np.isfinite(total):
            raise ValueError("values add up to more than a float holds; scale them down")
        # Products of short decimals are short, if together they are.
        if are_short(numbers) and (weights is None or (np.round(weights) == weights).all()):
            summed = shortened(summed)
        found[at] = summed
    return found


def _of(
    model: Any, at: int, read: ingest.Grouped, counted: Counted, is_strict: bool
) -> list[_core.LinearLimit]:
    """The limits of the constraint at this place."""
    constraint: Constraint = model.constraints[at]
    bounds = bounds_of(constraint)
    known = read.labels.tolist()
    classes = np.arange(len(known) * read.n_groups)
    name = shown(constraint, most=200)
    if isinstance(constraint, Capacity):
        label = place(constraint, known, "classes in y are")
        everybody = [(each, label) for each in classes.tolist()], classes.tolist(), 1.0
        return [limit(name, [everybody], bounds)]
    named = None if isinstance(constraint, FalsePositiveRate) else constraint.label
    needs_label = not (isinstance(constraint, EqualRates) and constraint.rate == "error")
    if named is None and needs_label and len(known) != 2:
        raise ValueError(
            f"{type(constraint).__name__} is about how often one of two classes is given, but y "
            f"has {len(known)} classes: {shown(known)}"
            + ("" if isinstance(constraint, FalsePositiveRate) else "; name one with label=")
        )
    positive = 0
    if named is not None:
        assert not isinstance(constraint, FalsePositiveRate)
        positive = place(constraint, known, "classes in y are")
    elif needs_label:
        positive = _metrics.positive_of(model, known)
    if isinstance(constraint, FalsePositiveRate):
        negatives = classes[classes // read.n_groups != positive].tolist()
        wrong = [(each, positive) for each in negatives], negatives, 1.0
        return [limit(name, [wrong], bounds, is_strict)]
    if isinstance(constraint, SumLimit):
        first = len(classes) + 2 * list(counted.sums).index(at)
        return [limit(name, sum_terms(first, positive), bounds)]
    kind, label = constraint.rate, known[positive]
    of_class = classes // read.n_groups
    if kind == "true_positive":
        counts, which = of_class == positive, f"whose label is {shown(label)}"
    elif kind == "false_positive":
        counts, which = of_class != positive, f"whose label is not {shown(label)}"
    else:
        counts, which = np.ones(len(classes), dtype=bool), "at all"
    rates = []
    sides = [read.sides[name] for name in counted.named.columns[at]]
    for group, of_group in groups_of(sides):
        in_group = of_group[classes % read.n_groups]
        # A combination of values that no row has is no group.
        if counted.weights[:, in_group].sum() == 0:
            continue
        own = classes[in_group & counts].tolist()
        if counted.weights[:, own].sum() == 0:
            raise ValueError(nobody(constraint, group, which))
        if kind == "error":
            labels = range(len(known))
            pairs = [(each, k) for each in own for k in labels if k != of_class[each]]
        else:
            pairs = [(each, positive) for each in own]
        rates.append(Rate(group, pairs, own))
    # The share of the last group, less that of the first.
    return apart(constraint, name, rates, is_strict)


def groups_of(sides: Sequence[ingest.Sides]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """The groups of columns together: each in words, and what belongs to it."""
    for places in product(*(range(len(side.values)) for side in sides)):
        words = " and ".join(shown(side.values[at]) for side, at in zip(sides, places))
        yield words, np.logical_and.reduce([side.of == at for side, at in zip(sides, places)])


def nobody(constraint: GroupConstraint, group: str, which: str) -> str:
    """An error of a group without rows that count."""
    columns = " and ".join(map(shown, constraint.columns))
    return (
        f"{type(constraint).__name__}: the group {group} of {columns} has no row {which}, so it "
        "has no rate to compare"
    )
