"""`Tree.diff` and `Tree.drift`: every pair of leaves in which some row ends, and no other."""

import datetime as dt
import math
import random

import numpy as np
import polars as pl
import pytest
from test_export_sklearn import routing, with_gaps
from trees import AGE, SEX, SMOKER, every_type, patients, random_tree, stump

from certree import OptimalCostTree, OptimalTreeRegressor
from certree.cells import cells_of
from certree.conditions import float32_at_most
from certree.difference import meetings
from certree.moments import time_unit
from certree.schema import TIMED, Column, Sets
from certree.tree import Tree

FRAME = every_type(200, seed=3)
OTHERS = every_type(200, seed=4)


def value_in(cells, cell, column):
    """Some value of a cell, as a frame holds it; of floats one that 32 bits hold."""
    if cell == cells.missing:
        return None
    if column.kind in ("number", *TIMED):
        ends = cells.thresholds
        number = ends[cell] if cell < len(ends) else ends[-1] if ends else 0
        beyond = 0 if cell < len(ends) else 1
        if column.kind in TIMED:
            per = {"day": 86_400 * 10**9, "ms": 10**6, "us": 1000, "ns": 1}
            return int(number) // per[time_unit(column.dtype)] + beyond
        if "Int" in column.dtype:
            return math.floor(number) + beyond
        return math.inf if beyond else float(float32_at_most(number))
    return "never seen" if cell == cells.other else cells.values[cell]


def rows_of(regions, cells, columns, frame):
    """A row for each region, as a frame of the types that the trees were made for."""
    series = []
    for column in columns:
        own = cells.get(column.name)
        found = []
        for region in regions:
            known = region.get(column.name, own.all() if own else frozenset())
            found.append(value_in(own, min(known), column) if own else None)
        dtype = frame.schema[column.name]
        if column.kind in TIMED:
            physical = pl.Series(column.name, found, dtype=pl.Int64)
            cast = physical.cast(pl.Int32) if dtype == pl.Date else physical
            series.append(cast.cast(dtype))
        elif column.kind in ("category", "ordered"):
            series.append(pl.Series(column.name, found, dtype=pl.String))
        else:
            series.append(pl.Series(column.name, found, dtype=dtype, strict=False))
    return pl.DataFrame(series)


@pytest.mark.filterwarnings("ignore:values that were not there")
@pytest.mark.parametrize("seed", range(20))
def test_pairs_of_leaves_are_those_that_some_row_comes_to(seed):
    rng = random.Random(seed)
    names = rng.sample(FRAME.columns, 4)
    frame, others = FRAME.select(names), OTHERS.select(names)
    gaps = rng.random() < 0.5
    trees = [random_tree(frame, depth=4, seed=1000 * seed + k) for k in range(2)]
    if gaps:
        trees = [routing(tree, seed + k) for k, tree in enumerate(trees)]
        others = with_gaps(others, seed)
    old, new = trees
    cells = cells_of(trees)
    found = {(a, b): region for a, b, region in meetings(old, new, cells)}
    for rows in (frame, others):
        assert set(zip(old.apply(rows).tolist(), new.apply(rows).tolist())) <= set(found)
    # And each has a row.
    rows = rows_of(list(found.values()), cells, old.columns, frame)
    assert list(zip(old.apply(rows).tolist(), new.apply(rows).tolist())) == list(found)

    for X in (frame, others):
        told = new.diff(old, X)
        expected = old.predict(X) != new.predict(X)
        assert told.n_changed == expected.sum() and told.n_rows == X.height
        assert [c.rows for c in told.changes] == sorted((c.rows for c in told.changes))[::-1]
    assert new.diff(new).alike and not old.diff(old, frame).changes


def test_words_of_every_kind():
    ordered = Column("grade", "ordered", "Enum", ("I", "II", "III"))
    site = Column("site", "category", "String", ("a", "b", "c"), missing=True)
    day = Column("day", "date", "Date")

    def told(columns, one, other):
        old, new = (stump(columns, 0, test) for test in (one, other))
        return [str(change) for change in new.diff(old).changes]

    assert told([AGE], 38.5, 40.5) == ["age > 38.5 and <= 40.5: yes → no"]
    # No whole number is between.
    assert told([AGE], 38.5, 38.25) == []
    assert told([ordered], 0, 1) == ["grade = II: yes → no"]
    assert told([day], 18691, 18699) == ["day > 2021-03-05 and <= 2021-03-13: yes → no"]
    assert told([SEX], "female", "male") == ["sex = male: no → yes", "sex = female: yes → no"]
    sets = Sets(("a",), ("b", "c")), Sets(("a", "b"), ("c",))
    assert told([site], *sets) == ["site = b: yes → no"]
    assert told([site], None, "a") == [
        "site = a: no → yes",
        "site is missing: yes → no",
    ]
    flags = stump([SMOKER], 0, True), stump([SMOKER], 0, True, labels=("yes", "no"))
    assert [str(change) for change in flags[1].diff(flags[0]).changes] == [
        "smoker is false: no → yes",
        "smoker is true: yes → no",
    ]


