"""Metrics of fitted models with bootstrap intervals: as scikit-learn has them, and covered."""

import math
import os

import numpy as np
import polars as pl
import pytest
from sklearn import metrics
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.svm import LinearSVC

from certree import (
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    evaluate,
)

DRAWS = int(os.environ.get("CERTREE_CASES", "100"))


def labelled(rng, n):
    X = pl.DataFrame({"x": rng.random(n), "z": rng.random(n)})
    return X, np.where((X["x"].to_numpy() > 0.4) ^ (rng.random(n) < 0.2), "ill", "well")


@pytest.fixture(scope="module")
def fitted():
    X, y = labelled(np.random.default_rng(0), 300)
    return OptimalTreeClassifier(max_depth=2, positive_label="ill", thresholds=5).fit(X, y)


def test_metrics_are_those_of_scikit_learn(fitted):
    X, y = labelled(np.random.default_rng(1), 500)
    found = evaluate(fitted, X.with_columns(y=y), "y")
    said, share = fitted.predict(X), fitted.predict_proba(X)[:, 0]
    ill = y == "ill"
    wanted = {
        "accuracy": (said == y).mean(),
        "Brier score": metrics.brier_score_loss(ill, share),
        "sensitivity": metrics.recall_score(ill, said == "ill"),
        "specificity": metrics.recall_score(~ill, said == "well"),
        "PPV": metrics.precision_score(ill, said == "ill"),
        "NPV": metrics.precision_score(~ill, said == "well"),
        "AUC": metrics.roc_auc_score(ill, share),
    }
    for name, value in wanted.items():
        estimate = found[name]
        assert estimate.value == pytest.approx(value), name
        assert estimate.low <= value <= estimate.high
    matrix = found.confusion.select("answered ill", "answered well").to_numpy()
    assert (matrix == metrics.confusion_matrix(y, said)).all()
    for row in found.leaves.filter(of="ill").iter_rows(named=True):
        own = fitted.apply(X) == row["leaf"]
        assert row["rows"] == own.sum() and row["observed"] == ill[own].mean()
        assert row["said"] == pytest.approx(share[own][0])
    assert found["sensitivity"] != evaluate(fitted, X, y, positive_label="well")["sensitivity"]
    wide, narrow = (evaluate(fitted, X, y, confidence=c)["accuracy"] for c in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high
    assert "intervals of confidence 0.95" in str(found) and found.n_rows == 500
    assert evaluate(fitted.tree_, X, y, positive_label="ill").metrics.equals(found.metrics)
    with pytest.raises(KeyError, match="'F1' was not measured"):
        found["F1"]


def test_models_of_others_are_measured_alike():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(n_estimators=10, random_state=0).fit(X[::2], y[::2])
    found = evaluate(forest, X[1::2], y[1::2])
    assert found["accuracy"].value == forest.score(X[1::2], y[1::2])
    share = forest.predict_proba(X[1::2])[:, 2]
    assert found["AUC"].value == pytest.approx(metrics.roc_auc_score(y[1::2] == 2, share))
    # Without predict_proba there is no AUC; a label that the model does not know is an error.
    plain = LinearSVC().fit(X[:100:2], y[:100:2])
    found = evaluate(plain, X[1::2], y[1::2])
    assert found["accuracy"].value == (plain.predict(X[1::2]) == y[1::2]).mean()
    assert "AUC" not in found.metrics["metric"].to_list() and found.leaves is None
    line = LinearRegression().fit(X, y)
    found = evaluate(line, X, y)
    assert found["R²"].value == pytest.approx(line.score(X, y))


def test_numbers_have_three_metrics():
    rng = np.random.default_rng(2)
    X, y = rng.random((200, 1)), rng.normal(0, 1, (200, 2))
    y += 5 * X
    model = OptimalTreeRegressor(max_depth=2, thresholds=5).fit(X[:100], y[:100])
    found = evaluate(model, X[100:], y[100:])
    said = model.predict(X[100:])
    wanted = metrics.root_mean_squared_error(y[100:], said, multioutput="raw_values")
    own = found.metrics.filter(metric="root mean squared error")["value"].to_list()
    assert own == pytest.approx(wanted)
    one = OptimalTreeRegressor(max_depth=2, thresholds=5).fit(X[:100], y[:100, 0])
    found = evaluate(one, X[100:], y[100:, 0])
    error = np.abs(one.predict(X[100:]) - y[100:, 0])
    assert found["mean absolute error"].value == pytest.approx(error.mean())
    assert found["R²"].value == pytest.approx(one.score(X[100:], y[100:, 0]))


def test_costs_and_policies_have_values_by_leaf():
    rng = np.random.default_rng(3)
    x = rng.random(400)
    costs = np.column_stack([x, 1 - x])
    tree = OptimalCostTree(max_depth=1).fit(x[:, None], costs)
    found = evaluate(tree, x[:, None], costs)
    assert found["mean cost"].value == pytest.approx(-tree.score(x[:, None], costs))
    assert found.leaves["rows"].sum() == 400
    weighted = (found.leaves["observed"] * found.leaves["rows"]).sum() / 400
    assert weighted == pytest.approx(found["mean cost"].value)
    always = found.metrics.filter(of="always 0")["value"][0]
    assert always == pytest.approx(x.mean())
    drug = rng.random(400) < 0.5
    outcome = np.where(drug, x, 0.5) + rng.normal(0, 0.1, 400)
    policy = OptimalPolicyTree("dr", max_depth=1)
    policy.fit(x[:, None], drug, outcome, np.full(400, 0.5))
    seen = {"treatment": drug, "outcome": outcome, "propensity": np.full(400, 0.5)}
    found = evaluate(policy, x[:, None], **seen)
    value = policy.policy_value(x[:, None], **seen).value
    assert found["mean reward"].value == pytest.approx(value)
    direct = evaluate(policy, x[:, None], policy.policy_scores(x[:, None], **seen))
    assert direct.leaves.equals(found.leaves)
    with pytest.raises(ValueError, match="give either"):
        evaluate(policy, x[:, None], costs, **seen)
    with pytest.raises(TypeError, match="for OptimalPolicyTree"):
        evaluate(tree, x[:, None], costs, treatment=drug)


def test_survival_has_its_concordance():
    rng = np.random.default_rng(4)
    x = rng.random(120)
    time, event = rng.exponential(1 / (1 + 4 * (x > 0.5))), rng.random(120) < 0.8
    model = OptimalSurvivalTree(max_depth=1).fit(x[:, None], time, event)
    found = evaluate(model, x[:, None], (time, event))["concordance"]
    assert found.value == pytest.approx(model.score(x[:, None], time, event))
    assert found.low < found.value < found.high


def test_intervals_are_covered(fitted):
    rng = np.random.default_rng(5)
    X, y = labelled(rng, 200_000)
    true = evaluate(fitted, X, y)
    held = dict.fromkeys(["accuracy", "sensitivity", "PPV", "AUC", "Brier score"], 0)
    for _ in range(DRAWS):
        found = evaluate(fitted, *labelled(rng, 150))
        for name in held:
            held[name] += found[name].low <= true[name].value <= found[name].high
    slack = 0.015 + 4 * math.sqrt(0.05 * 0.95 / DRAWS)
    assert all(abs(share / DRAWS - 0.95) <= slack for share in held.values()), held


def test_bad_input_is_refused(fitted):
    X, y = labelled(np.random.default_rng(6), 5)
    for confidence in (0, 1, math.nan, "x"):
        with pytest.raises(ValueError, match="confidence"):
            evaluate(fitted, X, y, confidence=confidence)
    with pytest.raises(TypeError, match="has no predict"):
        evaluate(None, X, y)
    with pytest.raises(ValueError, match="no rows"):
        evaluate(fitted, X[:0], y[:0])
    with pytest.raises(ValueError, match="5 rows, but y has 4"):
        evaluate(fitted, X, y[:4])
    with pytest.raises(ValueError, match="not fitted with"):
        evaluate(fitted, X, ["ill", "well", "ill", "dead", "ill"])
    with pytest.raises(ValueError, match="positive_label"):
        evaluate(fitted, X, y, positive_label="dead")
    one = evaluate(fitted, X[:1], y[:1])
    assert one["accuracy"].value in (0, 1) and math.isnan(one["AUC"].value)
    custom = OptimalTreeRegressor("absolute_error", max_depth=1).fit([[0.0], [1.0]], [0, 1])
    assert evaluate(custom, [[0.0], [1.0]], [0, 1])["mean absolute error"].value == 0
