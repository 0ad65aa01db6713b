"""`OptimalPolicyTree` from outside: its scores, the trees it finds, their value, and what it
refuses."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from certree import OptimalCostTree, OptimalPolicyTree

TEACHERS = ["dr", "dm", "ipw"]


def trial(n=300, seed=0, names=("a", "b", "c")):
    """A treatment that helps the old, one that helps the young, and one that does nothing."""
    rng = np.random.default_rng(seed)
    X = pl.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.random(n) < 0.3,
        }
    )
    age = X["age"].to_numpy()
    mean = np.column_stack([age / 20, (110 - age) / 20, np.full(n, 2.0)])
    chance = np.column_stack([1 + age / 90, np.full(n, 1.5), np.full(n, 0.5)])
    chance /= chance.sum(axis=1, keepdims=True)
    given = np.array([rng.choice(3, p=p) for p in chance])
    outcome = mean[np.arange(n), given] + rng.normal(0, 0.5, n)
    return X, np.array(names)[given], outcome, chance, mean


def by_hand(teacher, given, outcome, chance, predicted, names):
    """The formulas, one row at a time."""
    scores = np.zeros(predicted.shape)
    for i in range(len(outcome)):
        for k, name in enumerate(names):
            if teacher != "ipw":
                scores[i, k] = predicted[i, k]
            if teacher == "ipw" and given[i] == name:
                scores[i, k] = outcome[i] / chance[i, k]
            if teacher == "dr" and given[i] == name:
                scores[i, k] += (outcome[i] - predicted[i, k]) / chance[i, k]
    return scores


@pytest.mark.parametrize("teacher", TEACHERS)
@pytest.mark.parametrize("maximize", [True, False])
def test_scores_are_the_formulas_and_the_tree_is_the_best_for_them(teacher, maximize):
    for seed in range(4):
        X, given, outcome, chance, mean = trial(80, seed)
        predicted = mean + 0.3
        scores = by_hand(teacher, given, outcome, chance, predicted, "abc")
        weights = np.random.default_rng(seed).integers(1, 4, 80) if seed % 2 else None
        model = OptimalPolicyTree(teacher, max_depth=2, maximize=maximize)
        model.fit(X, given, outcome, chance, predicted, sample_weight=weights)
        sign = -1 if maximize else 1
        costs = pl.DataFrame(sign * scores, schema=["a", "b", "c"])
        same = OptimalCostTree(max_depth=2).fit(X, costs, weights)
        assert model.objective_ == pytest.approx(same.objective_, rel=1e-12)
        assert (model.predict(X) == same.predict(X)).all()
        value = model.policy_value(X, given, outcome, chance, predicted, sample_weight=weights)
        assert value.value == pytest.approx(sign * same.score(X, costs, weights) * -1, rel=1e-12)
        assert model.score(X, given, outcome, chance, predicted) == pytest.approx(
            same.score(X, costs), rel=1e-12
        )
        words = "minus the mean" if maximize else "Objective: mean"
        assert words in str(model.certificate_) and model.status_ == "optimal"
        direct = OptimalPolicyTree(max_depth=2, maximize=maximize)
        direct.fit(X, rewards=costs * sign, sample_weight=weights)
        assert direct.objective_ == pytest.approx(model.objective_, rel=1e-12)


def test_everything_may_be_named_columns():
    X, given, outcome, chance, mean = trial()
    k = np.searchsorted(["a", "b", "c"], given)
    table = X.with_columns(
        given=pl.Series(given),
        came=outcome,
        mu=chance[np.arange(300), k],
        **{f"v{i}": mean[:, i] for i in range(3)},
    )
    names = ("given", "came", "mu", ["v0", "v1", "v2"])
    model = OptimalPolicyTree(max_depth=2).fit(X, given, outcome, chance, mean)
    for container in (table, table.lazy(), table.to_pandas(), table.to_arrow()):
        again = OptimalPolicyTree(max_depth=2).fit(container, *names)
        assert again.objective_ == model.objective_ and again.n_features_in_ == 3
        assert (again.predict(X) == model.predict(X)).all()
        value = again.policy_value(container, *names)
        assert value == model.policy_value(X, given, outcome, chance, mean)
    table = table.rename({"v0": "a", "v1": "b", "v2": "c"})
    again = OptimalPolicyTree(max_depth=2).fit(table, *names[:3], ["c", "a", "b"])
    assert again.objective_ == model.objective_, "predictions named after treatments are matched"


def test_fitted_models_predict_from_the_features():
    X, given, outcome, _, _ = trial()
    numbers = X.select("age", "ill").cast(pl.Float64).to_pandas()
    chance = LogisticRegression().fit(numbers, given)
    regressors = {
        name: LinearRegression().fit(numbers[given == name], outcome[given == name])
        for name in "abc"
    }
    by_array = OptimalPolicyTree(max_depth=2).fit(
        numbers,
        given,
        outcome,
        chance.predict_proba(numbers),
        np.column_stack([regressors[name].predict(numbers) for name in "abc"]),
    )
    frame = numbers.assign(given=given, outcome=outcome)
    for models in (regressors, list(regressors.values())):
        by_model = OptimalPolicyTree(max_depth=2).fit(frame, "given", "outcome", chance, models)
        assert by_model.objective_ == by_array.objective_
    sure = DecisionTreeClassifier().fit(numbers, given)
    clipped = OptimalPolicyTree("ipw", max_depth=1, clip=0.1).fit(numbers, given, outcome, sure)
    assert clipped.status_ == "optimal"


@pytest.mark.parametrize("teacher", TEACHERS)
def test_models_are_cross_fitted_where_none_are_given(teacher):
    X, given, outcome, _, mean = trial(600)
    model = OptimalPolicyTree(teacher, max_depth=1, leaf_penalty=0.05).fit(X, given, outcome)
    again = clone(model).fit(X, given, outcome)
    assert again.objective_ == model.objective_, "the seed is fixed"
    assert clone(model).set_params(random_state=1).fit(X, given, outcome).tree_ != model.tree_
    # The old are given what helps them, and so are the young.
    chosen = model.predict(X)
    assert mean[np.arange(600), np.searchsorted(["a", "b", "c"], chosen)].mean() > 3.4
    other = trial(600, seed=1)
    value, error = model.policy_value(*other[:3])
    truth = other[4][np.arange(600), np.searchsorted(["a", "b", "c"], model.predict(other[0]))]
    assert abs(value - truth.mean()) < 4 * error and 0 < error < 0.5


def test_the_standard_error_is_that_of_a_mean():
    """Over many samples, intervals of two standard errors hold the truth about as often as they
    should."""
    X, given, outcome, chance, mean = trial(20_000)
    model = OptimalPolicyTree("ipw", max_depth=1).fit(X, given, outcome, chance)
    chosen = np.searchsorted(["a", "b", "c"], model.predict(X))
    truth = mean[np.arange(20_000), chosen].mean()
    held = []
    for part in np.array_split(np.arange(20_000), 100):
        value, error = model.policy_value(X[part], given[part], outcome[part], chance[part])
        held.append(abs(value - truth) < 2 * error)
    assert 0.88 <= np.mean(held) <= 1
    rewards = pl.DataFrame({"a": [1.0, 2, 3], "b": [0.0, 0, 0]})
    tree = OptimalPolicyTree().fit(pl.DataFrame({"x": [1, 1, 1]}), rewards=rewards)
    value, error = tree.policy_value(pl.DataFrame({"x": [1, 1, 1]}), rewards=rewards)
    assert value == 2 and error == pytest.approx(1 / np.sqrt(3))


@pytest.mark.parametrize("names", [(0, 1, 2), (False, True, True), (2.0, 7.0, 9.0), tuple("xyz")])
def test_treatments_come_back_as_they_were_given(names):
    X, given, outcome, _, mean = trial(60, names=names)
    model = OptimalPolicyTree("dm", max_depth=1)
    predicted = mean[:, : len(set(names))]
    model.fit(X, given, outcome, predicted=predicted)
    assert model.predict(X).dtype == given.dtype and set(model.labels_) == set(given)


def test_nodes_show_mean_scores():
    X, given, outcome, chance, _ = trial()
    model = OptimalPolicyTree("ipw", max_depth=2).fit(X, given, outcome, chance)
    text = model.tree_.to_text()
    assert "mean rewards  a: " in text.splitlines()[0]
    assert model.predict_rewards(X).shape == (300, 3)
    for leaf in model.tree_.leaves:
        assert leaf.label == "abc"[int(np.argmax(leaf.value))]


X4 = pl.DataFrame({"x": [1, 2, 3, 4, 5, 6, 7, 8]})
GIVEN = list("ababbaab")
CAME = [1.0, 2, 3, 4, 5, 6, 7, 8]
HALF = [0.5] * 8


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"treatment": None}, "treatment and outcome of each row, or rewards="),
        ({"outcome": None}, "requires outcome"),
        ({"propensity": [0.0] + HALF[1:]}, "1 of 8 are not, such as 0"),
        ({"propensity": [1.5] + HALF[1:]}, "such as 1.5"),
        ({"propensity": np.full((8, 2), 0.0)}, "8 of 8 are not"),
        ({"propensity": [None] + HALF[1:]}, "1 value missing"),
        ({"propensity": HALF[1:]}, "X has 8 rows, propensity has 7"),
        ({"propensity": np.full((8, 3), 0.3)}, "propensity has 3 columns or models"),
        ({"outcome": [np.nan] + CAME[1:]}, "1 value missing"),
        ({"outcome": list("abcdefgh")}, "outcome must be numbers"),
        ({"outcome": CAME[1:]}, "X has 8 rows, outcome has 7"),
        ({"treatment": GIVEN[1:], "outcome": CAME[1:]}, "X has 8 rows"),
        ({"treatment": ["a"] * 8}, "there is nothing to choose from"),
        ({"treatment": [None] + GIVEN[1:]}, "1 value missing"),
        ({"treatment": ["c"] + GIVEN[1:], "propensity": None}, "'c' was given to 1 rows, too few"),
        ({"predicted": np.ones((8, 3))}, "never given.*pass rewards="),
        ({"predicted": np.full((8, 2), np.nan)}, "8 values missing"),
        ({"predicted": {"a": LinearRegression()}}, r"no model for the treatments \['b'\]"),
        ({"predicted": np.ones(8)}, "rows × columns"),
        ({"rewards": np.ones((8, 2))}, "pass it alone"),
    ],
)
def test_bad_input(given, message):
    arguments = {
        "treatment": GIVEN, "outcome": CAME, "propensity": HALF, "predicted": np.ones((8, 2))
    }
    with pytest.raises(ValueError, match=message):
        OptimalPolicyTree().fit(X4, **{**arguments, **given})


@pytest.mark.parametrize(
    ("rewards", "message"),
    [
        (np.full((8, 2), np.nan), "rewards must be finite, but column 0 has 8 values missing"),
        (np.ones((8, 1)), "at least two"),
        (np.ones((7, 2)), "X has 8 rows, rewards has 7"),
    ],
)
def test_bad_rewards(rewards, message):
    with pytest.raises(ValueError, match=message):
        OptimalPolicyTree().fit(X4, rewards=rewards)


def test_bad_evaluations():
    model = OptimalPolicyTree("ipw").fit(X4, GIVEN, CAME, HALF)
    with pytest.raises(ValueError, match=r"treatment holds \['c'\]"):
        model.policy_value(X4, ["c"] + GIVEN[1:], CAME, HALF)
    with pytest.raises(ValueError, match="rewards has no column for"):
        model.policy_value(X4, rewards=np.ones((8, 2)))


@pytest.mark.parametrize(
    "parameters",
    [
        {"teacher": "oracle"},
        {"clip": 0},
        {"n_folds": 1},
        {"maximize": "yes"},
        {"propensity_model": LinearRegression()},
        {"outcome_model": LogisticRegression()},
    ],
)
def test_bad_parameters(parameters):
    with pytest.raises(ValueError, match=f"{next(iter(parameters))}=.* is not valid"):
        OptimalPolicyTree(**parameters).fit(X4, GIVEN, CAME, HALF)


def test_pandas_features_with_names():
    X, given, outcome, chance, _ = trial(50)
    frame = X.to_pandas()
    model = OptimalPolicyTree("ipw", max_depth=1).fit(frame, pd.Series(given), outcome, chance)
    assert model.feature_names_in_.tolist() == ["age", "sex", "ill"]
