"""Trees and frames for the tests of `Tree` and its exports, and a router to judge them by."""

from __future__ import annotations

import os
import random
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import polars as pl

from certree import _core
from certree.schema import TIMED, Column, Sets
from certree.tree import Tree

BIG = 2**53
GOLDEN = Path(__file__).parent / "golden"
KINDS = {
    "Boolean": "boolean",
    "String": "category",
    "Categorical": "category",
    "Enum": "ordered",
    "Date": "date",
    "Datetime": "date",
    "Duration": "duration",
    "Time": "time",
}


AGE = Column("age", "number", "Int64")
SEX = Column("sex", "category", "String", ("female", "male"))
SMOKER = Column("smoker", "boolean", "Boolean")


def patients(labels=("no", "yes")) -> Tree:
    """age <= 38.5, and beyond it sex = female."""
    parts = [
        ((0, 38.5, 1, 2), 0, 10, [7.0, 3.0], 0.3),
        (None, 0, 5, [5.0, 0.0], 0.0),
        ((1, "female", 3, 4), 1, 5, [2.0, 3.0], 0.2),
        (None, 0, 2, [2.0, 0.0], 0.0),
        (None, 1, 3, [0.0, 3.0], 0.0),
    ]
    return Tree(_core.Tree(parts), [AGE, SEX, SMOKER], np.array(labels))


#: What a picture of it says.
WORDS = ("age", "sex", "no", "yes", "≤ 38.5", "> 38.5", "is not female", "= female", "10 rows")


def gallery() -> Tree:
    """A test on every kind of column, with names, values and labels that need care."""
    columns = [
        Column("income", "number", "Float64"),
        Column("body mass\nindex", "number", "Float32"),
        Column("id", "number", "Int64"),
        Column("smoker", "boolean", "Boolean"),
        Column('so-called "class"', "category", "String", ("first", 'the "best"', "C:\\", "")),
        Column("größe", "ordered", "Enum(categories=['klein', 'groß'])", ("klein", "groß")),
        Column("born", "date", "Date"),
        Column("seen", "date", "Datetime(time_unit='ms', time_zone='Europe/Paris')"),
    ]
    tests = [
        (0, 0.1 + 0.2),
        (1, 5.949999809265137),
        (2, 2**53 + 1),
        (3, True),
        (4, 'the "best"'),
        (4, ""),
        (4, "C:\\"),
        (4, Sets(('the "best"', "first"), ("", "C:\\"))),
        (5, 0),
        (6, 18691),
        (7, 1614945600250),
    ]
    # A chain: every test has a leaf on its left and the next test on its right.
    parts: list = []
    for k, (column, test) in enumerate(tests):
        index = 2 * k
        rest = len(tests) - k
        held = [float(rest), rest * 1000.0, 0.5, 0.0, 3.0]
        parts.append(((column, test, index + 1, index + 2), 1, rest * 1001 + 4, held, 0.25))
        parts.append((None, k % 5, 1001, [1.0, 1000.0, 0.0, 0.0, 0.0], 0.125))
    parts.append((None, 2, 4, [0.0, 0.0, 0.5, 0.0, 3.0], 0.0))
    labels = ["no", "maybe", 'the "third"', "back\\slash", "two\nlines"]
    return Tree(_core.Tree(parts), columns, np.array(labels))


def every_type(n: int = 200, seed: int = 0) -> pl.DataFrame:
    """A frame with a column of every type that a tree can be fitted on."""
    rng = random.Random(seed)

    def many(make):
        return [make() for _ in range(n)]

    colours = ["red", "green", "blue", 'so-called "teal"', "späť\n", "", " pad "]
    start = datetime(2021, 3, 5, 12, tzinfo=timezone.utc)
    moments = many(lambda: start + timedelta(microseconds=rng.randrange(-(10**13), 10**13)))
    naive = [moment.replace(tzinfo=None) for moment in moments]
    return pl.DataFrame(
        [
            pl.Series(
                "float", many(lambda: rng.choice([0.1, 0.2, 0.30000000000000004, -1e-300, 5e300]))
            ),
            pl.Series("float32", many(lambda: rng.gauss(0, 1)), dtype=pl.Float32),
            pl.Series("int8", many(lambda: rng.randrange(-128, 128)), dtype=pl.Int8),
            pl.Series("int16", many(lambda: rng.randrange(-300, 300)), dtype=pl.Int16),
            pl.Series("int32", many(lambda: rng.randrange(-9, 9)), dtype=pl.Int32),
            pl.Series("int64", many(lambda: BIG + rng.randrange(-4, 40)), dtype=pl.Int64),
            pl.Series("uint8", many(lambda: rng.randrange(256)), dtype=pl.UInt8),
            pl.Series("uint16", many(lambda: rng.randrange(9)), dtype=pl.UInt16),
            pl.Series("uint32", many(lambda: rng.randrange(9)), dtype=pl.UInt32),
            pl.Series("uint64", many(lambda: 2**62 + rng.randrange(9)), dtype=pl.UInt64),
            pl.Series("boolean", many(lambda: rng.random() < 0.5)),
            pl.Series("string", many(lambda: rng.choice(colours))),
            pl.Series("categorical", many(lambda: rng.choice(colours)), dtype=pl.Categorical),
            pl.Series("enum", many(lambda: rng.choice(colours)), dtype=pl.Enum(colours)),
            pl.Series("date", [moment.date() for moment in moments]),
            pl.Series("ms", naive, dtype=pl.Datetime("ms")),
            pl.Series("us", naive, dtype=pl.Datetime("us")),
            pl.Series("utc", naive, dtype=pl.Datetime("us")).dt.replace_time_zone("UTC"),
            pl.Series("ns", naive, dtype=pl.Datetime("ns"))
            .dt.replace_time_zone("UTC")
            .dt.convert_time_zone("America/New_York"),
            *(
                pl.Series(f"wait_{unit}", [moment - naive[0] for moment in naive]).cast(
                    pl.Duration(unit)
                )
                for unit in ("ms", "us", "ns")
            ),
            pl.Series("time", [moment.time() for moment in moments]),
        ]
    )


