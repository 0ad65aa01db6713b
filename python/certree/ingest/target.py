"""The target of a classifier: labels, and the class number of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from certree.answers import label_array
from certree import _core
from certree.ingest import arrays, engine, sources, strings, vectors
from certree.ingest.checks import values
from certree.ingest.kinds import WIDTHS

MOST_CLASSES = 10_000


def read(y: Any) -> pl.Series:
    """The target as a series."""
    if y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None: pass the labels, or "
            "the name of their column in X"
        )
    try:
        return vectors.series(y, "y")
    except TypeError as error:
        raise ValueError(f"Unknown label type: {error}") from None
    except ValueError as error:
        if "inhomogeneous" in str(error):  # numpy's word for a list of lists of several lengths
            raise ValueError("Unknown label type: y holds lists; it must hold labels") from None
        raise


def columns(X: Any, y: Any) -> tuple[dict[str, pl.Series], tuple[str, ...]]:
    """Several targets by name, and which columns of X they are, if they were named there; one
    target, or none, is left to ``read``."""
    if isinstance(y, pl.LazyFrame):
        y = y.collect()
    if isinstance(y, (list, tuple)) and len(y) > 1 and all(isinstance(name, str) for name in y):
        # Labels of as many rows, unless all of them are columns of X.
        source = sources.read(X)
        if not source.named or set(y) - set(source.names) or len(set(y)) < len(y):
            return {}, ()
        frame = source.frame([source.names.index(name) for name in y])
        return dict(zip(y, frame.get_columns())), tuple(y)
    if isinstance(y, (pl.Series, str)) or y is None:
        return {}, ()
    if hasattr(y, "columns") or hasattr(y, "column_names"):
        if hasattr(y, "set_axis"):
            y = y.set_axis(list(map(str, y.columns)), axis=1)
        source = sources.read(y)
        frame = source.frame(range(len(source.names)))
        return (dict(zip(source.names, frame.get_columns())), ()) if frame.width > 1 else ({}, ())
    rows = isinstance(y, (list, tuple)) and bool(y) and isinstance(y[0], (list, tuple, np.ndarray))
    if not (rows or isinstance(y, np.ndarray)):
        return {}, ()
    try:
        array = np.asanyarray(y)
    except ValueError:
        return {}, ()
    if array.ndim != 2 or array.shape[1] < 2:
        return {}, ()
    return {f"y{k}": arrays.series(f"y{k}", array[:, k]) for k in range(array.shape[1])}, ()


def labels_of(frame: pl.LazyFrame, name: str, y: Any) -> np.ndarray:
    """The distinct labels in order, in the target's own type."""
    column = engine.column(name)
    dtype = engine.schema(frame)[name]
    _check_type(name, dtype)
    if isinstance(dtype, (pl.Categorical, pl.Enum)):
        column = column.cast(pl.String)
    counts = engine.collect(frame.select(column.alias("y")).group_by("y").agg(pl.len()))
    _check_values(name, counts)
    return _labels(counts["y"].sort(), y)


def classes_of(series: pl.Series, name: str, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels of a target in memory, and the class number of each row."""
    series = engine.unnamed(series)
    _check_type(name, series.dtype)
    if (ranked := _ranked(series)) is not None:
        return _labels(ranked[0], y), ranked[1]
    engine.check_threads()
    if isinstance(series.dtype, (pl.Categorical, pl.Enum)):
        series = series.cast(pl.String)
    counts = series.alias("y").value_counts(name="len")
    _check_values(name, counts)
    distinct = counts["y"].sort()
    if series.dtype == pl.String:
        found = strings.numbers(series, distinct)
    else:
        found = np.searchsorted(distinct.to_numpy(), series.to_numpy()).astype(np.uint32)
    return _labels(distinct, y), found


def _ranked(series: pl.Series) -> tuple[pl.Series, np.ndarray] | None:
    """The ranks of whole numbers without anything to complain of, because polars takes longer for
    them than a small problem takes to be solved."""
    if not isinstance(series.dtype, WIDTHS) or series.null_count() or series.is_empty():
        return None
    table = _core.Table([np.ascontiguousarray(series.to_numpy())])
    distinct = pl.Series("y", table.values(0))
    return (distinct, table.ranks(0)) if len(distinct) <= MOST_CLASSES else None


def _labels(distinct: pl.Series, y: Any) -> np.ndarray:
    if distinct.dtype == pl.String and _holds_bytes(y):
        return label_array([text.encode() for text in distinct])
    given = getattr(y, "dtype", None) if isinstance(y, np.ndarray) else None
    if given is not None:
        return np.array(distinct.to_list(), dtype=given)
    if isinstance(y, (list, tuple)):
        return label_array(distinct.to_list())
    return distinct.to_numpy()


def _holds_bytes(y: Any) -> bool:
    """Whether labels were read from bytes: UTF-8 has their order."""
    kind = getattr(getattr(y, "dtype", None), "kind", "")
    if kind == "S":
        return True
    if kind == "O" or isinstance(y, (list, tuple)):
        values = np.ravel(y) if isinstance(y, np.ndarray) else y
        return isinstance(next((value for value in values if value is not None), None), bytes)
    return False


def codes(name: str, dtype: pl.DataType, labels: np.ndarray) -> pl.Expr:
    """The class number of each row."""
    column = engine.column(name)
    known: list[Any] = labels.tolist()
    if isinstance(dtype, (pl.Categorical, pl.Enum)):
        column = column.cast(pl.String)
    elif len(known) <= 8:
        # Comparisons with a few labels are much faster than a lookup.
        above = [(column >= label).cast(pl.UInt32) for label in known[1:]]
        return pl.sum_horizontal(pl.lit(0, dtype=pl.UInt32), *above)
    numbers = pl.Series(range(len(known)), dtype=pl.UInt32)
    old = pl.Series(known, dtype=dtype if dtype.is_numeric() else None)
    return column.replace_strict(old, numbers, return_dtype=pl.UInt32)


def _check_type(name: str, dtype: pl.DataType) -> None:
    fine = dtype.is_integer() or dtype.is_float() or dtype in (pl.Boolean, pl.String)
    if not (fine or isinstance(dtype, (pl.Categorical, pl.Enum)) or dtype == pl.Null):
        raise ValueError(
            f"Unknown label type: {name!r} has the type {dtype}; labels must be strings, integers, "
            "Booleans or categories: cast them"
        )


def _check_values(name: str, counts: pl.DataFrame) -> None:
    label = counts["y"]
    floats = label.dtype.is_float()

    def rows(where: pl.Series) -> int:
        return int(counts["len"].filter(where).sum())

    if floats and (infinite := rows(label.is_infinite())):
        raise ValueError(f"target {name!r} has {values(infinite)} infinite (inf); drop those rows")
    missing = rows(label.is_null()) + (rows(label.is_nan()) if floats else 0)
    if missing:
        raise ValueError(
            f"target {name!r} has {values(missing)} missing (null or NaN); drop those rows"
        )
    if floats and (label != label.floor()).any():
        fraction = label.filter(label != label.floor())[0]
        raise ValueError(
            f"Unknown label type: continuous. The target {name!r} has values with a fraction, such "
            f"as {fraction}; a classifier needs classes: bin or cast it"
        )
    if len(label) > MOST_CLASSES:
        raise ValueError(
            f"Unknown label type: the target {name!r} has {len(label):,} distinct values, too many "
            f"to be classes (at most {MOST_CLASSES:,})"
        )
