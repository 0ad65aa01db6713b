"""Guessed lower bounds in Python: what a reference may be, what is said of the tree, and going on
to the proof."""

import pickle
import warnings

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from certree import (
    Capacity,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    ThresholdGuesser,
    depth_gap,
    frontier,
)
from certree.cli import main
from certree.guess import references

pytestmark = pytest.mark.usefixtures("one_thread")

RNG = np.random.default_rng(3)
N = 200
FRAME = pl.DataFrame(
    {
        "age": RNG.integers(18, 70, N),
        "income": RNG.normal(50, 15, N).round(1),
        "job": RNG.choice(["clerk", "cook", "smith"], N),
        "member": RNG.integers(0, 2, N).astype(bool),
    }
)
Y = np.where(
    (FRAME["age"].to_numpy() > 40) ^ (FRAME["job"].to_numpy() == "cook") ^ (RNG.random(N) < 0.15),
    "yes",
    "no",
)
NUMBERS = FRAME.select("age", "income", "member")
SMALL = {"thresholds": 6, "max_depth": 3, "time_limit": None}


def forest():
    return RandomForestClassifier(5, max_depth=3, random_state=0)


def holds(model, best, *data, **more):
    """The guarantee covers what the guess cost, and certify() finds the best tree."""
    model.fit(*data, **more)
    best.fit(*data, **more)
    own = model.certificate_
    rounding = 1e-12
    assert own.lower_bound <= best.objective_ + rounding and best.status_ == "optimal"
    assert 0 <= own.objective - best.objective_ + rounding <= own.guarantee + 2 * rounding
    assert model.status_ == ("optimal" if own.guarantee == 0 else "optimal_given_guess") or (
        own.guarantee < 1e-9
    )
    assert model.certify() is model
    assert model.status_ == "optimal" and abs(model.objective_ - best.objective_) <= rounding
    assert model.certificate_.guarantee <= rounding and model.gap_ <= rounding


