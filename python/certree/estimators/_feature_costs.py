"""Estimators with ``feature_costs``: each row is charged for the columns that its path asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core, ingest
from certree.estimators._base import TreeEstimator
from certree.feature_costs import FeatureCosts, read


class FeatureCostEstimator(TreeEstimator):
    """A tree with ``feature_costs``."""

    feature_costs: Any
    #: As they were when the tree was fitted.
    _feature_costs: FeatureCosts | None

    def feature_costs_paid(self, X: Any) -> NDArray[np.float64]:
        """The sum of the feature costs on each row's path through the tree; 0 for every row if the
        estimator has no ``feature_costs``.

        The mean over the training rows, by weight, is a part of ``objective_``.
        """
        return self._feature_costs_of(self.apply(X))

    def _mean_paid(self, leaves: NDArray[np.uint32], weights: Any = None) -> float:
        """What rows that end in these leaves pay on average."""
        return float(np.average(self._feature_costs_of(leaves), weights=weights))

    def _feature_costs_of(self, leaves: NDArray[np.uint32]) -> NDArray[np.float64]:
        if self._feature_costs is None:
            return np.zeros(len(leaves))
        return self._feature_costs.by_node(self.tree_)[leaves]

    def _column_costs(
        self, cuts: Sequence[ingest.Cuts]
    ) -> tuple[FeatureCosts | None, _core.FeatureCosts | None]:
        """What columns cost, and that as the core takes it."""
        costs = read(self.feature_costs, [each.column for each in cuts])
        return costs, None if costs is None else costs.core(self._core_places(cuts))


def in_words(loss: str, costs: FeatureCosts | None) -> str:
    """The loss for the certificate."""
    return loss if costs is None else f"{loss.removesuffix(',')}, feature costs included,"
