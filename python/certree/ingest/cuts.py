"""Where each column may be split, and the code of a value: how many cuts lie below it.

Codes are computed in the column's own type with thresholds rounded down to it, as prediction does,
so that both send every value the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import midpoints
from certree.ingest.kinds import physical
from certree.ingest.slots import listed
from certree.ingest.thresholds import read_list
from certree.schema import Column

#: "all" midpoints, so many quantiles, or these.
Wish = str | int | Sequence[Any]


@dataclass(frozen=True)
class Cuts:
    """A column, and the places it may be split at."""

    column: Column
    #: Ascending; None for Booleans and categories.
    thresholds: list[float] | list[int] | None
    n_codes: int

    @property
    def kind(self) -> Any:
        """As the core reads it."""
        return list(self.column.values) if self.column.kind == "category" else self.thresholds

    @property
    def count(self) -> int:
        """How many different splits the column offers."""
        if self.column.kind == "category":
            return len(self.column.values)
        return 1 if self.thresholds is None else len(self.thresholds)


@dataclass(frozen=True)
class CodedCuts(Cuts):
    """With the code of each row."""

    code: pl.Expr


def make_cuts(
    frame: pl.LazyFrame, columns: Sequence[Column], thresholds: Any, weight: str = ""
) -> list[CodedCuts]:
    """Cuts for every column. ``thresholds`` is "all", a number of quantiles, or one of these or a
    list for some columns by name (the others keep all their midpoints)."""
    wishes = read_wishes(columns, thresholds)
    makers: dict[str, Callable[..., CodedCuts]] = {
        "boolean": _boolean,
        "category": _category,
        "number": _ordered,
        "date": _ordered,
    }
    return [
        makers[column.kind](frame, column, wish, weight) for column, wish in zip(columns, wishes)
    ]


def read_wishes(columns: Sequence[Column], thresholds: Any) -> list[Wish]:
    """What is wished for each column."""
    thresholds = getattr(thresholds, "thresholds_", thresholds)
    if not isinstance(thresholds, Mapping):
        return [thresholds] * len(columns)
    names = [column.name for column in columns]
    unknown = [name for name in thresholds if name not in names]
    if unknown:
        raise ValueError(
            f"thresholds names {listed(unknown)}, which X does not have; its columns are {listed(names)}"
        )
    fixed = [c.name for c in columns if c.kind in ("boolean", "category") and c.name in thresholds]
    if fixed:
        raise ValueError(
            f"thresholds names {listed(fixed)}, but only numbers and dates have thresholds; leave it out"
        )
    return [thresholds.get(name, "all") for name in names]


def _boolean(frame: pl.LazyFrame, column: Column, wish: Wish, weight: str) -> CodedCuts:
    return CodedCuts(column, None, 2, pl.col(column.name).cast(pl.UInt32))


def _category(frame: pl.LazyFrame, column: Column, wish: Wish, weight: str) -> CodedCuts:
    text = pl.col(column.name).cast(pl.String)
    values = frame.select(text).unique().collect(engine="streaming").to_series().sort()
    code = text.replace_strict(
        values, pl.Series(range(len(values)), dtype=pl.UInt32), return_dtype=pl.UInt32
    )
    return CodedCuts(replace(column, values=tuple(values)), None, len(values), code)


def _ordered(frame: pl.LazyFrame, column: Column, wish: Wish, weight: str) -> CodedCuts:
    value = physical(pl.col(column.name), frame.collect_schema()[column.name]).alias("value")
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
    """The thresholds of a column with these distinct values, which ascend. Quantiles ask for the weight
    of each."""
    if isinstance(wish, str):
        return midpoints.between(values, np.arange(len(values) - 1), column)
    if isinstance(wish, (int, np.integer)):
        return midpoints.between(values, midpoints.quantiles(amounts(), int(wish)), column)
    return midpoints.separating(values, read_list(column, wish, values))


def _distribution(
    frame: pl.LazyFrame, value: pl.Expr, weight: str
) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values in order, and the weight of each."""
    amount = pl.col(weight).sum() if weight else pl.len()
    found = (
        frame.group_by(value).agg(amount.cast(pl.Float64).alias("amount")).sort("value")
    ).collect(engine="streaming")
    return midpoints.unsigned_zero(found["value"].to_numpy()), found["amount"].to_numpy()
