"""Constraints on classifiers: what they keep to, how they combine, and what they refuse."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import polars as pl
import pytest
from sklearn import metrics
from sklearn.base import clone

from certree import Capacity, DemographicParity, EqualOpportunity, OptimalTreeClassifier


def people(n: int = 120, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    sex = rng.random(n) < 0.4
    skill = rng.normal(size=n).round(1) + 0.8 * sex
    age = rng.integers(20, 60, n)
    hired = skill + (age > 40) * 0.5 + rng.normal(size=n) * 0.6 > 0.6
    return pl.DataFrame({
        "sex": np.where(sex, "m", "f"),
        "skill": skill,
        "age": age,
        "car": rng.random(n) < 0.5,
        "weight": rng.integers(1, 4, n),
        "hired": np.where(hired, "yes", "no"),
    })


def fit(frame: pl.DataFrame, *constraints, y="hired", **parameters):
    settings = dict(leaf_penalty=0, max_depth=2, thresholds=6, constraints=constraints)
    return OptimalTreeClassifier(**{**settings, **parameters}).fit(frame.drop("weight"), y)


def rates(model, frame, sex, label="yes", true=None):
    rows = frame.filter(pl.col("sex") == sex)
    if true is not None:
        rows = rows.filter(pl.col("hired") == true)
    return np.mean(model.predict(rows) == label)


def test_the_difference_is_what_the_predictions_say():
    frame = people()
    free = fit(frame)
    apart = abs(rates(free, frame, "m") - rates(free, frame, "f"))
    assert apart > 0.1
    for limit in (0.0, 0.02, 0.1, 1.0):
        model = fit(frame, DemographicParity("sex", limit))
        found = abs(rates(model, frame, "m") - rates(model, frame, "f"))
        (met,) = model.certificate_.constraints
        assert found <= limit + 1e-12
        assert met.attained == pytest.approx(found)
        errors = np.mean(model.predict(frame) != frame["hired"].to_numpy())
        assert model.objective_ == pytest.approx(errors)
        assert model.status_ == "optimal"
        assert "sex" not in model.feature_names_in_


def test_equal_opportunity_compares_true_positive_rates():
    frame = people(seed=3)
    model = fit(frame, EqualOpportunity("sex", 0.01))
    found = abs(rates(model, frame, "m", true="yes") - rates(model, frame, "f", true="yes"))
    assert found <= 0.01
    assert model.certificate_.constraints[0].attained == pytest.approx(found)


def shares(given, y, male, weights):
    """How far apart the groups are in how often the label is given, to all and to rows whose label
    it is, and how often it is given at all."""

    def share(of):
        return (weights * (given & of)).sum() / (weights * of).sum()

    parity = abs(share(male) - share(~male))
    return parity, abs(share(male & y) - share(~male & y)), share(given | True)


def stumps(frame, weights):
    """Every stump with every labelling: (errors, share by group, share of positives by group)."""
    y = (frame["hired"] == "yes").to_numpy()
    male = (frame["sex"] == "m").to_numpy()
    for value in sorted(frame["age"].unique())[:-1]:
        right = (frame["age"] > value).to_numpy()
        for labels in itertools.product((False, True), repeat=2):
            yield np.where(right, labels[1], labels[0]), y, male
    for label in (False, True):
        yield np.full(len(y), label), y, male


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("unit", [1, 1 / 3, None])
def test_combinations_agree_with_all_stumps(seed, unit):
    frame = people(40, seed)
    # Weights and costs that are short decimals, that are not, and that nobody would write.
    drawn = pl.Series("weight", np.random.default_rng(seed).random(40)) if unit is None else None
    frame = frame.with_columns(pl.col("weight") * unit if drawn is None else drawn)
    weights = frame["weight"].to_numpy().astype(float)
    costs = np.array([[0, 1], [3, 0]]) * (unit or np.pi)
    constraints = (
        DemographicParity("sex", 0.2),
        EqualOpportunity("sex", 0.25),
        Capacity("yes", 0.5),
    )
    model = OptimalTreeClassifier(
        leaf_penalty=0.01, max_depth=1, constraints=constraints, cost_matrix=costs
    ).fit(frame.select("sex", "age", "hired", "weight"), "hired", sample_weight="weight")

    best = np.inf
    for given, y, male in stumps(frame, weights):
        parity, chances, capacity = shares(given, y, male, weights)
        if max(parity - 0.2, chances - 0.25, capacity - 0.5) <= 1e-12:
            cost = costs[y.astype(int), given.astype(int)]
            leaves = 1 if given.all() or not given.any() else 2
            best = min(best, (cost * weights).sum() / weights.sum() + 0.01 * leaves)
    assert model.objective_ == pytest.approx(best)


METRICS = {
    "f1": lambda y, p, w: metrics.f1_score(y, p, sample_weight=w, zero_division=0),
    "fbeta": lambda y, p, w: metrics.fbeta_score(y, p, beta=0.5, sample_weight=w, zero_division=0),
    "jaccard": lambda y, p, w: metrics.jaccard_score(y, p, sample_weight=w, zero_division=0),
    "mcc": lambda y, p, w: metrics.matthews_corrcoef(y, p, sample_weight=w),
}


@pytest.mark.parametrize("objective", METRICS)
@pytest.mark.parametrize("seed", range(5))
def test_metrics_agree_with_all_stumps_that_keep_constraints(objective, seed):
    frame = people(40, seed)
    weights = frame["weight"].to_numpy().astype(float)
    constraints = (
        DemographicParity("sex", 0.1), EqualOpportunity("sex", 0.3), Capacity("yes", 0.6)
    )
    model = OptimalTreeClassifier(
        objective, beta=0.5, leaf_penalty=0.01, max_depth=1, constraints=constraints
    ).fit(frame.select("sex", "age", "hired", "weight"), "hired", sample_weight="weight")

    best = np.inf
    for given, y, male in stumps(frame, weights):
        parity, chances, capacity = shares(given, y, male, weights)
        if parity <= 0.1 and chances <= 0.3 and capacity <= 0.6:
            leaves = 1 if given.all() or not given.any() else 2
            best = min(best, 1 - METRICS[objective](y, given, weights) + 0.01 * leaves)
    assert model.objective_ == pytest.approx(best)
    assert model.status_ == "optimal" and model.lower_bound_ == pytest.approx(best)
    assert "no such tree that meets the constraints" in str(model.certificate_)
    assert len(model.certificate_.constraints) == 3


def test_metrics_with_class_weights_and_limits_of_a_search():
    frame = people(200, 9)
    parity = DemographicParity("sex", 0.05)
    by_class = fit(frame, parity, objective="f1", class_weight={"yes": 3.0})
    rows = frame.with_columns(weight=pl.when(pl.col("hired") == "yes").then(3).otherwise(1))
    assert by_class.objective_ < fit(frame, parity, objective="f1").objective_
    balanced = fit(frame, parity, objective="jaccard", class_weight="balanced")
    n, n_yes = frame.height, (frame["hired"] == "yes").sum()
    factor = float((n - n_yes) / n_yes)
    y = (frame["hired"] == "yes").to_numpy()
    given = balanced.predict(frame) == "yes"
    jaccard = metrics.jaccard_score(y, given, sample_weight=np.where(y, factor, 1.0))
    assert balanced.objective_ == pytest.approx(1 - jaccard)
    # Parity is of rows, whatever errors weigh.
    assert abs(rates(by_class, rows, "m") - rates(by_class, rows, "f")) <= 0.05
    with pytest.warns(match="before the tree was proved optimal"):
        stopped = fit(frame, parity, objective="mcc", max_depth=3, time_limit=1e-9)
    best = fit(frame, parity, objective="mcc", max_depth=3, n_jobs=2)
    assert stopped.lower_bound_ <= best.objective_ <= stopped.objective_
    few = fit(frame, parity, objective="f1", max_leaf_nodes=2, min_samples_leaf=20)
    assert few.get_n_leaves() <= 2


def test_balanced_accuracy_weighs_classes_not_groups():
    frame = people(60, 5)
    model = fit(frame, DemographicParity("sex", 1.0), objective="balanced_accuracy")
    free = fit(frame.drop("sex"), objective="balanced_accuracy")
    assert model.objective_ == pytest.approx(free.objective_)


def test_a_feature_if_it_is_asked_for():
    frame = people(seed=2).with_columns(hired=pl.col("sex"))
    away = fit(frame, DemographicParity("sex", 1.0))
    used = fit(frame, DemographicParity("sex", 1.0, use_as_feature=True))
    assert used.objective_ == 0 < away.objective_
    assert "sex" in used.feature_names_in_


def test_a_label_of_three_is_given_alike():
    frame = people(90, 8).with_columns(
        hired=pl.when(pl.col("age") > 50).then(pl.lit("later")).otherwise("hired")
    )
    free = fit(frame)
    apart = [abs(rates(free, frame, "m", k) - rates(free, frame, "f", k)) for k in ("no", "yes")]
    assert max(apart) > 0.05
    model = fit(
        frame, DemographicParity("sex", 0.05, label="yes"), EqualOpportunity("sex", 0.1, label="no")
    )
    assert abs(rates(model, frame, "m") - rates(model, frame, "f")) <= 0.05
    chances = [rates(model, frame, sex, "no", true="no") for sex in ("m", "f")]
    assert abs(chances[0] - chances[1]) <= 0.1
    assert "demographic parity by 'sex' for 'yes'" in str(model.certificate_)


def test_capacity_of_several_labels_and_arrays():
    X = np.arange(12.0).reshape(-1, 1)
    y = np.repeat(["a", "b", "c"], 4)
    model = OptimalTreeClassifier(
        leaf_penalty=0, constraints=[Capacity("a", 0.25), Capacity("c", 0.1)]
    ).fit(X, y)
    counts = dict(zip(*np.unique(model.predict(X), return_counts=True)))
    assert counts == {"a": 3, "b": 8, "c": 1}
    assert model.objective_ == pytest.approx(4 / 12)


def test_lazy_frames_pandas_and_pickles():
    frame = people(80, 1)
    model = fit(frame, DemographicParity("sex", 0.05))
    rows = frame.drop("weight")
    for X in (rows.lazy(), rows.to_pandas(), rows.to_arrow()):
        assert clone(model).fit(X, "hired").objective_ == model.objective_
    again = pickle.loads(pickle.dumps(model))
    assert str(again.certificate_) == str(model.certificate_)
    assert model.tree_.from_json(model.tree_.to_json()) == model.tree_


def test_the_certificate_says_what_was_kept():
    model = fit(people(), DemographicParity("sex", 0.02), Capacity("yes", 0.6))
    text = str(model.certificate_)
    assert "Constraint: demographic parity by 'sex': the difference is" in text
    assert "Constraint: capacity of 'yes': the share is" in text
    assert "no such tree that meets the constraints has a lower objective" in text
    assert model.certificate_.to_dict()["constraints"][1]["limit"] == 0.6


def test_threads_and_continuous_columns():
    frame = people(90, 4)
    limit = DemographicParity("sex", 0.01)
    one = fit(frame, limit, thresholds="all")
    two = fit(frame, limit, thresholds="all", n_jobs=2)
    assert one.objective_ == two.objective_


PARITY = DemographicParity("sex", 0.1)


@pytest.mark.parametrize(
    ("change", "constraints", "says"),
    [
        ({"sex": pl.lit("f")}, [PARITY], "'sex' has one value, 'f'"),
        ({"sex": pl.lit(None, pl.String)}, [PARITY], r"'sex' has 120 values missing"),
        ({"sex": pl.col("age")}, [PARITY], "one for each pair of groups.* at most 24 are possible"),
        ({}, [DemographicParity("gender", 0.1)], "sensitive='gender' is not a column of X"),
        ({}, [DemographicParity("hired", 0.1)], "sensitive='hired' is the column of y"),
        ({}, [DemographicParity("sex", 1.5)], "max_difference=1.5 is not valid"),
        ({}, [DemographicParity(9, 0.5)], "sensitive=9 is no column of X, which has 5 columns"),
        ({}, [DemographicParity(0.5, 0.5)], "sensitive=0.5 is not valid"),
        ({}, [Capacity("maybe", 0.1)], "names the label 'maybe'"),
        ({}, [Capacity("yes", "all")], "max_fraction='all' is not valid"),
        ({}, ["parity"], "constraints=.* is not valid"),
        ({"hired": pl.col("age") // 15}, [PARITY], "but y has 3 classes.*name one with label="),
        ({}, [DemographicParity("sex", 0.1, label="maybe")], "names the label 'maybe'"),
        (
            {"hired": pl.when(pl.col("sex") == "f").then(pl.lit("no")).otherwise("hired")},
            [EqualOpportunity("sex", 0.1)],
            "has no row whose label is 'yes'",
        ),
        (
            {},
            [Capacity("yes", 0.3), Capacity("no", 0.5)],
            "no tree within these limits meets the constraints: the least violation reachable is "
            "0.1",
        ),
    ],
)
def test_bad_input(change, constraints, says):
    frame = people().with_columns(**change)
    with pytest.raises(ValueError, match=says):
        fit(frame, *constraints)


def test_arrays_have_no_sensitive_columns():
    with pytest.raises(ValueError, match="an array without names"):
        OptimalTreeClassifier(constraints=(PARITY,)).fit(np.eye(4), [0, 1, 0, 1])


def test_weights_that_are_no_short_decimals():
    frame = people()
    weights = np.random.default_rng(0).random(frame.height)
    rows = frame.drop("weight")
    model = OptimalTreeClassifier(max_depth=2, thresholds=6, constraints=(PARITY,))
    model.fit(rows, "hired", sample_weight=weights)
    given, male = model.predict(rows) == "yes", (frame["sex"] == "m").to_numpy()
    apart = np.average(given[male], weights=weights[male])
    apart = abs(apart - np.average(given[~male], weights=weights[~male]))
    assert apart <= 0.1 + 1e-9
    assert model.certificate_.constraints[0].attained == pytest.approx(apart)
    assert model.status_ == "optimal" and 0 <= model.gap_ < 1e-9
    # Nodes show the weights as they are.
    assert sum(model.tree_.nodes[0].value) == pytest.approx(weights.sum())
    thirds = clone(model).set_params(class_weight={"no": 1 / 3, "yes": 2 / 3})
    whole = clone(model).set_params(class_weight={"no": 1, "yes": 2})
    thirds.fit(rows, "hired"), whole.fit(rows, "hired")
    assert thirds.objective_ == pytest.approx(whole.objective_)
    balanced = clone(model).set_params(class_weight="balanced", leaf_penalty=0)
    balanced.fit(rows, "hired", sample_weight=weights)
    wrong = balanced.predict(rows) != frame["hired"].to_numpy()
    rate = [
        np.average(wrong[of], weights=weights[of])
        for of in map(frame["hired"].__eq__, ("no", "yes"))
    ]
    assert balanced.objective_ == pytest.approx(np.mean(rate))
    # Metrics are of whole numbers.
    with pytest.raises(ValueError, match="round sample weights"):
        clone(model).set_params(objective="f1").fit(rows, "hired", sample_weight=weights)


def test_guessed_cuts_know_nothing_of_the_sensitive_column():
    frame = people(120, 6)
    model = fit(frame, DemographicParity("sex", 0.05), thresholds="guess")
    assert model.status_ == "optimal"
    assert "sex" not in model.guesser_.feature_names_in_
