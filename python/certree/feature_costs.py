"""What it costs to ask for a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core
from certree.scalars import is_number, shown
from certree.schema import Column
from certree.tree import Tree

#: By test: its cost, its discounted cost, and the number of its group; and by column: its test.
CostParts = tuple[list[tuple[float, float, int | None]], list[int | None]]


@dataclass(frozen=True)
class FeatureCost:
    """What a row pays for a test: ``cost``, or ``discounted`` if it has paid for another test of
    ``group`` before.

    Examples
    --------
    Blood is drawn once: who pays for the first of two laboratory tests gets the second one for
    less.

    >>> import polars as pl
    >>> from certree import FeatureCost, OptimalTreeClassifier
    >>> X = pl.DataFrame({"iron": [3, 3, 9, 9, 9, 9], "sugar": [5, 9, 5, 9, 5, 9]})
    >>> costs = {name: FeatureCost(0.05, group="blood", discounted=0.01) for name in X.columns}
    >>> model = OptimalTreeClassifier(leaf_penalty=0, feature_costs=costs)
    >>> model.fit(X, ["well", "well", "well", "ill", "well", "ill"]).feature_costs_paid(X)
    array([0.05, 0.06, 0.05, 0.06, 0.05, 0.06])
    """

    cost: float
    group: str | None = None
    discounted: float | None = None


@dataclass(frozen=True)
class FeatureCosts:
    """The costs of all tests, as they were given."""

    tests: tuple[FeatureCost, ...]
    #: By column: the number of its test.
    test_of: tuple[int | None, ...]

    def parts(self) -> CostParts:
        """By number instead of name."""
        groups = list(dict.fromkeys(test.group for test in self.tests if test.group is not None))
        return [
            (
                float(test.cost),
                float(test.cost if test.discounted is None else test.discounted),
                None if test.group is None else groups.index(test.group),
            )
            for test in self.tests
        ], list(self.test_of)

    def core(self, places: Sequence[int] | None = None) -> _core.FeatureCosts:
        """``places``: by column of the core, the user's column; None: they are the same."""
        tests, test_of = self.parts()
        if places is not None:
            test_of = [test_of[place] for place in places]
        return _core.FeatureCosts(tests, test_of)

    def by_node(self, tree: Tree) -> NDArray[np.float64]:
        """What a row has paid that arrives at each node."""
        tests, test_of = self.parts()
        spent = np.zeros(len(tree.nodes))
        bought: list[tuple[int, ...]] = [()] * len(tree.nodes)
        for node in tree.nodes:
            if node.split is None:
                continue
            before, cost = bought[node.id], 0.0
            test = test_of[node.split.column_index]
            if test is not None and test not in before:
                full, discounted, group = tests[test]
                known = group is not None and any(tests[other][2] == group for other in before)
                cost = discounted if known else full
                before = (*before, test)
            for child in (node.split.left, node.split.right):
                spent[child], bought[child] = spent[node.id] + cost, before
        return spent


def read(given: Any, columns: Sequence[Column]) -> FeatureCosts | None:
    """The costs of these columns; None if all are free."""
    if not given:
        return None
    names = [column.name for column in columns]
    test_of: list[int | None] = [None] * len(names)
    tests = []
    for key, value in given.items():
        members = key if isinstance(key, tuple) else (key,)
        for name in members:
            if name not in names:
                raise ValueError(
                    f"feature_costs names {name!r}, which is no feature column: there are "
                    f"{_listed(names)}"
                )
            if test_of[names.index(name)] is not None:
                raise ValueError(f"feature_costs names the column {name!r} twice")
            test_of[names.index(name)] = len(tests)
        tests.append(_read_one(key, value))
    if all(test.cost == 0 for test in tests):
        return None
    return FeatureCosts(tuple(tests), tuple(test_of))


def _read_one(key: Any, value: Any) -> FeatureCost:
    test = value if isinstance(value, FeatureCost) else FeatureCost(value)
    here = f"feature_costs[{shown(key)}]"
    for role, cost in (("cost", test.cost), ("discounted cost", test.discounted)):
        if cost is None and role == "discounted cost":
            continue
        if not is_number(cost) or cost < 0:
            raise ValueError(
                f"{here} has the {role} {shown(cost)}, but costs must be finite numbers of at "
                "least 0"
            )
    if test.group is not None and not isinstance(test.group, str):
        raise ValueError(f"{here} has the group {shown(test.group)}, but a group is a name")
    if test.discounted is not None and test.group is None:
        raise ValueError(
            f"{here} has a discounted cost, but no group: say whose other tests make it cheaper"
        )
    if test.discounted is not None and test.discounted > test.cost:
        raise ValueError(
            f"{here} has the discounted cost {shown(test.discounted)}, which is above its "
            f"cost {shown(test.cost)}"
        )
    return test


def holds(value: Any) -> bool:
    """Whether this has the form of costs: what they are is checked once columns are known."""
    return isinstance(value, Mapping) and all(
        isinstance(key, str)
        or (isinstance(key, tuple) and len(key) > 0 and all(isinstance(name, str) for name in key))
        for key in value
    )


def _listed(names: Sequence[str], most: int = 10) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
