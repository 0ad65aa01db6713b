"""scikit-learn estimators, one file for each kind."""

from certree.estimators._why_not import WhyNot
from certree.estimators.classifier import OptimalTreeClassifier
from certree.estimators.costs import OptimalCostTree
from certree.estimators.custom import OptimalTree
from certree.estimators.policy import OptimalPolicyTree, PolicyValue
from certree.estimators.regressor import OptimalTreeRegressor
from certree.estimators.survival import OptimalSurvivalTree

__all__ = [
    "OptimalCostTree",
    "OptimalPolicyTree",
    "OptimalSurvivalTree",
    "OptimalTree",
    "OptimalTreeClassifier",
    "OptimalTreeRegressor",
    "PolicyValue",
    "WhyNot",
]
