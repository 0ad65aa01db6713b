"""What it costs to ask for a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core, ingest
from certree.scalars import is_number, shown
from certree.schema import Column
from certree.tree import Tree

#: A price as the core takes it: a cost, or the number of a list of prices by row.
Price = tuple[float, int | None]

#: By test: its cost, its discounted cost, and the number of its group; and by column: its test.
CostParts = tuple[list[tuple[Price, Price, int | None]], list[int | None]]


@dataclass(frozen=True, eq=False)
class FeatureCost:
    """What a row pays for a test: ``cost``, or ``discounted`` if it has paid for another test of
    ``group`` before.

    Each of them is a number; or the name of a column of X, which is then no feature, with the price
    of each row; or the prices of the training rows themselves, as an array or a Series; or a dict
    of the values of the column that is asked for to their prices, where None is the price of
    missing values.

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

    cost: Any
    group: str | None = None
    discounted: Any = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeatureCost):
            return NotImplemented
        own = (self.cost, self.group, self.discounted)
        return all(map(_are_equal, own, (other.cost, other.group, other.discounted)))

    def __hash__(self) -> int:
        return hash(self.group)

    def __repr__(self) -> str:
        parts = [_in_words(self.cost)]
        if self.group is not None:
            parts.append(f"group={self.group!r}")
        if self.discounted is not None:
            parts.append(f"discounted={_in_words(self.discounted)}")
        return f"FeatureCost({', '.join(parts)})"


@dataclass(frozen=True)
class RowPrice:
    """A list of prices by row, as it was given."""

    #: What it is of, in words.
    where: str
    #: The column whose value has the price, where it is a dict of these.
    column: str | None
    given: Any

    @property
    def named(self) -> str | None:
        """The column of X that holds the prices."""
        return self.given if isinstance(self.given, str) else None


