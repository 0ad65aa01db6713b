"""One look at all feature columns for what no tree can be fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import engine, sources


def check_complete(frame: pl.LazyFrame, names: Sequence[str]) -> int:
    """The number of rows, or one ValueError that names every column with missing or infinite
    values."""
    schema = engine.schema(frame)
    wanted = [pl.len().alias("rows")]
    for index, name in enumerate(names):
        column = engine.column(name)
        missing = column.null_count().cast(pl.Int64)
        if schema[name].is_float():
            missing = missing + column.is_nan().sum().cast(pl.Int64)
            wanted.append(column.is_infinite().sum().alias(f"infinite {index}"))
        wanted.append(missing.alias(f"missing {index}"))
    counts = engine.collect(frame.select(wanted)).row(0, named=True)
    if counts["rows"] == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape=(0, {len(names)})) while a minimum of 1 is "
            "required."
        )
    found = []
    for index, name in enumerate(names):
        if count := counts[f"missing {index}"]:
            found.append(f"{name!r} has {values(count)} missing (null or NaN)")
        if count := counts.get(f"infinite {index}"):
            found.append(f"{name!r} has {values(count)} infinite (inf)")
    if found:
        more = f" and {len(found) - 10} more columns" if len(found) > 10 else ""
        raise ValueError(
            "features must be complete and finite, but column "
            f"{', column '.join(found[:10])}{more}; fill the gaps (for example with polars' "
            "fill_null or scikit-learn's SimpleImputer) or drop them"
        )
    return int(counts["rows"])


def check_whole(X: Any) -> None:
    """For arrays and lists, what scikit-learn promises: no missing or infinite value anywhere, not
    just where the tree looks. Frames are checked where the tree looks."""
    source = sources.read(X)
    if source.named:
        return
    if source.array is not None:
        # A finite sum means that every value is finite; otherwise they are counted.
        with np.errstate(all="ignore"):
            if np.isfinite(source.array().sum()):
                return
    check_complete(source.lazy(), source.names)


def values(count: int) -> str:
    return "1 value" if count == 1 else f"{count:,} values"


def check_same_length(n_rows: int, other: int, name: str) -> None:
    if n_rows != other:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows:,} rows, "
            f"{name} has {other:,}"
        )
