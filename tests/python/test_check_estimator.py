"""scikit-learn's own checks, none skipped and none expected to fail."""

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

from certree import (
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    ThresholdBinarizer,
    ThresholdGuesser,
)


class CostsFromOneColumn(OptimalCostTree):
    """The checks fit one column, which costs cannot be: here it is the first, and its opposite the second."""

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
        CostsFromOneColumn(),
        RewardsFromOneColumn(),
        ThresholdBinarizer(),
        ThresholdGuesser(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
