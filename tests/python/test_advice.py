"""The warning of a stopped search says what to try, for the very problem that was searched."""

import datetime as dt
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning

from certree import (
    Capacity,
    DemographicParity,
    OptimalCostTree,
    OptimalSurvivalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
)

#: What it measures depends on what else the machine does.
pytestmark = [pytest.mark.alone, pytest.mark.usefixtures("one_thread")]

N = 2000
RNG = np.random.default_rng(0)
X = pl.DataFrame({name: RNG.normal(size=N) for name in "abcde"})
Y = RNG.integers(0, 2, N)
COARSE = {"thresholds": 12, "time_limit": 0.05}


def warning(model, *data):
    """The advice of the one warning of this fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*data)
    said = [str(each.message) for each in caught if each.category is ConvergenceWarning]
    assert len(said) == 1 and model.status_ != "optimal"
    return said[0].partition("What may help: ")[2]


def test_many_cuts():
    said = warning(OptimalTreeClassifier(max_depth=3, time_limit=0.05), X, Y)
    assert "fewer of the 9,995 cuts ('a' 1,999, 'b' 1,999, 'c' 1,999 and 2 more)" in said
    assert "thresholds=16 for as many quantiles" in said and "thresholds='guess'" in said
    assert "a larger time_limit (it was 0.05); certify(), which goes on from here" in said
    assert "reference='guess'" in said and "max_depth" not in said and "identifier" not in said
    # An estimator that has no guess is not told of one.
    said = warning(OptimalSurvivalTree(max_depth=3, time_limit=0.05), X, RNG.random(N), Y)
    assert "fewer of the 9,995 cuts" in said and "guess" not in said
    said = warning(OptimalTreeClassifier(max_depth=5, **COARSE), X, Y)
    assert "cuts" not in said and "a smaller max_depth (it is 5)" in said


def test_what_does_not_go_together_is_not_advised():
    said = warning(OptimalTreeClassifier("f1", max_depth=5, **COARSE), X, Y)
    assert "certify" not in said and "reference" not in said
    said = warning(OptimalTreeClassifier(max_depth=5, feature_costs={"a": 0.01}, **COARSE), X, Y)
    assert "certify" in said and "reference" not in said
    grouped = X.with_columns(s=pl.Series(Y == RNG.integers(0, 2, N)))
    parity = (DemographicParity("s", 0.01),)
    said = warning(OptimalTreeClassifier(max_depth=5, constraints=parity, **COARSE), grouped, Y)
    assert "reference" not in said
    said = warning(OptimalTreeClassifier(max_depth=5, reference=Y, **COARSE), X, Y)
    assert "reference" not in said
    said = warning(
        OptimalTreeRegressor("absolute_error", max_depth=5, **COARSE), X, X["a"] * X["b"]
    )
    assert "reference" not in said
    said = warning(
        OptimalTreeClassifier(max_depth=3, time_limit=0.05), X, np.column_stack([Y, 1 - Y])
    )
    assert "guess" not in said and "thresholds=16" in said
    said = warning(OptimalCostTree(max_depth=5, **COARSE), X, RNG.random((N, 3)))
    assert "reference='guess'" in said


def test_limits_on_size_and_threads():
    said = warning(OptimalTreeClassifier(max_depth=None, n_jobs=-1, **COARSE), X, Y)
    assert "; a max_depth" in said and "n_jobs" not in said
    said = warning(OptimalTreeClassifier(max_depth=None, max_leaf_nodes=7, **COARSE), X, Y)
    assert "a max_depth" not in said
    model = OptimalTreeClassifier(max_depth=5, thresholds=12, callback=lambda now: False)
    said = warning(model, X, Y)
    assert model.status_ == "interrupted" and said.startswith("certify(), which goes on from here")


def test_columns_that_look_like_identifiers_are_named():
    odd = X.with_columns(
        number=pl.Series(RNG.permutation(10 * N)[:N]),
        whole=pl.Series(np.arange(N) * 1.0),
        name=pl.Series([f"no. {k}" for k in range(N)]),
        seen=pl.Series([dt.datetime(2024, 1, 1) + dt.timedelta(minutes=k) for k in range(N)]),
        age=pl.Series(RNG.integers(18, 90, N)),
    )
    said = warning(OptimalTreeClassifier(max_depth=3, time_limit=0.05), odd, Y)
    assert "leave out 'number', 'whole', 'name', which look like identifiers" in said
    # They are no reason for fewer cuts; measurements and times are.
    assert "('a' 1,999, 'b' 1,999, 'c' 1,999 and 4 more)" in said
    few = X.select("a").with_columns(name=odd["name"])
    said = warning(OptimalTreeClassifier(max_depth=3, time_limit=0.001, leaf_penalty=0), few, Y)
    assert (
        "leave out 'name', which looks like an identifier, with a value for nearly each row" in said
    )
    unnamed = np.column_stack([np.arange(N), X.to_numpy()])
    said = warning(OptimalTreeClassifier(max_depth=3, time_limit=0.05), unnamed, Y)
    assert "leave out 'x0', which looks like an identifier" in said


def test_a_search_that_ends_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OptimalTreeClassifier(max_depth=1).fit(X.with_row_index(), Y)


def advised(error, before):
    """The number that an error advises after these words."""
    said = str(error.value)
    assert before in said, said
    return float(said.partition(before)[2].split()[0].rstrip(",.:;"))


BETAS = (1 / 3, 0.12345, 2**0.5, 0.333333, 3.3333333)


@pytest.mark.parametrize("beta", BETAS)
def test_a_beta_that_is_advised_has_room(beta):
    rng = np.random.default_rng(1)
    table, y = rng.integers(0, 4, (60, 2)).astype(float), rng.integers(0, 2, 60)
    for weights in (None, rng.random(60)):
        model = OptimalTreeClassifier("fbeta", beta=beta, max_depth=2)
        with pytest.raises(ValueError) as error:
            model.fit(table, y, weights)
        near = advised(error, "round it to ")
        assert near == pytest.approx(beta, rel=0.1)
        model.set_params(beta=near).fit(table, y, weights)
        assert model.status_ == "optimal"


@pytest.mark.parametrize("objective", ["f1", "jaccard", "mcc"])
def test_a_penalty_that_is_advised_has_room(objective):
    table, y = np.arange(60.0)[:, None], np.arange(60) % 3 > 0
    model = OptimalTreeClassifier(objective, leaf_penalty=1e12, max_depth=2)
    with pytest.raises(ValueError) as error:
        model.fit(table, y)
    model.set_params(leaf_penalty=advised(error, ": take ")).fit(table, y)
    assert model.status_ == "optimal" and model.get_n_leaves() == 1


@pytest.mark.parametrize("seed", range(12))
def test_limits_that_are_loosened_as_advised_are_kept(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 12))
    frame = pl.DataFrame({"a": rng.integers(0, 3, n), "s": np.arange(n) % 2 == 0})
    y = np.arange(n) % 2
    weights = [None, rng.random(n), rng.integers(1, 9, n) / 7][seed % 3]
    limits = rng.choice([0.1, 0.3, 1 / 3, 0.07], 2)

    def fit(more):
        both = [Capacity(label, float(most + more)) for label, most in enumerate(limits)]
        model = OptimalTreeClassifier(constraints=both, max_depth=2)
        return model.fit(frame, y, sample_weight=weights)

    with pytest.raises(ValueError) as error:
        fit(0.0)
    loosened = fit(advised(error, "the least violation reachable is "))
    assert loosened.status_ == "optimal"


def test_measurements_that_lie_far_apart_are_no_identifiers():
    income = pl.DataFrame({"income": np.linspace(8_000.5, 90_000.5, N)})
    assert "identifier" not in str(OptimalTreeClassifier(max_depth=1).fit(income, Y).certificate_)


def test_certificates_note_columns_that_cannot_help():
    odd = pl.DataFrame(
        {
            "number": RNG.permutation(10 * N)[:N],
            "age": RNG.integers(18, 90, N),
            "same": [1.5] * N,
            "none": pl.Series([None] * N, dtype=pl.Float64),
        }
    ).with_columns(years=pl.col("age") * 12.5)
    model = OptimalTreeClassifier(max_depth=1).fit(odd, Y)
    notes = [
        "'none' has no value in any row",
        "'same' has one value in all rows",
        "'age' and 'years' divide the rows alike, so that one is enough",
        "'number' looks like an identifier, with a value for nearly each row",
    ]
    assert model.certificate_.notes == notes
    for note in notes:
        assert f"\nNote: {note}.\n" in str(model.certificate_)
    assert not OptimalTreeClassifier(max_depth=1).fit(odd.select("age"), Y).certificate_.notes
    # A list may leave out what there is.
    left_out = OptimalTreeClassifier(max_depth=1, thresholds={"age": []})
    assert not left_out.fit(odd.select("age", "years"), Y).certificate_.notes


def test_thousands_of_columns_are_compared_in_no_time():
    wide = np.zeros((40, 8_000), dtype=np.int8)
    wide[39] = 1
    wide[RNG.integers(0, 40, 8_000), np.arange(8_000)] = 1
    model = OptimalTreeClassifier(max_depth=1).fit(wide, np.arange(40) % 2)
    assert "divide the rows alike" in model.certificate_.notes[0]
