"""The command ``certree demo``: it fits the best tree to a data set that comes with scikit-learn,
and prints it beside the tree that CART finds."""

from __future__ import annotations

import polars as pl
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from certree.estimators import OptimalTreeClassifier


MAX_DEPTH = 2
"""Deep enough to beat CART, and proved over all thresholds at once."""


def run() -> str:
    data = load_breast_cancer()
    X = pl.DataFrame(data.data, schema=data.feature_names.tolist())
    y = data.target_names[data.target]
    model = OptimalTreeClassifier(max_depth=MAX_DEPTH).fit(X, y)
    tree = model.tree_
    cart = DecisionTreeClassifier(
        max_depth=MAX_DEPTH, max_leaf_nodes=max(tree.n_leaves, 2), random_state=0
    ).fit(data.data, y)
    wrong = int((model.predict(X) != y).sum())
    cart_wrong = int((cart.predict(data.data) != y).sum())
    return "\n".join(
        [
            "Breast cancer (Wisconsin): is a tumour benign or malignant?",
            "",
            tree.to_text(),
            model.certificate_.statement(),
            "",
            f"This tree: {wrong} of {len(y)} rows wrong, with {tree.n_leaves} leaves.",
            f"CART, scikit-learn's greedy tree: {cart_wrong} wrong, with {cart.get_n_leaves()} leaves.",
        ]
    )
