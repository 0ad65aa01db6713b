"""Each kind of bad input gets one error that names the column, the count and what to do, or the
documented behaviour."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning, NotFittedError

from certree import OptimalTreeClassifier, ThresholdBinarizer

X = pl.DataFrame(
    {"age": [20, 30, 40, 50], "sex": ["f", "m", "f", "m"], "flag": [True, True, False, False]}
)
Y = ["no", "no", "yes", "yes"]


def fit(X=X, y=Y, sample_weight=None, **parameters):
    parameters = {"max_depth": 2, **parameters}
    return OptimalTreeClassifier(**parameters).fit(X, y, sample_weight)


def refused(match, *args, error=ValueError, **kwargs):
    with pytest.raises(error, match=match):
        fit(*args, **kwargs)


# Features


def test_missing_values_where_they_are_refused():
    bad = pl.DataFrame(
        {
            "a": [1, None, None, 2],
            "b": [1.0, float("nan"), None, 2.0],
            "c": [0.0, 1.0, 2.0, float("inf")],
            "d": ["x", None, "y", "z"],
        }
    )
    message = (
        "features must be complete where missing='refuse', but column 'a' has 2 values missing "
        ".null or NaN., column 'b' has 2 values missing .*, column 'd' has 1 value missing .*; "
        "fill the gaps .*, drop them, or route them with missing='route'"
    )

    def refuse(message, X, y=Y):
        refused(message, X, y, missing="refuse")

    for container in (bad, bad.lazy().with_columns(y=1), bad.to_pandas(), bad.to_arrow()):
        refuse(message, container, "y" if isinstance(container, pl.LazyFrame) else Y)
    refuse("column 'x1' has 1 value missing", [[1, 2], [3, None], [4, 5], [6, 7]])
    refuse("column 'x0' has 1 value missing", np.array([[1.0], [np.nan], [0], [0]]))
    refuse(
        "column 'x0' has 1 value missing", np.array([["a"], [np.nan], ["b"], ["c"]], dtype=object)
    )
    refuse(
        "'c9' has 1 value .* and 5 more columns",
        pl.DataFrame({f"c{i}": [None, 1.0, 2.0, 3.0] for i in range(15)}),
    )
    # Infinities are ordinary large numbers.
    assert fit(bad.select("c"), missing="refuse").status_ == "optimal"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1], [2]], "column 'x' has the unsupported type List.Int64.; explode or aggregate"),
        ([{"a": 1}, {"a": 2}], "column 'x' has the unsupported type Struct.*; unnest it"),
        (
            [b"a", b"b"],
            "column 'x' has the unsupported type Binary; cast it to a number, a Boolean",
        ),
        (
            [None, None],
            "column 'x' has the unsupported type Null; all its values are missing, so that nothing",
        ),
        (
            pl.Series([1, 2], dtype=pl.Int128),
            "unsupported type Int128; cast it to Int64 or Float64",
        ),
        ([object(), object()], "column 'x' has the unsupported type Object"),
    ],
)
def test_unsupported_columns(values, message):
    refused(message, pl.DataFrame({"good": [1, 2], "x": values}), [0, 1])


def test_unsupported_arrays():
    refused("Expected 2D array, got 1D array instead. Reshape", np.arange(4))
    refused("Expected 2D array, got 1D array instead. Reshape", [1, 2, 3, 4])
    refused("rows have between 1 and 2 values; all must have as many", [[1], [1, 2], [1], [1]])
    refused("Complex data not supported", np.ones((4, 1)) * 1j)
    refused("structured arrays are not supported", np.zeros((4, 1), dtype=[("a", int)]))
    refused("'x0' holds values of the types int, str", [[1], ["a"], [2], ["b"]], error=TypeError)
    refused("'x0' has integers beyond 64 bits", [[1], [2**70], [2], [3]])
    refused("'x0' has the unsupported type timedelta64", np.zeros((4, 1), dtype="m8[h]"))
    refused(
        "column 'p' has the unsupported type period",
        pd.DataFrame({"p": pd.period_range("2020", periods=4, freq="M")}),
    )


def test_integers_whose_thresholds_do_not_fit():
    frame = pl.DataFrame({"id": pl.Series([1, 2, 2**64 - 2, 2**64 - 1], dtype=pl.UInt64)})
    refused(
        "column 'id' has thresholds beyond 64-bit signed integers, .* cast it to Float64, or to "
        "strings",
        frame,
    )


def test_empty_frames():
    refused(r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\)", X.clear(), [])
    refused(r"Found array with 0 sample\(s\)", X.clear().with_columns(y=pl.lit(1)).lazy(), "y")
    refused(r"Found array with 0 sample\(s\)", [], [])
    refused(r"0 feature\(s\) \(shape=\(4, 0\)\) while a minimum of 1 is required", np.empty((4, 0)))
    refused(r"0 feature\(s\)", pl.DataFrame({"y": Y}), "y")


def test_one_row_one_class_and_constant_columns_are_a_leaf():
    for frame, y in (
        (X[:1], ["yes"]),
        (X, ["yes"] * 4),
        (X.select(pl.lit(1).alias("one"), "age").with_columns(age=3), Y),
    ):
        model = fit(frame, y)
        assert model.get_n_leaves() == 1 and model.get_depth() == 0 and model.status_ == "optimal"
        assert (model.predict(frame) == model.classes_[0]).all()
        assert (model.feature_importances_ == 0).all()


def test_duplicate_and_odd_column_names():
    twice = pd.DataFrame(np.eye(4), columns=["a", "b", "a", "a"])
    refused(r"column names must be unique, but these repeat: 'a' \(3 times\); rename them", twice)
    import pyarrow as pa

    table = pa.table([[1, 2, 3, 4]] * 2, names=["a", "a"])
    refused(r"'a' \(2 times\)", table)
    refused(r"column names must be strings, but \[0\] are not", pd.DataFrame({"a": Y, 0: Y}))


# Target


def test_targets_of_the_wrong_type():
    refused("requires y to be passed, but the target y is None", y=None)
    refused(
        "Unknown label type: continuous. The target 'y' has values with a fraction, such as 0.5",
        y=[0.5, 1, 2, 3],
    )
    refused("Unknown label type", y=[dt.date(2020, 1, 1)] * 4)
    refused("Unknown label type", y=[[1], [2, 3], [4], [5]])
    refused("Unknown label type", y=[1, "a", 2, "b"])
    refused("Found array with dim 3", y=np.ones((4, 2, 2)))
    refused("target 'age' has values with a fraction", X.with_columns(age=pl.col("age") / 7), "age")
    with pytest.warns(DataConversionWarning):
        fit(y=np.array(Y)[:, None])


def test_missing_labels():
    refused(
        "target 'y' has 1 value missing .null or NaN.; drop those rows", y=["a", None, "b", "c"]
    )
    refused("target 'y' has 2 values missing", y=np.array([0, np.nan, 1, np.nan]))
    refused("target 'y' has 1 value infinite", y=[0.0, float("inf"), 1.0, 1.0])
    refused(
        "target 'label' has 1 value missing",
        X.with_columns(label=pl.Series([1, 2, None, 1])).lazy(),
        "label",
    )


def test_lengths():
    refused("inconsistent numbers of samples: X has 4 rows, y has 3", y=Y[:3])
    refused(
        "inconsistent numbers of samples: X has 4 rows, sample_weight has 5", sample_weight=[1] * 5
    )


def test_names_of_target_and_weight_columns():
    refused("y='label' is not a column of X; its columns are 'age', 'sex', 'flag'", y="label")
    refused("y='label' names a column, but X is an array without names", [[1], [2]], "label")
    refused("with a LazyFrame, y must be the name of one of its columns", X.lazy())
    refused("with a LazyFrame, sample_weight must be the name", X.lazy(), "sex", [1, 1, 1, 1])
    refused("sample_weight='w' is not a column", sample_weight="w")


def test_a_million_labels_are_no_classes():
    refused(
        "has 20,000 distinct values, too many to be classes", np.zeros((20000, 1)), np.arange(20000)
    )


# Weights


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            [1, -1, -2, 1],
            "must not be negative, but 'sample_weight' has 2 values below zero, the least -2.0",
        ),
        ([1, np.nan, 1, 1], "must be finite, but 'sample_weight' has 1 value missing"),
        ([1, np.inf, 1, np.inf], "must be finite, but 'sample_weight' has 2 values infinite"),
        ([0, 0, 0, 0], "sample weights are all zero"),
        ([1e308] * 4, "add up to more than a float holds"),
        (np.ones((4, 2)), r"sample_weight must be one-dimensional, but its shape is \(4, 2\)"),
        (["a"] * 4, "sample weights must be numbers, but 'sample_weight' has the type String"),
    ],
)
def test_weights(weights, message):
    refused(message, sample_weight=weights)


def test_rows_that_weigh_nothing_are_not_there():
    weighted = fit(sample_weight=[1, 1, 1, 0])
    without = fit(X[:3], Y[:3])
    assert weighted.tree_.to_text() == without.tree_.to_text()
    assert weighted.certificate_.n_rows == 3
    assert fit(sample_weight=[1, 1, 0, 0]).classes_.tolist() == ["no", "yes"]


# Parameters


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("objective", "f2", "one of 'accuracy', 'balanced_accuracy'"),
        ("leaf_penalty", -0.1, "a finite number of at least 0"),
        ("leaf_penalty", float("nan"), "a finite number of at least 0"),
        ("leaf_penalty", "0.1", "a finite number of at least 0"),
        ("max_depth", -1, "an integer of at least 0, or None"),
        ("max_depth", 2.5, "an integer of at least 0, or None"),
        ("max_depth", True, "an integer of at least 0, or None"),
        ("max_leaf_nodes", 0, "an integer of at least 1, or None"),
        ("min_samples_leaf", 0, "an integer of at least 1"),
        ("min_samples_leaf", 0.5, "an integer of at least 1"),
        ("class_weight", "equal", "a dict of labels to weights, 'balanced', or None"),
        ("thresholds", "some", "'all', 'midpoints', a number of quantiles per column"),
        ("thresholds", 0, "'all', 'midpoints', a number of quantiles per column"),
        ("thresholds", {"age": 0}, "'all', 'midpoints', a number of quantiles per column"),
        ("thresholds", [1, 2], "'all', 'midpoints', a number of quantiles per column"),
        ("time_limit", 0, "a positive number of seconds, or None"),
        ("time_limit", float("inf"), "a positive number of seconds, or None"),
        ("memory_limit", -5, "a positive number of bytes, or None"),
        ("gap_limit", -1, "a finite number of at least 0"),
        ("n_jobs", 0, "a number of threads (at most 4,096), or -1 for all, or None"),
        ("verbose", "yes", "True or False"),
        ("callback", 3, "callable with one Progress, or None"),
    ],
)
def test_parameters_out_of_range(name, value, allowed):
    with pytest.raises(ValueError) as error:
        fit(**{name: value})
    assert f"{name}={value!r} is not valid: it must be " in str(error.value)
    assert allowed in str(error.value)


def test_extreme_parameters_are_fine():
    model = fit(
        max_depth=10**30,
        max_leaf_nodes=10**30,
        min_samples_leaf=1,
        time_limit=1e300,
        memory_limit=1e300,
        leaf_penalty=1e9,
    )
    assert model.get_n_leaves() == 1
    assert fit(min_samples_leaf=10**30).get_n_leaves() == 1


def test_class_weights_and_costs():
    refused(
        r"class_weight names the labels \['maybe'\], but the classes in y are \['no', 'yes'\]",
        class_weight={"maybe": 1},
    )
    refused(
        r"class_weight\['no'\]=-1 is not valid: weights are finite and at least 0",
        class_weight={"no": -1},
    )
    refused("total class weight of the rows must be positive", class_weight={"no": 0, "yes": 0})
    refused(
        r"cost_matrix has the shape \(1, 2\), but must be \(2, 2\): one row for each true class",
        cost_matrix=[[0, 1]],
    )
    refused("cost_matrix must be a square table of numbers", cost_matrix="costs")
    refused("cost_matrix has 1 values that are not finite", cost_matrix=[[0, 1], [np.inf, 0]])


def test_thresholds():
    refused(
        "thresholds names 'old', which X does not have; its columns are 'age', 'sex', 'flag'",
        thresholds={"old": [1]},
    )
    refused(
        "thresholds asks for quantiles of 'sex', 'flag', but only numbers and dates have them; "
        "give a list",
        thresholds={"sex": 3, "flag": 3},
    )
    refused(
        "thresholds of column 'sex' has 1, which is not a value of it",
        thresholds={"sex": [1]},
    )
    refused(
        "thresholds of column 'flag' has False, which is not True",
        thresholds={"flag": [False]},
    )
    refused(
        "X has 'sex', 'flag', which the ThresholdBinarizer given as thresholds was not fitted "
        "with; its columns are 'age'",
        thresholds=ThresholdBinarizer().fit(X.select("age")),
    )
    refused(
        "thresholds of column 'age' has nan, which is not a finite number",
        thresholds={"age": [float("nan")]},
    )
    refused(
        "thresholds of column 'age' has 'x', which is not a finite number",
        thresholds={"age": ["x"]},
    )


# Prediction


def test_prediction_wants_the_fitted_columns_by_name():
    model = fit()
    wanted = model.predict(X).tolist()
    assert model.predict(X.select(reversed(X.columns))).tolist() == wanted
    assert model.predict(X.with_columns(more=pl.lit(None))).tolist() == wanted
    assert model.predict(X.rows()).tolist() == wanted
    with pytest.raises(
        ValueError, match="X lacks 2 of the 3 columns that the tree was fitted with: 'age', 'flag'"
    ):
        model.predict(X.select("sex"))
    with pytest.raises(
        ValueError, match="X has 2 features, but Tree is expecting 3 features as input"
    ):
        model.predict([[1, "f"]])
    with pytest.raises(NotFittedError):
        OptimalTreeClassifier().predict(X)


def test_prediction_checks_what_the_tree_tests():
    model = fit(X.select("age", other=pl.Series([1.0, 2.0, 1.0, 2.0])))
    assert model.tree_.nodes[0].column == "age"
    gaps = pl.DataFrame({"age": [1, None, None], "other": [1.0, 2.0, 3.0]})
    for given in ({"missing": "refuse"}, {"missing_unseen": "refuse"}):
        strict = fit(X.select("age", other=pl.Series([1.0, 2.0, 1.0, 2.0])), **given)
        with pytest.raises(ValueError, match="'age' has 2 missing values .null or NaN.; fill them"):
            strict.predict(gaps)
        # Columns that no split asks for are not looked at, unless arrays must be complete.
        assert strict.predict(pl.DataFrame({"age": [1, 60], "other": [None, None]})).tolist() == [
            "no",
            "yes",
        ]
        if "missing" in given:
            with pytest.raises(ValueError, match="column 'x1' has 1 value missing"):
                strict.predict(np.array([[1, np.nan]]))
    assert model.predict(gaps).tolist()[1] == model.predict(np.array([[np.nan, 1]])).tolist()[0]
    assert model.predict(pl.DataFrame({"age": [float("inf")], "other": [1.0]})).tolist() == ["yes"]
    with pytest.raises(
        ValueError,
        match="column 'age' was Int64 when the tree was fitted but is String here; cast it",
    ):
        model.predict(pl.DataFrame({"age": ["1"], "other": [1.0]}))


def test_a_zone_is_not_dropped():
    days = pl.Series(["2020-01-01", "2020-01-02"]).str.to_datetime()
    model = fit(pl.DataFrame({"d": days}), [0, 1])
    with pytest.raises(
        ValueError, match="column 'd' was Datetime.* but is Datetime.*UTC.* here; cast it"
    ):
        model.predict(pl.DataFrame({"d": days.dt.replace_time_zone("UTC")}))


def test_unseen_categories_are_no_known_value():
    model = fit(X.select("sex"), ["no", "yes", "no", "yes"])
    value = model.tree_.nodes[0].split.test
    other = {"f": "m", "m": "f"}[value]
    with pytest.warns(UserWarning, match="values that were not there in training"):
        unseen, known = model.predict(pl.DataFrame({"sex": ["unknown", other]}))
    assert unseen == known
