"""The read-only tree: what it says of itself, and what it predicts."""

import pickle

import numpy as np
import polars as pl
import pytest
from trees import (
    AGE,
    SEX,
    SMOKER,
    columns_of,
    every_type,
    leaves_by_hand,
    patients,
    random_tree,
    splits_of,
    stump,
)

from certree import _core
from certree.conditions import float32_at_most, threshold_text
from certree.schema import Column
from certree.tree import Tree


def test_a_node_says_what_it_asks_and_holds():
    tree = patients()
    root, left, right, *_ = tree.nodes
    assert (root.column, root.test, root.left, root.right) == ("age", "age <= 38.5", 1, 2)
    assert (right.test, right.depth, right.rows, right.value) == ("sex = female", 1, 5, (2.0, 3.0))
    assert left.is_leaf and left.test is None and left.left is None and left.label == "no"
    assert (tree.n_leaves, tree.depth) == (3, 2)
    assert tree.columns == (AGE, SEX, SMOKER)
    assert stump([SMOKER], 0, True).nodes[0].test == "smoker is true"


def test_repr_is_one_line():
    assert repr(patients()) == "Tree(3 leaves, depth 2, columns used: age, sex)"
    leaf = Tree(_core.Tree([(None, 0, 1, [1.0], 0.0)]), [AGE], ["only"])
    assert repr(leaf) == "Tree(1 leaf, depth 0, columns used: none)"


def test_rules_read_from_left_to_right():
    assert [str(rule) for rule in patients().rules()] == [
        "if age <= 38.5 then no (5 rows)",
        "if age > 38.5 and sex is not female then no (2 rows)",
        "if age > 38.5 and sex = female then yes (3 rows)",
    ]


def test_rules_keep_the_tightest_threshold_only():
    leaf = (None, 0, 1, [1.0], 0.0)
    parts = [
        ((0, 60, 1, 6), 0, 4, [4.0], 0.0),
        ((0, 20, 2, 3), 0, 3, [3.0], 0.0),
        leaf,
        ((0, 40, 4, 5), 0, 2, [2.0], 0.0),
        leaf,
        leaf,
        leaf,
    ]
    rules = Tree(_core.Tree(parts), [AGE], ["x"]).rules()
    assert [rule.conditions for rule in rules] == [
        ("age <= 20",),
        ("age <= 40", "age > 20"),
        ("age <= 60", "age > 40"),
        ("age > 60",),
    ]


def test_predict_keeps_the_dtype_of_the_labels():
    frame = pl.DataFrame({"age": [30.0, 50.0], "sex": ["male", "female"], "smoker": [True, False]})
    columns = [Column("age", "number", "Float64"), SEX, SMOKER]
    core = patients()._core
    for labels in (
        ["no", "yes"],
        [3, 7],
        [0.5, 1.5],
        [False, True],
        np.array(["n", "y"], dtype=object),
    ):
        labels = np.array(labels)
        predicted = Tree(core, columns, labels).predict(frame)
        assert predicted.dtype == labels.dtype
        assert predicted.tolist() == labels.tolist()


def test_predict_proba_is_the_share_of_weight():
    frame = pl.DataFrame({"age": [1.0, 99.0]})
    leaf = (None, 1, 8, [1.5, 4.5], 0.1)
    parts = [((0, 5.0, 1, 2), 1, 9, [1.5, 4.5], 0.1), leaf, (None, 1, 1, [0.0, 0.0], 0.0)]
    tree = Tree(_core.Tree(parts), [Column("age", "number", "Float64")], [0, 1])
    assert tree.predict_proba(frame).tolist() == [[0.25, 0.75], [0.0, 1.0]]


def test_decision_path_marks_every_node_on_the_way():
    frame = pl.DataFrame({"age": [50.0, 30.0], "sex": ["female", "male"], "smoker": [True, True]})
    tree = Tree(patients()._core, [Column("age", "number", "Float64"), SEX, SMOKER], [0, 1])
    assert tree.decision_path(frame).toarray().tolist() == [[1, 0, 1, 0, 1], [1, 1, 0, 0, 0]]
    assert tree.decision_path(frame.clear()).shape == (0, 5)


def test_equal_trees_are_equal_and_others_are_not():
    assert patients() == patients() and hash(patients()) == hash(patients())
    assert patients() != patients(labels=("no", "maybe"))
    assert patients(labels=(0, 1)) != patients(labels=(0.0, 1.0))
    assert patients() != "a tree"


def test_pickle_keeps_everything():
    tree = random_tree(every_type(), depth=4, seed=3)
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree and again.labels.dtype == tree.labels.dtype


def test_labels_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        patients().labels[0] = "other"


@pytest.mark.parametrize("seed", range(5))
def test_apply_routes_as_python_compares(seed):
    frame = every_type(seed=seed)
    tree = random_tree(frame, depth=5, seed=seed)
    assert tree.apply(frame).tolist() == leaves_by_hand(tree, frame)


def test_every_test_of_every_column_routes_exactly():
    frame = every_type(60)
    columns = columns_of(frame)
    for index, column in enumerate(columns):
        for test in splits_of(frame, column):
            tree = stump(columns, index, test)
            assert tree.apply(frame).tolist() == leaves_by_hand(tree, frame), (column, test)


@pytest.mark.parametrize(
    ("dtype", "threshold", "text"),
    [
        ("Int64", 38.5, "38.5"),
        ("Int64", 3.0, "3"),
        ("Int64", 2**53 + 1, "9007199254740993"),
        ("Float64", 0.1 + 0.2, "0.30000000000000004"),
        ("Float64", 1e300, "1e+300"),
        ("Float32", 5.949999809265137, "5.95"),
        ("Date", 18691, "2021-03-05"),
        ("Date", 10**9, "1000000000 days since 1970-01-01"),
        ("Datetime(time_unit='us', time_zone=None)", 1614945600000000, "2021-03-05T12:00:00"),
        (
            "Datetime(time_unit='ms', time_zone='UTC')",
            1614945600250,
            "2021-03-05T12:00:00.25+00:00",
        ),
        (
            "Datetime(time_unit='ns', time_zone='Europe/Paris')",
            1614945600000000001,
            "2021-03-05T13:00:00.000000001+01:00",
        ),
        ("Datetime(time_unit='us', time_zone='Nowhere/Else')", 0, "1970-01-01T00:00:00+00:00"),
        ("Datetime(time_unit='us', time_zone=None)", -1, "1969-12-31T23:59:59.999999"),
        (
            "Datetime(time_unit='ms', time_zone=None)",
            2**62,
            f"{2**62} ms since 1970-01-01T00:00:00",
        ),
    ],
)
def test_thresholds_are_short_and_exact(dtype, threshold, text):
    kind = "date" if dtype.startswith("Date") else "number"
    assert threshold_text(Column("x", kind, dtype), threshold) == text


def test_printed_thresholds_route_every_value_the_same():
    frame = every_type(300)
    for name in ("float", "float32"):
        (column,) = columns_of(frame.select(name))
        values = frame[name].to_list()
        for test in splits_of(frame, column):
            printed = float(threshold_text(column, test))
            assert [v <= printed for v in values] == [v <= test for v in values]


def test_float32_at_most_is_the_largest_below():
    for threshold in (0.1, -0.1, 1e300, -1e300, 2.0**-160, 1.0, 16777217.0):
        low = float32_at_most(threshold)
        with np.errstate(over="ignore"):
            above = np.nextafter(low, np.float32(np.inf))
        assert float(low) <= threshold < float(above)
