"""Trees that begin otherwise: their bound, against all such trees."""

import os

import numpy as np
import polars as pl
import pytest

from certree import (
    MostColumns,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    ThresholdGuesser,
)

CASES = int(os.environ.get("CERTREE_CASES", "8"))

PENALTY = 0.03


def least(X, y, rows, depth):
    """The errors of the best tree for these rows, and what its leaves cost."""
    best = min((y[rows] != label).sum() for label in (0, 1)) / len(y) + PENALTY
    if depth == 0:
        return best
    cuts = [(k, v) for k in range(X.shape[1]) for v in np.unique(X[rows, k])[:-1]]
    return min([best, *(begun(X, y, rows, depth, *cut) for cut in cuts)])


def begun(X, y, rows, depth, column, value):
    left = X[rows, column] <= value
    return sum(least(X, y, part, depth - 1) for part in (rows[left], rows[~left]))


@pytest.mark.parametrize("seed", range(CASES))
def test_bounds_are_those_of_all_trees_that_begin_so(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, (30, 3)), rng.integers(0, 2, 30)
    rows, names = np.arange(30), ["a", "b", "c"]
    frame = pl.DataFrame(X, schema=names)
    model = OptimalTreeClassifier(max_depth=2, leaf_penalty=PENALTY).fit(frame, y)
    leaf = least(X, y, rows, 0)
    for k, name in enumerate(names):
        cuts = np.unique(X[:, k])[:-1]
        by_cut = {v: begun(X, y, rows, 2, k, v) for v in cuts}
        found = model.why_not(name, frame, y)
        assert found.lower_bound == pytest.approx(min([leaf, *by_cut.values()]))
        assert found.worse_by == pytest.approx(max(found.lower_bound - model.objective_, 0))
        for v, wanted in by_cut.items():
            one = model.why_not(name, frame, y, threshold=int(v))
            assert one.lower_bound == pytest.approx(min(leaf, wanted))
            assert one.tree.n_leaves == 1 or one.tree.nodes[0].column == f"{name} <= {v}"
            assert f"begins with {name} <= {v} has an objective below" in str(one)


def test_every_estimator_says_why_not():
    rng = np.random.default_rng(0)
    X = pl.DataFrame({"x": rng.random(60), "z": rng.random(60), "site": ["a", "b", "c"] * 20})
    x = X["x"].to_numpy()
    costs = np.column_stack([x, 1 - x])
    fits = [
        (OptimalTreeRegressor(max_depth=1), (x,)),
        (OptimalCostTree(max_depth=1), (costs,)),
        (OptimalPolicyTree(max_depth=1, leaf_penalty=0), (costs,)),
        (OptimalTreeClassifier("f1", max_depth=1, thresholds=4), (x > 0.5,)),
        (OptimalTreeClassifier(max_depth=1, thresholds=ThresholdGuesser()), (x > 0.5,)),
    ]
    for model, data in fits:
        model.fit(X, *data)
        found = model.why_not("z", X, *data)
        assert found.lower_bound >= model.objective_ - 1e-9 and found.own == model.objective_
    assert "single leaf is better" in str(model.why_not("z", X, *data))
    by_site = model.why_not("site", X, *data, threshold=["a", "b"])
    assert by_site.question == "site in {a, b}" and by_site.worse_by > 0
    assert model.why_not("site", X, *data, threshold="a").question == "site = a"
    same = model.why_not("x", X, *data)
    assert "One of them is as good" in str(same) and same.worse_by == 0


def test_missing_values_go_where_it_is_best():
    X = pl.DataFrame({"n": [1.0, 2.0, None, float("nan"), 5.0, 6.0], "m": [1, 2, 1, 2, 1, 2]})
    y = [0, 0, 1, 1, 1, 1]
    model = OptimalTreeClassifier(max_depth=1, leaf_penalty=0.01).fit(X, y)
    found = model.why_not("n", X, y, threshold=3)
    assert found.objective == model.objective_ == pytest.approx(0.02)


def test_bad_input_is_refused():
    X, y = pl.DataFrame({"a": [1, 2, 3, 4], "b": [0, 1, 0, 1]}), [0, 0, 1, 1]
    model = OptimalTreeClassifier(max_depth=1).fit(X, y)
    with pytest.raises(ValueError, match="column='c' is not one"):
        model.why_not("c", X, y)
    with pytest.raises(ValueError, match="not the rows"):
        model.why_not("b", X, [0, 1, 1, 1])
    with pytest.raises(ValueError, match="not the rows"):
        model.why_not("b", X[:3], [0, 0, 1])
    with pytest.raises(ValueError, match="cannot be compared"):
        model.why_not("a", X, y, threshold=object())
    ruled = OptimalTreeClassifier(path_rules=[MostColumns(1)]).fit(X, y)
    assert ruled.why_not("b", X, y).lower_bound >= ruled.objective_
    with pytest.raises(ValueError, match="leave it out"):
        ruled.why_not("b", X, y, threshold=0)
    arrays = OptimalTreeClassifier(max_depth=1).fit(X.to_numpy(), y)
    assert arrays.why_not("x1", X.to_numpy(), y, threshold=0).worse_by > 0
