"""Sets of values and declared orders. That no tree is better is tested with missing values
(``test_missing.py``), whose tables have both; here is what is special to them."""

import itertools
import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from brute import cases
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

from certree import (
    MostColumns,
    OptimalCostTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    ThresholdBinarizer,
    ThresholdGuesser,
    Tree,
    report,
)
from certree.schema import Column, Sets

GRADES = ["I", "II", "III", "IV"]


def drawn(seed=0, n=120, k=6):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "site": rng.choice(list("abcdefghij")[:k], n),
            "grade": rng.choice(GRADES, n),
            "x": rng.normal(size=n).round(1),
        }
    )
    right = frame["site"].is_in(["a", "c", "e"]) ^ frame["grade"].is_in(["III", "IV"])
    return frame, np.where(rng.random(n) < 0.1, 1 - right.to_numpy(), right.to_numpy()).astype(int)


def refused(message, call, *arguments, **named):
    with pytest.raises(ValueError, match=message):
        call(*arguments, **named)


# ---- orders


def test_an_order_is_the_same_however_it_is_declared():
    frame, y = drawn()
    declared = OptimalTreeClassifier(max_depth=2, orders={"grade": GRADES}).fit(frame, y)
    assert "grade <= II" in {node.test for node in declared.tree_.nodes}
    assert declared.certificate_.cuts["grade"] == 3
    enum = frame.with_columns(pl.col("grade").cast(pl.Enum(GRADES)))
    plain = OptimalTreeClassifier(max_depth=2)
    own = clone(plain).fit(enum, y)
    ordered = frame.to_pandas()
    ordered["grade"] = pd.Categorical(ordered["grade"], GRADES, ordered=True)
    of_pandas = clone(plain).fit(ordered, y)
    lazy = frame.lazy().with_columns(y=pl.lit(pl.Series(y)))
    streamed = OptimalTreeClassifier(max_depth=2, orders={"grade": GRADES}).fit(lazy, "y")
    arrays = OptimalTreeClassifier(max_depth=2, orders={"x1": GRADES})
    arrays.fit(frame.select("site", "grade").to_numpy(), y)
    assert own.tree_ == declared.tree_ == of_pandas.tree_ == streamed.tree_
    assert "x1 <= II" in {node.test for node in arrays.tree_.nodes}
    for rows in (frame, enum, ordered, frame.with_columns(pl.col("grade").cast(pl.Categorical))):
        assert (declared.predict(rows) == own.predict(enum)).all()
    again = pickle.loads(pickle.dumps(declared))
    assert again.certify(frame, y).tree_ == declared.tree_


def test_levels_that_nobody_has_are_divided_between_their_neighbours():
    levels = list("abcdefgh")
    frame = pl.DataFrame({"g": pl.Series(["b", "b", "g", "g"], dtype=pl.Enum(levels))})
    tree = OptimalTreeClassifier(max_depth=1).fit(frame, [0, 0, 1, 1]).tree_
    assert [node.test for node in tree.nodes] == ["g <= d", None, None]
    every = pl.DataFrame({"g": pl.Series(levels, dtype=pl.Enum(levels))})
    assert tree.predict(every).tolist() == [0] * 4 + [1] * 4
    assert tree.nodes[0].split.test == 3


def test_orders_that_do_not_fit_are_told():
    frame, y = drawn()

    def fit(orders, X=frame):
        OptimalTreeClassifier(max_depth=1, orders=orders).fit(X, y)

    lacking = r"orders\['grade'\] lacks values of the column: 'IV' in \d+ rows"
    refused(lacking, fit, {"grade": GRADES[:3]})
    lazy = frame.lazy()
    with pytest.raises(ValueError, match="lacks values of the column: 'IV'"):
        OptimalTreeClassifier(orders={"grade": GRADES[:3]}).fit(
            lazy.with_columns(y=pl.lit(pl.Series(y))), "y"
        )
    refused("orders names 'gread', which X does not have", fit, {"gread": GRADES})
    refused("orders names column 'x', but it is Float64", fit, {"x": GRADES})
    refused("orders={'grade': 'I'} is not valid", fit, {"grade": "I"})
    refused("is not valid: it must be a dict", fit, {"grade": ["I", "I"]})
    tree = OptimalTreeClassifier(max_depth=2, orders={"grade": GRADES}).fit(frame, y).tree_
    other = frame.with_columns(pl.col("grade").cast(pl.Enum(GRADES[::-1])))
    refused("column 'grade' is an Enum of other levels", tree.predict, other)
    refused("'grade' was Enum.* is Int32 here", tree.predict, frame.with_columns(grade=pl.lit(1)))


