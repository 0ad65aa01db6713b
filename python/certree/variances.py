"""The mean squared error of each node of a tree of means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from certree.tree import Tree


def variances(tree: Tree) -> NDArray[np.float64] | None:
    """Of several targets their sum; None where nodes do not tell.

    A node holds its squared error as a share of the root's. How large that one is, the means tell:
    the leaves' distances from the root's mean are the part of it that the tree explains. Nodes do
    not tell where rows with equal features have other targets, because nodes do not hold what that
    adds, where means are not those of equal rows, or where the tree explains too little.
    """
    if tree.task != "regression" or abs(tree.nodes[0].loss - 1) > 1e-9 or not _of_equal_rows(tree):
        return None
    losses = np.array([node.loss for node in tree.nodes])
    rows = np.array([node.rows for node in tree.nodes], dtype=np.float64)
    means = np.array([node.value for node in tree.nodes])
    leaves = [leaf.id for leaf in tree.leaves]
    explained = (rows[leaves] * ((means[leaves] - means[0]) ** 2).sum(axis=1)).sum()
    left = losses[leaves].sum()
    if left > 1 - 1e-6:
        return None
    return np.maximum(explained / (1 - left) * losses / np.maximum(rows, 1), 0.0)


def _of_equal_rows(tree: Tree) -> bool:
    """Whether each split's mean is that of its children's, by their rows."""
    for node in tree.nodes:
        if node.split is None:
            continue
        sides = tree.nodes[node.split.left], tree.nodes[node.split.right]
        means = np.array([side.value for side in sides])
        rows = np.array([[side.rows] for side in sides], dtype=np.float64)
        average = (rows * means).sum(axis=0) / max(node.rows, 1)
        if (np.abs(average - node.value) > 1e-6 * np.abs(means).max()).any():
            return False
    return True
