"""pandas columns as polars series, without pyarrow and without guessing.

Integer, float and Boolean columns of numpy are shared; nullable ones keep their nulls.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from certree.ingest import arrays


def series(name: str, column: Any) -> pl.Series:
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return arrays.series(name, column.to_numpy())
    family = type(dtype).__name__
    if family == "SparseDtype":
        return series(name, column.sparse.to_dense())
    if family == "CategoricalDtype":
        return _category(name, column)
    if family == "DatetimeTZDtype":
        return _zoned(name, column)
    if family == "ArrowDtype":
        return pl.Series(name, column.array.__arrow_array__())
    if family == "StringDtype":
        return pl.Series(name, _strings(column), dtype=pl.String)
    if family == "BooleanDtype":
        return _masked(name, column, np.dtype(bool))
    kind = getattr(dtype, "numpy_dtype", None)
    if kind is not None and np.dtype(kind).kind in "iuf":
        return _masked(name, column, np.dtype(kind))
    raise ValueError(f"column {name!r} has the unsupported type {dtype}; {arrays.CAST}")


def sparse_matrix(frame: Any) -> Any:
    """The frame as a sparse matrix, if all its columns are sparse, and zero where nothing is."""
    types = frame.dtypes.tolist()
    if not types or any(type(dtype).__name__ != "SparseDtype" for dtype in types):
        return None
    if any(not arrays.is_machine(t.subtype) or t.fill_value not in (0, False) for t in types):
        return None
    return frame.sparse.to_coo() if len({t.subtype for t in types}) == 1 else None


def _strings(column: Any) -> list[str | None]:
    missing = column.isna().to_numpy()
    return [None if gone else value for value, gone in zip(column.tolist(), missing)]


def _masked(name: str, column: Any, dtype: np.dtype) -> pl.Series:
    missing = column.isna().to_numpy()
    values = column.to_numpy(dtype=dtype, na_value=dtype.type(0))
    if not missing.any():
        return pl.Series(name, values)
    dtype = pl.Series(values[:0]).dtype
    known = [None if gone else value for value, gone in zip(values.tolist(), missing)]
    return pl.Series(name, known, dtype=dtype)


def _category(name: str, column: Any) -> pl.Series:
    categories = [str(value) for value in column.cat.categories]
    codes = pl.Series(column.cat.codes.to_numpy()).cast(pl.Int64)
    # Code −1 is a missing value.
    dtype = pl.Enum(categories) if column.cat.ordered else pl.String()
    known = pl.Series(categories, dtype=dtype)
    return known.gather(codes.set(codes < 0, None)).alias(name)


def _zoned(name: str, column: Any) -> pl.Series:
    values = column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
    found = arrays.series("values", values).dt.replace_time_zone("UTC")
    return found.dt.convert_time_zone(str(column.dt.tz)).alias(name)
