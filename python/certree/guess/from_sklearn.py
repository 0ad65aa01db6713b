"""The splits of scikit-learn's trees and of ensembles of them.

Its trees read every value as a 32-bit float and send it left if it is at most the threshold, a
64-bit one. Histogram boosting compares 64-bit floats.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from certree.guess.splits import Collector, Splits, no_sets, refuse


def read(model: Any) -> Splits:
    if hasattr(model, "_predictors"):
        return _histogram(model)
    found = Collector(np.float32)
    for tree, features in _trees(model, None):
        inner = tree.children_left >= 0
        mass = tree.weighted_n_node_samples * tree.impurity
        left, right = tree.children_left[inner], tree.children_right[inner]
        tested = tree.feature[inner]
        if features is not None:
            tested = features[tested]
        found.add(tested, tree.threshold[inner], mass[inner] - mass[left] - mass[right])
    members = getattr(model, "estimators_", None)
    if isinstance(members, np.ndarray) and members.ndim == 2:
        return found.splits(members.shape[1])
    return found.splits(len(members) if type(model).__name__.startswith("MultiOutput") else 1)


def _trees(model: Any, features: np.ndarray | None) -> Iterator[tuple[Any, np.ndarray | None]]:
    """Every tree, and the columns of X that its columns are if it was given only some."""
    tree = getattr(model, "tree_", None)
    if tree is not None and hasattr(tree, "weighted_n_node_samples"):
        yield tree, features
        return
    members = getattr(model, "estimators_", None)
    if members is None:
        raise refuse(model)
    subsets = getattr(model, "estimators_features_", None)
    # Ensembles are sequences, which numpy would take apart.
    every = members.ravel().tolist() if isinstance(members, np.ndarray) else list(members)
    for index, member in enumerate(every):
        if subsets is None:
            yield from _trees(member, features)
        else:
            own = np.asarray(subsets[index])
            yield from _trees(member, own if features is None else features[own])


def _histogram(model: Any) -> Splits:
    found = Collector(np.float64)
    # There is no public way to these trees.
    rounds = model._predictors
    for predictor in (tree for one in rounds for tree in one):
        inner = predictor.nodes[predictor.nodes["is_leaf"] == 0]
        if inner["is_categorical"].any():
            raise no_sets()
        found.add(inner["feature_idx"], inner["num_threshold"], inner["gain"])
    return found.splits(len(rounds[0]) if rounds else 1)
