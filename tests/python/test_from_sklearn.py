"""`Tree.from_sklearn` sends every row the way that scikit-learn's tree does."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
)
from trees import every_type, random_tree

from certree import Tree
from certree.export.from_sklearn import unrounded

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=300, deadline=None)
@given(st.one_of(FINITE, st.floats(width=32, allow_nan=False, allow_infinity=False)))
def test_the_values_up_to_a_threshold_are_those_that_round_below_it(threshold):
    turned = unrounded(threshold)
    with np.errstate(over="ignore"):
        seen = [float(np.float32(each)) for each in (turned, math.nextafter(turned, math.inf))]
    # None of the finite 32-bit floats may be at most the threshold.
    assert seen[0] <= threshold
    assert seen[1] > threshold or turned == -np.finfo(np.float64).max


def near_thresholds(model, rng, rows=600):
    """Random rows, and rows as near to the thresholds as 64-bit floats can be."""
    tested = model.tree_.threshold[model.tree_.children_left >= 0]
    middles = [unrounded(t) for t in tested]
    steps = [math.nextafter(m, side) for m in middles for side in (-math.inf, math.inf)]
    known = np.array([*tested, *middles, *steps, *rng.normal(size=20)])
    return rng.choice(known, (rows, model.n_features_in_))


def agree(model, tree, X):
    assert tree.predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("seed", range(6))
def test_random_classifiers_agree_on_all_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 4)).round(seed % 4)
    y = np.array(["no", "maybe", 'the "third"\n'])[rng.integers(0, 3, 200)]
    kinds = [DecisionTreeClassifier, ExtraTreeClassifier]
    limits = {"max_leaf_nodes": 20} if seed % 2 else {"max_depth": 7}
    model = kinds[seed // 2 % 2](random_state=seed, **limits)
    model.fit(X, y, sample_weight=rng.random(200) if seed > 2 else None)
    tree = Tree.from_sklearn(model)
    assert [column.name for column in tree.columns] == ["x0", "x1", "x2", "x3"]
    for given_rows in (X, near_thresholds(model, rng), near_thresholds(model, rng).astype("f4")):
        agree(model, tree, given_rows)
        assert tree.predict_proba(given_rows) == pytest.approx(model.predict_proba(given_rows))
    # Equal leaves by other numbers.
    pairs = set(zip(tree.apply(X).tolist(), model.apply(X).tolist()))
    assert len(pairs) == len(set(tree.apply(X).tolist()))
    for ours, theirs in pairs:
        assert tree.nodes[ours].rows == model.tree_.n_node_samples[theirs]
        weight = model.tree_.weighted_n_node_samples[theirs]
        assert sum(tree.nodes[ours].value) == pytest.approx(weight)
    assert Tree.from_json(tree.to_json()) == tree


@pytest.mark.parametrize("seed", range(8))
def test_missing_values_go_where_scikit_learn_sends_them(seed):
    rng = np.random.default_rng(seed)
    gaps = rng.random((300, 3)) < (0.0 if seed < 2 else 0.15)
    X = np.where(gaps, np.nan, rng.integers(0, 9, (300, 3)) / 4)
    y = rng.integers(0, 2, 300) ^ gaps[:, 0]
    model = [DecisionTreeClassifier, ExtraTreeClassifier][seed % 2](max_depth=6, random_state=0)
    tree = Tree.from_sklearn(model.fit(X, y))
    holes = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    for rows in (X, holes, np.full((1, 3), np.nan)):
        agree(model, tree, rows)
    again = Tree.from_json(tree.to_json())
    assert again == tree
    agree(model, again, holes)


def test_the_question_whether_a_value_is_missing_and_its_refusal():
    X = np.where(np.arange(40)[:, None] % 3 == 0, np.nan, np.arange(40.0)[:, None])
    model = DecisionTreeClassifier(random_state=0).fit(X, np.isnan(X[:, 0]))
    tree = Tree.from_sklearn(model, ["age"])
    assert model.tree_.threshold[0] == np.inf and tree.nodes[0].test == "age is missing"
    agree(model, tree, X)
    assert Tree.from_json(tree.to_json()) == tree
    whole = np.arange(40.0)[:, None]
    model = ExtraTreeClassifier(splitter="best", max_depth=2).fit(whole, whole[:, 0] > 20)
    with pytest.raises(ValueError, match="NaN"):
        model.predict(X)
    with pytest.raises(ValueError, match="missing values"):
        Tree.from_sklearn(model).predict(X)


def test_integers_round_as_scikit_learn_rounds_them():
    base = 2**24
    X = np.arange(base, base + 64)[:, None]
    model = DecisionTreeClassifier(random_state=0).fit(X, (X[:, 0] // 8) % 2)
    agree(model, Tree.from_sklearn(model), X)
    far = np.arange(2**53, 2**53 + 2**40, 2**33)[:, None]
    model = DecisionTreeClassifier(random_state=0).fit(far, (far[:, 0] >> 36) % 2)
    rows = np.random.default_rng(0).integers(2**53, 2**53 + 2**40, (500, 1))
    agree(model, Tree.from_sklearn(model), np.vstack([far, rows]))


def test_losses_are_shares_of_errors_and_of_squared_errors():
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    tree = Tree.from_sklearn(model)
    assert sum(leaf.loss for leaf in tree.leaves) == pytest.approx(1 - model.score(X, y))
    X, y = load_diabetes(return_X_y=True)
    model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y)
    tree = Tree.from_sklearn(model)
    assert tree.task == "regression" and tree.nodes[0].loss == 1
    assert sum(leaf.loss for leaf in tree.leaves) == pytest.approx(1 - model.score(X, y))


@pytest.mark.parametrize("criterion", ["squared_error", "poisson", "absolute_error"])
def test_trees_of_numbers_agree(criterion):
    X, y = load_diabetes(return_X_y=True)
    model = DecisionTreeRegressor(max_depth=4, criterion=criterion, random_state=0).fit(X, y)
    tree = Tree.from_sklearn(model)
    rows = near_thresholds(model, np.random.default_rng(1))
    agree(model, tree, rows)
    expected = {"poisson": "rates", "absolute_error": "quantiles"}.get(criterion, "regression")
    assert tree.task == expected
    assert str(tree) and tree.to_svg() and tree.to_sql() and tree.to_dot()


@pytest.mark.parametrize(
    "ensemble", [ExtraTreesRegressor, GradientBoostingRegressor, IsolationForest]
)
def test_members_of_ensembles_agree(ensemble):
    X, y = load_diabetes(return_X_y=True)
    member = np.ravel(ensemble(n_estimators=2, random_state=0).fit(X, y).estimators_)[0]
    agree(member, Tree.from_sklearn(member), near_thresholds(member, np.random.default_rng(1)))


def test_several_targets_agree():
    X, y = load_iris(return_X_y=True)
    words = np.column_stack([np.array(["a", "b", "c"])[y], np.array(["no", "yes"])[y % 2]])
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, words)
    agree(model, Tree.from_sklearn(model), X)
    model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, np.column_stack([y, -y]))
    agree(model, Tree.from_sklearn(model), X)


@pytest.mark.parametrize("seed", range(4))
def test_there_and_back(seed):
    frame = every_type(200, seed=seed)
    tree = random_tree(frame, depth=5, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        twin = tree.to_sklearn()
    again = Tree.from_sklearn(twin, tree.encoded_names)
    matrix = tree.encode(frame)
    assert again.predict(matrix).tolist() == tree.predict(frame).tolist()
    assert again.apply(matrix).tolist() == tree.apply(frame).tolist()
    assert [node.rows for node in again.nodes] == [node.rows for node in tree.nodes]


def test_names_come_from_the_caller_or_the_model():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    assert [c.name for c in Tree.from_sklearn(model).columns] == X.columns.tolist()
    names = ["a", 'b "c"\n', "", "d"]
    tree = Tree.from_sklearn(model, names)
    assert [c.name for c in tree.columns] == names
    for wrong in (["a"], "abcd", [1, 2, 3, 4]):
        with pytest.raises(ValueError, match="columns must be 4 names"):
            Tree.from_sklearn(model, wrong)
    with pytest.raises(ValueError):
        Tree.from_sklearn(model, ["a", "a", "b", "c"])


def test_what_is_no_tree_is_refused():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="RandomForestClassifier is no fitted decision tree"):
        Tree.from_sklearn(forest)
    assert Tree.from_sklearn(forest.estimators_[0]).n_leaves > 1
    with pytest.raises(ValueError, match="no fitted decision tree"):
        Tree.from_sklearn(DecisionTreeClassifier())
