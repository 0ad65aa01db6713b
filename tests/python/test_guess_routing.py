"""Guessed cuts tell apart every two training rows that a tree of the reference sends to different
leaves."""

import datetime as dt

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st
from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor
from sklearn import ensemble, tree
from sklearn.frozen import FrozenEstimator

from certree import ThresholdGuesser

pytestmark = pytest.mark.usefixtures("one_thread")

ONE = np.float32(1)
#: Numbers that 32-bit floats do not tell apart, or only just, and their neighbours.
CLOSE = [1.0, np.nextafter(1, 2), 1 + 2**-25, 1 + 2**-24, 1 + 3 * 2**-25, float(
    np.nextafter(ONE, 2)
), 0.1, 0.3,
         float(np.float32(0.1)), -0.0, 0.0, -1e-40, 1e300, -1e300, 2.5, 3.0,
         # The middle one is halfway, and rounds up.
         4 + 2**-21, 4 + 3 * 2**-22, 4 + 2**-20]  # fmt: skip
WIDE = [2**53, 2**53 + 1, 2**24, 2**24 + 1, 2**24 + 2, -5, 0, 1, 2, 2**62]


def leaves_of_boosting(model, X):
    return model.apply(X).reshape(len(X), -1)


def leaves_of_histograms(model, X):
    X = np.asarray(X, dtype=np.float64)
    rounds = [one for each in model._predictors for one in each]
    missing, known = np.zeros((0, 8), dtype=np.uint32), np.zeros(0, dtype=np.uint32)
    return np.stack([one.predict(X, missing, known, 1) for one in rounds], axis=1)


def leaves_of_members(model, X):
    if not hasattr(model, "estimators_features_"):
        return np.stack([member.apply(X) for member in model.estimators_], axis=1)
    pairs = zip(model.estimators_, model.estimators_features_)
    return np.stack([member.apply(X[:, own]) for member, own in pairs], axis=1)


def leaves_of_lightgbm(model, X):
    return np.asarray(model.predict(X, pred_leaf=True)).reshape(len(X), -1)


QUIET = {
    "verbose": -1, "min_child_samples": 1, "n_estimators": 4, "min_data_in_bin": 1, "n_jobs": 1
}
MODELS = [
    (tree.DecisionTreeClassifier(max_depth=4, random_state=0), leaves_of_boosting),
    (tree.ExtraTreeRegressor(random_state=0), leaves_of_boosting),
    (ensemble.RandomForestClassifier(5, random_state=0), leaves_of_boosting),
    (ensemble.ExtraTreesRegressor(5, random_state=0), leaves_of_boosting),
    (ensemble.GradientBoostingClassifier(n_estimators=4, random_state=0), leaves_of_boosting),
    (ensemble.GradientBoostingRegressor(n_estimators=4, random_state=0), leaves_of_boosting),
    (ensemble.AdaBoostClassifier(n_estimators=4, random_state=0), leaves_of_members),
    (
        ensemble.BaggingClassifier(n_estimators=4, max_features=0.7, random_state=0),
        leaves_of_members,
    ),
    (ensemble.HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=1), leaves_of_histograms),
    (ensemble.HistGradientBoostingRegressor(max_iter=4, min_samples_leaf=1), leaves_of_histograms),
    (lightgbm.LGBMClassifier(**QUIET), leaves_of_lightgbm),
    (lightgbm.LGBMRegressor(**QUIET), leaves_of_lightgbm),
    (xgboost.XGBClassifier(n_estimators=4, min_child_weight=0, n_jobs=1), leaves_of_boosting),
    (xgboost.XGBRegressor(n_estimators=4, booster="dart", n_jobs=1), leaves_of_boosting),
    (xgboost.XGBRegressor(n_estimators=4, tree_method="exact", n_jobs=1), leaves_of_boosting),
]  # fmt: skip
NAMES = [f"{type(model).__name__}-{at}" for at, (model, _) in enumerate(MODELS)]


@st.composite
def tables(draw):
    """Columns of close floats, wide integers, 32-bit floats and 0 and 1; three classes."""
    n = draw(st.integers(12, 40))

    def column(values, dtype):
        return np.array(
            draw(st.lists(st.sampled_from(values), min_size=n, max_size=n)), dtype=dtype
        )

    floats = [value for value in CLOSE if abs(value) < 1e30]
    X = [
        column(floats, np.float64),
        column([-3, 0, 1, 2, 3, 7, 8], np.int64),
        column(floats, np.float32),
    ]
    X += [column([0, 1], bool)]
    return X, column([0, 1, 2], np.int64)


