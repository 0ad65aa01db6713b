"""Fitting a classifier that ranks rows: the area under the ROC curve."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from certree import _core, ingest
from certree.estimators._metrics import positive_of
from certree.estimators.parameters import Rule
from certree.scalars import is_number, shown

LOSSES = {
    "auc": "1 − area under the ROC curve",
    "partial_auc": "1 − mean height of the ROC curve",
}

RULE = Rule(lambda value: is_number(value) and 1e-7 <= value <= 1, "a number from 1e-7 to 1")


def check(model: Any) -> None:
    """An error unless ``max_fpr`` is given where it is needed, and only there."""
    if model.objective == "partial_auc" and model.max_fpr is None:
        raise ValueError(
            "objective='partial_auc' needs max_fpr, the largest false positive rate that counts"
        )
    if model.objective != "partial_auc" and model.max_fpr is not None:
        raise ValueError(
            f"max_fpr={shown(model.max_fpr)} is only for objective='partial_auc', not "
            f"{model.objective!r}"
        )


def goal(model: Any, labels: NDArray[Any], points: ingest.Points) -> _core.RankingArea:
    """The area that the model's objective is, of these points."""
    known = labels.tolist()
    if len(known) != 2:
        raise ValueError(
            f"objective={model.objective!r} ranks the rows of two classes, but y has "
            f"{len(known)}: {shown(known[:10])}"
        )
    most = 1.0 if model.max_fpr is None else float(model.max_fpr)
    positive = positive_of(model, known)
    return _core.RankingArea(points.weights.ravel(), positive, most, float(model.leaf_penalty))
