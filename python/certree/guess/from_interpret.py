"""The jumps of explainable boosting machines.

Such a machine adds up one step function for each column. A step is a cut if it is higher than
tolerance times (the importance of the most important column / this column's). A value of a category
is asked for if its score differs by as much from the mean score of the other rows. Terms of two
columns are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from certree.guess.splits import Splits


def read(model: Any, jump: float) -> Splits:
    terms = [term for term, own in enumerate(model.term_features_) if len(own) == 1]
    importances = np.asarray(model.term_importances())[terms]
    most = importances.max(initial=0.0)
    features: list[int] = []
    thresholds: list[float] = []
    gains: list[float] = []
    values: list[tuple[int, str]] = []
    value_gains: list[float] = []
    for term, importance in zip(terms, importances):
        if importance <= 0:
            continue
        feature = model.term_features_[term][0]
        least = jump * most / importance
        bins = model.bins_[feature][0]
        # One row for each bin, the first for missing values and the last for unknown ones.
        scores = np.asarray(model.term_scores_[term])
        scores = scores.reshape(len(scores), -1)
        if isinstance(bins, dict):
            weights = np.asarray(model.bin_weights_[term])
            for value, place in bins.items():
                gain = _apart(scores, weights, place)
                if gain > least:
                    values.append((feature, value))
                    value_gains.append(gain)
            continue
        # Values equal to a cut are right of it.
        steps = np.abs(np.diff(scores[1:-1], axis=0)).max(axis=1)
        high = steps > least
        features += [feature] * int(high.sum())
        thresholds += np.asarray(bins)[high].tolist()
        gains += steps[high].tolist()
    return Splits(
        np.array(features, dtype=np.int64),
        np.array(thresholds, dtype=np.float64),
        np.array(gains, dtype=np.float64),
        np.float64,
        strict=True,
        values=values,
        value_gains=value_gains,
    )


def _apart(scores: np.ndarray, weights: np.ndarray, place: int) -> float:
    """How far the score of a bin is from the mean of the others."""
    others = np.delete(np.arange(len(scores)), place)
    total = weights[others].sum()
    if total <= 0:
        return 0.0
    mean = weights[others] @ scores[others] / total
    return float(np.abs(scores[place] - mean).max())
