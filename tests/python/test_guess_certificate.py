"""Certificates of guesses: which guess it was, how good the reference is, and what a tree that
answers as the reference does promises."""

import json
import pickle

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression

from certree import (
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    ThresholdGuesser,
)

pytestmark = pytest.mark.usefixtures("one_thread")

N = 160
RNG = np.random.default_rng(6)
X = pl.DataFrame(
    {"a": RNG.integers(0, 30, N), "b": RNG.normal(size=N).round(2), "c": RNG.random(N) < 0.5}
)
SCORE = (X["a"] / 10 + X["b"]).to_numpy() + 2.0 * X["c"].to_numpy() + RNG.normal(size=N) * 0.4
Y = np.where(SCORE > 3.3, "yes", "no")
THREE = np.digitize(SCORE, [2.0, 3.5])
COSTS = np.abs(SCORE[:, None] - np.array([1.0, 3.0, 5.0])).round(3)
WEIGHTS = RNG.integers(0, 3, N)


def small():
    return GradientBoostingClassifier(n_estimators=8, max_depth=2, random_state=0)


@pytest.mark.parametrize(
    ("parameters", "y"),
    [
        ({}, Y),
        ({"class_weight": {"yes": 3.0}}, Y),
        ({"objective": "balanced_accuracy"}, THREE),
        ({"cost_matrix": [[0, 1, 3], [2, 0, 1], [4, 1, 0]], "leaf_penalty": 0.03}, THREE),
    ],
)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["even", "weights"])
def test_the_loss_of_the_reference_is_that_of_its_labels(parameters, y, weights):
    model = OptimalTreeClassifier(max_depth=2, thresholds=5, reference=small(), **parameters)
    own = model.fit(X, y, weights).certificate_
    reference = small().fit(X.with_columns(pl.col("c").cast(int)).to_numpy(), y)
    labels = reference.predict(X.with_columns(pl.col("c").cast(int)).to_numpy())
    own = model.set_params(reference=labels).fit(X, y, weights).certificate_
    w = np.ones(N) if weights is None else weights.astype(float)
    classes = np.unique(y)
    place, said = np.searchsorted(classes, y), np.searchsorted(classes, labels)
    costs = np.array(parameters.get("cost_matrix", 1.0 - np.eye(len(classes))))
    factor = np.array(
        [parameters.get("class_weight", {}).get(str(label), 1.0) for label in classes]
    )
    if "objective" in parameters:
        factor = factor / np.bincount(place, weights=w)
    w = w * factor[place]
    assert own.reference_loss == pytest.approx(np.average(costs[place, said], weights=w))
    assert own.reference == "given labels"
    line = next(line for line in str(own).splitlines() if line.startswith("Reference"))
    assert f"given labels has a loss of {own.reference_loss:.6g} on those rows" in line


def test_it_says_when_the_tree_is_better_already():
    bad = np.full(N, "no")
    model = OptimalTreeClassifier(max_depth=2, thresholds=5, reference=bad).fit(X, Y)
    own = model.certificate_
    assert own.training_loss < own.reference_loss
    assert "this tree, which is better than it already," in str(own)
    same = OptimalTreeClassifier(max_depth=1, thresholds=5, leaf_penalty=1.0, reference=bad).fit(
        X, Y
    )
    if same.certificate_.status != "optimal":
        assert "this tree just as much" in str(same.certificate_)
    good = OptimalTreeClassifier(max_depth=1, thresholds=5, reference=Y).fit(X, Y).certificate_
    assert "better than it already" not in str(good) and good.reference_loss == 0.0
    # Once the tree is proved, the reference of the bounds does not matter.
    assert "Reference" not in str(model.certify().certificate_)
    assert model.certificate_.reference_loss == own.reference_loss


def test_the_guess_is_by_leaf_or_by_point():
    few = OptimalTreeClassifier(max_depth=2, thresholds=5, reference=small()).fit(X, Y)
    assert few.certificate_.guessed_by == "leaf"
    assert "no leaf of the best tree loses less than the reference" in str(few.certificate_)
    many = pl.DataFrame(RNG.random((3000, 8)))
    labels = RNG.integers(0, 2, 3000)
    by_point = OptimalTreeClassifier(max_depth=1, reference=RNG.integers(0, 2, 3000)).fit(
        many, labels
    )
    assert by_point.certificate_.guessed_by == "point"
    costs = OptimalCostTree(max_depth=2, thresholds=5, reference=np.zeros(N, dtype=int)).fit(
        X, COSTS
    )
    assert costs.certificate_.guessed_by == "point"
    if costs.status_ == "optimal_given_guess":
        assert "no tree is better on any group of equal rows" in str(costs.certificate_)
    squares = OptimalTreeRegressor(max_depth=2, thresholds=5, reference=LinearRegression())
    assert squares.fit(X, SCORE).certificate_.guessed_by == "leaf"
    none = OptimalTreeClassifier(max_depth=1).fit(X, Y).certificate_
    assert (
        none.guessed_by is none.reference_loss is none.cuts_reference is none.copy_objective is None
    )
    # It stays said of a search that went on.
    assert few.certify().certificate_.guessed_by == "leaf"