def test_cuts_of_an_order_are_chosen_by_level():
    frame, y = drawn()
    given = {"grade": ["II", "I"]}
    model = OptimalTreeClassifier(max_depth=2, orders={"grade": GRADES}, thresholds=given)
    assert model.fit(frame, y).certificate_.cuts["grade"] == 2
    refused("'V', which is no level of it", clone(model).set_params(
        thresholds={"grade": ["V"]}).fit, frame, y)
    enum = frame.select(pl.col("grade").cast(pl.Enum(GRADES)), "x")
    binarizer = ThresholdBinarizer({"grade": ["II", None], "x": []}).fit(enum)
    assert binarizer.thresholds_["grade"] == ["II"]
    assert binarizer.get_feature_names_out().tolist() == ["grade <= II"]
    assert binarizer.transform(enum)[:, 0].tolist() == [g in ("I", "II") for g in frame["grade"]]
    asked = OptimalTreeClassifier(max_depth=2, thresholds=binarizer).fit(enum, y)
    assert asked.certificate_.cuts == {"grade": 1, "x": 0}
    guesser = ThresholdGuesser().fit(enum, y)
    assert set(guesser.thresholds_["grade"]) <= set(GRADES)
    guessed = OptimalTreeClassifier(max_depth=2, thresholds="guess", reference="guess").fit(enum, y)
    assert guessed.certify().status_ == "optimal"


# ---- sets


def parted(values, n_missing):
    """Every way to part these values, and missing ones if there are any, as sets that go right."""
    codes = [*values, *[None] * n_missing]
    return [
        set(right)
        for size in range(1, len(codes))
        for right in itertools.combinations(codes[1:], size)
    ]


@pytest.mark.parametrize("seed", cases(30))
def test_no_tree_of_depth_one_is_better(seed):
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(2, 7)), int(rng.integers(6, 40))
    gone = rng.random(n) < rng.choice([0.0, 0.2])
    values = [None if g else v for g, v in zip(gone, rng.choice(list("abcdef")[:k], n))]
    frame, y = pl.DataFrame({"c": pl.Series(values, dtype=pl.String)}), rng.normal(size=n)
    known = sorted({v for v in values if v is not None})
    always = {"categories": {"c": "subsets"}, "max_depth": 1, "leaf_penalty": 0.0}
    least = int(rng.integers(1, 4))
    model = OptimalTreeRegressor(min_samples_leaf=least, **always).fit(frame, y)

    def loss(rows):
        return ((y[rows] - y[rows].mean()) ** 2).sum()

    best = loss(np.ones(n, dtype=bool))
    for right in parted(known, int(gone.any())):
        rows = np.array([value in right for value in values])
        if min(rows.sum(), (~rows).sum()) >= least:
            best = min(best, loss(rows) + loss(~rows))
    assert model.objective_ * loss(np.ones(n, dtype=bool)) == pytest.approx(best, abs=1e-9)


def test_sets_are_named_in_every_export(tmp_path):
    frame, y = drawn()
    model = OptimalTreeClassifier(max_depth=2).fit(frame, y)
    tree = model.tree_
    split = tree.nodes[0].split
    assert split.test == Sets(("a", "c", "e"), ("b", "d", "f"))
    assert tree.nodes[0].test == "site in {b, d, f}"
    assert [str(rule).partition(" and ")[0] for rule in tree.rules()] == [
        "if site in {a, c, e}"
    ] * 2 + ["if site in {b, d, f}"] * 2
    for text in (str(tree), tree.to_dot(), tree.to_svg()):
        assert "in {a, c, e}" in text and "in {b, d, f}" in text
    assert "in {a, c, e}" in report(model, path=tmp_path / "r.html").read_text(encoding="utf-8")
    assert json.loads(tree.to_json())["nodes"][0]["split"]["in"] == [list("ace"), list("bdf")]
    assert """"site" IN ('b', 'd', 'f')""" in tree.to_sql()
    assert "in ('b', 'd', 'f',)" in tree.to_python()
    assert tree.encoded_names[0] == "site in {b, d, f}"
    assert "any set of values of 2 columns" in str(model.certificate_)
    assert model.certificate_.sets == ["site", "grade"]


def test_long_sets_are_cut_short_in_pictures_alone():
    values = tuple(f"v{at}" for at in range(12))
    tree = Tree(
        OptimalTreeClassifier(max_depth=0).fit([[0], [1]], [0, 1]).tree_._core,
        [Column("c", "category", "String", values)],
        ["no", "yes"],
    )
    from certree import conditions

    test = Sets(values[:7], (*values[7:10], "a, b"))
    assert conditions.words(tree.columns[0], test).right == 'in {v7, v8, v9, "a, b"}'
    assert conditions.brief(tree.columns[0], test).left == "in {v0, v1, v2, v3, … 3 more}"


