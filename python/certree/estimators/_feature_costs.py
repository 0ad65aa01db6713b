"""Estimators with ``feature_costs``: each row is charged for the columns that its path asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import feature_costs
from certree.estimators._base import TreeEstimator


class FeatureCostEstimator(TreeEstimator):
    """A tree with ``feature_costs``."""

    #: As they were when the tree was fitted.
    _feature_costs: feature_costs.FeatureCosts | None

    def feature_costs_paid(self, X: Any) -> NDArray[np.float64]:
        """The sum of the feature costs on each row's path through the tree; 0 for every row if the
        estimator has no ``feature_costs``.

        The mean over the training rows, by weight, is a part of ``objective_``.
        """
        leaves = self.apply(X)
        if self._feature_costs is None:
            return np.zeros(len(leaves))
        return self._feature_costs.by_node(self.tree_)[leaves]


def in_words(loss: str, costs: feature_costs.FeatureCosts | None) -> str:
    """The loss for the certificate."""
    return loss if costs is None else f"{loss}, feature costs included,"
