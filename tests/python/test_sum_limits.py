"""Limits on sums, several groups, ratios and rates: against all stumps, and what is refused."""

from __future__ import annotations

import itertools
import os
import pickle

import numpy as np
import polars as pl
import pytest

from certree import (
    Capacity,
    DemographicParity,
    EqualOpportunity,
    EqualRates,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalTreeClassifier,
    SumLimit,
)

#: More of them by hand.
SEEDS = range(int(os.environ.get("CERTREE_CASES", 60)))

#: Three ratios of six groups each are refused.
TOO_MANY = "at most 24 are possible"


def people(seed: int, n: int = 30) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame({
        "race": rng.choice(list("abc"), n),
        "sex": rng.choice(["f", "m"], n),
        "age": rng.integers(0, 8, n),
        "price": rng.integers(-3, 9, n) / (1 if seed % 2 else 4),
        "weight": rng.integers(1, 4, n),
        "y": rng.random(n) < 0.4,
    })


def stumps(age: np.ndarray):
    """Every stump with every labelling: leaves, and the answers."""
    yield 1, np.zeros(len(age), dtype=bool)
    yield 1, np.ones(len(age), dtype=bool)
    for value in np.unique(age)[:-1]:
        for labels in itertools.permutations((False, True)):
            yield 2, np.where(age > value, *labels)


def rates(constraint, frame, given, weights):
    y = frame["y"].to_numpy()
    counts = {
        "selection": (np.ones(len(y), dtype=bool), given),
        "true_positive": (y, given),
        "false_positive": (~y, given),
        "error": (np.ones(len(y), dtype=bool), given != y),
    }
    of, hits = counts[constraint.rate]
    names = frame.select(constraint.columns).rows()
    groups = np.array(["/".join(map(str, row)) for row in names])
    found = []
    for group in np.unique(groups):
        own, others = of & (groups == group), of & (groups != group)
        rate = np.average(hits[own], weights=weights[own])
        rest = np.average(hits[others], weights=weights[others])
        found.append((rate, rest))
    return found


def keeps(constraint, frame, given, weights) -> bool:
    if isinstance(constraint, SumLimit):
        values = frame[constraint.values] if constraint.is_column else constraint.values
        total = (np.asarray(values) * weights * given).sum()
        least = -np.inf if constraint.at_least is None else constraint.at_least
        most = np.inf if constraint.at_most is None else constraint.at_most
        return bool(least - 1e-9 <= total <= most + 1e-9)
    if isinstance(constraint, Capacity):
        share = np.average(given, weights=weights)
        return (constraint.min_fraction or 0) <= share <= (constraint.max_fraction or 1)
    each = rates(constraint, frame, given, weights)
    own = [rate for rate, _ in each]
    pairs = list(itertools.permutations(own, 2))
    if constraint.against == "rest":
        # Neither is below so many times the other.
        pairs = [*each, *(pair[::-1] for pair in each)]
    if constraint.max_difference is not None:
        return all(abs(a - b) <= constraint.max_difference + 1e-9 for a, b in pairs)
    return all(a >= constraint.min_ratio * b - 1e-9 for a, b in pairs)


def random_constraint(rng: np.random.Generator):
    kind = rng.integers(6)
    most = float(rng.choice([0, 0.1, 0.25, 0.5]))
    against = str(rng.choice(["each", "rest"]))
    # Pairs of six groups would be too many.
    sensitive = ["race", "sex", ["race", "sex"]][rng.integers(3 if against == "rest" else 2)]
    if kind == 0:
        return SumLimit("price", at_most=float(rng.integers(0, 40)))
    if kind == 1:
        least = float(rng.integers(-20, 20))
        return SumLimit("price", at_least=least, at_most=least + float(rng.integers(0, 30)))
    if kind == 2:
        return Capacity(True, min_fraction=most / 2, max_fraction=most + 0.3)
    if kind == 3:
        ratio = float(rng.choice([0.5, 0.8, 1.0]))
        return DemographicParity(sensitive, min_ratio=ratio, against=against)
    rate = str(rng.choice(["selection", "error", "true_positive", "false_positive"]))
    return EqualRates(rate, sensitive, most, against=against)


