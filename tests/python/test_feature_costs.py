"""Costs of asking for columns: what rows pay, what the certificate says, and what is refused."""

import itertools
import pickle

import numpy as np
import polars as pl
import pytest
from paying import paid
from sklearn.base import clone

from certree import (
    FeatureCost,
    OptimalCostTree,
    OptimalTreeClassifier,
    ThresholdGuesser,
    frontier,
)


def table(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = pl.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "blood": rng.normal(0, 1, n).round(1),
            "scan": rng.random(n) < 0.4,
            "kind": rng.choice(["a", "b", "c"], n),
        }
    )
    ill = (X["blood"] > 0.3) ^ (X["scan"] & (X["kind"] == "b")) ^ pl.Series(rng.random(n) < 0.1)
    return X, np.where(ill, "ill", "well")


COSTS = {
    "age": 0.01,
    "blood": FeatureCost(0.06, group="lab", discounted=0.02),
    "scan": FeatureCost(0.08, group="lab", discounted=0.03),
}


@pytest.mark.parametrize("objective", ["accuracy", "balanced_accuracy"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_is_what_rows_lose_and_pay(objective, weighted):
    X, y = table()
    weights = np.random.default_rng(1).choice(
        [0.5, 1.0, 2.0], len(y)
    ) if weighted else np.ones(len(y))
    model = OptimalTreeClassifier(objective, max_depth=3, leaf_penalty=0.002, feature_costs=COSTS)
    model.fit(X, y, weights if weighted else None)
    spent = model.feature_costs_paid(X)
    assert np.allclose(spent, paid(model, X, COSTS)) and spent.max() > 0
    if objective == "balanced_accuracy":
        weights = weights / np.where(
            y == "ill", weights[y == "ill"].sum(), weights[y == "well"].sum()
        )
    lost = np.average((model.predict(X) != y) + spent, weights=weights)
    assert model.objective_ == pytest.approx(lost + 0.002 * model.get_n_leaves(), rel=1e-9)
    assert model.status_ == "optimal"
    assert model.score(X, y) == np.mean(model.predict(X) == y)


def test_costs_by_row_pay_too():
    X, y = table()
    costs = np.column_stack([y == "well", y == "ill"]) * np.arange(1, len(y) + 1)[:, None] / len(y)
    model = OptimalCostTree(max_depth=3, leaf_penalty=0.002, feature_costs=COSTS).fit(X, costs)
    lost = costs[np.arange(len(y)), model.predict(X)] + model.feature_costs_paid(X)
    assert model.objective_ == pytest.approx(lost.mean() + 0.002 * model.get_n_leaves(), rel=1e-9)
    assert np.allclose(model.feature_costs_paid(X), paid(model, X, COSTS))
    # Errors as costs by row are the classifier's errors.
    errors = np.column_stack([y == "well", y == "ill"]).astype(float)
    both = OptimalCostTree(max_depth=3, feature_costs=COSTS).fit(X, errors)
    classes = OptimalTreeClassifier(max_depth=3, feature_costs=COSTS).fit(X, y)
    assert both.objective_ == pytest.approx(classes.objective_, rel=1e-12)


def test_all_questions_of_a_column_and_all_columns_of_a_test_are_paid_once():
    X, y = table(200)
    dear = OptimalTreeClassifier(
        max_depth=3, leaf_penalty=0, feature_costs={"kind": 0.02, "blood": 0.02}
    ).fit(X, y)
    one_hot = X.with_columns(
        *[(pl.col("kind") == v).alias(f"kind {v}") for v in "abc"]
    ).drop("kind")
    several = {("kind a", "kind b", "kind c"): 0.02, "blood": 0.02}
    again = OptimalTreeClassifier(
        max_depth=3, leaf_penalty=0, feature_costs=several
    ).fit(one_hot, y)
    assert again.objective_ == dear.objective_
    alone = {**{f"kind {v}": 0.02 for v in "abc"}, "blood": 0.02}
    assert clone(again).set_params(
        feature_costs=alone
    ).fit(one_hot, y).objective_ >= dear.objective_


def test_a_small_table_by_hand():
    X = pl.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]})
    y = [0, 1, 1, 0]
    costs = {"a": FeatureCost(0.1, "g", 0.04), "b": FeatureCost(0.1, "g", 0.04)}
    model = OptimalTreeClassifier(leaf_penalty=0, feature_costs=costs).fit(X, y)
    assert model.objective_ == pytest.approx(0.14)
    assert model.feature_costs_paid(X).tolist() == pytest.approx([0.14] * 4)
    dear = clone(model).set_params(feature_costs={"a": 0.3, "b": 0.3}).fit(X, y)
    assert dear.get_n_leaves() == 1 and dear.objective_ == 0.5
    assert dear.feature_costs_paid(X).tolist() == [0] * 4


