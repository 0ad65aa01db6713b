"""Objectives of the confusion matrix against every tree and labelling, and scikit-learn."""

import pickle
from functools import cache
from itertools import product
from operator import add

import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import clone

from brute import cases, sides
from certree import OptimalTreeClassifier, frontier, scorers


def worst_class(matrix):
    """The largest share of a class that is missed."""
    return float(np.max(1 - np.diag(matrix) / matrix.sum(axis=1)))


def by_square(matrix):
    """In a unit of its own, and below zero."""
    wrong = matrix - np.diag(np.diag(matrix))
    return float((wrong**2 * np.arange(1, 1 + matrix.size).reshape(matrix.shape)).sum()) - 1000.0


def scored(metric, **parameters):
    def loss(actual, given, weights):
        return 1.0 - metric(actual, given, sample_weight=weights, **parameters)

    return loss


def of_matrix(metric):
    def loss(actual, given, weights):
        return metric(metrics.confusion_matrix(actual, given, sample_weight=weights))

    return loss


LOSSES = {
    "f1_macro": scored(metrics.f1_score, average="macro", zero_division=0.0),
    "f1_weighted": scored(metrics.f1_score, average="weighted", zero_division=0.0),
    "f1_micro": scored(metrics.f1_score, average="micro", zero_division=0.0),
    "mcc": scored(metrics.matthews_corrcoef),
    worst_class: of_matrix(worst_class),
    by_square: of_matrix(by_square),
}


def f1(matrix, weights):
    return 1.0 - np.average(
        2 * np.diag(matrix) / (matrix.sum(axis=0) + matrix.sum(axis=1)), weights=weights
    )


def correlation(matrix):
    totals, given, n = matrix.sum(axis=1), matrix.sum(axis=0), matrix.sum()
    under = (n**2 - (totals**2).sum()) * (n**2 - (given**2).sum())
    return 1.0 - (np.trace(matrix) * n - totals @ given) / under**0.5 if under > 1e-9 else 1.0


#: Formulas of the matrix for all of these, because scikit-learn's take a thousandth of a second.
FORMULAS = {
    "f1_macro": lambda matrix: f1(matrix, np.ones(len(matrix))),
    "f1_weighted": lambda matrix: f1(matrix, matrix.sum(axis=1)),
    "f1_micro": lambda matrix: 1.0 - np.trace(matrix) / matrix.sum(),
    "mcc": correlation,
    worst_class: worst_class,
    by_square: by_square,
}


def all_matrices(X, y, weights, depth, n_classes):
    """Leaves, and twice the weights by class and label, of every tree and labelling."""
    cuts = sides(X)
    doubled = (2 * weights).astype(int)

    @cache
    def below(key, depth):
        rows = np.frombuffer(key, dtype=bool)
        totals = np.bincount(y[rows], doubled[rows], n_classes).astype(int)
        found = set()
        for label in range(n_classes):
            matrix = np.zeros((n_classes, n_classes), dtype=int)
            matrix[:, label] = totals
            found.add((1, *matrix.ravel().tolist()))
        for right in cuts if depth else ():
            parts = rows & ~right, rows & right
            if all(part.any() for part in parts):
                sums = [below(part.tobytes(), depth - 1) for part in parts]
                found |= {tuple(map(add, one, other)) for one, other in product(*sums)}
        return found

    return below(np.ones(len(X), dtype=bool).tobytes(), depth)


@pytest.mark.parametrize("name", LOSSES, ids=lambda name: getattr(name, "__name__", name))
def test_the_best_of_all_trees_and_labellings(name):
    for seed in cases(4):
        rng = np.random.default_rng(seed)
        k = int(rng.choice([2, 3, 3, 4]))
        X = rng.integers(0, 3, (9, 2))
        y = np.concatenate([np.arange(k), rng.integers(0, k, 9 - k)])
        weights = rng.integers(1, 4, 9) / rng.choice([1, 2])
        penalty, depth = float(rng.choice([0.0, 0.02, 0.1])), int(rng.integers(1, 3))
        model = OptimalTreeClassifier(name, leaf_penalty=penalty, max_depth=depth)
        model.fit(X, y, weights)
        wanted = min(
            FORMULAS[name](np.array(sums).reshape(k, k) / 2.0) + penalty * leaves
            for leaves, *sums in all_matrices(X, y, weights, depth, k)
        )
        assert model.status_ == "optimal"
        assert model.objective_ == pytest.approx(wanted, abs=1e-9), seed
        assert model.lower_bound_ == pytest.approx(wanted, abs=1e-7), seed
        own = LOSSES[name](y, model.predict(X), weights)
        assert model.objective_ - penalty * model.get_n_leaves() == pytest.approx(own, abs=1e-9)
        assert scorers.objective(model, X, y, weights) == pytest.approx(-own, abs=1e-9)