def test_values_that_no_split_names_go_where_missing_ones_do():
    frame, y = drawn()
    strange = pl.DataFrame({"site": ["zz", None, "a"], "grade": ["I", "I", "I"], "x": [0.0] * 3})
    model = OptimalTreeClassifier(max_depth=2).fit(frame, y)
    with pytest.warns(UserWarning, match="column 'site' has 'zz' in 1 row"):
        leaves = model.apply(strange)
    assert leaves[0] == leaves[1]
    strict = OptimalTreeClassifier(max_depth=2, unseen="refuse").fit(frame, y).tree_
    refused("not there in training: column 'site' has 'zz' in 1 row", strict.predict, strange)
    refused("not there in training", strict.encode, strange)
    labels = strange.select(strict.to_polars())["label"].to_list()
    assert labels[0] is None and labels[1] is not None
    names = {}
    exec(strict.to_python(), names)
    assert [names["predict"](row) for row in strange.to_dicts()] == labels
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("known", strange.to_arrow())
    found = connection.execute(f"SELECT {strict.to_sql()} FROM known").fetchall()
    assert [row[0] for row in found] == labels
    again = Tree.from_json(strict.to_json())
    assert again == strict and again.unseen == "refuse"
    old = json.loads(model.tree_.to_json())
    assert Tree.from_json(json.dumps({**old, "unseen": "refuse"})) == strict
    refused("unseen must be one of warn, refuse", Tree.from_json, json.dumps({**old, "unseen": 1}))


def test_documents_that_part_values_wrongly_are_refused():
    frame, y = drawn()
    text = OptimalTreeClassifier(max_depth=1).fit(frame, y).tree_.to_json()
    for wrong, message in (
        ([["a"]], "must hold two arrays"),
        ([["a"], []], "must have a value on each side"),
        ([["a"], ["a", "b"]], "holds a value twice"),
        ([["a"], ["zz"]], "'zz', which is no value of the column"),
        ([["a"], [1]], "must be a string"),
        ("ab", "must be an array"),
    ):
        document = json.loads(text)
        document["nodes"][0]["split"]["in"] = wrong
        refused(message, Tree.from_json, json.dumps(document))


def test_documents_of_version_two_are_read():
    frame, y = drawn()
    tree = OptimalTreeClassifier(max_depth=2, categories="values").fit(frame, y).tree_
    document = json.loads(tree.to_json())
    assert document.pop("unseen") == "warn"
    assert Tree.from_json(json.dumps({**document, "version": 2})) == tree


# ---- how much is asked


def test_what_is_too_much_is_asked_for_single_values_with_a_note():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": rng.integers(0, 15, 400), "b": rng.integers(0, 5, 400)})
    frame, y = frame.cast(pl.String), rng.integers(0, 2, 400)
    model = OptimalTreeClassifier(max_depth=3).fit(frame, y)
    assert model.certificate_.cuts == {"a": 15, "b": 15} and model.certificate_.sets == ["b"]
    assert any("'a' is asked for single values" in note for note in model.certificate_.notes)
    values = clone(model).set_params(categories="values").fit(frame, y)
    assert values.certificate_.cuts == {"a": 15, "b": 5} and not values.certificate_.notes
    one = clone(model).set_params(categories={"b": "values"}, max_depth=1).fit(frame, y)
    assert one.certificate_.sets == ["a"]
    always = clone(model).set_params(categories={"a": "subsets"}, max_depth=2).fit(frame, y)
    # They leave no room for others.
    assert always.certificate_.cuts == {"a": 2**14 - 1, "b": 5}
    fit = clone(model).set_params
    refused("categories names 'c'", fit(categories={"c": "values"}).fit, frame, y)
    refused("categories='sets' is not valid", fit(categories="sets").fit, frame, y)
    number = pl.DataFrame({"a": [1, 2]})
    refused("'a', but it is Int64", fit(categories={"a": "values"}).fit, number, [0, 1])
    wide = pl.DataFrame({"a": [str(at) for at in range(40)]})
    refused(
        "every set of 40 values.* max_categories=20", fit(categories={"a": "subsets"}).fit, wide,
        np.arange(40) % 2,
    )


