"""scipy's sparse matrices, of which the core ranks what is there: a column of two values takes
a bit for each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from certree import budget
from certree.ingest import arrays


def is_sparse(X: Any) -> bool:
    """Whether this is one of scipy's sparse types; scipy is not imported for it."""
    return hasattr(X, "tocsc") and hasattr(X, "nnz")


class Sparse:
    """A sparse table, column after column, the rows of each ascending."""

    def __init__(self, X: Any) -> None:
        if len(X.shape) != 2:
            raise ValueError(f"Expected 2D array, got {len(X.shape)}D array instead")
        if X.dtype.kind == "c":
            arrays.two_dimensional(np.zeros((1, 1), dtype=X.dtype))
        if not arrays.is_machine(X.dtype):
            # The error of such a column.
            arrays.series("x0", np.zeros(0, dtype=X.dtype))
            raise ValueError(f"sparse values have the unsupported type {X.dtype}; {arrays.CAST}")
        columns = X.tocsc()
        if not columns.has_canonical_format:
            columns = columns.copy()
            columns.sum_duplicates()
        self.columns = columns

    @property
    def dtype(self) -> np.dtype:
        return self.columns.dtype

    @property
    def shape(self) -> tuple[int, int]:
        return self.columns.shape

    def take(self, picks: Sequence[int]) -> Sparse:
        return self if len(picks) == self.shape[1] else Sparse(self.columns[:, list(picks)])

    def filter(self, kept: np.ndarray) -> Sparse:
        return Sparse(self.columns[kept])

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """What the core ranks: values, their rows, where each column starts, and the number of
        rows."""
        columns = self.columns
        return (
            np.require(columns.data, requirements=("C", "A")),
            columns.indices.astype(np.uint32),
            columns.indptr.astype(np.uint64),
            self.shape[0],
        )

    def has_nan(self) -> bool:
        with np.errstate(all="ignore"):
            return self.dtype.kind == "f" and bool(np.isnan(self.columns.data.sum()))

    def series(self, name: str, index: int) -> pl.Series:
        """A column with its zeros."""
        start, end = self.columns.indptr[index : index + 2]
        column = np.zeros(self.shape[0], dtype=self.dtype)
        column[self.columns.indices[start:end]] = self.columns.data[start:end]
        return arrays.series(name, column)

    def frame(self, names: Sequence[str], picks: Sequence[int]) -> pl.DataFrame:
        """Columns with their zeros, where there is memory for them."""
        n_bytes = self.shape[0] * len(picks) * self.dtype.itemsize
        budget.require(n_bytes, f"a dense copy of {len(picks)} sparse columns")
        return pl.DataFrame({names[i]: self.series(names[i], i) for i in picks})
