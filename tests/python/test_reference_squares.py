"""Guessed lower bounds of squared errors in Python: what a reference may be, and that the guarantee
holds."""

import os
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import (
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import cross_val_score
from sklearn.multioutput import MultiOutputRegressor

from certree import OptimalTreeRegressor, ThresholdGuesser, depth_gap
from certree.cli import main
from certree.guess import references

pytestmark = pytest.mark.usefixtures("one_thread")

RNG = np.random.default_rng(5)
N = 160
FRAME = pl.DataFrame(
    {
        "size": RNG.integers(20, 120, N),
        "age": RNG.normal(40, 15, N).round(1),
        "town": RNG.choice(["Delft", "Gouda", "Leiden"], N),
        "lift": RNG.integers(0, 2, N).astype(bool),
    }
)
Y = (
    FRAME["size"].to_numpy() * 10.0
    + 300 * (FRAME["town"].to_numpy() == "Leiden")
    - 3 * FRAME["age"].to_numpy() * FRAME["lift"].to_numpy()
    + RNG.normal(0, 60, N)
).round(1)
NUMBERS = FRAME.select("size", "age", "lift")
SMALL = {"thresholds": 8, "max_depth": 3, "time_limit": None}
CASES = int(os.environ.get("CERTREE_CASES", 24))


def forest():
    return RandomForestRegressor(5, max_depth=3, random_state=0)


def guessed(reference, **more):
    return OptimalTreeRegressor(**{**SMALL, **more}, reference=reference)


def holds(model, best, *data, **more):
    """The guarantee covers what the guess cost, and certify() finds the best tree."""
    model.fit(*data, **more)
    best.fit(*data, **more)
    own, rounding = model.certificate_, 1e-12
    assert own.lower_bound <= best.objective_ + rounding and best.status_ == "optimal"
    assert -rounding <= own.objective - best.objective_ <= own.guarantee + rounding
    assert model.status_ in ("optimal", "optimal_given_guess") and own.guarantee >= 0
    assert model.status_ == "optimal_given_guess" or own.guarantee < 1e-9
    assert model.certify() is model and model.status_ == "optimal"
    assert abs(model.objective_ - best.objective_) <= rounding
    assert model.certificate_.guarantee <= rounding
    tree_is_what_is_certified(model, *data, **more)


def tree_is_what_is_certified(model, X, y, sample_weight=None):
    y = np.asarray(y, dtype=float)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    lost = [
        np.average((y - at).reshape(len(y), -1) ** 2, axis=0, weights=weights).sum()
        for at in (model.predict(X), np.average(y, axis=0, weights=weights))
    ]
    loss = lost[0] / lost[1] + model.leaf_penalty * model.get_n_leaves()
    assert model.objective_ == pytest.approx(loss, abs=1e-6)


def any_case(seed):
    """Rows, targets, what a reference predicts, and parameters."""
    rng = np.random.default_rng(seed)
    n, n_outputs = int(rng.integers(8, 60)), int(rng.choice([1, 1, 2]))
    X = rng.integers(0, rng.choice([2, 4, 60]), (n, int(rng.integers(1, 4))))
    steps = (X[:, :1] > X[:, :1].mean()) * 2.0 + (X[:, -1:] > 1)
    y = steps * rng.normal(size=n_outputs) + rng.normal(
        size=(n, n_outputs)
    ) * rng.choice([0.1, 1.0])
    y = y * 10.0 ** rng.integers(-3, 4) + rng.choice([0.0, 1e6])
    truth = np.where(rng.random((n, 1)) < rng.random(), y, y.mean(axis=0))
    predicted = truth + y.std() * rng.normal(size=y.shape) * rng.choice([0.0, 0.3, 3.0])
    if seed % 7 == 0:
        predicted = np.broadcast_to(y.mean(axis=0), y.shape)
    weights = [None, rng.random(n) + 0.01, rng.integers(0, 3, n)][seed % 3]
    if seed % 3 == 2:
        weights[:2] = 1
    parameters = {
        "max_depth": int(rng.integers(1, 5)),
        "leaf_penalty": float(rng.choice([0.0, 0.003, 0.02, 0.1])),
        "thresholds": rng.choice([3, 200]).item(),
        "min_samples_leaf": int(rng.choice([1, 1, 1, 4])),
        "max_leaf_nodes": [None, None, None, 5][seed % 4],
        "time_limit": None,
    }
    return (X, y if n_outputs > 1 else y[:, 0]), predicted.reshape(y.shape), weights, parameters


@pytest.mark.parametrize("part", range(4))
def test_the_guarantee_covers_what_any_guess_costs(part):
    # More cases: CERTREE_CASES=6000 python -m pytest tests/python/test_reference_squares.py
    for seed in range(part, CASES, 4):
        data, predicted, weights, parameters = any_case(seed)
        model = OptimalTreeRegressor(reference=predicted, n_jobs=1 + seed % 2, **parameters)
        try:
            holds(model, OptimalTreeRegressor(**parameters), *data, sample_weight=weights)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}") from error


