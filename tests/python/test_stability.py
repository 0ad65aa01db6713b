"""What stays of a tree when other rows are drawn."""

import math
import time

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning

from certree import (
    OptimalCostTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    stability,
)


def data(n=300):
    rng = np.random.default_rng(0)
    X = pl.DataFrame({"strong": rng.random(n), "weak": rng.random(n), "noise": rng.random(n)})
    y = (X["strong"].to_numpy() > 0.5) ^ (rng.random(n) < 0.05)
    return X, y


def test_what_is_in_the_data_stays():
    X, y = data()
    model = OptimalTreeClassifier(max_depth=1, thresholds=5)
    found = stability(model, X, y, refits=8)
    assert len(found.trees) == 8 and found.tree == model.fit(X, y).tree_
    assert found.root == 1.0 and found.agreement > 0.85
    root = found.splits.row(0, named=True)
    assert root["node"] == 0 and root["column_asked"] == root["column_here"] == 1.0
    assert found.splits.height == found.tree.n_leaves - 1
    assert found.columns.row(0) == ("strong", 1.0, 1.0)
    assert "begin with strong" in str(found)


def test_shares_are_those_of_the_trees():
    X, y = data(120)
    found = stability(OptimalTreeClassifier(max_depth=2, leaf_penalty=0), X, y, refits=5)
    assert found.splits.height == 3
    assert (found.splits["test_here"] <= found.splits["column_here"]).all()
    assert (found.splits["column_here"] <= found.splits["column_asked"]).all()
    for row in found.splits.iter_rows(named=True):
        node = found.tree.nodes[row["node"]]
        asked = [node.column in [n.column for n in each.nodes] for each in found.trees]
        assert row["column_asked"] == np.mean(asked)
    alike = [(each.predict(X) == found.tree.predict(X)).mean() for each in found.trees]
    assert found.agreements == tuple(alike)


def test_draws_are_the_same_for_any_number_of_jobs():
    X, y = data(100)
    model = OptimalTreeClassifier(max_depth=2)
    one, two = (stability(model, X, y, refits=4, n_jobs=jobs) for jobs in (1, 2))
    assert one.trees == two.trees
    assert one.trees != stability(model, X, y, refits=4, random_state=1).trees


def test_numbers_costs_and_named_columns():
    X, _ = data(150)
    y = X["strong"].to_numpy() * 3
    numbers = stability(OptimalTreeRegressor(max_depth=2, thresholds=5), X, y, refits=3)
    assert 0.5 < numbers.agreement <= 1
    costs = np.column_stack([y, 1.5 * np.ones(150)])
    assert stability(OptimalCostTree(max_depth=1), X, costs, refits=3).agreement > 0.8
    named = X.with_columns(y=y > 1.5)
    whole = stability(OptimalTreeClassifier(max_depth=1), named.lazy(), "y", refits=3)
    assert whole.root == 1
    weights = np.ones(150)
    stability(OptimalTreeClassifier(max_depth=1), X, y > 1, refits=2, sample_weight=weights)


def test_leaves_alone_are_stable():
    found = stability(OptimalTreeRegressor(max_depth=0), np.ones((5, 1)), np.arange(5.0), refits=2)
    assert found.root == 1 and found.splits.height == 0 and "single leaf" in str(found)
    one = stability(OptimalTreeClassifier(), [[1.0]], [0], refits=2)
    assert one.agreement == 1


@pytest.mark.alone
def test_the_time_limit_is_for_all_of_it():
    X, y = data(2000)
    model = OptimalTreeClassifier(max_depth=4, leaf_penalty=0)
    start = time.monotonic()
    with pytest.warns(ConvergenceWarning):
        try:
            found = stability(model, X, y, refits=500, time_limit=0.6)
            assert 1 <= len(found.trees) < 500
        except ValueError as error:
            assert "raise it" in str(error)
    assert time.monotonic() - start < 10


def test_bad_input_is_refused():
    X, y = data(20)
    for refits in (0, 1.5, math.nan, "3", None):
        with pytest.raises(ValueError, match="refits="):
            stability(OptimalTreeClassifier(), X, y, refits=refits)
    with pytest.raises(TypeError, match="an estimator of certree"):
        stability(None, X, y)
    with pytest.raises(ValueError, match="time_limit"):
        stability(OptimalTreeClassifier(), X, y, time_limit=-1)
