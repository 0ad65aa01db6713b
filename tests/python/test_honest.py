"""Intervals of leaves and of differences on rows that the search never saw: that they cover."""

import itertools
import math
import os

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from certree import (
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    Tree,
    compare,
)
from certree.comparison import mcnemar, sign_flips
from certree.intervals import clopper_pearson, of_each, paired_shares, student

DRAWS = int(os.environ.get("CERTREE_CASES", "400"))

#: Four standard errors of a share of 0.95 of so many draws.
SLACK = 4 * math.sqrt(0.95 * 0.05 / DRAWS)


def test_intervals_are_those_of_scipy():
    for successes, n in [(0, 5), (3, 7), (7, 7), (40, 100)]:
        found = stats.binomtest(successes, n).proportion_ci(0.9, method="exact")
        assert clopper_pearson(successes, n, 0.9) == pytest.approx(tuple(found))
    values = np.array([1.0, 4.0, 2.5, -3.0])
    found = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert student(values, 0.9) == pytest.approx(tuple(found))
    assert student(values[:1], 0.9) == (-math.inf, math.inf)
    for better, worse in itertools.product(range(5), repeat=2):
        if better + worse:
            wanted = stats.binomtest(better, better + worse).pvalue
            assert mcnemar(better, worse) == pytest.approx(wanted)


def test_signs_are_flipped_as_by_brute_force():
    rng = np.random.default_rng(0)
    for _ in range(20):
        values = rng.normal(0.3, 1, 9).round(1)
        sums = [abs(values @ signs) for signs in itertools.product([1, -1], repeat=9)]
        wanted = np.mean(np.array(sums) >= abs(values.sum()) - 1e-9)
        assert sign_flips(values, 0) == pytest.approx(wanted)
    many = rng.normal(0.2, 1, 200)
    assert sign_flips(many, 0) == pytest.approx(stats.ttest_1samp(many, 0).pvalue, abs=0.02)
    assert sign_flips(np.zeros(5), 0) == 1.0


@pytest.fixture(scope="module")
def classifier():
    X = pl.DataFrame({"x": [0, 1, 2, 3] * 10})
    y = ["a", "b", "b", "c"] * 10
    return OptimalTreeClassifier(leaf_penalty=0, max_depth=2).fit(X, y)


def test_leaves_hold_what_new_rows_are(classifier):
    X = pl.DataFrame({"x": [0, 0, 0, 1, 2], "answer": ["a", "a", "b", "b", "strange"]})
    found = classifier.honest(X, "answer")
    assert found.equals(classifier.tree_.honest(X, X["answer"], 0.95))
    assert found["rule"].unique(maintain_order=True).to_list() == [
        " and ".join(rule.conditions) for rule in classifier.tree_.rules()
    ]
    each = 1 - (1 - of_each(0.95, 3)) / 3
    first = found.filter(of="a").row(0, named=True)
    assert first["value"] == 2 / 3 and first["rows"] == 3
    assert (first["low"], first["high"]) == clopper_pearson(2, 3, each)
    empty = found.filter(rows=0)
    assert empty["value"].null_count() == 3
    assert set(empty["low"]) == {0.0} and set(empty["high"]) == {1.0}
    # The label that the tree does not know is none of its classes.
    assert found.filter(pl.col("label") == "b")["value"].to_list() == [0, 0.5, 0]


def test_shares_are_covered_at_once(classifier):
    rng = np.random.default_rng(1)
    shares = np.array([[0.7, 0.2, 0.1], [0.1, 0.85, 0.05], [0.0, 0.5, 0.5]])
    held = 0
    for _ in range(DRAWS):
        x = rng.integers(0, 4, 60)
        place = np.minimum(x, 1) + (x == 3)
        y = (rng.random(60)[:, None] > shares.cumsum(1)[place]).sum(1)
        found = classifier.honest(pl.DataFrame({"x": x}), np.array(["a", "b", "c"])[y])
        true = shares.ravel()
        low, high = found["low"].to_numpy(), found["high"].to_numpy()
        held += ((low <= true) & (true <= high)).all()
    # Clopper and Pearson's intervals are wider than need be.
    assert held / DRAWS >= 0.95 - SLACK


def test_means_are_covered_at_once():
    rng = np.random.default_rng(2)
    X = np.arange(40.0)[:, None] % 3
    model = OptimalTreeRegressor(leaf_penalty=0, max_depth=2).fit(X, X[:, 0])
    held = 0
    for _ in range(DRAWS):
        x = rng.integers(0, 3, 50)
        found = model.honest(x[:, None], 10 * x + rng.normal(0, 1 + x))
        true = np.array([0.0, 10.0, 20.0])
        low, high = found["low"].to_numpy(), found["high"].to_numpy()
        held += ((low <= true) & (true <= high)).all()
    assert abs(held / DRAWS - 0.95) <= 0.015 + SLACK


def test_costs_and_rewards_have_a_mean_of_each_label():
    rng = np.random.default_rng(3)
    x = rng.random(200)
    costs = pl.DataFrame({"no": x, "yes": 1 - x})
    model = OptimalCostTree(max_depth=1).fit(pl.DataFrame({"x": x}), costs)
    found = model.honest(pl.DataFrame({"x": x[:100]}), costs[:100].select("yes", "no"))
    assert found["of"].to_list() == ["no", "yes"] * 2
    assert np.allclose(found["value"][0] + found["value"][1], 1)
    # Without names, columns are in the order of the labels.
    assert found.equals(model.honest(pl.DataFrame({"x": x[:100]}), costs[:100].to_numpy()))
    with pytest.raises(ValueError, match="has the columns"):
        model.honest(pl.DataFrame({"x": x}), costs.rename({"no": "maybe"}))
    policy = OptimalPolicyTree(max_depth=1).fit(x[:, None], costs.to_numpy())
    assert policy.honest(x[:, None], costs.to_numpy())["rows"].sum() == 400


