"""Targets and weights: one value for each row, in any container."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import arrays, engine, from_pandas


def series(values: Any, role: str) -> pl.Series:
    """A vector as a polars series named after its role; a frame must have one column."""
    if isinstance(values, pl.LazyFrame):
        values = engine.collect(values)
    if isinstance(values, pl.Series):
        return values.alias(role)
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(values, pandas.Series):
        return from_pandas.series(role, values)
    if pandas is not None and isinstance(values, pandas.DataFrame):
        _one_column(role, values.shape[1])
        return from_pandas.series(role, values.iloc[:, 0])
    if isinstance(values, pl.DataFrame) or hasattr(values, "__arrow_c_stream__"):
        found = values if isinstance(values, pl.DataFrame) else _from_arrow(values)
        if isinstance(found, pl.Series):
            return found.alias(role)
        _one_column(role, found.width)
        return found.to_series().alias(role)
    if isinstance(values, (list, tuple)) and not any(
        hasattr(v, "__len__") and not isinstance(v, (str, bytes)) for v in values
    ):
        return arrays.objects(role, arrays.plain(values))
    array = np.asanyarray(values)
    if role != "y" and array.ndim != 1:
        raise ValueError(f"{role} must be one-dimensional, but its shape is {array.shape}")
    if arrays.is_masked(array):
        # Scikit-learn takes the mask off, and knows which shapes are columns.
        _checked(np.ma.getdata(array))
        return arrays.series(role, array.ravel())
    return arrays.series(role, _checked(array))


def _checked(array: np.ndarray) -> np.ndarray:
    """The values in one dimension, with scikit-learn's warning for a column."""
    if type(array) is np.ndarray and array.ndim == 1 and array.dtype.kind in "biuf":
        # It is one already, and to be told so takes longer than a small search.
        return array
    # Loaded here, because a tree that predicts reads no targets.
    from sklearn.utils import column_or_1d

    return column_or_1d(array, warn=True)


def _from_arrow(values: Any) -> pl.DataFrame | pl.Series:
    try:
        return pl.DataFrame(values)
    except Exception:  # an array rather than a table
        return pl.Series(values)


def _one_column(role: str, width: int) -> None:
    if width != 1:
        raise ValueError(f"{role} must be one column, but has {width}")
