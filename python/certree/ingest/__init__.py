"""From the user's frame to typed columns: polars, pandas, Arrow and numpy in, arrays and points out.

Reading order: ``sources`` (any table) → ``kinds`` (what a dtype is) → ``training`` (features, target and
weights, checked) → ``cuts`` → ``points``, which the core takes; ``in_memory`` does the last three at once
for tables that are not streamed. ``slots`` is what prediction reads.
"""

from __future__ import annotations

from typing import Any

from certree.ingest import in_memory, sources
from certree.ingest.checks import check_whole
from certree.ingest.cuts import Cuts, make_cuts
from certree.ingest.points import Points, group
from certree.ingest.slots import slot_arrays
from certree.ingest.training import Streamed, Training, assign, read_features, read_streamed

__all__ = [
    "Cuts",
    "Points",
    "Streamed",
    "Training",
    "check_whole",
    "count",
    "group",
    "make_cuts",
    "read_features",
    "read_training",
    "slot_arrays",
]


def read_training(X: Any, y: Any, sample_weight: Any = None) -> Training:
    """Open features, target and weights. The latter two may be names of columns of X."""
    source = sources.read(X)
    roles = assign(source, y, sample_weight)
    return in_memory.read(roles) if in_memory.fits(source) else read_streamed(roles)


def count(training: Training, thresholds: Any) -> tuple[list[Cuts], Points]:
    """Cut the columns, and group the rows by what the cuts tell apart."""
    if isinstance(training, in_memory.InMemory):
        return in_memory.count(training, thresholds)
    assert isinstance(training, Streamed)
    cuts = make_cuts(training.frame, training.columns, thresholds, training.weight_column)
    return list(cuts), group(training, cuts)
