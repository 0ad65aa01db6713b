"""What a fitted model tests, whatever library it is of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

KNOWN = (
    "a decision tree, a random forest, extra trees, bagged or boosted trees of scikit-learn, "
    "LightGBM or XGBoost, or an explainable boosting machine"
)


@dataclass(frozen=True)
class Splits:
    """All tests of a model side by side, and the size of its trees.

    A row goes left if its value, rounded to ``dtype``, is at most the threshold; below it, if
    ``strict``.
    """

    #: The model's own number of the tested column.
    features: np.ndarray
    thresholds: np.ndarray
    #: What each test gained where it stands.
    gains: np.ndarray
    dtype: type[np.floating]
    strict: bool = False
    #: (feature, value): tests of explainable boosting machines for a value of a category, with
    #: gains.
    values: Sequence[tuple[int, str]] = ()
    value_gains: Sequence[float] = ()
    #: Trees for each output or class, of which there are so many, and the most leaves that one has.
    #: None: the model has no trees.
    n_trees: int | None = None
    n_outputs: int = 1
    most_leaves: int = 1

    def importance(self, n_features: int) -> np.ndarray:
        """The sum of the gains by feature."""
        return np.bincount(self.features, weights=self.gains, minlength=n_features)

    def lefts(self, feature: int, values: np.ndarray) -> np.ndarray:
        """How many of these ascending values go left, for each different test of a feature."""
        thresholds = np.unique(self.thresholds[self.features == feature])
        with np.errstate(over="ignore"):
            seen = values.astype(self.dtype)
        side = "left" if self.strict else "right"
        return np.unique(np.searchsorted(seen.astype(np.float64), thresholds, side=side))


@dataclass
class Collector:
    """Splits of one tree after the other."""

    dtype: type[np.floating]
    strict: bool = False
    _parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)
    _most_leaves: int = 1
    _n_trees: int = 0

    def add(self, features: Any, thresholds: Any, gains: Any) -> None:
        """The inner nodes of a tree. A binary tree has one leaf more."""
        part = (
            np.asarray(features, dtype=np.int64),
            np.asarray(thresholds, dtype=np.float64),
            np.asarray(gains, dtype=np.float64),
        )
        self._parts.append(part)
        self._n_trees += 1
        self._most_leaves = max(self._most_leaves, len(part[0]) + 1)

    def splits(self, n_outputs: int = 1) -> Splits:
        parts = self._parts or [(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))]
        features, thresholds, gains = (np.concatenate(arrays) for arrays in zip(*parts))
        return Splits(
            features,
            thresholds,
            np.maximum(gains, 0.0),
            self.dtype,
            self.strict,
            n_trees=-(-self._n_trees // n_outputs),
            n_outputs=n_outputs,
            most_leaves=self._most_leaves,
        )


def refuse(model: Any) -> ValueError:
    return ValueError(
        f"reference={type(model).__name__} has no trees that can be read; give {KNOWN}, or None "
        "for gradient boosting"
    )


def no_sets() -> ValueError:
    return ValueError(
        "the reference splits sets of categories, which are no cuts of certree's; fit it on "
        "columns of numbers, or give it unfitted: then each value has a column"
    )


def names_of(model: Any) -> list[str] | None:
    """The names of the columns that a fitted model knows; None if it knows only their number."""
    booster = getattr(model, "booster_", model)
    if type(model).__module__.startswith("xgboost"):
        booster = model if hasattr(model, "feature_names") else model.get_booster()
        names = booster.feature_names
    elif hasattr(booster, "feature_name"):
        names = booster.feature_name()
    else:
        names = getattr(model, "feature_names_in_", None)
    if names is None:
        return None
    names = [str(name) for name in names]
    own = ("Column_{}", "feature_{:04}")
    made_up = any(names == [form.format(i) for i in range(len(names))] for form in own)
    return None if made_up else names


def n_features_of(model: Any) -> int:
    for name in ("n_features_in_", "num_feature", "num_features"):
        found = getattr(model, name, None)
        if found is not None:
            return int(found() if callable(found) else found)
    raise refuse(model)
