"""``fit(start=)``: the splits of a tree that there is already, as splits that a problem offers."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from certree import _core
from certree.conditions import Test, plain
from certree.estimators import _own_branch
from certree.export.function import tested
from certree.schema import TIMED, Column, Sets, Side, is_threshold
from certree.nodes import Split
from certree.tree import Tree
from certree.unseen import listed
from certree.warned import warn

if TYPE_CHECKING:
    from certree.estimators._posed import Posed

#: A node that answers nothing: of a start only the splits count.
_LEAF: tuple[Any, ...] = (None, 0, 0, [0.0], 0.0)


class Asked(NamedTuple):
    """A test that the problem offers, with missing values on this side if there are any.
    ``is_swapped``: what went left goes right."""

    column: int
    test: Test
    missing: Side | None
    is_swapped: bool = False


def incumbent(start: Any, posed: Posed, missing: str) -> tuple[_core.Tree, float] | None:
    """The tree that the search begins with, and a number that no objective is below; None where
    nothing of it is a tree of the problem."""
    old = _tree(start)
    if posed.problem.guessed_by:
        raise ValueError(
            "start= and a reference for lower bounds exclude each other: a search that goes on "
            "from a tree guesses no bounds; leave one of them out"
        )
    if posed.cut_short:
        # No column was read, so there is nothing to split.
        return None
    core = Translation(old, posed).tree()
    if missing == "own_branch":
        core = _own_branch.to_core(core, posed.cuts)
    found = posed.problem.start(core)
    if found is None:
        warn(
            "start= is left out: it is no tree of this problem, because of path_rules, "
            "feature_costs, missing='own_branch' or the limits on its size",
        )
        return None
    return found[0], float("-inf")


def _tree(start: Any) -> Tree:
    tree = getattr(start, "tree_", start)
    if isinstance(tree, Tree):
        return tree
    if hasattr(tree, "children_left"):
        return Tree.from_sklearn(start)
    raise TypeError(
        "start is a Tree, or a fitted estimator that has one (also scikit-learn's), but not "
        f"{type(start).__name__}"
    )


class Translation:
    """The splits of a tree as splits of a problem. One that the problem does not offer is left out:
    its larger child takes its place."""

    def __init__(self, old: Tree, posed: Posed) -> None:
        self.old = old
        self.cuts = posed.cuts
        self.training = posed.training
        self.place = {each.column.name: at for at, each in enumerate(posed.cuts)}
        if gone := [name for name in tested(old) if name not in self.place]:
            raise ValueError(
                f"start asks for {listed(gone)}, which X does not have; its columns are "
                f"{listed(list(self.place))}"
            )

    def tree(self) -> _core.Tree:
        parts: list[list[Any]] = []
        # Nodes of the old tree, with their new parents and the side that they are on.
        open_nodes: list[tuple[int, int | None, int]] = [(0, None, 0)]
        while open_nodes:
            at, parent, side = open_nodes.pop()
            split = self.old.nodes[at].split
            asked = self._asked(split) if split is not None else None
            if split is not None and isinstance(asked, str):
                below = split.left if asked == "left" else split.right
                open_nodes.append((below, parent, side))
                continue
            if parent is not None:
                parts[parent][0][2 + side] = len(parts)
            new = len(parts)
            parts.append([None, 0, self.old.nodes[at].rows, [0.0], 0.0])
            if split is not None and isinstance(asked, Asked):
                parts[new][0] = [asked.column, asked.test, 0, 0, asked.missing]
                sides = (split.left, split.right)
                left, right = sides[::-1] if asked.is_swapped else sides
                open_nodes += [(right, new, 1), (left, new, 0)]
        return _core.Tree([(tuple(split) if split else None, *rest) for split, *rest in parts])

    def _asked(self, split: Split) -> Asked | Side:
        """What the problem offers in place of a split, or the side that takes its place."""
        at = self.place[split.column.name]
        own = self.cuts[at]
        missing = (split.missing or self.old.way_of_missing(split)) if own.missing else None
        if split.test is None:
            # Without missing values all go left.
            return Asked(at, None, "right") if own.missing else "left"
        _check_kind(split.column, own.column)
        if isinstance(split.test, (str, Sets)):
            return self._of_values(split, at, missing)
        if is_threshold(split.test):
            found = self._nearest(at, split.test)
            if found in ("left", "right"):
                return _of_missing(at, found, missing)
            return Asked(at, found, missing)
        return Asked(at, True, missing) if own.count else self._larger(split)

    def _of_values(self, split: Split, at: int, missing: Side | None) -> Asked | Side:
        """In place of a question about values of a category: those that were not there when the
        old tree was made go where it sends them."""
        own, test = self.cuts[at], split.test
        others = self.old.way_of_missing(split)

        def side(value: str) -> Side:
            if isinstance(test, Sets):
                named = {**dict.fromkeys(test.left, "left"), **dict.fromkeys(test.right, "right")}
                return named.get(value, others)  # type: ignore[return-value]
            return "right" if value == test else "left"

        left = tuple(value for value in own.heads if side(value) == "left")
        right = tuple(value for value in own.heads if side(value) == "right")
        if not left or not right:
            return _of_missing(at, "left" if left else "right", missing)
        if own.way.sets:
            return Asked(at, (left, right), missing)  # type: ignore[arg-type]
        asked = own.heads if own.thresholds is None else own.thresholds
        if len(right) == 1 and right[0] in asked:
            return Asked(at, right[0], missing)
        if len(left) == 1 and left[0] in asked:
            opposite: dict[Side | None, Side | None] = {"left": "right", "right": "left"}
            return Asked(at, left[0], opposite.get(missing), is_swapped=True)
        return self._larger(split)

    def _larger(self, split: Split) -> Side:
        sides = self.old.nodes[split.left].rows, self.old.nodes[split.right].rows
        return "left" if sides[0] >= sides[1] else "right"

    def _nearest(self, column: int, threshold: Any) -> Any:
        """The cut of a column that sends the fewest training rows another way than the threshold
        does; or the side that all rows go to, if that is nearer still."""
        places: Any = self.cuts[column].places
        at = bisect_left(places, threshold)
        if at < len(places) and places[at] == threshold:
            return _number(places[at])
        lower = _number(places[at - 1]) if at > 0 else None
        upper = _number(places[at]) if at < len(places) else None
        above_lower, above = self._between(column, lower, threshold, upper)
        if above_lower <= above:
            return "right" if lower is None else lower
        return "left" if upper is None else upper

    def _between(self, column: int, lower: Any, threshold: Any, upper: Any) -> tuple[int, int]:
        """How many rows are above the one and at most the other, as prediction has it."""
        tests = [test for test in (lower, threshold, upper) if test is not None]
        # Missing values end in a leaf that is not counted, if there is one.
        missing: Literal["left", "right"] = "right" if lower is None else "left"
        parts: list[Any] = []
        for test in tests:
            here = len(parts)
            parts += [((column, test, here + 1, here + 2, missing), 0, 0, [0.0], 0.0), _LEAF]
        parts.append(_LEAF)
        chain = Tree(_core.Tree(parts), [each.column for each in self.cuts], [0])
        leaves = chain._route(self.training.source, None)
        rows = _core.count_rows(leaves, len(parts), self.training.kept)
        in_order = [rows[2 * step + 1] for step in range(len(tests))] + [rows[-1]]
        first = 0 if lower is None else 1
        return in_order[first], in_order[first + 1]


def _of_missing(column: int, side: Side, missing: Side | None) -> Asked | Side:
    """In place of a split that sends all values to this side: where missing ones go to the other,
    whether a value is missing."""
    if missing in (None, side):
        return side
    return Asked(column, None, "right", is_swapped=side == "right")


def _number(place: Any) -> Any:
    """Of numpy, as Python has it."""
    return place.item() if hasattr(place, "item") else place


def _check_kind(old: Column, new: Column) -> None:
    """A ValueError where a test of the one column says nothing of the other."""
    if old.kind != new.kind or (old.kind in TIMED and old.dtype != new.dtype):
        was, now = (old.kind, new.kind) if old.kind != new.kind else (old.dtype, new.dtype)
        raise ValueError(f"{plain(old.name)} was {was} in start and is {now} in X")
    if old.kind == "ordered" and old.values != new.values:
        raise ValueError(
            f"{plain(old.name)} has other levels, or another order of them, in start than in X"
        )
