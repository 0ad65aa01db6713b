"""What errors cost by class: the weights of classes, and the cost of each label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.scalars import is_number, shown


def class_factors(class_weight: Any, labels: NDArray[Any]) -> list[float]:
    """The factor of each class."""
    known = labels.tolist()
    if not isinstance(class_weight, Mapping):
        return [1.0] * len(known)
    unknown = [label for label in class_weight if label not in known]
    if unknown:
        raise ValueError(
            f"class_weight names the labels {shown(unknown)}, but the classes in y are "
            f"{shown(known)}"
        )
    for label, weight in class_weight.items():
        if not is_number(weight) or weight < 0:
            raise ValueError(
                f"class_weight[{shown(label)}]={shown(weight)} is not valid: weights are "
                "finite and at least 0"
            )
    return [float(class_weight.get(label, 1.0)) for label in known]


def cost_list(cost_matrix: Any, labels: NDArray[Any]) -> list[float]:
    """Costs by class and label, row after row; 1 for each error by default."""
    n = len(labels)
    if cost_matrix is None:
        return (1.0 - np.eye(n)).ravel().tolist()
    try:
        # A masked cost is missing, whatever lies behind the mask.
        costs = np.ma.filled(np.ma.asarray(cost_matrix, dtype=np.float64), np.nan)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            "cost_matrix must be a square table of numbers, each of which a float holds"
        ) from None
    if costs.shape != (n, n):
        raise ValueError(
            f"cost_matrix has the shape {costs.shape}, but must be ({n}, {n}): one row for each "
            f"true class and one column for each label, in the order {shown(labels.tolist())}"
        )
    if not np.isfinite(costs).all():
        raise ValueError(
            f"cost_matrix has {int((~np.isfinite(costs)).sum())} values that are not finite"
        )
    return costs.ravel().tolist()
