"""One look at all feature columns for what no tree can be fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import engine, sources


def count_missing(frame: pl.LazyFrame, names: Sequence[str]) -> tuple[int, list[int]]:
    """The number of rows, and by column how many of its values are missing (null or NaN); a
    ValueError if there are no rows."""
    schema = engine.schema(frame)
    wanted = [pl.len().alias("rows")]
    for index, name in enumerate(names):
        column = engine.column(name)
        missing = column.null_count().cast(pl.Int64)
        if schema[name].is_float():
            missing = missing + column.is_nan().sum().cast(pl.Int64)
        wanted.append(missing.alias(f"missing {index}"))
    rows, *missing_values = engine.collect(frame.select(wanted)).row(0)
    if rows == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape=(0, {len(names)})) while a minimum of 1 is "
            "required."
        )
    return int(rows), missing_values


def refuse_missing(X: Any, names: Sequence[str]) -> None:
    """One ValueError that names every one of these columns with missing values."""
    _, counts = count_missing(sources.read(X).lazy(), names)
    found = [
        f"{name!r} has {values(count)} missing (null or NaN)"
        for name, count in zip(names, counts)
        if count
    ]
    if found:
        more = f" and {len(found) - 10} more columns" if len(found) > 10 else ""
        raise ValueError(
            "features must be complete where missing='refuse', but column "
            f"{', column '.join(found[:10])}{more}; fill the gaps (for example with polars' "
            "fill_null or scikit-learn's SimpleImputer), drop them, or route them with "
            "missing='route'"
        )


def refuse_missing_in_arrays(X: Any) -> None:
    """As above, for all columns of arrays and lists. Frames are checked where a tree looks."""
    source = sources.read(X)
    if source.named:
        return
    if source.sparse is not None and not source.sparse.has_nan():
        return
    if source.array is not None:
        # A sum that is a number means that every value is one; otherwise they are counted.
        with np.errstate(all="ignore"):
            if not np.isnan(source.array().sum()):
                return
    refuse_missing(source, source.names)


def values(count: int) -> str:
    return "1 value" if count == 1 else f"{count:,} values"


def check_same_length(n_rows: int, other: int, name: str) -> None:
    if n_rows != other:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows:,} rows, "
            f"{name} has {other:,}"
        )


def row_sizes(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What the sizes of the numbers of each row add up to, from the first on, so that it does not
    depend on other rows."""
    sizes = np.zeros(len(numbers))
    with np.errstate(over="ignore"):
        for column in np.abs(numbers).T:
            sizes += column
    return sizes


def check_sum(costs: np.ndarray[Any, Any]) -> None:
    """An error for costs of rows whose sizes add up to no float."""
    with np.errstate(over="ignore"):
        if not np.isfinite(np.abs(costs).sum()):
            raise ValueError("costs, or losses, add up to more than a float holds; scale them down")
