"""Where each column may be split, and the code of a value: how many cuts lie below it.

Codes are computed in the column's own type with thresholds rounded down to it, as prediction does,
so that both send every value the same way.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from certree.ingest import categories as sets
from certree.ingest import engine, midpoints
from certree.ingest.categories import Categories, Way
from certree.ingest.kinds import known, physical
from certree.ingest.thresholds import read_list, read_values
from certree.schema import Column
from certree.unseen import listed

#: Values of a lazy frame that are read into memory at a time.
BATCH = 2**22

#: "all" cuts, or all "midpoints", so many quantiles, or these.
Places = str | int | Sequence[Any]


class Wish(NamedTuple):
    """What may be asked of a column."""

    cuts: Places
    #: Whether a value is missing, if any is.
    missing: bool = True

    @classmethod
    def of(cls, given: Any) -> Wish:
        """Of a list, which may hold None for "is missing"; an empty one asks nothing."""
        if isinstance(given, (str, int, np.integer)):
            return cls(given)
        listed = list(given)
        return cls([item for item in listed if item is not None], bool(listed))


@dataclass(frozen=True)
class Cuts:
    """A column, and the places it may be split at."""

    column: Column
    #: The thresholds; of many floats an array, since there may be as many as values.
    places: np.ndarray | list[float] | list[int] | list[str] | None
    n_codes: int
    #: Whether it may be asked if a value is missing: missing values then have the last code.
    missing: bool = False
    #: How a category is asked.
    way: Way = Way()

    @classmethod
    def of(cls, column: Column, places: Any, wish: Wish, way: Way = Way()) -> Cuts:
        """The cuts at these places, and whether a value is missing if there are such and it may be
        asked."""
        missing = column.missing and wish.missing
        n_values = len(column.values if way.groups is None else way.groups)
        if places is not None:
            n_codes = len(places) + 1
        elif column.kind == "boolean":
            n_codes = 2
        else:
            # Where values are missing, the core leaves a code for those that are not asked for.
            n_codes = n_values + (missing and not way.sets)
        return cls(column, places, n_codes + missing, missing, way)

    @property
    def missing_code(self) -> int:
        """Of missing values: one for themselves if they may be asked for, else any."""
        return self.n_codes - 1 if self.missing else 0

    @property
    def thresholds(self) -> list[float] | list[int] | list[str] | None:
        """Ascending; of a category, the values that are asked for. None for Booleans and categories
        that may be split in every way; of a Boolean that may not be split, an empty list."""
        return self.places.tolist() if isinstance(self.places, np.ndarray) else self.places

    @property
    def kind(self) -> Any:
        """As the core reads it."""
        if self.places is None and self.column.kind == "category":
            return tuple(self.heads) if self.way.sets else self.heads
        return self.places

    @property
    def heads(self) -> list[str]:
        """The first value of each code of a category."""
        groups = self.way.groups
        return list(self.column.values) if groups is None else [group[0] for group in groups]

    @property
    def asked(self) -> list[Any] | None:
        """As ``thresholds`` takes it: the places, and None for "is missing". None: everything."""
        if self.thresholds is None:
            return None
        places: list[Any] = list(self.thresholds)
        if self.column.kind == "ordered":
            places = [self.column.values[place] for place in places]
        return [*places, *([None] if self.missing else [])]

    @property
    def count(self) -> int:
        """How many different splits the column offers: where values are missing, these go either
        way at each cut, and may be split off."""
        return 2 * self.n_known + 1 if self.missing else self.n_known

    @property
    def n_known(self) -> int:
        """As above, of the values that are there."""
        if self.places is not None:
            return len(self.places)
        if self.column.kind != "category":
            return 1
        return sets.n_sets(len(self.heads)) if self.way.sets else len(self.heads)


@dataclass(frozen=True)
class CodedCuts(Cuts):
    """With the code of each row."""

    code: pl.Expr = field(default_factory=lambda: pl.lit(0, dtype=pl.UInt32))


def make_cuts(
    frame: pl.LazyFrame,
    columns: Sequence[Column],
    thresholds: Any,
    weight: str = "",
    categories: Categories = sets.VALUES,
) -> list[CodedCuts]:
    """Cuts for every column. ``thresholds`` is "all", "midpoints", a number of quantiles, or one of
    these or a list for some columns by name (the others keep all their cuts)."""
    wishes = read_wishes(columns, thresholds)
    makers: dict[str, Callable[..., Raw]] = {
        "boolean": _boolean,
        "category": _category,
        "number": _ordered,
        "date": _ordered,
        "duration": _ordered,
        "time": _ordered,
        "ordered": _ordered,
    }
    # Once for all, because polars works it out anew each time.
    schema = engine.schema(frame)
    raw = [
        makers[column.kind](narrow, column, wish, weight, schema[column.name])
        for narrow, column, wish in zip(_narrow(frame, columns, weight), columns, wishes)
    ]
    places = [each.places for each in raw]
    read = [each.column for each in raw]
    ways = ways_of(
        read, places, wishes, thresholds, categories, lambda index: raw[index].amounts
    )
    return [
        _coded(each, wish, way)
        for each, wish, way in zip(raw, wishes, ways or itertools.repeat(Way()))
    ]


def ways_of(
    columns: Sequence[Column],
    places: Sequence[Any],
    wishes: Sequence[Wish],
    thresholds: Any,
    categories: Categories,
    amounts: Callable[[int], np.ndarray],
) -> list[Way]:
    """How each category is asked; nothing if there is none. What a fitted transformer or a list
    asks for are single values."""
    if not any(column.kind == "category" for column in columns):
        categories.check(columns)
        return []
    fitted = hasattr(thresholds, "thresholds_")
    every = [
        column.kind == "category" and isinstance(wish.cuts, str) and not fitted
        for column, wish in zip(columns, wishes)
    ]
    others = [
        Cuts.of(column, own, wish).count
        for column, own, wish, free in zip(columns, places, wishes, every)
        if not free
    ]
    return sets.ways(columns, every, sum(others), categories, amounts)


def _narrow(
    frame: pl.LazyFrame, columns: Sequence[Column], weight: str
) -> Iterator[pl.LazyFrame]:
    """For each column a frame that has it and the weights: as many columns at a time as are small
    when they are read, because asking a frame of n columns for one of them takes polars a time that
    grows with n."""
    beside = [weight] if weight else []
    n_rows = engine.collect(frame.select(pl.len())).item()
    together = BATCH // max(n_rows, 1)
    if together < 2:
        yield from itertools.repeat(frame, len(columns))
        return
    for start in range(0, len(columns), together):
        names = [column.name for column in columns[start : start + together]]
        batch = engine.collect(frame.select(engine.columns([*names, *beside])))
        for index in range(len(names)):
            picks = [index, *range(len(names), batch.width)]
            narrow = {batch.columns[pick]: batch.to_series(pick) for pick in picks}
            yield pl.DataFrame(narrow).lazy()


def read_wishes(columns: Sequence[Column], thresholds: Any) -> list[Wish]:
    """What is wished for each column. Booleans and categories have no quantiles."""
    names = [column.name for column in columns]
    # Sets, because there may be as many columns as there are rows elsewhere.
    fitted = getattr(thresholds, "columns_", None)
    there = dict.fromkeys(names if fitted is None else [column.name for column in fitted])
    if added := [name for name in names if name not in there]:
        raise ValueError(
            f"X has {listed(added)}, which the {type(thresholds).__name__} given as thresholds was "
            f"not fitted with; its columns are {listed(list(there))}"
        )
    thresholds = getattr(thresholds, "thresholds_", thresholds)
    if not isinstance(thresholds, Mapping):
        return [Wish("all" if _is_fixed(column) else thresholds) for column in columns]
    present = set(names)
    unknown = [name for name in thresholds if name not in present]
    if unknown:
        raise ValueError(
            f"thresholds names {listed(unknown)}, which X does not have; its columns are "
            f"{listed(names)}"
        )
    wishes = [Wish.of(thresholds.get(name, "all")) for name in names]
    counted = [c.name for c, w in zip(columns, wishes) if _is_fixed(c) and isinstance(w.cuts, int)]
    if counted:
        raise ValueError(
            f"thresholds asks for quantiles of {listed(counted)}, but only numbers and dates have "
            "them; give a list of values, or leave it out"
        )
    return wishes


def _is_fixed(column: Column) -> bool:
    return column.kind in ("boolean", "category")


def requested_values(column: Column, wish: Places) -> list[str] | None:
    """The values of a category that may be split off, or an empty list for a Boolean that may not
    be split; None: all of them may."""
    if isinstance(wish, str):
        return None
    found = read_values(column, wish)
    if column.kind == "boolean":
        return None if found else []
    return None if len(found) == len(column.values) else found


def codes_of_values(column: Column, found: Sequence[str]) -> np.ndarray:
    """The code of each value of a category; values that are not asked for share the last one."""
    places = {value: place for place, value in enumerate(found)}
    return np.array([places.get(value, len(found)) for value in column.values], dtype=np.uint32)


class Raw(NamedTuple):
    """A column before it is known how it is asked."""

    column: Column
    places: Any
    #: The code of a value that is there, null where it is missing.
    code: pl.Expr
    #: Of a category, the weight of each value.
    amounts: np.ndarray


_NO_AMOUNTS = np.empty(0)


def _boolean(
    frame: pl.LazyFrame, column: Column, wish: Wish, weight: str, dtype: pl.DataType
) -> Raw:
    found = requested_values(column, wish.cuts)
    code = engine.column(column.name).cast(pl.UInt32)
    if found is not None:
        code = code * 0
    return Raw(column, found, code, _NO_AMOUNTS)


def _category(
    frame: pl.LazyFrame, column: Column, wish: Wish, weight: str, dtype: pl.DataType
) -> Raw:
    text = engine.column(column.name).cast(pl.String)
    amount = engine.column(weight).sum() if weight else pl.len()
    amounts = frame.group_by(text.alias("value")).agg(amount.cast(pl.Float64).alias("amount"))
    counted = engine.collect(amounts.drop_nulls("value").sort("value"))
    values = counted["value"]
    column = replace(column, values=tuple(values))
    found = requested_values(column, wish.cuts)
    numbers = np.arange(len(values)) if found is None else codes_of_values(column, found)
    code = text.replace_strict(
        values, pl.Series(numbers, dtype=pl.UInt32), default=None, return_dtype=pl.UInt32
    )
    return Raw(column, found, code, counted["amount"].to_numpy())


def _ordered(
    frame: pl.LazyFrame, column: Column, wish: Wish, weight: str, dtype: pl.DataType
) -> Raw:
    value = known(physical(engine.column(column.name), dtype), dtype).alias("value")
    values, amounts = _distribution(frame, value, weight)
    found = choose(column, wish.cuts, values, lambda: amounts)
    bounds = midpoints.rounded_down(found, values.dtype)

    def code(series: pl.Series) -> pl.Series:
        missing = series.is_null()
        below = np.searchsorted(bounds, series.fill_null(0).to_numpy())
        codes = pl.Series(below.astype(np.uint32))
        return codes.set(missing, None) if missing.any() else codes

    expression = value.map_batches(code, return_dtype=pl.UInt32, is_elementwise=True)
    return Raw(column, found, expression, _NO_AMOUNTS)


def _coded(raw: Raw, wish: Wish, way: Way) -> CodedCuts:
    column, places, code, _ = raw
    cuts = Cuts.of(column, places, wish, way)
    if way.groups is not None:
        own = pl.Series(range(len(column.values)), dtype=pl.UInt32)
        codes = pl.Series(sets.codes_of_groups(column, way.groups))
        code = code.replace_strict(own, codes, default=None, return_dtype=pl.UInt32)
    code = code.fill_null(cuts.missing_code) if column.missing else code
    return CodedCuts(column, places, cuts.n_codes, cuts.missing, way, code)


def choose(
    column: Column,
    wish: Places,
    values: np.ndarray,
    amounts: Callable[[], np.ndarray],
) -> list[float] | list[int]:
    """The thresholds of a column with these distinct values, which ascend. Quantiles ask for the
    weight of each."""
    if not len(values):
        return []
    if isinstance(wish, str):
        return midpoints.between(values, np.arange(len(values) - 1), column, wish == "midpoints")
    if isinstance(wish, (int, np.integer)):
        return midpoints.between(values, midpoints.quantiles(amounts(), int(wish)), column)
    return midpoints.separating(values, read_list(column, wish, values))


def _distribution(
    frame: pl.LazyFrame, value: pl.Expr, weight: str
) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values in order, and the weight of each."""
    amount = engine.column(weight).sum() if weight else pl.len()
    amounts = frame.group_by(value).agg(amount.cast(pl.Int64).alias("amount"))
    found = engine.collect(amounts.drop_nulls("value").sort("value"))
    return midpoints.unsigned_zero(found["value"].to_numpy()), found["amount"].to_numpy()