@pytest.mark.parametrize("categories", ["subsets", "values"])
@pytest.mark.parametrize("missing", ["route", "own_branch"])
def test_rare_values_count_as_one(categories, missing):
    rng = np.random.default_rng(3)
    n = 300
    values = rng.choice(list("abcdefgh"), n, p=[0.3, 0.25, 0.2, 0.1, 0.05, 0.04, 0.03, 0.03])
    gone = pl.Series(rng.random(n) < 0.1)
    nothing = pl.Series([None] * n, dtype=pl.String)
    frame = pl.DataFrame({"c": pl.Series(values).zip_with(~gone, nothing)})
    y = (np.isin(values, ["e", "f", "g", "h"]) ^ (rng.random(n) < 0.1)).astype(int)
    model = OptimalTreeClassifier(
        max_depth=2, max_categories=4, categories=categories, missing=missing
    ).fit(frame, y)
    rare = [value for value in "abcdefgh" if value not in "abc"]
    assert any("the 5 rarest of the 8 values of 'c' count as one: 'd', 'e'" in note
               for note in model.certificate_.notes)
    tests = [node.split.test for node in model.tree_.nodes if node.split]
    sides = [set(side) for test in tests if isinstance(test, Sets) for side in test]
    assert any(side >= set(rare) for side in sides)
    assert all(side >= set(rare) or not side & set(rare) for side in sides)
    # One value of them in place of all is the very same problem.
    lumped = frame.with_columns(pl.col("c").replace({value: "d" for value in rare}))
    same = OptimalTreeClassifier(max_depth=2, categories=categories, missing=missing).fit(lumped, y)
    assert same.objective_ == model.objective_
    lazy = frame.lazy().with_columns(y=pl.lit(pl.Series(y)))
    assert clone(model).fit(lazy, "y").tree_ == model.tree_
    assert Tree.from_json(model.tree_.to_json()) == model.tree_
    assert pickle.loads(pickle.dumps(model)).certify(frame, y).tree_ == model.tree_


def test_a_stopped_search_over_groups_goes_on():
    rng = np.random.default_rng(4)
    frame = pl.DataFrame({name: rng.choice(list("abcdefghijk"), 400) for name in "pqrst"})
    y = rng.integers(0, 2, 400)
    model = OptimalTreeClassifier(max_depth=3, max_categories=6, time_limit=0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame, y)
        model = pickle.loads(pickle.dumps(model))
    best = clone(model).set_params(time_limit=None).fit(frame, y)
    assert model.set_params(time_limit=None).certify(frame, y).objective_ == best.objective_


def test_sets_of_a_column_are_paid_once_and_are_one_column_of_a_path():
    frame, y = drawn(n=200)
    costs = {"site": 0.02, "grade": 0.02, "x": 0.5}
    paying = OptimalTreeClassifier(max_depth=3, feature_costs=costs).fit(frame, y)
    assert "site" in {node.column for node in paying.tree_.nodes}
    one = OptimalTreeClassifier(max_depth=3, path_rules=[MostColumns(1)]).fit(frame, y)
    for leaf in one.tree_.leaves:
        path = [one.tree_.nodes[at].column for at in one.tree_.path(leaf.id)[:-1]]
        assert len(set(path)) <= 1
    policy = OptimalCostTree(max_depth=2).fit(frame, np.column_stack([y, 1 - y]))
    assert policy.status_ == "optimal"


@pytest.mark.parametrize("seed", cases(10))
def test_sets_are_never_worse_than_single_values(seed):
    frame, y = drawn(seed, k=5)
    for given in ({}, {"objective": "f1"}, {"objective": "log_loss"}, {"max_leaf_nodes": 3}):
        sets = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.0, **given).fit(frame, y)
        single = clone(sets).set_params(categories="values").fit(frame, y)
        assert sets.objective_ <= single.objective_ + 1e-12


# ---- scikit-learn


def test_column_transformers_and_pipelines_hand_frames_on():
    frame, y = drawn()
    data = frame.to_pandas()
    text = make_column_selector(dtype_include=[object, "string", "category"])
    columns = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include=np.number)),
        ("passthrough", ["site", "grade"]),
        verbose_feature_names_out=False,
    )
    for output in ("polars", "pandas"):
        model = make_pipeline(
            clone(columns).set_output(transform=output),
            OptimalTreeClassifier(max_depth=2, orders={"grade": GRADES}),
        ).fit(data, y)
        tree = model[-1].tree_
        assert {node.column for node in tree.nodes} == {"site", "grade", None}
        assert model.score(data, y) > 0.8
    assert set(text(data)) == {"site", "grade"}
    numbers = ColumnTransformer(
        [("text", OrdinalEncoder(), ["site", "grade"])], remainder="passthrough"
    ).set_output(transform="polars")
    assert make_pipeline(numbers, OptimalTreeClassifier(max_depth=2)).fit(data, y).score(data, y)


def test_the_page_names_the_limits_that_hold():
    from certree.ingest import categories

    page = (Path(__file__).parents[2] / "docs" / "categories.md").read_text(encoding="utf-8")
    for most in (*categories.MOST_QUESTIONS.values(), categories.MOST_QUESTIONS_DEEPER):
        assert f"{most:,}" in page