@pytest.mark.parametrize("seed", range(12))
def test_the_guarantee_covers_what_any_guess_costs(seed):
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(20, 80)), int(rng.integers(2, 5))
    X = rng.integers(0, 5, (n, 4))
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = range(n_classes)
    reference = np.where(rng.random(n) < rng.random(), y, rng.integers(0, n_classes, n))
    weights = [None, rng.random(n), rng.integers(0, 3, n)][seed % 3]
    if seed % 3 == 2:
        weights[:n_classes] = 1
    parameters = {"max_depth": 2 + seed % 2, "leaf_penalty": [0.0, 0.01, 0.03][seed // 2 % 3]}
    if seed % 4 == 1:
        parameters["objective"] = "balanced_accuracy"
    if seed % 4 == 2:
        parameters["class_weight"] = {0: 2.5}
    if seed % 4 == 3:
        parameters["cost_matrix"] = rng.random((n_classes, n_classes)).round(2)
    model = OptimalTreeClassifier(reference=reference, n_jobs=1 + seed % 2, **parameters)
    holds(model, OptimalTreeClassifier(**parameters), X, y, sample_weight=weights)


@pytest.mark.parametrize("seed", range(4))
def test_the_guarantee_covers_costs_by_row(seed):
    rng = np.random.default_rng(seed)
    X, costs = rng.integers(0, 6, (60, 3)), rng.normal(size=(60, 3))
    reference = rng.integers(0, 3, 60) if seed % 2 else "guess"
    model = OptimalCostTree(max_depth=2, reference=reference)
    weights = rng.random(60) if seed > 1 else None
    holds(model, OptimalCostTree(max_depth=2), X, costs, sample_weight=weights)


def test_the_guarantee_covers_policies():
    rng = np.random.default_rng(0)
    X = pl.DataFrame({"age": rng.integers(20, 80, 120), "sex": rng.choice(["f", "m"], 120)})
    treatment = rng.choice(["drug", "none"], 120)
    outcome = rng.normal(size=120) + (treatment == "drug") * (X["age"].to_numpy() > 50)
    model = OptimalPolicyTree("ipw", max_depth=2, leaf_penalty=0.02, reference="guess")
    best = OptimalPolicyTree("ipw", max_depth=2, leaf_penalty=0.02)
    holds(model, best, X, treatment, outcome, propensity=np.full(120, 0.5))


def test_one_word_for_cuts_and_bounds_fits_one_reference(monkeypatch):
    fits = []
    fit = references.fit
    monkeypatch.setattr(references, "fit", lambda *given: fits.append(1) or fit(*given))
    model = OptimalTreeClassifier(max_depth=3, thresholds="guess", reference="guess").fit(FRAME, Y)
    assert len(fits) == model.guesser_.n_fits_
    own = model.certificate_
    assert own.reference == "a GradientBoostingClassifier" and own.to_dict()["guarantee"] == own.gap
    assert "Guessed: no leaf of the best tree loses less" in str(own) and "at most" in str(own)
    cuts = own.cuts
    assert "Guessed" not in str(model.certify().certificate_)
    assert model.certificate_.cuts == cuts and model.certificate_.seconds >= own.seconds
    # A fitted guesser brings its own reference.
    guesser = ThresholdGuesser(forest()).fit(FRAME, Y)
    again = OptimalTreeClassifier(max_depth=3, thresholds=guesser, reference="guess").fit(FRAME, Y)
    assert again.certificate_.reference == "a RandomForestClassifier"


def labels(model):
    """This guess as labels."""
    return OptimalTreeClassifier(**SMALL, reference=model)


def test_references_are_models_of_any_kind_or_their_labels():
    renamed = NUMBERS.select("member", "income", "age")
    array = renamed.to_numpy().astype(float)
    fitted = [
        forest().fit(renamed.to_pandas(), Y),
        make_pipeline(LogisticRegression(max_iter=500)).fit(renamed.to_pandas(), Y),
        lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(renamed.to_pandas(), Y),
    ]
    for reference in fitted:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            own = reference.predict(renamed.to_pandas())
        wanted = labels(own).fit(NUMBERS, Y)
        found = labels(reference).fit(NUMBERS, Y)
        assert wanted.certificate_.guarantee > 0
        assert (found.objective_, found.lower_bound_) == (wanted.objective_, wanted.lower_bound_)
        assert found.certificate_.reference == f"a {type(reference).__name__}"
    # Without names, by place; of a frame, as the frame is.
    unnamed = forest().fit(array, Y)
    found = labels(unnamed).fit(array, Y)
    assert found.lower_bound_ == labels(unnamed.predict(array)).fit(array, Y).lower_bound_
    encoder = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    pipeline = make_pipeline(encoder, LogisticRegression(max_iter=500))
    pipeline.fit(FRAME.to_pandas(), Y)
    found = labels(pipeline).fit(FRAME.to_pandas(), Y)
    assert found.certificate_.reference == "a Pipeline" and found.certificate_.guarantee > 0
    # Unfitted ones are fitted here, to columns of any kind; so cross-validation works.
    assert labels(xgboost.XGBClassifier(n_estimators=5)).fit(FRAME, Y).certificate_.guarantee > 0
    assert len(cross_val_score(labels(forest()), FRAME, Y, cv=2)) == 2


def test_tables_and_weights_of_all_kinds():
    frame = FRAME.with_columns(y=pl.Series(Y), w=pl.Series(np.arange(N) % 4))
    given = labels("guess").fit(frame, "y", sample_weight="w")
    other = labels("guess").fit(frame.lazy(), "y", sample_weight="w")
    kept = frame.filter(pl.col("w") > 0)
    weights = kept["w"].to_numpy()
    alone = labels("guess").fit(kept.drop("y", "w"), kept["y"], sample_weight=weights)
    pandas = labels("guess").fit(
        FRAME.to_pandas(), pd.Series(Y), sample_weight=frame["w"].to_numpy()
    )
    for model in (other, alone, pandas):
        assert model.objective_ == pytest.approx(given.objective_, abs=1e-12)
        assert model.lower_bound_ == pytest.approx(given.lower_bound_, abs=1e-12)
    # A vector has a label for each row, also for those that weigh nothing.
    vector = labels(pl.Series(Y)).fit(frame, "y", sample_weight="w")
    assert vector.certificate_.reference == "given labels"


def test_a_reference_of_one_class_is_a_guess_as_any_other():
    model = labels(["yes"] * N)
    holds(model, OptimalTreeClassifier(**SMALL), FRAME, Y)
    alone = labels("guess").fit(FRAME, ["same"] * N)
    assert alone.status_ == "optimal"


def test_rows_that_no_cut_tells_apart_are_no_guess():
    # The reference is the majority of each point: nobody does better.
    X = pl.DataFrame({"a": [0, 0, 0, 1, 1, 1]})
    model = OptimalTreeClassifier(reference=[0, 0, 0, 1, 1, 1]).fit(X, [0, 0, 1, 1, 1, 0])
    assert model.status_ == "optimal" and model.certificate_.guarantee == 0


REFUSED = [
    (
        lambda: forest().fit(NUMBERS.to_pandas().rename(columns={"age": "years"}), Y),
        "other columns: X lacks 'years'",
    ),
    (
        lambda: forest().fit(NUMBERS.to_numpy()[:, :2].astype(float), Y),
        "fitted with 2 columns, but X has 3",
    ),
    (
        lambda: forest().fit(NUMBERS.to_pandas(), np.where(Y == "yes", "yes", "maybe")),
        "it knows \\['maybe', 'yes'\\], but not \\['no'\\]",
    ),
    (
        lambda: forest().fit(NUMBERS.to_pandas(), np.where(np.arange(N) < 120, "maybe", Y)),
        "the reference answers \\['maybe'\\], but the labels are \\['no', 'yes'\\]",
    ),
    (lambda: ["yes"] * 7, "reference"),
    (lambda: ["si"] * N, "answers \\['si'\\]"),
    (lambda: RandomForestRegressor(2), "predicts numbers, but a classifier"),
    (
        lambda: (
            lightgbm.LGBMClassifier(n_estimators=2, verbose=-1)
            .fit(NUMBERS.to_numpy(), Y)
            .booster_
        ),
        "Booster",
    ),
    (lambda: "guesses", "reference='guesses' is not valid: it must be 'guess', a classifier"),
    (lambda: 3, "reference=3 is not valid"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_references_that_do_not_fit_are_named(make, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = make()
    with pytest.raises(ValueError, match=message):
        labels(reference).fit(NUMBERS, Y)


@pytest.mark.parametrize(
    "parameters",
    [
        {"objective": "f1", "positive_label": "yes"},
        {"objective": "mcc"},
        {"objective": "auc"},
        {"objective": "partial_auc", "max_fpr": 0.5},
        {"constraints": (Capacity("yes", 0.4),)},
    ],
)
def test_losses_that_do_not_add_up_have_no_guessed_bounds(parameters):
    model = OptimalTreeClassifier(**SMALL, reference="guess", **parameters)
    with pytest.raises(ValueError, match="reference= guesses lower bounds of losses that add up"):
        model.fit(FRAME, Y)


def test_frontiers_refuse_guesses_and_depth_gaps_do_without():
    with pytest.raises(ValueError, match="reference="):
        frontier(labels("guess"), FRAME, Y)
    model = labels("guess").fit(FRAME, Y)
    assert depth_gap(model, FRAME, Y) >= model.certificate_.guarantee > 0


def noise():
    rng = np.random.default_rng(0)
    return rng.random((400, 6)), rng.integers(0, 2, 400)


def test_certify_can_be_stopped_and_called_again():
    X, y = noise()
    parameters = {"max_depth": 3, "thresholds": 10, "leaf_penalty": 0.005}
    best = OptimalTreeClassifier(**parameters, time_limit=None).fit(X, y)
    model = OptimalTreeClassifier(**parameters, reference="guess").fit(X, y)
    assert model.status_ == "optimal_given_guess"
    last = model.certificate_
    model.set_params(time_limit=1e-9)
    with pytest.warns(ConvergenceWarning, match="time limit"):
        assert model.certify().status_ == "time_limit"
    assert model.objective_ <= last.objective and model.lower_bound_ >= last.lower_bound
    assert model.certificate_.guarantee == model.gap_ > 0
    model.set_params(time_limit=None, callback=lambda progress: False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.certify()
    assert model.status_ in ("interrupted", "optimal")
    assert model.set_params(callback=None).certify().status_ == "optimal"
    assert model.objective_ == best.objective_
    curve = model.certificate_.curve
    for (t, upper, lower), (t2, upper2, lower2) in zip(curve, curve[1:]):
        assert t <= t2 and upper >= upper2 and lower <= lower2
    # Nothing is left to do.
    certificate = model.certificate_
    assert model.certify().certificate_ is certificate


def test_certify_goes_on_from_a_time_limit_without_any_guess():
    X, y = noise()
    parameters = {"max_depth": 3, "thresholds": 10}
    with pytest.warns(ConvergenceWarning):
        model = OptimalTreeClassifier(**parameters, time_limit=1e-9).fit(X, y)
    assert model.certificate_.guarantee is None
    assert model.set_params(time_limit=None).certify().status_ == "optimal"
    assert model.objective_ == OptimalTreeClassifier(**parameters).fit(X, y).objective_
    rough = RNG.random(400)
    with pytest.warns(ConvergenceWarning):
        model = OptimalTreeRegressor(**parameters, time_limit=1e-9).fit(X, rough)
    assert model.set_params(time_limit=None).certify().status_ == "optimal"
    assert model.objective_ == OptimalTreeRegressor(**parameters).fit(X, rough).objective_


def test_certify_says_where_it_cannot_go_on():
    X, y = noise()
    model = OptimalTreeClassifier(max_depth=3, thresholds=5, reference="guess").fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.status_ == "optimal_given_guess" and (copy.predict(X) == model.predict(X)).all()
    with pytest.raises(ValueError, match="pass them, as they were given to fit"):
        copy.certify()
    with pytest.warns(ConvergenceWarning):
        model = OptimalTreeClassifier(objective="f1", max_depth=4, time_limit=1e-9).fit(X, y)
    with pytest.raises(ValueError, match="losses that add up"):
        model.certify()


def test_the_command_line_guesses_too(tmp_path, capsys):
    table = tmp_path / "people.csv"
    FRAME.with_columns(y=pl.Series(Y)).write_csv(table)
    fit = ["fit", str(table), "--target", "y", "--quiet", "--max-depth", "3"]
    assert main([*fit, "--thresholds", "guess", "--reference", "guess"]) == 0
    out = capsys.readouterr().out
    assert "optimal_given_guess" in out and "Guessed: no leaf of the best tree loses less" in out
    with pytest.raises(SystemExit):
        main([*fit, "--reference", "guesses"])
    assert "invalid choice: 'guesses'" in capsys.readouterr().err


def test_a_bad_reference_on_a_hard_set_is_covered():
    # Two arms of a spiral, and stumps that know nothing of them.
    turn = np.linspace(0.5, 3.5 * np.pi, 100)
    arm = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)])
    X, y = np.vstack([arm, -arm]).round(1), np.repeat([0, 1], 100)
    stumps = GradientBoostingClassifier(n_estimators=40, max_depth=1, random_state=0)
    parameters = {"max_depth": 4, "thresholds": 12, "leaf_penalty": 0.01}
    model = OptimalTreeClassifier(**parameters, reference=stumps)
    holds(model, OptimalTreeClassifier(**parameters), X, y)
