"""Any table the user may hand in, as named polars columns that are read when they are asked for."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import arrays, engine
from certree.ingest.sparse import Sparse, is_sparse


@dataclass(frozen=True)
class Source:
    """A table whose columns are converted only when taken."""

    names: list[str]
    #: Whether the table came with names, or got x0, x1, ...
    named: bool
    #: None for a LazyFrame.
    height: int | None
    #: Columns by index, under their names.
    take: Callable[[Sequence[int]], pl.DataFrame | pl.LazyFrame]
    #: All columns side by side, if they are numbers or Booleans of one type.
    array: Callable[[], np.ndarray] | None = None
    #: The table, if it is sparse.
    sparse: Sparse | None = None

    def frame(self, picks: Sequence[int]) -> pl.DataFrame:
        """Columns by index, read into memory."""
        found = self.take(picks)
        return engine.collect(found) if isinstance(found, pl.LazyFrame) else found

    def places(self, names: Iterable[str]) -> list[int]:
        """Where columns of these names are."""
        where = {name: place for place, name in enumerate(self.names)}
        return [where[name] for name in names]

    def lazy(self) -> pl.LazyFrame:
        return self.take(range(len(self.names))).lazy()


def read(X: Any) -> Source:
    """Open a table. Nothing is copied yet, except for lists and object arrays."""
    if isinstance(X, Source):
        return X
    if isinstance(X, pl.LazyFrame):
        return _polars(X, None)
    if isinstance(X, pl.DataFrame):
        return _polars(X, X.height)
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return _pandas(X)
    if hasattr(X, "__arrow_c_stream__") and not isinstance(X, pl.Series):
        return _arrow(X)
    if isinstance(X, (list, tuple)):
        return _columns(arrays.from_rows(X))
    if is_sparse(X):
        sparse = Sparse(X)
        return _sparse(numbered(sparse.shape[1]), False, sparse)
    return _numpy(arrays.two_dimensional(X))


def whole(X: Any) -> Source:
    """As above; a LazyFrame is read into memory."""
    source = read(X)
    return source if source.height is not None else read(source.frame(range(len(source.names))))


def height(source: Source) -> int:
    """The number of rows; a LazyFrame is asked for no more than that."""
    if source.height is not None:
        return source.height
    return int(engine.collect(source.lazy().select(pl.len())).item())


def check_unique(names: Iterable[str]) -> None:
    twice = [f"{name!r} ({count} times)" for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(
            f"column names must be unique, but these repeat: {', '.join(twice)}; rename them"
        )


def _polars(frame: pl.DataFrame | pl.LazyFrame, height: int | None) -> Source:
    names = list(engine.schema(frame)) if isinstance(frame, pl.LazyFrame) else frame.columns

    def take(picks: Sequence[int]) -> pl.DataFrame | pl.LazyFrame:
        everything = len(picks) == len(names) and list(picks) == list(range(len(names)))
        if everything:
            return frame
        if isinstance(frame, pl.LazyFrame):
            return frame.select(engine.columns(names[i] for i in picks))
        # Without polars' engine, whose first use takes longer than many a search.
        return _named((names[i], frame.to_series(i)) for i in picks)

    return Source(names, True, height, take)


def _named(columns: Iterable[tuple[str, pl.Series]]) -> pl.DataFrame:
    """A frame of columns: a list of series would lose an empty name."""
    return pl.DataFrame(dict(columns))


def _arrow(table: Any) -> Source:
    names = getattr(table, "column_names", None)
    if names is not None:
        check_unique(names)
    try:
        frame = pl.DataFrame(table)
    except pl.exceptions.DuplicateError as error:
        raise ValueError(f"column names must be unique; rename them ({error})") from None
    if names is not None:
        # Polars renames a column whose name is empty.
        frame.columns = list(names)
    return _polars(frame, frame.height)


def _pandas(frame: Any) -> Source:
    from certree.ingest import from_pandas

    labels = list(frame.columns)
    strings = [isinstance(label, str) for label in labels]
    if any(strings) and not all(strings):
        odd = [label for label, is_string in zip(labels, strings) if not is_string]
        raise ValueError(
            f"column names must be strings, but {odd[:5]!r} are not; "
            "rename them with X.columns = X.columns.astype(str)"
        )
    named = all(strings) and bool(labels)
    names = labels if named else numbered(len(labels))
    check_unique(names)
    if (matrix := from_pandas.sparse_matrix(frame)) is not None:
        return _sparse(names, named, Sparse(matrix))

    def take(picks: Sequence[int]) -> pl.DataFrame:
        return _named((names[i], from_pandas.series(names[i], frame.iloc[:, i])) for i in picks)

    types = set(frame.dtypes)
    of_one_type = len(types) == 1 and arrays.is_machine(types.pop())
    # Pandas copies, if it holds the columns in several pieces.
    return Source(names, named, len(frame), take, frame.to_numpy if of_one_type else None)


def _numpy(array: np.ndarray) -> Source:
    names = numbered(array.shape[1])

    def take(picks: Sequence[int]) -> pl.DataFrame:
        return pl.DataFrame([arrays.series(names[i], array[:, i]) for i in picks])

    # A masked value is a missing one, which only a series can hold.
    as_it_is = arrays.is_machine(array.dtype) and not arrays.is_masked(array)
    return Source(names, False, len(array), take, (lambda: array) if as_it_is else None)


def _sparse(names: list[str], named: bool, sparse: Sparse) -> Source:
    def take(picks: Sequence[int]) -> pl.DataFrame:
        return sparse.frame(names, picks)

    return Source(names, named, sparse.shape[0], take, sparse=sparse)


def _columns(columns: list[list[Any]]) -> Source:
    names = numbered(len(columns))
    height = len(columns[0]) if columns else 0

    def take(picks: Sequence[int]) -> pl.DataFrame:
        return pl.DataFrame([arrays.objects(names[i], columns[i]) for i in picks])

    return Source(names, False, height, take)


def numbered(n: int) -> list[str]:
    """The names of columns that have none."""
    return [f"x{index}" for index in range(n)]
