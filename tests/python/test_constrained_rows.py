"""Capacities of trees for costs and policies. tests/rust/constrained_rows.rs holds the search to
all trees."""

import itertools
import os

import numpy as np
import polars as pl
import pytest

from certree import (
    Capacity,
    DemographicParity,
    EqualOpportunity,
    FalsePositiveRate,
    OptimalCostTree,
    OptimalPolicyTree,
)

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


def groups(seed, n=14, n_labels=3):
    """Rows of two groups, costs of each label, and weights."""
    rng = np.random.default_rng(seed)
    X = pl.DataFrame({"a": rng.integers(0, 4, n), "b": rng.random(n) < 0.5})
    male = (np.arange(n) % 2 == 0) | (rng.random(n) < 0.2)
    costs = rng.integers(-5, 6, (n, n_labels)) / 4
    weights = rng.integers(1, 4, n) / 2
    return X.with_columns(sex=np.where(male, "m", "f")), male, costs, weights


def all_stumps(X, n_labels):
    """What each stump gives to each row, and how many leaves it has."""
    n = X.height
    sides = [np.zeros(n, bool), X["b"].to_numpy()]
    sides += [(X["a"] <= cut).to_numpy() for cut in range(3)]
    for left in sides:
        for a, b in itertools.product(range(n_labels), repeat=2):
            yield np.where(left, a, b), 1 if a == b or left.all() or not left.any() else 2


def share(rows, of, weights):
    return (weights * (rows & of)).sum() / (weights * of).sum()


CASES = int(os.environ.get("CERTREE_CASES", 60))


@pytest.mark.parametrize("n_labels", [2, 3])
def test_groups_agree_with_all_stumps(n_labels):
    done = 0
    for seed in range(CASES):
        X, male, costs, weights = groups(seed, n_labels=n_labels)
        rng = np.random.default_rng(seed)
        named = rng.choice([None, 0, 1], p=[0.5, 0.25, 0.25])
        parity, chances, most = rng.choice([0.0, 0.1, 0.3, 0.6, 1.0], 3)
        weights = weights / 3 if seed % 5 == 0 else weights
        label = int(rng.integers(n_labels))
        cheap = costs[:, label] <= costs.min(axis=1)
        constraints = [DemographicParity("sex", float(parity), label=named)]
        opportunity = seed % 3 == 0 and (cheap & male).any() and (cheap & ~male).any()
        if opportunity:
            constraints.append(EqualOpportunity("sex", float(chances), label=label))
        if seed % 2:
            constraints.append(Capacity(1, float(most)))
        model = OptimalCostTree(max_depth=1, leaf_penalty=0.05, constraints=constraints)
        best = np.inf
        for given, leaves in all_stumps(X, n_labels):
            compared = range(n_labels) if named is None else [named]
            apart = [
                abs(share(given == k, male, weights) - share(given == k, ~male, weights))
                for k in compared
            ]
            keeps = max(apart) <= parity + 1e-9
            if opportunity:
                hit = given == label
                gap = share(hit, cheap & male, weights) - share(hit, cheap & ~male, weights)
                keeps &= abs(gap) <= chances + 1e-9
            if seed % 2:
                keeps &= share(given == 1, given >= 0, weights) <= most + 1e-9
            if keeps:
                cost = (costs[np.arange(len(given)), given] * weights).sum() / weights.sum()
                best = min(best, cost + 0.05 * leaves)
        assert np.isfinite(best)
        model.fit(X, costs, sample_weight=weights)
        assert model.objective_ == pytest.approx(best) and model.status_ == "optimal"
        assert model.lower_bound_ == pytest.approx(best)
        assert "sex" not in model.feature_names_in_
        for met in model.certificate_.constraints:
            assert met.attained <= met.limit + 1e-12
        done += 1
    assert done == CASES


def test_policies_treat_groups_alike():
    X, male, costs, _ = groups(3, n=60)
    for maximize in (True, False):
        model = OptimalPolicyTree(
            maximize=maximize,
            max_depth=2,
            leaf_penalty=0,
            constraints=(DemographicParity("sex", 0.1), Capacity(2, 0.5)),
        ).fit(X, rewards=costs)
        given = model.predict(X.drop("sex"))
        for label in range(3):
            assert abs((given[male] == label).mean() - (given[~male] == label).mean()) <= 0.1
        assert (given == 2).mean() <= 0.5
        parity, capacity = model.certificate_.constraints
        assert str(parity).startswith("demographic parity by 'sex': the difference is")
    one = OptimalPolicyTree(max_depth=2, constraints=(DemographicParity("sex", 0.1, label=2),))
    text = str(one.fit(X, rewards=costs).certificate_)
    assert "demographic parity by 'sex' for 2: the difference is" in text


