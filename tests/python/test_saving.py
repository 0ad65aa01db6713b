"""What is fitted or found can be saved: by pickle and joblib, by copies, and by other processes."""

import copy
import io
import pickle

import joblib
import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sklearn.model_selection import GridSearchCV, cross_validate

from certree import (
    OptimalTreeClassifier,
    OptimalTreeCV,
    OptimalTreeRegressor,
    frontier,
    near_optimal,
    path,
)

RNG = np.random.default_rng(5)
X = pl.DataFrame(RNG.integers(0, 4, (60, 3)), schema=["a", "b", "c"])
Y = (X["a"].to_numpy() + RNG.normal(size=60) > 1.5).astype(int)
MODEL = OptimalTreeClassifier(max_depth=2)


def by_joblib(found):
    file = io.BytesIO()
    joblib.dump(found, file)
    file.seek(0)
    return joblib.load(file)


WAYS = {
    "pickle": lambda found: pickle.loads(pickle.dumps(found)),
    "joblib": by_joblib,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def same_trees(one, other):
    assert type(one) is type(other)
    assert one.columns == other.columns
    assert one.schema == other.schema
    trees = [name for name, dtype in one.schema.items() if dtype == pl.Object]
    assert_frame_equal(pl.DataFrame(one.drop(trees)), pl.DataFrame(other.drop(trees)))
    for name in trees:
        texts = [[tree.to_text() for tree in frame[name]] for frame in (one, other)]
        assert texts[0] == texts[1]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("estimator", [MODEL, OptimalTreeRegressor(max_depth=2)])
def test_a_tuned_model_is_saved_with_its_path(way, estimator):
    search = OptimalTreeCV(estimator, cv=3).fit(X, Y)
    again = WAYS[way](search)
    same_trees(search.path_, again.path_)
    assert again.tree_.to_text() == search.tree_.to_text()
    assert again.certificate_ == search.certificate_
    assert np.array_equal(again.predict(X), search.predict(X))
    assert again.best_score_ == search.best_score_
    # What was saved can be saved again.
    same_trees(search.path_, WAYS[way](again).path_)


@pytest.mark.parametrize("way", WAYS)
def test_frames_of_trees_are_saved(way):
    sums = frontier(MODEL, X, Y, axes=("errors", "leaves"))
    for found in (
        path(MODEL, X, Y),
        frontier(MODEL, X, Y),
        sums,
        near_optimal(MODEL.fit(X, Y), X, Y, within=0.05).to_polars(5),
    ):
        same_trees(found, WAYS[way](found))
    again = WAYS[way](sums)
    assert again.certificate == sums.certificate
    assert_frame_equal(again.open, sums.open)


@pytest.mark.parametrize("save", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_graph_of_near_optimal_trees_says_what_to_keep(save):
    near = near_optimal(MODEL.fit(X, Y), X, Y, within=0.05)
    with pytest.raises(TypeError, match="to_polars"):
        save(near)


def test_tuned_models_come_back_from_other_processes():
    search = OptimalTreeCV(MODEL, cv=3)
    here = cross_validate(search, X, Y, cv=3, return_estimator=True)
    there = cross_validate(search, X, Y, cv=3, return_estimator=True, n_jobs=2)
    for one, other in zip(here["estimator"], there["estimator"]):
        same_trees(one.path_, other.path_)
    assert here["test_score"].tolist() == there["test_score"].tolist()
    grid = GridSearchCV(search, {"rule": ["best", "1se"]}, cv=3).fit(X, Y)
    same_trees(grid.best_estimator_.path_, WAYS["pickle"](grid).best_estimator_.path_)
