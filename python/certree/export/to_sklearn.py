"""A tree as a fitted one of scikit-learn's, over the matrix of `encode.py`.

scikit-learn has no public way to make a tree. So one is fitted to a row for each class, and its
nodes are exchanged by the protocol by which it is pickled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certree.conditions import plain
from certree.export.encode import Feature, features, place
from certree.variances import variances
from certree.ingest import Slot
from certree.scalars import shown
from certree.schema import NUMBERS
from certree.warned import warn

if TYPE_CHECKING:
    from certree.tree import Tree

#: scikit-learn's marks for what a leaf does not have.
NO_CHILD, NO_FEATURE = -1, -2


def to_sklearn(tree: Tree, output: str = "proba") -> Any:
    if output not in ("proba", "label"):
        raise ValueError(f"output={shown(output)} must be one of proba, label")
    known = features(tree)
    model = _regressor(tree, known) if tree.task in NUMBERS else _classifier(tree, known, output)
    _warn_of_moved(known)
    return model


def _classifier(tree: Tree, known: Mapping[Slot, Feature], output: str) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    classes = _classes(tree)
    shares = _label_shares(tree, classes) if output == "label" else _class_shares(tree)
    _check_answers(tree, classes, shares)
    # Each class once; columns of fewer classes begin again.
    rows = np.arange(max(map(len, classes)))
    y = np.column_stack([rows % len(own) for own in classes])
    model = DecisionTreeClassifier().fit(_no_values(known, len(rows)), y)
    model.classes_ = classes if len(classes) > 1 else classes[0]
    values = np.zeros((len(tree.nodes), len(classes), len(rows)))
    for target, own in enumerate(shares):
        values[:, target, : own.shape[1]] = own
    weights = [sum(node.value) / len(classes) for node in tree.nodes]
    if tree.task not in ("classification", "targets"):
        weights = [node.rows for node in tree.nodes]
    # Gini's, as scikit-learn takes the mean of several targets'.
    impurity = np.mean([1.0 - (own**2).sum(axis=1) for own in shares], axis=0)
    return _exchange(model, tree, known, values, impurity, weights)


def _classes(tree: Tree) -> list[NDArray[Any]]:
    """The labels of each target. scikit-learn answers all in the type of the first."""
    if tree.task != "targets":
        return [tree.labels]
    if len({own.dtype.kind for own in tree.classes}) > 1:
        raise ValueError(
            "the targets have labels of several types, but scikit-learn's predict answers all in "
            "the type of the first; encode them alike"
        )
    dtype = np.result_type(*(own.dtype for own in tree.classes))
    return [own.astype(dtype) for own in tree.classes]


def _class_shares(tree: Tree) -> list[NDArray[np.float64]]:
    """For each target, nodes × classes."""
    if tree.task == "targets":
        by_node = [tree.target_shares(node) for node in tree.nodes]
        return [np.array(own) for own in zip(*by_node)]
    if tree.task != "classification":
        raise ValueError(
            f"this tree's nodes hold {tree.task}, not class weights, so that scikit-learn has no "
            "tree with the same predict_proba; output='label' gives one with the same predict"
        )
    return [np.array([tree.shares(node) for node in tree.nodes])]


def _label_shares(tree: Tree, classes: list[NDArray[Any]]) -> list[NDArray[np.float64]]:
    """The share 1 for the label of each node, and 0 for others."""
    several = tree.task == "targets"
    labels = [node.label if several else (node.label,) for node in tree.nodes]
    by_target = zip(*labels)
    return [
        np.array([[float(label == own_label) for own_label in own.tolist()] for label in chosen])
        for own, chosen in zip(classes, by_target)
    ]


def _check_answers(
    tree: Tree, classes: list[NDArray[Any]], shares: list[NDArray[np.float64]]
) -> None:
    """A ValueError unless each leaf answers the first class of the largest share, as
    scikit-learn's do."""
    for target, (own, share) in enumerate(zip(classes, shares)):
        largest = own[share.argmax(axis=1)].tolist()
        for leaf in tree.leaves:
            label = leaf.label[target] if tree.task == "targets" else leaf.label
            if label != largest[leaf.id]:
                raise ValueError(
                    f"leaf {leaf.id} answers {plain(str(label))}, but the class of the largest "
                    f"share in it is {plain(str(largest[leaf.id]))}, as class weights, costs or "
                    "constraints can have it, and that is what scikit-learn's predict answers; "
                    "output='label' gives a tree with the same predict, whose shares are 0 and 1"
                )


def _regressor(tree: Tree, known: Mapping[Slot, Feature]) -> Any:
    from sklearn.tree import DecisionTreeRegressor

    values = np.array([node.value for node in tree.nodes])
    model = DecisionTreeRegressor().fit(_no_values(known, 1), np.zeros((1, values.shape[1])))
    weights = [node.rows for node in tree.nodes]
    return _exchange(model, tree, known, values[:, :, None], _impurities(tree), weights)


def _impurities(tree: Tree) -> NDArray[np.float64]:
    """Mean squared errors, as scikit-learn takes the mean of several targets'; NaN where the tree
    does not know them."""
    known = variances(tree)
    if known is None:
        return np.full(len(tree.nodes), np.nan)
    return known / len(tree.labels)


def _no_values(known: Mapping[Slot, Feature], n_rows: int) -> NDArray[np.float32]:
    return np.zeros((n_rows, max(len(known), 1)), dtype=np.float32)


def _exchange(
    model: Any,
    tree: Tree,
    known: Mapping[Slot, Feature],
    values: NDArray[np.float64],
    impurity: NDArray[np.float64],
    weights: Any,
) -> Any:
    """Give a fitted model the nodes of the tree, by their ids."""
    maker, arguments, state = model.tree_.__reduce__()
    nodes = np.zeros(len(tree.nodes), dtype=state["nodes"].dtype)
    nodes["left_child"] = nodes["right_child"] = NO_CHILD
    nodes["feature"] = nodes["threshold"] = NO_FEATURE
    nodes["impurity"] = impurity
    nodes["n_node_samples"] = [node.rows for node in tree.nodes]
    nodes["weighted_n_node_samples"] = weights
    for node in tree.nodes:
        if node.split is not None:
            read = place(tree, node.split, known)
            nodes["left_child"][node.id] = node.split.left
            nodes["right_child"][node.id] = node.split.right
            nodes["feature"][node.id] = read.feature
            nodes["threshold"][node.id] = read.threshold
            nodes["missing_go_to_left"][node.id] = read.missing_goes_left
    model.tree_ = maker(*arguments)
    state.update(
        max_depth=tree.depth,
        node_count=len(nodes),
        nodes=nodes,
        values=np.ascontiguousarray(values, dtype=np.float64),
    )
    model.tree_.__setstate__(state)
    return model


def _warn_of_moved(known: Mapping[Slot, Feature]) -> None:
    for feature in known.values():
        if moved := feature.moved:
            warn(
                f"scikit-learn compares 32-bit floats, and has none for {len(moved)} thresholds of "
                f"column {feature.column.name!r}, such as {moved[0]!r}, that its other thresholds "
                "leave free: encode(X) moves values and thresholds together, so that its rows go "
                "the right way, but rows of a matrix that was made in another way may not",
            )
