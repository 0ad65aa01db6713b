"""Two equal fits give the same tree, whatever is fitted inside, unless the user asks for a draw."""

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from certree import (
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    ThresholdGuesser,
)

pytestmark = pytest.mark.usefixtures("one_thread")

N = 150
RNG = np.random.default_rng(8)
X = pl.DataFrame({name: RNG.normal(size=N).round(2) for name in "abc"})
Y = (X["a"] * X["b"] + 0.5 * X["c"]).to_numpy() + RNG.normal(size=N) * 0.3
COSTS = np.column_stack([Y, -Y, 0.3 + RNG.random(N)])
GIVEN = RNG.choice(["drug", "none"], N)


def forest():
    return RandomForestClassifier(3, max_depth=2)


def numbers():
    return RandomForestRegressor(3, max_depth=2)


SMALL = {"max_depth": 2, "thresholds": 5}
MODELS = [
    (OptimalTreeClassifier(**SMALL, reference=forest()), (Y > 0,)),
    (OptimalTreeClassifier(max_depth=2, thresholds=ThresholdGuesser(forest())), (Y > 0,)),
    (
        OptimalTreeClassifier(
            **SMALL, reference=make_pipeline(StandardScaler(), ExtraTreesClassifier(3, max_depth=2))
        ),
        (Y > 0,),
    ),
    (OptimalTreeRegressor(**SMALL, reference=numbers()), (Y,)),
    (OptimalTreeRegressor(max_depth=2, thresholds=ThresholdGuesser(numbers())), (Y,)),
    (OptimalCostTree(**SMALL, reference=forest()), (COSTS,)),
    (OptimalPolicyTree(**SMALL, reference=forest()), (GIVEN, Y)),
    (
        OptimalPolicyTree(
            **SMALL,
            propensity_model=DecisionTreeClassifier(max_features=1),
            outcome_model=DecisionTreeRegressor(max_features=1),
        ),
        (GIVEN, Y),
    ),
]


def outcome(model, data):
    model.fit(X, *data)
    # The bound comes from what the reference answers, so it tells two references apart.
    return model.tree_.to_json(), model.objective_, model.lower_bound_, model.certificate_.cuts


@pytest.mark.parametrize(("model", "data"), MODELS)
def test_equal_fits_are_equal(model, data):
    first, second = (outcome(clone(model), data) for _ in range(2))
    assert first == second
    assert first == outcome(clone(model).set_params(**seeded(model, 0)), data)
    drawn = [
        outcome(clone(model).set_params(**seeded(model, np.random.RandomState(3))), data)
        for _ in range(2)
    ]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("at", [0, 1, 5, 7])
def test_another_seed_is_another_reference(at):
    model, data = MODELS[at]
    found = [outcome(clone(model).set_params(**seeded(model, seed)), data) for seed in range(8)]
    assert any(each != found[0] for each in found)


def seeded(model, seed):
    inside = isinstance(model.thresholds, ThresholdGuesser)
    return {"thresholds__random_state" if inside else "random_state": seed}


def test_a_seed_of_the_models_own_is_kept():
    found = [
        outcome(
            OptimalTreeClassifier(
                **SMALL, reference=forest().set_params(random_state=7), random_state=seed
            ),
            (Y > 0,),
        )
        for seed in range(3)
    ]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("bad", [-1, 2**32, 1.5, "one", True])
def test_a_seed_that_is_none(bad):
    with pytest.raises(ValueError, match="random_state=.* an integer from 0 to"):
        OptimalTreeClassifier(random_state=bad).fit(X, Y > 0)
    with pytest.raises(ValueError, match="random_state=.* an integer from 0 to"):
        OptimalPolicyTree(random_state=bad).fit(X, GIVEN, Y)
    with pytest.raises(ValueError, match="random_state=.* an integer from 0 to"):
        ThresholdGuesser(random_state=bad).fit(X, Y > 0)
