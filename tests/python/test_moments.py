"""Dates, durations and times of day: each form of a tree sends them where exact arithmetic does,
also where rows have another unit than the training data."""

import datetime as dt
import itertools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from trees import columns_of, stump

from certree import OptimalTreeClassifier, OptimalTreeRegressor, ThresholdBinarizer
from certree.scoring import Scorer
from certree.tree import Tree

PER_TICK = {"ms": 10**6, "us": 10**3, "ns": 1}
DAY = 86_400 * 10**9
FAMILIES = {
    "date": {"day": pl.Date(), **{unit: pl.Datetime(unit) for unit in PER_TICK}},
    "duration": {unit: pl.Duration(unit) for unit in PER_TICK},
    "time": {"ns": pl.Time()},
}
PAIRS = [
    (kind, *units) for kind in FAMILIES for units in itertools.product(FAMILIES[kind], repeat=2)
]


def nanoseconds(kind, unit):
    return DAY if unit == "day" else PER_TICK[unit]


def series(kind, unit, ticks):
    return pl.Series("x", ticks, dtype=pl.Int64).cast(FAMILIES[kind][unit])


def ticks_around(kind, fitted, given, threshold):
    """In the given unit, values next to a threshold of the fitted one."""
    per_tick = nanoseconds(kind, given)
    middle = threshold * nanoseconds(kind, fitted) // per_tick
    half = DAY // 2 // per_tick
    near = {middle + step for step in (-2, -1, 0, 1, 2, -half, half)}
    return sorted(tick for tick in near if kind != "time" or 0 <= tick * per_tick < DAY)


@pytest.mark.parametrize(("kind", "fitted", "given"), PAIRS)
def test_every_form_rounds_no_value(kind, fitted, given):
    (column,) = columns_of(series(kind, fitted, [0]).to_frame())
    per_day = DAY // nanoseconds(kind, fitted)
    days = (0, 0.5) if kind == "time" else (-700.25, -1e-6, 0, 18691, 18691.5)
    for threshold in sorted({int(day * per_day) + step for day in days for step in (0, 1)}):
        tree = stump([column], 0, threshold)
        ticks = ticks_around(kind, fitted, given, threshold)
        rows = series(kind, given, [*ticks, None]).to_frame()
        per_tick, limit = nanoseconds(kind, given), threshold * nanoseconds(kind, fitted)
        wanted = ["no" if tick * per_tick <= limit else "yes" for tick in ticks] + ["no"]
        assert tree.predict(rows).tolist() == wanted
        assert Tree.from_json(tree.to_json()) == tree
        for frame in (rows, rows.lazy()):
            assert frame.select(tree.to_polars()).lazy().collect()["label"].to_list() == wanted
        scorer = Scorer(tree.to_json())
        if kind != "time":
            assert scorer.predict({"x": rows["x"].to_numpy()}).tolist() == wanted
            values = rows.to_pandas()["x"].astype(object).tolist()
        else:
            values = rows["x"].to_list()
        if kind != "time" or all(tick % 1000 == 0 for tick in ticks):
            names = {}
            exec(tree.to_python(), names)
            assert [names["predict"]({"x": value}) for value in values] == wanted
            assert scorer.predict({"x": values}).tolist() == wanted
        agrees_in_duckdb(tree, rows, wanted)


def agrees_in_duckdb(tree, rows, wanted):
    duckdb = pytest.importorskip("duckdb")
    if rows["x"].dtype == pl.Duration("ns"):
        return  # There durations have microseconds.
    connection = duckdb.connect()
    connection.register("known", rows.to_arrow())
    found = connection.execute(f"SELECT {tree.to_sql()} FROM known").fetchall()
    assert [row[0] for row in found] == wanted


def test_midnight_as_text_of_sqlite_is_the_day():
    (column,) = columns_of(pl.DataFrame({"x": [dt.date(2021, 3, 5)]}))
    sql = stump([column], 0, 18691).to_sql(dialect="sqlite")
    import sqlite3

    texts = ["2021-03-05", "2021-03-05 00:00:00", "2021-03-05 00:00:00.5", "2021-03-06"]
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE known (x)")
    connection.executemany("INSERT INTO known VALUES (?)", [(text,) for text in texts])
    found = connection.execute(f"SELECT {sql} FROM known ORDER BY rowid").fetchall()
    assert [row[0] for row in found] == ["no", "no", "yes", "yes"]


