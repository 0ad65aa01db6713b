"""Areas under ROC curves: what is maximized, and what is refused."""

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score, roc_curve

from certree import Capacity, OptimalTreeClassifier


def table(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = pl.DataFrame(
        {"a": rng.integers(0, 8, n), "b": rng.random(n) < 0.5, "c": rng.integers(0, 5, n)}
    )
    y = rng.random(n) < 1 / (
        1 + np.exp(3 - X["a"].to_numpy() * X["b"].to_numpy() + X["c"].to_numpy())
    )
    return X, y, rng.integers(1, 4, n)


def partial_area(y, scores, weights, most):
    fpr, tpr, _ = roc_curve(y, scores, sample_weight=weights, drop_intermediate=False)
    xs = np.append(fpr[fpr < most], most)
    heights = np.interp(xs, fpr, tpr)
    return (np.diff(xs) * (heights[1:] + heights[:-1]) / 2).sum() / most


@pytest.mark.parametrize("seed", range(8))
def test_the_objective_is_that_of_scikit_learn(seed):
    X, y, weights = table(seed=seed)
    model = OptimalTreeClassifier("auc", max_depth=2, leaf_penalty=0.005).fit(X, y, weights)
    scores = model.predict_proba(X)[:, 1]
    area = roc_auc_score(y, scores, sample_weight=weights)
    assert model.objective_ == pytest.approx(1 - area + 0.005 * model.get_n_leaves())
    assert model.status_ == "optimal"

    accurate = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.005).fit(X, y, weights)
    other = roc_auc_score(y, accurate.predict_proba(X)[:, 1], sample_weight=weights)
    assert model.objective_ <= 1 - other + 0.005 * accurate.get_n_leaves() + 1e-12


@pytest.mark.parametrize("most", [0.1, 0.3, 1.0])
def test_a_part_of_the_area(most):
    X, y, weights = table(seed=3)
    model = OptimalTreeClassifier("partial_auc", max_fpr=most, max_depth=2, leaf_penalty=0)
    model.fit(X, y, weights)
    scores = model.predict_proba(X)[:, 1]
    assert model.objective_ == pytest.approx(1 - partial_area(y, scores, weights, most))
    if most == 1.0:
        whole = OptimalTreeClassifier("auc", max_depth=2, leaf_penalty=0).fit(X, y, weights)
        assert whole.objective_ == pytest.approx(model.objective_)


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("most", [1 / 3, 1 / 7, 0.1234567890123, 0.1 + 0.2, 0.3333333, 1 - 1e-12])
def test_any_part_of_the_area(most, weighed):
    """The search takes a fraction near it, and what that is off is charged."""
    X, y, weights = table(seed=4)
    if weighed:
        weights = np.random.default_rng(4).random(len(y))
    model = OptimalTreeClassifier("partial_auc", max_fpr=most, max_depth=2, leaf_penalty=0)
    model.fit(X, y, weights)
    scores = model.predict_proba(X)[:, 1]
    assert model.objective_ == pytest.approx(1 - partial_area(y, scores, weights, most), rel=1e-12)
    assert model.status_ == "optimal" and model.gap_ <= 1e-9


def test_the_least_part_of_the_area():
    X, y, _ = table(seed=4)
    for most in (0.0, 1e-17, 9e-8):
        with pytest.raises(ValueError, match="must be a number from 1e-7 to 1"):
            OptimalTreeClassifier("partial_auc", max_fpr=most).fit(X, y)
    OptimalTreeClassifier("partial_auc", max_fpr=1e-7, max_depth=2).fit(X, y)


def test_the_positive_label_may_be_the_first():
    X, y, weights = table(seed=5)
    first = OptimalTreeClassifier("partial_auc", max_fpr=0.2, max_depth=2, positive_label=False)
    second = OptimalTreeClassifier("partial_auc", max_fpr=0.2, max_depth=2)
    objective = first.fit(X, y, weights).objective_
    assert objective == second.fit(X, ~y, weights).objective_
    assert objective != second.fit(X, y, weights).objective_
    np.testing.assert_array_equal(first.predict_proba(X)[:, 0] > 0.5, first.predict(X) == 0)


def test_the_certificate_names_the_area():
    X, y, _ = table()
    model = OptimalTreeClassifier("partial_auc", max_fpr=0.2, n_jobs=2).fit(X, y)
    words = "1 − mean height of the ROC curve up to a false positive rate of 0.2"
    assert words in str(model.certificate_)
    with pytest.warns(match="time limit"):
        stopped = OptimalTreeClassifier("auc", time_limit=1e-6, leaf_penalty=0).fit(X, y)
    whole = OptimalTreeClassifier("auc", leaf_penalty=0, max_depth=2).fit(X, y)
    assert stopped.lower_bound_ <= whole.objective_


@pytest.mark.parametrize(
    ("parameters", "y", "says"),
    [
        ({}, [1, 1, 1], "ranks the rows of two classes, but y has 1"),
        ({}, [0, 1, 2], "ranks the rows of two classes, but y has 3"),
        ({"max_fpr": 0.5}, [0, 1, 1], "only for objective='partial_auc'"),
        ({"objective": "partial_auc"}, [0, 1, 1], "needs max_fpr"),
        ({"objective": "partial_auc", "max_fpr": 0}, [0, 1, 1], "max_fpr=0 is not valid"),
        ({"class_weight": "balanced"}, [0, 1, 1], "class_weight cannot be combined"),
        ({"cost_matrix": [[0, 1], [1, 0]]}, [0, 1, 1], "cost_matrix cannot be combined"),
        ({"constraints": (Capacity(1, 0.5),)}, [0, 1, 1], "constraints cannot be combined"),
    ],
)
def test_bad_input(parameters, y, says):
    with pytest.raises(ValueError, match=says):
        OptimalTreeClassifier(**{"objective": "auc", **parameters}).fit([[1], [2], [3]], y)


def test_a_class_without_weight():
    with pytest.raises(ValueError, match="needs rows of both classes"):
        OptimalTreeClassifier("auc").fit([[1], [2], [3]], [0, 1, 1], sample_weight=[1, 0, 0])


@pytest.mark.parametrize("most", [None, 0.2])
def test_weights_that_are_no_short_decimals(most):
    X, y, _ = table()
    objective = "auc" if most is None else "partial_auc"
    settings = {"max_depth": 2, "leaf_penalty": 0.005, "max_fpr": most}
    model = OptimalTreeClassifier(objective, **settings)
    weights = np.random.default_rng(0).random(len(y))
    model.fit(X, y, weights)
    scores = model.predict_proba(X)[:, 1]
    area = partial_area(y, scores, weights, most or 1.0)
    # The objective is that of the weights as they are, and a second search takes them as fine as
    # need be.
    assert model.objective_ == pytest.approx(1 - area + 0.005 * model.get_n_leaves(), abs=1e-12)
    assert model.status_ == "optimal" and model.gap_ <= 1e-9
    thirds = OptimalTreeClassifier(objective, **settings).fit(X, y, np.full(len(y), 1 / 3))
    ones = OptimalTreeClassifier(objective, **settings).fit(X, y)
    assert thirds.objective_ == pytest.approx(ones.objective_, abs=1e-12)
    settings["leaf_penalty"] = 0.1 / 3
    long = OptimalTreeClassifier(objective, **settings).fit(X, y)
    assert long.status_ == "optimal" and long.gap_ <= 1e-9
