"""Rows in memory and rows that are streamed make the same cuts and the same points, to the last bit."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certree import OptimalTreeClassifier, ingest
from certree.ingest import in_memory

INTEGERS = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64]


def integers(dtype):
    low, high = pl.select(low=dtype.min(), high=dtype.max()).row(0)
    high = min(high, 2**63 - 1)
    return st.integers(0, 3) | st.sampled_from([low, low + 1, high - 1, high])


def floats(width):
    return st.sampled_from([0.0, -0.0, 1.0]) | st.floats(
        allow_nan=False, allow_infinity=False, width=width
    )


days = st.dates(dt.date(1950, 1, 1), dt.date(2050, 1, 1))
moments = st.datetimes(dt.datetime(1950, 1, 1), dt.datetime(2050, 1, 1))
words = st.sampled_from(["a", "b", "c", "ä", ""])

#: dtype → values
KINDS = [
    *((dtype, integers(dtype)) for dtype in INTEGERS),
    (pl.Float32, floats(32)),
    (pl.Float64, floats(64)),
    (pl.Boolean, st.booleans()),
    (pl.Boolean, st.just(True)),
    (pl.String, words),
    (pl.Categorical, words),
    (pl.Enum(["c", "b", "a", "unused"]), st.sampled_from("abc")),
    (pl.Date, days),
    (pl.Datetime("ms"), moments),
    (pl.Datetime("us", "Europe/Berlin"), moments),
    (pl.Decimal(12, 2), st.decimals(-100, 100, places=2)),
]


@st.composite
def tables(draw):
    """A frame with features, a target "y" and weights "w"."""
    n = draw(st.integers(1, 25))
    column = lambda values: draw(st.lists(values, min_size=n, max_size=n))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=6))
    features = {}
    for index, (dtype, values) in enumerate(kinds):
        if isinstance(dtype, pl.Datetime) and dtype.time_zone:
            values = pl.Series(column(values), dtype=pl.Datetime("us", "UTC"))
            features[f"c{index}"] = values.dt.convert_time_zone(dtype.time_zone)
        else:
            features[f"c{index}"] = pl.Series(column(values), dtype=dtype)
    y = draw(
        st.sampled_from([st.integers(-3, 300), words, st.booleans(), st.sampled_from([0.0, 1.0])])
    )
    w = draw(
        st.sampled_from([st.integers(0, 3), st.sampled_from([0.1, 0.2, 0.0]), st.floats(0, 9)])
    )
    weight = column(w)
    weight[draw(st.integers(0, n - 1))] = 1.0 if isinstance(weight[0], float) else 1
    return pl.DataFrame(features).with_columns(y=pl.Series(column(y)), w=pl.Series(weight))


def count(X, thresholds, weight):
    training = ingest.read_training(X, "y", weight)
    return training, *ingest.cut_and_group(training, thresholds)


def check(frame, thresholds="all", weight=None):
    ours, our_cuts, our_points = count(frame, thresholds, weight)
    theirs, their_cuts, their_points = count(frame.lazy(), thresholds, weight)
    assert isinstance(ours, in_memory.InMemory) and isinstance(theirs, ingest.Streamed)
    assert ours.labels.tolist() == theirs.labels.tolist() and ours.unit == theirs.unit
    for a, b in zip(our_cuts, their_cuts, strict=True):
        assert (a.column, a.thresholds, a.n_codes) == (b.column, b.thresholds, b.n_codes)
        assert [type(t) for t in a.thresholds or []] == [type(t) for t in b.thresholds or []]
    assert our_points.core.rows.tolist() == their_points.core.rows.tolist()
    for a, b in zip(our_points.core.codes, their_points.core.codes, strict=True):
        assert a.tolist() == b.tolist()
    assert our_points.weights.tolist() == their_points.weights.tolist()


@settings(max_examples=150, deadline=None)
@given(tables(), st.sampled_from(["all", 1, 3]), st.booleans())
def test_all_types(frame, thresholds, weighted):
    check(frame if weighted else frame.drop("w"), thresholds, "w" if weighted else None)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 2)), min_size=1, max_size=20),
    st.lists(st.floats(-6, 6), max_size=5),
)
def test_given_thresholds(rows, thresholds):
    frame = pl.DataFrame(rows, schema=["x", "y"], orient="row")
    for dtype in (pl.Int8, pl.Int64, pl.Float32, pl.Float64):
        check(frame.with_columns(pl.col("x").cast(dtype)), {"x": thresholds})


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.booleans(), st.booleans()), min_size=1, max_size=20),
    st.lists(st.sampled_from("abcdz"), max_size=5),
    st.sampled_from([[], [True], "all"]),
)
def test_values_that_may_be_asked(rows, requested, flag):
    """Rows whose values are not asked for cannot be told apart."""
    frame = pl.DataFrame(rows, schema=["x", "flag", "y"], orient="row")
    check(frame, {"x": requested, "flag": flag})
    _, cuts, points = count(frame, {"x": requested, "flag": flag}, None)
    kept = pl.when(pl.col("x").is_in(requested)).then("x")
    distinct = frame.select(kept, "flag") if flag else frame.select(kept)
    assert points.n_points == distinct.n_unique()
    assert cuts[0].count == len(set(requested) & set(frame["x"])) and cuts[1].count == bool(flag)


@pytest.mark.parametrize("n_columns", [1, 40, 200])
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32, np.float64])
def test_arrays_of_either_order(dtype, n_columns):
    """Row by row, column by column, or with gaps: an array is what its columns are."""
    rng = np.random.default_rng(n_columns)
    few = rng.integers(0, 2, (300, n_columns))
    many = few * rng.integers(0, 60, (300, n_columns))
    y = rng.integers(0, 3, 300)
    for values in (few, few[:3], many, np.zeros((300, n_columns))):
        array = values.astype(dtype)
        y_of = y[: len(array)]
        columns = pl.DataFrame({f"x{i}": array[:, i] for i in range(n_columns)})
        wanted = count(columns.with_columns(y=pl.Series(y_of)).lazy(), "all", None)[2]
        wide = np.zeros((len(array), 2 * n_columns), dtype=dtype)
        wide[:, ::2] = array
        for given_array in (array, np.asfortranarray(array), wide[:, ::2], wide[::-1, ::2][::-1]):
            for X in (given_array, pd.DataFrame(given_array)):
                training = ingest.read_training(X, y_of)
                found = ingest.cut_and_group(training, "all")[1]
                assert all(map(np.array_equal, found.core.codes, wanted.core.codes))
                assert np.array_equal(found.weights, wanted.weights)


def test_a_table_too_large_to_copy_is_streamed(monkeypatch):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"c{i}": rng.random(500) < 0.5 for i in range(12)})
    y, weight = rng.integers(0, 2, 500), rng.integers(0, 3, 500)
    fit = lambda: OptimalTreeClassifier(max_depth=2).fit(frame, y, weight)
    one = fit()
    monkeypatch.setattr(in_memory, "MOST_VALUES", 100)
    assert isinstance(ingest.read_training(frame, y), ingest.Streamed)
    two = fit()
    assert one.tree_ == two.tree_ and one.objective_ == two.objective_
    assert one.certificate_.cuts == two.certificate_.cuts


def test_frames_in_many_pieces():
    rng = np.random.default_rng(0)
    pieces = [
        pl.DataFrame(
            {"a": rng.random(9), "b": rng.random(9) < 0.5, "c": ["u", "v", "w"] * 3, "y": range(9)}
        )
        for _ in range(4)
    ]
    check(pl.concat(pieces, rechunk=False))
