"""From the user's frame to typed columns: polars, pandas, Arrow and numpy in, arrays and points out.

Reading order: ``sources`` (any table) → ``kinds`` (what a dtype is) → ``training`` (features, target and
weights, checked) → ``cuts`` → ``points``, which the core takes; and ``slots``, which prediction reads.
"""

from certree.ingest.checks import check_whole
from certree.ingest.cuts import Cuts, make_cuts
from certree.ingest.points import Points, group
from certree.ingest.slots import slot_arrays
from certree.ingest.training import Training, read_features, read_training

__all__ = [
    "Cuts",
    "Points",
    "Training",
    "check_whole",
    "group",
    "make_cuts",
    "read_features",
    "read_training",
    "slot_arrays",
]
