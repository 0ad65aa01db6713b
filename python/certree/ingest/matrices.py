"""Targets of several numbers for each row: costs, rewards, predicted outcomes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from certree.answers import label_array
from certree.ingest import arrays, engine, sources, vectors
from certree.ingest.checks import values
from certree.ingest.training import column_named
from certree.unseen import listed


@dataclass(frozen=True)
class Matrix:
    """Rows × labels, finite."""

    values: np.ndarray
    #: The names of the columns as they were given; their numbers, if they had none.
    labels: np.ndarray
    #: Columns of X, if they were named there.
    named: tuple[str, ...] = ()


def read_matrix(X: Any, given: Any, role: str, each: str) -> Matrix:
    """The numbers: an array, a frame, or the names of columns of X. ``each`` says what a column is.
    """
    named: tuple[str, ...] = ()
    if isinstance(given, str):
        raise ValueError(
            f"{role}={given!r} names one column, but there must be one for each {each}, and at "
            "least two"
        )
    if _are_names(given):
        named = tuple(given)
        source = sources.read(X)
        present = set(source.names if source.named else ())
        missing = [name for name in named if name not in present]
        if missing:
            raise ValueError(
                f"{role} names {listed(missing)}, which X does not have as columns"
                if source.named
                else f"{role} names columns, but X is an array without names; pass the values"
            )
        sources.check_unique(named)
        given = source.frame(source.places(named))
    found, labels = _numbers(given, role)
    if found.shape[1] < 2:
        raise ValueError(
            f"{role} must have one column for each {each}, and at least two, but has the shape "
            f"{found.shape}"
        )
    _check_finite(found, labels, role)
    if len(set(labels.tolist())) < len(labels):
        raise ValueError(
            f"the columns of {role} must have different names, but are {labels.tolist()!r}"
        )
    return Matrix(found, labels, named)


def read_vector(X: Any, given: Any, role: str) -> np.ndarray:
    """One finite number for each row: a vector, or the name of a column of X."""
    series = read_column(X, given, role)
    if not (series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.Null)):
        raise ValueError(f"{role} must be numbers, but has the type {series.dtype}; cast it")
    found = series.cast(pl.Float64).to_numpy()
    _check_finite(found[:, None], np.array([role]), role)
    return found


def read_column(X: Any, given: Any, role: str) -> pl.Series:
    """One value for each row: a vector, or the name of a column of X."""
    if given is None:
        raise ValueError(f"requires {role} to be passed, but it is None")
    if not isinstance(given, str):
        return vectors.series(given, role)
    source = sources.read(X)
    name = column_named(role, given, source)
    return source.frame([source.names.index(name)]).to_series().alias(role)


def _are_names(given: Any) -> bool:
    return (
        isinstance(given, Sequence)
        and len(given) > 0
        and all(isinstance(name, str) for name in given)
    )


def _numbers(given: Any, role: str) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(given, pl.LazyFrame):
        given = engine.collect(given)
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(given, pandas.DataFrame):
        labels = label_array(list(given.columns))
        frame = sources.read(given.set_axis(list(map(str, given.columns)), axis=1)).frame(
            range(given.shape[1])
        )
    elif isinstance(given, pl.DataFrame) or (
        hasattr(given, "__arrow_c_stream__") and not isinstance(given, pl.Series)
    ):
        source = sources.read(given)
        frame, labels = source.frame(range(len(source.names))), label_array(source.names)
    else:
        return _array(given, role)
    for column in frame.get_columns():
        if not (column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null)):
            raise ValueError(
                f"{role} must be numbers, but column {column.name!r} has the type {column.dtype}; "
                "cast it"
            )
    # Missing values become NaN, and are counted below.
    floats = [engine.unnamed(column).cast(pl.Float64).to_numpy() for column in frame.get_columns()]
    return np.column_stack(floats) if floats else np.empty((frame.height, 0)), labels


def _array(given: Any, role: str) -> tuple[np.ndarray, np.ndarray]:
    if given is None:
        raise ValueError(f"requires {role} to be passed, but it is None")
    try:
        found = np.asanyarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{role} must be a table of numbers, rows × columns") from None
    if found.ndim != 2:
        raise ValueError(
            f"{role} must be a table of numbers, rows × columns, but has the shape {found.shape}"
        )
    if arrays.is_masked(found):
        found = np.ma.filled(found, np.nan)
    return np.require(found, requirements=("C", "A")), np.arange(found.shape[1])


def _check_finite(found: np.ndarray, labels: np.ndarray, role: str) -> None:
    bad = []
    for column, label in zip(found.T, labels.tolist()):
        for what, where in (("missing (null or NaN)", np.isnan), ("infinite (inf)", np.isinf)):
            if count := int(where(column).sum()):
                bad.append(f"column {label!r} has {values(count)} {what}")
    if bad:
        raise ValueError(
            f"{role} must be finite, but {', '.join(bad[:10])}; fill them or drop those rows"
        )
