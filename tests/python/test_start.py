"""``fit(start=)``: whatever tree a search begins with, it ends with the same proof, and it never
ends with a worse tree than that."""

import warnings

import numpy as np
import polars as pl
import pytest
from brute import cases, tree_objective
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from test_missing import drawn

from certree import (
    FirstColumn,
    MostColumns,
    OptimalCostTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    Tree,
)
from certree.estimators import _start


def began(model, *data, start):
    """What is left of a tree in the problem of these data, which are all arguments of ``fit``, and
    its objective."""
    posed = model._pose_in_order(data)
    core, lower = _start.incumbent(start, posed, model.missing)
    assert lower == float("-inf")
    return posed.problem.start(core)


def settings(rng):
    """Any way to ask for a tree."""
    return {
        "max_depth": [None, 1, 2, 3][rng.integers(4)],
        "max_leaf_nodes": [None, None, 2, 4][rng.integers(4)],
        "min_samples_leaf": int(rng.integers(1, 4)),
        "leaf_penalty": float(rng.choice([0.001, 0.02, 0.1])),
        "thresholds": ["all", "midpoints", 2][rng.integers(3)],
        "categories": ["values", "subsets"][rng.integers(2)],
        "missing": ["route", "route", "own_branch"][rng.integers(3)],
    }


@pytest.mark.parametrize("seed", cases(60))
def test_whatever_tree_it_begins_with_it_ends_with_the_same_proof(seed):
    rng, frame = drawn(seed)
    n = frame.height
    some = np.sort(rng.choice(n, int(rng.integers(1, n + 1)), replace=False))
    kind = [OptimalTreeClassifier, OptimalTreeRegressor, OptimalCostTree][seed % 3]
    target = rng.integers(0, 3, (n, 2) if kind is OptimalCostTree else n).astype(float)
    labels = rng.integers(0, 2, n)
    with warnings.catch_warnings():
        # Values that are not among these rows, and starts that are no trees of the problem.
        warnings.simplefilter("ignore")
        # Of another task, as often as not.
        old_kind = kind if seed % 2 and kind is not OptimalCostTree else OptimalTreeClassifier
        old_target = target if old_kind is kind else labels
        old = old_kind(**settings(rng)).fit(frame[some], old_target[some])
        model = kind(**settings(rng))
        best = model.fit(frame, target)
        objective, tree = best.objective_, best.tree_
        found = model.fit(frame, target, start=old)
    assert found.status_ == "optimal"
    assert found.objective_ == pytest.approx(objective, rel=1e-12, abs=1e-12)
    assert found.tree_.columns == tree.columns


@pytest.mark.parametrize("seed", cases(60))
def test_where_all_cuts_are_offered_rows_go_where_the_old_tree_sent_them(seed):
    rng, frame = drawn(seed)
    n = frame.height
    some = np.sort(rng.choice(n, int(rng.integers(1, n + 1)), replace=False))
    y, penalty = rng.integers(0, 3, n), 0.001
    ways = {"categories": ["values", "subsets"][seed % 2], "leaf_penalty": penalty}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old = OptimalTreeClassifier(max_depth=3, **ways).fit(frame[some], y[some])
        leaves = old.apply(frame)
        found = began(OptimalTreeClassifier(max_depth=3, **ways), frame, y, None, start=old)

    def misses(mask):
        return (mask.sum() - np.bincount(y[mask]).max(initial=0)) / n

    assert found[1] <= tree_objective(leaves, misses, penalty) + 1e-12
    if len(some) == n:
        assert found[1] == pytest.approx(old.objective_, abs=1e-12)


@pytest.mark.parametrize("seed", cases(20))
def test_a_tree_of_scikit_learn_loses_no_more_than_it_did(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (60, 4)) / [1, 2, 4, 8]
    y = rng.integers(0, 3, 60)
    cart = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    model = OptimalTreeClassifier(max_depth=4, leaf_penalty=0)
    assert began(model, X, y, None, start=cart)[1] <= 1 - cart.score(X, y) + 1e-12
    of_numbers = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
    model = OptimalTreeRegressor(max_depth=4, leaf_penalty=0)
    share = 1 - of_numbers.score(X, y)
    assert began(model, X, y, None, None, start=of_numbers)[1] <= share + 1e-12


