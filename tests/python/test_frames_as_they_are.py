"""Frames as they come: zones, decimals, pipelines of scikit-learn, and what is refused."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from certree import OptimalTreeClassifier

PARIS = "Europe/Paris"


def moments(n: int = 8) -> list[dt.datetime]:
    return [dt.datetime(2024, 3, 28, 12) + dt.timedelta(days=i) for i in range(n)]


def fitted(frame, y, **parameters) -> OptimalTreeClassifier:
    return OptimalTreeClassifier(max_depth=1, **parameters).fit(frame, y)


def test_moments_with_a_zone_in_every_frame_and_export():
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    series = pl.Series("at", moments()).dt.replace_time_zone(PARIS)
    gaps = pl.Series("at", [None, *moments()[1:]]).dt.replace_time_zone(PARIS)
    for frame in (series.to_frame(), gaps.to_frame()):
        model = fitted(frame, y)
        assert model.status_ == "optimal" and model.score(frame, y) == 1
        assert "at <= 2024-" in str(model.tree_) or "at < 2024-" in str(model.tree_)
        own = pd.DataFrame({"at": pd.to_datetime(moments()).tz_localize(PARIS)})
        own.loc[frame["at"].is_null().to_numpy(), "at"] = pd.NaT
        assert str(fitted(own, y).tree_) == str(model.tree_)
        assert model.predict(own).tolist() == y
        assert model.predict(frame.to_arrow()).tolist() == y
        found = frame.select(model.tree_.to_polars(output="label")).to_series()
        assert found.to_list() == y
    with pytest.raises(ValueError, match="cast it"):
        model.predict(pl.DataFrame({"at": moments()}))


def test_decimals_in_every_frame():
    y = [0, 0, 1, 1]
    values = [Decimal("1.10"), Decimal("2.20"), Decimal("3.30"), Decimal("4.45")]
    for known in (values, [None, *values[1:]], [*values[:3], None]):
        frame = pl.DataFrame({"price": known}, schema={"price": pl.Decimal(10, 2)})
        model = fitted(frame, y)
        assert model.score(frame, y) == 1
        assert "price <= 3" in str(model.tree_)
        own = pd.DataFrame({"price": known})
        assert str(fitted(own, y).tree_) == str(model.tree_)
        assert model.predict(own).tolist() == y


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_column_transformers_in_every_output(output):
    frame = pd.DataFrame(
        {"age": [20.0, None, 40.0, 50.0] * 5, "site": ["a", "b", None, "b"] * 5, "n": range(20)}
    )
    y = np.array([0, 1, 1, 1] * 5)
    columns = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include=float)),
        (OneHotEncoder(sparse_output=False), make_column_selector(dtype_exclude="number")),
        remainder="passthrough",
    ).set_output(transform=output)
    model = make_pipeline(columns, OptimalTreeClassifier(max_depth=2)).fit(frame, y)
    assert (model.predict(frame) == y).all()
    if output != "default":
        names = model[-1].feature_names_in_.tolist()
        assert "standardscaler__age" in names and "remainder__n" in names


def test_the_estimator_takes_nulls_and_categories_that_transformers_pass_on():
    frame = pl.DataFrame(
        {"age": [20.0, None, 40.0, 50.0] * 5, "site": ["a", "b", "c", None] * 5}
    ).to_pandas()
    y = [0, 1, 1, 1] * 5
    columns = ColumnTransformer(
        [("age", SimpleImputer(), ["age"])],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="polars")
    model = make_pipeline(columns, OptimalTreeClassifier(max_depth=2)).fit(frame, y)
    assert model.predict(frame).tolist() == y
    assert "site" in model[-1].feature_names_in_
    for missing, allowed in (("route", True), ("refuse", False)):
        tags = OptimalTreeClassifier(missing=missing).__sklearn_tags__().input_tags
        assert tags.allow_nan == allowed and tags.sparse


# ---- bad input


def refused(message, frame, y=(0, 1, 0, 1), sample_weight=None, **parameters):
    with pytest.raises((ValueError, TypeError), match=message):
        OptimalTreeClassifier(max_depth=1, **parameters).fit(frame, y, sample_weight)


def test_what_lacks_values_is_refused_by_name_and_count():
    frame = pl.DataFrame({"a": [1, 2, 3, 4], "y": [0, None, 1, None], "w": [1.0, None, 1.0, 1.0]})
    refused("'y'.* 2 ", frame.select("a", "y"), "y")
    refused("'w'.* 1 ", frame.select("a", "w"), [0, 1, 0, 1], "w")
    refused("'z'.*Null", pl.DataFrame({"a": [1, 2, 3, 4], "z": [None] * 4}))
    refused(
        "'grade'.*lacks.*'III'",
        pl.DataFrame({"grade": ["I", "II", "III", "I"]}),
        orders={"grade": ["I", "II"]},
    )
    # A column of a type whose values are all missing can never be split.
    empty = pl.DataFrame({"z": pl.Series([None] * 4, dtype=pl.Float64), "a": [1, 2, 3, 4]})
    model = OptimalTreeClassifier(max_depth=3).fit(empty, [0, 1, 0, 1])
    assert model.score(empty, [0, 1, 0, 1]) == 1 and "z" not in str(model.tree_)


def test_null_and_nan_in_one_column_are_the_same():
    y = [1, 1, 1, 0, 0, 0]
    mixed = pl.DataFrame({"a": [None, float("nan"), None, 1.0, 2.0, 3.0]})
    plain = pl.DataFrame({"a": [None, None, None, 1.0, 2.0, 3.0]})
    model = fitted(mixed, y)
    assert str(model.tree_) == str(fitted(plain, y).tree_)
    assert model.score(mixed, y) == model.score(plain, y) == 1


def test_values_that_differ_in_case_or_type_were_not_there_in_training():
    frame = pl.DataFrame({"site": ["a", "b", "a", "b"]})
    model = fitted(frame, [0, 1, 0, 1])
    with pytest.warns(UserWarning, match="'site' has 'A', 'B' in 2 rows"):
        model.predict(pl.DataFrame({"site": ["A", "B", "a", "b"]}))
    with pytest.raises(ValueError, match="'site' was .* but is Int64"):
        model.predict(pl.DataFrame({"site": [1, 2]}))
    strict = fitted(frame, [0, 1, 0, 1], unseen="refuse")
    with pytest.raises(ValueError, match="'site' has 'A' in 1 row"):
        strict.predict(pl.DataFrame({"site": ["A", "b"]}))
    levels = pl.DataFrame({"grade": pl.Series(["I", "II"] * 2, dtype=pl.Enum(["I", "II"]))})
    ordered = fitted(levels, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="'grade' is an Enum of other levels"):
        ordered.predict(levels.cast(pl.Enum(["II", "I"])))
