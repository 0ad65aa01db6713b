"""Estimators with ``feature_costs``: each row is charged for the columns that its path asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core, ingest
from certree.estimators import _constrained
from certree.estimators._base import TreeEstimator, room_for_goal
from certree.estimators._posed import Posed
from certree.feature_costs import FeatureCosts, differ_by_row, named_columns, prices, read
from certree.ingest.weights import DECIMALS, shortened


class FeatureCostEstimator(TreeEstimator):
    """A tree with ``feature_costs``."""

    feature_costs: Any
    #: As they were when the tree was fitted.
    _feature_costs: FeatureCosts | None
    #: The prices of all rows, by row and list, while a problem is posed with them.
    _prices: NDArray[np.float64] | None = None

    def feature_costs_paid(self, X: Any) -> NDArray[np.float64]:
        """The sum of the feature costs on each row's path through the tree; 0 for every row if the
        estimator has no ``feature_costs``.

        The mean over the training rows, by weight, is a part of ``objective_``. Where costs differ
        by row, X has the columns of prices, too. Prices that were given as numbers are those of the
        rows of the fit, so that nobody knows what other rows pay.
        """
        return self._feature_costs_of(X, self.apply(X))

    def _mean_paid(self, X: Any, leaves: NDArray[np.uint32], weights: Any = None) -> float:
        """The mean of what rows pay for columns. ``leaves``: in which leaf each row of X ends."""
        return float(np.average(self._feature_costs_of(X, leaves), weights=weights))

    def _feature_costs_of(self, X: Any, leaves: NDArray[np.uint32]) -> NDArray[np.float64]:
        costs = self._feature_costs
        if costs is None:
            return np.zeros(len(leaves))
        by_row = np.zeros((len(leaves), 0))
        if costs.lists:
            by_row = prices(costs.given, X, False)
        return costs.paid(self.tree_, leaves, by_row)

    def _pose_in_order(self, data: Any, known: Any = None) -> Posed:
        """As the others do, of a table without its columns of prices: they are no features."""
        if not differ_by_row(self.feature_costs):
            return super()._pose_in_order(data, known)
        X = data[0] if isinstance(data, tuple) else data.X
        source = ingest.whole(X)
        self._prices = prices(self.feature_costs, source, True)
        # Those that constraints name too are read by them, and are no features either.
        of_constraints = _constrained.named_columns(getattr(self, "constraints", ()), source).used
        named = [name for name in named_columns(self.feature_costs) if name not in of_constraints]
        left = ingest.without(source, named) if named else X
        try:
            return super()._pose_in_order(
                (left, *data[1:]) if isinstance(data, tuple) else replace(data, X=left), known
            )
        finally:
            del self._prices

    def _column_costs(
        self,
        located: ingest.Located,
        kept: NDArray[np.bool_] | None,
        classes: tuple[NDArray[np.uint32], int] | None = None,
        factors: NDArray[np.float64] | None = None,
    ) -> tuple[FeatureCosts | None, _core.FeatureCosts | None]:
        """The prices of columns, for the model and for the core; None where nothing costs anything.

        ``kept``: which rows weigh something, if not all do. ``classes``: the class of each such
        row, and how many classes there are, if the goal has classes. ``factors``: what the weight
        of each class is multiplied by, where the core does not do that.
        """
        costs = read(self.feature_costs, [each.column for each in located.cuts])
        if costs is None:
            return None, None
        sums = self._sums(located, kept, classes)
        if sums is not None and factors is not None:
            sums = np.ascontiguousarray(np.einsum("pcl,c->pl", sums, factors)[:, None, :])
        return costs, costs.core(self._core_places(located.cuts), sums)

    def _sums(
        self,
        located: ingest.Located,
        kept: NDArray[np.bool_] | None,
        classes: tuple[NDArray[np.uint32], int] | None = None,
    ) -> NDArray[np.float64] | None:
        """By point, class and list of prices: the sum of weight times price over the rows; None
        where no prices differ by row."""
        if self._prices is None:
            return None
        by_row = self._prices if kept is None else self._prices[kept]
        of_class, n_classes = (0, 1) if classes is None else classes
        n_points, n_lists = located.points.n_points, by_row.shape[1]
        room_for_goal(n_points * n_classes * n_lists, 6)
        place = located.point_of.astype(np.uint32) * np.uint32(n_classes) + of_class
        weights = located.weights
        with np.errstate(over="ignore"):
            summed = _core.sum_by_point(
                place, n_points * n_classes, np.ascontiguousarray(by_row), weights
            )
            total = float(summed.sum())
        if not np.isfinite(total):
            raise ValueError("feature_costs add up to more than a float holds; scale them down")
        # Products of short decimals are short, if together they are.
        if _digits(by_row) + (0 if weights is None else _digits(weights)) <= DECIMALS:
            summed = shortened(summed)
        return np.ascontiguousarray(summed.reshape(n_points, n_classes, n_lists))


def _digits(values: NDArray[np.float64]) -> int:
    """How many decimals these numbers have; more than ``DECIMALS`` where they are not short."""
    enough = (at for at in range(DECIMALS + 1) if (np.round(values, at) == values).all())
    return next(enough, DECIMALS + 1)


def by_class(training: ingest.InMemory, n_sums: int = 0) -> tuple[NDArray[np.uint32], int]:
    """The class of each row, and how many there are with ``n_sums`` that are none of any row."""
    assert training.classes is not None
    return training.classes, len(training.labels) + n_sums


def in_words(loss: str, costs: FeatureCosts | None) -> str:
    """The loss for the certificate."""
    if costs is None:
        return loss
    which = "feature costs by row" if costs.lists else "feature costs"
    return f"{loss.removesuffix(',')}, {which} included,"
