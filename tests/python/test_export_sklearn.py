"""`Tree.to_sklearn` answers on the rows of `Tree.encode` what the tree does, by ids and shares."""

import math
import pickle
import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text
from trees import AGE, columns_of, every_type, gallery, patients, random_tree, splits_of, stump

from certree import (
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    _core,
)
from certree.export.encode import MOST
from certree.schema import Column
from certree.tree import Tree

#: Rows with values that training had not are given on purpose: all must answer alike.
pytestmark = pytest.mark.filterwarnings("ignore:values that were not there")

FRAME = every_type(300, seed=3)
OTHERS = every_type(300, seed=4)


def twin_of(tree, **arguments):
    """The tree of scikit-learn's, which may be warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return tree.to_sklearn(**arguments)


def agree(tree, twin, frame):
    matrix = tree.encode(frame)
    assert matrix.dtype == np.float32 and not np.isinf(matrix).any()
    assert twin.apply(matrix).tolist() == tree.apply(frame).tolist()
    assert twin.predict(matrix).tolist() == tree.predict(frame).tolist()


def with_gaps(frame, seed):
    """The frame with a tenth of all values missing."""
    rng = np.random.default_rng(seed)
    gaps = [pl.Series(rng.random(frame.height) < 0.1) for _ in frame.columns]
    return frame.with_columns(
        pl.when(gap).then(None).otherwise(pl.col(name)).alias(name)
        for name, gap in zip(frame.columns, gaps)
    )


def routing(tree, seed):
    """The tree with a way for missing values at each split of half of the columns, some of which
    ask whether they are missing."""
    rng = np.random.default_rng(seed)
    missing = rng.random(len(tree.columns)) < 0.5
    columns = [replace(c, missing=bool(m)) for c, m in zip(tree.columns, missing)]
    parts = []
    for split, *rest in tree._core.parts():
        if split is not None and missing[split[0]]:
            column, test, left, right, _ = split
            asks = rng.random() < 0.2
            side = "right" if asks else str(rng.choice(["left", "right"]))
            split = (column, None if asks else test, left, right, side)
        parts.append((split, *rest))
    return tree._with(core=_core.Tree(parts), columns=columns)


@pytest.mark.parametrize("name", FRAME.columns)
def test_each_test_of_each_type_sends_rows_as_predict_does(name):
    columns = columns_of(FRAME.select(name))
    for test in splits_of(FRAME, columns[0])[:12]:
        tree = stump(columns, 0, test)
        for frame in (FRAME.select(name), OTHERS.select(name)):
            agree(tree, twin_of(tree), frame)


@pytest.mark.parametrize("seed", range(8))
def test_random_trees_answer_what_predict_does(seed):
    tree = random_tree(FRAME, depth=7, seed=seed)
    # Its labels are those of the largest shares.
    twin = twin_of(tree)
    for frame in (FRAME, OTHERS):
        agree(tree, twin, frame)
        found = twin.predict_proba(tree.encode(frame))
        assert (found == tree.predict_proba(frame)).all()
    agree(tree, pickle.loads(pickle.dumps(twin)), FRAME)
    nodes = twin.tree_
    assert nodes.node_count == len(tree.nodes) and nodes.max_depth == tree.depth
    assert nodes.n_node_samples.tolist() == [node.rows for node in tree.nodes]
    assert nodes.weighted_n_node_samples.tolist() == [sum(node.value) for node in tree.nodes]


def one_column_tree(thresholds, dtype="Float64"):
    """A chain of all thresholds, in which every leaf is an interval between two of them."""
    column = Column("x", "number", dtype)
    parts = []
    for at, threshold in enumerate(sorted(thresholds)):
        parts.append(((0, threshold, 2 * at + 1, 2 * at + 2), 0, 2, [1.0, 1.0], 0.5))
        parts.append((None, at % 2, 1, [1.0 - at % 2, float(at % 2)], 0.0))
    parts.append((None, 0, 1, [1.0, 0.0], 0.0))
    return Tree(_core.Tree(parts), [column], ["no", "yes"])


# The sum by which infinite values are looked for may overflow.
@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce")
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(allow_nan=False, max_value=1e308), min_size=1, max_size=8, unique=True),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20),
)
def test_rounding_moves_no_row_of_floats(thresholds, values):
    thresholds = sorted({t + 0.0 for t in thresholds})
    values = [*values, math.inf, -math.inf]
    near = [math.nextafter(t, side) for t in thresholds for side in (-math.inf, math.inf)]
    values = [*values, *thresholds, *near]
    tree = one_column_tree(thresholds)
    agree(tree, twin_of(tree), pl.DataFrame({"x": values}))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8, unique=True),
    st.sampled_from([pl.Int64, pl.UInt64, pl.Int8, pl.UInt8]),
)
def test_rounding_moves_no_row_of_integers(thresholds, dtype):
    ends = np.iinfo(str(dtype).lower())
    near = [t + step for t in thresholds for step in (-1, 0, 1)]
    values = [v for v in [*near, int(ends.min), int(ends.max)] if ends.min <= v <= ends.max]
    tree = one_column_tree(thresholds, str(dtype))
    agree(tree, twin_of(tree), pl.DataFrame({"x": pl.Series(values, dtype=dtype)}))


def test_thresholds_are_the_nearest_floats_and_colliding_ones_warn():
    tree = one_column_tree([0.1, 54.35])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        twin = tree.to_sklearn()
    found = [t for t in twin.tree_.threshold if t != -2]
    assert found == [float(np.float32(0.1)), float(np.float32(54.35))]
    # The nearest of 0.1 is above it, where a column of 32-bit floats has a value.
    single = one_column_tree([0.1], "Float32")
    values = np.float32(0.1) + np.float32(1e-8) * np.arange(-3, 4, dtype=np.float32)
    assert twin_of(single).tree_.threshold[0] < 0.1 < float(np.float32(0.1))
    agree(single, twin_of(single), pl.DataFrame({"x": values}))
    close = one_column_tree([2**53 + 1, 2**53 + 5], "Int64")
    with pytest.warns(UserWarning, match="has none for 1 thresholds of column 'x'"):
        close.to_sklearn()
    with pytest.warns(UserWarning, match="such as 1e\\+300"):
        beyond = one_column_tree([1e300])
        beyond.to_sklearn()
    assert beyond.encode(pl.DataFrame({"x": [1e301, 0.0]})).tolist() == [[MOST], [0.0]]


@pytest.mark.parametrize("objective", ["accuracy", "gini"])
def test_the_statistics_of_classes_are_those_of_a_refitted_tree(objective):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 8, (200, 3)).astype(float)
    y = (X[:, 0] + X[:, 1] > 7).astype(int) + (X[:, 2] > 5)
    weights = rng.integers(1, 5, 200).astype(float)
    model = OptimalTreeClassifier(objective, max_depth=2, leaf_penalty=0.0)
    tree = model.fit(X, y, sample_weight=weights).tree_
    twin = tree.to_sklearn()
    path = twin.decision_path(tree.encode(X)).toarray().astype(bool)
    for node in range(twin.tree_.node_count):
        here = path[:, node]
        shares = np.bincount(y[here], weights[here], 3) / weights[here].sum()
        assert twin.tree_.n_node_samples[node] == here.sum()
        assert twin.tree_.weighted_n_node_samples[node] == pytest.approx(weights[here].sum())
        assert twin.tree_.value[node, 0] == pytest.approx(shares)
        assert twin.tree_.impurity[node] == pytest.approx(1 - (shares**2).sum())
    # Importances, and whatever else reads impurities, work.
    assert twin.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.parametrize("targets", [1, 2])
def test_the_statistics_of_means_are_those_of_a_refitted_tree(targets):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 2)).round(3)
    y = np.column_stack([np.rint(X[:, 0]) * (k + 1) + rng.normal(size=120) for k in range(targets)])
    y = y[:, 0] if targets == 1 else y
    tree = OptimalTreeRegressor(max_depth=2, leaf_penalty=0.0).fit(X, y).tree_
    twin = tree.to_sklearn()
    agree(tree, twin, X)
    path = twin.decision_path(tree.encode(X)).toarray().astype(bool)
    for node in range(twin.tree_.node_count):
        here = y[path[:, node]]
        assert twin.tree_.n_node_samples[node] == len(here)
        assert twin.tree_.impurity[node] == pytest.approx(np.var(here, axis=0).mean(), rel=1e-6)
    # What a tree does not know is not made up.
    weights = rng.integers(1, 5, 120).astype(float)
    for given, sample_weight in ((X, weights), (np.rint(X), None)):
        other = OptimalTreeRegressor(max_depth=2, leaf_penalty=0.0)
        tree = other.fit(given, y, sample_weight=sample_weight).tree_
        twin = tree.to_sklearn()
        agree(tree, twin, given)
        assert np.isnan(twin.tree_.impurity).all()


def test_single_leaves_and_several_targets():
    leaf = Tree(_core.Tree([(None, 1, 3, [1.0, 2.0], 0.3)]), [AGE], ["no", "yes"])
    agree(leaf, leaf.to_sklearn(), pl.DataFrame({"age": [1, 2]}))
    assert leaf.encoded_names == ["nothing"]
    split = ((0, 38.5, 1, 2), 0, 2, [2.0], 0.0)
    parts = [split, (None, 0, 1, [1.0], 0.0), (None, 0, 1, [1.0], 0.0)]
    alike = Tree(_core.Tree(parts), [AGE], ["the only one"])
    agree(alike, alike.to_sklearn(), pl.DataFrame({"age": [1, 50]}))
    X = np.arange(12.0)[:, None]
    y = np.column_stack([np.repeat(["a", "b"], 6), np.repeat(["long", "x", "a"], 4)])
    tree = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.0).fit(X, y).tree_
    twin = tree.to_sklearn()
    agree(tree, twin, X)
    for found, expected in zip(twin.predict_proba(tree.encode(X)), tree.predict_proba(X)):
        assert (found == expected).all()
    frame = pl.DataFrame({"p": [0, 1] * 6, "q": ["a", "b", "c"] * 4})
    mixed = OptimalTreeClassifier(max_depth=1, leaf_penalty=0.0).fit(X, frame).tree_
    with pytest.raises(ValueError, match="labels of several types"):
        mixed.to_sklearn()


def test_trees_without_shares_keep_their_labels():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 5, (80, 2)).astype(float)
    costly = OptimalCostTree(max_depth=2, leaf_penalty=0.0).fit(X, rng.random((80, 3))).tree_
    with pytest.raises(ValueError, match="hold costs.*output='label'"):
        costly.to_sklearn()
    agree(costly, costly.to_sklearn("label"), X)
    better = OptimalPolicyTree(max_depth=2).fit(X, rewards=rng.random((80, 3))).tree_
    agree(better, better.to_sklearn("label"), X)
    y = (rng.random(80) < 0.3).astype(int)
    weights = {0: 1, 1: 5}
    heavy = OptimalTreeClassifier(max_depth=1, leaf_penalty=0.0, class_weight=weights)
    tree = heavy.fit(X, y).tree_
    with pytest.raises(ValueError, match="largest share"):
        tree.to_sklearn()
    agree(tree, tree.to_sklearn("label"), X)
    with pytest.raises(ValueError, match="output='leaf' must be one of"):
        tree.to_sklearn("leaf")


def test_names_and_labels_that_need_care_are_drawn():
    tree = gallery()
    twin = twin_of(tree, output="label")
    assert isinstance(twin, DecisionTreeClassifier)
    names = tree.encoded_names
    assert names == [
        "income",
        '"body mass\\nindex"',
        "id",
        "smoker",
        'so-called "class" = ""',
        'so-called "class" = C:\\',
        'so-called "class" in {"", C:\\}',
        'so-called "class" = the "best"',
        "größe (0 to 1)",
        "born (days since 1970-01-01)",
        "seen (ms since 1970-01-01)",
    ]
    text = export_text(twin, feature_names=names, max_depth=20)
    assert "class: back\\slash" in text and "class: two\nlines" in text
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from sklearn.tree import plot_tree

    drawn = plot_tree(twin, feature_names=names, class_names=[str(c) for c in twin.classes_])
    pyplot.close("all")
    assert len(drawn) >= len(tree.nodes)


def test_a_category_that_was_not_there_in_training_is_another_one():
    tree = patients()
    frame = pl.DataFrame({"age": [50, 50], "sex": ["diverse", "female"], "smoker": [True, False]})
    agree(tree, tree.to_sklearn(), frame)


@pytest.mark.parametrize("seed", range(8))
def test_missing_values_go_where_predict_sends_them(seed):
    tree = routing(random_tree(FRAME, depth=7, seed=seed), seed)
    twin = twin_of(tree)
    for frame in (with_gaps(FRAME, seed), with_gaps(OTHERS, seed + 1), FRAME):
        agree(tree, twin, frame)
        if frame is not FRAME:
            assert np.isnan(tree.encode(frame)).any() == (tree.n_leaves > 1)
    refusing = tree._with(missing_unseen="refuse")
    agree(refusing, twin_of(refusing), FRAME)
    if not all(node.split.column.missing for node in tree.nodes if node.split):
        with pytest.raises(ValueError, match="missing values"):
            refusing.encode(with_gaps(FRAME, seed))


def test_fitted_trees_route_missing_and_infinite_values():
    frame = pl.DataFrame(
        {
            "age": [20.0, float("nan"), None, 40.0, -np.inf, np.inf, 50.0, 60.0],
            "sex": ["f", None, "m", "m", "f", "d", "f", "m"],
            "ill": ["no", "no", "maybe", "yes", "yes", "no", "maybe", "yes"],
        }
    )
    tree = OptimalTreeClassifier(max_depth=3, leaf_penalty=0.0).fit(frame, "ill").tree_
    assert any("missing" in str(rule) for rule in tree.rules())
    agree(tree, twin_of(tree), frame)
    asks = stump([Column("age", "number", "Float64", missing=True)], 0, None)
    assert asks.encoded_names == ["age is missing"]
    agree(asks, asks.to_sklearn(), frame)


def test_trees_of_other_numbers_are_regressors():
    value = [0.1 + 0.2]
    parts = [((0, 38.5, 1, 2), 0, 5, value, 0.4), (None, 0, 3, [5.0], 0.0), (None, 0, 2, [1.0], 0)]
    for task in ("rates", "quantiles", "survival", "numbers"):
        tree = Tree(_core.Tree(parts), [AGE], ["y"], task)
        twin = tree.to_sklearn()
        assert isinstance(twin, DecisionTreeRegressor)
        agree(tree, twin, pl.DataFrame({"age": [30, 40]}))
        assert np.isnan(twin.tree_.impurity).all()
