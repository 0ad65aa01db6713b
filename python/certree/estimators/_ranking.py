"""Fitting a classifier that ranks rows: the area under the ROC curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core
from certree.estimators._metrics import positive_of
from certree.estimators.parameters import Rule, is_number

LOSSES = {
    "auc": "1 − area under the ROC curve",
    "partial_auc": "1 − mean height of the ROC curve",
}

RULE = Rule(
    lambda value: is_number(value) and 0 < value <= 1, "a number above 0 and at most 1"
)


def check(model: Any) -> None:
    """Other parameters that go with the objective, and those that do not."""
    if model.objective == "partial_auc" and model.max_fpr is None:
        raise ValueError(
            "objective='partial_auc' needs max_fpr, the largest false positive rate that counts"
        )
    if model.objective != "partial_auc" and model.max_fpr is not None:
        raise ValueError(
            f"max_fpr={model.max_fpr!r} is only for objective='partial_auc', not {model.objective!r}"
        )
    if model.objective not in LOSSES:
        return
    for name, none in (("cost_matrix", None), ("class_weight", None), ("constraints", ())):
        value = getattr(model, name)
        if value is not None and not (name == "constraints" and len(value) == 0):
            raise ValueError(
                f"{name} cannot be combined with objective={model.objective!r}, which ranks rows instead of "
                f"labelling them; leave it at {none!r}"
            )


def solve(
    model: Any,
    labels: NDArray[Any],
    data: tuple[Any, Any, NDArray[np.float64]],
    limits: tuple[Any, Any, Any, Any],
) -> _core.Answer:
    known = labels.tolist()
    if len(known) != 2:
        raise ValueError(
            f"objective={model.objective!r} ranks the rows of two classes, but y has "
            f"{len(known)}: {known[:10]!r}"
        )
    columns, points, weights = data
    most = 1.0 if model.max_fpr is None else float(model.max_fpr)
    return _core.solve_roc(columns, points, weights, most, positive_of(model, known) == 0, *limits)
