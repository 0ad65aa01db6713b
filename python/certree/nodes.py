"""What a finished tree is made of: splits, nodes, and leaves as rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from certree import conditions
from certree.conditions import Test
from certree.schema import Column, Side, is_threshold

if TYPE_CHECKING:
    from certree.ingest import Slot


@dataclass(frozen=True)
class Split:
    """A test on one column. ``test`` is a threshold (``x <= t`` goes left; of a declared order, the
    place of the last level that does), a string ("is value": other values go left), ``Sets`` (the
    values that go left, and those that go right; all others go with missing ones), ``True`` ("is
    true": false goes left) or ``None`` ("is missing": values that are there go left); ``left`` and
    ``right`` are node ids. ``missing`` is where missing values go; ``None`` if the column had none
    in training, or none of them can get here."""

    column: Column
    column_index: int
    test: Test
    left: int
    right: int
    missing: Side | None = None

    @property
    def words(self) -> conditions.Words:
        """What holds on the left and on the right: ``<= 38.5`` and ``> 38.5``."""
        return conditions.words(self.column, self.test, self.missing)

    @property
    def slot(self) -> Slot:
        asks_itself = not (is_threshold(self.test) or isinstance(self.test, bool))
        return self.column_index, self.test if asks_itself else True


@dataclass(frozen=True)
class Node:
    """One node. ``label`` is the best single answer for its rows, ``value`` the row weight by class
    (or, as the tree's task is, the mean cost or reward of each label, the numbers that are the
    answer, the row weight by class of each target in turn, or summed statistics), and ``loss`` what
    its rows would add to the tree's loss if it were a leaf: of costs and rewards, what is beyond
    the best label of each point. Of numbers ``label`` is the number, or a tuple of several; of
    several targets it is a tuple of labels."""

    id: int
    depth: int
    label: Any
    rows: int
    value: tuple[float, ...]
    loss: float
    split: Split | None = None

    @property
    def is_leaf(self) -> bool:
        return self.split is None

    @property
    def column(self) -> str | None:
        """The name of the column that is tested."""
        return self.split.column.name if self.split else None

    @property
    def test(self) -> str | None:
        """The test in words: ``age <= 38.5``, ``age <= 38.5 or missing``, ``sex = female``,
        ``smoker is true``, ``age is missing``."""
        if self.split is None:
            return None
        return conditions.question(self.split.column, self.split.test, self.split.missing)

    @property
    def left(self) -> int | None:
        return self.split.left if self.split else None

    @property
    def right(self) -> int | None:
        return self.split.right if self.split else None


@dataclass(frozen=True)
class Rule:
    """One leaf as a rule: all conditions hold, so the answer is ``label``."""

    leaf: int
    conditions: tuple[str, ...]
    label: Any
    rows: int
    value: tuple[float, ...]

    def __str__(self) -> str:
        when = f"if {' and '.join(self.conditions)} then " if self.conditions else ""
        rows = "1 row" if self.rows == 1 else f"{self.rows} rows"
        return f"{when}{conditions.plain(str(self.label))} ({rows})"