def test_days_that_nanoseconds_do_not_hold_are_compared_all_the_same():
    for unit in PER_TICK:
        (column,) = columns_of(series("date", unit, [0]).to_frame())
        tree = stump([column], 0, 0)
        days = pl.DataFrame({"x": [dt.date(1, 1, 1), dt.date(9999, 1, 1)]})
        for frame in (days, days.cast(pl.Datetime("us"))):
            assert tree.predict(frame).tolist() == ["no", "yes"]
            found = frame.lazy().select(tree.to_polars()).collect()["label"]
            assert found.to_list() == ["no", "yes"]
    (column,) = columns_of(series("duration", "ns", [0]).to_frame())
    long = series("duration", "us", [-(2**62), 2**62]).to_frame()
    tree = stump([column], 0, 5)
    assert long.select(tree.to_polars())["label"].to_list() == tree.predict(long).tolist()


WAITS = [dt.timedelta(hours=h) for h in (-30, -2, 0, 1, 5, 26, 50, 400)]
CLOCKS = [dt.time(h, 30) for h in (0, 3, 8, 9, 13, 17, 21, 23)]
LATE = ["no", "no", "no", "no", "yes", "yes", "no", "no"]


def test_every_kind_of_table_gives_one_tree():
    frame = pl.DataFrame({"wait": [*WAITS, None], "at": [*CLOCKS, None]})
    tree = OptimalTreeClassifier(max_depth=2).fit(frame, [*LATE, "no"]).tree_
    assert [column.kind for column in tree.columns] == ["duration", "time"]
    pandas = frame.to_pandas()
    assert pandas.dtypes.iloc[0].kind == "m" and pandas.dtypes.iloc[1] == object
    for X in (pandas, frame.to_arrow(), pandas.astype(object)):
        again = OptimalTreeClassifier(max_depth=2).fit(X, [*LATE, "no"]).tree_
        assert [str(node.split and node.split.test) for node in again.nodes] == [
            str(node.split and node.split.test) for node in tree.nodes
        ]
        assert again.predict(frame).tolist() == tree.predict(X).tolist() == [*LATE, "no"]
    # An array of durations has no names.
    hours = np.array([[wait] for wait in WAITS], dtype="m8[s]")
    assert OptimalTreeClassifier(max_depth=2).fit(hours, LATE).predict(hours).tolist() == LATE
    lists = [list(row) for row in zip(WAITS, CLOCKS)]
    assert OptimalTreeClassifier(max_depth=2).fit(lists, LATE).predict(lists).tolist() == LATE


def test_thresholds_are_in_the_longest_unit_that_tells_values_apart():
    frame = pl.DataFrame({"wait": WAITS, "at": CLOCKS})
    found = ThresholdBinarizer().fit(frame)
    names = [name for name in found.get_feature_names_out() if "missing" not in name]
    assert names == [
        "wait <= -1d",
        "wait <= -1h",
        "wait <= 30m",
        "wait <= 3h",
        "wait <= 1d",
        "wait <= 2d",
        "wait <= 9d",
        "at <= 02:00:00",
        "at <= 06:00:00",
        "at <= 09:00:00",
        "at <= 11:00:00",
        "at <= 15:00:00",
        "at <= 19:00:00",
        "at <= 22:00:00",
    ]
    exact = ThresholdBinarizer("midpoints").fit(frame).thresholds_
    assert exact["wait"][2] == 30 * 60 * 10**6 and exact["at"][0] == 2 * 3600 * 10**9
    wanted = {"wait": [dt.timedelta(hours=3)], "at": [dt.time(11)]}
    chosen = ThresholdBinarizer(wanted).fit(frame).thresholds_
    assert chosen == {"wait": [3 * 3600 * 10**6], "at": [11 * 3600 * 10**9]}
    late = ["no"] * 4 + ["yes"] * 4
    tree = OptimalTreeClassifier(max_depth=1, thresholds={"wait": [], "at": [dt.time(11)]})
    assert "at <= 11:00:00" in str(tree.fit(frame, late).tree_)
    lazy = frame.with_columns(late=pl.Series(late)).lazy()
    assert "at <= 11:00:00" in str(tree.fit(lazy, "late").tree_)
    with pytest.raises(ValueError, match="'wait' has 'long', which is not a duration"):
        ThresholdBinarizer({"wait": ["long"]}).fit(frame)
    with pytest.raises(ValueError, match="'at'.*must not have a time zone"):
        ThresholdBinarizer({"at": [dt.time(11, tzinfo=dt.timezone.utc)]}).fit(frame)