@pytest.mark.parametrize("seed", SEEDS)
def test_constraints_agree_with_all_stumps(seed):
    rng, frame = np.random.default_rng(seed), people(seed)
    constraints = tuple(random_constraint(rng) for _ in range(rng.integers(1, 4)))
    weights = np.ones(frame.height) if seed % 3 else frame["weight"].to_numpy()
    model = OptimalTreeClassifier(max_depth=1, leaf_penalty=0.01, constraints=constraints)
    kept = frame.drop("weight")
    best = np.inf
    try:
        for each in constraints:
            keeps(each, frame, np.ones(frame.height, dtype=bool), weights)
        for leaves, given in stumps(frame["age"].to_numpy()):
            if all(keeps(each, frame, given, weights) for each in constraints):
                wrong = np.average(given != frame["y"].to_numpy(), weights=weights)
                best = min(best, wrong + 0.01 * leaves)
    except ZeroDivisionError:
        with pytest.raises(ValueError, match="has no row whose label"):
            model.fit(rows_of(kept, constraints), "y", sample_weight=weights)
        return
    X = rows_of(kept, constraints)
    if best == np.inf:
        with pytest.raises(ValueError, match=f"the least violation reachable is|{TOO_MANY}"):
            model.fit(X, "y", sample_weight=weights)
        return
    try:
        model.fit(X, "y", sample_weight=weights)
    except ValueError as error:
        assert TOO_MANY in str(error)
        return
    assert model.objective_ == pytest.approx(best)
    assert model.status_ == "optimal" and model.lower_bound_ == pytest.approx(best)
    given = model.predict(frame)
    assert all(keeps(each, frame, given, weights) for each in constraints)
    assert len(model.certificate_.constraints) == len(constraints)


def rows_of(frame: pl.DataFrame, constraints) -> pl.DataFrame:
    """Only columns that constraints name, and the one feature that stumps split on."""
    named = {"age", "y"}
    for each in constraints:
        if isinstance(each, SumLimit):
            named.add(each.values)
        elif not isinstance(each, Capacity):
            named.update(each.columns)
    return frame.select([name for name in frame.columns if name in named])


@pytest.mark.parametrize("estimator", [OptimalCostTree, OptimalPolicyTree])
@pytest.mark.parametrize("seed", range(20))
def test_budgets_and_groups_of_rows_agree_with_all_stumps(estimator, seed):
    rng, frame = np.random.default_rng(seed), people(seed)
    gains = rng.integers(-3, 6, frame.height).astype(float)
    budget = SumLimit("price", label=1, at_most=float(rng.integers(0, 30)))
    alike = DemographicParity("race", 0.4, label=1)
    ratio = DemographicParity("sex", min_ratio=0.5, label=1, against="rest")
    constraints = (budget, alike, ratio)[: 1 + seed % 3]
    given_numbers = np.column_stack([np.zeros(frame.height), gains])
    ones = np.ones(frame.height)
    best = min(
        -np.mean(gains * given) + 0.01 * leaves
        for leaves, given in stumps(frame["age"].to_numpy())
        if all(keeps(each, frame, given, ones) for each in constraints)
    )
    X = rows_of(frame.drop("y"), constraints)
    if estimator is OptimalCostTree:
        model = OptimalCostTree(max_depth=1, leaf_penalty=0.01, constraints=constraints)
        model.fit(X, -given_numbers)
    else:
        model = OptimalPolicyTree(max_depth=1, leaf_penalty=0.01, constraints=constraints)
        model.fit(X, rewards=given_numbers)
    assert model.objective_ == pytest.approx(best)


def test_metrics_keep_to_sums():
    frame = people(1)
    y, age = frame["y"].to_numpy(), frame["age"].to_numpy()
    budget = SumLimit("price", at_most=6)
    best = min(
        1 - 2 * (y & given).sum() / (y.sum() + given.sum())
        for _, given in stumps(age)
        if keeps(budget, frame, given, np.ones(len(y)))
    )
    model = OptimalTreeClassifier("f1", max_depth=1, leaf_penalty=0, constraints=(budget,))
    model.fit(frame.select("age", "price", "y"), "y")
    assert model.objective_ == pytest.approx(best)


def test_precision_and_recall_have_floors():
    frame = people(3, 60)
    y = frame["y"].to_numpy()
    precision = SumLimit(y - 0.6, at_least=0)
    recall = SumLimit(y, at_least=0.3 * y.sum())
    model = OptimalTreeClassifier(max_depth=3, leaf_penalty=0, constraints=(precision, recall))
    given = model.fit(frame.select("age", "price", "y"), "y").predict(frame)
    assert y[given].mean() >= 0.6 and (y & given).sum() >= 0.3 * y.sum()
    assert "sum of given numbers over rows that get True" in str(model.certificate_)


def test_numbers_that_are_no_short_decimals_are_charged():
    frame = people(5, 60)
    prices = np.random.default_rng(0).random(60)
    whole = np.round(prices * 1000)
    model = OptimalTreeClassifier(max_depth=2, leaf_penalty=0)
    X = frame.select("age", "y")
    short = model.set_params(constraints=(SumLimit(whole, at_most=5000.0),)).fit(X, "y").objective_
    model.set_params(constraints=(SumLimit(whole / 3000, at_most=5 / 3),)).fit(X, "y")
    assert model.objective_ == pytest.approx(short)
    assert model.status_ == "optimal"


