"""F1, F-beta, Jaccard and Matthews as objectives of the classifier: what they mean, and what they
refuse."""

import numpy as np
import polars as pl
import pytest
from sklearn import metrics
from sklearn.base import clone

from certree import Capacity, OptimalTreeClassifier

OBJECTIVES = {
    "f1": lambda y, p, pos, w: metrics.f1_score(y, p, pos_label=pos, sample_weight=w),
    "fbeta": lambda y, p, pos, w: metrics.fbeta_score(
        y, p, beta=2.0, pos_label=pos, sample_weight=w
    ),
    "jaccard": lambda y, p, pos, w: metrics.jaccard_score(y, p, pos_label=pos, sample_weight=w),
    "mcc": lambda y, p, pos, w: metrics.matthews_corrcoef(y, p, sample_weight=w),
}


def noisy(n=150, seed=0):
    """A rare class that two columns tell, more or less."""
    rng = np.random.default_rng(seed)
    X = pl.DataFrame(
        {"a": rng.integers(0, 5, n), "b": rng.random(n) < 0.5, "c": rng.choice(["x", "y", "z"], n)}
    )
    chance = 0.05 + 0.5 * ((X["a"] > 2) & X["b"]).to_numpy()
    return X, np.where(rng.random(n) < chance, "yes", "no")


def best_stump(X, y, objective, positive, weights):
    """The best metric of any stump or leaf, with any labels."""
    negative = "no" if positive == "yes" else "yes"
    masks = [np.zeros(len(y), dtype=bool)]
    for column in X.get_columns():
        if column.dtype == pl.String:
            masks += [(column == value).to_numpy() for value in column.unique()]
        else:
            values = column.cast(pl.Int64)
            masks += [(values <= cut).to_numpy() for cut in values.unique()]
    found = []
    for mask in masks:
        for side in (mask, ~mask):
            labels = np.where(side, positive, negative)
            found.append(OBJECTIVES[objective](y, labels, positive, weights))
    return max(found)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("positive", ["yes", "no"])
def test_no_stump_is_better(objective, positive):
    for seed in range(8):
        X, y = noisy(40, seed)
        weights = np.random.default_rng(seed).integers(1, 4, 40) / 2 if seed % 2 else None
        model = OptimalTreeClassifier(
            objective, beta=2.0, positive_label=positive, max_depth=1, leaf_penalty=0
        )
        model.fit(X, y, weights)
        metric = OBJECTIVES[objective](y, model.predict(X), positive, weights)
        assert model.objective_ == pytest.approx(1 - metric, abs=1e-12)
        assert metric == pytest.approx(best_stump(X, y, objective, positive, weights), abs=1e-12)
        assert model.status_ == "optimal" and model.gap_ < 1e-14


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_objective_is_what_it_says(objective):
    X, y = noisy()
    for penalty in (0.0, 0.01, 0.04):
        model = OptimalTreeClassifier(objective, beta=2.0, max_depth=3, leaf_penalty=penalty)
        model.fit(X, y)
        metric = OBJECTIVES[objective](y, model.predict(X), "yes", None)
        assert model.objective_ == pytest.approx(
            1 - metric + penalty * model.get_n_leaves(), abs=1e-12
        )
        accurate = clone(model).set_params(objective="accuracy").fit(X, y)
        other = OBJECTIVES[objective](y, accurate.predict(X), "yes", None)
        assert model.objective_ <= 1 - other + penalty * accurate.get_n_leaves() + 1e-12
        assert clone(model).set_params(n_jobs=2).fit(X, y).objective_ == model.objective_
        assert model.score(X, y) == metrics.accuracy_score(y, model.predict(X))


def test_the_positive_class_is_the_last_or_the_one_that_is_named():
    X, y = noisy()
    for target, last in [(y, "yes"), (y == "yes", True), ((y == "yes").astype(int), 1)]:
        model = OptimalTreeClassifier("f1", max_depth=2).fit(X, target)
        named = clone(model).set_params(positive_label=last).fit(X, target)
        assert named.objective_ == model.objective_
        other = clone(model).set_params(positive_label=model.classes_[0]).fit(X, target)
        assert other.objective_ != model.objective_


def test_class_weights_weigh_errors():
    X, y = noisy()
    weights = np.where(y == "yes", 3.0, 1.0)
    by_class = OptimalTreeClassifier("f1", max_depth=2, class_weight={"yes": 3.0}).fit(X, y)
    by_row = OptimalTreeClassifier("f1", max_depth=2).fit(X, y, weights)
    assert by_class.objective_ == by_row.objective_
    same = OptimalTreeClassifier("jaccard", max_depth=2, class_weight="balanced").fit(X, y)
    rows = np.where(y == "yes", (y == "no").sum(), (y == "yes").sum())
    assert same.objective_ == OptimalTreeClassifier(
        "jaccard", max_depth=2
    ).fit(X, y, rows).objective_


