"""Strings as numbers, in the order of the strings."""

from __future__ import annotations

import numpy as np
import polars as pl

from certree import budget
from certree.ingest import engine

#: So many comparisons are faster than a lookup.
FEW = 16


def numbered(series: pl.Series) -> tuple[pl.Series, np.ndarray]:
    """The distinct strings in order, and the number of each row's: beyond the last one, if it is
    missing."""
    engine.check_threads()
    series = engine.unnamed(series)
    budget.require(bytes_for(series), f"telling {len(series)} strings apart")
    distinct = series.drop_nulls().unique().sort()
    return distinct, numbers(series, distinct)


def bytes_for(series: pl.Series) -> int:
    """What the distinct strings, a table of them, and the number of each row take at once."""
    # As measured: polars sorts, and looks up, on several threads.
    return 4 * int(series.estimated_size()) + 300 * len(series)


def numbers(series: pl.Series, distinct: pl.Series) -> np.ndarray:
    """Where each row's string stands among the distinct ones."""
    engine.check_threads()
    series = engine.unnamed(series)
    if len(distinct) > FEW:
        places = pl.Series(range(len(distinct)), dtype=pl.UInt32)
        found = series.replace_strict(distinct, places, default=None, return_dtype=pl.UInt32)
        return found.fill_null(len(distinct)).to_numpy()
    numbered = np.zeros(len(series), dtype=np.uint32)
    for place, value in enumerate(distinct.to_list()[1:], 1):
        numbered[(series == value).fill_null(False).to_numpy()] = place
    if series.null_count():
        numbered[series.is_null().to_numpy()] = len(distinct)
    return numbered
