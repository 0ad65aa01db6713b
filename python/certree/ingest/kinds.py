"""What each polars dtype is to a tree, and values as the machine numbers that are compared."""

from __future__ import annotations

import polars as pl

from certree.ingest.arrays import CAST
from certree.schema import Column, Kind

#: Integers that numpy has.
WIDTHS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
#: By name, since older releases of polars lack some.
_HINTS = {
    "Int128": "cast it to Int64 or Float64",
    "UInt128": "cast it to Int64 or Float64",
    "List": "explode or aggregate it to one value for each row",
    "Array": "explode or aggregate it to one value for each row",
    "Struct": "unnest it",
    "Null": "all its values are missing, so that nothing says what they are: cast it, or drop it",
}


def kind_of(name: str, dtype: pl.DataType) -> Kind:
    """The kind of a column, or a ValueError that says what to do with it."""
    if dtype == pl.Boolean:
        return "boolean"
    if isinstance(dtype, pl.Enum):
        return "ordered"
    if isinstance(dtype, (pl.String, pl.Categorical)):
        return "category"
    if isinstance(dtype, (pl.Date, pl.Datetime)):
        return "date"
    if isinstance(dtype, pl.Duration):
        return "duration"
    if isinstance(dtype, pl.Time):
        return "time"
    if dtype.is_float() or isinstance(dtype, (*WIDTHS, pl.Decimal)):
        return "number"
    hint = _HINTS.get(dtype.base_type().__name__, CAST)
    raise ValueError(f"column {name!r} has the unsupported type {dtype}; {hint}")


def described(name: str, dtype: pl.DataType, missing: bool = False) -> Column:
    """A column as its type describes it: the values of a category are not known yet."""
    levels = tuple(dtype.categories) if isinstance(dtype, pl.Enum) else ()
    return Column(name, kind_of(name, dtype), str(dtype), levels, missing)


def machine(dtype: pl.DataType) -> pl.DataType:
    """The type in which a number, moment or level is compared: its own, where numpy has it.

    Half floats widen without rounding. Decimals are read as the nearest Float64, which keeps their
    order.
    """
    if isinstance(dtype, pl.Enum):
        return pl.UInt32()
    if isinstance(dtype, pl.Date):
        return pl.Int32()
    if isinstance(dtype, (pl.Datetime, pl.Duration, pl.Time)):
        return pl.Int64()
    if isinstance(dtype, pl.Decimal):
        return pl.Float64()
    return pl.Float32() if str(dtype) == "Float16" else dtype


def physical(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """A number, moment or level as its machine type."""
    if dtype.is_temporal():
        return column.to_physical()
    if isinstance(dtype, pl.Enum):
        return column.to_physical().cast(pl.UInt32)
    return column.cast(machine(dtype)) if dtype != machine(dtype) else column


def known(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """The column with null for what is missing: in floats NaN is, too."""
    return column.fill_nan(None) if dtype.is_float() else column


def check_kind(column: Column, dtype: pl.DataType) -> None:
    """A ValueError unless values of this dtype can be read as the fitted column."""
    given = kind_of(column.name, dtype)
    fits = given == column.kind
    if {given, column.kind} == {"boolean", "number"}:
        fits = True  # 0 and 1; other numbers are refused when the values are read
    if {given, column.kind} == {"category", "ordered"}:
        fits = True  # what is no level is a value that was not there in training
    levels = tuple(dtype.categories) if isinstance(dtype, pl.Enum) else column.values
    if column.kind == "ordered" and levels != column.values:
        raise ValueError(
            f"column {column.name!r} is an Enum of other levels than those that the tree was "
            f"fitted with, which are {', '.join(map(repr, column.values[:20]))}; cast it to that "
            "Enum, or to strings"
        )
    if fits and column.kind == "date":
        # Dates and datetimes without a zone compare as instants; with a zone they do not.
        zone = dtype.time_zone if isinstance(dtype, pl.Datetime) else None
        fits = (zone is None) == ("time_zone='" not in column.dtype)
    if not fits:
        raise ValueError(
            f"column {column.name!r} was {column.dtype} when the tree was fitted but is {dtype} "
            "here; cast it"
        )
