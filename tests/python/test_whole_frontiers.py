"""Frontiers of sums over rows, found in one search: against every tree there is."""

import time
import warnings
from functools import cache

import numpy as np
import polars as pl
import pytest
from brute import cases, sides
from sklearn.exceptions import ConvergenceWarning

from certree import (
    Apart,
    Capacity,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    frontier,
    plot_frontier,
)

ERRORS = ("false_negatives", "false_positives")


def adds(axis, true, given, labels):
    """What one row adds to an axis."""
    if axis in ("loss", "errors"):
        return int(true != given)
    if axis == "false_negatives":
        return int(true == labels[1] and given != true)
    if axis == "false_positives":
        return int(true == labels[0] and given != true)
    kind, label = axis
    return int(given == label) if kind == "rows" else int(true == label and given != label)


def everything(X, y, weights, axes, depth, min_rows, max_leaves):
    """What every tree and labelling sums up to: leaves first, then the axes."""
    labels, cuts = sorted(set(y)), sides(X)

    @cache
    def below(key, depth):
        rows = np.frombuffer(key, dtype=bool)
        found = set()
        for given in labels:
            sums = [
                1 if axis == "leaves" else
                sum(w * adds(axis, true, given, labels) for w, true in zip(weights[rows], y[rows]))
                for axis in axes
            ]
            found.add((1, *sums))
        for right in cuts if depth else ():
            parts = rows & ~right, rows & right
            if min(part.sum() for part in parts) >= max(min_rows, 1):
                a, b = (below(part.tobytes(), depth - 1) for part in parts)
                found |= {tuple(map(sum, zip(one, other))) for one in a for other in b}
        return frozenset(found)

    return {
        sums[1:] for sums in below(np.ones(len(X), dtype=bool).tobytes(), depth)
        if sums[0] <= max_leaves
    }


def best_of(values):
    return sorted(
        one for one in values
        if not any(o != one and all(a <= b for a, b in zip(o, one)) for o in values)
    )


@pytest.mark.parametrize("seed", cases(120))
def test_the_frontier_is_that_of_all_trees(seed):
    rng = np.random.default_rng(seed)
    n, n_labels = int(rng.integers(3, 11)), int(rng.choice([2, 2, 3]))
    X = rng.integers(0, 3, (n, 3))
    y = np.array(["a", "b", "c"])[np.append(np.arange(n_labels), rng.integers(0, n_labels, n))[:n]]
    labels = sorted(set(y))
    weights = rng.integers(1, 4, n)
    known = ["loss", "leaves", ("errors", labels[0]), ("errors", labels[1]), ("rows", labels[0])]
    known += ["errors", *ERRORS] if len(labels) == 2 else ["errors"]
    size = rng.integers(2, 4)
    axes = tuple(known[at] for at in rng.permutation(len(known))[:size])
    depth, min_rows = int(rng.integers(1, 4)), int(rng.choice([1, 1, 2]))
    most = None if rng.random() < 0.6 else int(rng.integers(1, 6))
    model = OptimalTreeClassifier(
        max_depth=depth,
        min_samples_leaf=min_rows,
        max_leaf_nodes=most,
        n_jobs=int(rng.choice([1, 3])),
    )
    front = frontier(model, X, y, axes=axes, sample_weight=weights)
    all_ = everything(X, y, weights, axes, depth, min_rows, most or 99)
    scale = [1 / weights.sum() if axis == "loss" else 1 for axis in axes]
    wanted = best_of(all_)
    found = front.select(front.columns[: len(axes)]).rows()
    scaled = [[a * b for a, b in zip(values, scale)] for values in wanted]
    assert np.array(sorted(found)) == pytest.approx(np.array(scaled))
    assert set(front["status"]) == {"optimal"}
    if axes != ("loss", "leaves"):
        assert front.open.is_empty() and f"one of these {len(front)}" in front.certificate
    for values, tree in zip(found, front["tree"]):
        given = tree.predict(X)
        for axis, value in zip(axes, values):
            each = (
                tree.n_leaves if axis == "leaves" else
                sum(w * adds(axis, t, g, labels) for w, t, g in zip(weights, y, given))
            )
            assert value == pytest.approx(each / weights.sum() if axis == "loss" else each)


