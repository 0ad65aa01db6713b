"""`Tree.to_sql` and `Tree.to_python`, run on rows of every type, answer what `predict` does."""

import sqlite3
import subprocess
import sys
from datetime import datetime, timedelta, timezone

import numpy as np
import polars as pl
import postgres
import pytest
from trees import AGE, columns_of, every_type, gallery, patients, random_tree, splits_of, stump

from certree import _core
from certree.export.to_sql import DIALECTS, Writer, _quotient, rule_sql
from certree.schema import Column
from certree.tree import Tree

#: Rows with values that training had not are given on purpose: all must answer alike.
pytestmark = pytest.mark.filterwarnings("ignore:values that were not there")

FRAME = every_type(400, seed=3)


def in_duckdb(frame, select):
    duckdb = pytest.importorskip("duckdb")
    # Enumerations and categories are strings there.
    known = frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String)).to_arrow()
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'Asia/Tokyo'")
    connection.register("known", known)
    return connection.execute(f"SELECT {select} FROM known").fetchall()


def for_sqlite(value):
    if hasattr(value, "utcoffset") and value.tzinfo is not None:
        value = value.astimezone(timezone.utc).replace(tzinfo=None)
    if hasattr(value, "isoformat"):
        return value.isoformat(*([" "] if isinstance(value, datetime) else []))
    return None if value != value else value


def in_sqlite(frame, select):
    connection = sqlite3.connect(":memory:")
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in frame.columns)
    connection.execute(f"CREATE TABLE known ({names})")
    marks = ", ".join("?" * frame.width)
    rows = [tuple(map(for_sqlite, row)) for row in frame.rows()]
    connection.executemany(f"INSERT INTO known VALUES ({marks})", rows)
    return connection.execute(f"SELECT {select} FROM known ORDER BY rowid").fetchall()


RUNS = {"duckdb": in_duckdb, "postgres": postgres.run, "sqlite": in_sqlite}


#: SQLite has none.
DURATIONS = ["wait_ms", "wait_us", "wait_ns"]


def frame_for(dialect):
    return FRAME.drop(DURATIONS) if dialect == "sqlite" else FRAME


@pytest.mark.parametrize("dialect", RUNS)
@pytest.mark.parametrize("name", FRAME.columns)
def test_each_test_of_each_type_sends_rows_as_predict_does(dialect, name):
    if name not in frame_for(dialect).columns:
        with pytest.raises(ValueError, match=f"'{name}' is a Duration.*for which {dialect} has no"):
            stump(columns_of(FRAME.select(name)), 0, 10**6).to_sql(dialect=dialect)
        return
    frame = FRAME.select(name)
    columns = columns_of(frame)
    for test in splits_of(frame, columns[0])[:12]:
        tree = stump(columns, 0, test)
        found = [row[0] for row in RUNS[dialect](frame, tree.to_sql(dialect=dialect))]
        assert found == tree.predict(frame).tolist()


@pytest.mark.parametrize("dialect", RUNS)
@pytest.mark.parametrize("seed", range(6))
def test_random_trees_answer_what_predict_does(dialect, seed):
    frame = frame_for(dialect)
    tree = random_tree(frame, depth=6, seed=seed)
    run = RUNS[dialect]
    labels = [row[0] for row in run(frame, tree.to_sql("label", dialect))]
    assert labels == tree.predict(frame).tolist()
    leaves = [row[0] for row in run(frame, tree.to_sql("leaf", dialect))]
    assert leaves == tree.apply(frame).tolist()
    shares = np.array(run(frame, tree.to_sql("proba", dialect)))
    assert (shares == tree.predict_proba(frame)).all()


@pytest.mark.parametrize("seed", range(6))
def test_the_function_answers_what_predict_does(seed):
    # Python's moments have no nanoseconds, of which the frame has none either.
    tree = random_tree(FRAME, depth=6, seed=seed)
    outputs = {
        "label": tree.predict(FRAME),
        "leaf": tree.apply(FRAME),
        "proba": tree.predict_proba(FRAME),
    }
    for output, expected in outputs.items():
        names = {}
        code = tree.to_python(output, name="score")
        assert "import" not in code
        exec(code, names)
        found = [names["score"](row) for row in FRAME.to_dicts()]
        assert found == [tuple(row) if output == "proba" else row for row in expected.tolist()]


