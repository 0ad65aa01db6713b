"""F-beta and Jaccard as costs of errors, so that a proof of those is one of the metric.

Let x be what the missed positives weigh, z the false alarms, and P all positives. Then 1 - F-beta
is N / D with N = β²x + z and D = (1 + β²)P - x + z, and 1 - Jaccard is (x + z) / (P + z). A tree
whose ratio is r = N / D has N - rD = 0. So no tree has a smaller ratio if each has N - rD >= 0; and
this is a sum of costs of errors, less a constant.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sklearn.base import clone

from certree.estimators import _metrics

#: Objectives that are ratios of two sums.
NAMES = ("f1", "fbeta", "jaccard")


def at_the_tree(model: Any) -> tuple[Any, dict[str, Any]]:
    """An estimator of the errors' costs at the ratio of a fitted model's tree, and what to say of
    them."""
    if model.leaf_penalty or model.class_weight or model.constraints or model.status_ != "optimal":
        raise ValueError(
            f"proofs with objective={model.objective!r} are for searches that came to their end, "
            "without leaf_penalty, class_weight and constraints"
        )
    labels = model.classes_.tolist()
    positive = _metrics.positive_of(model, labels)
    missed, alarms, positives = _counted(model.tree_, labels, positive)
    beta = Fraction(str(model.beta)) if model.objective == "fbeta" else Fraction(1)
    square = beta**2
    if model.objective == "jaccard":
        ratio = (missed + alarms) / (positives + alarms)
        costs = Fraction(1), 1 - ratio
    else:
        ratio = (square * missed + alarms) / ((1 + square) * positives - missed + alarms)
        costs = square + ratio, 1 - ratio
    denominator = costs[0].denominator * costs[1].denominator
    miss, alarm = (int(cost * denominator) for cost in costs)
    matrix = [[0, alarm], [miss, 0]] if positive == 1 else [[0, miss], [alarm, 0]]
    additive = clone(model).set_params(objective="accuracy", cost_matrix=matrix)
    about = {
        "metric": model.objective,
        "positive": str(labels[positive]),
        "beta_squared": [square.numerator, square.denominator],
        "ratio": [ratio.numerator, ratio.denominator],
    }
    return additive, about


def _counted(tree: Any, labels: list[Any], positive: int) -> tuple[Fraction, Fraction, Fraction]:
    """What the missed positives of a tree weigh, its false alarms, and all positives."""
    missed = alarms = positives = Fraction(0)
    for leaf in tree.leaves:
        weights = [Fraction(weight) for weight in leaf.value]
        if any(weight.denominator > 1 for weight in weights):
            raise ValueError(
                "proofs of F-beta and Jaccard are for row weights that are whole numbers"
            )
        says_positive = labels.index(leaf.label) == positive
        positives += weights[positive]
        missed += 0 if says_positive else weights[positive]
        alarms += weights[1 - positive] if says_positive else 0
    return missed, alarms, positives