def noise(n=300, seed=0, columns=8):
    rng = np.random.default_rng(seed)
    return rng.random((n, columns)), rng.random(n) < 0.4


@pytest.mark.parametrize("weights", [None, "short", "real"])
def test_weights_and_their_errors_are_those_of_the_trees(weights):
    X, y = noise(80, columns=4)
    rng = np.random.default_rng(1)
    given = {None: None, "short": rng.integers(1, 9, 80) / 4, "real": rng.random(80)}[weights]
    front = frontier(
        OptimalTreeClassifier(max_depth=2, thresholds=4), X, y, axes=ERRORS, sample_weight=given
    )
    w = np.ones(80) if given is None else given
    for missed, alarms, tree, _ in front.rows():
        predicted = tree.predict(X)
        assert missed == pytest.approx(w[y & ~predicted].sum(), rel=1e-12)
        assert alarms == pytest.approx(w[~y & predicted].sum(), rel=1e-12)
    f1 = 2 * (w[y].sum() - front[ERRORS[0]]) / (
        2 * w[y].sum() - front[ERRORS[0]] + front[ERRORS[1]]
    )
    best = OptimalTreeClassifier("f1", max_depth=2, thresholds=4, leaf_penalty=0)
    assert 1 - f1.max() == pytest.approx(best.fit(X, y, given).objective_)


def test_the_loss_has_costs_and_class_weights():
    X, y = noise(100, 3, 4)
    costs = [[0, 3], [2, 0]]
    for more in (
        {"class_weight": "balanced"},
        {"class_weight": {True: 2.5, False: 1}},
        {"cost_matrix": costs},
        {"objective": "balanced_accuracy"},
    ):
        model = OptimalTreeClassifier(max_depth=2, thresholds=4, leaf_penalty=0, **more)
        front = frontier(model, X, y, axes=("loss", "leaves", ("rows", True)))
        assert front["loss"].min() == pytest.approx(model.fit(X, y).objective_)
        few = front.filter(pl.col("leaves") <= 2)["loss"].min()
        assert few == pytest.approx(model.set_params(max_leaf_nodes=2).fit(X, y).objective_)


def test_missing_values_categories_and_path_rules():
    rng = np.random.default_rng(5)
    n = 60
    X = pl.DataFrame(
        {
            "a": [None if rng.random() < 0.2 else float(v) for v in rng.integers(0, 4, n)],
            "b": rng.choice(["x", "y", "z"], n),
            "c": rng.random(n) < 0.5,
        }
    )
    y = rng.random(n) < 0.5
    for more in ({}, {"missing": "own_branch"}, {"path_rules": (Apart(["a"], ["c"]),)}):
        model = OptimalTreeClassifier(max_depth=2, leaf_penalty=0, **more)
        front = frontier(model, X, y, axes=(*ERRORS, "leaves"))
        least = (front[ERRORS[0]] + front[ERRORS[1]]).min()
        assert least == round(model.fit(X, y).objective_ * n)
    with pytest.raises(ValueError, match="missing"):
        frontier(OptimalTreeClassifier(missing="refuse"), X, y, axes=ERRORS)


