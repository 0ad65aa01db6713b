"""What a fit takes of rows that lie in partitions: cuts, points and targets, merged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from certree import _core
from certree.ingest import in_memory
from certree.ingest.categories import Categories
from certree.ingest.cuts import Cuts, read_wishes
from certree.ingest.merged import Merged
from certree.ingest.points import Points
from certree.partitions import counts, entries, survey
from certree.partitions.entries import Coding, Entries
from certree.partitions.reading import Question
from certree.partitions.survey import Survey
from certree.schema import Column


@dataclass(frozen=True)
class _Counted:
    """The columns of all partitions, as cuts are chosen from them."""

    columns: list[Column]
    values: dict[int, np.ndarray]
    by_column: dict[int, np.ndarray]
    weights: None = None

    @property
    def table(self) -> _Counted:
        return self

    def amounts(self, index: int, _: None) -> np.ndarray:
        return self.by_column[index]


@dataclass(frozen=True)
class Wanted:
    """The columns whose values have to be counted before they are cut: by column the number of
    quantiles, or None for the weight of each value."""

    quantiles: dict[int, int | None]

    @classmethod
    def of(cls, survey: Survey, thresholds: Any, categories: Categories) -> Wanted:
        wishes = read_wishes(survey.columns, thresholds)
        found: dict[int, int | None] = {}
        for index, (column, wish) in enumerate(zip(survey.columns, wishes)):
            if isinstance(wish.cuts, (int, np.integer)) and index in survey.spans:
                found[index] = int(wish.cuts)
            elif column.kind == "category" and categories.most is not None:
                found[index] = None
        return cls(found)

    def thinned(self, survey: Survey, counted: dict[int, counts.Bins]) -> dict[int, np.ndarray]:
        """The bins of thinned columns whose values decide about quantiles."""
        return {
            index: counts.decisive(counted[index], n)
            for index, n in self.quantiles.items()
            if n is not None and survey.spans[index].thinned
        }


def cut(
    survey: Survey,
    thresholds: Any,
    categories: Categories,
    counted: dict[int, counts.Bins],
    chosen: dict[int, np.ndarray],
    exact: dict[int, counts.Weighed],
) -> list[Cuts]:
    """Cut the columns as if all rows were in memory."""
    values = {index: span.values for index, span in survey.spans.items()}
    amounts = {index: each.amounts for index, each in counted.items()}
    for index, bins in chosen.items():
        known = counts.distribution(values[index], counted[index], bins, exact[index])
        values[index], amounts[index] = known.values, known.amounts
    return in_memory.cut(_Counted(survey.columns, values, amounts), thresholds, categories)[0]


class Partitions(Protocol):
    """Whoever has the partitions."""

    def map(self, function: Callable[..., Any], *given: Any) -> list[Any]:
        """For each partition, something that stands for ``function(partition, *given)``."""

    def merged(self, merge: Callable[..., Any], lots: list[Any], *given: Any) -> Any:
        """``merge(results, *given)`` of all of them, as a tree of merges."""

    def count_leaves(self, tree: Any) -> list[int]:
        """How many rows that weigh something a tree sends to each of its nodes."""


def merge(
    partitions: Partitions, question: Question, thresholds: Any, categories: Categories
) -> Merged:
    """Agree on cuts, and count the points that they make."""
    # The cuts of a fitted transformer are told apart by their values, as any cuts are.
    wishes = "all" if hasattr(thresholds, "thresholds_") else thresholds
    lots = partitions.map(survey.survey, wishes)
    found: Survey = partitions.merged(survey.merge, lots, wishes)
    unit = found.unit()
    if found.n_rows == 0:
        raise ValueError(
            f"Found array with 0 sample(s) in {found.n_partitions} partitions (shape=(0, "
            f"{len(found.columns)})) while a minimum of 1 is required."
        )
    cuts = _agreed(partitions, found, thresholds, categories)
    coding = Coding(cuts, found.targets, unit)
    lots = partitions.map(entries.entries, coding)
    counted = partitions.merged(entries.merge, lots, coding.n_codes)
    return _training(partitions, question, found, coding, counted)


def _agreed(
    partitions: Partitions, found: Survey, thresholds: Any, categories: Categories
) -> list[Cuts]:
    """The cuts of all columns."""
    wanted = Wanted.of(found, thresholds, categories)
    counted: dict[int, counts.Bins] = {}
    exact: dict[int, counts.Weighed] = {}
    chosen: dict[int, np.ndarray] = {}
    if wanted.quantiles:
        lots = partitions.map(counts.bins, found, list(wanted.quantiles))
        counted = partitions.merged(counts.merge_bins, lots)
        chosen = wanted.thinned(found, counted)
    if chosen:
        lots = partitions.map(counts.within, found, chosen)
        exact = partitions.merged(counts.merge_weighed, lots)
    return cut(found, thresholds, categories, counted, chosen, exact)


def _training(
    partitions: Partitions, question: Question, found: Survey, coding: Coding, counted: Entries
) -> Merged:
    """What a fit takes in place of rows: entries that have the same features are one point."""
    n_features = len(coding.cuts)
    core, point_of = _core.Points.merged([counted.points], coding.n_codes[:n_features])
    codes = counted.points.codes[n_features:]
    rows = counted.points.rows
    if coding.unit is None:
        units, weights = rows.astype(np.int64), rows.astype(np.float64)
    else:
        units, weights = counted.sums[0], coding.unit.restore(*counted.sums)
    by_point = np.zeros((len(core.rows), 1))
    np.add.at(by_point[:, 0], point_of, weights)
    has_labels = question.target == "labels"
    numbers = counted.numbers
    if numbers is not None:
        lists = [np.zeros((len(core.rows), numbers.lists[0].shape[1])) for _ in numbers.lists]
        for ordered, each in zip(lists, numbers.lists):
            # Without targets an entry is a point.
            ordered[point_of] = each
        by_point = lists[0][:, -1:]
        numbers = replace(numbers, lists=lists)
    targets = [values[places] for values, places in zip(coding.targets, codes)]
    return Merged(
        columns=found.columns,
        named=found.named,
        labels=coding.targets[0] if has_labels else np.empty(0),
        unit=coding.unit,
        source=None,
        kept=None,
        n_parts=found.n_partitions,
        count_leaves=partitions.count_leaves,
        cuts=coding.cuts,
        points=Points(core, by_point),
        point_of=point_of,
        units=units,
        weights=weights,
        classes=codes[0] if has_labels else np.empty(0, dtype=np.uint32),
        targets=np.column_stack(targets) if targets and not has_labels else np.empty((0, 0)),
        sums=[] if numbers is None else numbers.lists,
        seen=(0.0, 0.0) if numbers is None else (numbers.least, numbers.most),
        target_names=found.target_names,
    )
