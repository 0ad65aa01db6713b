"""Declared orders: columns of levels, such as grades, which are split between neighbouring ones.

A column of the type Enum has one, and ``orders`` declares one for a column of strings, which is
then read as an Enum. Codes of levels are their places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from certree.ingest import engine, sources
from certree.scalars import shown
from certree.unseen import listed

#: By column: its levels in order.
Orders = Mapping[str, Sequence[str]]


def holds(value: Any) -> bool:
    """Whether a parameter is such a mapping."""
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and _are_levels(levels) for name, levels in value.items()
    )


def _are_levels(levels: Any) -> bool:
    if isinstance(levels, (str, bytes)) or not hasattr(levels, "__len__"):
        return False
    found = list(levels)
    return (
        len(found) > 0
        and all(isinstance(level, str) for level in found)
        and len(set(found)) == len(found)
    )


def with_orders(X: Any, orders: Orders | None) -> Any:
    """The table with the columns of ``orders`` as Enums; itself if there are none."""
    if not orders:
        return X
    source = sources.read(X)
    known = set(source.names)
    if unknown := [name for name in orders if name not in known]:
        raise ValueError(
            f"orders names {listed(unknown)}, which X does not have; its columns are "
            f"{listed(source.names)}"
        )
    if source.height is None:
        lazy = source.lazy()
        schema = engine.schema(lazy)
        made = []
        for name, levels in orders.items():
            check_type(name, schema[name])
            text = engine.column(name).cast(pl.String)
            counts = engine.collect(lazy.select(text.alias("value")).group_by("value").len())
            _check_values(name, levels, counts)
            made.append(text.cast(pl.Enum(list(levels))).alias(name))
        return lazy.with_columns(made)
    return _in_memory(source, orders)


def _in_memory(source: sources.Source, orders: Orders) -> sources.Source:
    """A table whose columns of ``orders`` become Enums when they are taken."""
    for name in orders:
        _enum(source.frame(source.places([name])).to_series(), name, orders[name])

    def take(picks: Sequence[int]) -> pl.DataFrame:
        frame = source.frame(picks)
        columns = zip(frame.columns, frame.get_columns())
        return pl.DataFrame(
            {
                name: _enum(series, name, orders[name]) if name in orders else series
                for name, series in columns
            }
        )

    return sources.Source(source.names, source.named, source.height, take)


def _enum(series: pl.Series, name: str, levels: Sequence[str]) -> pl.Series:
    check_type(name, series.dtype)
    text = engine.unnamed(series).cast(pl.String)
    _check_values(name, levels, text.alias("value").to_frame().group_by("value").len())
    return text.cast(pl.Enum(list(levels))).alias(name)


def check_type(name: str, dtype: pl.DataType) -> None:
    if not isinstance(dtype, (pl.String, pl.Categorical, pl.Enum, pl.Null)):
        raise ValueError(
            f"orders names column {name!r}, but it is {dtype}, and not text: leave it out of "
            "orders, or cast it to strings"
        )


def _check_values(name: str, levels: Sequence[str], counts: pl.DataFrame) -> None:
    """An error unless every value is a level. ``counts``: of each value, how many rows."""
    known = set(levels)
    lacking = {value: n for value, n in counts.iter_rows() if value is not None} if known else {}
    lacking = {value: n for value, n in sorted(lacking.items()) if value not in known}
    if lacking:
        some = ", ".join(f"{shown(value)} in {n:,} rows" for value, n in list(lacking.items())[:5])
        more = f" and {len(lacking) - 5} more values" if len(lacking) > 5 else ""
        raise ValueError(
            f"orders[{name!r}] lacks values of the column: {some}{more}; add them where they "
            "belong, or make them missing"
        )
