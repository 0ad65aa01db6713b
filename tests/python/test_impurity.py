"""Impurities, description length and several targets of `OptimalTreeClassifier`: against every tree
there is."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from brute import cases, least_objective, sides, table, tree_objective
from sklearn.base import clone
from sklearn.metrics import log_loss

from certree import DemographicParity, OptimalTreeClassifier, Tree, frontier


def gini(weights):
    total = weights.sum()
    return total - (weights**2).sum() / total if total > 0 else 0.0


def entropy(weights):
    some = weights[weights > 0]
    return float((some * np.log(some.sum() / some)).sum())


@pytest.mark.parametrize("objective", ["gini", "log_loss", "mdl"])
@pytest.mark.parametrize("seed", cases(60))
def test_no_tree_is_better(objective, seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 30)), int(rng.integers(1, 5))
    X, y = table(rng, n, int(rng.integers(1, 4))), rng.integers(0, k, n)
    labels = np.unique(y)
    weights = [
        None, rng.integers(1, 4, n), rng.choice([0.5, 1.0, 0.1], n), rng.random(n) + 0.1
    ][seed % 4]
    w = np.ones(n) if weights is None else weights
    class_weight = [None, "balanced", {int(labels[0]): 2.5}][seed % 3]
    factor = {
        None: np.ones(n),
        "balanced": 1.0 / np.array([w[y == label].sum() for label in y]),
    }.get(
        class_weight if not isinstance(class_weight, dict) else 0,
        np.where(y == labels[0], 2.5, 1.0),
    )
    penalty = 0.01 if objective == "mdl" else float(rng.choice([0.0, 0.01, 0.03]))
    model = OptimalTreeClassifier(
        objective, max_depth=2, leaf_penalty=penalty, class_weight=class_weight, n_jobs=1 + seed % 2
    ).fit(X, y, weights)
    total, constant, unit = float((w * factor).sum()), 0.0, 1.0
    if objective == "mdl":
        leaf = 1 + (len(labels) - 1) / 2 * np.log2(max(w.sum(), 1))
        split = 1 + np.log2(max(len(sides(X)), 1))
        penalty, constant, unit = (leaf + split) / w.sum(), split / w.sum(), np.log(2)

    def cost(rows):
        by_class = np.array([(w * factor)[rows & (y == label)].sum() for label in labels])
        return (gini if objective == "gini" else entropy)(by_class) / unit

    best = least_objective(X, cost, 2, penalty * total) / total - constant
    assert model.objective_ == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert model.status_ == "optimal" and model.lower_bound_ <= model.objective_ + 1e-12
    own = tree_objective(model.apply(X), cost, penalty * total) / total - constant
    assert own == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert model.certificate_.leaf_penalty == pytest.approx(penalty)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        shares = [(w * factor)[rows & (y == label)].sum() for label in labels]
        assert max(shares) == pytest.approx(
            shares[labels.tolist().index(model.predict(X)[rows][0])]
        )
    if class_weight is None and objective == "log_loss" and len(labels) > 1:
        loss = log_loss(y, model.predict_proba(X), sample_weight=weights, labels=labels)
        assert loss == pytest.approx(model.objective_ - penalty * model.get_n_leaves(), abs=1e-9)


def test_what_does_not_go_together():
    X, y = [[0], [1]], [0, 1]
    for more, message in [
        ({"cost_matrix": [[0, 1], [1, 0]]}, "has no costs"),
        ({"reference": "guess"}, "objective='gini'"),
        (
            {"constraints": (DemographicParity("x0", 0.1),)},
            "constraints cannot be combined with objective='gini'",
        ),
        ({"objective": "mdl", "leaf_penalty": 0.02}, "leaf_penalty=0.02 cannot be combined"),
    ]:
        with pytest.raises(ValueError, match=message):
            OptimalTreeClassifier(**{"objective": "gini", **more}).fit(X, y)


def test_certificates_and_exports():
    rng = np.random.default_rng(5)
    X = pl.DataFrame(table(rng, 80, 4), schema=list("abcd"))
    y = np.where(X["a"].to_numpy() > 0, "yes", rng.choice(["yes", "no", "maybe"], 80))
    for objective, words in [
        ("gini", "Gini impurity"), ("log_loss", "log loss"), ("mdl", "bits per row")
    ]:
        model = OptimalTreeClassifier(objective, max_depth=3).fit(X, y)
        assert words in model.certificate_.statement()
        assert Tree.from_json(model.tree_.to_json()) == model.tree_
        assert X.select(model.tree_.to_polars())["label"].to_list() == model.predict(X).tolist()
        assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()
        lazy = OptimalTreeClassifier(objective, max_depth=3).fit(X.with_columns(y=y).lazy(), "y")
        assert lazy.tree_.to_text() == model.tree_.to_text()
    sizes = frontier(OptimalTreeClassifier("gini", max_depth=3), X, y)
    assert len(sizes) > 0


# Several targets


def many_targets(rng, n, n_targets):
    kinds = [["a", "b", "c"], ["no", "yes"], ["x"]]
    return [rng.choice(kinds[rng.integers(0, 3)], n) for _ in range(n_targets)]


@pytest.mark.parametrize("seed", cases(60))
def test_no_tree_of_several_targets_is_better(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    X = table(rng, n, int(rng.integers(1, 4)))
    targets = many_targets(rng, n, int(rng.integers(2, 4)))
    y = np.column_stack(targets)
    kinds = [
        None, rng.integers(0, 4, n), rng.choice([0.5, 1.0, 0.1], n),
        rng.random(n), 10.0 ** rng.uniform(-9, 6, n),
    ]  # fmt: skip
    weights = kinds[seed % 5]
    if weights is not None and not weights.any():
        weights[0] = 1
    w = np.ones(n) if weights is None else weights
    X, y, w, targets = X[w > 0], y[w > 0], w[w > 0], [t[w > 0] for t in targets]
    penalty = float(rng.choice([0.0, 0.01, 0.03, 1 / 70]))
    model = OptimalTreeClassifier(max_depth=2, leaf_penalty=penalty).fit(X, y, w)
    assert model.status_ == "optimal" and model.gap_ <= 1e-9
    total = float(w.sum())

    def cost(rows):
        errors = 0.0
        for target in targets:
            by_class = [w[rows & (target == label)].sum() for label in np.unique(target)]
            errors += sum(by_class) - max(by_class)
        return errors / len(targets)

    best = least_objective(X, cost, 2, penalty * total) / total
    assert model.objective_ == pytest.approx(best, rel=1e-12, abs=1e-12)
    wrong = np.mean(
        [np.average(model.predict(X)[:, t] != targets[t], weights=w) for t in range(len(targets))]
    )
    assert model.objective_ == pytest.approx(wrong + penalty * model.get_n_leaves(), rel=1e-9)
    assert model.score(X, y, w) == pytest.approx(
        np.average((model.predict(X) == y).all(axis=1), weights=w)
    )


def test_conventions_of_several_targets():
    rng = np.random.default_rng(1)
    X = pl.DataFrame(table(rng, 60, 4), schema=list("abcd"))
    y = pl.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], 60),
            "size": rng.integers(0, 2, 60),
            "old": rng.random(60) < 0.5,
        }
    )
    model = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.0).fit(X, y)
    assert [c.tolist() for c in model.classes_] == [["blue", "green", "red"], [0, 1], [False, True]]
    assert model.n_classes_ == [3, 2, 2] and model.n_outputs_ == 3
    predicted, shares = model.predict(X), model.predict_proba(X)
    assert predicted.shape == (60, 3) and predicted.dtype == object
    for t, own in enumerate(model.classes_):
        assert shares[t].shape == (60, len(own)) and np.allclose(shares[t].sum(axis=1), 1)
        assert (own[shares[t].argmax(axis=1)] == predicted[:, t]).all()
    tree = model.tree_
    again = Tree.from_json(tree.to_json())
    assert again == tree == pickle.loads(pickle.dumps(tree)) and tree.task == "targets"
    assert (again.predict(X) == predicted).all()
    found = X.select(tree.to_polars())["label"].struct.unnest()
    assert found.columns == ["colour", "size", "old"]
    assert [list(r) for r in found.rows()] == predicted.tolist()
    proba = X.select(tree.to_polars("proba")).unnest("proba")["colour"].struct.unnest()
    assert proba.columns == ["blue", "green", "red"] and np.array_equal(proba.to_numpy(), shares[0])
    assert "colour: " in tree.to_text() and "size: " in tree.to_dot()
    assert tree.nodes[0].label == tree.rules()[0].label or tree.n_leaves > 1
    both = pl.concat([X, y], how="horizontal")
    for x, target in [
        (X, y.to_pandas()),
        (X, y.to_arrow()),
        (X, y.lazy()),
        (both, y.columns),
        (both.lazy(), y.columns),
        (both.to_pandas(), y.columns),
    ]:
        assert (clone(model).fit(x, target).predict(X) == predicted).all()
    numbers = clone(model).fit(X, y.select("size", pl.col("old").cast(int)).to_numpy())
    assert numbers.predict(X).dtype.kind == "i"
    assert model.score(X, y) == pytest.approx(
        (predicted == np.array(y.rows(), dtype=object)).all(axis=1).mean()
    )
    assert "mean error rate of 3 targets" in model.certificate_.statement()
    one = clone(model).fit(X, y["size"])
    assert one.n_outputs_ == 1 and one.predict(X).ndim == 1


def test_what_several_targets_refuse():
    X, y = [[0], [1], [1]], np.array([[0, 1], [1, 0], [1, 1]])
    for more, message in [
        ({"objective": "f1"}, "objective='f1' is for one target"),
        ({"class_weight": "balanced"}, "class_weight cannot be combined with several targets"),
        ({"reference": "guess"}, "several targets"),
        ({"thresholds": "guess"}, "thresholds='guess' cannot be combined with several targets"),
    ]:
        with pytest.raises(ValueError, match=message):
            OptimalTreeClassifier(**more).fit(X, y)
    model = OptimalTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="y has 3 columns, but the tree was fitted to 2 targets"):
        model.score(X, np.zeros((3, 3)))
    with pytest.raises(ValueError, match="X has 3 rows, y has 2"):
        OptimalTreeClassifier().fit(X, y[:2])
    frame = pd.DataFrame({"a": [0, 1, None], "b": [0, 1, 1]})
    with pytest.raises(ValueError, match="target 'a' has 1 value missing"):
        OptimalTreeClassifier().fit(X, frame)