def test_models_of_a_policy_see_the_sensitive_column():
    X, male, _, _ = groups(4, n=200)
    rng = np.random.default_rng(0)
    treatment = rng.random(200) < np.where(male, 0.8, 0.2)
    outcome = treatment * (X["a"].to_numpy() - 1.5) + 3.0 * male + rng.normal(size=200) * 0.1
    parity = DemographicParity("sex", 0.05)
    free = OptimalPolicyTree("ipw", max_depth=2).fit(X, treatment, outcome)
    fair = OptimalPolicyTree("ipw", max_depth=2, constraints=(parity,)).fit(X, treatment, outcome)
    assert free.objective_ <= fair.objective_
    assert fair.feature_names_in_.tolist() == ["a", "b"]
    given = fair.predict(X.to_pandas())
    assert abs(given[male].mean() - given[~male].mean()) <= 0.05
    # Scores are those of the same models.
    assert fair.policy_value(X, treatment, outcome).value == pytest.approx(
        -fair.objective_ + 0.01 * fair.get_n_leaves()
    )
    used = OptimalPolicyTree(
        "ipw", max_depth=2, constraints=(DemographicParity("sex", 1.0, use_as_feature=True),)
    ).fit(X, treatment, outcome)
    assert used.objective_ == pytest.approx(free.objective_)


@pytest.mark.parametrize(
    ("change", "constraint", "says"),
    [
        (pl.lit("f"), DemographicParity("sex", 0.1), "'sex' has one value, 'f'"),
        (pl.lit(None, pl.String), DemographicParity("sex", 0.1), "'sex' has 14 values missing"),
        (pl.col("sex"), DemographicParity("c0", 0.1), "is also a column of targets or weights"),
        (
            pl.col("sex"),
            DemographicParity("sex", 0.1, label=9),
            "names the label 9, but the labels",
        ),
        (pl.col("sex"), DemographicParity("sex", 2.0), "max_difference=2.0 is not valid"),
        (pl.col("sex"), EqualOpportunity("sex", 0.1, label="c2"), "that 'c2' costs least for"),
    ],
)
def test_sensitive_columns_that_say_nothing(change, constraint, says):
    X, _, costs, _ = groups(1)
    costs[:, 2] = 99
    X = X.with_columns(change.alias("sex")).hstack(pl.DataFrame(costs, schema=["c0", "c1", "c2"]))
    with pytest.raises(ValueError, match=says):
        OptimalCostTree(constraints=(constraint,)).fit(X, ["c0", "c1", "c2"])


def test_too_many_limits_and_arrays():
    X, _, _, _ = groups(1)
    costs = np.random.default_rng(0).random((14, 25))
    with pytest.raises(ValueError, match="set 25 limits, one for each pair of groups and each"):
        OptimalCostTree(constraints=(DemographicParity("sex", 0.5),)).fit(X, costs)
    with pytest.raises(ValueError, match="an array without names"):
        OptimalCostTree(constraints=(DemographicParity("sex", 0.5),)).fit(np.eye(14), costs)


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
        ((FalsePositiveRate(0.1),), "Capacity(...), DemographicParity(...) and SumLimit"),
        ((EqualOpportunity("x", 0.1),), "about rows whose right label is known"),
        ((DemographicParity("x", 0.1, True),), "set 28 limits, one for each pair"),
        ((DemographicParity("z", 0.1),), "sensitive='z' is not a column of X"),
        (
            (Capacity(0, 0.4), Capacity(1, 0.4)),
            "the least violation reachable is 0.1 ",
        ),
    ],
)
def test_what_cannot_be_kept_is_refused(constraints, words):
    with pytest.raises(ValueError) as error:
        policy(constraints=constraints).fit(ROWS, rewards=REWARDS)
    assert words in str(error.value)


def test_weights_that_are_no_short_decimals():
    whole = policy(constraints=(Capacity(1, 0.25),)).fit(ROWS, rewards=REWARDS)
    model = policy(constraints=(Capacity(1, 0.25),))
    model.fit(ROWS, rewards=REWARDS, sample_weight=np.full(8, 1 / 3))
    assert model.predict(ROWS).tolist() == whole.predict(ROWS).tolist()
    assert model.objective_ == pytest.approx(whole.objective_)
    assert model.certificate_.constraints[0].attained == pytest.approx(0.25)


def test_a_reference_beside_constraints_is_refused():
    model = policy(constraints=(Capacity(1, 0.5),), reference=[1] * 8)
    with pytest.raises(ValueError, match="the choice of labels under constraints does not"):
        model.fit(ROWS, rewards=REWARDS)
