"""Which values the columns of all partitions hold, and how many rows there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certree.ingest.weights import Unit, unit_of
from certree.partitions.reading import Partition
from certree.schema import Column
from certree.unseen import listed

#: A column of which only quantiles are asked for may be thinned to so many values, or so many for
#: each quantile. What lies between them is counted, so that quantiles are exact nevertheless.
FEWEST = 4096
FOR_EACH = 32

#: Columns of which more quantiles are asked for are not thinned.
MOST_QUANTILES = 10_000


@dataclass(frozen=True)
class Span:
    """Distinct values of a number or a date, in order: all, or some that have both ends among them,
    and one that is not whole if there is any."""

    values: np.ndarray
    thinned: bool = False

    def thin(self, most: int | None) -> Span:
        """At most so many values, and a few more; None: all."""
        values = self.values
        if most is None or len(values) <= most:
            return self
        places = np.linspace(0, len(values) - 1, most).astype(np.int64)
        if values.dtype.kind == "f":
            broken = values != np.rint(values)
            places = np.append(places, np.flatnonzero(broken)[:1])
        return Span(values[np.unique(places)], True)


@dataclass(frozen=True)
class Survey:
    """What some partitions hold."""

    where: str
    columns: list[Column]
    named: bool
    n_rows: int
    n_partitions: int
    #: By column that is a number or a date.
    spans: dict[int, Span]
    #: The distinct values of each target.
    targets: list[np.ndarray]
    target_names: list[Any]
    #: What is known of weights, by partition.
    weights_seen: tuple[Mapping[str, Any], ...]

    def unit(self) -> Unit | None:
        """The unit of weights; None if there are none."""
        return unit_of(self.weights_seen, "sample_weight") if self.weights_seen else None


def most_values(wish: Any) -> int | None:
    """How many values are kept of a column that this is asked of; None for all."""
    is_number = isinstance(wish, (int, np.integer)) and not isinstance(wish, bool)
    if not is_number or wish > MOST_QUANTILES:
        return None
    return max(FEWEST, FOR_EACH * int(wish))


def survey(partition: Partition, wishes: Mapping[str, Any] | Any) -> Survey:
    """What a partition holds. ``wishes``: the thresholds that are asked for."""
    spans = {
        index: Span(values).thin(_most(partition.columns[index].name, wishes))
        for index, values in partition.values.items()
    }
    return Survey(
        partition.where,
        partition.columns,
        partition.named,
        partition.n_rows,
        1,
        spans,
        [key.values for key in partition.keys],
        partition.target_names,
        () if partition.weights_seen is None else (partition.weights_seen,),
    )


def merge(surveys: Sequence[Survey], wishes: Mapping[str, Any] | Any) -> Survey:
    """What all of them hold. A ValueError where their columns differ."""
    first = surveys[0]
    for other in surveys[1:]:
        _check_alike(first, other)
    columns = [
        _merged_column([each.columns[index] for each in surveys])
        for index in range(len(first.columns))
    ]
    spans = {}
    for index, column in enumerate(columns):
        found = [each.spans[index] for each in surveys if index in each.spans]
        if found:
            values = np.unique(np.concatenate([span.values for span in found]))
            span = Span(values, any(span.thinned for span in found))
            spans[index] = span.thin(_most(column.name, wishes))
    targets = [each.targets for each in surveys if each.targets]
    return replace(
        first,
        columns=columns,
        n_rows=sum(each.n_rows for each in surveys),
        n_partitions=sum(each.n_partitions for each in surveys),
        spans=spans,
        targets=[_distinct([each[place] for each in targets]) for place in range(len(targets[0]))]
        if targets
        else [],
        weights_seen=tuple(seen for each in surveys for seen in each.weights_seen),
    )


def _most(name: str, wishes: Mapping[str, Any] | Any) -> int | None:
    wish = wishes.get(name, "all") if isinstance(wishes, Mapping) else wishes
    return most_values(wish)


def _distinct(lots: Sequence[np.ndarray]) -> np.ndarray:
    """The values of all lots in order."""
    if any(lot.dtype == object for lot in lots):
        found: set[Any] = set()
        found.update(value for lot in lots for value in lot.tolist())
        made = np.empty(len(found), dtype=object)
        made[:] = sorted(found)
        return made
    return np.unique(np.concatenate(lots))


def _merged_column(columns: Sequence[Column]) -> Column:
    """With the values of all of them if it is a category."""
    first = columns[0]
    missing = any(column.missing for column in columns)
    if first.kind != "category":
        return replace(first, missing=missing)
    values = {value for column in columns for value in column.values}
    # By code point, which is the order of UTF-8 that polars sorts by.
    return replace(first, values=tuple(sorted(values)), missing=missing)


def _check_alike(first: Survey, other: Survey) -> None:
    own, theirs = ([column.name for column in each.columns] for each in (first, other))
    if own != theirs:
        more = [name for name in theirs if name not in set(own)]
        fewer = [name for name in own if name not in set(theirs)]
        said = [f"lacks {listed(fewer)}"] if fewer else []
        said += [f"has {listed(more)} besides"] if more else []
        words = " and ".join(said) or "has them in another order"
        raise ValueError(
            f"partitions must have the same columns, but beside {first.where}, {other.where} "
            f"{words}; select the same columns in all of them"
        )
    if str(first.target_names) != str(other.target_names):
        raise ValueError(
            f"partitions must have the same targets, but {first.where} has "
            f"{listed(first.target_names)} and {other.where} has {listed(other.target_names)}"
        )
    for one, two in zip(first.columns, other.columns):
        if one.dtype != two.dtype:
            raise ValueError(
                f"column {one.name!r} must have one type, but it is {one.dtype} in {first.where} "
                f"and {two.dtype} in {other.where}; cast it in all partitions"
            )
    for own_values, their_values in zip(first.targets, other.targets):
        if own_values.dtype.kind != their_values.dtype.kind:
            raise ValueError(
                f"targets must have one type, but they are {own_values.dtype} in {first.where} and "
                f"{their_values.dtype} in {other.where}; cast them in all partitions"
            )