def columns_of(frame: pl.DataFrame) -> list[Column]:
    columns = []
    for name, dtype in frame.schema.items():
        text = str(dtype)
        base = str(dtype.base_type())
        kind = KINDS.get(base, "number")
        values = tuple(frame[name].cast(pl.String).unique().sort()) if kind == "category" else ()
        values = tuple(dtype.categories) if kind == "ordered" else values
        columns.append(Column(name, kind, text, values))
    return columns


def values_of(frame: pl.DataFrame, column: Column) -> list:
    """The column's values as Python compares them exactly; moments in their physical unit, and
    levels as their places."""
    series = frame[column.name]
    if column.kind in (*TIMED, "ordered"):
        series = series.to_physical()
    if column.kind == "category":
        series = series.cast(pl.String)
    return series.to_list()


def splits_of(frame: pl.DataFrame, column: Column) -> list:
    """Every test that splits the column, as a fit makes them."""
    if column.kind == "boolean":
        return [True]
    if column.kind == "category":
        values = column.values
        sets = [Sets(values[:end], values[end:]) for end in range(1, len(values))]
        # Others go where missing ones do.
        sets += [Sets(pair[:1], pair[1:]) for pair in zip(values, values[2:])]
        return [*values, *sets]
    if column.kind == "ordered":
        return list(range(len(column.values) - 1))
    values = sorted(set(values_of(frame, column)))
    if column.dtype.startswith("Float"):
        return [a + (b - a) / 2 for a, b in zip(values, values[1:])]
    if column.kind in TIMED or values[-1] > BIG:
        return [(a + b) // 2 for a, b in zip(values, values[1:])]
    return [(a + b) / 2 for a, b in zip(values, values[1:])]


def stump(columns, column: int, test, labels=("no", "yes")) -> Tree:
    leaf = (None, 1, 2, [0.0, 2.0], 0.0)
    parts = [((column, test, 1, 2), 0, 5, [3.0, 2.0], 0.4), (None, 0, 3, [3.0, 0.0], 0.0), leaf]
    return Tree(_core.Tree(parts), columns, np.array(labels))


def random_tree(frame: pl.DataFrame, depth: int, seed: int, labels=("a", "b", "c")) -> Tree:
    """A tree of random tests on random columns; each leaf has its own class weights."""
    rng = random.Random(seed)
    columns = columns_of(frame)
    parts: list = []

    def add(depth: int) -> int:
        index = len(parts)
        weights = [float(rng.randrange(50)) for _ in labels]
        label = weights.index(max(weights))
        parts.append((None, label, int(sum(weights)), weights, rng.random() / 7))
        if depth > 0 and rng.random() < 0.9:
            column = rng.randrange(len(columns))
            tests = splits_of(frame, columns[column])
            if tests:
                left = add(depth - 1)
                right = add(depth - 1)
                parts[index] = ((column, rng.choice(tests), left, right), *parts[index][1:])
        return index

    add(depth)
    return Tree(_core.Tree(parts), columns, np.array(labels))


def leaves_by_hand(tree: Tree, frame: pl.DataFrame) -> list[int]:
    """The leaf of each row, by Python's own exact comparisons."""
    values = [values_of(frame, column) for column in tree.columns]
    leaves = []
    for row in range(frame.height):
        node = tree.nodes[0]
        while node.split:
            test, value = node.split.test, values[node.split.column_index][row]
            if isinstance(test, (bool, str)):
                left = value != test
            elif isinstance(test, Sets):
                named = value in test.left or value in test.right
                left = value in test.left if named else tree.way_of_missing(node.split) == "left"
            else:
                left = value <= test
            node = tree.nodes[node.split.left if left else node.split.right]
        leaves.append(node.id)
    return leaves


def check_golden(name: str, text: str) -> None:
    """The text is what the file in tests/golden/ says; UPDATE_GOLDEN=1 writes the file instead."""
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8")