@pytest.mark.parametrize("dialect", RUNS)
def test_missing_values_go_the_larger_way_and_unseen_ones_are_others(dialect):
    tree = patients()
    frame = pl.DataFrame(
        {"age": [None, 20, 50, 50, 50], "sex": ["male", None, None, "diverse", "female"]},
        schema={"age": pl.Int64, "sex": pl.String},
    )
    found = [row[0] for row in RUNS[dialect](frame, tree.to_sql(dialect=dialect))]
    assert found == ["no", "no", "yes", "no", "yes"]
    strict = tree._with(missing_unseen="refuse")
    found = [row[0] for row in RUNS[dialect](frame, strict.to_sql(dialect=dialect))]
    assert found == [None, None, None, "no", "yes"]
    floats = pl.DataFrame({"x": [float("nan"), None, 1.0, 3.0]})
    split = stump([Column("x", "number", "Float64")], 0, 2.0)
    strict = split._with(missing_unseen="refuse")
    for each, wanted in ((split, "no"), (strict, None)):
        found = [row[0] for row in RUNS[dialect](floats, each.to_sql(dialect=dialect))]
        assert found == [wanted, wanted, "no", "yes"]
        names = {}
        exec(each.to_python(), names)
        assert [names["predict"](row) for row in floats.to_dicts()] == found


@pytest.mark.parametrize("dialect", RUNS)
def test_a_rule_holds_for_the_rows_of_its_leaf(dialect):
    frame = frame_for(dialect)
    tree = random_tree(frame, depth=4, seed=5)
    leaves = tree.apply(frame)
    for leaf in tree.leaves:
        rows = RUNS[dialect](frame, f"({rule_sql(tree, leaf.id, dialect)})")
        assert [bool(row[0]) for row in rows] == (leaves == leaf.id).tolist()


def test_numbers_and_labels_of_other_types():
    value = [0.1 + 0.2]
    parts = [
        ((0, 38.5, 1, 2), 0, 5, value, 0.4),
        (None, 0, 3, [5e-324], 0.0),
        (None, 0, 2, [-1e300], 0.0),
    ]
    tree = Tree(_core.Tree(parts), [AGE], ["y"], "regression")
    ages = pl.DataFrame({"age": [30, 40]})
    for dialect, run in RUNS.items():
        assert [row[0] for row in run(ages, tree.to_sql(dialect=dialect))] == [5e-324, -1e300]
    for labels in ([3, 5], [True, False], [0.5, 0.25]):
        split = stump([AGE], 0, 38.5, labels=np.array(labels))
        assert [row[0] for row in in_sqlite(ages, split.to_sql(dialect="sqlite"))] == labels
    for value in (0.1 + 0.2, 5e-324, 1.7976931348623157e308, -123456.78901234567, 2.0**70, 0.0):
        assert sqlite3.connect(":memory:").execute(f"SELECT {_quotient(value)}").fetchone() == (
            value,
        )


def test_several_targets_and_numbers_are_several_columns():
    value = [3.0, 1.0, 2.0]
    parts = [
        ((0, 38.5, 1, 2), 0, 5, value, 0.4),
        (None, 1, 3, value, 0.0),
        (None, 0, 2, value, 0.0),
    ]
    ages = pl.DataFrame({"age": [30, 40]})
    numbers = Tree(_core.Tree(parts), [AGE], ["y", "z", "w"], "regression")
    assert in_sqlite(ages, numbers.to_sql(dialect="sqlite")) == [(3.0, 1.0, 2.0)] * 2
    targets = Tree(_core.Tree(parts), [AGE], ["one", "two"], "targets", [["a"], ["b", "c"]])
    assert in_sqlite(ages, targets.to_sql(dialect="sqlite")) == [("a", "c")] * 2
    found = in_sqlite(ages, targets.to_sql("proba", "sqlite"))
    assert found == [(1.0, 1 / 3, 2 / 3)] * 2
    names = {}
    exec(targets.to_python("proba"), names)
    assert names["predict"]({"age": 3}) == [(1.0,), (1 / 3, 2 / 3)]


