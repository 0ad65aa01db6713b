"""The loss of a fitted classifier on rows with known labels: the formula of its objective, with the
tree's answers and the weights of these rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.metrics import roc_curve

from certree import ingest
from certree.estimators import _impurity, _matrix, _metrics, _ranking
from certree.tree import Tree

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

#: Shares of zero are taken for this before their logarithm, as scikit-learn's log_loss does: rows
#: of a class that a leaf has not seen in training would otherwise make the loss infinite.
LEAST_SHARE = float(np.finfo(np.float64).eps)


def loss(
    model: Any, rows: tuple[Any, Any, Floats | None], leaves: NDArray[np.uint32]
) -> float:
    """The loss without the costs of leaves. ``rows``: features, labels and weights. ``leaves``:
    where the tree sends each row."""
    X, y, weights = rows
    tree: Tree = model.tree_
    if tree.task == "targets":
        return _of_targets(tree, X, y, weights) + model._mean_paid(X, leaves, weights)
    labels = tree.labels.tolist()
    actual = _numbers(X, y, labels, len(leaves), _counts_unknown(model))
    weights = np.ones(len(leaves)) if weights is None else weights
    weights = weights * _factors(model, tree, actual, weights)
    return _loss(model, tree, actual, leaves, weights) + model._mean_paid(X, leaves, weights)


def _loss(model: Any, tree: Tree, actual: Codes, leaves: Any, weights: Floats) -> float:
    """The loss of what rows are answered."""
    labels = tree.labels.tolist()
    if _matrix.is_matrix(model, len(labels)):
        answers = _answers(tree, labels)[leaves]
        matrix = _matrix.matrix_of(actual, answers, weights, len(labels))
        return _matrix.loss_of_matrix(model, matrix)
    if model.objective in _metrics.NAMES:
        return _metric(model, labels, actual, _answers(tree, labels)[leaves], weights)
    if model.objective in _ranking.LOSSES:
        return _area(model, labels, actual, _shares(tree)[leaves], weights)
    if model.objective in _impurity.LOSSES:
        return _of_shares(model, tree, actual, leaves, weights)
    costs = _costs(model, tree, actual, _answers(tree, labels)[leaves])
    return float(np.average(costs, weights=weights))


def _counts_unknown(model: Any) -> bool:
    """True if a label that the fit did not have is an error as any other: where errors are counted,
    and nothing else is known of classes."""
    counted = model.objective in ("accuracy", "balanced_accuracy", _matrix.MICRO)
    return counted and model.cost_matrix is None


def _numbers(X: Any, y: Any, labels: list[Any], n_rows: int, unknown_too: bool) -> Codes:
    """The class number of each row; beyond those of the fit for labels that it did not have."""
    series = ingest.read_column(X, y, "y")
    found, place = ingest.classes_of(series, "y", y)
    if len(place) != n_rows:
        raise ValueError(f"X has {n_rows:,} rows, but y has {len(place):,}")
    known = {label: number for number, label in enumerate(labels)}
    strange = [label for label in found.tolist() if label not in known]
    if strange and not unknown_too:
        raise ValueError(
            f"y has the labels {strange[:10]!r}, which the fit did not have: its loss says nothing "
            "of them; name all "
            "labels there can be with classes="
        )
    for label in strange:
        known[label] = len(known)
    return np.array([known[label] for label in found.tolist()], dtype=np.intp)[place]


def _factors(model: Any, tree: Tree, actual: Codes, weights: Floats) -> Floats:
    """The factor of each row by its class."""
    from certree.estimators._class_costs import class_factors

    given = np.array(class_factors(model.class_weight, tree.labels))
    n_classes = max(len(given), int(actual.max(initial=0)) + 1)
    factors = np.concatenate([given, np.ones(n_classes - len(given))])
    if model._is_balanced():
        totals = np.bincount(actual, weights=weights, minlength=n_classes)
        factors = factors / np.where(totals > 0, totals, 1.0)
    return factors[actual]


def _answers(tree: Tree, labels: list[Any]) -> Codes:
    """The class number that each node answers."""
    return np.array([labels.index(node.label) for node in tree.nodes], dtype=np.intp)


def _shares(tree: Tree) -> Floats:
    """The class shares of each node in training."""
    return np.array([tree.shares(node) for node in tree.nodes])


def _costs(model: Any, tree: Tree, actual: Codes, answers: Codes) -> Floats:
    from certree.estimators._class_costs import cost_list

    if model.cost_matrix is None:
        return (actual != answers).astype(np.float64)
    costs = np.array(cost_list(model.cost_matrix, tree.labels)).reshape(len(tree.labels), -1)
    return costs[actual, answers]


def _metric(
    model: Any, labels: list[Any], actual: Codes, answers: Codes, weights: Floats
) -> float:
    positive = _metrics.positive_of(model, labels)
    is_positive, said = actual == positive, answers == positive

    def weight(rows: NDArray[np.bool_]) -> float:
        return float(weights[rows].sum())

    tp, fn = weight(is_positive & said), weight(is_positive & ~said)
    fp, tn = weight(~is_positive & said), weight(~is_positive & ~said)
    return _metrics.loss_of_counts(model, (tp, fn, fp, tn))


def _area(
    model: Any, labels: list[Any], actual: Codes, shares: Floats, weights: Floats
) -> float:
    """1 − the mean height of the ROC curve up to ``max_fpr``."""
    positive = _metrics.positive_of(model, labels)
    truth = actual == positive
    if truth.all() or not truth.any():
        raise ValueError("rows of both classes are needed to rank them, but these are all of one")
    false, true, _ = roc_curve(
        truth, shares[:, positive], sample_weight=weights, drop_intermediate=False
    )
    most = 1.0 if model.max_fpr is None else float(model.max_fpr)
    inside = false < most
    heights = np.append(true[inside], np.interp(most, false, true))
    if most in false:
        # Where the curve rises straight up at the end, the area begins at its foot.
        heights[-1] = true[false == most].min()
    along = np.append(false[inside], most)
    area = float((np.diff(along) * (heights[1:] + heights[:-1])).sum() / 2)
    return 1.0 - area / most


def _of_shares(
    model: Any, tree: Tree, actual: Codes, leaves: NDArray[Any], weights: Floats
) -> float:
    """The mean squared error, log loss or bits of the leaves' class shares, class weights applied
    to these as well."""
    from certree.estimators._class_costs import class_factors

    factors = np.array(class_factors(model.class_weight, tree.labels))
    if model._is_balanced():
        totals = np.array(tree.nodes[0].value)
        factors = factors / np.where(totals > 0, totals, 1.0)
    counts = np.array([node.value for node in tree.nodes]) * factors
    # Of a leaf whose classes all count nothing, every class is as likely.
    counts[counts.sum(axis=1) == 0.0] = 1.0
    shares = counts / counts.sum(axis=1, keepdims=True)
    if model.objective == "gini":
        # Σ over classes of (1 or 0 − share)².
        own = shares[leaves, actual]
        each = 1.0 - 2.0 * own + (shares**2).sum(axis=1)[leaves]
    else:
        log: Callable[[Floats], Floats] = np.log if model.objective == "log_loss" else np.log2
        each = -log(np.maximum(shares[leaves, actual], LEAST_SHARE))
    return float(np.average(each, weights=weights))


def _of_targets(tree: Tree, X: Any, y: Any, weights: Floats | None) -> float:
    """The mean error rate of several targets."""
    predicted = tree.predict(X)
    columns, _ = ingest.target_columns(X, y)
    if len(columns) != predicted.shape[1]:
        raise ValueError(
            f"y has {len(columns)} columns, but the tree was fitted to {predicted.shape[1]} targets"
        )
    rates = []
    for series, answers in zip(columns.values(), predicted.T):
        if isinstance(series.dtype, (pl.Categorical, pl.Enum)):
            series = series.cast(pl.String)
        rates.append(np.average(series.to_numpy() != answers, weights=weights))
    return float(np.mean(rates))
