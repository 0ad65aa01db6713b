"""Cuts lie between values, and codes say what prediction will say."""

import datetime as dt
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certree import _core, ingest
from certree.tree import Tree


def cuts_of(series, thresholds="all", weight=None):
    frame = pl.DataFrame({"x": series})
    training = ingest.read_features(frame)
    lazy = training.frame
    if weight is not None:
        lazy = frame.with_columns(w=pl.Series(weight)).lazy()
    (cuts,) = ingest.make_cuts(lazy, training.columns, thresholds, "" if weight is None else "w")
    return cuts, frame


def codes_of(cuts, frame):
    return frame.select(cuts.code.alias("code")).to_series().to_list()


def check_codes_and_routes(series, thresholds="all"):
    """Ranks are kept, and each cut routes every value as its code says, in every container."""
    cuts, frame = cuts_of(series, thresholds)
    codes = codes_of(cuts, frame)
    assert all(0 <= code < cuts.n_codes for code in codes)
    assert cuts.thresholds == sorted(set(cuts.thresholds))
    for rank, threshold in enumerate(cuts.thresholds):
        leaves = [(None, 0, 1, [1.0], 0.0)] * 2
        core = _core.Tree([((0, threshold, 1, 2), 0, 2, [2.0], 0.0), *leaves])
        left = Tree(core, [cuts.column], ["a"]).apply(frame) == 1
        assert left.tolist() == [code <= rank for code in codes], threshold
    return cuts, codes


def dense_ranks(values):
    order = {value: rank for rank, value in enumerate(sorted(set(values)))}
    return [order[value] for value in values]


floats = st.floats(allow_nan=False, allow_infinity=False)
near = st.builds(
    lambda x, n: float(np.nextafter(x, np.inf)) if n else x,
    st.sampled_from([0.0, 1.0, -1.0, 5e-324, 1e308, 0.1]),
    st.booleans(),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(floats | near, min_size=1, max_size=12))
def test_floats(values):
    cuts, codes = check_codes_and_routes(pl.Series(values))
    assert codes == dense_ranks(values)
    for low, threshold, high in zip(sorted(set(values)), cuts.thresholds, sorted(set(values))[1:]):
        assert low <= threshold < high and math.isfinite(threshold)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=12)
)
def test_single_floats(values):
    _, codes = check_codes_and_routes(pl.Series(values, dtype=pl.Float32))
    assert codes == dense_ranks(values)


@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64]
)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_integers_of_all_widths(dtype, data):
    ends = pl.select(low=dtype.min(), high=dtype.max()).row(0)
    top = min(ends[1], 2**63 - 1)
    close = st.sampled_from([ends[0], ends[0] + 1, top, top - 1, top - 2])
    values = data.draw(st.lists(st.integers(ends[0], top) | close, min_size=1, max_size=10))
    _, codes = check_codes_and_routes(pl.Series(values, dtype=dtype))
    assert codes == dense_ranks(values)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(2**53 - 4, 2**53 + 4), min_size=1, max_size=10))
def test_integers_around_two_to_the_53(values):
    _, codes = check_codes_and_routes(pl.Series(values))
    assert codes == dense_ranks(values)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=10),
    st.lists(st.floats(-60, 60), max_size=6),
)
def test_given_thresholds(values, thresholds):
    for dtype in (pl.Int8, pl.Int64, pl.Float32, pl.Float64):
        cuts, codes = check_codes_and_routes(pl.Series(values, dtype=dtype), {"x": thresholds})
        assert set(cuts.thresholds) <= set(thresholds)
        # No threshold is needless, and none that separates rows is lost.
        sides = {tuple(v <= t for v in values) for t in thresholds}
        sides -= {(True,) * len(values), (False,) * len(values)}
        assert len(cuts.thresholds) == len(sides) == len(set(codes)) - 1


def test_zeros_have_no_sign():
    cuts, codes = check_codes_and_routes(pl.Series([0.0, -0.0, 1.0]))
    assert cuts.thresholds == [0] and codes == [0, 0, 1]


def test_a_midpoint_that_rounds_up_is_the_lower_value():
    above = float(np.nextafter(1.0, 2.0))
    assert cuts_of([1.0, above])[0].thresholds == [1.0]
    assert cuts_of([-1.7e308, 1.7e308])[0].thresholds == [0.0]
    assert cuts_of([2**53 - 1, 2**53])[0].thresholds == [float(2**53 - 1)]


def test_thresholds_of_dates_are_whole_ticks():
    cuts, _ = check_codes_and_routes(pl.Series([dt.date(1970, 1, 1), dt.date(1970, 1, 4)]))
    assert cuts.thresholds == [1]
    cuts, _ = check_codes_and_routes(pl.Series([dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 2)]))
    assert cuts.thresholds == [43_200_000_000]


def test_dates_as_given_thresholds():
    days = pl.Series([dt.date(2020, 1, d) for d in range(1, 10)])
    cuts, codes = check_codes_and_routes(
        days, {"x": [dt.date(2020, 1, 5), dt.datetime(2020, 1, 2, 12)]}
    )
    assert cuts.thresholds == [18263, 18266] and codes == [0, 0, 1, 1, 1, 2, 2, 2, 2]
    utc = dt.timezone.utc
    zoned = days.cast(pl.Datetime("ms")).dt.replace_time_zone("UTC")
    cuts, codes = check_codes_and_routes(zoned, {"x": [dt.datetime(2020, 1, 5, tzinfo=utc)]})
    assert codes == [0] * 5 + [1] * 4
    with pytest.raises(
        ValueError, match="column 'x': .* must have a time zone, as the column does"
    ):
        cuts_of(zoned, {"x": [dt.datetime(2020, 1, 5)]})


def test_quantiles_follow_the_rows():
    assert cuts_of(list(range(100)), 3)[0].thresholds == [24, 49, 74]
    assert cuts_of([0] * 98 + [1, 2], 5)[0].thresholds == [0]
    assert cuts_of([1, 2, 3], 10)[0].thresholds == [1, 2]
    assert cuts_of([7, 7], 3)[0].thresholds == []


def test_quantiles_follow_the_weights():
    assert cuts_of([0, 1, 2, 3], 1)[0].thresholds == [1]
    assert cuts_of([0, 1, 2, 3], 1, weight=[1, 1, 1, 9])[0].thresholds == [2]


def test_quantiles_and_lists_for_some_columns():
    frame = pl.DataFrame({"a": range(9), "b": range(9), "c": range(9), "s": ["u", "v", "w"] * 3})
    training = ingest.read_features(frame)
    cuts = ingest.make_cuts(
        training.frame, training.columns, {"a": 2, "b": [3, 100, 3.2], "c": "all"}
    )
    assert [each.count for each in cuts] == [2, 1, 8, 3]
    assert cuts[1].thresholds == [3.0]


def test_a_category_has_a_code_for_each_value():
    for dtype in (pl.String, pl.Categorical):
        cuts, frame = cuts_of(pl.Series(["b", "a", "b"]).cast(dtype))
        assert cuts.column.values == ("a", "b") and codes_of(cuts, frame) == [1, 0, 1]
    cuts, frame = cuts_of(pl.Series(["b", "a", "b"]).cast(pl.Enum(["z", "b", "a"])))
    assert cuts.column.kind == "ordered" and cuts.column.values == ("z", "b", "a")
    assert cuts.asked == ["b"] and codes_of(cuts, frame) == [0, 1, 0]
