"""Targets that are numbers, one or several for each row."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import arrays, engine, sources, vectors
from certree.ingest.checks import values
from certree.ingest.training import columns_named


@dataclass(frozen=True)
class Targets:
    """Rows × targets, finite."""

    values: np.ndarray
    names: list[str]
    #: Columns of X, if they were named there.
    named: tuple[str, ...] = ()


def read_targets(X: Any, y: Any) -> Targets:
    """The numbers: a vector, a table, the name of a column of X, or a list of such names."""
    if y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None: pass the numbers, "
            "or the names of their columns in X"
        )
    named = _names(y)
    if named:
        source = sources.read(X)
        columns_named("y", named, source)
        sources.check_unique(named)
        columns = source.frame(source.places(named)).get_columns()
    else:
        columns = _columns(y)
    if not columns:
        raise ValueError("y has no columns; it must have at least one")
    found = [_floats(column) for column in columns]
    _check_finite(columns, found)
    return Targets(np.column_stack(found), [column.name for column in columns], named)


def _names(y: Any) -> tuple[str, ...]:
    if isinstance(y, str):
        return (y,)
    if isinstance(y, (list, tuple)) and y and all(isinstance(name, str) for name in y):
        return tuple(y)
    return ()


def _columns(y: Any) -> list[pl.Series]:
    """The columns of a vector or table, by name; those without one are y, or y0, y1 and so on."""
    if isinstance(y, pl.LazyFrame):
        y = engine.collect(y)
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(y, pandas.DataFrame):
        y = y.set_axis(list(map(str, y.columns)), axis=1)
        source = sources.read(y)
        return source.frame(range(len(source.names))).get_columns()
    if isinstance(y, pl.DataFrame) or hasattr(y, "column_names"):
        source = sources.read(y)
        return source.frame(range(len(source.names))).get_columns()
    if isinstance(y, pl.Series) or (pandas is not None and isinstance(y, pandas.Series)):
        named = isinstance(y.name, str) and y.name
        return [_real(vectors.series, y, "y").alias(str(y.name) if named else "y")]
    rows = isinstance(y, (list, tuple)) and any(hasattr(row, "__len__") for row in y)
    if rows or not (isinstance(y, (list, tuple)) or hasattr(y, "__arrow_c_stream__")):
        try:
            y = np.asanyarray(y)
        except ValueError:
            raise ValueError(
                "y holds rows of different lengths; each must have as many numbers"
            ) from None
        if y.ndim not in (1, 2):
            raise ValueError(f"y must have one or two dimensions, but its shape is {y.shape}")
        if y.ndim == 2:
            names = ["y"] if y.shape[1] == 1 else [f"y{k}" for k in range(y.shape[1])]
            return [_real(arrays.series, name, y[:, k]) for k, name in enumerate(names)]
    return [_real(vectors.series, y, "y")]


def _real(read: Any, *given: Any) -> pl.Series:
    if any(isinstance(part, np.ndarray) and part.dtype.kind == "c" for part in given):
        raise ValueError("Complex data not supported: y must hold real numbers")
    try:
        return read(*given)
    except TypeError as error:
        raise ValueError(f"y must be numbers: {error}") from None


def _floats(column: pl.Series) -> np.ndarray:
    """The numbers as floats; missing ones as NaN."""
    dtype = column.dtype
    if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
        raise ValueError(
            f"target {column.name!r} has the type {dtype}, but a regression tree needs numbers: "
            "cast it, or use OptimalTreeClassifier to predict labels"
        )
    return engine.unnamed(column).cast(pl.Float64).to_numpy()


def _check_finite(columns: list[pl.Series], found: list[np.ndarray]) -> None:
    bad = []
    for column, numbers in zip(columns, found):
        for what, where in (("missing (null or NaN)", np.isnan), ("infinite (inf)", np.isinf)):
            if count := int(where(numbers).sum()):
                bad.append(f"target {column.name!r} has {values(count)} {what}")
    if bad:
        raise ValueError(
            f"targets must be finite, but {', '.join(bad[:10])}; fill them or drop those rows"
        )
