"""What is said of values that were not there in training, whoever reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from certree.schema import Column, Unseen
from certree.warned import warn


class Strange(NamedTuple):
    """Values of a column that were not there in training."""

    column: Column
    values: list[str]
    n_rows: int


def listed(names: Sequence[str], most: int = 10) -> str:
    """Names for an error message."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more


def report(found: Sequence[Strange], unseen: Unseen) -> None:
    """A warning of strange values, or an error; of none, nothing."""
    if not found:
        return
    told = []
    for column, values, n_rows in found:
        rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
        told.append(f"column {column.name!r} has {listed(values, 5)} in {rows}")
    words = f"values that were not there in training: {'; '.join(told)}"
    if unseen == "refuse":
        raise ValueError(f"{words}; map them to known ones, or fit with unseen='warn'")
    warn(
        f"{words}; no split names them, so that they go where missing values do, or are another "
        "value than the one that is asked for",
    )


def refuse_missing(pairs: Sequence[tuple[Column, np.ndarray | None]]) -> None:
    """An error for columns with missing values (where they are told), if they had none in
    training."""
    found = [
        f"{column.name!r} has {int(missing.sum())} missing values (null or NaN)"
        for column, missing in pairs
        if missing is not None and not column.missing and missing.any()
    ]
    if found:
        raise ValueError(
            "columns that the tree tests must be complete if they were in training, where "
            f"missing values are refused: {', '.join(found)}; fill them first, or fit with "
            "missing_unseen='larger'"
        )


def lacking(names: Sequence[str], n_columns: int) -> ValueError:
    """The error where columns are not there."""
    return ValueError(
        f"X lacks {len(names)} of the {n_columns} columns that the tree was fitted with: "
        f"{listed(names)}"
    )
