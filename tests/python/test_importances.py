"""`feature_importances_`: what the loss rises by when a column's splits are answered at random,
judged row by row."""

import numpy as np
import pytest
from sklearn.feature_selection import SelectFromModel

from certree import (
    Capacity,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
)

XOR = np.array([[a, b] for a in (0, 1) for b in (0, 1)] * 5)
ODD = XOR[:, 0] ^ XOR[:, 1]


def ends(tree, X, weights, column):
    """The chance of each row to end in each leaf, by walking every row through the tree."""
    passed = tree.decision_path(X).toarray().astype(bool)
    held = weights @ passed
    chances = np.zeros((len(X), len(tree.nodes)))

    def walk(row, node, chance, at_home):
        split = tree.nodes[node].split
        if split is None:
            chances[row, node] += chance
            return
        for child in (split.left, split.right):
            share = held[child] / held[node]
            home = at_home and passed[row, child]
            if not at_home:
                walk(row, child, chance * share, False)
            elif split.column_index == column:
                walk(row, child, chance * share, home)
            elif home:
                walk(row, child, chance, True)

    for row in range(len(X)):
        walk(row, 0, 1.0, True)
    return chances


def judged(tree, X, weights, loss):
    """Shares of the rise of a loss by row and node."""
    rises = np.zeros(len(tree.columns))
    for column in range(len(rises)):
        own, random = (ends(tree, X, weights, at) for at in (-1, column))
        rises[column] = (weights[:, None] * (random - own) * loss).sum()
    return rises / rises.sum() if rises.sum() > 1e-9 else rises * 0


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("weighted", [False, True])
def test_importances_are_those_of_rows_that_walk_at_random(seed, weighted):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (60, 4))
    weights = rng.integers(1, 9, 60) / 4 if weighted else np.ones(60)
    given = weights if weighted else None
    y = (X[:, 0] + X[:, 1] > 3).astype(int) + (rng.random(60) < 0.2)
    shape = {"max_depth": 3, "leaf_penalty": 0.002}

    model = OptimalTreeClassifier(**shape).fit(X, y, given)
    answers = np.array([node.label for node in model.tree_.nodes])
    wanted = judged(model.tree_, X, weights, y[:, None] != answers)
    assert model.feature_importances_ == pytest.approx(wanted, abs=1e-9)

    costs = np.array([[0, 1, 5], [2, 0, 1], [1, 3, 0]])
    model = OptimalTreeClassifier(
        **shape, cost_matrix=costs, class_weight={1: 3.0}
    ).fit(X, y, given)
    answers = [node.label for node in model.tree_.nodes]
    factor = np.where(y == 1, 3.0, 1.0)[:, None]
    wanted = judged(model.tree_, X, weights, costs[y][:, answers] * factor)
    assert model.feature_importances_ == pytest.approx(wanted, abs=1e-9)

    numbers = X[:, 0] * X[:, 1] + rng.normal(size=60)
    model = OptimalTreeRegressor(**shape).fit(X, numbers, sample_weight=given)
    means = np.array([node.label for node in model.tree_.nodes])
    wanted = judged(model.tree_, X, weights, (numbers[:, None] - means) ** 2)
    assert model.feature_importances_ == pytest.approx(wanted, abs=1e-6)

    prices = rng.random((60, 3)) + (X[:, :3] > 1)
    model = OptimalCostTree(**shape).fit(X, prices, sample_weight=given)
    answers = [node.label for node in model.tree_.nodes]
    wanted = judged(model.tree_, X, weights, prices[:, answers])
    assert model.feature_importances_ == pytest.approx(wanted, abs=1e-6)


OBJECTIVES = (
    "accuracy", "balanced_accuracy", "f1", "fbeta", "jaccard", "mcc", "auc", "partial_auc",
    "f1_macro", "f1_weighted", "f1_micro",
)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_both_columns_of_an_exclusive_or_matter(objective):
    most = {"max_fpr": 0.3} if objective == "partial_auc" else {}
    model = OptimalTreeClassifier(objective, max_depth=2, **most).fit(XOR, ODD)
    assert model.score(XOR, ODD) == 1 and (model.feature_importances_ > 0.3).all()
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_other_tasks_of_an_exclusive_or():
    models = [
        OptimalTreeRegressor(max_depth=2).fit(XOR, 7.5 - ODD),
        OptimalTreeRegressor(max_depth=2).fit(XOR, np.column_stack([ODD, 100 - ODD])),
        OptimalCostTree(max_depth=2).fit(XOR, np.column_stack([ODD, 1 - ODD])),
        OptimalPolicyTree(max_depth=2).fit(XOR, rewards=np.column_stack([ODD, 1 - ODD])),
        OptimalTreeClassifier(max_depth=2, constraints=(Capacity(1, 0.5),)).fit(XOR, ODD),
    ]
    for model in models:
        assert model.feature_importances_ == pytest.approx([1 / 3, 2 / 3])


def test_a_selection_keeps_what_the_tree_needs():
    rng = np.random.default_rng(0)
    X = np.column_stack([XOR, rng.integers(0, 2, (len(XOR), 2))])
    chosen = SelectFromModel(OptimalTreeClassifier(max_depth=2), threshold=1e-9).fit(X, ODD)
    assert chosen.get_support().tolist() == [True, True, False, False]


@pytest.mark.parametrize("seed", range(20))
def test_every_column_that_pays_for_its_leaves_has_a_part(seed):
    """With a leaf penalty a best tree splits only where that lowers the loss."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (50, 5))
    y = rng.integers(0, 2, 50)
    for objective in ("accuracy", "balanced_accuracy", "f1", "auc"):
        model = OptimalTreeClassifier(objective, max_depth=3, leaf_penalty=0.005).fit(X, y)
        used = {node.split.column_index for node in model.tree_.nodes if node.split}
        assert set(np.flatnonzero(model.feature_importances_).tolist()) == used


def test_a_constant_tree_has_none():
    for model in (
        OptimalTreeClassifier(max_depth=0).fit(XOR, ODD),
        OptimalTreeClassifier().fit(XOR, np.ones(20, dtype=int)),
        OptimalTreeRegressor().fit(XOR, np.ones(20)),
        OptimalTreeRegressor().fit(XOR, np.full(20, 1e15)),
        OptimalCostTree().fit(XOR, np.ones((20, 2))),
    ):
        assert model.feature_importances_.tolist() == [0.0, 0.0]
