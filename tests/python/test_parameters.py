"""Every parameter of everything that has some, with values that nobody should give: it works, or
there is one short error that names the parameter."""

import random
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from certree import (
    Capacity,
    DemographicParity,
    EqualOpportunity,
    FalsePositiveRate,
    FeatureCost,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    ThresholdBinarizer,
    ThresholdGuesser,
    frontier,
)
from certree.scalars import shown

RNG = np.random.default_rng(0)
X, Y = RNG.random((8, 2)), np.arange(8) % 2
VALUES = RNG.random((8, 2))
COUNTS = np.column_stack([Y, 1 - Y])

#: Python refuses to write integers of so many digits.
HUGE = 10**4500
NAN = float("nan")
ODD = [
    *(HUGE, -HUGE, 10**400, -(10**400), 10**30, -(10**30), 2**64, 2**63, -1, 0, 1, 2, -0.0, 0.5),
    *(True, False, np.True_, NAN, np.inf, -np.inf, 5e-324, 1e308, -1e-9, 1 + 2j, None),
    *(np.int64(3), np.int64(-3), np.uint8(2), np.float16(1), np.float32(0.5), np.longdouble(2)),
    *(np.float64("nan"), np.datetime64("2020-01-01"), np.array(3), np.array([1, 2])),
    *(Fraction(1, 3), Fraction(HUGE, 3), Fraction(1, HUGE), Decimal("0.1"), Decimal("NaN")),
    *("3", "", "all", "guess", "\0", "^a$", "x" * 5000, b"3", [], [1], {}, (), set(), range(3)),
    *(object(), int, len, pl.Series([1]), np.array(HUGE, dtype=object), [HUGE], {HUGE: 1}),
    *({"x0": HUGE}, {"x0": [HUGE]}, {"x0": Fraction(HUGE, 3)}, {0: HUGE, 1: 1}, {0: NAN, 1: 1}),
    *({"x0": FeatureCost(HUGE)}, {"x0": FeatureCost(1, "g", HUGE)}, {"x0": FeatureCost(1, HUGE)}),
    *([[0, HUGE], [1, 0]], [[0, -HUGE], [1, 0]], (Capacity(1, HUGE),), (Capacity(HUGE, 0.5),)),
    *((Capacity(1, NAN),), (Capacity(1, True),), (Capacity(1, Fraction(HUGE, 3)),)),
    *((FalsePositiveRate(HUGE),), (DemographicParity("x0", HUGE),), (DemographicParity(HUGE, 1),)),
    *((EqualOpportunity("x0", 0.1, label=HUGE),), (EqualOpportunity("x0", 0.1, HUGE),)),
]


class Errors:
    def leaf_cost(self, sums):
        return sums.sum(axis=1) - sums.max(axis=1)

    def answer(self, sums):
        return 0.0


#: What has parameters, and what its fit gets.
MODELS = {
    "classifier": (OptimalTreeClassifier(max_depth=1), (X, Y)),
    "fbeta": (OptimalTreeClassifier("fbeta", max_depth=1), (X, Y)),
    "partial_auc": (OptimalTreeClassifier("partial_auc", max_depth=1, max_fpr=0.5), (X, Y)),
    "gini": (OptimalTreeClassifier("gini", max_depth=1), (X, Y)),
    "regressor": (OptimalTreeRegressor(max_depth=1), (X, VALUES[:, 0])),
    "quantile": (OptimalTreeRegressor("quantile", max_depth=1), (X, VALUES[:, 0])),
    "costs": (OptimalCostTree(max_depth=1), (X, VALUES)),
    "policy": (OptimalPolicyTree(max_depth=1, n_folds=2), (X, Y, VALUES[:, 0])),
    "survival": (OptimalSurvivalTree(max_depth=1), (X, 1 + np.arange(8), Y)),
    "custom": (OptimalTree(Errors(), max_depth=1), (X, COUNTS)),
    "binarizer": (ThresholdBinarizer(), (X,)),
    "guesser": (ThresholdGuesser(), (X, Y)),
}
CASES = [(kind, name) for kind, (model, _) in MODELS.items() for name in model.get_params(False)]

#: Another value that is allowed, to set after the fit.
OTHERS = {"max_depth": 7, "leaf_penalty": 0.25}


def check_error(error, name):
    text = str(error)
    assert len(text) < 700, f"an error of {len(text)} characters"
    # Python's own words for an integer that is too long or too large.
    assert "Exceeds the limit" not in text and "int too large" not in text, text
    assert "truth value" not in text and "not supported between" not in text, text
    # Constraints and prices are named by what is wrong with them.
    of_parts = name in ("constraints", "feature_costs", "cost_matrix", "reference", "max_fpr")
    assert of_parts or name in text, text


@pytest.mark.parametrize("kind, name", CASES)
@pytest.mark.filterwarnings("ignore")
def test_any_value_works_or_is_one_short_error(kind, name):
    first, data = MODELS[kind]
    # Some of them where others were tried with another estimator.
    some = random.Random(f"{kind} {name}").sample(range(len(ODD)), 20)
    extreme = [HUGE, -HUGE, 10**30, 1e308, 5e-324, NAN]
    for value in ODD if kind == "classifier" else [*extreme, *(ODD[place] for place in some)]:
        if name in ("callback", "objective") and callable(value):
            # What it raises is raised as it is.
            continue
        model = type(first)(**{**first.get_params(False), name: value})
        try:
            model.fit(*data)
        except (ValueError, TypeError) as error:
            check_error(error, name)
            continue
        if not hasattr(model, "certificate_"):
            continue
        assert "Status: " in str(model.certificate_)
        model.tree_.to_json()
        # An error that shows both values.
        other = "max_depth" if name == "leaf_penalty" else "leaf_penalty"
        for changed in (name, other):
            before = getattr(model, changed)
            model.set_params(**{changed: OTHERS.get(changed, first.get_params()[changed])})
            try:
                model.certify()
            except ValueError as error:
                check_error(error, changed if "was fitted and" in str(error) else "certify")
            model.set_params(**{changed: before})


@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
@pytest.mark.filterwarnings("ignore")
def test_arguments_of_a_frontier(value):
    model = OptimalTreeClassifier(max_depth=1)
    for name in ("axes", "time_limit"):
        try:
            frontier(model, X, Y, **{name: value})
        except (ValueError, TypeError) as error:
            check_error(error, name)


def test_any_value_can_be_shown():
    class Broken:
        def __repr__(self):
            raise RuntimeError("no")

    for value in [*ODD, Broken()]:
        assert 0 < len(shown(value)) <= 110
    assert shown(HUGE) == "an integer of 14,949 bits"
    assert shown([HUGE]) == "a list that cannot be shown"
    assert shown(0.1) == "0.1" and shown("a\nb") == "'a\\nb'"


def test_a_limit_on_depth_beyond_any_tree_is_no_work():
    """Searches that go from depth to depth end at the deepest tree that there can be, or at their
    time limit."""
    for objective in ("f1", "mcc", "auc"):
        model = OptimalTreeClassifier(objective, max_depth=10**30, time_limit=30)
        free = OptimalTreeClassifier(objective, max_depth=None, time_limit=30)
        assert model.fit(X, Y).objective_ == pytest.approx(free.fit(X, Y).objective_)
        assert model.status_ == "optimal"
    many = RNG.random((2000, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stopped = OptimalTreeClassifier("f1", max_depth=10**30, time_limit=0.5)
        stopped.fit(many, np.arange(2000) % 2)
    assert stopped.status_ == "time_limit" and stopped.certificate_.seconds < 30