@dataclass(frozen=True)
class FeatureCosts:
    """The costs of all tests, as they were given."""

    tests: tuple[FeatureCost, ...]
    #: By column: the number of its test.
    test_of: tuple[int | None, ...]
    #: By test: the numbers of the lists of its cost and its discounted cost, where they are lists.
    lists_of: tuple[tuple[int | None, int | None], ...]
    lists: tuple[RowPrice, ...]
    given: Mapping[Any, Any]

    def parts(self) -> CostParts:
        """By number instead of name."""
        groups = list(dict.fromkeys(test.group for test in self.tests if test.group is not None))

        def price(given: Any, number: int | None) -> Price:
            return (float(given), None) if number is None else (0.0, number)

        return [
            (
                price(test.cost, lists[0]),
                price(test.cost if test.discounted is None else test.discounted, lists[1]),
                None if test.group is None else groups.index(test.group),
            )
            for test, lists in zip(self.tests, self.lists_of)
        ], list(self.test_of)

    def core(
        self, places: Sequence[int] | None = None, sums: NDArray[np.float64] | None = None
    ) -> _core.FeatureCosts:
        """``places``: by column of the core, the user's column; None: they are the same. ``sums``:
        by point, class and list, what the rows pay together."""
        tests, test_of = self.parts()
        if places is not None:
            test_of = [test_of[place] for place in places]
        return _core.FeatureCosts(tests, test_of, sums)

    def paid(
        self, tree: Tree, leaves: NDArray[np.uint32], prices: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """What rows pay that end in these leaves. ``prices``: by row and list."""
        tests, test_of = self.parts()
        spent = np.zeros(len(tree.nodes))
        listed = np.zeros((len(tree.nodes), len(self.lists)))
        bought: list[tuple[int, ...]] = [()] * len(tree.nodes)
        for node in tree.nodes:
            if node.split is None:
                continue
            before, (cost, number) = bought[node.id], (0.0, None)
            test = test_of[node.split.column_index]
            if test is not None and test not in before:
                full, discounted, group = tests[test]
                known = group is not None and any(tests[other][2] == group for other in before)
                cost, number = discounted if known else full
                before = (*before, test)
            for child in (node.split.left, node.split.right):
                spent[child], listed[child] = spent[node.id] + cost, listed[node.id]
                if number is not None:
                    listed[child, number] += 1.0
                bought[child] = before
        if not self.lists:
            return spent[leaves]
        return spent[leaves] + (listed[leaves] * prices).sum(axis=1)


def read(given: Any, columns: Sequence[Column]) -> FeatureCosts | None:
    """The costs of these columns; None if all are free."""
    if not given:
        return None
    names = [column.name for column in columns]
    test_of: list[int | None] = [None] * len(names)
    tests: list[FeatureCost] = []
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
    lists, lists_of = _lists(given)
    if not lists and all(test.cost == 0 for test in tests):
        return None
    return FeatureCosts(tuple(tests), tuple(test_of), lists_of, lists, dict(given))


def _lists(given: Any) -> tuple[tuple[RowPrice, ...], tuple[tuple[int | None, int | None], ...]]:
    """The lists of prices by row, each once, and those of each test."""
    lists: list[RowPrice] = []
    lists_of = []
    for key, value in (given or {}).items():
        both = (value, value)
        if isinstance(value, FeatureCost):
            both = value.cost, value.cost if value.discounted is None else value.discounted
        numbers: list[int | None] = []
        for price in both:
            if not _is_by_row(price):
                numbers.append(None)
                continue
            column = key if isinstance(key, str) and isinstance(price, Mapping) else None
            found = RowPrice(f"feature_costs[{shown(key)}]", column, price)
            known = (
                at
                for at, other in enumerate(lists)
                if other.column == column
                and (other.given is price or other.named is not None and other.named == found.named)
            )
            at = next(known, len(lists))
            if at == len(lists):
                lists.append(found)
            numbers.append(at)
        lists_of.append((numbers[0], numbers[1]))
    return tuple(lists), tuple(lists_of)


def differ_by_row(given: Any) -> bool:
    """Whether some test has another price for each row."""
    return isinstance(given, Mapping) and bool(_lists(given)[0])


def named_columns(given: Any) -> list[str]:
    """The columns of X that hold prices."""
    named = (each.named for each in _lists(given)[0])
    return list(dict.fromkeys(name for name in named if name is not None))


def prices(given: Any, X: Any, is_fit: bool) -> NDArray[np.float64]:
    """The prices of the rows of X, by row and list, each at least 0. ``is_fit``: whether these are
    the rows of the fit, whose prices may have been given as numbers."""
    source = ingest.whole(X)
    lists, lists_of = _lists(given)
    found = [_of_rows(each, source, is_fit) for each in lists]
    for (key, value), (full, discounted) in zip(given.items(), lists_of):
        if not isinstance(value, FeatureCost) or value.discounted is None:
            continue
        _read_one(key, value)
        most = value.cost if full is None else found[full]
        least = value.discounted if discounted is None else found[discounted]
        above = np.flatnonzero(np.asarray(least > most) & np.ones(source.height, dtype=bool))
        if len(above):
            row = int(above[0])
            both = [np.broadcast_to(each, source.height)[row] for each in (least, most)]
            raise ValueError(
                f"feature_costs[{shown(key)}] has the discounted cost {both[0]:g} in row {row}, "
                f"which is above its cost {both[1]:g} there"
            )
    return np.column_stack([np.zeros((source.height or 0, 0)), *found])


def _of_rows(price: RowPrice, source: Any, is_fit: bool) -> NDArray[np.float64]:
    """The price of each row."""
    if price.column is not None:
        return _of_values(price, source)
    if isinstance(price.given, Mapping):
        raise ValueError(
            f"{price.where} has prices by value, but it measures several columns: give the price "
            "of each row"
        )
    if price.named is None and not is_fit:
        raise ValueError(
            f"{price.where} holds the prices of the rows of the fit, and nobody knows those of "
            "other rows: name a column of X with the prices"
        )
    if price.named is not None and price.named not in source.names:
        raise ValueError(
            f"{price.where} names the column {price.named!r} of prices, which X does not have: "
            f"there are {_listed(source.names)}"
        )
    found = ingest.row_numbers(price.given, price.named, source, f"the price of {price.where}")
    if len(found) and found.min() < 0:
        row = int(found.argmin())
        raise ValueError(
            f"{price.where} has the price {found[row]:g} in row {row}, but prices must be at "
            "least 0"
        )
    return found


def _of_values(price: RowPrice, source: Any) -> NDArray[np.float64]:
    """The price of each row by its value of the column that is asked for."""
    for value, cost in price.given.items():
        if not is_number(cost) or cost < 0:
            raise ValueError(
                f"{price.where} has the price {shown(cost)} of the value {shown(value)}, but "
                "prices must be finite numbers of at least 0"
            )
    values = ingest.plain_values(price.column, source)
    present = set(values)
    if None in present and None not in price.given:
        raise ValueError(
            f"{price.where} has no price of missing values, of which there are "
            f"{values.count(None)}: add one as {{..., None: price}}"
        )
    unknown = [value for value in present if value not in price.given]
    if unknown:
        unknown.sort(key=repr)
        raise ValueError(
            f"{price.where} has no price of the value {shown(unknown[0])}, which "
            f"{values.count(unknown[0])} rows have; its values are {shown(list(price.given))}"
        )
    return np.fromiter((price.given[value] for value in values), np.float64, len(values))


def _is_by_row(price: Any) -> bool:
    """Whether this has the form of prices that differ by row."""
    # What nearly all are comes first, because there may be thousands of columns.
    if price is None or type(price) in (float, int) or is_number(price):
        return False
    many = isinstance(price, (str, Mapping, list, tuple)) or hasattr(price, "__arrow_c_stream__")
    return many or (hasattr(price, "__array__") and getattr(price, "ndim", 1) > 0)


def _are_equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if hasattr(one, "__array__") or hasattr(other, "__array__"):
        return bool(np.array_equal(np.asarray(one), np.asarray(other)))
    return bool(one == other)


def _in_words(price: Any) -> str:
    by_row = _is_by_row(price) and not isinstance(price, (str, Mapping))
    return "<numbers by row>" if by_row else repr(price)


def _read_one(key: Any, value: Any) -> FeatureCost:
    test = value if isinstance(value, FeatureCost) else FeatureCost(value)
    here = f"feature_costs[{shown(key)}]"
    for role, cost in (("cost", test.cost), ("discounted cost", test.discounted)):
        if (cost is None and role == "discounted cost") or _is_by_row(cost):
            continue
        if not is_number(cost) or cost < 0:
            raise ValueError(
                f"{here} has the {role} {shown(cost)}, but costs must be finite numbers of at "
                "least 0, or differ by row: the name of a column of X, a number for each row, or a "
                "dict of values to prices"
            )
    if test.group is not None and not isinstance(test.group, str):
        raise ValueError(f"{here} has the group {shown(test.group)}, but a group is a name")
    if test.discounted is not None and test.group is None:
        raise ValueError(
            f"{here} has a discounted cost, but no group: say whose other tests make it cheaper"
        )
    both = is_number(test.cost) and is_number(test.discounted)
    if both and test.discounted > test.cost:
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
