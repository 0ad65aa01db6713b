"""The values of a column as cells that no test of some trees divides.

Of numbers and dates a cell lies between two neighbouring thresholds of any of the trees, of other
columns it is a single value. So a tree sends all of a cell the same way, and what a path leads to
is, for each column, a set of cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from certree.conditions import plain, threshold_text, words
from certree.moments import TICKS, time_unit
from certree.schema import TIMED, Column, Sets, is_threshold

if TYPE_CHECKING:
    from certree.nodes import Split
    from certree.tree import Tree


@dataclass(frozen=True)
class Cells:
    """The cells of one column: those of values, then that of values that no tree knows (of
    categories and declared orders), then that of missing ones."""

    column: Column
    #: Of numbers and dates, ascending: cell k ends at threshold k, and the last one at infinity.
    thresholds: tuple[int | float, ...]
    #: Of other columns.
    values: tuple[bool | str, ...]
    #: How many there are, of which kind.
    n_known: int
    has_other: bool
    #: Whether values were missing in training.
    had_missing: bool

    @property
    def other(self) -> int:
        return self.n_known

    @property
    def missing(self) -> int:
        return self.n_known + self.has_other

    @property
    def unusual(self) -> frozenset[int]:
        """The cells of values that were not there in training."""
        other = range(self.n_known, self.missing)
        return frozenset(other if self.had_missing else [*other, self.missing])

    def all(self) -> frozenset[int]:
        """All cells that hold a value: between thresholds of whole numbers there may be none."""
        known = range(self.n_known)
        if self.column.kind == "number" and "Int" in self.column.dtype:
            known = [cell for cell in known if self._holds_an_integer(cell)]
        return frozenset([*known, *range(self.n_known, self.missing + 1)])

    def _holds_an_integer(self, cell: int) -> bool:
        if cell in (0, len(self.thresholds)):
            return True
        low, high = self.thresholds[cell - 1 : cell + 1]
        return math.floor(high) > math.floor(low)

    def left_of(self, tree: Tree, split: Split) -> frozenset[int]:
        """The cells that a split sends left."""
        cells = range(self.missing + 1)
        return frozenset(cell for cell in cells if self._goes_left(tree, split, cell))

    def _goes_left(self, tree: Tree, split: Split, cell: int) -> bool:
        test = split.test
        if test is None:
            return cell != self.missing
        other_left = tree.way_of_missing(split) == "left"
        if cell == self.missing:
            return other_left
        if isinstance(test, bool):
            return not self.values[cell]
        if isinstance(test, str):
            return self.has_other and cell == self.other or self.values[cell] != test
        if isinstance(test, Sets):
            value = None if cell == self.other else self.values[cell]
            return value in test.left or (other_left and value not in test.right)
        if self.column.kind == "ordered":
            levels = split.column.values
            value = None if cell == self.other else self.values[cell]
            return levels.index(value) <= test if value in levels else other_left
        end = _in_nanoseconds(split.column, test)
        return cell < len(self.thresholds) and self.thresholds[cell] <= end

    def told(self, cells: frozenset[int]) -> str | None:
        """What holds of a value in one of these cells, in words; None if nothing is left out."""
        if cells - self.unusual == self.all() - self.unusual:
            return None
        name = plain(self.column.name)
        known = cells - {self.missing}
        if not known:
            return f"{name} is missing"
        if known == self.all() - {self.missing}:
            return f"{name} is not missing"
        text = self._told_known(name, sorted(known))
        return f"{text} or missing" if self.had_missing and self.missing in cells else text

    def _told_known(self, name: str, cells: Sequence[int]) -> str:
        if self.column.kind in ("number", *TIMED):
            low = self.thresholds[cells[0] - 1] if cells[0] > 0 else None
            high = self.thresholds[cells[-1]] if cells[-1] < len(self.thresholds) else None
            low_text, high_text = (
                "" if end is None else threshold_text(self.column, self._in_own_unit(end))
                for end in (low, high)
            )
            if low is None:
                return f"{name} <= {high_text}"
            return f"{name} > {low_text}" + ("" if high is None else f" and <= {high_text}")
        if self.column.kind == "boolean":
            return f"{name} is {'true' if self.values[cells[0]] else 'false'}"
        inside = tuple(str(self.values[cell]) for cell in cells if cell < self.n_known)
        outside = tuple(str(value) for value in self.values if value not in inside)
        if not inside:
            return f"{name} is another value than in training"
        if self.other in cells and outside:
            left = words(self.column, Sets(outside, ("",))).left
            return f"{name} is not {left.removeprefix('= ')}"
        return f"{name} {words(self.column, Sets(inside, ('',))).left}"

    def _in_own_unit(self, threshold: int | float) -> int | float:
        if self.column.kind not in TIMED:
            return threshold
        return int(threshold) * TICKS[time_unit(self.column.dtype)] // TICKS["ns"]


def cells_of(trees: Sequence[Tree]) -> dict[str, Cells]:
    """By name, the cells of all columns that one of the trees tests."""
    tested: dict[str, list[Split]] = {}
    for tree in trees:
        for node in tree.nodes:
            if node.split is not None:
                tested.setdefault(node.split.column.name, []).append(node.split)
    known = [{column.name: column for column in tree.columns} for tree in trees]
    return {
        name: _cells([each[name] for each in known if name in each], splits)
        for name, splits in tested.items()
    }


def _cells(columns: Sequence[Column], splits: Sequence[Split]) -> Cells:
    # The one of the finest unit, in which all thresholds can be told.
    column = max(columns, key=lambda each: TICKS[time_unit(each.dtype)])
    categorical = {"category", "ordered"}
    kinds = {each.kind for each in columns}
    if len(kinds) > 1 and kinds != categorical:
        told = " and ".join(sorted(kinds))
        raise ValueError(f"column {column.name!r} is of different kinds in the two trees: {told}")
    missing = any(each.missing for each in columns)
    if column.kind in ("number", *TIMED):
        tests = (split for split in splits if is_threshold(split.test))
        thresholds = sorted({_in_nanoseconds(split.column, split.test) for split in tests})
        found = tuple(thresholds)
        return Cells(column, found, (), len(found) + 1, False, missing)
    if column.kind == "boolean":
        return Cells(column, (), (False, True), 2, False, missing)
    values = tuple(dict.fromkeys(value for each in columns for value in each.values))
    return Cells(column, (), values, len(values), True, missing)


def _in_nanoseconds(column: Column, threshold: int | float) -> int | float:
    """The threshold of a moment in the finest unit, so that trees can be compared."""
    if column.kind not in TIMED:
        return threshold
    return math.floor(threshold) * (TICKS["ns"] // TICKS[time_unit(column.dtype)])
