"""A tree that answers each training row as a reference does: theorem 4.1 of McTavish et al. (AAAI
2022) says what its size promises of the best tree over the same cuts."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from certree.certificate import Copy


def smallest_known(answers: Any, kept: np.ndarray | None, labels: np.ndarray) -> Copy | None:
    """Grown greedily on the answers to all cuts, because the smallest one is as hard to find as a
    best tree. None if rows with the same answers have different labels, so that no tree is a copy.

    ``answers``: rows × cuts. ``kept``: which of their rows the labels belong to.
    """
    matrix = np.asarray(answers, dtype=bool)
    matrix = matrix if kept is None else matrix[kept]
    # Equal rows once: their number does not matter to a tree that makes no mistake.
    packed = np.ascontiguousarray(np.packbits(matrix, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    wanted = labels[first]
    if (wanted[place] != labels).any():
        return None
    distinct = matrix[first].astype(np.float32)
    tree = DecisionTreeClassifier(random_state=0).fit(distinct, wanted)
    if (tree.predict(distinct) != wanted).any():
        return None
    rows = np.bincount(tree.apply(distinct)[place])
    return Copy(int(tree.get_n_leaves()), int(tree.get_depth()), int(rows[rows > 0].min()))
