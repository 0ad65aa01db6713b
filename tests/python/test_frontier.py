"""Frontiers: every tree on them is the best for what it has, and all best trees are there."""

import time
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from certree import (
    Capacity,
    DemographicParity,
    FalsePositiveRate,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    frontier,
)


def table(n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = pl.DataFrame(
        {"a": rng.integers(0, 5, n), "b": rng.random(n) < 0.5, "sex": rng.choice(["f", "m"], n)}
    )
    score = X["a"].to_numpy() + 2 * X["b"].to_numpy() + (X["sex"] == "m").to_numpy()
    return X, score + rng.normal(size=n) > 3.5


def falls(front):
    first, second = front.get_columns()[:2]
    return (first.diff().drop_nulls() > 0).all() and (second.diff().drop_nulls() < 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_loss_against_leaves_holds_the_best_tree_for_every_penalty(seed):
    X, y = table(seed=seed)
    front = frontier(OptimalTreeClassifier(max_depth=2), X, y)
    assert falls(front) and front["leaves"][-1] == 1
    assert [tree.n_leaves for tree in front["tree"]] == front["leaves"].to_list()
    for penalty in (0.0, 0.003, 0.01, 0.03, 0.1, 0.3):
        best = OptimalTreeClassifier(max_depth=2, leaf_penalty=penalty).fit(X, y).objective_
        assert (front["loss"] + penalty * front["leaves"]).min() == pytest.approx(best)


@pytest.mark.parametrize(
    "model",
    [
        OptimalTreeClassifier(max_depth=3, min_samples_leaf=4),
        OptimalTreeClassifier(max_depth=3, feature_costs={"a": 0.02, "b": 0.05}),
        OptimalTreeClassifier("f1", max_depth=2),
        OptimalTreeRegressor(max_depth=3),
        OptimalTreeRegressor(max_depth=3, thresholds=2),
    ],
)
def test_each_size_is_what_a_fit_of_its_own_finds(model):
    X, y = table(seed=1)
    X = X.with_columns(c=np.random.default_rng(5).normal(size=len(X)))
    y = y if "Classifier" in type(model).__name__ else y + X["c"].to_numpy()
    front = frontier(model, X, y)
    assert len(front) > 2 and set(front["status"]) == {"optimal"}
    for loss, leaves, tree in front.select("loss", "leaves", "tree").iter_rows():
        alone = model.set_params(leaf_penalty=0, max_leaf_nodes=int(leaves)).fit(X, y)
        assert alone.objective_ == pytest.approx(loss, rel=1e-12) and tree.n_leaves == leaves


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("positive", [None, False])
def test_false_negatives_against_false_positives_hold_the_best_metrics(seed, positive):
    X, y = table(60, seed)
    model = OptimalTreeClassifier(max_depth=2, positive_label=positive)
    front = frontier(model, X, y, axes=("false_negatives", "false_positives"))
    assert falls(front)
    n = int((y == (positive is None)).sum())
    missed, alarms = front["false_negatives"], front["false_positives"]
    assert missed[0] == 0 and alarms[-1] == 0
    f1 = 2 * (n - missed) / (2 * n - missed + alarms)
    best = model.set_params(objective="f1", leaf_penalty=0).fit(X, y)
    assert 1 - f1.max() == pytest.approx(best.objective_)
    assert (missed + alarms).min() == round(
        OptimalTreeClassifier(max_depth=2, leaf_penalty=0).fit(X, y).objective_ * len(y)
    )


def test_errors_of_trees_that_keep_constraints():
    X, y = table(60, 3)
    axes = ("false_negatives", "false_positives")
    few = (Capacity(True, 0.3), DemographicParity("sex", 0.1))
    model = OptimalTreeClassifier(max_depth=2, constraints=few)
    front = frontier(model, X, y, axes=axes)
    assert falls(front)
    missed, alarms, n = front["false_negatives"], front["false_positives"], int(y.sum())
    for objective, metric in [
        ("f1", 2 * (n - missed) / (2 * n - missed + alarms)),
        ("jaccard", (n - missed) / (n + alarms)),
    ]:
        best = model.set_params(objective=objective, leaf_penalty=0).fit(X, y)
        assert 1 - metric.max() == pytest.approx(best.objective_)
    # At least so many are to get the label: below some rate of false alarms there is no tree.
    many = OptimalTreeClassifier(max_depth=2, constraints=(Capacity(False, 0.2),))
    front = frontier(many, X, y, axes=axes)
    assert falls(front) and front["false_positives"][-1] >= 0.8 * len(y) - n


def test_loss_against_disparity():
    X, y = table(seed=7)
    model = OptimalTreeClassifier(max_depth=2, constraints=(DemographicParity("sex", 1.0),))
    front = frontier(model, X, y, axes=("loss", "disparity"))
    assert falls(front) and front.height > 2
    assert front["disparity"][-1] == 0
    assert set(front["status"]) == {"optimal"}
    for loss, limit in front.select("loss", "disparity").rows():
        for most, at_least in ((limit, loss), (limit * 0.999, loss)):
            again = OptimalTreeClassifier(
                max_depth=2, leaf_penalty=0, constraints=(DemographicParity("sex", most),)
            ).fit(X, y)
            assert again.objective_ >= at_least - 1e-12
            assert most != limit or again.objective_ == pytest.approx(loss)


def test_costs_and_weights():
    X, y = table()
    weights = np.arange(1, 91)
    costs = np.column_stack([y * 3.0, ~y * 1.0])
    front = frontier(OptimalCostTree(max_depth=2), X.drop("sex"), costs, sample_weight=weights)
    assert falls(front)
    assert front["loss"][0] == pytest.approx(
        OptimalCostTree(max_depth=2, leaf_penalty=0).fit(X.drop("sex"), costs, weights).objective_
    )


def test_a_false_positive_rate_is_kept():
    X, y = table()
    model = OptimalTreeClassifier(constraints=(FalsePositiveRate(0.05),)).fit(X, y)
    assert (model.predict(X) & ~y).sum() / (~y).sum() <= 0.05
    assert "false positives: the rate is" in str(model.certificate_)


@pytest.mark.parametrize(
    ("model", "axes", "says"),
    [
        (OptimalTreeClassifier(), ("loss", "depth"), "axes=.* is not valid"),
        (
            OptimalTreeClassifier(max_depth=None),
            ("loss", "leaves"),
            "set max_depth or max_leaf_nodes",
        ),
        (OptimalTreeClassifier(), ("loss", "disparity"), "needs a DemographicParity"),
        (OptimalCostTree(), ("loss", "disparity"), "is for OptimalTreeClassifier"),
        (
            OptimalTreeClassifier(class_weight="balanced"),
            ("false_negatives", "false_positives"),
            "without cost_matrix and class_weight",
        ),
    ],
)
def test_bad_input(model, axes, says):
    X, y = table()
    with pytest.raises(ValueError, match=says):
        frontier(model, X, y, axes=axes)


def test_three_classes_have_no_false_positives():
    X, _ = table(60)
    with pytest.raises(ValueError, match="of two classes, but y has 3"):
        frontier(
            OptimalTreeClassifier(), X, X["a"].to_numpy() % 3, axes=(
                "false_negatives", "false_positives"
            )
        )


# On a slow machine the last fit is stopped, and says so, too.
@pytest.mark.filterwarnings("ignore:the search stopped at its time limit")
@pytest.mark.parametrize("axes", [("loss", "leaves"), ("false_negatives", "false_positives")])
@pytest.mark.alone
def test_one_time_limit_for_all_rows(axes):
    rng = np.random.default_rng(0)
    X, y = rng.random((1000, 10)), rng.integers(0, 2, 1000)
    model = OptimalTreeClassifier(max_depth=5, thresholds=10, time_limit=None)
    start = time.monotonic()
    with pytest.warns(ConvergenceWarning, match="time limit of the frontier was reached"):
        front = frontier(model, X, y, axes=axes, time_limit=1.0)
    assert time.monotonic() - start < 4
    assert len(front) >= 1 and set(front["status"]) <= {"optimal", "time_limit"}
    # The estimator's own limit holds for each row.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.set_params(time_limit=0.05)
        front = frontier(model, X, y, axes=axes, time_limit=30 if axes[1] == "leaves" else 1.0)
    assert "time_limit" in set(front["status"])


@pytest.mark.parametrize("limit", [0, -1.0, "1", float("nan"), True])
def test_a_time_limit_that_is_none(limit):
    with pytest.raises(ValueError, match="time_limit=.* a positive number of seconds"):
        frontier(OptimalTreeClassifier(), *table(), time_limit=limit)


class Spread:
    """Squared error, as a task of one's own."""

    def leaf_cost(self, sums):
        n, y, squares = sums.T
        return squares - y * y / n

    def answer(self, sums):
        return float(sums[1] / sums[0])


def every_estimator(n=70):
    rng = np.random.default_rng(2)
    X = pl.DataFrame(
        {"a": rng.integers(0, 7, n), "b": rng.integers(0, 4, n), "c": rng.random(n) < 0.5}
    )
    y = (X["a"] + 2 * X["c"].cast(int)).to_numpy() + rng.normal(size=n).round(2)
    costs = np.abs(y[:, None] - np.array([1.0, 4.0, 7.0])).round(2)
    weights, years = rng.integers(1, 4, n), rng.uniform(0.5, 2.0, n)
    given, group = rng.choice(["drug", "none"], n), pl.Series(rng.random(n) < 0.5).alias("g")
    outcome = np.where(given == "drug", y, 3.0)
    counts, half = rng.poisson(years * np.abs(y)), np.full(n, 0.5)
    times, events = np.abs(y) + 0.1, rng.random(n) < 0.7
    own = np.column_stack([np.ones(n), y, y * y])
    parity = DemographicParity("g", 0.2)
    seen = pl.DataFrame({"treatment": given, "outcome": outcome, "propensity": half})
    made = {"outcome": outcome, "propensity": half}
    return {
        "classes": (
            OptimalTreeClassifier(),
            X,
            (np.digitize(y, [2, 5]),),
            {"sample_weight": weights},
        ),
        "balanced": (OptimalTreeClassifier("balanced_accuracy"), X, (y > 4,), {}),
        "mcc": (OptimalTreeClassifier("mcc"), X, (y > 4,), {"sample_weight": weights}),
        "auc": (OptimalTreeClassifier("auc"), X, (y > 4,), {}),
        "gini": (OptimalTreeClassifier("gini"), X, (np.digitize(y, [2, 5]),), {}),
        "targets": (OptimalTreeClassifier(), X, (np.column_stack([y > 4, y > 2]),), {}),
        "guess": (
            OptimalTreeClassifier(thresholds="guess"),
            X,
            (y > 4,),
            {"sample_weight": weights},
        ),
        "parity": (
            OptimalTreeClassifier(constraints=(parity,)),
            X.with_columns(group),
            (y > 4,),
            {},
        ),
        "squares": (
            OptimalTreeRegressor(),
            X,
            (np.column_stack([y, y**2]),),
            {"sample_weight": weights},
        ),
        "poisson": (OptimalTreeRegressor("poisson"), X, (counts,), {"exposure": years}),
        "absolute": (OptimalTreeRegressor("absolute_error"), X, (y,), {"sample_weight": weights}),
        "costs": (OptimalCostTree(), X, (costs,), {"sample_weight": weights}),
        "tests": (OptimalCostTree(feature_costs={"a": 0.1, "b": 0.05}), X, (costs,), {}),
        "fair costs": (OptimalCostTree(constraints=(parity,)), X.with_columns(group), (costs,), {}),
        "policy": (OptimalPolicyTree("ipw"), X, (given,), {**made, "sample_weight": weights}),
        "seen": (OptimalPolicyTree("dr", n_folds=2), X, (seen,), {}),
        "rewards": (OptimalPolicyTree(), X, (), {"rewards": costs}),
        "survival": (
            OptimalSurvivalTree(),
            X,
            (times,),
            {"event": events, "sample_weight": weights},
        ),
        "own": (OptimalTree(Spread()), X, (own,), {"sample_weight": weights}),
    }


@pytest.mark.parametrize("name", list(every_estimator()))
def test_every_estimator_has_a_front_with_all_arguments_of_its_fit(name):
    model, X, data, more = every_estimator()[name]
    model.set_params(max_depth=2)
    front = frontier(model, X, *data, **more)
    assert falls(front) and front["leaves"][-1] == 1 and set(front["status"]) == {"optimal"}
    assert [tree.n_leaves for tree in front["tree"]] == front["leaves"].to_list()
    best = {}
    for leaves in range(1, 5):
        limited = clone(model).set_params(leaf_penalty=0, max_leaf_nodes=leaves)
        best[leaves] = limited.fit(X, *data, **more).objective_
    for leaves, loss in best.items():
        within = front.filter(pl.col("leaves") <= leaves)["loss"].min()
        assert within == pytest.approx(loss, rel=1e-9, abs=1e-12)


def test_what_sets_its_own_leaf_cost_has_no_front():
    X, y = table()
    with pytest.raises(ValueError, match="'log_loss', which is the same loss without that cost"):
        frontier(OptimalTreeClassifier("mdl", max_depth=2), X, y)
