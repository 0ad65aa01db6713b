"""Sparse matrices are the tables that they stand for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from certree import OptimalTreeClassifier, OptimalTreeRegressor, ThresholdBinarizer, _core
from certree.ingest import cut_and_group, read_training

FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")


def table(seed: int, kind: str, n: int = 120, width: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    there = rng.random((n, width)) < 0.2
    if kind == "bool":
        return there
    if kind == "ones":
        return there.astype(float)
    if kind == "signs":
        return -there.astype(np.int8)
    values = rng.integers(-3, 4, (n, width)).astype(np.float32 if kind == "floats" else np.int64)
    found = np.where(there, values, 0)
    if kind == "floats":
        found[rng.random((n, width)) < 0.1] = np.nan
    return found


def labels(X: np.ndarray, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    signal = np.nan_to_num(X[:, 0].astype(float)) != np.nan_to_num(X[:, 1].astype(float))
    return signal ^ (rng.random(len(X)) < 0.1)


@pytest.mark.parametrize("kind", ["bool", "ones", "signs", "integers", "floats"])
@pytest.mark.parametrize("form", FORMATS)
def test_a_sparse_matrix_gives_the_tree_of_the_dense_one(kind, form):
    dense = table(1, kind)
    y = labels(dense)
    sparse = getattr(scipy.sparse, f"{form}_matrix")(dense)
    weights = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    for given in (None, weights):
        wanted = OptimalTreeClassifier(max_depth=2).fit(dense, y, sample_weight=given)
        found = OptimalTreeClassifier(max_depth=2).fit(sparse, y, sample_weight=given)
        assert str(found.tree_) == str(wanted.tree_)
        assert found.objective_ == wanted.objective_ == found.lower_bound_
        assert found.certificate_.n_points == wanted.certificate_.n_points
        assert (found.predict(sparse) == wanted.predict(dense)).all()
        assert (found.predict(dense) == wanted.predict(sparse)).all()
        assert found.n_features_in_ == 5 and not hasattr(found, "feature_names_in_")
    if given is not None and kind != "bool":
        assert OptimalTreeRegressor(max_depth=2).fit(sparse, dense[:, 0] == 0).status_ == "optimal"


def test_random_tables_group_as_dense_ones():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        kind = str(rng.choice(["bool", "ones", "signs", "integers", "floats"]))
        dense = table(seed, kind, int(rng.integers(1, 200)), int(rng.integers(1, 90)))
        y = rng.integers(0, 3, len(dense))
        read = [read_training(X, y) for X in (dense, scipy.sparse.coo_array(dense))]
        (cuts, points), (own_cuts, own_points) = (cut_and_group(each, "all") for each in read)
        for own, wanted in zip(own_cuts, cuts):
            assert own.column == wanted.column and own.n_codes == wanted.n_codes
            assert np.array_equal(own.places, wanted.places)
        assert (own_points.weights == points.weights).all()
        assert (own_points.core.rows == points.core.rows).all()
        for codes, own in zip(points.core.codes, own_points.core.codes):
            assert (codes == own).all()


def test_entries_that_repeat_add_up_and_the_matrix_stays_as_it_is():
    rows, columns = np.array([0, 0, 1, 3]), np.array([0, 0, 1, 0])
    twice = scipy.sparse.csc_array((np.ones(4), (rows, columns)), shape=(4, 2))
    unsorted = scipy.sparse.csr_array(
        (np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), np.array([0, 2, 2, 3, 3])), shape=(4, 2)
    )
    for X in (twice, unsorted, scipy.sparse.csr_array((4, 2))):
        before = [X.data.copy(), X.indices.copy(), X.indptr.copy()]
        model = OptimalTreeClassifier(max_depth=2).fit(X, [1, 0, 1, 0])
        wanted = OptimalTreeClassifier(max_depth=2).fit(X.toarray(), [1, 0, 1, 0])
        assert str(model.tree_) == str(wanted.tree_)
        assert all((a == b).all() for a, b in zip(before, [X.data, X.indices, X.indptr]))


def test_frames_of_sparse_columns_keep_their_names():
    dense = table(3, "ones")
    frame = pd.DataFrame.sparse.from_spmatrix(
        scipy.sparse.csr_matrix(dense), columns=["a", "b", "c", "d", "e"]
    )
    y = labels(dense)
    model = OptimalTreeClassifier(max_depth=2).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d", "e"]
    names = {f"x{i}": name for i, name in enumerate("abcde")}
    plain = pl.DataFrame(dense, schema=list(names.values()))
    assert str(model.tree_) == str(OptimalTreeClassifier(max_depth=2).fit(plain, y).tree_)
    assert (model.predict(frame) == model.predict(plain)).all()
    # Beside others, sparse columns are columns like any other.
    mixed = frame.assign(f=np.arange(len(frame), dtype=float))
    assert (model.predict(mixed) == model.predict(plain)).all()
    assert OptimalTreeClassifier(max_depth=2).fit(mixed, y).status_ == "optimal"


def test_zeros_take_no_memory():
    rng = np.random.default_rng(0)
    n, width = 200_000, 400
    X = scipy.sparse.random(n, width, 0.0005, format="csr", random_state=rng)
    X.data[:] = 1.0
    y = rng.random(n) < 0.3
    # Dense, this is 640 MB, and 80 MB with a byte for each value.
    model = OptimalTreeClassifier(max_depth=1, memory_limit=60_000_000).fit(X, y)
    assert model.status_ == "optimal"
    with pytest.raises(ValueError, match="a dense copy of 400 sparse columns takes 640.0 MB"):
        OptimalTreeClassifier(max_depth=1, memory_limit=60_000_000, thresholds="guess").fit(X, y)


def test_pipelines_hand_on_sparse_matrices():
    frame = pl.DataFrame({"site": ["a", "b", "c", "a", "b", "c"] * 5, "dose": [1.0, 2.0, 3.0] * 10})
    y = [site == "b" for site in frame["site"]]
    columns = make_column_transformer(
        (OneHotEncoder(), ["site"]), remainder="passthrough", sparse_threshold=1.0
    )
    model = make_pipeline(columns, OptimalTreeClassifier(max_depth=1)).fit(frame.to_pandas(), y)
    assert (model.predict(frame.to_pandas()) == y).all()
    words = ["good tree", "bad tree", "good leaf", "bad leaf"] * 3
    model = make_pipeline(CountVectorizer(), OptimalTreeClassifier(max_depth=1))
    assert model.fit(words, [1, 0, 1, 0] * 3).predict(["good", "bad"]).tolist() == [1, 0]
    assert ThresholdBinarizer().fit(scipy.sparse.eye(3)).transform(np.eye(3)).shape == (3, 3)


def test_errors_name_what_is_wrong():
    def fails(message, X, **parameters):
        with pytest.raises(ValueError, match=message):
            OptimalTreeClassifier(max_depth=1, **parameters).fit(X, [0, 1, 0])

    fails("Complex data not supported", scipy.sparse.csr_matrix(np.eye(3) * 1j))
    fails("0 feature", scipy.sparse.csr_matrix((3, 0)))
    fails("inconsistent numbers of samples", scipy.sparse.csr_matrix(np.eye(4)))
    nan = scipy.sparse.csr_matrix(np.diag([1.0, np.nan, 1.0]))
    fails("'x1' has 1 value missing", nan, missing="refuse")
    model = OptimalTreeClassifier(max_depth=1, missing="refuse")
    model.fit(scipy.sparse.eye(3, format="csr"), [0, 1, 0])
    with pytest.raises(ValueError, match="missing"):
        model.predict(nan)
    with pytest.raises(ValueError, match="X has 4 features"):
        model.predict(scipy.sparse.csr_matrix(np.eye(4)))
    with pytest.raises(ValueError, match="not in order"):
        _core.Table([(np.ones(2), np.array([1, 1], np.uint32), np.array([0, 2], np.uint64), 3)])
