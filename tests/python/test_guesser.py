"""The guesser as a transformer and as the thresholds of a classifier, and what it refuses."""

import pickle
import warnings

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from certree import OptimalTreeClassifier, OptimalTreeRegressor, ThresholdGuesser
from certree.cli import main

pytestmark = pytest.mark.usefixtures("one_thread")

RNG = np.random.default_rng(7)
N = 300
FRAME = pl.DataFrame(
    {
        "age": RNG.integers(18, 70, N),
        "income": RNG.normal(50, 15, N).round(2),
        "job": RNG.choice(["clerk", "cook", "smith", "none"], N),
        "member": RNG.integers(0, 2, N).astype(bool),
        "noise": RNG.random(N),
    }
)
Y = np.where(
    (FRAME["age"].to_numpy() > 40) ^ (FRAME["job"].to_numpy() == "cook"), "yes", "no"
)
NUMBERS = FRAME.select("age", "income")


def test_a_tree_over_guessed_cuts_splits_at_no_other():
    model = OptimalTreeClassifier(thresholds="guess").fit(FRAME, Y)
    guesser = model.guesser_
    assert model.score(FRAME, Y) == 1.0 and model.status_ == "optimal"
    assert set(guesser.get_feature_names_out()) >= {"age <= 40", "job = cook"}
    assert model.certificate_.n_cuts == guesser.n_kept_ < guesser.n_found_
    for node in model.tree_.nodes:
        if node.split is not None:
            assert node.split.test in guesser.thresholds_[node.split.column.name]
    # These cuts, by hand.
    again = OptimalTreeClassifier(thresholds=guesser.thresholds_).fit(FRAME, Y)
    assert again.tree_ == model.tree_ and not hasattr(again, "guesser_")


def test_the_certificate_says_that_it_speaks_of_guessed_cuts():
    for thresholds in ("guess", ThresholdGuesser(), ThresholdGuesser().fit(FRAME, Y)):
        model = OptimalTreeClassifier(thresholds=thresholds).fit(FRAME, Y)
        words = model.certificate_.statement()
        source = "guessed from a GradientBoostingClassifier"
        assert f"({source}: the proof speaks of these cuts only)" in words
        assert model.certificate_.cuts == {
            name: len(tests) for name, tests in ThresholdGuesser().fit(FRAME, Y).thresholds_.items()
        }
    every = OptimalTreeClassifier().fit(FRAME, Y).certificate_.statement()
    assert "guess" not in every


def test_every_container_has_the_same_guesses():
    wanted = ThresholdGuesser().fit(FRAME, Y)
    for X in (FRAME.to_pandas(), FRAME.to_arrow(), FRAME.lazy().with_columns(y=pl.Series(Y))):
        lazy = isinstance(X, pl.LazyFrame)
        found = ThresholdGuesser().fit(X, "y" if lazy else Y)
        assert found.thresholds_ == wanted.thresholds_
        assert (found.transform(X) == wanted.transform(FRAME)).all()
        model = OptimalTreeClassifier(thresholds="guess").fit(X, "y" if lazy else Y)
        assert model.guesser_.thresholds_ == wanted.thresholds_
    array = ThresholdGuesser().fit(NUMBERS.to_numpy(), Y)
    named = ThresholdGuesser().fit(NUMBERS, Y)
    assert list(array.thresholds_.values()) == list(named.thresholds_.values())
    assert not hasattr(array, "feature_names_in_")


def test_it_transforms_like_a_binarizer():
    guesser = ThresholdGuesser().set_output(transform="polars")
    out = guesser.fit_transform(FRAME, Y)
    assert out.columns == guesser.get_feature_names_out().tolist()
    assert out["job = cook"].to_list() == (FRAME["job"] == "cook").to_list()
    pipeline = make_pipeline(ThresholdGuesser(), DecisionTreeClassifier(max_depth=3)).fit(FRAME, Y)
    assert pipeline.score(FRAME, Y) == 1.0


