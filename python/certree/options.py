"""The words that parameters and results are made of, as types for those who check theirs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from certree.binarize import ThresholdBinarizer
    from certree.guess import ThresholdGuesser

#: How a search ended: ``certificate_.status`` and ``status_``.
Status = Literal[
    "optimal", "optimal_given_guess", "gap_limit", "time_limit", "memory_limit", "interrupted",
    "rounding_limit",
]

#: How a problem was searched: ``certificate_.route``.
Route = Literal[
    "greedy separation", "one split", "intervals of cuts", "cut by cut",
    "relaxations, then fronts", "weighted errors",
]

#: Of ``OptimalTreeClassifier``.
ClassifierObjective = Literal[
    "accuracy", "balanced_accuracy", "f1_macro", "f1_weighted", "f1_micro", "f1", "fbeta",
    "jaccard", "mcc", "auc", "partial_auc",
    "gini", "log_loss", "mdl",
]

#: Of ``OptimalTreeRegressor``.
RegressorObjective = Literal[
    "squared_error", "poisson", "gamma", "absolute_error", "quantile"
]

#: Of one column: all cuts, short or at exact midpoints, a number of quantiles, or these.
ColumnThresholds: TypeAlias = "Literal['all', 'midpoints'] | int | Iterable[object]"

#: Of all columns, or by name.
Thresholds: TypeAlias = (
    "Literal['all', 'midpoints'] | int | Mapping[str, ColumnThresholds] | ThresholdBinarizer"
    " | ThresholdGuesser"
)

#: What missing values of features are.
Missing = Literal["route", "refuse", "own_branch"]

#: What is asked of categories: of all of them, or by name.
Categories: TypeAlias = (
    "Literal['subsets', 'values'] | Mapping[str, Literal['subsets', 'values']]"
)

#: Where a reference can be fitted to guess them, too.
GuessedThresholds: TypeAlias = "Literal['guess'] | Thresholds"
