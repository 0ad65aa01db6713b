"""The arguments of ``fit``, divided by rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from certree import ingest
from certree.frontiers import Data
from certree.ingest import engine


@dataclass(frozen=True)
class Rows:
    """The arguments of ``fit``, to be divided by rows."""

    X: Any
    y: Any
    more: Mapping[str, Any]

    @property
    def n(self) -> int:
        return len(self.X) if not hasattr(self.X, "shape") else int(self.X.shape[0])

    def data(self, rows: Any = None) -> Data:
        if rows is None:
            return Data(self.X, self.y, self.more)
        more = {name: self._part(value, rows) for name, value in self.more.items()}
        return Data(take(self.X, rows), self._part(self.y, rows), more)

    def labels(self) -> Any:
        """What stratified folds divide by; None where y is no vector."""
        values = self.y
        if isinstance(values, str):
            values = ingest.table_column(self.X, values)
        if values is None or ingest.table_names(values) is not None:
            return None
        found = values if hasattr(values, "dtype") else np.asarray(values)
        found = found.to_numpy() if hasattr(found, "to_numpy") else np.asarray(found)
        return found if found.ndim == 1 else None

    def _part(self, value: Any, rows: Any) -> Any:
        """The rows of a vector or table; names of columns, and what is not by row, as it is."""
        if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__"):
            return value
        n = value.shape[0] if getattr(value, "shape", ()) else len(value)
        return take(value, rows) if n == self.n else value


def take(values: Any, rows: Any) -> Any:
    if isinstance(values, (pl.DataFrame, pl.Series)):
        return values[rows]
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if isinstance(values, (list, tuple)):
        return [values[row] for row in rows]
    return values[rows]


def in_memory(X: Any) -> Any:
    """A table whose rows can be taken."""
    if isinstance(X, pl.LazyFrame):
        return engine.collect(X)
    if hasattr(X, "column_names"):
        return pl.from_arrow(X)
    return X
