"""Points are the rows, counted: the same for any order, container and engine."""

from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certree import ingest


def points_of(X, y, sample_weight=None, thresholds="all"):
    training = ingest.read_training(X, y, sample_weight)
    return training, *ingest.cut_and_group(training, thresholds)


rows_of = st.lists(
    st.tuples(
        st.integers(-2, 2),
        st.booleans(),
        st.sampled_from("abc"),
        st.sampled_from([0.5, 0.25, 1e9]),
        st.sampled_from("pqr"),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=30,
).filter(lambda rows: any(row[-1] for row in rows))


@settings(max_examples=100, deadline=None)
@given(rows_of, st.booleans())
def test_points_are_the_rows_counted(rows, weighted):
    names = ["int", "flag", "text", "float", "label", "weight"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    X = frame.select(names[:4])
    weight = frame["weight"].to_numpy() / 10 if weighted else None
    training, _, points = points_of(X, frame["label"], weight)
    labels = sorted({row[4] for row in rows})
    assert training.labels.tolist() == labels
    whole = frame.with_columns(weight=weight) if weighted else frame.drop("weight")
    _, cuts, streamed = points_of(whole.lazy(), "label", "weight" if weighted else None)
    same(points, streamed)

    kept = [row for row in rows if row[-1] or not weighted]
    counts = Counter(row[:4] for row in kept)
    totals = defaultdict(Fraction)
    for row in kept:
        totals[row[:4], row[4]] += Fraction(row[5], 10) if weighted else 1
    codes = X.filter(frame["weight"] > 0 if weighted else True).select(
        each.code.alias(str(index)) for index, each in enumerate(cuts)
    )
    place = {values: code for values, code in zip((row[:4] for row in kept), codes.rows())}
    assert points.n_points == len(counts) and points.n_rows == len(kept)
    found = list(zip(*(code.tolist() for code in points.core.codes)))
    assert found == sorted(place.values())
    for values, code in place.items():
        point = found.index(code)
        assert points.core.rows[point] == counts[values]
        # Sums of short decimals are the floats next to their true sums.
        wanted = [float(totals[values, label]) for label in labels]
        assert points.weights[point].tolist() == wanted


def big(n=2000, columns=70):
    rng = np.random.default_rng(1)
    data = {f"c{i}": rng.integers(0, 3, n) for i in range(columns)}
    return pl.DataFrame(data).with_columns(
        y=pl.Series(rng.integers(0, 12, n)), w=pl.Series(rng.random(n))
    )


def same(a, b):
    assert all((x == y).all() for x, y in zip(a.core.codes, b.core.codes, strict=True))
    assert (a.core.rows == b.core.rows).all() and (a.weights == b.weights).all()


@pytest.mark.parametrize("weight", [None, "w"])
def test_neither_order_nor_container_matters(weight):
    """Real weights too: their sums do not depend on the order of rows."""
    frame = big()
    X = frame.drop("y", "w") if weight is None else frame.drop("y")
    _, _, one = points_of(frame.drop("w") if weight is None else frame, "y", weight)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=3)
    for other in (shuffled, shuffled.lazy(), shuffled.to_pandas(), shuffled.to_arrow()):
        if weight is None:
            other = shuffled.drop("w")
        same(one, points_of(other, "y", weight)[2])
    values = frame["w"].to_numpy() if weight else None
    same(one, points_of(X.drop("w", strict=False), frame["y"].to_numpy(), values)[2])


def test_keys_spill_into_more_words():
    frame = big().drop("w")
    _, cuts, points = points_of(frame, "y")
    assert points.n_points == frame.drop("y").n_unique()
    assert points.weights.sum() == 2000


def test_many_codes_in_one_key_do_not_overflow():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"c{i}": rng.permutation(2**16) for i in range(4)}).with_columns(
        y=pl.lit(1)
    )
    _, cuts, points = points_of(frame, "y")
    assert [each.n_codes for each in cuts] == [2**16] * 4
    for codes in points.core.codes:
        assert sorted(codes.tolist()) == list(range(2**16))
    order = np.argsort(points.core.codes[0])
    assert (points.core.codes[3][order] == frame.sort("c0")["c3"].to_numpy()).all()


def test_constant_columns_and_one_class_make_one_point():
    training, cuts, points = points_of(np.ones((5, 2)), ["a"] * 5)
    assert points.n_points == 1 and points.weights.tolist() == [[5.0]]


def test_column_names_of_the_user_are_never_taken():
    frame = pl.DataFrame(
        {"y": [1, 2], "y_": [1, 1], "key0": [0, 1], "rows": [3, 4], "sample_weight": [1, 2]}
    )
    _, cuts, points = points_of(frame, ["a", "b"], [1.0, 2.0])
    assert len(cuts) == 5 and points.weights.tolist() == [[1, 0], [0, 2]]


@pytest.mark.parametrize("scale", [1.0, 1e-300, 5e-324, 1e300])
def test_weights_of_any_size_keep_their_proportions(scale):
    weight = np.array([1.0, 2.0, 3.0]) * scale
    _, _, points = points_of(np.array([[0], [1], [2]]), [0, 1, 0], weight)
    assert np.allclose(points.weights.sum(1) / points.weights.sum(), [1 / 6, 1 / 3, 1 / 2])


@pytest.mark.parametrize(
    "y",
    [
        [True, False, True],
        [2, 1, 2],
        ["b", "a", "b"],
        [1.0, 0.0, 1.0],
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], dtype=object),
        np.array([2, 1, 2], dtype=np.int8),
        pl.Series(["b", "a", "b"], dtype=pl.Categorical),
        pl.Series([2, 1, 2], dtype=pl.UInt64),
        pl.Series([True, False, True]),
        pl.DataFrame({"y": ["b", "a", "b"]}),
        pl.Series(["b", "a", "b"]).to_pandas(),
        pl.Series([2, 1, 2]).to_frame().to_pandas(),
        pl.Series([2, 1, 2]).to_arrow(),
    ],
    ids=lambda y: f"{type(y).__module__}.{type(y).__name__}",
)
def test_labels_of_any_container(y):
    training, _, points = points_of(np.array([[0], [1], [2]]), y)
    first, second = training.labels
    assert first < second
    assert points.weights.tolist() == [[0, 1], [1, 0], [0, 1]]


def test_many_labels_are_looked_up():
    y = [f"label {i % 30:02}" for i in range(60)]
    training, _, points = points_of(np.arange(60)[:, None], y)
    assert len(training.labels) == 30
    assert (points.weights.argmax(1) == np.arange(60) % 30).all()
