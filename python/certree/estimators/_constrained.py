"""Fitting under constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core, ingest
from certree.constraints import (
    Capacity,
    Constraint,
    DemographicParity,
    EqualOpportunity,
    FalsePositiveRate,
    Met,
)
from certree.estimators import _metrics
from certree.estimators.parameters import Rule, is_number, shown

#: What the limit of a constraint is called, if it is no difference.
NAMES: dict[type, str] = {Capacity: "max_fraction", FalsePositiveRate: "max_rate"}


def rule_of(kinds: tuple[type, ...], why: str = "") -> Rule:
    """A tuple of constraints of these kinds."""
    names = [f"{kind.__name__}(...)" for kind in kinds]
    return Rule(
        lambda value: (
            isinstance(value, (tuple, list)) and all(isinstance(each, kinds) for each in value)
        ),
        f"a tuple of {', '.join(names[:-1])} and {names[-1]} objects{why}",
    )


RULE = rule_of((DemographicParity, EqualOpportunity, Capacity, FalsePositiveRate))


def place(
    constraint: Capacity | DemographicParity | EqualOpportunity, known: list[Any], named: str
) -> int:
    """The number of the constraint's label."""
    label = constraint.label
    if label not in known:
        name = type(constraint).__name__
        raise ValueError(f"{name} names the label {label!r}, but the {named} {known!r}")
    return known.index(label)


def goal(
    model: Any,
    read: ingest.Grouped,
    points: ingest.Points,
    costs: Sequence[float],
    factors: Sequence[float],
) -> _core.Classes | _core.Metric:
    """The model's goal by class and group. ``costs`` and ``factors`` are by the user's classes."""
    labels, n_groups = read.labels, read.n_groups
    by_group = np.repeat(factors, n_groups).tolist()
    if model.objective in _metrics.NAMES:
        return _metrics.goal(model, labels, points, by_group, False)
    by_class = np.asarray(costs).reshape(len(labels), -1)
    return _core.Classes(
        points.weights.ravel(),
        np.repeat(by_class, n_groups, axis=0).ravel().tolist(),
        by_group,
        False,
        float(model.leaf_penalty),
    )


def core(model: Any, read: ingest.Grouped, points: ingest.Points) -> _core.Constraints:
    """The model's constraints, as limits on classes that are cut into groups."""
    # A frontier asks for trees beyond the last one.
    strict = getattr(model, "_strict_constraint", None)
    limits = [
        _limit(model, each, read, points.weights, at == strict)
        for at, each in enumerate(model.constraints)
    ]
    return _core.Constraints(limits, np.repeat(np.arange(len(read.labels)), read.n_groups).tolist())


def met(constraints: Sequence[Constraint], attained: Sequence[float]) -> list[Met]:
    """The constraints with their values in a tree."""
    return [Met(each, most_of(each), abs(value)) for each, value in zip(constraints, attained)]


def sensitive_columns(constraints: Sequence[Constraint]) -> dict[str, bool]:
    """By name: whether the column is a feature too."""
    found: dict[str, bool] = {}
    for each in constraints:
        if not isinstance(each, (Capacity, FalsePositiveRate)):
            if not isinstance(each.sensitive, str):
                raise ValueError(
                    f"sensitive={each.sensitive!r} is not valid: it must be the name of a column of X"
                )
            found[each.sensitive] = found.get(each.sensitive, False) or each.use_as_feature
    return found


def most_of(constraint: Constraint) -> float:
    name = NAMES.get(type(constraint), "max_difference")
    value = getattr(constraint, name)
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"{name}={shown(value)} is not valid: it must be a number from 0 to 1")
    return float(value)


def _limit(
    model: Any,
    constraint: Constraint,
    read: ingest.Grouped,
    weights: NDArray[np.float64],
    is_strict: bool,
) -> _core.ShareLimit:
    most = most_of(constraint)
    known = read.labels.tolist()
    classes = np.arange(len(known) * read.n_groups)
    if isinstance(constraint, Capacity):
        label = place(constraint, known, "classes in y are")
        return _core.ShareLimit(repr(constraint), label, classes.tolist(), [], most)
    named = None if isinstance(constraint, FalsePositiveRate) else constraint.label
    if named is None and len(known) != 2:
        raise ValueError(
            f"{type(constraint).__name__} is about how often one of two classes is given, but y has "
            f"{len(known)} classes: {known!r}"
            + ("" if isinstance(constraint, FalsePositiveRate) else "; name one with label=")
        )
    if isinstance(constraint, FalsePositiveRate):
        positive = _metrics.positive_of(model, known)
        negatives = classes[classes // read.n_groups != positive]
        return _core.ShareLimit(repr(constraint), positive, negatives.tolist(), [], most, is_strict)
    if named is None:
        positive = _metrics.positive_of(model, known)
    else:
        positive = place(constraint, known, "classes in y are")
    side = read.sides[constraint.sensitive][classes % read.n_groups]
    counts = np.ones(len(classes), dtype=bool)
    if isinstance(constraint, EqualOpportunity):
        counts = classes // read.n_groups == positive
    for value in (0, 1):
        if weights[:, counts & (side == value)].sum() == 0:
            raise ValueError(nobody(constraint, f"whose label is {known[positive]!r}"))
    groups = [classes[counts & (side == value)].tolist() for value in (1, 0)]
    return _core.ShareLimit(repr(constraint), positive, groups[0], groups[1], most, is_strict)


def nobody(constraint: DemographicParity | EqualOpportunity, which: str) -> str:
    """An error of a group without rows that count."""
    return (
        f"{type(constraint).__name__}: one of the two groups of {constraint.sensitive!r} has no row {which}, so "
        "it has no rate to compare"
    )
