"""Provably optimal decision trees, with a certificate.

What is public is loaded when it is first asked for, because scikit-learn and what it loads take
more than a second.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from certree._core import __version__

if TYPE_CHECKING:
    from certree import scorers
    from certree.binarize import ThresholdBinarizer
    from certree.certificate import Certificate
    from certree.comparison import Comparison, compare
    from certree.constraints import (
        Capacity,
        DemographicParity,
        EqualOpportunity,
        EqualRates,
        FalsePositiveRate,
        SumLimit,
    )
    from certree.evaluation import Evaluation, evaluate
    from certree.estimators import (
        OptimalCostTree,
        OptimalPolicyTree,
        OptimalSurvivalTree,
        OptimalTree,
        OptimalTreeClassifier,
        OptimalTreeRegressor,
        PolicyValue,
        WhyNot,
    )
    from certree.feature_costs import FeatureCost
    from certree.guess import ThresholdGuesser, depth_gap, suggest_depth
    from certree.frontiers import frontier
    from certree.near import NearOptimal, NearTree, Without, near_optimal
    from certree.nested_folds import Nested, nested
    from certree.path_rules import After, Apart, FirstColumn, MostColumns
    from certree.plots import plot_anytime, plot_frontier, plot_importances, plot_path
    from certree.progress import Progress
    from certree.proofs import Proof, prove
    from certree.reporting import report
    from certree.resamples import Stability, stability
    from certree.tree import Tree
    from certree.tuning import OptimalTreeCV, path

__all__ = [
    "After",
    "Apart",
    "Capacity",
    "Certificate",
    "Comparison",
    "DemographicParity",
    "EqualOpportunity",
    "EqualRates",
    "Evaluation",
    "FalsePositiveRate",
    "FeatureCost",
    "FirstColumn",
    "MostColumns",
    "NearOptimal",
    "NearTree",
    "Nested",
    "OptimalCostTree",
    "OptimalPolicyTree",
    "OptimalSurvivalTree",
    "OptimalTree",
    "OptimalTreeCV",
    "OptimalTreeClassifier",
    "OptimalTreeRegressor",
    "PolicyValue",
    "Progress",
    "Proof",
    "Stability",
    "SumLimit",
    "ThresholdBinarizer",
    "ThresholdGuesser",
    "Tree",
    "WhyNot",
    "Without",
    "__version__",
    "compare",
    "depth_gap",
    "evaluate",
    "frontier",
    "near_optimal",
    "nested",
    "path",
    "plot_anytime",
    "plot_frontier",
    "plot_importances",
    "plot_path",
    "prove",
    "report",
    "scorers",
    "stability",
    "suggest_depth",
]

#: The module of each public name. None is called like a name, which it would hide once loaded.
_HOMES = {
    "After": "path_rules",
    "Apart": "path_rules",
    "Capacity": "constraints",
    "Certificate": "certificate",
    "Comparison": "comparison",
    "DemographicParity": "constraints",
    "EqualOpportunity": "constraints",
    "EqualRates": "constraints",
    "Evaluation": "evaluation",
    "FalsePositiveRate": "constraints",
    "FeatureCost": "feature_costs",
    "FirstColumn": "path_rules",
    "MostColumns": "path_rules",
    "NearOptimal": "near",
    "NearTree": "near",
    "Nested": "nested_folds",
    "OptimalCostTree": "estimators",
    "OptimalPolicyTree": "estimators",
    "OptimalSurvivalTree": "estimators",
    "OptimalTree": "estimators",
    "OptimalTreeCV": "tuning",
    "OptimalTreeClassifier": "estimators",
    "OptimalTreeRegressor": "estimators",
    "PolicyValue": "estimators",
    "Progress": "progress",
    "Proof": "proofs",
    "Stability": "resamples",
    "SumLimit": "constraints",
    "ThresholdBinarizer": "binarize",
    "ThresholdGuesser": "guess",
    "Tree": "tree",
    "WhyNot": "estimators",
    "Without": "near",
    "compare": "comparison",
    "depth_gap": "guess",
    "evaluate": "evaluation",
    "frontier": "frontiers",
    "near_optimal": "near",
    "nested": "nested_folds",
    "path": "tuning",
    "plot_anytime": "plots",
    "plot_frontier": "plots",
    "plot_importances": "plots",
    "plot_path": "plots",
    "prove": "proofs",
    "report": "reporting",
    "stability": "resamples",
    "suggest_depth": "guess",
}


def __getattr__(name: str) -> Any:
    if name == "scorers":
        return import_module("certree.scorers")
    if name not in _HOMES:
        raise AttributeError(f"module 'certree' has no attribute {name!r}")
    found = getattr(import_module(f"certree.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