def test_honest_refuses_what_it_cannot_say(classifier):
    X = pl.DataFrame({"x": [0, 1]})
    for confidence in (0, 1, math.nan, "x", None):
        with pytest.raises(ValueError, match="confidence"):
            classifier.honest(X, ["a", "b"], confidence)
    with pytest.raises(ValueError, match="2 rows, but y has 1"):
        classifier.honest(X, ["a"])
    with pytest.raises(ValueError, match="no rows"):
        classifier.honest(X[:0], [])
    assert classifier.honest(X[:1], ["b"])["rows"].sum() == 3
    survival = OptimalSurvivalTree(max_depth=1).fit([[0.0], [1.0]], [1, 2], [1, 1])
    with pytest.raises(ValueError, match="hold survival"):
        survival.honest([[0.0]], [1])


def paired(rng, n, both, first, second):
    """Errors of two models: so often both, the first one alone, the second one alone."""
    kind = rng.choice(4, n, p=[both, first, second, 1 - both - first - second])
    return (kind == 0) | (kind == 1), (kind == 0) | (kind == 2)


def test_differences_of_errors_are_covered():
    rng = np.random.default_rng(4)
    held = rejected = 0
    for _ in range(10 * DRAWS):
        own, others = paired(rng, 80, 0.1, 0.08, 0.15)
        low, high = paired_shares((others & ~own).sum(), (own & ~others).sum(), 80, 0.95)
        held += low <= 0.07 <= high
        own, others = paired(rng, 80, 0.1, 0.1, 0.1)
        rejected += mcnemar((others & ~own).sum(), (own & ~others).sum()) <= 0.05
    assert abs(held / (10 * DRAWS) - 0.95) <= 0.015
    assert rejected <= 0.05 * 10 * DRAWS


def test_a_model_is_compared_with_any_other():
    rng = np.random.default_rng(5)
    X = rng.random((300, 2))
    y = np.where((X[:, 0] > 0.5) ^ (rng.random(300) < 0.1), "ill", "well")
    model = OptimalTreeClassifier(max_depth=1).fit(X[:150], y[:150])
    simple = DummyClassifier().fit(X[:150], y[:150])
    found = compare(model, simple, X[150:], y[150:])
    errors = model.predict(X[150:]) != y[150:], simple.predict(X[150:]) != y[150:]
    assert found.better == (errors[1] & ~errors[0]).sum()
    assert found.worse == (errors[0] & ~errors[1]).sum()
    assert found.model == errors[0].mean() and found.difference > 0 and found.low > 0
    assert found.p_value < 1e-6 and "McNemar's exact test" in str(found)
    back = compare(simple, model, X[150:], y[150:])
    assert (back.low, back.high) == pytest.approx((-found.high, -found.low))
    assert compare(model.tree_, model, X[150:], y[150:]).p_value == 1
    cart = Tree.from_sklearn(DecisionTreeClassifier(max_depth=1).fit(X[:150], y[:150]))
    named = pl.DataFrame({"x0": X[150:, 0], "x1": X[150:, 1], "y": y[150:]})
    assert compare(cart, cart, named, "y").better == 0


def test_real_losses_are_compared_by_sign_flips():
    rng = np.random.default_rng(6)
    X = rng.random((200, 1))
    y = X[:, 0] + rng.normal(0, 0.1, 200)
    model = OptimalTreeRegressor(max_depth=3).fit(X[:100], y[:100])
    cart = DecisionTreeRegressor(max_depth=1).fit(X[:100], y[:100])
    found = compare(model, cart, X[100:], y[100:])
    assert found.test == "sign flips, drawn" and found.p_value < 0.01
    assert found.model == pytest.approx(((model.predict(X[100:]) - y[100:]) ** 2).mean())
    few = compare(model, cart, X[100:110], y[100:110], loss="absolute_error")
    assert few.test == "sign flips, exact" and few.loss == "mean absolute error"
    own = compare(model, cart, X[100:], y[100:], loss=lambda y, said: abs(y - said) > 0.2)
    assert 0 < own.model < 1
    costs = np.column_stack([X[:, 0], 1 - X[:, 0]])
    tree = OptimalCostTree(max_depth=1).fit(X, costs)
    leaf = OptimalCostTree(max_depth=0).fit(X, costs)
    found = compare(tree, leaf, X, costs)
    assert found.model == pytest.approx(-tree.score(X, costs)) and found.low > 0


def test_compare_refuses_what_cannot_be_compared(classifier):
    X = pl.DataFrame({"x": [0, 1]})
    with pytest.raises(TypeError, match="other has no predict"):
        compare(classifier, None, X, ["a", "b"])
    with pytest.raises(ValueError, match="shape"):
        compare(classifier, classifier, X, ["a"])
    with pytest.raises(ValueError, match="loss='hinge' is not valid"):
        compare(classifier, classifier, X, ["a", "b"], loss="hinge")
    with pytest.raises(ValueError, match="confidence"):
        compare(classifier, classifier, X, ["a", "b"], confidence=math.nan)
    with pytest.raises(ValueError, match="no rows"):
        compare(classifier, classifier, X[:0], [])
    one = compare(classifier, classifier, X[:1], ["b"])
    assert one.n_rows == 1 and one.p_value == 1 and one.low < 0 < one.high
