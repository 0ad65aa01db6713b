"""Capacities of trees for costs and policies. tests/constrained_rows.rs holds the search to all trees."""

import itertools

import numpy as np
import polars as pl
import pytest

from certree import Capacity, DemographicParity, OptimalCostTree, OptimalPolicyTree

ROWS = pl.DataFrame({"x": [1, 2, 3, 4, 5, 6, 7, 8]})
#: The second label is better for all, and most of all for the last rows.
REWARDS = np.column_stack([np.zeros(8), np.arange(1.0, 9.0)])


def policy(**given):
    return OptimalPolicyTree(leaf_penalty=0.0, max_depth=2, **given)


def test_the_rows_that_gain_most_are_treated():
    free = policy().fit(ROWS, rewards=REWARDS)
    assert free.predict(ROWS).tolist() == [1] * 8
    model = policy(constraints=(Capacity(1, 0.25),)).fit(ROWS, rewards=REWARDS)
    assert model.predict(ROWS).tolist() == [0] * 6 + [1] * 2
    assert model.status_ == "optimal"
    assert model.objective_ == pytest.approx(-15 / 8)
    (met,) = model.certificate_.constraints
    assert str(met) == "capacity of 1: the share is 0.25, and at most 0.25 is allowed"
    # Nodes still show the mean rewards of their rows.
    assert model.predict_rewards(ROWS)[-1].tolist() == [0.0, 7.5]


def test_weights_count_in_a_capacity():
    weights = [1, 1, 1, 1, 1, 1, 0.5, 0.5]
    model = policy(constraints=[Capacity(1, 0.3)])
    model.fit(ROWS, rewards=REWARDS, sample_weight=weights)
    assert model.predict(ROWS).tolist() == [0] * 5 + [1] * 3
    assert model.certificate_.constraints[0].attained == pytest.approx(2 / 7)


def test_costs_agree_with_all_stumps():
    rng = np.random.default_rng(5)
    for _ in range(60):
        X, costs = rng.integers(0, 4, (12, 2)), rng.integers(-5, 6, (12, 3)) / 4
        share = rng.choice([0.0, 0.25, 0.5])
        model = OptimalCostTree(
            max_depth=1, leaf_penalty=0.05, constraints=(Capacity(2, share),)
        ).fit(X, costs)
        sides = [np.zeros(12, bool)]
        sides += [X[:, f] <= cut for f, cut in itertools.product((0, 1), (0, 1, 2))]
        best = np.inf
        for left in sides:
            for a, b in itertools.product(range(3), repeat=2):
                given = np.where(left, a, b)
                if (given == 2).mean() <= share:
                    leaves = 1 if a == b or left.all() or not left.any() else 2
                    best = min(best, costs[np.arange(12), given].mean() + 0.05 * leaves)
        assert model.objective_ == pytest.approx(best)
        assert model.lower_bound_ == pytest.approx(best)
        assert (model.predict(X) == 2).mean() <= share


def test_a_policy_from_what_was_given_keeps_to_a_capacity():
    treatment = ["drug", "none"] * 4
    outcome = [1.0, 5.0, 1.0, 4.0, 9.0, 2.0, 8.0, 3.0]
    model = OptimalPolicyTree("ipw", max_depth=1, constraints=(Capacity("drug", 0.25),))
    model.fit(ROWS, treatment, outcome, propensity=[0.5] * 8)
    assert (model.predict(ROWS) == "drug").mean() <= 0.25


def test_more_cuts_than_are_searched_one_by_one():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    rewards = np.column_stack([np.zeros(400), X[:, 0] + rng.normal(size=400)])
    model = policy(constraints=(Capacity(1, 0.3),), time_limit=30.0).fit(X, rewards=rewards)
    assert (model.predict(X) == 1).mean() <= 0.3
    free = policy(time_limit=30.0).fit(X, rewards=rewards)
    assert free.objective_ <= model.lower_bound_ + 1e-9


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        ((Capacity("a", 0.5),), "Capacity names the label 'a', but the labels are [0, 1]"),
        ((Capacity(1, 1.5),), "max_fraction=1.5 is not valid"),
        ((DemographicParity("x", 0.1),), "must be a tuple of Capacity"),
        (
            (Capacity(0, 0.4), Capacity(1, 0.4)),
            "the least violation reachable is 0.100000",
        ),
    ],
)
def test_what_cannot_be_kept_is_refused(constraints, words):
    with pytest.raises(ValueError) as error:
        policy(constraints=constraints).fit(ROWS, rewards=REWARDS)
    assert words in str(error.value)


def test_weights_that_cannot_be_counted_are_refused():
    with pytest.raises(ValueError, match="round sample_weight to at most 6 decimals"):
        policy(constraints=(Capacity(1, 0.5),)).fit(
            ROWS, rewards=REWARDS, sample_weight=np.full(8, 1 / 3)
        )


def test_a_reference_beside_constraints_is_refused():
    model = policy(constraints=(Capacity(1, 0.5),), reference=[1] * 8)
    with pytest.raises(ValueError, match="the choice of labels under constraints does not"):
        model.fit(ROWS, rewards=REWARDS)
