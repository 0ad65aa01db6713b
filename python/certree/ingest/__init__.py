"""From the user's frame to typed columns: polars, pandas, Arrow and numpy in, arrays and points
out.

Reading order: ``sources`` (any table) → ``kinds`` (what a dtype is) → ``training`` (features,
target and weights, checked) → ``cuts`` → ``points``, which the core takes; ``in_memory`` does the
last three at once for tables that are not streamed. ``matrices`` reads targets of several numbers
for each row, ``groups`` cuts the rows by sensitive columns, ``strings`` numbers strings, and
``slots`` is what prediction reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from certree.ingest import in_memory, sources, weights
from certree.ingest.categories import VALUES, Categories
from certree.ingest.checks import refuse_missing, refuse_missing_in_arrays, values
from certree.ingest.classes import places_of, read_classes, with_classes
from certree.ingest.cuts import Cuts, make_cuts
from certree.ingest.groups import (
    Grouped,
    Sides,
    blanked,
    named_columns,
    plain_values,
    read_grouped,
    read_numbers,
    read_sides,
    row_numbers,
    without,
)
from certree.ingest.in_memory import InMemory, Located, locate
from certree.ingest.design import design_matrix
from certree.ingest.merged import Merged
from certree.ingest.matrices import Matrix, read_column, read_matrix, read_vector
from certree.ingest.numbers import Targets, read_targets
from certree.ingest.orders import with_orders
from certree.ingest.outcomes import by_role
from certree.ingest.outcomes import names_of as table_names
from certree.ingest.outcomes import take as table_column
from certree.ingest.points import Points, group
from certree.ingest.slots import Slot, slot_arrays
from certree.ingest.sources import whole
from certree.ingest.statistics import InUnits, Statistics, in_units, read_statistics
from certree.ingest.target import classes_of
from certree.ingest.target import columns as target_columns
from certree.ingest.training import (
    Streamed,
    Training,
    assign,
    assign_rows,
    read_features,
    read_streamed,
)

__all__ = [
    "Categories",
    "Cuts",
    "Grouped",
    "InMemory",
    "InUnits",
    "Located",
    "Matrix",
    "Merged",
    "Points",
    "Sides",
    "Slot",
    "Statistics",
    "Streamed",
    "Targets",
    "Training",
    "blanked",
    "by_role",
    "classes_of",
    "cut_and_group",
    "design_matrix",
    "group",
    "in_units",
    "locate",
    "make_cuts",
    "named_columns",
    "places_of",
    "plain_values",
    "read_classes",
    "read_column",
    "read_features",
    "read_grouped",
    "read_labelled",
    "read_matrix",
    "read_numbers",
    "read_rows",
    "read_sides",
    "read_statistics",
    "read_targets",
    "read_training",
    "read_vector",
    "read_weights",
    "refuse_missing",
    "refuse_missing_in_arrays",
    "row_numbers",
    "slot_arrays",
    "table_column",
    "table_names",
    "target_columns",
    "values",
    "whole",
    "with_classes",
    "with_orders",
    "without",
]


def read_training(X: Any, y: Any, sample_weight: Any = None) -> Training:
    """Open features, target and weights. The latter two may be names of columns of X."""
    if isinstance(X, Merged):
        return X
    source = sources.read(X)
    roles = assign(source, y, sample_weight)
    return in_memory.read(roles) if in_memory.fits(source) else read_streamed(roles)


def read_labelled(X: Any, y: Any, sample_weight: Any = None) -> InMemory:
    """All of it, read into memory."""
    source = sources.whole(X)
    return in_memory.read(assign(source, y, sample_weight))


def read_rows(X: Any, sample_weight: Any = None, others: Sequence[str] = ()) -> InMemory:
    """Open features and weights of rows that carry numbers instead of labels; ``others`` are
    columns of X that are no features. All of it is read into memory."""
    source = sources.whole(X)
    return in_memory.read(assign_rows(source, others, sample_weight))


def read_weights(X: Any, sample_weight: Any) -> np.ndarray:
    """Row weights alone, as floats: values, or the name of their column in X."""
    series = read_column(X, sample_weight, "sample_weight")
    return weights.measure_series(series, series.name)[1]


def cut_and_group(
    training: Training, thresholds: Any, categories: Categories = VALUES
) -> tuple[list[Cuts], Points]:
    """Cut the columns, and group the rows by what the cuts tell apart."""
    if isinstance(training, Merged):
        return training.cut_and_group()
    if isinstance(training, in_memory.InMemory):
        return in_memory.cut_and_group(training, thresholds, categories)
    assert isinstance(training, Streamed)
    weight = training.weight_columns[0] if training.weight_columns else ""
    cuts = make_cuts(training.frame, training.columns, thresholds, weight, categories)
    return list(cuts), group(training, cuts)