@pytest.mark.parametrize("unit", PER_TICK)
def test_a_threshold_lies_between_its_neighbours_and_no_longer_unit_does(unit):
    rng = np.random.default_rng(7)
    per_day = DAY // PER_TICK[unit]
    parts = [n for n in (1, 24, 1440, 86400, 86_400_000, 86_400_000_000) if per_day % n == 0]
    for _ in range(100):
        size = int(10 ** rng.uniform(0, 14))
        values = np.unique(rng.integers(-size, size + 1, 6))
        if len(values) < 2:
            continue
        found = ThresholdBinarizer().fit(series("duration", unit, values).to_frame())
        for low, high, threshold in zip(values, values[1:], found.thresholds_["x"]):
            if high - low == 1:
                assert threshold == low
                continue
            assert low < threshold < high
            steps = [per_day // n for n in parts]
            longest = next((s for s in steps if (high - 1) // s > low // s), 1)
            assert threshold % longest == 0
            better = 2 * abs(threshold - (low + high) / 2)
            assert better <= longest + 1


def test_other_kinds_and_damaged_documents_are_refused():
    frame = pl.DataFrame({"wait": WAITS, "at": CLOCKS})
    model = OptimalTreeClassifier(max_depth=2).fit(frame, LATE)
    tree = model.tree_
    used = {node.split.column.name for node in tree.nodes if node.split}
    for name in used:
        other = frame.with_columns(pl.lit(dt.date(2020, 1, 1)).alias(name))
        with pytest.raises(ValueError, match=f"'{name}' was .* when the tree was fitted but is D"):
            model.predict(other)
        with pytest.raises(ValueError, match=f"'{name}' was .* must hold (durations|times of day)"):
            Scorer(tree.to_json()).predict({**frame.to_dict(as_series=False), name: [1] * 8})
    text = stump(columns_of(frame), 1, 10**9).to_json()
    with pytest.raises(ValueError, match="at_most"):
        Tree.from_json(text.replace(str(10**9), str(DAY)))
    with pytest.raises(ValueError, match="no type of times"):
        Tree.from_json(text.replace('"Time"', '"Date"'))
    for dialect in ("sqlite", "bigquery", "snowflake", "spark"):
        with pytest.raises(ValueError, match=f"'wait' is a Duration.*for which {dialect} has no"):
            stump(columns_of(frame), 0, 10**6).to_sql(dialect=dialect)
    with pytest.raises(ValueError, match="'at' is a Time, for which spark has no"):
        stump(columns_of(frame), 1, 10**9).to_sql(dialect="spark")


def test_regression_with_durations_and_quantiles_of_them():
    frame = pl.DataFrame({"wait": WAITS * 5, "at": CLOCKS * 5})
    y = np.tile(np.arange(8.0), 5)
    for thresholds in ("all", 3):
        model = OptimalTreeRegressor(max_depth=2, thresholds=thresholds).fit(frame, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            again = model.predict(pd.DataFrame(frame.to_dict(as_series=False)))
        assert again.tolist() == model.predict(frame).tolist()


def test_moments_of_pandas_in_objects_may_be_missing():
    frame = pd.DataFrame({"wait": [*map(pd.Timedelta, WAITS), pd.NaT]}, dtype=object)
    model = OptimalTreeClassifier(max_depth=2).fit(frame, [*LATE, "no"])
    assert model.tree_.columns[0].missing
    assert model.predict(frame).tolist() == [*LATE, "no"]


def test_why_a_tree_does_not_begin_with_a_duration():
    frame = pl.DataFrame({"wait": WAITS, "at": CLOCKS})
    model = OptimalTreeClassifier(max_depth=1).fit(frame, LATE)
    told = model.why_not("wait", frame, LATE, threshold=dt.timedelta(hours=3))
    assert "wait <= 3:00:00" in str(told)
    with pytest.raises(ValueError, match="threshold=3 cannot be compared with 'wait'.*Duration"):
        model.why_not("wait", frame, LATE, threshold=3)