def test_cloning_forgets_and_pickling_remembers():
    guesser = ThresholdGuesser(
        RandomForestClassifier(5, random_state=0), tolerance=0.01
    ).fit(FRAME, Y)
    same = pickle.loads(pickle.dumps(guesser))
    assert same.thresholds_ == guesser.thresholds_
    assert (same.transform(FRAME) == guesser.transform(FRAME)).all()
    fresh = clone(guesser)
    assert not hasattr(fresh, "thresholds_") and fresh.reference.n_estimators == 5
    model = OptimalTreeClassifier(thresholds="guess").fit(FRAME, Y)
    assert pickle.loads(pickle.dumps(model)).guesser_.thresholds_ == model.guesser_.thresholds_


def test_each_fold_guesses_anew():
    model = OptimalTreeClassifier(thresholds=ThresholdGuesser(), max_depth=2)
    assert cross_val_score(model, FRAME, Y, cv=3).mean() > 0.95
    search = GridSearchCV(
        model, {"thresholds__reference": [None, DecisionTreeClassifier(max_depth=2)]}, cv=2
    ).fit(FRAME, Y)
    assert search.best_score_ > 0.95
    # The parameter itself is left as it was.
    assert not hasattr(model.fit(FRAME, Y).thresholds, "thresholds_")


def test_weights_and_class_weights_reach_the_reference():
    rare = np.where(RNG.random(N) < 0.02, "rare", Y)
    rare[:4] = "rare"
    weight = np.where(rare == "rare", 0.0, 1.0)
    without = ThresholdGuesser().fit(FRAME, rare, weight)
    filtered = FRAME.filter(pl.Series(rare != "rare"))
    assert without.thresholds_ == ThresholdGuesser().fit(filtered, rare[rare != "rare"]).thresholds_
    target = FRAME["noise"].to_numpy() > 0.97
    with pytest.warns(UserWarning, match="predicts one class for all 300 rows"):
        weak = GradientBoostingClassifier(n_estimators=1, max_depth=1)
        plain = ThresholdGuesser(weak).fit(FRAME.drop("noise"), target)
    assert plain.n_kept_ == plain.n_found_
    balanced = ThresholdGuesser(DecisionTreeClassifier(max_depth=1), class_weight="balanced")
    by_hand = ThresholdGuesser(
        DecisionTreeClassifier(max_depth=1),
        class_weight={True: 1 / target.sum(), False: 1 / (~target).sum()},
    )
    found = balanced.fit(FRAME.drop("noise"), target)
    assert found.thresholds_ == by_hand.fit(FRAME.drop("noise"), target).thresholds_
    assert abs(found.score_ - by_hand.score_) < 1e-12 and found.score_ > 0.5
    model = OptimalTreeClassifier("balanced_accuracy", thresholds="guess").fit(FRAME, target)
    assert model.guesser_.class_weight == "balanced"


def test_a_fitted_reference_may_have_its_columns_in_any_order():
    shuffled = NUMBERS.select("income", "age")
    for kind in (
        GradientBoostingClassifier(n_estimators=5),
        HistGradientBoostingClassifier(max_iter=5),
        lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1),
        xgboost.XGBClassifier(n_estimators=5, n_jobs=1),
    ):
        target = Y == "yes"
        reference = clone(kind).fit(shuffled.to_pandas(), target)
        guesser = ThresholdGuesser(reference).fit(NUMBERS, target)
        assert guesser.thresholds_["age"]
        # Its own training score is the one to keep.
        assert guesser.reference_score_ == reference.score(shuffled.to_pandas(), target)
        assert guesser.score_ >= guesser.reference_score_ or guesser.n_kept_ == guesser.n_found_
        # A fitted guesser is used as it is.
        given = OptimalTreeClassifier(thresholds=guesser).fit(NUMBERS, target)
        assert not hasattr(given, "guesser_") and given.certificate_.n_cuts == guesser.n_kept_
    spaced = NUMBERS.rename({"age": "age in years"})
    model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1).fit(spaced.to_pandas(), Y)
    assert ThresholdGuesser(model).fit(spaced, Y).thresholds_["age in years"]


