"""How the rows of a new table spread over the leaves of a tree, beside those of training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from certree.tree import Tree


def drift(tree: Tree, X: Any) -> pl.DataFrame:
    leaves = tree.apply(X)
    if not len(leaves):
        raise ValueError("X has no rows, so that nothing says where rows go now")
    rules = tree.rules()
    trained = np.array([rule.rows for rule in rules], dtype=np.float64)
    if not trained.sum():
        raise ValueError("the tree knows no training rows")
    counts = np.bincount(leaves, minlength=len(tree.nodes))[[rule.leaf for rule in rules]]
    before, now = trained / trained.sum(), counts / len(leaves)
    # Half a row in place of none, because a logarithm needs some.
    least = np.maximum(before, 0.5 / trained.sum()), np.maximum(now, 0.5 / len(leaves))
    return pl.DataFrame(
        {
            "leaf": [rule.leaf for rule in rules],
            "rule": [" and ".join(rule.conditions) or "always" for rule in rules],
            "label": pl.Series([str(rule.label) for rule in rules]),
            "trained_rows": [rule.rows for rule in rules],
            "rows": counts,
            "trained_share": before,
            "share": now,
            "psi": (least[1] - least[0]) * np.log(least[1] / least[0]),
        }
    )