def test_free_columns_change_nothing():
    X, y = table()
    free = OptimalTreeClassifier(max_depth=2).fit(X, y)
    for costs in ({}, {"age": 0, "blood": FeatureCost(0.0, "g", 0.0)}):
        again = clone(free).set_params(feature_costs=costs).fit(X, y)
        assert again.objective_ == free.objective_ and again.tree_.to_text() == free.tree_.to_text()
        assert not again.feature_costs_paid(X).any()
        assert "feature costs" not in str(again.certificate_)


def test_limits_threads_and_containers():
    X, y = table()
    model = OptimalTreeClassifier(max_depth=3, leaf_penalty=0.001, feature_costs=COSTS).fit(X, y)
    for more in (
        {"n_jobs": 2}, {"memory_limit": 50e6}, {"max_leaf_nodes": 8}, {"min_samples_leaf": 1}
    ):
        assert clone(model).set_params(**more).fit(X, y).objective_ == model.objective_
    stopped = clone(model).set_params(gap_limit=0.1).fit(X, y)
    assert stopped.lower_bound_ <= model.objective_ <= stopped.objective_
    assert stopped.objective_ <= stopped.lower_bound_ + 0.1
    with pytest.warns(match="before the tree was proved optimal"):
        short = clone(model).set_params(time_limit=1e-9).fit(X, y)
    assert short.lower_bound_ <= model.objective_ <= short.objective_
    large = clone(model).set_params(min_samples_leaf=20, max_leaf_nodes=3).fit(X, y)
    assert large.get_n_leaves() <= 3 and min(leaf.rows for leaf in large.tree_.leaves) >= 20
    for X2 in (X.to_pandas(), X.to_arrow()):
        assert clone(model).fit(X2, y).objective_ == model.objective_
    assert (
        pickle.loads(pickle.dumps(model)).feature_costs_paid(X) == model.feature_costs_paid(X)
    ).all()
    assert clone(model).set_params(max_depth=None, leaf_penalty=0.02).fit(X, y).status_ == "optimal"


def test_what_was_fitted_pays_not_what_is_set_since():
    X, y = table()
    model = OptimalTreeClassifier(max_depth=2, feature_costs=COSTS).fit(X, y)
    before = model.feature_costs_paid(X)
    model.set_params(feature_costs=None)
    assert (model.feature_costs_paid(X) == before).all()


def test_guessed_thresholds_and_frontiers():
    X, y = table()
    guessed = OptimalTreeClassifier(
        max_depth=2, feature_costs=COSTS, thresholds=ThresholdGuesser()
    ).fit(X, y)
    best = OptimalTreeClassifier(max_depth=2, feature_costs=COSTS).fit(X, y)
    assert guessed.objective_ >= best.objective_
    front = frontier(OptimalTreeClassifier(max_depth=2, feature_costs=COSTS), X, y)
    leaves = best.get_n_leaves()
    loss = best.objective_ - 0.01 * leaves
    assert front.filter(pl.col("leaves") == leaves)["loss"][0] == pytest.approx(loss)


def test_the_certificate_says_so():
    X, y = table()
    words = str(OptimalTreeClassifier(max_depth=2, feature_costs=COSTS).fit(X, y).certificate_)
    objective = "error rate, feature costs included, on those rows plus 0.01 for each leaf."
    assert f"Objective: {objective}" in words
    assert "feature costs" not in str(OptimalTreeClassifier(max_depth=2).fit(X, y).certificate_)


