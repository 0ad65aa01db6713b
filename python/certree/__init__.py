"""Provably optimal decision trees, with a certificate."""

from certree import scorers
from certree._core import __version__
from certree.binarize import ThresholdBinarizer
from certree.certificate import Certificate
from certree.constraints import (
    Capacity,
    DemographicParity,
    EqualOpportunity,
    FalsePositiveRate,
)
from certree.estimators import (
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyValue,
)
from certree.feature_costs import FeatureCost
from certree.guess import ThresholdGuesser, depth_gap, suggest_depth
from certree.frontier import frontier
from certree.path_rules import After, Apart, FirstColumn, MostColumns
from certree.plots import plot_anytime, plot_frontier, plot_importances
from certree.progress import Progress
from certree.reporting import report
from certree.tree import Tree

__all__ = [
    "After",
    "Apart",
    "Capacity",
    "Certificate",
    "DemographicParity",
    "EqualOpportunity",
    "FalsePositiveRate",
    "FeatureCost",
    "FirstColumn",
    "MostColumns",
    "OptimalCostTree",
    "OptimalPolicyTree",
    "OptimalSurvivalTree",
    "OptimalTree",
    "OptimalTreeClassifier",
    "OptimalTreeRegressor",
    "PolicyValue",
    "Progress",
    "ThresholdBinarizer",
    "ThresholdGuesser",
    "Tree",
    "__version__",
    "depth_gap",
    "frontier",
    "plot_anytime",
    "plot_frontier",
    "plot_importances",
    "report",
    "scorers",
    "suggest_depth",
]
