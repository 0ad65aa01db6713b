"""scikit-learn estimators, one file for each kind."""

from certree.estimators.classifier import OptimalTreeClassifier
from certree.estimators.costs import OptimalCostTree
from certree.estimators.custom import OptimalTree
from certree.estimators.policy import OptimalPolicyTree, PolicyValue
from certree.estimators.regressor import OptimalTreeRegressor

__all__ = [
    "OptimalCostTree",
    "OptimalPolicyTree",
    "OptimalTree",
    "OptimalTreeClassifier",
    "OptimalTreeRegressor",
    "PolicyValue",
]