def test_one_word_for_cuts_and_bounds_fits_one_reference(monkeypatch):
    fits = []
    fit = references.fit
    monkeypatch.setattr(references, "fit", lambda *given: fits.append(1) or fit(*given))
    model = OptimalTreeRegressor(max_depth=4, thresholds="guess", reference="guess").fit(FRAME, Y)
    assert len(fits) == model.guesser_.n_fits_
    own = model.certificate_
    assert model.status_ == "optimal_given_guess"
    assert own.reference == "a GradientBoostingRegressor" and own.to_dict()[
        "guarantee"
    ] == own.gap > 0
    assert "Guessed: no leaf of the best tree has a lower squared error than the reference" in str(
        own
    )
    cuts = own.cuts
    assert "Guessed" not in str(model.certify().certificate_) and model.certificate_.cuts == cuts
    # Whole numbers are numbers, too, and a fitted guesser brings its own reference.
    guesser = ThresholdGuesser(forest()).fit(FRAME, Y.astype(int))
    again = guessed("guess", thresholds=guesser).fit(FRAME, Y.astype(int))
    assert again.certificate_.reference == "a RandomForestRegressor"


def test_references_are_models_of_any_kind_or_their_numbers():
    renamed = NUMBERS.select("lift", "age", "size")
    fitted = forest().fit(renamed.to_pandas(), Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = fitted.predict(renamed.to_pandas())
    wanted = guessed(own).fit(NUMBERS, Y)
    assert wanted.certificate_.guarantee > 0
    assert wanted.certificate_.reference == "given predictions"
    for reference in (fitted, list(own), pl.Series(own), pl.DataFrame({"y": own}), own[:, None]):
        found = guessed(reference).fit(NUMBERS, Y)
        assert (found.objective_, found.lower_bound_) == (wanted.objective_, wanted.lower_bound_)
    # Unfitted ones are fitted here, to columns of any kind; so cross-validation works.
    assert guessed(forest()).fit(FRAME, Y).certificate_.guarantee > 0
    assert len(cross_val_score(guessed(forest()), FRAME, Y, cv=2)) == 2
    assert depth_gap(wanted, NUMBERS, Y) >= wanted.certificate_.guarantee


def test_several_outputs_and_weights():
    both = np.column_stack([Y, -Y / 7 + RNG.normal(0, 5, N)])
    weights = np.arange(N) % 4
    for reference in ("guess", MultiOutputRegressor(GradientBoostingRegressor(n_estimators=9))):
        holds(guessed(reference), OptimalTreeRegressor(**SMALL), FRAME, both, sample_weight=weights)
    # A vector has a number for each row; what is predicted for rows that weigh nothing is not read.
    predicted = np.where(weights > 0, Y, np.nan)
    model = guessed(predicted).fit(FRAME, Y, sample_weight=weights)
    kept = weights > 0
    alone = guessed(Y[kept]).fit(
        FRAME.filter(pl.Series(kept)), Y[kept], sample_weight=weights[kept]
    )
    assert model.objective_ == pytest.approx(alone.objective_, abs=1e-12)


def test_what_points_cannot_have_less_of_is_no_guess():
    # The reference is the mean of each point: no leaf does better.
    X = pl.DataFrame({"a": [0, 0, 0, 1, 1, 1]})
    y = [1.0, 2.0, 3.0, 5.0, 5.0, 8.0]
    model = OptimalTreeRegressor(reference=[2.0, 2.0, 2.0, 6.0, 6.0, 6.0]).fit(X, y)
    # Leaves are rounded down to units, which is charged to the bound.
    assert model.status_ == "optimal" and model.certificate_.guarantee < 1e-15
    # One that answers a point's rows differently counts as its mean over them.
    model = OptimalTreeRegressor(reference=[0.0, 3.0, 3.0, 5.0, 5.0, 8.0]).fit(X, y)
    # Leaves are rounded down to units, which is charged to the bound.
    assert model.status_ == "optimal" and model.certificate_.guarantee < 1e-15
    same = guessed("guess").fit(FRAME, np.full(N, 3.0))
    assert same.status_ == "optimal" and same.objective_ == pytest.approx(0.01)
    mad = guessed(np.full(N, 1e300)).fit(FRAME, Y)
    assert mad.status_ == "optimal_given_guess" and mad.certificate_.guarantee <= mad.objective_


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
        lambda: forest().fit(NUMBERS.to_numpy().astype(float), np.column_stack([Y, Y])),
        "predicts 2 numbers for each row, but y has 1",
    ),
    (lambda: np.column_stack([Y, Y]), "predicts 2 numbers for each row, but y has 1"),
    (lambda: Y[:7], "reference"),
    (lambda: np.where(np.arange(N) < 3, np.nan, Y), "missing or infinite for 3 of 160 rows"),
    (lambda: ["cheap"] * N, "reference= must be numbers"),
    (lambda: RandomForestClassifier(2), "predicts labels, but a regressor is needed"),
    (lambda: "guesses", "reference='guesses' is not valid: it must be 'guess', a regressor"),
    (lambda: 3, "reference=3 is not valid"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_references_that_do_not_fit_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        guessed(make()).fit(NUMBERS, Y)


def test_a_guesser_that_learnt_labels_has_no_numbers():
    guesser = ThresholdGuesser(RandomForestClassifier(5, random_state=0)).fit(FRAME, Y > Y.mean())
    with pytest.raises(ValueError, match="reference of thresholds= predicts labels"):
        guessed("guess", thresholds=guesser).fit(FRAME, Y)


def test_the_command_line_guesses_too(tmp_path, capsys):
    table = tmp_path / "flats.csv"
    FRAME.with_columns(rent=pl.Series(Y)).write_csv(table)
    fit = [
        "fit", str(table), "--target", "rent", "--task", "regression", "--quiet", "--max-depth", "3"
    ]
    assert main([*fit, "--thresholds", "guess", "--reference", "guess"]) == 0
    out = capsys.readouterr().out
    assert "optimal_given_guess" in out and "Guessed: no leaf of the best tree" in out