def test_dates_of_several_units_are_compared_as_moments():
    days = stump([Column("t", "date", "Date")], 0, 18691)
    unit = "Datetime(time_unit='us', time_zone=None)"
    exact = stump([Column("t", "date", unit)], 0, 18691 * 86_400_000_000)
    assert exact.diff(days).alike and days.diff(exact).alike
    later = stump([Column("t", "date", unit)], 0, 18691 * 86_400_000_000 + 3_600_000_000)
    (change,) = later.diff(days).changes
    assert str(change) == "t > 2021-03-05T00:00:00 and <= 2021-03-05T01:00:00: yes → no"
    rows = pl.DataFrame({"t": [dt.datetime(2021, 3, 5, 0, 30)]})
    assert later.diff(days, rows).n_changed == 1


def test_values_that_were_not_there_in_training_are_told_where_rows_have_them():
    old, new = stump([AGE], 0, 38.5), stump([AGE], 0, 38.5)
    # The way of the larger child.
    parts = [(s, k, 9 - rows, v, loss) for s, k, rows, v, loss in new._core.parts()]
    new = Tree(type(new._core)(parts), new.columns, new.labels)
    assert new.diff(old).alike
    told = new.diff(old, pl.DataFrame({"age": [1, None]}))
    assert [str(change) for change in told.changes] == ["age is missing: no → yes (1 row)"]


def test_numbers_costs_and_what_cannot_be_compared():
    rng = np.random.default_rng(1)
    X = pl.DataFrame(rng.integers(0, 6, (80, 2)), schema=["a", "b"])
    y = rng.normal(size=80)
    old, new = (
        OptimalTreeRegressor(max_depth=depth, leaf_penalty=0.0).fit(X, y).tree_ for depth in (1, 2)
    )
    told = new.diff(old, X)
    assert told.n_changed == (old.predict(X) != new.predict(X)).sum()
    cost = OptimalCostTree(max_depth=1).fit(X, rng.random((80, 2))).tree_
    with pytest.raises(ValueError, match="tree of regression cannot be compared with one of costs"):
        cost.diff(old)
    text = stump([Column("age", "category", "String", ("old", "young"))], 0, "old")
    with pytest.raises(ValueError, match="'age' is of different kinds .*: category and number"):
        text.diff(stump([AGE], 0, 38.5))
    with pytest.raises(TypeError, match="another tree"):
        old.diff("old")


def test_text():
    tree = patients()
    later = stump([AGE, SEX], 0, 30.5)
    rows = pl.DataFrame({"age": [33, 50], "sex": ["female", "male"], "smoker": [True, False]})
    assert str(later.diff(tree, rows)).splitlines() == [
        "2 of 2 rows (100.0%) are answered differently:",
        "  age > 30.5 and <= 38.5: no → yes (1 row)",
        "  age > 38.5 and sex is not female: no → yes (1 row)",
        "Only the old tree asks: age <= 38.5; sex = female",
        "Only the new tree asks: age <= 30.5",
    ]
    assert str(tree.diff(tree)) == "The two trees answer every row alike."
    assert str(later.diff(tree)).splitlines()[0] == "2 kinds of rows are answered differently:"


def test_drift_counts_rows_by_leaf():
    tree = patients()
    sex = ["male", "male", "male", "female"]
    rows = pl.DataFrame({"age": [30, 31, 32, 50], "sex": sex, "smoker": [True] * 4})
    found = tree.drift(rows)
    assert found["leaf"].to_list() == [rule.leaf for rule in tree.rules()]
    assert found["trained_rows"].to_list() == [5, 2, 3] and found["rows"].to_list() == [3, 0, 1]
    assert found["share"].sum() == found["trained_share"].sum() == 1
    least = 0.5 / 4
    assert found["psi"][1] == pytest.approx((least - 0.2) * math.log(least / 0.2))
    assert (found["psi"] >= 0).all()
    with pytest.raises(ValueError, match="no rows"):
        tree.drift(rows.head(0))