def table(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 6))
    y = np.array(["a", "b", "c"])[(X[:, 0] + X[:, 1] * X[:, 2] + (rng.random(n) < 0.2)).clip(0, 2)]
    return X, y


def test_class_weights_and_balance_scale_the_matrix():
    X, y = table()
    weights = {"a": 2.0, "b": 1.0, "c": 0.5}
    by_row = np.array([weights[label] for label in y])
    for name in ("f1_macro", "f1_weighted", "mcc"):
        one = OptimalTreeClassifier(name, max_depth=2, class_weight=weights).fit(X, y)
        other = OptimalTreeClassifier(name, max_depth=2).fit(X, y, by_row)
        assert one.objective_ == pytest.approx(other.objective_, abs=1e-12)
        assert "class weights applied" in str(one.certificate_)
        OptimalTreeClassifier(name, max_depth=2, class_weight="balanced").fit(X, y)


def test_two_classes_have_the_metrics_that_they_had():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 4, (60, 3)), rng.integers(0, 2, 60)
    assert OptimalTreeClassifier("mcc", max_depth=2).fit(X, y).certificate_.route == (
        "weighted errors"
    )
    model = OptimalTreeClassifier("f1_macro", max_depth=2, leaf_penalty=0).fit(X, y)
    given = metrics.f1_score(y, model.predict(X), average="macro")
    assert model.objective_ == pytest.approx(1 - given)
    assert model.objective_ <= min(
        1 - metrics.f1_score(y, other.predict(X), average="macro")
        for other in (OptimalTreeClassifier(o, max_depth=2).fit(X, y) for o in ("accuracy", "f1"))
    )


def test_a_stopped_search_has_a_true_bound():
    X, y = table(300, 1)
    best = OptimalTreeClassifier("f1_macro", max_depth=3, leaf_penalty=0).fit(X, y)
    with pytest.warns(match="time limit"):
        stopped = clone(best).set_params(time_limit=1e-6).fit(X, y)
    assert stopped.lower_bound_ <= best.objective_ <= stopped.objective_


def test_certificates_say_what_was_searched():
    X, y = table()
    words = {
        "f1_macro": "1 minus the mean F1 of the classes",
        "f1_weighted": "1 minus the F1 of the classes, each by its weight",
        "f1_micro": "1 minus the F1 of all classes together, which is the error rate",
        "mcc": "1 minus the Matthews correlation coefficient",
        worst_class: "worst_class of the confusion matrix",
    }
    for objective, wanted in words.items():
        model = OptimalTreeClassifier(objective, max_depth=2, leaf_penalty=0).fit(X, y)
        assert f"Objective: {wanted}" in str(model.certificate_)
        assert model.feature_importances_.sum() == pytest.approx(1.0)
        assert pickle.loads(pickle.dumps(model)).objective_ == model.objective_


def test_frontiers_have_every_objective():
    X, y = table(80)
    front = frontier(OptimalTreeClassifier("f1_macro", max_depth=2), X, y, axes=("loss", "leaves"))
    assert set(front["status"]) == {"optimal"}
    assert front["loss"].is_sorted() and front["leaves"].is_sorted(descending=True)


def refused(objective, match, X=None, y=None, **parameters):
    if X is None:
        X, y = table(40)
    with pytest.raises(ValueError, match=match):
        OptimalTreeClassifier(objective, max_depth=2, **parameters).fit(X, y)


def test_what_is_no_objective_is_refused():
    refused("f1_makro", "'f1_macro'")
    refused(lambda matrix: float(np.trace(matrix)), "must not rise where weight moves")
    refused(lambda matrix: float("nan"), "finite number, and not NaN")
    refused("f1_macro", "needs two classes", [[1], [2]], ["a", "a"])
    refused("f1_macro", "rows of every class.*'z'", classes=["a", "b", "c", "z"])
    refused("f1_macro", "round", *table(40), class_weight={"a": 1 / 3, "b": 0.1234567890123})
    refused("f1_micro", "leave cost_matrix out", cost_matrix=1 - np.eye(3))
    refused("mcc", "needs two classes", constraints=(capacity(),))
    many = np.arange(30)
    refused(worst_class, "at most 6 classes", many[:, None], many % 7)


def capacity():
    from certree import Capacity

    return Capacity("a", 0.9)


def test_an_exception_in_the_function_is_raised_as_it_is():
    X, y = table(40)

    def fails(matrix):
        raise ZeroDivisionError("of the user")

    with pytest.raises(ZeroDivisionError, match="of the user"):
        OptimalTreeClassifier(fails, max_depth=2).fit(X, y)
