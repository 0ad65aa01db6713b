"""Features as a matrix of floats, for models that read nothing else."""

from __future__ import annotations

import numpy as np
import polars as pl

from certree.ingest import engine
from certree.ingest.in_memory import InMemory
from certree.ingest.slots import where_missing
from certree.schema import TIMED


def design_matrix(training: InMemory) -> np.ndarray:
    """Numbers, dates and Booleans as they are; a column of zeros and ones for each value of a
    category, and for each column whether its value is missing, if any is. Missing numbers are
    above all others, because not all models read NaN."""
    source = training.source
    frame = source.frame(source.places(column.name for column in training.columns))
    parts = []
    for column, series in zip(training.columns, map(engine.unnamed, frame.get_columns())):
        missing = where_missing(series)
        if missing is not None:
            parts.append(missing)
        if column.kind == "category":
            text = series.cast(pl.String)
            # Of two values one column says all.
            values = column.values if len(column.values) > 2 else column.values[1:]
            parts += [(text == value).fill_null(False).to_numpy() for value in values]
        else:
            ticks = column.kind in (*TIMED, "ordered")
            physical = series.to_physical() if ticks else series
            parts.append(_above(physical.cast(pl.Float64).to_numpy(), missing))
    if not parts:
        return np.zeros((frame.height, 1))
    return np.column_stack(parts).astype(np.float64)


def _above(numbers: np.ndarray, missing: np.ndarray | None) -> np.ndarray:
    """With a larger number where one is missing, if there are larger ones."""
    if missing is None:
        return numbers
    return np.where(missing, np.max(numbers[~missing], initial=0.0) + 1.0, numbers)
