"""scikit-learn estimators, one file for each kind."""

from certree.estimators.classifier import OptimalTreeClassifier

__all__ = ["OptimalTreeClassifier"]