@pytest.mark.parametrize("axes", [ERRORS, (*ERRORS, "leaves"), ("errors", ("rows", True))])
@pytest.mark.alone
def test_what_is_proved_when_the_time_is_up(axes):
    X, y = noise(1500)
    model = OptimalTreeClassifier(max_depth=4, thresholds=20, time_limit=1.0)
    started = time.monotonic()
    with pytest.warns(ConvergenceWarning, match="time limit of the frontier was reached"):
        front = frontier(model, X, y, axes=axes)
    assert time.monotonic() - started < 20
    assert set(front["status"]) <= {"optimal", "time_limit"}
    assert front.open.columns == front.columns[: len(axes)] and len(front.open) > 0
    # Any tree is no better than a row, or than what is open.
    tree = OptimalTreeClassifier(max_depth=2, thresholds=20, leaf_penalty=0).fit(X, y).tree_
    predicted = tree.predict(X)
    value = {
        "errors": (predicted != y).sum(),
        "false_negatives": (y & ~predicted).sum(),
        "false_positives": (~y & predicted).sum(),
        "rows of True": predicted.sum(),
        "leaves": tree.n_leaves,
    }
    names = front.open.columns
    known = pl.concat([pl.DataFrame(front).select(names), front.open]).rows()
    assert any(all(a <= value[name] for a, name in zip(row, names)) for row in known)


def test_memory_and_callbacks_and_caps():
    X, y = noise(600)
    model = OptimalTreeClassifier(max_depth=3, thresholds=10, time_limit=None)
    seen = []
    front = frontier(model.set_params(callback=seen.append), X, y, axes=ERRORS)
    assert set(front["status"]) == {"optimal"}
    # It may be done before the callback is asked.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        stopped = frontier(model.set_params(callback=lambda _: False), X, y, axes=ERRORS)
    proved = stopped.filter(pl.col("status") == "optimal").select(ERRORS).rows()
    assert set(proved) <= set(front.select(ERRORS).rows())
    model.set_params(callback=None)
    with pytest.raises(ValueError, match="at most 3 are asked for: raise max_points"):
        frontier(model, X, y, axes=ERRORS, max_points=3)
    with pytest.raises(ValueError, match="max_points='3' is not valid"):
        frontier(model, X, y, axes=ERRORS, max_points="3")


@pytest.mark.parametrize(
    ("model", "axes", "says"),
    [
        (OptimalTreeClassifier(), ("errors",), "two or three different ones"),
        (OptimalTreeClassifier(), ("errors", "errors"), "two or three different ones"),
        (OptimalTreeClassifier(), ("errors", ("rows",)), "two or three different ones"),
        (OptimalTreeClassifier(), ("errors", "leaves", "depth"), "two or three different ones"),
        (OptimalTreeClassifier(max_depth=None), ERRORS, "set max_depth or max_leaf_nodes"),
        (OptimalTreeClassifier(), ("errors", ("rows", 7)), "name the label 7, but the classes"),
        (OptimalTreeClassifier("f1"), ("loss", "errors"), "need a loss that adds up over rows"),
        (OptimalTreeRegressor(), ("errors", "leaves"), "is for OptimalTreeClassifier"),
        (
            OptimalTreeClassifier(constraints=(Capacity(True, 0.3),)),
            ("errors", "leaves"),
            "cannot be combined with constraints",
        ),
        (
            OptimalTreeClassifier(feature_costs={"a": 1}),
            ("errors", "leaves"),
            "cannot be combined with feature_costs",
        ),
        (
            OptimalTreeClassifier(class_weight="balanced"),
            ("errors", "leaves"),
            "without cost_matrix and class_weight",
        ),
        (OptimalTreeClassifier(max_depth=-1), ERRORS, "max_depth=-1"),
    ],
)
def test_bad_input(model, axes, says):
    X, y = noise(40, columns=3)
    with pytest.raises(ValueError, match=says):
        frontier(model, X, y, axes=axes)


def test_a_plot_of_two_axes_is_a_staircase_and_of_three_are_dots():
    pytest.importorskip("matplotlib").use("Agg")
    X, y = noise(60, columns=3)
    model = OptimalTreeClassifier(max_depth=2, thresholds=4)
    for axes, lines in ((ERRORS, 2), ((*ERRORS, "leaves"), 1)):
        front = frontier(model, X, y, axes=axes)
        assert len(plot_frontier(front).lines) == lines
        assert "<table" in front._repr_html_()
