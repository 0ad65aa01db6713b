"""Rows of a partition that are alike, as one entry: the codes of features and targets, the number
of rows, and their weight. Costs or rewards by row are added up, without any rounding, so that their
sums are the same however rows are divided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from certree import _core
from certree.ingest import in_memory, midpoints
from certree.ingest.categories import codes_of_groups
from certree.ingest.checks import row_sizes
from certree.ingest.cuts import Cuts, codes_of_values
from certree.ingest.weights import Unit
from certree.partitions.counts import own_values
from certree.partitions.reading import Partition


@dataclass(frozen=True)
class Coding:
    """How the rows of every partition are coded."""

    cuts: list[Cuts]
    #: The distinct values of each target.
    targets: list[np.ndarray]
    unit: Unit | None

    @property
    def n_codes(self) -> list[int]:
        return [*(each.n_codes for each in self.cuts), *map(len, self.targets)]


@dataclass(frozen=True)
class Entries:
    """In the order of their codes."""

    #: The codes of features, then those of targets; and the rows of each entry.
    points: _core.Points
    #: By part of the unit of weights: the weight of each entry.
    sums: list[np.ndarray]
    #: Of costs or rewards by row; None where there are none.
    numbers: Numbers | None = None


@dataclass(frozen=True)
class Numbers:
    """Sums of the numbers of rows, times their weights."""

    #: Arrays whose sum each sum is, entries × columns: the labels, then the sizes of all numbers of
    #: a row, and the weight.
    lists: list[np.ndarray]
    #: The least and the largest number of any row.
    least: float
    most: float


def entries(partition: Partition, coding: Coding) -> Entries | None:
    """None without rows."""
    if partition.table is None:
        return None
    codes = [_codes(partition, index, each) for index, each in enumerate(coding.cuts)]
    for key, values in zip(partition.keys, coding.targets):
        codes.append(np.searchsorted(values, key.by_rank).astype(np.uint32))
    located = partition.table.locate(codes, coding.n_codes)
    assert located is not None
    points, point_of = located
    sums = []
    if coding.unit is not None and partition.weights is not None:
        for part in range(coding.unit.n_parts):
            units = coding.unit.whole_of(partition.weights, part)
            sums.append(_summed(point_of, len(points.rows), units))
    return Entries(points, sums, _numbers(partition, coding.unit, point_of, len(points.rows)))


def _numbers(
    partition: Partition, unit: Unit | None, point_of: np.ndarray, n_points: int
) -> Numbers | None:
    given = partition.by_row
    if given is None:
        return None
    weights = None
    if unit is not None and partition.weights is not None:
        # As rows in memory are weighed.
        parts = [unit.whole_of(partition.weights, part) for part in range(unit.n_parts)]
        weights = unit.restore(*parts)
    columns = np.column_stack([given, row_sizes(given), np.ones(len(given))])
    lists = _core.exact_sums_by_point(point_of, n_points, columns, weights)
    return Numbers(lists, float(given.min()), float(given.max()))


def merge(lots: Sequence[Entries | None], n_codes: Sequence[int]) -> Entries | None:
    """Those of all partitions."""
    found = [lot for lot in lots if lot is not None]
    if len(found) < 2:
        return found[0] if found else None
    points, point_of = _core.Points.merged([lot.points for lot in found], n_codes)
    sums = [
        _summed(point_of, len(points.rows), np.concatenate([lot.sums[part] for lot in found]))
        for part in range(len(found[0].sums))
    ]
    numbers = [lot.numbers for lot in found if lot.numbers is not None]
    if not numbers:
        return Entries(points, sums)
    ends = np.cumsum([len(lot.points.rows) for lot in found])
    places = [point_of[end - len(lot.points.rows) : end] for lot, end in zip(found, ends)]
    of = np.concatenate([at for at, each in zip(places, numbers) for _ in each.lists])
    rows = np.concatenate([list for each in numbers for list in each.lists])
    lists = _core.exact_sums_by_point(of, len(points.rows), rows)
    least, most = min(each.least for each in numbers), max(each.most for each in numbers)
    return Entries(points, sums, Numbers(lists, least, most))


def _summed(point_of: np.ndarray, n_points: int, units: np.ndarray) -> np.ndarray:
    found = np.zeros(n_points, dtype=np.int64)
    np.add.at(found, point_of, units)
    return found


def _codes(partition: Partition, index: int, cuts: Cuts) -> np.ndarray | None:
    """The code of each rank of a feature, that of missing values behind the others; None where
    ranks are the codes."""
    kind = cuts.column.kind
    code: np.ndarray | None
    if kind == "boolean":
        code = None if cuts.places is None else np.zeros(2, dtype=np.uint32)
        return in_memory.with_missing(code, cuts, 2)
    own = own_values(partition, index)
    if kind == "category":
        code = _codes_of_category(cuts)[np.searchsorted(cuts.column.values, own)]
    else:
        assert cuts.places is not None
        bounds = midpoints.rounded_down(cuts.places, own.dtype)
        code = np.searchsorted(bounds, own).astype(np.uint32)
    return in_memory.with_missing(code, cuts, len(own))


def _codes_of_category(cuts: Cuts) -> np.ndarray:
    """The code of each of its values."""
    if cuts.way.groups is not None:
        return codes_of_groups(cuts.column, cuts.way.groups)
    if cuts.places is not None:
        return codes_of_values(cuts.column, cuts.places)
    return np.arange(len(cuts.column.values), dtype=np.uint32)
