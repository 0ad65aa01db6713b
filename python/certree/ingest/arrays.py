"""numpy arrays and plain lists as polars series, never through a guess at what was meant."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Mapping, Sequence, Set
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl


def two_dimensional(X: Any) -> np.ndarray:
    """The array, or an error that says what a table is."""
    # scipy's sparse types, without importing scipy.
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError("Sparse data is not supported here; use toarray() to convert it to dense")
    if isinstance(X, Mapping):
        raise TypeError("X is a dict; make a frame of it, for example with polars.DataFrame(X)")
    array = X if isinstance(X, np.ndarray) else np.asarray(X)
    if array.dtype.names is not None:
        raise ValueError("structured arrays are not supported; pass a data frame")
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data using "
            "X.reshape(-1, 1) if it is one column, or X.reshape(1, -1) if it is one row."
        )
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported; pass real and imaginary parts as columns")
    return array


def series(name: str, column: np.ndarray) -> pl.Series:
    """One column of an array."""
    if is_masked(column):
        return _masked(name, column)
    column = np.asarray(column)
    kind = column.dtype.kind
    if kind == "O":
        return objects(name, column.tolist())
    if kind in "UT":
        return pl.Series(name, column.tolist(), dtype=pl.String)
    if kind == "S":
        return pl.Series(name, _decoded(name, column.tolist()), dtype=pl.String)
    if kind == "f" and column.dtype.itemsize == 2:
        return pl.Series(name, column.astype(np.float32))
    if kind in "Mm":
        return _moments(name, column)
    if kind not in "biuf" or column.dtype.itemsize > 8:
        raise ValueError(f"column {name!r} has the unsupported type {column.dtype}; {CAST}")
    if not column.dtype.isnative:
        column = column.astype(column.dtype.newbyteorder("="))
    return pl.Series(name, np.ascontiguousarray(column))


def is_masked(array: np.ndarray) -> bool:
    """Whether values of the array are masked: they are missing, whatever number lies behind the
    mask."""
    return isinstance(array, np.ma.MaskedArray) and bool(np.any(np.ma.getmaskarray(array)))


def _masked(name: str, column: Any) -> pl.Series:
    behind = series(name, np.ma.getdata(column))
    known = ~np.ma.getmaskarray(column)
    return pl.Series(name, [v if k else None for v, k in zip(behind, known)], dtype=behind.dtype)


def _decoded(name: str, values: Sequence[bytes | None]) -> list[str | None]:
    try:
        return [value.decode() if isinstance(value, bytes) else value for value in values]
    except UnicodeDecodeError:
        raise ValueError(
            f"column {name!r} holds bytes that are not UTF-8 text; decode them"
        ) from None


def is_machine(dtype: Any) -> bool:
    """Whether an array of this type is read as it is."""
    if not isinstance(dtype, np.dtype) or not dtype.isnative:
        return False
    return dtype.kind in "biu" or (dtype.kind == "f" and dtype.itemsize in (4, 8))


CAST = "cast it to a number, a Boolean, a string, a date or a duration, or drop it"

#: What a decimal of polars holds. Of values with more, it makes nulls without a word.
_DIGITS = 38

_MOMENTS = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)

_UNITS = {"s": 1000, "ms": 1, "us": 1, "ns": 1}


def _moments(name: str, column: np.ndarray) -> pl.Series:
    """Dates, moments or durations."""
    unit, step = np.datetime_data(column.dtype)
    family = "datetime64" if column.dtype.kind == "M" else "timedelta64"
    if unit == "D" and step == 1 and family == "datetime64":
        return pl.Series(name, column.astype("datetime64[D]"))
    if unit not in (*_UNITS, "D") or step != 1:
        raise ValueError(
            f"column {name!r} has the unsupported type {column.dtype}; "
            f"cast it to {family}[D], [s], [ms], [us] or [ns]"
        )
    unit = "ms" if unit in ("s", "D") else unit
    return pl.Series(name, np.ascontiguousarray(column.astype(f"{family}[{unit}]")))


def from_rows(rows: Sequence[Any]) -> list[list[Any]]:
    """Columns of a list of rows."""
    if not rows:
        raise ValueError(
            "Found array with 0 sample(s) (an empty list) while a minimum of 1 is required."
        )
    if any(isinstance(row, (Mapping, Set)) for row in rows):
        raise TypeError(
            "X is a list of dicts or sets, whose values have no order; make a frame of it, for "
            "example with polars.DataFrame(X)"
        )
    if any(isinstance(row, (str, bytes)) or not hasattr(row, "__len__") for row in rows):
        raise ValueError(
            "Expected 2D array, got 1D array instead. Reshape your data: X must be a list of rows, "
            "each a list of values."
        )
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise ValueError(
            f"rows have between {min(widths)} and {max(widths)} values; all must have as many"
        )
    return [plain(column) for column in zip(*rows)]


def plain(values: Sequence[Any]) -> list[Any]:
    """numpy scalars as Python's, and masked ones as missing."""
    return [
        None if value is np.ma.masked else value.item() if isinstance(value, np.generic) else value
        for value in values
    ]