def test_a_search_without_time_keeps_the_start():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 12)), rng.integers(0, 2, 2000)
    cart = DecisionTreeClassifier(max_depth=7, random_state=0).fit(X, y)
    model = OptimalTreeClassifier(max_depth=7, leaf_penalty=0, callback=lambda progress: False)
    with pytest.warns(UserWarning):
        model.fit(X, y, start=cart)
    assert model.status_ == "interrupted"
    assert model.objective_ <= 1 - cart.score(X, y) + 1e-12
    assert model.certificate_.curve[0][1] <= 1 - cart.score(X, y) + 1e-12


def test_the_limits_of_the_problem_hold():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 6, (80, 3)), rng.integers(0, 2, 80)
    old = OptimalTreeClassifier(max_depth=4, leaf_penalty=0).fit(X, y)
    model = OptimalTreeClassifier(
        max_depth=3, max_leaf_nodes=4, min_samples_leaf=9, leaf_penalty=0
    )
    core, _ = began(model, X, y, None, start=old)
    tree = Tree(core, old.tree_.columns, [0, 1])
    assert tree.depth <= 3 and tree.n_leaves <= 4 and min(leaf.rows for leaf in tree.leaves) >= 9


def test_a_start_that_the_rules_forbid_is_left_out_with_a_word():
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 6, (80, 3)), rng.integers(0, 2, 80)
    old = OptimalTreeClassifier(max_depth=3, leaf_penalty=0).fit(X, y)
    model = OptimalTreeClassifier(max_depth=3, leaf_penalty=0, path_rules=[MostColumns(1)])
    best = model.fit(X, y).objective_
    with pytest.warns(UserWarning, match="start= is left out"):
        assert model.fit(X, y, start=old).objective_ == best
    first = OptimalTreeClassifier(max_depth=3, path_rules=[FirstColumn("x1")]).fit(X, y)
    assert first.fit(X, y, start=first).tree_.nodes[0].column == "x1"


def test_errors_say_what_does_not_fit():
    days = pl.DataFrame({"a": [1, 2, 3, 4], "b": ["u", "v", "u", "v"]})
    y = [0, 0, 1, 1]
    old = OptimalTreeClassifier(max_depth=1).fit(days, y)
    fit = OptimalTreeClassifier(max_depth=1).fit
    with pytest.raises(ValueError, match="start asks for 'a', which X does not have"):
        fit(days.rename({"a": "age"}), y, start=old)
    with pytest.raises(ValueError, match="a was number in start and is category in X"):
        fit(days.cast({"a": pl.String}), y, start=old)
    with pytest.raises(TypeError, match="start is a Tree, or a fitted estimator .* not str"):
        fit(days, y, start="model.json")
    with pytest.raises(TypeError, match="not OptimalTreeClassifier"):
        fit(days, y, start=OptimalTreeClassifier())
    with pytest.raises(ValueError, match="start= is for losses that add up over rows"):
        OptimalTreeClassifier(objective="f1").fit(days, y, start=old)
    with pytest.raises(ValueError, match="start= and a reference"):
        OptimalTreeClassifier(reference="guess").fit(days, y, start=old)
    moments = days.select(pl.col("a").cast(pl.Date), "b")
    old = OptimalTreeClassifier(max_depth=1).fit(moments, y)
    with pytest.raises(ValueError, match="a was Date in start and is Datetime"):
        fit(moments.cast({"a": pl.Datetime}), y, start=old)
    grade = pl.DataFrame({"g": pl.Series(["I", "I", "II", "II"], dtype=pl.Enum(["I", "II"]))})
    other = grade.cast(pl.Enum(["II", "I"]))
    old = fit(grade, y)
    with pytest.raises(ValueError, match="g has other levels, or another order of them"):
        OptimalTreeClassifier(max_depth=1).fit(other, y, start=old)