def test_arrays_name_columns_by_number():
    frame = people(2, 60)
    X = frame.select("age", pl.col("race").rank("dense"), "price").to_numpy()
    y = frame["y"].to_numpy()
    constraints = (DemographicParity(1, 0.1), SumLimit(2, at_most=20))
    model = OptimalTreeClassifier(max_depth=2, constraints=constraints).fit(X, y)
    named = (DemographicParity("race", 0.1), SumLimit("price", at_most=20))
    by_name = OptimalTreeClassifier(max_depth=2, constraints=named)
    by_name.fit(frame.select("age", "race", "price", "y"), "y")
    assert model.objective_ == by_name.objective_
    # Rows to predict have the shape of those of the fit.
    others = X * [1, -1, 0]
    assert model.predict(others).tolist() == by_name.predict(frame).tolist()
    assert model.n_features_in_ == 3
    costs = np.column_stack([y, ~y]).astype(float)
    rows = OptimalCostTree(max_depth=2, constraints=(SumLimit(2, label=1, at_most=20),))
    assert rows.fit(X, costs).objective_ <= model.objective_ + 1e-9
    texts = [str(each) for each in model.certificate_.constraints]
    assert texts[0].startswith("demographic parity by column 1: the difference is")
    assert "sum of column 2 over rows that get True: it is" in texts[1]
    assert str(pickle.loads(pickle.dumps(model)).certificate_) == str(model.certificate_)


def test_what_is_kept_is_said_in_words():
    frame = people(4, 80)
    constraints = (
        DemographicParity(["race", "sex"], min_ratio=0.3, against="rest"),
        EqualRates("error", "race", 0.3, against="rest"),
        Capacity(True, min_fraction=0.1, max_fraction=0.9),
    )
    model = OptimalTreeClassifier(max_depth=3, leaf_penalty=0, constraints=constraints)
    model.fit(frame.drop("weight"), "y")
    parity, error, capacity = map(str, model.certificate_.constraints)
    assert parity.startswith("demographic parity by 'race' and 'sex', each group against all oth")
    assert "the ratio is" in parity and parity.endswith("and at least 0.3 is allowed")
    assert error.startswith("equal error rates by 'race', each group against all others: the diff")
    assert capacity.endswith("and from 0.1 to 0.9 are allowed")


@pytest.mark.parametrize(
    ("constraint", "says"),
    [
        (SumLimit("price"), "a constraint has no limit"),
        (SumLimit("price", at_most=1, at_least=2), "allows nothing: at least 2 and at most 1"),
        (SumLimit("price", at_most=float("nan")), "at_most=nan is not valid"),
        (SumLimit("cost", at_most=1), "values='cost' is not a column of X"),
        (SumLimit("race", at_most=1), "must be numbers, but has the type"),
        (SumLimit("y", at_most=1), "values='y' is the column of y"),
        (SumLimit([1.0, 2.0], at_most=1), "values has 2 rows, but X has 30; name a column"),
        (SumLimit([None] * 30, at_most=1), "must be"),
        (SumLimit([float("inf")] * 30, at_most=1), "must be finite, but 30 values"),
        (SumLimit([1e308] * 30, at_most=1), "add up to more than a float holds"),
        (SumLimit("price", label="no", at_most=1), "names the label 'no'"),
        (SumLimit("price", at_least=1e6), r"beyond SumLimit\('price', at_least=1000000.0\)"),
        (Capacity(True), "a constraint has no limit"),
        (Capacity(True, min_fraction=2), "min_fraction=2 is not valid"),
        (DemographicParity("race"), "takes one of max_difference and min_ratio"),
        (DemographicParity("race", 0.1, min_ratio=0.5), "takes one of max_difference"),
        (DemographicParity("race", min_ratio=1 / 3), "must have at most 6 decimals"),
        (DemographicParity("race", 0.1, against="all"), "against='all' is not valid"),
        (DemographicParity([], 0.1), "names no sensitive column"),
        (EqualRates("accuracy", "race", 0.1), "rate='accuracy' is not valid"),
        (EqualOpportunity("rare", 0.1), "the group 'z' of 'rare' has no row whose label is True"),
    ],
)
def test_bad_input(constraint, says):
    rare = pl.when(pl.col("y")).then(pl.lit("a")).otherwise(pl.lit("z")).alias("rare")
    frame = people(1).drop("weight").with_columns(rare)
    with pytest.raises(ValueError, match=says):
        OptimalTreeClassifier(max_depth=1, constraints=(constraint,)).fit(frame, "y")


def test_the_error_says_which_limit_is_in_the_way():
    X, y = np.arange(10.0)[:, None], np.arange(10) > 4
    few, many = Capacity(True, max_fraction=0.3), Capacity(True, min_fraction=0.5)
    limits = (few, many, Capacity(False, 1))
    with pytest.raises(ValueError) as error:
        OptimalTreeClassifier(max_depth=1, constraints=limits).fit(X, y)
    text = str(error.value)
    assert "With all others kept, beyond Capacity(label=True, max_fraction=0.3" in text
    assert "min_fraction=None): at least 0.2;" in text and "no amount is enough" in text
