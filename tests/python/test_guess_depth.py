"""Depths from ensembles, and what a depth limit can cost at most."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interpret.glassbox import ExplainableBoostingClassifier
from lightgbm import LGBMClassifier
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputRegressor
from xgboost import XGBClassifier

from certree import OptimalTreeClassifier, ThresholdGuesser, depth_gap, suggest_depth

pytestmark = pytest.mark.usefixtures("one_thread")

RNG = np.random.default_rng(0)
X = RNG.random((400, 6))
Y = (X.sum(axis=1) + RNG.random(400) > 3.5).astype(int)
THREE = np.digitize(X[:, 0], [0.3, 0.6])


@pytest.mark.parametrize(("n_trees", "depth"), [(10, 11), (100, 15)])
def test_the_cases_that_the_theorem_names(n_trees, depth):
    model = GradientBoostingClassifier(n_estimators=n_trees, max_depth=3, random_state=0).fit(X, Y)
    assert suggest_depth(model) == depth
    assert suggest_depth(
        XGBClassifier(n_estimators=n_trees, max_depth=3, n_jobs=1).fit(X, Y)
    ) == depth
    light = LGBMClassifier(n_estimators=n_trees, num_leaves=8, max_depth=3, verbose=-1, n_jobs=1)
    assert suggest_depth(light.fit(X, Y)) == depth
    assert suggest_depth(light.booster_) == depth
    guesser = ThresholdGuesser(model, tolerance=None).fit(X)
    assert suggest_depth(guesser) == depth


def test_stumps_classes_and_forests():
    def boosted(n_trees, y, **options):
        return GradientBoostingClassifier(n_estimators=n_trees, random_state=0, **options).fit(X, y)

    # The theorem begins at three trees and a dimension of three.
    assert suggest_depth(
        boosted(1, Y, max_depth=1)
    ) == suggest_depth(boosted(3, Y, max_depth=1)) == 7
    # Between two of three classes decide twice the trees.
    assert suggest_depth(boosted(10, THREE)) == suggest_depth(boosted(20, Y))
    depths = [suggest_depth(boosted(n, Y)) for n in (3, 10, 40, 160)]
    assert depths == sorted(depths) and depths[0] < depths[-1]
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, THREE)
    assert suggest_depth(forest) == 11
    # Of two outputs, each has its own ten.
    ten = GradientBoostingRegressor(n_estimators=10, max_depth=3)
    both = MultiOutputRegressor(ten).fit(X, X[:, :2])
    assert suggest_depth(both) == suggest_depth(ten.fit(X, X[:, 0])) == 11


def test_what_has_no_depth():
    with pytest.raises(ValueError, match="a GradientBoostingClassifier, is not fitted"):
        suggest_depth(GradientBoostingClassifier())
    with pytest.raises(ValueError, match="has no trees that can be read"):
        suggest_depth(LogisticRegression().fit(X, Y))
    machine = ExplainableBoostingClassifier(outer_bags=1, n_jobs=1, max_rounds=10).fit(X, Y)
    with pytest.raises(ValueError, match="is no vote of a number of trees"):
        suggest_depth(machine)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 3),
    st.sampled_from(["accuracy", "balanced_accuracy"]),
    st.sampled_from([0.0, 0.01, 0.05]),
    st.sampled_from([None, "balanced", {0: 2.0}]),
    st.sampled_from([None, 3, 6]),
    st.booleans(),
)
def test_no_deeper_tree_is_better_by_more(seed, depth, objective, penalty, weights, leaves, costs):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 30))
    frame = pl.DataFrame(
        {"a": rng.integers(0, 4, n), "b": rng.integers(0, 3, n), "c": rng.choice(list("uv"), n)}
    )
    y = rng.integers(0, 3, n)
    y[:2] = [0, 1]
    n_classes = len(np.unique(y))
    options = {
        "objective": objective,
        "leaf_penalty": penalty,
        "class_weight": weights,
        "max_leaf_nodes": leaves,
        "cost_matrix": rng.integers(0, 3, (n_classes, n_classes)) if costs else None,
    }
    sample_weight = rng.integers(1, 4, n) if costs else None
    limited = OptimalTreeClassifier(max_depth=depth, **options).fit(frame, y, sample_weight)
    free = OptimalTreeClassifier(max_depth=None, **options).fit(frame, y, sample_weight)
    gap = depth_gap(limited, frame, y, sample_weight)
    assert limited.objective_ - free.objective_ <= gap + 1e-12
    assert depth_gap(free, frame, y, sample_weight) == free.gap_ and gap >= limited.gap_
    if leaves is not None and leaves < depth + 2:
        assert gap == limited.gap_


def test_the_gap_closes_where_deeper_trees_cannot_win():
    y = X[:, 0] > 0.5
    model = OptimalTreeClassifier(max_depth=1).fit(X, y)
    assert depth_gap(model, X, y) == 0.0
    guessed = OptimalTreeClassifier(max_depth=2, thresholds="guess").fit(X, Y)
    assert 0 < depth_gap(guessed, X, Y) < guessed.objective_
    with pytest.raises(ValueError, match="these are not the rows that the model was fitted to"):
        depth_gap(guessed, X[:-1], Y[:-1])
