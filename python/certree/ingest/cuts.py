"""Where each column may be split, and the code of a value: how many cuts lie below it.

Codes are computed in the column's own type with thresholds rounded down to it, as prediction does,
so that both send every value the same way.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import engine, midpoints
from certree.ingest.kinds import physical
from certree.ingest.slots import listed
from certree.ingest.thresholds import read_list, read_values
from certree.schema import Column

#: Values of a lazy frame that are read into memory at a time.
BATCH = 2**22

#: "all" cuts, or all "midpoints", so many quantiles, or these.
Wish = str | int | Sequence[Any]


@dataclass(frozen=True)
class Cuts:
    """A column, and the places it may be split at."""

    column: Column
    #: The thresholds; of many floats an array, since there may be as many as values.
    places: np.ndarray | list[float] | list[int] | list[str] | None
    n_codes: int

    @property
    def thresholds(self) -> list[float] | list[int] | list[str] | None:
        """Ascending; of a category, the values that are asked for. None for Booleans and categories
        that may be split in every way; of a Boolean that may not be split, an empty list."""
        return self.places.tolist() if isinstance(self.places, np.ndarray) else self.places

    @property
    def kind(self) -> Any:
        """As the core reads it."""
        if self.places is None and self.column.kind == "category":
            return list(self.column.values)
        return self.places

    @property
    def count(self) -> int:
        """How many different splits the column offers."""
        if self.places is not None:
            return len(self.places)
        return len(self.column.values) if self.column.kind == "category" else 1


@dataclass(frozen=True)
class CodedCuts(Cuts):
    """With the code of each row."""

    code: pl.Expr


def make_cuts(
    frame: pl.LazyFrame, columns: Sequence[Column], thresholds: Any, weight: str = ""
) -> list[CodedCuts]:
    """Cuts for every column. ``thresholds`` is "all", "midpoints", a number of quantiles, or one of
    these or a list for some columns by name (the others keep all their cuts)."""
    wishes = read_wishes(columns, thresholds)
    makers: dict[str, Callable[..., CodedCuts]] = {
        "boolean": _boolean,
        "category": _category,
        "number": _ordered,
        "date": _ordered,
    }
    # Once for all, because polars works it out anew each time.
    schema = engine.schema(frame)
    return [
        makers[column.kind](narrow, column, wish, weight, schema[column.name])
        for narrow, column, wish in zip(_narrow(frame, columns, weight), columns, wishes)
    ]


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
    known = dict.fromkeys(names if fitted is None else [column.name for column in fitted])
    if added := [name for name in names if name not in known]:
        raise ValueError(
            f"X has {listed(added)}, which the {type(thresholds).__name__} given as thresholds was "
            f"not fitted with; its columns are {listed(list(known))}"
        )
    thresholds = getattr(thresholds, "thresholds_", thresholds)
    if not isinstance(thresholds, Mapping):
        return ["all" if _is_fixed(column) else thresholds for column in columns]
    present = set(names)
    unknown = [name for name in thresholds if name not in present]
    if unknown:
        raise ValueError(
            f"thresholds names {listed(unknown)}, which X does not have; its columns are "
            f"{listed(names)}"
        )
    wishes = [thresholds.get(name, "all") for name in names]
    counted = [c.name for c, w in zip(columns, wishes) if _is_fixed(c) and isinstance(w, int)]
    if counted:
        raise ValueError(
            f"thresholds asks for quantiles of {listed(counted)}, but only numbers and dates have "
            "them; give a list of values, or leave it out"
        )
    return wishes


def _is_fixed(column: Column) -> bool:
    return column.kind in ("boolean", "category")


def requested_values(column: Column, wish: Wish) -> list[str] | None:
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


def _boolean(
    frame: pl.LazyFrame, column: Column, wish: Wish, weight: str, dtype: pl.DataType
) -> CodedCuts:
    found = requested_values(column, wish)
    if found is not None:
        return CodedCuts(column, found, 1, pl.lit(0, dtype=pl.UInt32))
    return CodedCuts(column, None, 2, engine.column(column.name).cast(pl.UInt32))


def _category(
    frame: pl.LazyFrame, column: Column, wish: Wish, weight: str, dtype: pl.DataType
) -> CodedCuts:
    text = engine.column(column.name).cast(pl.String)
    values = engine.collect(frame.select(text).unique()).to_series().sort()
    column = replace(column, values=tuple(values))
    found = requested_values(column, wish)
    numbers = np.arange(len(values)) if found is None else codes_of_values(column, found)
    code = text.replace_strict(
        values, pl.Series(numbers, dtype=pl.UInt32), return_dtype=pl.UInt32
    )
    return CodedCuts(column, found, len(values) if found is None else len(found) + 1, code)


def _ordered(
    frame: pl.LazyFrame, column: Column, wish: Wish, weight: str, dtype: pl.DataType
) -> CodedCuts:
    value = physical(engine.column(column.name), dtype).alias("value")
    values, amounts = _distribution(frame, value, weight)
    found = choose(column, wish, values, lambda: amounts)
    bounds = midpoints.rounded_down(found, values.dtype)

    def code(series: pl.Series) -> pl.Series:
        return pl.Series(np.searchsorted(bounds, series.to_numpy()).astype(np.uint32))

    expression = value.map_batches(code, return_dtype=pl.UInt32, is_elementwise=True)
    return CodedCuts(column, found, len(found) + 1, expression)


def choose(
    column: Column,
    wish: Wish,
    values: np.ndarray,
    amounts: Callable[[], np.ndarray],
) -> list[float] | list[int]:
    """The thresholds of a column with these distinct values, which ascend. Quantiles ask for the
    weight of each."""
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
    found = engine.collect(
        frame.group_by(value).agg(amount.cast(pl.Float64).alias("amount")).sort("value")
    )
    return midpoints.unsigned_zero(found["value"].to_numpy()), found["amount"].to_numpy()