def is_regressor(model):
    return model._estimator_type == "regressor" if hasattr(model, "_estimator_type") else (
        model.__sklearn_tags__().estimator_type == "regressor"
    )  # fmt: skip


def groups(rows):
    """The group of each row among equal ones."""
    return np.unique(np.ascontiguousarray(rows), axis=0, return_inverse=True)[1].ravel()


def tells_apart(answers, leaves):
    """Whether rows with equal answers have equal leaves."""
    by_answers = groups(answers)
    return len(np.unique(by_answers)) == len(
        np.unique(np.stack([by_answers, groups(leaves)]), axis=1).T
    )


@pytest.mark.parametrize(("model", "leaves_of"), MODELS, ids=NAMES)
@settings(max_examples=12, deadline=None)
@given(tables())
def test_rows_with_equal_answers_share_every_leaf(model, leaves_of, table):
    columns, y = table
    y[:3] = [0, 1, 2]
    # One matrix for the library, and columns of their own types for certree.
    matrix = np.column_stack(columns)
    frame = pl.DataFrame({f"x{i}": column for i, column in enumerate(columns)})
    # Some rows are new to the model: their values may be its very thresholds.
    known = 2 * len(y) // 3
    model = model.__class__(**model.get_params()).fit(matrix[:known], y[:known])
    leaves = leaves_of(model, matrix)
    if len(np.unique(leaves, axis=0)) == 1:
        with pytest.raises(ValueError, match="tests nothing that separates these rows"):
            ThresholdGuesser(model, tolerance=None).fit(frame)
        return
    guesser = ThresholdGuesser(model, tolerance=None).fit(frame)
    assert tells_apart(guesser.transform(frame), leaves)
    assert guesser.n_kept_ == guesser.n_found_ == guesser.transform(frame).shape[1]
    # An array of one type has the same cuts as the columns that it was made of.
    on_array = ThresholdGuesser(model, tolerance=None).fit(matrix)
    assert tells_apart(on_array.transform(matrix), leaves)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(WIDE), st.sampled_from(CLOSE)), min_size=6, max_size=30))
def test_wide_integers_and_wide_floats(rows):
    X = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.Float64}, orient="row")
    y = np.arange(len(rows)) % 2
    # Ranks tell apart what no float does.
    guesser = ThresholdGuesser(tree.DecisionTreeClassifier(random_state=0), tolerance=None)
    if X.n_unique() == 1:
        with pytest.raises(ValueError, match="all rows are the same in every column"):
            guesser.fit(X, y)
        return
    guesser.fit(X, y)
    answers = guesser.transform(X)
    best = X.with_columns(y=y).group_by("a", "b").agg(pl.col("y").sum(), pl.len())
    right = best.select(pl.max_horizontal("y", pl.col("len") - pl.col("y")).sum()).item()
    assert guesser.score_ == right / len(y)
    assert (guesser.reference_.predict(answers) == y).mean() == guesser.score_


def test_a_test_of_every_class_and_output_counts():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 30, (300, 3)).astype(float)
    y = np.digitize(X[:, 2], [10, 20])
    model = ensemble.GradientBoostingClassifier(n_estimators=1, max_depth=1).fit(X, y)
    guesser = ThresholdGuesser(model, tolerance=None).fit(X)
    assert guesser.thresholds_ == {"x0": [], "x1": [], "x2": [9, 19]}
    outputs = np.column_stack([X[:, 0] > 11, X[:, 1] > 5]).astype(float)
    forest = ensemble.RandomForestRegressor(3, max_depth=2, random_state=0).fit(X, outputs)
    thresholds = ThresholdGuesser(forest, tolerance=None).fit(X).thresholds_
    assert 11 in thresholds["x0"] and 5 in thresholds["x1"]
    again = ThresholdGuesser(forest).fit(X, outputs)
    assert again.n_kept_ == 2 and again.score_ == 1.0 >= again.reference_score_