def objects(name: str, values: Sequence[Any]) -> pl.Series:
    """Python objects of one kind; None and NaN are kept, so that they can be counted and named."""
    types = {type(value) for value in values if value is not None}
    # NaT and NA of pandas, which need not be there.
    gone = {t for t in types if t.__name__ in ("NaTType", "NAType")}
    if gone:
        types -= gone
        values = [None if type(value) in gone else value for value in values]
    if types and all(issubclass(t, Decimal) for t in types):
        return _decimals(name, values)
    real = (int, float, np.number, Decimal)
    numbers = {t for t in types if issubclass(t, real) and t is not bool}
    if types and types == numbers:
        if all(issubclass(t, (int, np.integer)) for t in types):
            return pl.Series(name, _integers(name, values))
        try:
            return pl.Series(name, [_float(v) for v in values], dtype=pl.Float64)
        except OverflowError:
            raise ValueError(
                f"column {name!r} has numbers beyond what a float holds; scale it"
            ) from None
    # A missing string is often NaN in an object column.
    values = [None if isinstance(v, float) and v != v else v for v in values]
    types.discard(float)
    if types and all(issubclass(t, bytes) for t in types):
        return pl.Series(name, _decoded(name, values), dtype=pl.String)
    if types <= {bool, np.bool_}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if all(issubclass(t, str) for t in types):
        return pl.Series(name, values, dtype=pl.String)
    found = None
    # Of other objects polars would make structures, or fail in ways of its own.
    if all(issubclass(t, _MOMENTS) for t in types):
        # Older releases of polars do not see by themselves that pandas' are durations, too.
        lengths = all(issubclass(t, dt.timedelta) for t in types)
        dtype = pl.Duration("us") if lengths else None
        with contextlib.suppress(TypeError, OverflowError, pl.exceptions.PolarsError):
            found = pl.Series(name, values, dtype=dtype, strict=True)
    if found is None or not found.dtype.is_temporal():
        names = ", ".join(sorted(t.__name__ for t in types))
        raise TypeError(
            f"column {name!r} holds values of the types {names}, but each "
            f"argument must be a string or a number, and a column only of one kind; {CAST}"
        )
    return found


def _float(value: Any) -> float | None:
    if value is None or isinstance(value, Decimal) and value.is_nan():
        return None
    return float(value)


def _decimals(name: str, values: Sequence[Decimal | None]) -> pl.Series:
    """In polars' own type of decimals, so that they are the numbers that a frame of decimals has;
    as floats, if that type does not hold them."""
    known = [None if value is None or value.is_nan() else value or Decimal(0) for value in values]
    finite = [value for value in known if value is not None and value.is_finite()]
    behind = max((-int(value.as_tuple().exponent) for value in finite), default=0)
    before = max((value.adjusted() + 1 for value in finite), default=0)
    if len(finite) == sum(value is not None for value in known) and (
        max(before, 0) + max(behind, 0) <= _DIGITS
    ):
        return pl.Series(name, known, dtype=pl.Decimal(_DIGITS, max(behind, 0)))
    return pl.Series(name, [None if v is None else float(v) for v in known], dtype=pl.Float64)


def _integers(name: str, values: Sequence[Any]) -> pl.Series:
    known = [int(value) for value in values if value is not None]
    unsigned = max(known) >= 2**63 and min(known) >= 0
    # Checked here, because polars prints what it fails at.
    if max(known) >= 2**63 * (1 + unsigned) or min(known) < -(2**63):
        raise ValueError(
            f"column {name!r} has integers beyond 64 bits; cast it to float or to strings"
        )
    dtype = pl.UInt64 if unsigned else pl.Int64
    return pl.Series(name, [None if v is None else int(v) for v in values], dtype=dtype)
