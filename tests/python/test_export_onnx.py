"""`Tree.to_onnx`, run by onnxruntime on rows of every type, answers what `predict` does."""

import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from test_export_sklearn import routing, with_gaps
from trees import AGE, columns_of, every_type, gallery, patients, random_tree, splits_of, stump

from certree import OptimalCostTree, OptimalTreeClassifier, OptimalTreeRegressor, _core
from certree.schema import Column
from certree.tree import Tree

#: Rows with values that training had not are given on purpose: all must answer alike.
pytestmark = pytest.mark.filterwarnings("ignore:values that were not there")

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

FRAME = every_type(300, seed=3)
OTHERS = every_type(300, seed=4)


def given(series, kind, missing="?"):
    """What a user hands to an input of this type."""
    if kind == "tensor(string)":
        return np.array(series.cast(pl.String).fill_null(missing).to_list(), dtype=object)
    if kind == "tensor(int64)":
        return series.to_physical().cast(pl.Int64).fill_null(-(2**63)).to_numpy()
    assert kind == "tensor(double)"
    return series.cast(pl.Float64).fill_null(np.nan).to_numpy()


def run(tree, frame, missing="?"):
    session = onnxruntime.InferenceSession(tree.to_onnx(missing).SerializeToString())
    inputs = {
        each.name: given(frame[each.name], each.type, missing) for each in session.get_inputs()
    }
    assert set(inputs) == {node.column for node in tree.nodes if node.split}
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs)))


def agree(tree, frame):
    found = run(tree, frame)
    assert found["leaf"].tolist() == tree.apply(frame).tolist()
    assert found["label"].tolist() == tree.predict(frame).tolist()
    if tree.task == "classification":
        assert (found["proba"] == tree.predict_proba(frame)).all()


@pytest.mark.parametrize("name", FRAME.columns)
def test_each_test_of_each_type_sends_rows_as_predict_does(name):
    columns = columns_of(FRAME.select(name))
    for test in splits_of(FRAME, columns[0])[:6]:
        tree = stump(columns, 0, test)
        for frame in (FRAME.select(name), OTHERS.select(name)):
            agree(tree, frame)


@pytest.mark.parametrize("seed", [1, 2, 4, 5, 6, 7])
def test_random_trees_answer_what_predict_does(seed):
    tree = random_tree(FRAME, depth=7, seed=seed)
    for frame in (FRAME, OTHERS):
        agree(tree, frame)


@pytest.mark.parametrize("seed", [1, 2, 4, 5, 6, 7])
def test_missing_values_go_where_predict_sends_them(seed):
    # Whole numbers beyond 2^53 have no missing ones.
    whole = ["int64", "uint64"]
    frame, others = FRAME.drop(whole), with_gaps(OTHERS.drop(whole), seed)
    tree = routing(random_tree(frame, depth=7, seed=seed), seed)
    for rows in (with_gaps(frame, seed), others, frame):
        agree(tree, rows)


def test_what_cannot_be_said_to_be_missing_is_refused():
    columns = columns_of(FRAME.select("int64"))
    test = splits_of(FRAME, columns[0])[-1]
    gaps = stump([replace(columns[0], missing=True)], 0, test)
    with pytest.raises(ValueError, match="'int64' has missing values, and thresholds beyond 2.53"):
        gaps.to_onnx()
    sex = Column("sex", "category", "String", ("female", ""), missing=True)
    with pytest.raises(ValueError, match="missing='' is a value of column 'sex'"):
        stump([sex], 0, "female").to_onnx()
    frame = pl.DataFrame({"sex": ["female", "", None, "diverse"]})
    agree(stump([sex], 0, "female"), frame)


def test_infinite_and_32_bit_numbers():
    low, high = -np.finfo(np.float64).max, np.finfo(np.float64).max
    for threshold in (-np.inf, low, 0.1, float(np.float32(0.1)), high):
        near = [np.nextafter(threshold, side) for side in (-1.0, 1.0)]
        frame = pl.DataFrame({"x": [threshold, *near, -np.inf, np.inf, None]})
        agree(stump([Column("x", "number", "Float64", missing=True)], 0, threshold), frame)
        with np.errstate(over="ignore"):
            single = pl.DataFrame({"x": np.array([threshold, *near], dtype=np.float32)})
        agree(stump([Column("x", "number", "Float32")], 0, threshold), single)


def test_labels_of_every_type():
    ages = pl.DataFrame({"age": [30, 40]})
    for labels in ([3, 5], [True, False], [0.5, 0.25], ["so 'called'", "two\nlines"]):
        found = run(stump([AGE], 0, 38.5, labels), ages)["label"]
        assert found.tolist() == labels and type(found.tolist()[0]) is type(labels[0])
    for labels, match in (
        ([b"a", b"b"], "labels of type bytes"),
        (np.array([1, "b"], dtype=object), "labels of type int, str"),
        (np.array([1, 2**64 - 1], dtype=np.uint64), "beyond 64-bit"),
    ):
        with pytest.raises(ValueError, match=match):
            stump([AGE], 0, 38.5, labels).to_onnx()


def test_numbers_costs_and_several_targets():
    rng = np.random.default_rng(1)
    X = pl.DataFrame(rng.integers(0, 6, (80, 2)), schema=["a", "b"])
    y = rng.normal(size=(80, 2))
    agree(OptimalTreeRegressor(max_depth=3, leaf_penalty=0.0).fit(X, y[:, 0]).tree_, X)
    tree = OptimalTreeRegressor(max_depth=2, leaf_penalty=0.0).fit(X, y).tree_
    found = run(tree, X)
    assert np.column_stack([found["label_y0"], found["label_y1"]]).tolist() == (
        tree.predict(X).tolist()
    )
    agree(OptimalCostTree(max_depth=2, leaf_penalty=0.0).fit(X, rng.random((80, 3))).tree_, X)
    words = pl.DataFrame({"p": ["x", "y"] * 40, "q": [0, 1, 2, 3] * 20})
    tree = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.0).fit(X, words).tree_
    found = run(tree, X)
    labels = zip(found["label_p"].tolist(), found["label_q"].tolist())
    assert list(map(list, labels)) == tree.predict(X).tolist()
    for own, expected in zip((found["proba_p"], found["proba_q"]), tree.predict_proba(X)):
        assert (own == expected).all()


def test_names_that_need_care():
    tree = gallery()
    session = onnxruntime.InferenceSession(tree.to_onnx("?").SerializeToString())
    names = [each.name for each in session.get_inputs()]
    assert names == [column.name for column in tree.columns]
    for name in ("label", "leaf", "proba", "", "a\0b", "certree:1"):
        with pytest.raises(ValueError, match="cannot be an input of an ONNX model"):
            stump([Column(name, "number", "Float64")], 0, 1.0).to_onnx()
    with pytest.raises(ValueError, match="single leaf"):
        Tree(_core.Tree([(None, 1, 3, [1.0, 2.0], 0.3)]), [AGE], ["no", "yes"]).to_onnx()
    unseen = pl.DataFrame({"age": [50, 50], "sex": ["diverse", "female"]})
    agree(patients(), unseen.with_columns(smoker=True))


def test_without_onnx_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'certree\[onnx\]'"):
        patients().to_onnx()
