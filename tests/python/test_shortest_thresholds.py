"""Thresholds that one can say aloud, judged by all decimals and dates there are."""

import datetime as dt
import math
import os
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import certree
from certree import ThresholdBinarizer
from certree.ingest import midpoints

CASES = int(os.environ.get("CERTREE_CASES", 300))


def thresholds_of(values, thresholds="all"):
    frame = pl.DataFrame({"x": values})
    return ThresholdBinarizer(thresholds).fit(frame).thresholds_["x"]


def fewest_digits(low, high):
    """How many significant digits a number between two fractions needs, and the nearest such number
    to their midpoint."""
    middle = (low + high) / 2
    if middle == 0:
        return 0, Fraction(0)
    size = math.floor(math.log10(abs(middle)))
    for digits in range(1, 40):
        step = Fraction(10) ** (size + 1 - digits)
        near = round(middle / step) * step
        if low < near < high:
            return digits, near
    raise AssertionError


def digits_of(number):
    """Significant digits as it is printed."""
    text = np.format_float_scientific(number, unique=True, trim="-")
    return len(text.split("e")[0].strip("-").replace(".", ""))


FINITE = st.floats(allow_nan=False, allow_infinity=False)
SHORT = st.builds(lambda n, k: n / 10**k, st.integers(-(10**6), 10**6), st.integers(0, 6))


@settings(max_examples=CASES, deadline=None)
@given(st.lists(st.one_of(FINITE, SHORT), min_size=2, max_size=8, unique=True))
@example([54.3, 54.4])
@example([1.5, 1001.0])
@example([-1e308, 0.5, 1e308])
@example([5e-324, 1e-323, 2e-323])
@example([0.5, 1e22, 3e22, 1e23])
def test_decimals_have_the_fewest_digits(values):
    values = np.unique(np.array(values) + 0.0)
    assume((values != np.rint(values)).any())
    for low, high, found in zip(values, values[1:], thresholds_of(values)):
        if found == low:
            # No float is between them, or it is the infinite midpoint's neighbour.
            assert np.nextafter(low, high) == high
            continue
        assert low < found < high
        # Floats next to the ends stand for decimals beyond them.
        inside = Fraction(float(np.nextafter(low, high))), Fraction(float(np.nextafter(high, low)))
        digits, near = fewest_digits(Fraction(float(low)), Fraction(float(high)))
        reachable = inside[0] <= near <= inside[1]
        assert found == 0 or not reachable or digits_of(found) <= max(digits, 1)


@settings(max_examples=CASES, deadline=None)
@given(
    st.sampled_from([pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt32, pl.UInt64]),
    st.data(),
)
def test_integers_have_the_fewest_digits(dtype, data):
    ends = np.iinfo(np.dtype(dtype.__name__.lower()))
    one = st.one_of(st.integers(ends.min, min(ends.max, 2**63 - 1)), st.integers(0, 100))
    values = sorted(set(data.draw(st.lists(one, min_size=2, max_size=8, unique=True))))
    for low, high, found in zip(values, values[1:], thresholds_of(pl.Series(values, dtype=dtype))):
        assert found == int(found)
        found = int(found)
        if high == low + 1:
            assert found == low
            continue
        assert low < found < high
        middle = Fraction(low + high, 2)
        places = len(str(abs(int(middle))))
        nearest = None
        for digits in range(1, places + 1):
            step = 10 ** (places - digits)
            around = [math.floor(middle / step) * step, math.ceil(middle / step) * step]
            inside = [number for number in around if low < number < high]
            if inside:
                nearest = min(abs(number - middle) for number in inside)
                assert found % step == 0 and abs(found - middle) == nearest
                break
        assert nearest is not None


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([54.3, 54.4], 54.35),
        ([0.1, 0.9], 0.5),
        ([0.9, 1.2], 1.0),
        ([98.7, 101.2], 100.0),
        ([1.5, 1001.0], 500.0),
        ([1.0, 1001.5], 500.0),
        ([-0.5, 0.5], 0.0),
        ([0.0, 1.0], 0.0),
        ([3, 4], 3),
        ([3, 5], 4),
        ([20, 30], 25),
        ([17, 25], 20),
        ([95, 105], 100),
        ([-7, -2], -5),
    ],
)
def test_what_people_say(values, found):
    assert thresholds_of(values) == [found]
    assert thresholds_of(values, "midpoints") == [pytest.approx(sum(values) / 2)]


def test_floats_that_are_all_whole_have_the_thresholds_of_integers():
    assert thresholds_of([0.0, 1.0, 5.0]) == thresholds_of([0, 1, 5]) == [0, 3]
    assert thresholds_of([0.0, 1.0, 1.5]) == [0.5, 1.2]
    assert thresholds_of([0.0, 1.0, 5.0], "midpoints") == [0.5, 3.0]