@pytest.mark.parametrize("classify", [True, False])
def test_every_step_of_an_additive_model(classify):
    """With the jump rule at zero, rows with equal answers have equal predictions."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "a": rng.integers(0, 5, 300),
            "b": rng.integers(0, 40, 300) / 7,
            "c": rng.choice(["u", "v", "w"], 300),
            "d": rng.integers(0, 2, 300).astype(bool),
        }
    )
    y = 5 * ((frame.a > 2) ^ (frame.c == "u"))
    kind = ExplainableBoostingClassifier if classify else ExplainableBoostingRegressor
    model = kind(outer_bags=2, interactions=0, n_jobs=1, max_rounds=50).fit(frame, y.astype(int))
    guesser = ThresholdGuesser(model, jump=0).fit(frame)
    predicted = model.predict_proba(frame)[:, 1] if classify else model.predict(frame)
    assert tells_apart(guesser.transform(frame), predicted.round(9)[:, None])
    assert guesser.thresholds_["c"] == ["u", "v", "w"]
    # Higher jumps only.
    fewer = ThresholdGuesser(model).fit(frame)
    assert set(fewer.get_feature_names_out()) < set(guesser.get_feature_names_out())
    assert "a <= 2" in fewer.get_feature_names_out() and "c = u" in fewer.get_feature_names_out()
    # A step between the values 1 and 3 is at 2, where 2 is right of it.
    model = kind(outer_bags=2, n_jobs=1, max_rounds=50).fit(
        np.array([[1.0], [3.0]] * 50), np.array([0, 5] * 50)
    )
    assert model.bins_[0][0].tolist() == [2.0]
    assert ThresholdGuesser(model).fit([[1], [2], [3]]).thresholds_ == {"x0": [1]}
    # Fitted here, to ranks.
    unfitted = ThresholdGuesser(
        kind(outer_bags=2, n_jobs=1, max_rounds=50)
    ).fit(frame, y.astype(int))
    assert {"a <= 2", "c = u"} <= set(unfitted.get_feature_names_out())
    assert unfitted.reference_.predict(unfitted.transform(frame)).shape == (300,)


def test_boosters_and_frozen_models_are_read_as_they_are():
    rng = np.random.default_rng(2)
    X = rng.random((200, 2))
    y = (X[:, 0] > 0.5).astype(int)
    light = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1).fit(X, y)
    extreme = xgboost.XGBClassifier(n_estimators=3, n_jobs=1).fit(X, y)
    boosted = ensemble.GradientBoostingClassifier(n_estimators=3).fit(X, y)
    pairs = [
        (light, light.booster_),
        (extreme, extreme.get_booster()),
        (boosted, FrozenEstimator(boosted)),
    ]
    for model, other in pairs:
        wanted = ThresholdGuesser(model, tolerance=None).fit(X).thresholds_
        assert ThresholdGuesser(other, tolerance=None).fit(X).thresholds_ == wanted
    # Early stopping: only the rounds that predict.
    stopped = xgboost.XGBClassifier(n_estimators=30, n_jobs=1, early_stopping_rounds=1)
    stopped.fit(X, y, eval_set=[(X[:20], 1 - y[:20])], verbose=False)
    assert stopped.best_iteration == 0
    first = ThresholdGuesser(stopped, tolerance=None).fit(X)
    assert tells_apart(
        first.transform(X), stopped.apply(X).reshape(len(X), -1)[:, :1]
    ) and first.n_kept_ < 10


def test_columns_of_every_kind_keep_their_cuts():
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=i % 7) for i in range(420)]
    frame = pl.DataFrame(
        {
            "day": days,
            "job": [["clerk", "smith", "cook", "none"][i % 4] for i in range(420)],
            "member": [i % 3 == 0 for i in range(420)],
            "big": [2**60 + i % 5 for i in range(420)],
            "small": pl.Series([i % 11 for i in range(420)], dtype=pl.Int8),
        }
    )
    sources = {
        "day": (frame["day"] > dt.date(2020, 1, 3), "day <= 2020-01-03"),
        "job": (frame["job"] == "cook", "job = cook"),
        "member": (frame["member"], "member"),
        "big": (frame["big"] > 2**60 + 1, f"big <= {2**60 + 1}"),
        "small": (frame["small"] > 5, "small <= 5"),
    }
    models = [None, lightgbm.LGBMClassifier(n_estimators=3, learning_rate=1, verbose=-1, n_jobs=1)]
    models += [xgboost.XGBClassifier(n_estimators=2, max_depth=1, n_jobs=1)]
    for name, (y, question) in sources.items():
        for model in models:
            for X in (frame, frame.lazy(), frame.to_arrow()):
                lazy = isinstance(X, pl.LazyFrame)
                given = X.with_columns(target=y) if lazy else X
                guesser = ThresholdGuesser(model).fit(given, "target" if lazy else y)
                assert guesser.get_feature_names_out().tolist() == [question], (name, model)
                assert guesser.transform(X).any() and guesser.score_ == 1.0
