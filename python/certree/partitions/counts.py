"""What the values of columns weigh, where that decides about cuts: of quantiles, and of categories
whose rarest values count as one.

Of a thinned column the rows between two neighbouring values are counted; then all values are taken
that lie where a quantile ends. So quantiles are those of all values, and little travels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from certree.ingest.weights import Unit
from certree.partitions.reading import Partition
from certree.partitions.survey import Survey


@dataclass(frozen=True)
class Bins:
    """Of a column, by value of its span: what all rows weigh whose value is at most this one and
    above the one before, and the least value there; with no rows, the value itself."""

    amounts: np.ndarray
    least: np.ndarray


@dataclass(frozen=True)
class Weighed:
    """Values in order, and what each weighs."""

    values: np.ndarray
    amounts: np.ndarray


def whole_weights(partition: Partition, unit: Unit | None) -> np.ndarray | None:
    """The weights in whole units."""
    if unit is None or partition.weights is None:
        return None
    return unit.whole_of(partition.weights)


def bins(partition: Partition, survey: Survey, wanted: Sequence[int]) -> dict[int, Bins]:
    """Of some columns, categories among them, whose bins are their values."""
    if partition.table is None:
        return {}
    weights = whole_weights(partition, survey.unit())
    found = {}
    for index in wanted:
        own, spread = own_values(partition, index), span_values(survey, index)
        amounts = partition.table.amounts(index, weights)[: len(own)]
        places = np.searchsorted(spread, own)
        sums = np.zeros(len(spread), dtype=np.int64)
        np.add.at(sums, places, amounts)
        least = spread.copy()
        # From the last one up, so that the first of each bin stays.
        least[places[::-1]] = own[::-1]
        found[index] = Bins(sums, least)
    return found


def own_values(partition: Partition, index: int) -> np.ndarray:
    """The distinct values of a column in a partition, in the order of their ranks."""
    column = partition.columns[index]
    if column.kind == "category":
        return np.array(column.values, dtype=object)
    return partition.values[index]


def span_values(survey: Survey, index: int) -> np.ndarray:
    """Those of all partitions."""
    column = survey.columns[index]
    if column.kind == "category":
        return np.array(column.values, dtype=object)
    return survey.spans[index].values


def merge_bins(lots: Sequence[dict[int, Bins]]) -> dict[int, Bins]:
    """Those of all partitions."""
    lots = [lot for lot in lots if lot]
    if not lots:
        return {}
    found = {}
    for index in lots[0]:
        least = lots[0][index].least
        for lot in lots[1:]:
            least = np.minimum(least, lot[index].least)
        amounts = np.sum([lot[index].amounts for lot in lots], axis=0)
        found[index] = Bins(amounts, least)
    return found


def decisive(counted: Bins, n_quantiles: int) -> np.ndarray:
    """The bins in which a quantile ends."""
    passed = np.cumsum(counted.amounts).astype(np.float64)
    goals = np.arange(1, n_quantiles + 1) / (n_quantiles + 1) * passed[-1]
    return np.unique(np.minimum(np.searchsorted(passed, goals), len(passed) - 1))


def within(
    partition: Partition, survey: Survey, wanted: Mapping[int, np.ndarray]
) -> dict[int, Weighed]:
    """All values of columns that lie in some of their bins."""
    if partition.table is None:
        return {}
    weights = whole_weights(partition, survey.unit())
    found = {}
    for index, chosen in wanted.items():
        own, spread = partition.values[index], survey.spans[index].values
        taken = np.isin(np.searchsorted(spread, own), chosen)
        amounts = partition.table.amounts(index, weights)[: len(own)]
        found[index] = Weighed(own[taken], amounts[taken])
    return found


def merge_weighed(lots: Sequence[dict[int, Weighed]]) -> dict[int, Weighed]:
    """Those of all partitions."""
    lots = [lot for lot in lots if lot]
    if not lots:
        return {}
    return {index: _merged([lot[index] for lot in lots]) for index in lots[0]}


def _merged(lots: Sequence[Weighed]) -> Weighed:
    values, places = np.unique(np.concatenate([lot.values for lot in lots]), return_inverse=True)
    amounts = np.zeros(len(values), dtype=np.int64)
    np.add.at(amounts, places, np.concatenate([lot.amounts for lot in lots]))
    return Weighed(values, amounts)


def distribution(
    spread: np.ndarray, counted: Bins, chosen: np.ndarray, exact: Weighed
) -> Weighed:
    """Values whose quantiles, and the values next to these, are those of all.

    Where a quantile ends stand all values; of any other bin its last value, with the weight of all,
    and its least one, which weighs nothing there. No quantile ends at a value without weight,
    because the sum was reached before it; and the neighbours of the values where they end are true
    neighbours, because all others lie beyond the end of a bin or below its least value.
    """
    others = np.setdiff1d(np.arange(len(spread)), chosen)
    values = np.concatenate([exact.values, spread[others], counted.least[others]])
    nothing = np.zeros(len(others), dtype=np.int64)
    amounts = np.concatenate([exact.amounts, counted.amounts[others], nothing])
    return _merged([Weighed(values, amounts)])
