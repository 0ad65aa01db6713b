"""Feature costs that differ by row: against all stumps and a count row by row, as columns,
numbers and values, with every task, and what is refused."""

import itertools
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from brute import cases
from paying import Errors, paid
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from certree import (
    Capacity,
    FeatureCost,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    SumLimit,
    frontier,
    scorers,
)
from certree.cli import main

SEEDS = cases(20)


def table(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = pl.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "blood": rng.normal(0, 1, n).round(1),
            "scan": rng.random(n) < 0.4,
            "kind": rng.choice(["a", "b", "c"], n),
            "far": rng.choice([0.0, 0.02, 0.3], n),
            "near": rng.choice([0.0, 0.02], n),
        }
    )
    ill = (X["blood"] > 0.3) ^ (X["scan"] & (X["kind"] == "b")) ^ pl.Series(rng.random(n) < 0.1)
    return X, np.where(ill, "ill", "well")


COSTS = {
    "age": 0.01,
    "blood": FeatureCost("far", group="lab", discounted=0.0),
    "scan": FeatureCost(0.05, group="lab", discounted="near"),
    "kind": {"a": 0.0, "b": 0.04, "c": 0.1},
}


@pytest.mark.parametrize("objective", ["accuracy", "balanced_accuracy"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_is_what_rows_lose_and_pay(objective, weighted):
    X, y = table()
    weights = np.ones(len(y))
    if weighted:
        weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], len(y))
    model = OptimalTreeClassifier(objective, max_depth=3, leaf_penalty=0.002, feature_costs=COSTS)
    model.fit(X, y, weights if weighted else None)
    spent = model.feature_costs_paid(X)
    assert np.allclose(spent, paid(model, X, COSTS)) and spent.max() > 0
    if objective == "balanced_accuracy":
        each = {label: weights[y == label].sum() for label in ("ill", "well")}
        weights = weights / np.where(y == "ill", each["ill"], each["well"])
    lost = np.average((model.predict(X) != y) + spent, weights=weights)
    assert model.objective_ == pytest.approx(lost + 0.002 * model.get_n_leaves(), rel=1e-9)
    assert model.status_ == "optimal" and model.gap_ <= 1e-9
    assert not {"far", "near"} & {column.name for column in model.tree_.columns}
    assert "feature costs by row included" in str(model.certificate_)


def best_stump(X, y, prices, penalty, weights):
    """The least that a tree of at most two leaves costs, from all splits of numbers."""
    wrong = lambda of: min(weights[of & (y != label)].sum() for label in np.unique(y))  # noqa: E731
    everybody = np.ones(len(y), dtype=bool)
    best = wrong(everybody) / weights.sum() + penalty
    for at in range(X.shape[1]):
        for value in np.unique(X[:, at])[:-1]:
            left = X[:, at] <= value
            cost = wrong(left) + wrong(~left) + (weights * prices[:, at]).sum()
            best = min(best, cost / weights.sum() + 2 * penalty)
    return best


