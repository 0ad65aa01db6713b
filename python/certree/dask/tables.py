"""What a table of many partitions is: a Dask collection, or Parquet files."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from certree.dask import tasks
from certree.partitions.reading import Lot


@dataclass(frozen=True)
class Files:
    """A partition that is a Parquet file, which the worker scans."""

    path: str

    def scan(self) -> pl.LazyFrame:
        return pl.scan_parquet(self.path, glob=False)


@dataclass(frozen=True)
class Table:
    """By partition: a table, targets and weights, each as a file, a future, or the name of columns
    of the table."""

    names: list[str]
    X: list[Any]
    y: list[Any]
    sample_weight: list[Any]


def lot(where: str, X: Any, y: Any, sample_weight: Any) -> Lot:
    """A partition on the worker that reads it."""
    return Lot(where, scan(X), y, sample_weight)


def scan(X: Any) -> Any:
    """The table of a partition; a file is read when its columns are asked for."""
    return X.scan() if isinstance(X, Files) else X


def open_table(client: Any, X: Any, y: Any, sample_weight: Any, role_of_y: str = "y") -> Table:
    """The partitions of a table. Those of Dask collections are computed and kept on the workers, as
    Dask's own estimators do. ``role_of_y``: what errors call y."""
    paths = paths_of(X)
    if paths is not None:
        for role, value in ((role_of_y, y), ("sample_weight", sample_weight)):
            if not (_are_names(value) or role == "sample_weight" and value is None):
                raise ValueError(
                    f"{role} must name columns where X is a list of files, but is a "
                    f"{type(value).__name__}"
                )
        n = len(paths)
        return Table(paths, [Files(path) for path in paths], [y] * n, [sample_weight] * n)
    if not is_collection(X):
        raise TypeError(
            f"X must be a Dask DataFrame or Array, or Parquet files as a path with wildcards or a "
            f"list of paths, but is a {type(X).__name__}; for tables in memory use certree's other "
            "estimators"
        )
    parts = partitions_of(client, X, "X")
    names = [f"partition {place}" for place in range(len(parts))]
    beside = [
        _beside(client, value, role, len(parts))
        for role, value in ((role_of_y, y), ("sample_weight", sample_weight))
    ]
    return Table(names, parts, *beside)


def _beside(client: Any, value: Any, role: str, n: int) -> list[Any]:
    if value is None or _are_names(value):
        return [value] * n
    if not is_collection(value):
        raise TypeError(
            f"{role} must be a Dask collection like X, or name columns of X, but is a "
            f"{type(value).__name__}"
        )
    parts = partitions_of(client, value, role)
    if len(parts) != n:
        raise ValueError(
            f"X has {n} partitions but {role} has {len(parts)}: repartition one of them like the "
            "other"
        )
    return parts


def _are_names(value: Any) -> bool:
    several = isinstance(value, (list, tuple)) and len(value) > 0
    return isinstance(value, str) or several and all(isinstance(name, str) for name in value)


def paths_of(X: Any) -> list[str] | None:
    """The files that X names; None if it names none."""
    if isinstance(X, (list, tuple)) and X and all(isinstance(p, (str, os.PathLike)) for p in X):
        return [os.fspath(path) for path in X]
    if not isinstance(X, (str, os.PathLike)):
        return None
    path = os.fspath(X)
    found = sorted(glob.glob(path, recursive=True))
    if not found:
        raise ValueError(f"there is no file {path!r}: X must name Parquet files that are there")
    return found


def is_collection(value: Any) -> bool:
    from dask.base import is_dask_collection

    return bool(is_dask_collection(value)) and hasattr(value, "to_delayed")


def delayed_parts(value: Any) -> list[Any]:
    """Each partition of a collection by rows, to be computed."""
    if _is_array(value):
        if value.ndim > 1 and len(value.chunks[1]) > 1:
            value = value.rechunk({1: -1})
        found: list[Any] = value.to_delayed().ravel().tolist()
        return found
    return list(value.to_delayed())


def lengths_of(value: Any) -> list[float]:
    """How many rows each partition has; NaN where nobody knows."""
    if _is_array(value):
        return list(value.chunks[0])
    return [float("nan")] * value.npartitions


def _is_array(value: Any) -> bool:
    return hasattr(value, "chunks") and not hasattr(value, "columns")


def partitions_of(client: Any, value: Any, role: str) -> list[Any]:
    """A future for each partition."""
    delayed = delayed_parts(value)
    if not delayed:
        raise ValueError(f"{role} has no partitions")
    found: list[Any] = client.compute(delayed)
    return found
