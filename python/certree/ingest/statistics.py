"""Statistics of rows that a task of the user's own sums up: whole numbers, or floats put over one
unit."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import arrays, sources
from certree.ingest.checks import values
from certree.ingest.training import column_named
from certree.ingest.weights import Unit

#: The sizes of a statistic add up to less than this many units, over all rows.
MOST_UNITS = 2**60

#: Floats are rounded to units of which the sizes of all rows have less than 2 to this power.
_BITS = 58


@dataclass(frozen=True)
class Statistics:
    """Rows × statistics."""

    #: Whole numbers if all of them came as integers or Booleans, else floats.
    values: np.ndarray
    names: list[str]
    #: Columns of X, if they were named there.
    named: tuple[str, ...] = ()


@dataclass(frozen=True)
class InUnits:
    """As above, in whole units, each row times its weight."""

    units: np.ndarray
    #: By statistic: how many units make one.
    per_one: list[float]
    #: Whether a unit is one, and so every sum is a whole number.
    whole: bool

    def sums(self, group_of: np.ndarray, n_groups: int) -> np.ndarray:
        """Sums by group, in units."""
        found = np.zeros((n_groups, self.units.shape[1]), dtype=np.int64)
        np.add.at(found, group_of, self.units)
        return found

    def restore(self, sums: np.ndarray) -> np.ndarray:
        """Sums as a task is given them: whole numbers if they are, else floats."""
        return sums if self.whole else sums / np.array(self.per_one)


def read_statistics(X: Any, given: Any) -> Statistics:
    """The numbers: an array (rows × statistics), a frame, a vector, or the names of columns of
    X."""
    if given is None:
        raise ValueError("statistics are missing: pass an array of numbers, rows × statistics")
    named: tuple[str, ...] = ()
    if isinstance(given, str):
        given = [given]
    if isinstance(given, (list, tuple)) and given and all(isinstance(n, str) for n in given):
        source = sources.read(X)
        named = tuple(column_named("statistics", name, source) for name in given)
        sources.check_unique(named)
        given = source.frame([source.names.index(name) for name in named])
    names, columns = _columns(given)
    if not columns:
        raise ValueError(
            "statistics have no columns; there must be at least one number for each row"
        )
    _check(names, columns)
    kind = np.int64 if all(column.dtype.kind in "biu" for column in columns) else np.float64
    return Statistics(np.column_stack([column.astype(kind) for column in columns]), names, named)


def _columns(given: Any) -> tuple[list[str], list[np.ndarray]]:
    pandas = sys.modules.get("pandas")
    if isinstance(given, pl.LazyFrame):
        given = given.collect()
    if isinstance(given, pl.Series) or (pandas is not None and isinstance(given, pandas.Series)):
        given = given.to_numpy()
    if pandas is not None and isinstance(given, pandas.DataFrame):
        given = given.set_axis(list(map(str, given.columns)), axis=1)
    if hasattr(given, "columns") or hasattr(given, "__arrow_c_stream__"):
        source = sources.read(given)
        frame = source.frame(range(len(source.names)))
        return frame.columns, [column.to_numpy() for column in frame.get_columns()]
    try:
        found = np.asanyarray(given)
    except ValueError:
        raise ValueError("statistics hold rows of different lengths") from None
    if found.ndim == 1:
        found = found[:, None]
    if found.ndim != 2:
        raise ValueError(
            f"statistics must be an array of rows × statistics, but their shape is {found.shape}"
        )
    names = [f"s{k}" for k in range(found.shape[1])]
    if found.dtype.kind == "O" or arrays.is_masked(found):
        return names, [_plain(name, column) for name, column in zip(names, found.T)]
    return names, list(np.asarray(found).T)


def _plain(name: str, column: np.ndarray) -> np.ndarray:
    """A column of objects, such as decimals, or one with masked values, which become NaN."""
    series = arrays.series(name, column)
    if series.dtype.is_decimal() or series.dtype.is_numeric() and series.null_count():
        series = series.cast(pl.Float64)
    return series.to_numpy()


def _check(names: list[str], columns: list[np.ndarray]) -> None:
    for name, column in zip(names, columns):
        if column.dtype.kind not in "biuf":
            raise ValueError(
                f"statistics must be numbers, but column {name!r} has the type {column.dtype}; "
                "cast it"
            )
        if column.dtype.kind == "f" and (bad := int((~np.isfinite(column)).sum())):
            raise ValueError(
                f"statistics must be finite, but column {name!r} has {values(bad)} that are not"
            )
        if column.dtype.kind == "u" and len(column) and column.max() >= 2**63:
            raise ValueError(f"statistics overflow: column {name!r} has a number of at least 2^63")


def in_units(given: Statistics, weights: np.ndarray | None, unit: Unit | None) -> InUnits:
    """Each row's statistics times its weight (in whole units of ``unit``), as whole numbers.

    Whole statistics with weights that are short decimals stay exact. All others are rounded once
    for each row, to a unit of which the sizes of all rows together have about 2^58: numbers of like
    size lose nothing.
    """
    found = given.values
    with np.errstate(over="ignore"):
        sizes = np.abs(found.astype(np.float64)) * (1.0 if weights is None else weights[:, None])
        most = float(sizes.sum(axis=0).max(initial=0.0))
    exact = unit is None or unit.shift is None
    denominator = 1 if unit is None else unit.denominator
    if found.dtype.kind == "i" and exact:
        if most < MOST_UNITS:
            units = found if weights is None else found * weights[:, None]
            return InUnits(units, [float(denominator)] * found.shape[1], denominator == 1)
        if most / denominator >= MOST_UNITS:
            raise ValueError(
                "statistics overflow: the sizes of one of them add up to more than 2^60 over all "
                "rows; scale them"
            )
    floats = found.astype(np.float64)
    if weights is not None and unit is not None:
        with np.errstate(over="ignore"):
            floats = floats * unit.restore(weights)[:, None]
    with np.errstate(over="ignore"):
        totals = np.abs(floats).sum(axis=0)
    if not np.isfinite(totals).all():
        raise ValueError("statistics overflow: they add up to more than a float holds; scale them")
    shifts = np.minimum(_BITS - np.frexp(totals)[1], 1000)
    units = np.rint(np.ldexp(floats, shifts)).astype(np.int64)
    return InUnits(units, np.ldexp(1.0, shifts).tolist(), False)
