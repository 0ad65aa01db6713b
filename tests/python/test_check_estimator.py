"""scikit-learn's own checks, none skipped and none expected to fail."""

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

from certree import (
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    ThresholdBinarizer,
    ThresholdGuesser,
)


class CostsFromOneColumn(OptimalCostTree):
    """The checks fit one column, which costs cannot be: here it is the first, and its opposite the
    second."""

    def fit(self, X, y):
        return super().fit(X, two_columns(y))

    def score(self, X, y):
        return super().score(X, two_columns(y))


class RewardsFromOneColumn(OptimalPolicyTree):
    """Likewise for rewards: treatments and outcomes are two vectors."""

    def fit(self, X, y):
        return super().fit(X, rewards=two_columns(y))

    def score(self, X, y):
        return super().score(X, rewards=two_columns(y))


class OutcomesFromOneColumn(OptimalSurvivalTree):
    """Likewise for times and events: every third row is censored."""

    def fit(self, X, y):
        return super().fit(X, *time_and_event(y))

    def score(self, X, y):
        return super().score(X, *time_and_event(y))


class StatisticsFromOneColumn(OptimalTree):
    """Likewise for the statistics of a task of the user's own, which is here the squared error."""

    def fit(self, X, y):
        y = None if y is None else two_columns(y)[:, 0]
        return super().fit(X, y if y is None else np.column_stack([np.ones(len(y)), y, y * y]))


class Spread:
    def leaf_cost(self, sums):
        n, y, squares = sums.T
        return squares - y * y / n

    def answer(self, sums):
        return float(sums[1] / sums[0])

    def __repr__(self):
        # It is part of the names of tests, which are the same in every process.
        return "Spread()"


def time_and_event(y):
    if y is None:
        return y, y
    y = two_columns(y)[:, 0]
    return np.abs(y), np.arange(len(y)) % 3 < 2


def two_columns(y):
    if y is None or np.ndim(y) == 0:
        return y
    y = np.real(y).astype(np.float64).reshape(len(y), -1)[:, 0]
    return np.column_stack([y, -y])


@parametrize_with_checks(
    [
        OptimalTreeClassifier(),
        # Targets of noise take longer to prove than anybody waits.
        OptimalTreeRegressor(max_depth=2),
        OptimalTreeClassifier("mdl", max_depth=2),
        OptimalTreeRegressor("gamma", max_depth=2),
        OutcomesFromOneColumn(max_depth=2),
        StatisticsFromOneColumn(Spread(), max_depth=2),
        CostsFromOneColumn(),
        RewardsFromOneColumn(),
        ThresholdBinarizer(),
        ThresholdGuesser(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