DAY = dt.date
MOMENT = dt.datetime


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        (DAY(2019, 11, 20), DAY(2020, 2, 10), DAY(2019, 12, 31)),
        (DAY(2020, 1, 20), DAY(2020, 3, 20), DAY(2020, 2, 29)),
        (DAY(2020, 1, 5), DAY(2020, 1, 11), DAY(2020, 1, 8)),
        (DAY(2020, 1, 5), DAY(2020, 1, 6), DAY(2020, 1, 5)),
        (DAY(2001, 5, 5), DAY(2010, 5, 5), DAY(2005, 12, 31)),
        (MOMENT(2019, 11, 20), MOMENT(2020, 2, 10), MOMENT(2020, 1, 1)),
        (MOMENT(2020, 3, 4, 9, 58, 12), MOMENT(2020, 3, 4, 10, 7), MOMENT(2020, 3, 4, 10)),
        (MOMENT(2020, 3, 4), MOMENT(2020, 3, 5), MOMENT(2020, 3, 4, 12)),
        (MOMENT(2020, 3, 4), MOMENT(2020, 3, 4, 0, 0, 0, 9000), MOMENT(2020, 3, 4, 0, 0, 0, 4000)),
    ],
)
def test_dates_end_with_the_coarsest_unit(low, high, found):
    series = pl.Series([low, high])
    expected = pl.Series([found]).to_physical().item()
    assert thresholds_of(series) == [expected]


def test_moments_are_those_of_their_own_clocks():
    zone = "Europe/Berlin"
    series = pl.Series([MOMENT(2020, 3, 28, 22), MOMENT(2020, 3, 29, 12)])
    series = series.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    found = pl.Series(thresholds_of(series)).cast(pl.Datetime("us", zone))
    assert found.dt.to_string("%Y-%m-%d %H:%M").to_list() == ["2020-03-29 00:00"]
    # After 01:59 came three o'clock that night.
    series = pl.Series([MOMENT(2020, 3, 29, 0, 59, 30), MOMENT(2020, 3, 29, 1, 0, 30)])
    series = series.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    found = pl.Series(thresholds_of(series)).cast(pl.Datetime("us", zone))
    assert found.dt.to_string("%Y-%m-%d %H:%M").to_list() == ["2020-03-29 03:00"]


TICKS = {"ms": 1000, "us": 10**6, "ns": 10**9}


@settings(max_examples=CASES, deadline=None)
@given(
    st.sampled_from(["ms", "us", "ns"]),
    st.sampled_from([None, "UTC", "America/New_York", "Asia/Kolkata"]),
    st.lists(st.integers(-(2**62), 2**62) | st.integers(0, 10**10), min_size=2, max_size=8),
)
def test_any_moments_are_told_apart(unit, zone, ticks):
    ticks = sorted(set(ticks))
    series = pl.Series(ticks, dtype=pl.Int64).cast(pl.Datetime(unit, zone))
    for low, high, found in zip(ticks, ticks[1:], thresholds_of(series)):
        assert low <= found < high


@settings(max_examples=CASES, deadline=None)
@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=2, max_size=8))
def test_any_days_are_told_apart(days):
    days = sorted(set(days))
    series = pl.Series(days, dtype=pl.Int32).cast(pl.Date)
    for low, high, found in zip(days, days[1:], thresholds_of(series)):
        assert low <= found < high and (low < found or high == low + 1)


def test_all_ways_to_the_cuts_agree():
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "float": rng.normal(size=300),
            "short": rng.normal(size=300).astype("float32"),
            "rounded": rng.normal(size=300).round(1),
            "count": rng.integers(-1000, 1000, 300),
            "day": pl.Series(rng.integers(0, 20000, 300).astype("int32")).cast(pl.Date),
        }
    )
    target = rng.integers(0, 2, 300)
    frame = frame.with_columns(pl.Series("y", target))
    eager = certree.OptimalTreeClassifier(max_depth=2).fit(frame.drop("y"), target)
    lazy = certree.OptimalTreeClassifier(max_depth=2).fit(frame.lazy(), "y")
    exact = certree.OptimalTreeClassifier(max_depth=2, thresholds="midpoints")
    exact.fit(frame.drop("y"), target)
    assert eager.tree_.to_json() == lazy.tree_.to_json()
    assert eager.objective_ == exact.objective_
    assert len(eager.tree_.to_text()) < len(exact.tree_.to_text())
    assert "midpoints" in str(exact.certificate_)
    assert "midpoints" not in str(eager.certificate_)


def test_columns_choose_for_themselves():
    frame = pl.DataFrame({"a": [54.3, 54.4], "b": [54.3, 54.4]})
    binarizer = ThresholdBinarizer({"a": "midpoints"}).fit(frame)
    assert binarizer.thresholds_ == {"a": [54.349999999999994], "b": [54.35]}


def test_neighbours_of_many_sizes_at_once():
    rng = np.random.default_rng(0)
    sizes = 10.0 ** rng.uniform(-30, 30, 40_000)
    values = np.unique(np.concatenate([sizes, -sizes, np.round(sizes, 3)]) + 0.0)
    [found] = midpoints.between_all([values])
    assert ((values[:-1] < found) & (found < values[1:]) | (found == values[:-1])).all()
