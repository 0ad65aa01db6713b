"""What ``certree demo`` does: the best tree for a data set that comes with scikit-learn, beside CART's."""

from __future__ import annotations

import polars as pl
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from certree.estimators import OptimalTreeClassifier


def run() -> str:
    data = load_breast_cancer()
    frame = pl.DataFrame(data.data, schema=data.feature_names.tolist())
    classes = data.target_names[data.target]
    model = OptimalTreeClassifier(max_depth=3, leaf_penalty=0.01).fit(frame, classes)
    tree = model.tree_
    cart = DecisionTreeClassifier(
        max_depth=3, max_leaf_nodes=max(tree.n_leaves, 2), random_state=0
    ).fit(data.data, classes)
    wrong = int((model.predict(frame) != classes).sum())
    cart_wrong = int((cart.predict(data.data) != classes).sum())
    return "\n".join(
        [
            "Breast cancer (Wisconsin): is a tumour benign or malignant?",
            "",
            tree.to_text(),
            model.certificate_.statement(),
            "",
            f"This tree: {wrong} of {len(classes)} rows wrong with {tree.n_leaves} leaves. "
            f"CART (scikit-learn's greedy tree): {cart_wrong} wrong with {cart.get_n_leaves()}.",
        ]
    )
