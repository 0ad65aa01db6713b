"""Which rows two trees answer differently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from certree.cells import Cells, cells_of
from certree.conditions import plain

if TYPE_CHECKING:
    from certree.tree import Tree

#: By column, the cells that a row may lie in.
Region = Mapping[str, frozenset[int]]


@dataclass(frozen=True)
class Change:
    """Rows that come to one leaf of the old tree and one of the new tree, which answer differently.
    ``rows`` is how many of the given rows these are."""

    conditions: tuple[str, ...]
    old: Any
    new: Any
    old_leaf: int
    new_leaf: int
    rows: int | None = None

    def __str__(self) -> str:
        where = " and ".join(self.conditions) or "always"
        rows = "" if self.rows is None else f" ({_rows(self.rows)})"
        return f"{where}: {_answer(self.old)} → {_answer(self.new)}{rows}"


@dataclass(frozen=True)
class Difference:
    """What :meth:`Tree.diff` answers. It prints as text.

    Attributes
    ----------
    changes : tuple of Change
        The rows that are answered differently, one entry for each pair of leaves: of the most rows
        first if rows were given, else from left to right in the old tree. Rows with values that
        were not there in training are among them only if they were given.
    only_old, only_new : tuple of str
        Questions that one of the trees asks.
    n_rows, n_changed : int or None
        How many rows were given, and of how many the answer differs.
    """

    changes: tuple[Change, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    n_rows: int | None = None

    @property
    def alike(self) -> bool:
        """Whether no row is answered differently: of those that were given, and of all whose values
        were there in training."""
        return not self.changes

    @property
    def n_changed(self) -> int | None:
        if self.n_rows is None:
            return None
        return sum(change.rows or 0 for change in self.changes)

    def __str__(self) -> str:
        if self.alike:
            lines = ["The two trees answer every row alike."]
        elif self.n_rows is None:
            lines = [f"{_count(len(self.changes), 'kind')} of rows are answered differently:"]
        else:
            share = f" ({(self.n_changed or 0) / self.n_rows:.1%})" if self.n_rows else ""
            lines = [f"{self.n_changed:,} of {_rows(self.n_rows)}{share} are answered differently:"]
        lines += [f"  {change}" for change in self.changes]
        for which, asked in (("old", self.only_old), ("new", self.only_new)):
            if asked:
                lines.append(f"Only the {which} tree asks: {'; '.join(asked)}")
        return "\n".join(lines)


def difference(old: Tree, new: Tree, X: Any = None) -> Difference:
    if not isinstance(old, type(new)):
        raise TypeError(f"a tree is compared with another tree, not with {type(old).__name__}")
    if old.task != new.task:
        raise ValueError(f"a tree of {old.task} cannot be compared with one of {new.task}")
    cells = cells_of((old, new))
    rows: Counter[tuple[int, int]] | None = None
    n_rows = None
    if X is not None:
        leaves = list(zip(old.apply(X).tolist(), new.apply(X).tolist()))
        rows, n_rows = Counter(leaves), len(leaves)
    changes = []
    for old_leaf, new_leaf, region in meetings(old, new, cells):
        before, after = old.nodes[old_leaf].label, new.nodes[new_leaf].label
        count = None if rows is None else rows[old_leaf, new_leaf]
        unusual = any(part <= cells[name].unusual for name, part in region.items())
        if before != after and (count or not unusual):
            told = (own.told(region[name]) for name, own in cells.items() if name in region)
            conditions = tuple(text for text in told if text is not None)
            changes.append(Change(conditions, before, after, old_leaf, new_leaf, count))
    if rows is not None:
        changes.sort(key=lambda change: -(change.rows or 0))
    asked = [dict.fromkeys(node.test for node in tree.nodes if node.test) for tree in (old, new)]
    only = [
        tuple(test for test in own if test not in others) for own, others in (asked, asked[::-1])
    ]
    return Difference(tuple(changes), *only, n_rows)


def meetings(
    old: Tree, new: Tree, cells: Mapping[str, Cells]
) -> Iterator[tuple[int, int, Region]]:
    """Every pair of leaves that some row may come to, from left to right in the old tree, with the
    cells of such rows."""
    ways = [
        {
            node.id: cells[node.split.column.name].left_of(tree, node.split)
            for node in tree.nodes
            if node.split
        }
        for tree in (old, new)
    ]
    start: Region = {}
    waiting = [(0, 0, start)]
    while waiting:
        in_old, in_new, region = waiting.pop()
        # Down the old tree first, then down the new one.
        which = 0 if old.nodes[in_old].split else 1
        at = (in_old, in_new)[which]
        split = (old, new)[which].nodes[at].split
        if split is None:
            yield in_old, in_new, region
            continue
        name = split.column.name
        here = region.get(name, cells[name].all())
        left = ways[which][at]
        for child, part in ((split.right, here - left), (split.left, here & left)):
            if part:
                pair = (child, in_new) if which == 0 else (in_old, child)
                waiting.append((*pair, {**region, name: part}))


def _answer(answer: Any) -> str:
    if isinstance(answer, tuple):
        return f"({', '.join(map(_answer, answer))})"
    return f"{answer:.6g}" if isinstance(answer, float) else plain(str(answer))


def _count(n: int, one: str) -> str:
    return f"{n:,} {one}" if n == 1 else f"{n:,} {one}s"


def _rows(n: int) -> str:
    return _count(n, "row")
