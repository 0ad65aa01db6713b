"""scikit-learn estimators, one file for each kind."""

from certree.estimators.classifier import OptimalTreeClassifier
from certree.estimators.costs import OptimalCostTree

__all__ = ["OptimalCostTree", "OptimalTreeClassifier"]
