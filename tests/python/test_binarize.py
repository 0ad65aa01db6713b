"""The binarizer asks the questions that a tree over the original columns would."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from certree import OptimalTreeClassifier, ThresholdBinarizer

FRAME = pl.DataFrame(
    {
        "age": [22, 38, 26, 35, 54, 2],
        "fare": pl.Series([7.25, 71.3, 7.9, 53.1, 51.9, 21.1], dtype=pl.Float32),
        "sex": ["m", "f", "f", "f", "m", "m"],
        "alone": [False, False, True, False, True, False],
        "day": [dt.date(1912, 4, d) for d in (1, 1, 3, 3, 9, 9)],
        "same": [1] * 6,
    }
)
Y = ["no", "yes", "yes", "yes", "no", "no"]


def test_names_are_questions_and_columns_their_answers():
    binarizer = ThresholdBinarizer({"age": [30, 50], "fare": 1}).set_output(transform="polars")
    out = binarizer.fit_transform(FRAME)
    assert out.columns == [
        "age <= 30", "age <= 50", "fare <= 40", "sex = f", "sex = m", "alone",
        "day <= 1912-04-02", "day <= 1912-04-06",
    ]  # fmt: skip
    assert set(out.dtypes) == {pl.Boolean}
    for name, wanted in {
        "age <= 30": FRAME["age"] <= 30,
        "fare <= 40": FRAME["fare"] <= 40,
        "sex = f": FRAME["sex"] == "f",
        "alone": FRAME["alone"],
        "day <= 1912-04-06": FRAME["day"] <= dt.date(1912, 4, 6),
    }.items():
        assert out[name].to_list() == wanted.to_list()


def test_output_follows_set_output():
    binarizer = ThresholdBinarizer(2).fit(FRAME)
    array = binarizer.transform(FRAME)
    assert array.dtype == bool and array.shape == (6, len(binarizer.get_feature_names_out()))
    frame = binarizer.set_output(transform="pandas").transform(FRAME)
    assert isinstance(frame, pd.DataFrame) and (frame.to_numpy() == array).all()
    assert list(frame.columns) == list(binarizer.get_feature_names_out())


def test_every_container_has_the_same_answers():
    binarizer = ThresholdBinarizer().fit(FRAME)
    wanted = binarizer.transform(FRAME)
    for X in (
        FRAME.lazy(),
        FRAME.to_pandas(),
        FRAME.to_arrow(),
        FRAME.select(reversed(FRAME.columns)),
    ):
        assert (binarizer.transform(X) == wanted).all()
        # pandas keeps dates as datetimes, whose questions read differently.
        again = ThresholdBinarizer().fit(X)
        assert (again.transform(FRAME).sum(1) == wanted.sum(1)).all()


@pytest.mark.parametrize("thresholds", ["all", 2, {"age": [30.0], "fare": 1}])
def test_a_tree_on_the_answers_is_as_good_as_one_on_the_columns(thresholds):
    binarizer = ThresholdBinarizer(thresholds).set_output(transform="polars")
    on_answers = OptimalTreeClassifier(max_depth=2).fit(binarizer.fit_transform(FRAME), Y)
    on_columns = OptimalTreeClassifier(max_depth=2, thresholds=thresholds).fit(FRAME, Y)
    given = OptimalTreeClassifier(max_depth=2, thresholds=binarizer).fit(FRAME, Y)
    assert on_answers.objective_ == on_columns.objective_ == given.objective_
    assert given.certificate_.cuts == on_columns.certificate_.cuts
    assert given.tree_ == on_columns.tree_


def test_unseen_values_answer_no_to_everything():
    binarizer = ThresholdBinarizer().fit(FRAME.select("sex"))
    assert not binarizer.transform(pl.DataFrame({"sex": ["unknown"]})).any()


def test_arrays_get_numbered_names_that_can_be_replaced():
    binarizer = ThresholdBinarizer(1).fit(np.array([[1, 5], [3, 6]]))
    assert binarizer.get_feature_names_out().tolist() == ["x0 <= 2", "x1 <= 5"]
    assert binarizer.get_feature_names_out(["a", "b"]).tolist() == ["a <= 2", "b <= 5"]
    with pytest.raises(ValueError, match=r"length equal to number of features \(2\), got 1"):
        binarizer.get_feature_names_out(["a"])
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        ThresholdBinarizer().fit(FRAME).get_feature_names_out(["a"])


def test_it_serves_other_trees_in_a_pipeline():
    pipeline = make_pipeline(ThresholdBinarizer(3), DecisionTreeClassifier(max_depth=2)).fit(
        FRAME, Y
    )
    assert pipeline.score(FRAME, Y) == 1.0


def test_a_binarizer_is_not_its_own_threshold():
    with pytest.raises(ValueError, match="thresholds=.* is not valid"):
        ThresholdBinarizer(ThresholdBinarizer().fit(FRAME)).fit(FRAME)
    with pytest.raises(ValueError, match="fitted ThresholdBinarizer"):
        OptimalTreeClassifier(thresholds=ThresholdBinarizer()).fit(FRAME, Y)


def test_categories_and_booleans_may_be_asked_less():
    binarizer = ThresholdBinarizer({"sex": ["f", "unknown"], "alone": [], "age": [30]}).fit(FRAME)
    names = binarizer.get_feature_names_out().tolist()
    assert "sex = f" in names and not {"sex = m", "sex = unknown", "alone"} & set(names)
    assert binarizer.transform(FRAME).shape == (6, len(names))
    given = OptimalTreeClassifier(thresholds=binarizer).fit(FRAME, Y)
    assert given.certificate_.cuts["sex"] == 1 and given.certificate_.cuts["alone"] == 0


def test_a_tree_asks_only_for_values_that_it_may():
    frame = pl.DataFrame({"x": ["a", "b", "c", "c", "d", "a"]})
    y = [0, 1, 0, 0, 1, 0]
    best = OptimalTreeClassifier(leaf_penalty=0).fit(frame, y)
    assert best.score(frame, y) == 1
    for allowed, right in {("b",): 5, ("a", "c"): 6, ("c",): 4, (): 4}.items():
        for max_depth in (2, None):
            model = OptimalTreeClassifier(
                leaf_penalty=0, max_depth=max_depth, thresholds={"x": list(allowed)}
            ).fit(frame, y)
            assert model.score(frame, y) == right / 6
            tests = {node.split.test for node in model.tree_.nodes if node.split is not None}
            assert tests <= set(allowed)


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Int64, pl.UInt64])
def test_thresholds_below_all_that_a_type_has_separate_nothing(dtype):
    least = int(np.iinfo(np.dtype(dtype.__name__.lower())).min)
    frame = pl.DataFrame({"x": pl.Series([least, 5, 7] * 10, dtype=dtype)})
    y = np.array([0, 0, 1] * 10)
    for low in (least - 1, -1e300):
        model = OptimalTreeClassifier(max_depth=2, thresholds={"x": [low, 6]}).fit(frame, y)
        assert model.certificate_.n_cuts == 1 and model.objective_ == pytest.approx(0.02)
    fitted = ThresholdBinarizer().fit(pl.DataFrame({"x": [least - 300.5, least - 100.5, 6.0]}))
    answers = [[x <= threshold for threshold in fitted.thresholds_["x"]] for x in frame["x"]]
    assert fitted.transform(frame).tolist() == answers
