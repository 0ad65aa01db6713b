"""Rows as a matrix of 32-bit floats, which is all that scikit-learn's trees compare.

A value goes left at a threshold if it is at most the threshold. Each column's thresholds become
32-bit floats that ascend as they do, and a value the nearest 32-bit float that lies between the
same two of them. So every row goes the way that it goes in the tree, whatever rounding does. A
missing value is NaN.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree.conditions import float32_at_most, float_at_most, plain, question
from certree.ingest import Slot, slot_arrays
from certree.moments import time_unit
from certree.ingest.midpoints import n_below_all, rounded_down
from certree.schema import TIMED, Column, is_threshold

if TYPE_CHECKING:
    from certree.nodes import Split
    from certree.tree import Tree

Floats = NDArray[np.float32]

MOST = np.finfo(np.float32).max


@dataclass(frozen=True)
class Feature:
    """One column of the matrix."""

    #: Where in the matrix.
    place: int
    column: Column
    slot: Slot
    #: The thresholds of the tree's splits on it, ascending; none of other questions.
    thresholds: tuple[int | float, ...]

    @property
    def name(self) -> str:
        """The name of the column, or the question whose answer is 1 for "yes"."""
        if self.slot[1] is not True:
            return question(self.column, self.slot[1])
        name = plain(self.column.name)
        if self.column.kind in TIMED:
            unit = time_unit(self.column.dtype)
            since = {"date": " since 1970-01-01", "time": " since midnight"}
            unit = "days" if unit == "day" else unit
            return f"{name} ({unit}{since.get(self.column.kind, '')})"
        if self.column.kind == "ordered":
            return f"{name} (0 to {len(self.column.values) - 1})"
        return name

    @cached_property
    def nearest(self) -> Floats:
        """Each threshold as a 32-bit float: the nearest one, so that the threshold itself goes
        left; of 32-bit columns the one below, so that all their values go as they did."""
        if self.column.dtype in ("Float16", "Float32"):
            found = [float32_at_most(float_at_most(t)) for t in self.thresholds]
            return np.array(found, dtype=np.float32)
        with np.errstate(over="ignore"):
            return np.array(self.thresholds, dtype=np.float64).astype(np.float32)

    @cached_property
    def rounded(self) -> Floats:
        """The nearest, moved apart where one 32-bit float is the nearest of several thresholds, and
        away from infinity, so that a finite value lies between any two and on both sides."""
        below_most = np.nextafter(MOST, np.float32(0))
        found = np.clip(self.nearest, -MOST, below_most)
        for at in range(1, len(found)):
            if found[at] <= found[at - 1]:
                found[at] = np.nextafter(found[at - 1], MOST)
        # Those at the upper end have been pushed together.
        found[-1:] = np.minimum(found[-1:], below_most)
        for at in reversed(range(len(found) - 1)):
            if found[at] >= found[at + 1]:
                found[at] = np.nextafter(found[at + 1], -MOST)
        return found

    @property
    def moved(self) -> list[int | float]:
        """The thresholds whose nearest 32-bit float stands for another one, or is none."""
        return [t for t, moved in zip(self.thresholds, self.nearest != self.rounded) if moved]

    def encode(self, values: NDArray[Any]) -> Floats:
        """A column's values, as the router compares them."""
        if not self.thresholds:
            return values.astype(np.float32)
        ends = self.rounded
        infinity = np.float32(np.inf)
        below = np.concatenate([[-MOST], np.nextafter(ends, infinity)]).astype(np.float32)
        above = np.concatenate([ends, [MOST]]).astype(np.float32)
        between = _count_below(values, self.thresholds)
        with np.errstate(over="ignore"):
            near = values.astype(np.float32)
        return np.clip(near, below[between], above[between])


def features(tree: Tree) -> dict[Slot, Feature]:
    """The columns of the matrix: one for each number, date or Boolean that is tested, one for each
    value of a category that is asked for, and one for each column that is asked whether it is
    missing."""
    found: dict[Slot, tuple[Column, set[int | float]]] = {}
    for node in tree.nodes:
        if node.split is None:
            continue
        _, thresholds = found.setdefault(node.split.slot, (node.split.column, set()))
        if is_threshold(node.split.test):
            thresholds.add(node.split.test)
    ordered = sorted(found.items(), key=lambda item: (item[0][0], str(item[0][1])))
    return {
        slot: Feature(at, column, slot, tuple(sorted(thresholds)))
        for at, (slot, (column, thresholds)) in enumerate(ordered)
    }


class Place(NamedTuple):
    """How a split reads the matrix."""

    feature: int
    #: A 32-bit float: at most that goes left.
    threshold: float
    missing_goes_left: bool


def place(tree: Tree, split: Split, known: Mapping[Slot, Feature]) -> Place:
    feature = known[split.slot]
    missing_goes_left = tree.way_of_missing(split) == "left"
    if not is_threshold(split.test):
        return Place(feature.place, 0.5, missing_goes_left)
    threshold = float(feature.rounded[bisect_left(feature.thresholds, split.test)])
    return Place(feature.place, threshold, missing_goes_left)


def encode(tree: Tree, X: Any) -> Floats:
    known = features(tree)
    found = slot_arrays(X, tree.columns, list(known), tree.missing_unseen, tree.unseen)
    # scikit-learn takes no matrix without columns.
    matrix = np.zeros((found.n_rows, max(len(known), 1)), dtype=np.float32)
    for feature, values, gone in zip(known.values(), found.arrays, found.missing):
        matrix[:, feature.place] = feature.encode(values)
        if gone is not None:
            matrix[gone, feature.place] = np.nan
    return matrix


def names(tree: Tree) -> list[str]:
    return [feature.name for feature in features(tree).values()] or ["nothing"]


def _count_below(values: NDArray[Any], thresholds: Sequence[int | float]) -> NDArray[np.int64]:
    """How many of the ascending thresholds are below each value, compared exactly."""
    if values.dtype.kind == "f":
        bounds = rounded_down([float_at_most(t) for t in thresholds], values.dtype)
        return np.searchsorted(bounds, values, side="left")
    # A threshold may be infinite, and an integer is within these.
    whole = [math.floor(min(max(t, -(2**64)), 2**64)) for t in thresholds]
    too_low = n_below_all(whole, values.dtype)
    bounds = rounded_down(whole[too_low:], values.dtype)
    return np.searchsorted(bounds, values, side="left") + too_low