NASTY = [
    '"',
    "'",
    "`",
    "\\",
    "\\'",
    "'; DROP TABLE known; --",
    "a\nb",
    "größe",
    "$1",
    "%s",
    "{x}",
    "漢",
]


@pytest.mark.parametrize("text", NASTY)
def test_no_text_breaks_out(text):
    columns = [Column(text, "category", "String", (text, "other"))]
    tree = stump(columns, 0, text, labels=np.array([text, "label"], dtype=object))
    frame = pl.DataFrame({text: [text, "other", text + "x"]})
    expected = tree.predict(frame).tolist()
    for dialect, run in RUNS.items():
        assert [row[0] for row in run(frame, tree.to_sql(dialect=dialect))] == expected
    names = {}
    exec(tree.to_python(), names)
    assert [names["predict"](row) for row in frame.to_dicts()] == expected
    for dialect in DIALECTS:
        assert tree.to_sql(dialect=dialect).endswith(("AS \"label\"", "AS `label`"))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_all_dialects_write_every_kind_of_test(dialect):
    written = gallery().to_sql("leaf", dialect)
    assert written.count("CASE") == written.count("END") == 11
    assert "2021-03-05" in written


def test_errors_say_what_is_wrong():
    tree = patients()
    for call in (tree.to_sql, tree.to_python):
        with pytest.raises(ValueError, match="output='labels' must be one of label, leaf, proba"):
            call("labels")
    with pytest.raises(ValueError, match="dialect='oracle' must be one of duckdb"):
        tree.to_sql(dialect="oracle")
    with pytest.raises(ValueError, match="cannot be the name of a function"):
        tree.to_python(name="a b")
    with pytest.raises(ValueError, match="cannot be the name of a function"):
        tree.to_python(name="if")
    with pytest.raises(ValueError, match="several types"):
        stump([AGE], 0, 38.5, labels=np.array([1, "a"], dtype=object)).to_sql()
    with pytest.raises(ValueError, match="cannot"):
        stump([Column("a\0b", "number", "Int64")], 0, 38.5).to_sql()
    writer = Writer.of("sqlite")
    with pytest.raises(ValueError, match="sqlite has no integer as large"):
        writer.integer(2**63)
    assert Writer.of("duckdb").integer(2**63) == str(2**63)


def test_the_function_answers_infinite_numbers_and_rounds_finer_moments_up():
    parts = [((0, 38.5, 1, 2), 0, 5, [0.5], 0.4), (None, 0, 3, [np.inf], 0.0)]
    tree = Tree(_core.Tree([*parts, (None, 0, 2, [-np.inf], 0.0)]), [AGE], ["y"], "regression")
    names = {}
    exec(tree.to_python(), names)
    assert [names["predict"]({"age": age}) for age in (3, 40)] == [np.inf, -np.inf]
    tree = stump([Column("t", "date", "Datetime(time_unit='ms', time_zone=None)")], 0, 1)
    moments = [datetime(1970, 1, 1) + timedelta(microseconds=us) for us in (999, 1000, 1001)]
    exec(tree.to_python(), names)
    found = [names["predict"]({"t": moment}) for moment in moments]
    assert found == tree.predict(pl.DataFrame({"t": moments})).tolist() == ["no", "no", "yes"]


def test_the_function_runs_in_a_python_without_anything(tmp_path):
    path = tmp_path / "score.py"
    path.write_text(patients().to_python() + "print(predict({'age': 50, 'sex': 'female'}))\n")
    command = [sys.executable, "-I", "-S", str(path)]
    assert subprocess.run(command, capture_output=True, text=True).stdout == "yes\n"