@pytest.mark.parametrize(
    "costs, message",
    [
        (
            {"weight": 1.0},
            "feature_costs names 'weight', which is no feature column: there are 'age', 'blood'",
        ),
        ({("age", "weight"): 1.0}, "names 'weight', which is no feature column"),
        ({"age": 1.0, ("age", "blood"): 1.0}, "names the column 'age' twice"),
        (
            {"age": -1.0},
            r"\['age'\] has the cost -1.0, but costs must be finite numbers of at least 0",
        ),
        ({"age": float("nan")}, "has the cost nan"),
        ({"age": "dear"}, "names the column 'dear' of prices, which X does not have"),
        ({"age": [1.0, 2.0]}, "has 2 rows, but X has 30"),
        ({"age": True}, "has the cost True"),
        (
            {"age": FeatureCost(1.0, "g", 2.0)},
            "has the discounted cost 2.0, which is above its cost 1.0",
        ),
        (
            {"age": FeatureCost(1.0, "g", -2.0)},
            "has the discounted cost -2.0, but costs must be finite",
        ),
        ({"age": FeatureCost(1.0, None, 0.5)}, "has a discounted cost, but no group"),
        ({"age": FeatureCost(1.0, 3)}, "has the group 3, but a group is a name"),
        ([1.0, 2.0], "feature_costs=.* is not valid: it must be a dict of column names"),
        ({0: 1.0}, "feature_costs=.* is not valid: it must be a dict of column names"),
    ],
)
def test_bad_costs(costs, message):
    X, y = table(30)
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifier(feature_costs=costs).fit(X, y)
    with pytest.raises(ValueError, match=message):
        OptimalCostTree(feature_costs=costs).fit(X, np.eye(2)[(y == "ill").astype(int)])


@pytest.mark.parametrize(
    "other, message",
    [
        ({"objective": "auc"}, "feature_costs cannot be combined with objective='auc'"),
        ({"reference": "guess"}, "feature_costs cannot be combined with reference="),
    ],
)
def test_what_does_not_go_together(other, message):
    X, y = table(30)
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifier(feature_costs=COSTS, **other).fit(X, y)
    if "objective" not in other:
        with pytest.raises(ValueError, match=message):
            OptimalCostTree(feature_costs=COSTS, **other).fit(
                X, np.eye(2)[(y == "ill").astype(int)]
            )


def test_a_stopped_search_goes_on_to_the_proof():
    X, y = table()
    best = OptimalTreeClassifier(max_depth=3, leaf_penalty=0.001, feature_costs=COSTS).fit(X, y)
    stopped = clone(best).set_params(gap_limit=0.2).fit(X, y)
    stopped.set_params(gap_limit=0.0).certify()
    assert stopped.status_ == "optimal" and stopped.objective_ == best.objective_
    assert np.allclose(stopped.feature_costs_paid(X), paid(stopped, X, COSTS))


def test_every_tree_of_depth_two_costs_no_less():
    X, y = table(40, seed=3)
    X = X.select(pl.col("age") > 50, pl.col("blood") > 0, "scan")
    model = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.01, feature_costs=COSTS).fit(X, y)
    ill, columns = y == "ill", {name: X[name].to_numpy() for name in X.columns}

    def leaf(rows):
        return min(ill[rows].sum(), (~ill[rows]).sum()) / len(y) + 0.01

    def tree(rows, bought, depth):
        yield leaf(rows)
        for name in columns if depth else ():
            price = COSTS[name]
            if not isinstance(price, FeatureCost):
                price = FeatureCost(price)
            known = any(getattr(COSTS[other], "group", None) == price.group for other in bought)
            full = price.discounted if price.group and known else price.cost
            each = 0 if name in bought else full
            sides = [rows & columns[name], rows & ~columns[name]]
            if all(side.any() for side in sides):
                fee = each * rows.sum() / len(y)
                below = [list(tree(side, (*bought, name), depth - 1)) for side in sides]
                yield from (fee + a + b for a, b in itertools.product(*below))

    best = min(tree(np.ones(len(y), dtype=bool), (), 2))
    assert model.objective_ == pytest.approx(best, rel=1e-12)
