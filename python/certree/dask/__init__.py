"""Past one machine, with Dask: rows in partitions on workers.

Loaded when it is asked for, because Dask is an optional extra: ``pip install certree[dask]``.
"""

try:
    import dask.base
    import distributed
except ImportError as error:
    raise ImportError("certree.dask needs Dask: pip install certree[dask]") from error

from certree.dask.estimators import (
    DaskOptimalCostTree,
    DaskOptimalPolicyTree,
    DaskOptimalTreeClassifier,
    DaskOptimalTreeRegressor,
)
from certree.dask.tasks import WorkerError

__all__ = [
    "DaskOptimalCostTree",
    "DaskOptimalPolicyTree",
    "DaskOptimalTreeClassifier",
    "DaskOptimalTreeRegressor",
    "WorkerError",
]