def test_a_fitted_reference_is_kept_as_it_is_without_a_tolerance():
    reference = GradientBoostingClassifier(n_estimators=5).fit(NUMBERS.to_numpy(), Y)
    guesser = ThresholdGuesser(reference, tolerance=None).fit(NUMBERS)
    assert guesser.reference_ is reference and guesser.n_fits_ == 0
    assert guesser.classes_ is None and guesser.score_ is None and guesser.reference_score_ is None
    with_y = ThresholdGuesser(reference, tolerance=None).fit(NUMBERS, Y)
    assert with_y.thresholds_ == guesser.thresholds_
    assert with_y.reference_score_ == reference.score(NUMBERS.to_numpy(), Y)


def test_regression_trees_over_guessed_cuts():
    frame = FRAME.with_columns(
        pay=2 * (pl.col("age") > 30) + 3 * (pl.col("job") == "cook"),
        hours=(pl.col("age") > 60).cast(pl.Float64),
    )
    for y in ("pay", ["pay", "hours"]):
        model = OptimalTreeRegressor(thresholds="guess", leaf_penalty=0.001).fit(
            frame if y != "pay" else frame.drop("hours"), y
        )
        assert model.status_ == "optimal" and model.guesser_.classes_ is None
        assert 30 in model.guesser_.thresholds_["age"]
        assert model.guesser_.thresholds_["job"] == ["cook"]
        assert "hours" not in model.guesser_.thresholds_
        assert "guessed from a" in model.certificate_.statement() and model.objective_ < 0.01
    same = OptimalTreeRegressor(thresholds=ThresholdGuesser(), leaf_penalty=0.001)
    again = same.fit(frame.drop("pay", "hours"), frame.select("pay", "hours"))
    assert again.tree_ == model.tree_


def refused(match, reference=None, X=FRAME, y=Y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=match):
            ThresholdGuesser(reference, **options).fit(X, y)


def test_models_without_trees():
    for model in (LogisticRegression(), make_pipeline(StandardScaler(), DecisionTreeClassifier())):
        refused("has no trees that can be read; give a decision tree, a random forest", model)
        refused("has no trees that can be read", model.fit(NUMBERS.to_numpy(), Y), NUMBERS)
    refused(
        "has no trees that can be read", xgboost.XGBClassifier(booster="gblinear"), y=Y == "yes"
    )
    refused("has no trees that can be read", OptimalTreeClassifier(), NUMBERS)
    refused("has no trees that can be read", KMeans(2), NUMBERS)
    refused("reference='forest' is not a model; give a decision tree", "forest")


def test_references_fitted_on_other_columns():
    tree = DecisionTreeClassifier(max_depth=3)
    by_name = clone(tree).fit(NUMBERS.to_pandas(), Y)
    refused(
        "fitted on other columns: X lacks 'income' and the reference does not know 'noise'",
        by_name,
        FRAME.select("age", "noise"),
    )
    refused(
        "the reference was fitted with 2 columns, but X has 1: 'age'",
        clone(tree).fit(NUMBERS.to_numpy(), Y),
        NUMBERS.select("age"),
    )
    coded = FRAME.select("age", pl.col("job").cast(pl.Categorical).to_physical())
    refused(
        "compares column 'job' with numbers, but here it is String; give the reference unfitted",
        clone(tree).fit(coded.to_numpy(), Y),
        FRAME.select("age", "job"),
    )
    scaled = StandardScaler().fit_transform(NUMBERS.to_numpy())
    refused(
        "no test of the reference separates any of these rows: column 'age' is tested between .* "
        "but its values are from 18 to 69",
        DecisionTreeClassifier(max_depth=1).fit(scaled, Y),
        NUMBERS,
    )


def test_references_fitted_on_other_classes():
    tree = DecisionTreeClassifier(max_depth=3).fit(NUMBERS.to_numpy(), Y)
    refused(
        r"fitted on other classes: it knows \['no', 'yes'\], but y has \['maybe'\]",
        tree,
        NUMBERS,
        np.where(FRAME["noise"].to_numpy() < 0.1, "maybe", Y),
    )
    regressor = DecisionTreeRegressor(max_depth=3).fit(NUMBERS.to_numpy(), Y == "yes")
    refused(
        "target 'y' has the type String, but a regression tree needs numbers", regressor, NUMBERS
    )
    refused("Unknown label type: continuous", tree, NUMBERS, FRAME["noise"].to_numpy())


