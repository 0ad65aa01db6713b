"""`certree.scoring.Scorer` answers what `Tree.predict` does, from numpy arrays and lists alone."""

import datetime as dt
import subprocess
import sys
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from test_export_sklearn import routing, with_gaps
from trees import AGE, SEX, columns_of, every_type, patients, random_tree, splits_of, stump

from certree import OptimalCostTree, OptimalTreeClassifier, OptimalTreeRegressor
from certree.schema import Column
from certree.scoring import Scorer
from certree.tree import Tree

FRAME = every_type(200, seed=3)
OTHERS = every_type(200, seed=4)


def lists(frame):
    return frame.to_dict(as_series=False)


def arrays(frame):
    """As numpy holds them; times with a zone stay objects, because numpy has none."""
    found = {}
    for series in frame:
        zoned = getattr(series.dtype, "time_zone", None)
        own = series.cast(pl.String) if isinstance(series.dtype, pl.Enum) else series
        found[series.name] = (
            np.array(series.to_list(), dtype=object) if zoned else own.to_numpy()
        )
    return found


def frames(frame):
    return dict(frame.to_pandas())


def without_nanoseconds(frame):
    """Python's own times have none."""
    return frame.with_columns(pl.col(pl.Datetime("ns", "*")).dt.truncate("1us"))


def agree(tree, frame, ways=(lists, arrays, frames)):
    scorer = Scorer(tree.to_json())
    for way in ways:
        rows = way(without_nanoseconds(frame) if way is not frames else frame)
        assert scorer.apply(rows).tolist() == tree.apply(frame).tolist(), way.__name__
        predicted, expected = scorer.predict(rows), tree.predict(frame)
        assert predicted.dtype == expected.dtype and predicted.tolist() == expected.tolist()
        assert (scorer.predict_value(rows) == tree.predict_value(frame)).all()
        if tree.task == "classification":
            assert (scorer.predict_proba(rows) == tree.predict_proba(frame)).all()


@pytest.mark.parametrize("name", FRAME.columns)
def test_each_test_of_each_type_sends_rows_as_predict_does(name):
    columns = columns_of(FRAME.select(name))
    for test in splits_of(FRAME, columns[0])[:6]:
        tree = stump(columns, 0, test)
        for frame in (FRAME.select(name), OTHERS.select(name)):
            agree(tree, frame)


@pytest.mark.parametrize("seed", range(6))
def test_random_trees_answer_what_predict_does_where_values_are_missing(seed):
    # pandas and numpy make floats of whole numbers beside missing ones, which rounds those beyond
    # 2^53.
    whole = ["int64", "uint64"]
    tree = random_tree(FRAME, depth=7, seed=seed)
    agree(tree, OTHERS)
    frame, others = FRAME.drop(whole), with_gaps(OTHERS.drop(whole), seed)
    tree = routing(random_tree(frame, depth=7, seed=seed), seed)
    for rows in (with_gaps(frame, seed), others, frame):
        agree(tree, rows)


def test_columns_of_other_types_than_in_training():
    columns = columns_of(FRAME.select("int32"))
    tree = stump(columns, 0, 0.5)
    scorer = Scorer(tree.to_json())
    given = [
        [0, 1, None],
        [0.0, 1.0, float("nan")],
        [Decimal(0), Decimal(1), None],
        [False, True, None],
        np.ma.array([0, 1, 1], mask=[False, False, True]),
        pd.Series([0, 1, None], dtype="Int64"),
        pl.Series([0, 1, None]),
        np.array([0, 1, np.nan], dtype=np.float16),
    ]
    for values in given:
        assert scorer.predict({"int32": values}).tolist() == ["no", "yes", "no"], values
    moments = stump([Column("when", "date", "Date")], 0, 18691)
    day = dt.date(2021, 3, 5)
    for values in (
        [day, day + dt.timedelta(days=1), None],
        np.array(["2021-03-05", "2021-03-06", "NaT"], dtype="datetime64[D]"),
        np.array(["2021-03-05T00", "2021-03-05T01", "NaT"], dtype="datetime64[h]"),
        np.array(["2021-03-05T00", "2021-03-05T00:00:00.000000001", "NaT"], "datetime64[ns]"),
        [dt.datetime(2021, 3, 5), dt.datetime(2021, 3, 5, 0, 0, 1), pd.NaT],
    ):
        assert Scorer(moments.to_json()).predict({"when": values}).tolist() == ["no", "yes", "no"]


def test_whole_numbers_beyond_2_53_are_not_rounded():
    tree = stump([Column("id", "number", "Int64")], 0, 2**53)
    scorer = Scorer(tree.to_json())
    for values in ([2**53, 2**53 + 1], np.array([2**53, 2**53 + 1])):
        assert scorer.predict({"id": values}).tolist() == ["no", "yes"]
    wide = Scorer(stump([Column("id", "number", "UInt64")], 0, 2**62).to_json())
    assert wide.predict({"id": [2**62, 2**62 + 1, 2**64 - 1]}).tolist() == ["no", "yes", "yes"]