@pytest.mark.parametrize("seed", SEEDS)
def test_stumps_are_the_best_of_all(seed):
    """Rows that are alike but for their prices are one point, which pays for all of them."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(5, 60)), int(rng.integers(1, 5))
    X = rng.integers(0, 4, (n, k)).astype(float)
    y = rng.integers(0, int(rng.integers(2, 4)), n)
    y[: len(np.unique(y))] = np.unique(y)
    digits = int(rng.integers(1, 9))
    prices = (rng.random((n, k)) * rng.choice([0.05, 0.3, 1.0], k)).round(digits)
    weights = rng.choice([0.5, 1.0, 3.0], n) if rng.random() < 0.5 else np.ones(n)
    penalty = float(rng.choice([0.0, 0.01]))
    costs = {f"x{at}": prices[:, at] for at in range(k)}
    model = OptimalTreeClassifier(max_depth=1, leaf_penalty=penalty, feature_costs=costs)
    model.fit(X, y, weights)
    wanted = best_stump(X, y, prices, penalty, weights)
    assert model.objective_ == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    assert model.status_ == "optimal"


def test_columns_numbers_and_values_are_one_problem():
    X, y = table()
    features = X.drop("far", "near")
    by_value = {"a": 0.0, "b": 0.04, "c": 0.1}
    of_kind = np.array([by_value[value] for value in X["kind"]])
    fits = [
        ({"blood": "far", "kind": by_value}, X.drop("near")),
        ({"blood": X["far"], "kind": of_kind}, features),
        ({"blood": X["far"].to_numpy(), "kind": FeatureCost(of_kind.tolist())}, features),
        ({"blood": pd.Series(X["far"].to_numpy()), "kind": pl.Series(of_kind)}, features),
        ({"blood": "far", "kind": "of_kind"}, X.drop("near").with_columns(of_kind=of_kind)),
        ({"blood": "far", "kind": by_value}, X.drop("near").lazy()),
        ({"blood": "far", "kind": by_value}, X.drop("near").to_pandas()),
        ({"blood": "far", "kind": by_value}, X.drop("near").to_arrow()),
    ]
    models = [
        OptimalTreeClassifier(max_depth=3, leaf_penalty=0.004, feature_costs=costs).fit(given, y)
        for costs, given in fits
    ]
    for model in models[1:]:
        assert model.tree_ == models[0].tree_
        assert model.objective_ == models[0].objective_
    # Who predicts needs no prices.
    assert np.array_equal(models[0].predict(features), models[0].predict(X))
    clone(models[1]).fit(features, y)
    assert repr(FeatureCost(of_kind, "lab", "far")) == (
        "FeatureCost(<numbers by row>, group='lab', discounted='far')"
    )
    assert FeatureCost(of_kind, "lab") == FeatureCost(of_kind.copy(), "lab")
    assert FeatureCost(of_kind) != FeatureCost(of_kind + 1.0)


def test_prices_that_are_the_same_for_all_rows_are_costs():
    X, y = table()
    alike = X.with_columns(pl.lit(0.03).alias("far"))
    one = OptimalTreeClassifier(max_depth=3, leaf_penalty=0.004, feature_costs={"blood": 0.03})
    other = OptimalTreeClassifier(max_depth=3, leaf_penalty=0.004, feature_costs={"blood": "far"})
    one.fit(X.drop("far"), y)
    other.fit(alike, y)
    assert other.tree_.to_text() == one.tree_.to_text()
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-12)


def test_a_follow_up_is_paid_where_the_answer_is_such():
    """A test that is dear only for those who are positive, and missing values with their own."""
    rng = np.random.default_rng(2)
    test = pl.Series([[True, False, None][at] for at in rng.choice(3, 300, p=[0.2, 0.7, 0.1])])
    age = rng.integers(0, 5, 300)
    X = pl.DataFrame({"test": test, "age": age})
    y = (test.fill_null(False).to_numpy() ^ (rng.random(300) < 0.05)).astype(int)
    costs = {"test": {True: 0.2, False: 0.01, None: 0.03}}
    model = OptimalTreeClassifier(max_depth=1, leaf_penalty=0, feature_costs=costs).fit(X, y)
    spent = model.feature_costs_paid(X)
    assert sorted(set(spent.tolist())) == [0.01, 0.03, 0.2]
    dear = {"test": {True: 2.0, False: 0.5, None: 0.5}}
    free = OptimalTreeClassifier(max_depth=1, leaf_penalty=0, feature_costs=dear).fit(X, y)
    assert not free.feature_costs_paid(X).any()
    with pytest.raises(ValueError, match="no price of missing values, of which there are"):
        OptimalTreeClassifier(feature_costs={"test": {True: 0.2, False: 0.1}}).fit(X, y)
    with pytest.raises(ValueError, match="no price of the value 4, which .* rows have"):
        OptimalTreeClassifier(feature_costs={"age": {0: 0.2, 1: 0, 2: 0, 3: 0.0}}).fit(X, y)
    with pytest.raises(ValueError, match="has no price of the value 9"):
        model = OptimalTreeClassifier(
            max_depth=1, feature_costs={"age": dict.fromkeys(range(5), 0.0) | {3: 0.001}}
        ).fit(X, y)
        model.feature_costs_paid(X.with_columns(age=pl.lit(9)))


def scored(model, *data, **more):
    """The objective by the scorer, which finds it again in the rows."""
    return -scorers.objective(model, *data, **more) + model.leaf_penalty * model.get_n_leaves()


def fitted(kind, costs, weights=None, **more):
    """A model of each kind, its data, and what each row loses in it as a share of the objective."""
    X, y = table(90, 3)
    numbers = (y == "ill") * 2.0 + X["age"].to_numpy() / 40
    made = {"max_depth": 2, "leaf_penalty": 0.003, "feature_costs": costs, **more}
    if kind == "matrix":
        data = (X, np.column_stack([numbers, 3 - numbers]))
        return OptimalCostTree(**made).fit(*data, weights), data
    if kind == "policy":
        rewards = pl.DataFrame({"none": np.zeros(90), "drug": numbers - 2})
        model = OptimalPolicyTree(**made).fit(X, rewards=rewards, sample_weight=weights)
        return model, (X, rewards)
    if kind == "survival":
        times = pl.DataFrame({"time": numbers + 0.1, "event": y == "ill"})
        return OptimalSurvivalTree(**made).fit(X, times, sample_weight=weights), (X, times)
    if kind == "custom":
        data = (X, np.column_stack([y == "ill", y == "well"]).astype(float))
        return OptimalTree(Errors(), **made).fit(*data, weights), data
    if kind == "targets":
        data = (X, np.column_stack([y, X["scan"].cast(pl.String).to_numpy()]))
        return OptimalTreeClassifier(**made).fit(*data, weights), data
    if kind in ("squared_error", "poisson", "absolute_error"):
        # As many levels as there are numbers, so that no row counts as another one.
        made["levels"] = 1000
        return OptimalTreeRegressor(kind, **made).fit(X, numbers, weights), (X, numbers)
    more = {"positive_label": "ill"} if kind in ("f1", "jaccard", "mcc") else {}
    return OptimalTreeClassifier(kind, **made, **more).fit(X, y, weights), (X, y)


KINDS = [
    "accuracy", "balanced_accuracy", "gini", "log_loss", "targets", "matrix", "policy", "survival",
    "custom", "squared_error", "poisson", "absolute_error", "f1", "jaccard", "mcc", "f1_macro",
    "f1_weighted",
]  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_every_task_takes_them(kind, weighted):
    """What the objective says is what a scorer finds again in the same rows, row by row."""
    weights = np.random.default_rng(1).choice([0.25, 1.0, 2.5], 90) if weighted else None
    model, data = fitted(kind, COSTS, weights)
    X = data[0]
    assert model.status_ == "optimal", model.certificate_
    spent = model.feature_costs_paid(X)
    assert np.allclose(spent, paid(model, X, COSTS))
    if kind == "policy":
        again = scored(model, X, rewards=data[1], sample_weight=weights)
    else:
        again = scored(model, *data, sample_weight=weights)
    assert again == pytest.approx(model.objective_, rel=1e-6, abs=1e-9)
    # And no tree of the same problem without prices is better once it pays.
    free, _ = fitted(kind, None, weights)
    free_paid = np.average(paid(free, X, COSTS), weights=weights)
    assert model.objective_ <= free.objective_ + free_paid + 1e-6
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.feature_costs_paid(X), spent)


def test_class_weights_multiply_what_rows_pay():
    X, y = table()
    for objective in ("accuracy", "gini"):
        for class_weight in ({"ill": 3.0, "well": 1.0}, "balanced"):
            model = OptimalTreeClassifier(
                objective, max_depth=2, class_weight=class_weight, feature_costs=COSTS
            ).fit(X, y)
            assert scored(model, X, y) == pytest.approx(model.objective_, rel=1e-7)
            assert model.feature_costs_paid(X).max() > 0


def test_constraints_hold_beside_them():
    X, y = table()
    for limit in (
        Capacity("ill", max_fraction=0.3),
        SumLimit("far", label="ill", at_most=2.0),
        SumLimit(np.arange(len(y)) / 7, label="ill", at_most=100.0),
    ):
        model = OptimalTreeClassifier(
            max_depth=2, leaf_penalty=0.002, feature_costs=COSTS, constraints=(limit,),
            positive_label="ill",
        ).fit(X, y)
        given = model.predict(X.drop("far", "near")) == "ill"
        if isinstance(limit, Capacity):
            assert given.mean() <= 0.3
        spent = paid(model, X, COSTS)
        assert np.allclose(spent, model.feature_costs_paid(X))
        lost = (model.predict(X) != y).mean() + spent.mean() + 0.002 * model.get_n_leaves()
        assert model.objective_ == pytest.approx(lost, rel=1e-9)
        assert model.status_ == "optimal"
        free = clone(model).set_params(constraints=()).fit(X, y)
        assert free.objective_ <= model.objective_ + 1e-12
    both = (limit, Capacity("ill", min_fraction=0.9))
    with pytest.raises(ValueError, match="no tree within these limits meets the constraints"):
        clone(model).set_params(constraints=both).fit(X, y)


def test_frontiers_thresholds_and_scores_go_on_with_them():
    X, y = table()
    model = OptimalTreeClassifier(max_depth=3, thresholds=5, feature_costs=COSTS)
    front = frontier(model, X, y, axes=("loss", "leaves"))
    assert len(front) >= 2
    guessed = OptimalTreeClassifier(max_depth=2, thresholds="guess", feature_costs=COSTS)
    assert guessed.fit(X, y).status_ == "optimal"
    assert not {"far", "near"} & {column.name for column in guessed.tree_.columns}
    scores = cross_val_score(model, X.to_pandas(), y, scoring=scorers.objective, cv=3)
    assert np.isfinite(scores).all()
    stopped = clone(model).set_params(time_limit=1e-9)
    with pytest.warns(UserWarning):
        stopped.fit(X, y)
    assert stopped.set_params(time_limit=None).certify().status_ == "optimal"
    assert stopped.objective_ == model.fit(X, y).objective_


def test_own_branches_and_arrays_know_their_columns():
    X, y = table()
    gaps = X.with_columns(pl.when(pl.col("age") > 30).then("blood").alias("blood"))
    model = OptimalTreeClassifier(
        max_depth=2, missing="own_branch", feature_costs={"blood": "far", "age": "near"}
    ).fit(gaps, y)
    assert scored(model, gaps, y) == pytest.approx(model.objective_, rel=1e-9)
    array = X.select("age", "blood", "far").to_numpy()
    model = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.001, feature_costs={"x1": "x2"})
    model.fit(array, y)
    frame = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.001, feature_costs={"blood": "far"})
    frame.fit(X.select("age", "blood", "far"), y)
    assert model.objective_ == frame.objective_
    assert np.array_equal(model.feature_costs_paid(array), frame.feature_costs_paid(X))


def test_what_is_refused():
    X, y = table()

    def says(costs, text, given=X, **more):
        with pytest.raises(ValueError, match=text):
            OptimalTreeClassifier(max_depth=2, feature_costs=costs, **more).fit(given, y)

    says({"blood": "fur"}, "'fur' of prices, which X does not have")
    says({"blood": "kind"}, "must be numbers, but has the type String")
    says({"blood": np.ones(3)}, "has 3 rows, but X has 150")
    says({"blood": -X["far"]}, r"has the price -0.3 in row \d+, but prices must be at least 0")
    says({"blood": X["far"].replace(0.3, np.nan)}, "must be finite, but")
    says({"blood": X["far"].replace(0.3, None)}, "must be finite, but")
    says({"far": 0.1, "blood": "far"}, "which is no feature column")
    says({("blood", "kind"): {"a": 1}}, "prices by value, but it measures several columns")
    says({"kind": {"a": -1, "b": 0, "c": 0}}, "has the price -1 of the value 'a'")
    says({"blood": FeatureCost("near", "lab", "far")}, r"which is above its cost .* there")
    says({"blood": FeatureCost("near", "lab", 0.01)}, r"discounted cost 0.01 in row \d+")
    says({"blood": object()}, "or differ by row")
    many = {f"x{at}": np.full(150, 0.1) + at for at in range(130)}
    wide = np.random.default_rng(0).random((150, 130))
    says(many, "there are 130 lists of prices by row, but at most 128", wide)
    says({"blood": X["age"] / 7}, "are no short decimals together", objective="f1_macro")
    says({"blood": "far"}, "feature_costs cannot be combined", objective="auc")
    says({"blood": "far"}, "feature_costs cannot be combined with reference", reference="guess")
    model = OptimalTreeClassifier(max_depth=2, feature_costs={"blood": X["far"]})
    model.fit(X.drop("far", "near"), y)
    with pytest.raises(ValueError, match="nobody knows those of other rows: name a column"):
        model.feature_costs_paid(X)


def test_the_command_line_takes_them(tmp_path, capsys):
    X, y = table()
    X.with_columns(y=pl.Series(y)).write_csv(tmp_path / "rows.csv")
    by_value = json.dumps({"a": 0.0, "b": 0.04, "c": 0.1})
    line = ["fit", str(tmp_path / "rows.csv"), "--target", "y", "--max-depth", "2"]
    costs = ["age=0.01", "blood=far,lab,0", "scan=0.05,lab,near", f"kind={by_value}"]
    options = list(itertools.chain(*(["--feature-cost", cost] for cost in costs)))
    assert main([*line, *options, "--model", str(tmp_path / "model.json")]) == 0
    out = capsys.readouterr().out
    model = OptimalTreeClassifier(max_depth=2, feature_costs=COSTS)
    model.fit(pl.read_csv(tmp_path / "rows.csv"), "y")
    assert model.tree_.to_text() in out and "feature costs by row included" in out
    truth = {"true": 0.05, "false": 0.01}
    assert main([*line, "--feature-cost", f"scan={json.dumps(truth)}"]) == 0
    assert main([*line, "--feature-cost", 'kind={"a": 1, "b": 0}']) != 0
    assert "has no price of the value 'c'" in capsys.readouterr().err