def test_nothing_to_guess():
    refused("y has 1 class, 'yes': a reference cannot learn", y=["yes"] * N)
    refused("all rows are the same in every column of X", X=pl.DataFrame({"a": [1] * N}))
    stump = DecisionTreeClassifier(max_depth=1, min_samples_leaf=N)
    refused("a DecisionTreeClassifier, tests nothing that separates these rows", stump)
    with pytest.raises(ValueError, match="y has 1 class, 'yes'"):
        OptimalTreeClassifier(thresholds="guess").fit(FRAME, ["yes"] * N)


def test_parameters_and_targets():
    refused(
        "tolerance=-1 is not valid: it must be a finite number of at least 0, or None", tolerance=-1
    )
    refused("class_weight names the labels .'maybe'.", class_weight={"maybe": 2})
    refused("class_weight='none' is not valid", class_weight="none")
    refused(
        "class_weight is given, but the target is no class",
        y=FRAME["noise"],
        class_weight="balanced",
    )
    refused("requires y to be passed, but the target y is None", y=None)
    booster = lightgbm.LGBMClassifier(
        n_estimators=2, verbose=-1, n_jobs=1
    ).fit(NUMBERS.to_numpy(), Y).booster_
    refused("a Booster cannot be fitted again to drop cuts: give tolerance=None", booster, NUMBERS)
    outputs = NUMBERS.to_numpy() + 0.5
    boosted = ThresholdGuesser(tolerance=0.1).fit(FRAME, outputs)
    assert len(boosted.reference_.estimators_) == 2 and boosted.n_kept_ < boosted.n_found_
    found = ThresholdGuesser(
        RandomForestRegressor(2, max_depth=2), tolerance=0.1
    ).fit(FRAME, outputs)
    assert found.score_ >= found.reference_score_ - 0.1
    missing = FRAME.with_columns(age=pl.when(pl.col("noise") < 0.5).then("age"))
    guesser = ThresholdGuesser().fit(missing.drop("noise"), missing["age"].is_null().to_numpy())
    assert guesser.get_feature_names_out().tolist() == ["age is missing"]
    with pytest.raises(
        ValueError, match="X has 'job', 'member', 'noise', which the ThresholdGuesser"
    ):
        OptimalTreeClassifier(thresholds=ThresholdGuesser().fit(NUMBERS, Y)).fit(FRAME, Y)


def test_from_the_command_line(tmp_path, capsys):
    path = tmp_path / "people.csv"
    FRAME.with_columns(y=pl.Series(Y)).write_csv(path)
    assert main(["fit", str(path), "--target", "y", "--thresholds", "guess", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "(guessed from a GradientBoostingClassifier: the proof speaks of these cuts only)" in out
    assert main(["fit", str(path), "--target", "y", "--thresholds", "gues", "--quiet"]) == 2
    assert "'guess', 'all', 'midpoints', a number of quantiles" in capsys.readouterr().err


def test_frames_of_pandas_with_categories():
    frame = FRAME.to_pandas()
    frame["job"] = pd.Categorical(frame["job"])
    model = OptimalTreeClassifier(thresholds="guess").fit(frame, Y)
    assert model.score(frame, Y) == 1.0
    assert model.certificate_.cuts["job"] < 4
    assert set(model.predict(FRAME).tolist()) == {"yes", "no"}


def test_references_that_split_sets_of_categories():
    frame = FRAME.select("age", "job").to_pandas()
    frame["job"] = pd.Categorical(frame["job"])
    target = Y == "yes"
    models = [
        HistGradientBoostingClassifier(max_iter=3, categorical_features="from_dtype"),
        lightgbm.LGBMClassifier(
            n_estimators=3, verbose=-1, n_jobs=1, min_data_per_group=1, cat_smooth=0
        ),
        xgboost.XGBClassifier(n_estimators=3, n_jobs=1, enable_categorical=True),
    ]
    for model in models:
        refused("the reference splits sets of categories", model.fit(frame, target), frame, target)
    for model in models[1:]:
        assert ThresholdGuesser(clone(model)).fit(frame, target).thresholds_["job"] == ["cook"]
    zeros = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1, zero_as_missing=True)
    shifted = NUMBERS.to_numpy() - 40
    refused("fitted with zero_as_missing", zeros.fit(shifted, target), shifted, target)