def test_numbers_costs_and_several_targets():
    rng = np.random.default_rng(1)
    X = pl.DataFrame(rng.integers(0, 6, (80, 2)), schema=["a", "b"])
    y = rng.normal(size=(80, 2))
    agree(OptimalTreeRegressor(max_depth=3, leaf_penalty=0.0).fit(X, y[:, 0]).tree_, X)
    agree(OptimalTreeRegressor(max_depth=2, leaf_penalty=0.0).fit(X, y).tree_, X)
    agree(OptimalCostTree(max_depth=2).fit(X, np.abs(y)).tree_, X)
    targets = np.column_stack([y[:, 0] > 0, y[:, 1] > 1]).astype(int)
    tree = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.0).fit(X, targets).tree_
    agree(tree, X)
    shares = Scorer(tree.to_json()).predict_proba(lists(X))
    for own, expected in zip(shares, tree.predict_proba(X)):
        assert (own == expected).all()


def test_a_file_a_structured_array_and_a_tree_of_one_leaf(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(patients().to_json())
    scorer = Scorer.load(path)
    assert scorer.columns == ("age", "sex") and scorer.labels.tolist() == ["no", "yes"]
    rows = np.array([(30, "male"), (50, "female")], dtype=[("age", int), ("sex", "U6")])
    assert scorer.predict(rows).tolist() == ["no", "yes"]
    path.write_text("{}")
    with pytest.raises(ValueError, match="not a certree tree"):
        Scorer.load(path)
    leaf = OptimalTreeClassifier(max_depth=0).fit([[1], [2], [3]], [0, 1, 1]).tree_
    assert Scorer(leaf.to_json()).predict({"x": [1, 2]}).tolist() == [1, 1]
    with pytest.raises(ValueError, match="how many rows"):
        Scorer(leaf.to_json()).predict({})


def test_what_does_not_fit_is_refused_by_name():
    scorer = Scorer(patients().to_json())
    with pytest.raises(ValueError, match="X lacks 1 of the 2 columns .*: 'sex'"):
        scorer.predict({"age": [3]})
    with pytest.raises(ValueError, match="equally many values, but 'age' has 1, 'sex' has 2"):
        scorer.predict({"age": [3], "sex": ["male", "female"]})
    with pytest.raises(ValueError, match="'age' was Int64 .* must hold numbers, but .* 'old'"):
        scorer.predict({"age": ["old"], "sex": ["male"]})
    with pytest.raises(ValueError, match="'sex' was String .* must hold strings, but .* 3"):
        scorer.predict({"age": [3], "sex": [3]})
    with pytest.raises(ValueError, match="'sex' must hold a value for each row"):
        scorer.predict({"age": [3], "sex": "male"})
    with pytest.raises(TypeError, match="rows are a DataFrame, but must be a mapping"):
        scorer.predict(pd.DataFrame({"age": [3]}))
    zoned = stump([Column("t", "date", "Datetime(time_unit='us', time_zone='UTC')")], 0, 0)
    with pytest.raises(ValueError, match="must hold datetimes that have a tzinfo"):
        Scorer(zoned.to_json()).predict({"t": [dt.datetime(2020, 1, 1)]})
    with pytest.raises(ValueError, match="must hold datetimes that have a tzinfo"):
        Scorer(zoned.to_json()).predict({"t": np.array(["2020"], dtype="datetime64[s]")})
    naive = stump([Column("t", "date", "Date")], 0, 0)
    with pytest.raises(ValueError, match="must hold dates without a time zone"):
        Scorer(naive.to_json()).predict({"t": [dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc)]})
    flag = stump([Column("f", "boolean", "Boolean")], 0, True)
    with pytest.raises(ValueError, match="has 1 values here that are neither 0 nor 1"):
        Scorer(flag.to_json()).predict({"f": [0, 1, 2]})


def test_unseen_and_missing_values_are_reported_as_by_the_tree():
    base = stump([SEX, AGE], 0, "female")
    rows = {"sex": ["female", "diverse", None]}
    frame = pl.DataFrame({**rows, "age": [1, 2, 3]})
    for missing_unseen in ("larger", "refuse"):
        for unseen in ("warn", "refuse"):
            own = {"missing_unseen": missing_unseen, "unseen": unseen}
            tree = Tree(base._core, base.columns, base.labels, **own)
            told = []
            for predict, given in ((tree.predict, frame), (Scorer(tree.to_json()).predict, rows)):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    try:
                        told.append([str(predict(given).tolist())])
                    except ValueError as error:
                        told.append([str(error)])
                told[-1] += [str(each.message) for each in caught]
            assert told[0] == told[1]


def test_scoring_loads_numpy_alone():
    code = "import certree.scoring, sys; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    loaded = {name.partition(".")[0] for name in found.stdout.split()}
    assert not loaded & {"polars", "sklearn", "scipy", "pandas", "pyarrow"}