@pytest.mark.parametrize("seed", range(6))
def test_the_best_tree_is_no_worse_than_one_that_copies_the_reference(seed):
    rng = np.random.default_rng(seed)
    rows = pl.DataFrame({name: rng.integers(0, 12, 120) for name in "abc"})
    y = (rows["a"] * rows["b"] > 30).to_numpy() ^ (rng.random(120) < 0.1)
    weights = rng.integers(1, 4, 120) if seed % 2 else None
    free = {
        "max_depth": None,
        "leaf_penalty": [0.004, 0.02][seed % 2],
        "thresholds": ThresholdGuesser(small()),
    }
    for reference in (None, "guess"):
        model = OptimalTreeClassifier(**free, reference=reference).fit(rows, y, weights)
        own = model.certificate_
        copy = own.cuts_reference.copy
        assert own.copy_is_allowed and own.copy_objective == pytest.approx(
            own.cuts_reference.loss + own.leaf_penalty * copy.n_leaves
        )
        # Corollary 4.3.1: with the same reference for the bounds, too.
        assert own.objective <= own.copy_objective + 1e-12
        assert f"an objective of at most {own.copy_objective:.6g} (theorem 4.1" in str(own)
        answered = model.guesser_.reference_.predict(model.guesser_.transform(rows) * 1.0)
        labels = model.guesser_.classes_[answered]
        want = np.average(labels != y, weights=weights)
        assert own.cuts_reference.loss == pytest.approx(want)
        # A tree of that size exists that errs as often as the reference does.
        copied = OptimalTreeClassifier(
            max_depth=None,
            leaf_penalty=1e-6,
            thresholds=model.guesser_,
            max_leaf_nodes=copy.n_leaves,
        ).fit(rows, labels)
        assert (copied.predict(rows) == labels).all()
    narrow = OptimalTreeClassifier(**{**free, "max_depth": 0}).fit(rows, y, weights).certificate_
    assert narrow.copy_is_allowed is False and "is beyond the limits" in str(narrow)
    leafy = OptimalTreeClassifier(**free, min_samples_leaf=40).fit(rows, y, weights).certificate_
    assert leafy.copy_is_allowed is False


def test_costs_and_policies_guess_cuts():
    for weights in (None, WEIGHTS, WEIGHTS * 0.37):
        model = OptimalCostTree(max_depth=2, thresholds="guess", leaf_penalty=0.005)
        own = model.fit(X, COSTS, weights).certificate_
        guesser = model.guesser_
        assert (
            own.n_cuts
            == guesser.n_kept_
            < OptimalCostTree(max_depth=0).fit(X, COSTS).certificate_.n_cuts
        )
        assert "guessed from a GradientBoostingClassifier" in str(own) and own.status == "optimal"
        chosen = guesser.classes_[guesser.reference_.predict(guesser.transform(X) * 1.0)]
        want = np.average(COSTS[np.arange(N), chosen], weights=weights)
        assert own.cuts_reference.loss == pytest.approx(want)
        assert own.cuts_reference.copy is not None
        kept = OptimalCostTree(max_depth=2, thresholds=guesser, leaf_penalty=0.005)
        assert kept.fit(X, COSTS, weights).objective_ == model.objective_
        both = OptimalCostTree(
            max_depth=2, thresholds="guess", reference="guess", leaf_penalty=0.005
        )
        assert both.fit(X, COSTS, weights).certify().objective_ == pytest.approx(model.objective_)
    again = pickle.loads(pickle.dumps(model)).set_params(time_limit=None)
    assert again.certify(X, COSTS, weights).status_ == "optimal"
    rewards = OptimalPolicyTree(max_depth=2, thresholds=ThresholdGuesser(RandomForestClassifier(5)))
    found = rewards.fit(X, rewards=-COSTS)
    assert found.certificate_.thresholds.startswith("guessed from a RandomForestClassifier")
    prices = OptimalCostTree(max_depth=2, thresholds="guess", feature_costs={"a": 0.1}).fit(
        X, COSTS
    )
    # A tree that answers as the reference does also pays for columns.
    assert prices.certificate_.cuts_reference is None
    with pytest.raises(ValueError, match="every label has the same costs in each row"):
        OptimalCostTree(thresholds="guess").fit(X, np.ones((N, 2)))


def test_references_that_are_kept_as_they_were_given():
    import lightgbm

    rows = X.select("a", "b")
    light = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(rows.to_pandas(), Y)
    for reference in (light.booster_, light, small().fit(rows.to_pandas(), Y)):
        guesser = ThresholdGuesser(reference, tolerance=None).fit(rows, Y)
        assert guesser.n_fits_ == 0
        model = OptimalTreeClassifier(max_depth=2, thresholds=guesser).fit(rows, Y)
        assert model.status_ == "optimal" and model.certificate_.cuts_reference is None
        costs = OptimalCostTree(max_depth=2, thresholds=guesser).fit(rows, COSTS)
        assert costs.certificate_.cuts_reference is None
    with_bounds = OptimalTreeClassifier(max_depth=2, thresholds=guesser, reference="guess")
    own = with_bounds.fit(rows, Y).certificate_
    labels = small().fit(rows.to_pandas(), Y).predict(rows.to_pandas())
    assert own.reference_loss == pytest.approx(np.mean(labels != Y))


def test_regressors_and_plain_values():
    model = OptimalTreeRegressor(max_depth=2, thresholds="guess", reference="guess").fit(X, SCORE)
    own = model.certificate_
    answered = model.guesser_.reference_.predict(model.guesser_.transform(X) * 1.0)
    want = ((SCORE - answered) ** 2).sum() / ((SCORE - SCORE.mean()) ** 2).sum()
    assert own.cuts_reference.loss == pytest.approx(want) == own.reference_loss
    assert own.cuts_reference.copy is own.copy_objective is own.copy_is_allowed is None
    plain = json.loads(json.dumps(own.to_dict()))
    assert plain["cuts_reference"] == {
        "name": "a GradientBoostingRegressor",
        "loss": own.cuts_reference.loss,
        "copy": None,
    }
    assert plain["guessed_by"] == "leaf" and plain["copy_objective"] is None
