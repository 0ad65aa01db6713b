"""How much each column matters to a fitted tree: what its loss would rise by without the column's
answers.

Every split on the column sends each row left or right at random, left with the share of the
training weight that went left there. A row that is sent where it belongs goes on by its own
answers. A row that is sent to the other side meets splits that it was never asked in training, so
it is spread over the leaves there as the training weight is. What ends in each leaf on average is a
sum over the tree's nodes, and so is exact: nothing is drawn.

A column that a best tree needs rises the loss even where its split gains nothing by itself, as at
the root of an exclusive or: each row that goes astray is answered by leaves that were made for
others.

Where nodes hold answers that do not tell what other rows would lose by them, such as rates, a
column is taken away instead: its splits become leaves, with all that is below them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.estimators import _impurity, _matrix, _metrics
from certree.estimators._class_costs import class_factors, cost_list
from certree.tree import Tree

Floats = NDArray[np.float64]

#: Of what ends in each leaf, leaves × sums, the loss.
Loss = Callable[[Floats], float]

#: Trees whose nodes hold what adds up over leaves. Others hold answers: rates, quantiles, shares.
SUMMED = ("classification", "costs", "rewards", "regression")

#: Means that differ by less, as a share of the largest, do not say how the weight was divided.
CLOSE = 1e-6


def importances(model: Any) -> Floats:
    """The rise of the loss by column, as shares of their sum. All zero where nothing rises."""
    tree: Tree = model.tree_
    if tree.task not in SUMMED or getattr(model, "objective", None) in _impurity.LOSSES:
        return _shares(_cut_off(tree))
    sums = _sums(tree)
    weights = _weights(tree)
    loss = _loss(model, tree)
    leaves = [node.id for node in tree.leaves]
    at_rest = loss(sums[leaves])
    rises = np.zeros(len(tree.columns))
    for column in {node.split.column_index for node in tree.nodes if node.split}:
        astray = _astray(tree, column, sums, weights)[leaves]
        # Under constraints the best tree may lose more than one of the answers at random; then it
        # is what changes.
        rises[column] = abs(loss(astray) - at_rest)
    # Sums are rounded, so that a little is left where nothing changes.
    rises[rises <= 1e-12 * rises.max(initial=0.0)] = 0.0
    scale = max(abs(at_rest), np.abs(sums[0]).sum())
    if rises.max(initial=0.0) <= 1e-14 * scale:
        return np.zeros(len(rises))
    return rises / rises.sum()


def _cut_off(tree: Tree) -> Floats:
    """By column: the rise of the loss if its splits become leaves, with all that is below them."""
    nodes = tree.nodes
    below = np.array([node.loss for node in nodes])
    for node in reversed(nodes):
        if node.split:
            below[node.id] = below[node.split.left] + below[node.split.right]
    rises = np.zeros(len(tree.columns))
    # Children come after their parent: a split below one on its own column is cut off with that.
    above: list[frozenset[int]] = [frozenset()] * len(nodes)
    for node in nodes:
        if node.split is None:
            continue
        column = node.split.column_index
        if column not in above[node.id]:
            rises[column] += max(node.loss - below[node.id], 0.0)
        for child in (node.split.left, node.split.right):
            above[child] = above[node.id] | {column}
    return rises


def _shares(rises: Floats) -> Floats:
    total = rises.sum()
    return rises / total if total > 0 else rises


def _astray(tree: Tree, column: int, sums: Floats, weights: Floats) -> Floats:
    """The sums that end in each leaf on average, if splits on the column are answered at random."""
    # By node: how likely its rows still are there, and what came from elsewhere for each unit of
    # its weight.
    stays = np.ones(len(weights))
    guests = np.zeros_like(sums)
    for node in tree.nodes:
        if node.split is None:
            continue
        left, right = node.split.left, node.split.right
        for child, other in ((left, right), (right, left)):
            stays[child] = stays[node.id]
            guests[child] = guests[node.id]
            if node.split.column_index == column and weights[node.id] > 0:
                share = weights[child] / weights[node.id]
                stays[child] *= share
                guests[child] += stays[node.id] * sums[other] / weights[node.id]
    return stays[:, None] * sums + weights[:, None] * guests


def _weights(tree: Tree) -> Floats:
    """The training weight of each node, or a multiple of it that is the same for all."""
    nodes = tree.nodes
    if tree.task == "classification":
        return np.array([sum(node.value) for node in nodes])
    # Nodes hold means: the mean of a node divides its children's as their weights are divided.
    weights = np.zeros(len(nodes))
    weights[0] = nodes[0].rows
    for node in nodes:
        if node.split is None:
            continue
        left, right = nodes[node.split.left], nodes[node.split.right]
        here, one, two = (np.array(each.value) for each in (node, left, right))
        apart = one - two
        share = left.rows / max(node.rows, 1)
        if np.abs(apart).max() > CLOSE * np.abs(here).max():
            apart /= np.abs(apart).max()
            share = float(np.clip((here - two) @ apart / ((one - two) @ apart), 0.0, 1.0))
        weights[left.id] = weights[node.id] * share
        weights[right.id] = weights[node.id] * (1.0 - share)
    return weights


def _sums(tree: Tree) -> Floats:
    """The contents of each node, as sums that add up over leaves: weights by class, or costs or
    rewards by label; of regression the weight, and the sums of the means and of their squares."""
    values = np.array([node.value for node in tree.nodes])
    if tree.task == "classification":
        return values
    weights = _weights(tree)[:, None]
    if tree.task != "regression":
        return weights * values
    values = values - values[0]
    sums = weights * np.column_stack([np.ones(len(values)), values, (values**2).sum(axis=1)])
    # Squares add up over the leaves below; what rows differ by within a leaf they do wherever they
    # end.
    for node in reversed(tree.nodes):
        if node.split:
            sums[node.id] = sums[node.split.left] + sums[node.split.right]
    return sums


def _loss(model: Any, tree: Tree) -> Loss:
    if tree.task == "regression":
        means = np.array([leaf.value for leaf in tree.leaves]) - np.array(tree.nodes[0].value)

        def squares(found: Floats) -> float:
            weight, of_means, of_squares = found[:, :1], found[:, 1:-1], found[:, -1]
            across = (of_means * means).sum(axis=1)
            return float((of_squares - 2 * across).sum() + (weight * means**2).sum())

        return squares
    known = tree.labels.tolist()
    answers = np.array([known.index(leaf.label) for leaf in tree.leaves])
    if tree.task != "classification":
        sign = -1.0 if tree.task == "rewards" else 1.0
        return lambda found: sign * float(found[np.arange(len(answers)), answers].sum())
    if _matrix.is_matrix(model, len(known)):
        return _of_matrix(model, tree, answers)
    if model.objective in _metrics.NAMES:
        return _metric(model, known, answers)
    if model.objective in ("auc", "partial_auc"):
        return _area(model, tree, known)

    costs = np.array(cost_list(model.cost_matrix, tree.labels)).reshape(len(known), -1)
    factors = _factors(model, tree)
    of_label = (costs * factors[:, None])[:, answers].T
    return lambda found: float((found * of_label).sum())


def _factors(model: Any, tree: Tree) -> Floats:
    """The factor of each class."""
    factors = np.array(class_factors(model.class_weight, tree.labels))
    if model._is_balanced():
        totals = np.array(tree.nodes[0].value)
        factors = factors / np.where(totals > 0, totals, 1.0)
    return factors


def _of_matrix(model: Any, tree: Tree, answers: NDArray[np.int64]) -> Loss:
    """The loss of the confusion matrix of the answers."""
    factors = _factors(model, tree)

    def loss(found: Floats) -> float:
        matrix = np.zeros((len(factors), len(factors)))
        np.add.at(matrix.T, answers, found * factors)
        return _matrix.loss_of_matrix(model, matrix)

    return loss


def _metric(model: Any, known: list[Any], answers: NDArray[np.int64]) -> Loss:
    """1 − F, Jaccard index or correlation of the answers."""
    positive = _metrics.positive_of(model, known)

    def loss(found: Floats) -> float:
        by_answer = [found[answers == label].sum(axis=0) for label in (positive, 1 - positive)]
        (tp, fp), (fn, tn) = (
            (float(held[positive]), float(held[1 - positive])) for held in by_answer
        )
        return _metrics.loss_of_counts(model, (tp, fn, fp, tn))

    return loss


def _area(model: Any, tree: Tree, known: list[Any]) -> Loss:
    """1 − the mean height of the ROC curve, which ranks by the leaves' shares of training."""
    positive = _metrics.positive_of(model, known)
    shares = np.array([tree.shares(leaf)[positive] for leaf in tree.leaves])
    _, place = np.unique(-shares, return_inverse=True)
    most = 1.0 if model.max_fpr is None else float(model.max_fpr)

    def loss(found: Floats) -> float:
        counts = np.zeros((place.max() + 1, 2))
        np.add.at(counts, place, found[:, [1 - positive, positive]])
        curve = np.vstack([[0.0, 0.0], counts.cumsum(axis=0) / counts.sum(axis=0)])
        false, true = curve.T
        # The first point that is not left of the end; the curve there is cut where the end is.
        last = int(np.argmax(false >= min(most, false[-1])))
        part = (most - false[last - 1]) / (false[last] - false[last - 1])
        false, true = false[: last + 1].copy(), true[: last + 1].copy()
        true[last] = true[last - 1] + part * (true[last] - true[last - 1])
        false[last] = most
        return 1.0 - float((np.diff(false) * (true[1:] + true[:-1])).sum() / 2) / most

    return loss
