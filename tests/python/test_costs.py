"""`OptimalCostTree` from outside: what it optimizes, what it shows, and what it refuses."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from certree import OptimalCostTree, OptimalTreeClassifier, Tree, cli


def table(n=200, k=3, seed=0):
    rng = np.random.default_rng(seed)
    X = pl.DataFrame(
        {"a": rng.integers(0, 6, n), "b": rng.random(n) < 0.4, "c": rng.choice(["x", "y", "z"], n)}
    )
    costs = rng.gamma(1.0, 2.0, (n, k))
    costs[:, 0] += X["a"].to_numpy()
    costs[:, 1] += 4 * X["b"].to_numpy()
    costs[:, -1] += 2.0
    return X, pl.DataFrame(costs, schema=[f"label{i}" for i in range(k)])


def best_stump(X, costs, weights, penalty):
    """The least objective of a leaf or a stump, over every cut there is."""
    costs, total = costs * weights[:, None], weights.sum()
    best = costs.sum(axis=0).min() / total + penalty
    for column in X.get_columns():
        if column.dtype == pl.String:
            sides = [(column == value).to_numpy() for value in column.unique()]
        else:
            values = column.cast(pl.Int64)
            sides = [(values <= cut).to_numpy() for cut in values.unique().sort()[:-1]]
        for side in sides:
            both = costs[side].sum(axis=0).min() + costs[~side].sum(axis=0).min()
            best = min(best, both / total + 2 * penalty)
    return best


@pytest.mark.parametrize("seed", range(60))
def test_no_stump_is_better(seed):
    rng = np.random.default_rng(seed)
    X, costs = table(rng.integers(2, 40), rng.integers(2, 5), seed)
    costs = costs.select(pl.all() - 3.0)
    weights = rng.choice([0.5, 1.0, 2.0], len(X)) if seed % 2 else np.ones(len(X))
    model = OptimalCostTree(max_depth=1, leaf_penalty=0.05).fit(X, costs, weights)
    best = best_stump(X, costs.to_numpy(), weights, 0.05)
    assert model.objective_ == pytest.approx(best, rel=1e-12, abs=1e-12)
    assert model.status_ == "optimal" and model.lower_bound_ <= model.objective_
    paid = -model.score(X, costs, weights) + 0.05 * model.get_n_leaves()
    assert model.objective_ == pytest.approx(paid, rel=1e-12, abs=1e-12)


def test_costs_of_errors_are_accuracy():
    X, costs = table(300)
    y = costs.to_numpy().argmin(axis=1)
    errors = 1 - np.eye(3)[y]
    weights = np.random.default_rng(0).integers(0, 4, 300)
    for sample_weight in (None, weights):
        ours = OptimalCostTree(max_depth=3).fit(X, errors, sample_weight)
        theirs = OptimalTreeClassifier(max_depth=3).fit(X, y, sample_weight)
        assert ours.objective_ == pytest.approx(theirs.objective_, rel=1e-12)


def test_every_container_gives_the_same_tree():
    X, costs = table()
    model = OptimalCostTree(max_depth=2).fit(X, costs)
    both = pl.concat([X, costs], how="horizontal")
    for x, c in [
        (X, costs.to_pandas()),
        (X, costs.to_arrow()),
        (X, costs.lazy()),
        (X.lazy(), costs),
        (both, costs.columns),
        (both.lazy(), costs.columns),
        (both.to_pandas(), costs.columns),
    ]:
        again = clone(model).fit(x, c)
        assert again.tree_ == model.tree_ or isinstance(x, pd.DataFrame)
        assert (again.predict(X) == model.predict(X)).all()
        assert again.objective_ == model.objective_
        assert again.n_features_in_ == 3
    numbers = clone(model).fit(X, costs.to_numpy())
    assert numbers.labels_.tolist() == [0, 1, 2] and numbers.objective_ == model.objective_
    order = np.random.default_rng(1).permutation(len(X))
    assert clone(model).fit(X[order], costs[order]).tree_.to_text() == model.tree_.to_text()


def test_nodes_show_mean_costs():
    X, costs = table()
    weights = np.random.default_rng(3).integers(0, 3, len(X)) / 2
    model = OptimalCostTree(max_depth=3).fit(X, costs, weights)
    path = model.decision_path(X).toarray().astype(bool)
    for node in model.tree_.nodes:
        inside = path[:, node.id]
        mean = np.average(costs.to_numpy()[inside], axis=0, weights=weights[inside])
        assert np.allclose(node.value, mean, rtol=1e-12)
        assert node.label == costs.columns[mean.argmin()]
    leaves = model.apply(X)
    assert np.array_equal(
        model.predict_costs(X), [model.tree_.nodes[leaf].value for leaf in leaves]
    )
    text = model.tree_.to_text()
    assert "mean costs  label0: " in text.splitlines()[0] and "%" not in text
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_exports():
    X, costs = table()
    model = OptimalCostTree(max_depth=2).fit(X, costs)
    tree = model.tree_
    again = Tree.from_json(tree.to_json())
    assert again == tree and again.task == "costs" and json.loads(tree.to_json())["task"] == "costs"
    assert (X.select(tree.to_polars())["label"].to_numpy() == model.predict(X)).all()
    assert "label1" in tree.to_dot()
    for call in (lambda: tree.predict_proba(X), lambda: tree.to_polars("proba")):
        with pytest.raises(ValueError, match="hold costs, not class weights"):
            call()
    assert pickle.loads(pickle.dumps(model)).tree_ == tree


def test_the_certificate_says_mean_cost():
    X, costs = table()
    words = str(OptimalCostTree(max_depth=2).fit(X, costs * 1e6).certificate_)
    assert "Objective: mean cost on those rows plus 0.01 for each leaf." in words
    assert "Proved: no such tree has a lower objective." in words


def test_limits_and_threads():
    X, costs = table(400, 4)
    free = OptimalCostTree(max_depth=3, leaf_penalty=0.001).fit(X, costs)
    both = OptimalCostTree(max_depth=3, leaf_penalty=0.001, n_jobs=2).fit(X, costs)
    assert both.objective_ == free.objective_
    gap = OptimalCostTree(max_depth=3, leaf_penalty=0.001, gap_limit=0.5).fit(X, costs)
    assert gap.lower_bound_ <= free.objective_ <= gap.objective_ and gap.gap_ <= 0.5
    with pytest.warns(match="before the tree was proved optimal"):
        short = OptimalCostTree(max_depth=3, time_limit=1e-9).fit(X, costs)
    assert short.lower_bound_ <= free.objective_
    small = OptimalCostTree(max_depth=3, min_samples_leaf=50, max_leaf_nodes=3).fit(X, costs)
    assert small.get_n_leaves() <= 3 and min(leaf.rows for leaf in small.tree_.leaves) >= 50


def test_scores_are_larger_for_better_trees():
    X, costs = table(300)
    model = OptimalCostTree(max_depth=2).fit(X, costs)
    assert model.score(X, costs) == model.score(X, costs.select(reversed(costs.columns)))
    assert model.score(X, costs) > -costs.to_numpy().mean(axis=0).min()
    with pytest.raises(ValueError, match="the tree was fitted with"):
        model.score(X, costs.rename({"label0": "other"}))
    numbers = X.select("a", "b").to_numpy().astype(float)
    scores = cross_val_score(OptimalCostTree(max_depth=2), numbers, costs.to_numpy(), cv=3)
    assert (scores < 0).all()


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (None, "requires costs to be passed"),
        (np.ones(4), r"rows × columns, but has the shape \(4,\)"),
        (np.ones((4, 1)), r"at least two, but has the shape \(4, 1\)"),
        (np.ones((3, 2)), "X has 4 rows, costs has 3"),
        (np.array([["a", "b"]] * 4), "a table of numbers"),
        (
            pl.DataFrame({"u": [1.0, None, 2, 3], "v": [1.0, 2, np.nan, 3]}),
            "'u' has 1 value missing",
        ),
        (pl.DataFrame({"u": [1.0, np.inf, 2, 3], "v": [1, 2, 3, 4]}), "'u' has 1 value infinite"),
        (pl.DataFrame({"u": list("abcd"), "v": [1, 2, 3, 4]}), "'u' has the type String; cast it"),
        (pd.DataFrame(np.ones((4, 2)), columns=["u", "u"]), "must be unique"),
        (["a", "no"], "costs names 'no', which X does not have"),
        ("a", "names one column"),
        (["a", "b", "d"], "minimum of 1 is required"),
        (np.array([[1e308, -1e308]] * 4), "add up to more than a float holds"),
    ],
)
def test_bad_costs(costs, message):
    X = pl.DataFrame({"a": [1, 2, 3, 4], "b": [1, 1, 2, 2], "d": [0, 0, 1, 2]})
    with pytest.raises(ValueError, match=message):
        OptimalCostTree().fit(X, costs)


def test_names_need_a_frame():
    with pytest.raises(ValueError, match="X is an array without names"):
        OptimalCostTree().fit(np.ones((4, 3)), ["a", "b"])


def test_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, costs = table(60, 2)
    pl.concat([X, costs], how="horizontal").write_csv("runs.csv")
    fit = "fit runs.csv --costs label0 label1 --max-depth 2 --model model.json --quiet"
    assert cli.main(fit.split()) == 0
    assert "mean cost" in capsys.readouterr().out
    assert cli.main("predict model.json runs.csv".split()) == 0
    model = OptimalCostTree(max_depth=2).fit(X, costs)
    assert capsys.readouterr().out.split() == ["prediction", *model.predict(X)]
    for line, message in [
        ("fit runs.csv --costs label0 no", "--costs: runs.csv has no column 'no'"),
        ("fit runs.csv --costs label0 label1 --weight label0", "--weight and --costs both name"),
        ("fit runs.csv --costs label0 label1 --objective accuracy", "--objective is for --target"),
        ("predict model.json runs.csv --proba", "hold costs, not class weights"),
    ]:
        assert cli.main(line.split()) == 2
        assert message in capsys.readouterr().err
