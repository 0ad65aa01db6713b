"""One table that holds several arguments of ``fit``, a column for each: scikit-learn's tools pass
nothing but X and y to a score, so whatever a score needs must fit into y."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import engine


def names_of(table: Any) -> list[str] | None:
    """The names of a frame's columns or of a structured array's fields; None of anything else."""
    if isinstance(table, np.ndarray):
        return None if table.dtype.names is None else list(table.dtype.names)
    if isinstance(table, (str, list, tuple, pl.Series)):
        return None
    names = getattr(table, "columns", None)
    if hasattr(table, "column_names"):
        # An Arrow table, whose ``columns`` are the values.
        names = table.column_names
    return None if names is None else [str(name) for name in names]


def take(table: Any, name: str) -> Any:
    """One column of such a table."""
    if isinstance(table, pl.LazyFrame):
        table = engine.collect(table)
    return table.get_column(name) if isinstance(table, pl.DataFrame) else table[name]


def by_role(table: Any, roles: Sequence[str], needed: Sequence[str]) -> dict[str, Any] | None:
    """The columns of a table that are named after roles; None unless it has those that are
    needed. A column of another name is an error."""
    names = names_of(table)
    if names is None or not set(needed) <= set(names):
        return None
    if strange := [name for name in names if name not in roles]:
        raise ValueError(
            f"the table given as {needed[0]} has the columns {strange!r}, but may have "
            f"{', '.join(map(repr, roles))} only"
        )
    return {name: take(table, name) for name in names}