def test_limits():
    X, y = noisy(400)
    X = X.with_columns(d=np.random.default_rng(1).random(400))
    best = OptimalTreeClassifier("mcc", max_depth=2, thresholds=20).fit(X, y)
    with pytest.warns(match="before the tree was proved optimal"):
        none = clone(best).set_params(time_limit=1e-9).fit(X, y)
    assert none.lower_bound_ <= best.objective_ <= none.objective_
    gap = clone(best).set_params(gap_limit=0.3).fit(X, y)
    assert gap.lower_bound_ <= best.objective_ <= gap.objective_ and gap.gap_ <= 0.3
    few = clone(best).set_params(max_leaf_nodes=2, min_samples_leaf=50).fit(X, y)
    assert few.get_n_leaves() <= 2 and min(leaf.rows for leaf in few.tree_.leaves) >= 50
    seen = []
    clone(best).set_params(callback=seen.append, max_depth=4, time_limit=2).fit(X, y)
    assert all(0 <= p.lower_bound <= p.objective <= 1.02 for p in seen)


def test_no_depth_limit():
    X, y = noisy(60)
    for objective in OBJECTIVES:
        model = OptimalTreeClassifier(objective, max_depth=None, leaf_penalty=0.05).fit(X, y)
        shallow = clone(model).set_params(max_depth=2).fit(X, y)
        assert model.status_ == "optimal" and model.objective_ <= shallow.objective_
    # A leaf for each point costs nothing without a penalty.
    model = OptimalTreeClassifier("f1", max_depth=None, leaf_penalty=0).fit(X, y)
    assert model.status_ == "optimal"


def test_the_certificate_names_the_metric():
    X, y = noisy()
    words = {
        "f1": "Objective: 1 minus the F1 of 'yes' on those rows",
        "fbeta": "Objective: 1 minus the F-beta (beta 0.5) of 'yes' on those rows",
        "jaccard": "Objective: 1 minus the Jaccard index of 'yes' on those rows",
        "mcc": "Objective: 1 minus the Matthews correlation coefficient on those rows",
    }
    for objective, wanted in words.items():
        model = OptimalTreeClassifier(objective, beta=0.5, max_depth=1).fit(X, y)
        assert wanted in str(model.certificate_)
        assert "Proved: no such tree has a lower objective." in str(model.certificate_)


@pytest.mark.parametrize(
    ("parameters", "target", "message"),
    [
        ({}, ["a"] * 4, "needs two classes, but y has 1: .'a'."),
        ({}, list("abca"), "needs two classes, but y has 3"),
        ({"positive_label": "c"}, list("abab"), "positive_label='c' is not one of the classes"),
        ({"cost_matrix": [[0, 1], [1, 0]]}, list("abab"), "has no costs"),
        (
            {"constraints": (Capacity("a", 0.5),), "cost_matrix": [[0, 1], [1, 0]]},
            list("abab"),
            "has no costs",
        ),
        ({"constraints": (Capacity("a", 0.5),)}, list("abca"), "needs two classes, but y has 3"),
        (
            {"constraints": (Capacity("a", 0.4), Capacity("b", 0.4))},
            list("abab"),
            "the least violation reachable is 0.1",
        ),
        ({"beta": 0}, list("abab"), "beta=0 is not valid"),
        ({"beta": 1e-9}, list("abab"), "beta=1e-9 is too far from 1"),
        ({"class_weight": {"b": 0}}, list("abab"), "no row of the positive class weighs anything"),
        ({"class_weight": {"a": 0}}, list("abab"), "no row of the negative class weighs anything"),
    ],
)
def test_bad_input(parameters, target, message):
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifier("fbeta", **parameters).fit([[1], [2], [3], [4]], target)


@pytest.mark.parametrize("objective", ["f1", "fbeta", "jaccard"])
def test_weights_that_are_no_short_decimals(objective):
    X, y = noisy()
    weights = np.random.default_rng(0).random(len(y))
    model = OptimalTreeClassifier(objective, beta=2.0, max_depth=2).fit(X, y, weights)
    metric = OBJECTIVES[objective](y, model.predict(X), "yes", weights)
    # The objective is that of the weights as they are; the bound is lower by what their rounding
    # can do.
    assert model.objective_ == pytest.approx(1 - metric + 0.01 * model.get_n_leaves(), abs=1e-12)
    assert model.status_ == "optimal" and 0 < model.gap_ < 1e-3
    assert sum(model.tree_.nodes[0].value) == pytest.approx(weights.sum())
    near = clone(model).fit(X, y, np.round(weights, 3))
    assert near.objective_ == pytest.approx(model.objective_, abs=0.01)
    thirds = clone(model).fit(X, y, np.full(len(y), 1 / 3))
    assert thirds.objective_ == pytest.approx(clone(model).fit(X, y).objective_, abs=1e-12)


def test_weights_that_cannot_be_counted():
    weights = np.random.default_rng(0).random(4)
    with pytest.raises(ValueError, match="round sample weights"):
        OptimalTreeClassifier("mcc").fit([[1], [2], [3], [4]], list("abab"), weights)
