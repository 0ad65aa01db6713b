"""Feature costs beside limits, metrics and policies: against all trees and labellings."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from brute import cases
from sklearn.metrics import matthews_corrcoef
from certree import (
    Capacity,
    DemographicParity,
    EqualOpportunity,
    FeatureCost,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalTreeClassifier,
    SumLimit,
    scorers,
)

SEEDS = cases(10)


class Random:
    """Rows of Boolean columns, feature costs, and every tree of depth at most two."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = np.random.default_rng(seed)
        self.n = int(rng.integers(6, 16))
        self.X = rng.random((self.n, 3)) < 0.5
        self.y = rng.random(self.n) < 0.45
        self.group = rng.choice(["a", "b"], self.n)
        self.group[:2] = "a", "b"
        self.y[:4] = False, False, True, True
        self.weights = rng.integers(1, 4, self.n) if rng.random() < 0.3 else np.ones(self.n)
        self.penalty = float(rng.choice([0.0, 0.0, 0.01, 0.05]))
        self.depth = int(rng.integers(1, 3))
        self.leaves = int(rng.integers(2, 5)) if rng.random() < 0.3 else None
        self.rows = int(rng.choice([1, 1, 2]))
        self.costs = {}
        for name in ("x0", "x1", "x2"):
            cost = float(rng.choice([0.0, 0.01, 0.05, 0.1, 0.2]))
            in_group = rng.random() < 0.6
            self.costs[name] = FeatureCost(cost, "lab", cost / 2) if in_group else cost
        self.shape = {
            "leaf_penalty": self.penalty,
            "max_depth": self.depth,
            "max_leaf_nodes": self.leaves,
            "min_samples_leaf": self.rows,
            "feature_costs": self.costs,
        }

    def table(self, constraints):
        """Groups are no feature, so that they are there only for limits on them."""
        columns = {f"x{at}": self.X[:, at] for at in range(3)}
        named = any(hasattr(each, "sensitive") for each in constraints)
        return pl.DataFrame(columns | ({"group": self.group} if named else {}))

    def price(self, path, column):
        if column in path:
            return 0.0
        cost = self.costs[f"x{column}"]
        if not isinstance(cost, FeatureCost):
            return cost
        opened = any(isinstance(self.costs[f"x{other}"], FeatureCost) for other in path)
        return cost.discounted if opened else cost.cost

    def trees(self, n_labels, rows=None, depth=None, path=()):
        """Of all trees: what each row is answered, what each row pays, and the leaves."""
        if rows is None:
            rows, depth = np.ones(self.n, dtype=bool), self.depth
        answers = [np.where(rows, label, 0) for label in range(n_labels)]
        found = [(answer, np.zeros(self.n), 1) for answer in answers]
        for column in range(3) if depth else ():
            sides = rows & ~self.X[:, column], rows & self.X[:, column]
            if min(side.sum() for side in sides) < self.rows:
                continue
            price = np.where(rows, self.price(path, column), 0.0)
            below = (*path, column)
            left, right = (self.trees(n_labels, side, depth - 1, below) for side in sides)
            found += [
                (a + b, paid + more + price, m + k) for a, paid, m in left for b, more, k in right
            ]
        return [tree for tree in found if self.leaves is None or tree[2] <= self.leaves]

    def share(self, hits, among=True):
        among = np.broadcast_to(among, self.n)
        return (self.weights * (hits & among)).sum() / (self.weights * among).sum()

    def least(self, loss, keeps=lambda answers: True, n_labels=2):
        best = np.inf
        for answers, paid, leaves in self.trees(n_labels):
            if keeps(answers):
                paid = np.average(paid, weights=self.weights)
                best = min(best, loss(answers) + paid + self.penalty * leaves)
        return best


def limits(of: Random, label, of_classes):
    """Random limits, and what says whether they are kept."""
    most, rng = float(of.rng.choice([0.05, 0.2, 0.4])), of.rng
    first, second = of.group == "a", of.group == "b"
    prices = rng.integers(0, 5, of.n).astype(float)
    budget = float(np.round((of.weights * prices).sum() * rng.choice([0.2, 0.5])))
    true = of.y == label

    def apart(among):
        return lambda hits: abs(of.share(hits, among & first) - of.share(hits, among & second))

    all_limits = [
        (Capacity(label, most), lambda hits: of.share(hits) <= most + 1e-12),
        (
            DemographicParity("group", most, label=label),
            lambda hits: apart(np.ones(of.n, dtype=bool))(hits) <= most + 1e-12,
        ),
        (
            SumLimit(prices, label=label, at_most=budget),
            lambda hits: (of.weights * prices * hits).sum() <= budget + 1e-9,
        ),
    ]
    if of_classes and (true & first).any() and (true & second).any():
        opportunity = EqualOpportunity("group", most, label=label)
        all_limits.append((opportunity, lambda hits: apart(true)(hits) <= most + 1e-12))
    count = int(rng.integers(1, 4))
    chosen = [all_limits[at] for at in rng.permutation(len(all_limits))[:count]]
    kept = [each[1] for each in chosen]
    return tuple(each[0] for each in chosen), lambda hits: all(keeps(hits) for keeps in kept)


def agrees(of: Random, model, given, best):
    table = of.table(model.constraints)
    if best == np.inf:
        with pytest.raises(ValueError, match="no tree"):
            model.fit(table, **given, sample_weight=of.weights)
        return
    model.fit(table, **given, sample_weight=of.weights)
    assert model.status_ == "optimal"
    assert model.objective_ == pytest.approx(best, abs=1e-9)
    assert model.lower_bound_ == pytest.approx(best, abs=1e-9)
    assert len(model.certificate_.constraints) == len(model.constraints)
    # They are given, even where all of them are 0.
    assert "feature costs included" in str(model.certificate_)


@pytest.mark.parametrize("seed", SEEDS)
def test_limits_of_classes(seed):
    of = Random(seed)
    constraints, keeps = limits(of, True, True)
    best = of.least(lambda given: of.share(given != of.y), lambda given: keeps(given == 1))
    model = OptimalTreeClassifier(constraints=constraints, **of.shape)
    agrees(of, model, {"y": of.y}, best)
    if best < np.inf:
        table = of.table(constraints)
        paid = np.average(model.feature_costs_paid(table), weights=of.weights)
        penalty = of.penalty * model.certificate_.n_leaves
        loss = of.share(model.predict(table) != of.y)
        assert model.objective_ == pytest.approx(loss + paid + penalty, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_costs_and_policies_with_limits_and_without(seed):
    of = Random(seed)
    numbers, rows = of.rng.random((of.n, 3)).round(3), np.arange(of.n)
    constraints, keeps = limits(of, 1, False)
    if seed % 3 == 0:
        constraints, keeps = (), lambda hits: True

    def mean(given):
        return np.average(numbers[rows, given], weights=of.weights)

    def kept(given):
        return keeps(given == 1)

    model = OptimalCostTree(constraints=constraints, **of.shape)
    agrees(of, model, {"costs": numbers}, of.least(mean, kept, 3))
    policy = OptimalPolicyTree(constraints=constraints, **of.shape)
    best = of.least(lambda given: -mean(given), kept, 3)
    agrees(of, policy, {"rewards": numbers}, best)
    if best < np.inf:
        table = of.table(constraints)
        value = policy.policy_value(table, rewards=numbers, sample_weight=of.weights).value
        paid = np.average(policy.feature_costs_paid(table), weights=of.weights)
        penalty = of.penalty * policy.certificate_.n_leaves
        assert policy.objective_ == pytest.approx(paid - value + penalty, abs=1e-9)
        scored = scorers.objective(
            policy, table, rewards=numbers, sample_weight=of.weights
        )
        assert scored == pytest.approx(value - paid, abs=1e-9)


def f1_of(y, given, weights):
    hits = (weights * (y & given)).sum()
    return 2 * hits / ((weights * y).sum() + (weights * given).sum())


def losses_of(of: Random):
    """Losses of two classes by definition, and how they are asked for."""
    weights, y = of.weights, of.y
    negatives = ~y

    def jaccard(given):
        return (weights * (y & given)).sum() / (weights * (y | given)).sum()

    def fbeta(given, beta=2.0):
        hits = (1 + beta**2) * (weights * (y & given)).sum()
        wrong = (weights * (negatives & given)).sum() + beta**2 * (weights * (y & ~given)).sum()
        return hits / (hits + wrong)

    return {
        "f1": ({}, lambda given: 1 - f1_of(y, given, weights)),
        "fbeta": ({"beta": 2.0}, lambda given: 1 - fbeta(given)),
        "jaccard": ({}, lambda given: 1 - jaccard(given)),
        "mcc": ({}, lambda given: 1 - matthews_corrcoef(y, given, sample_weight=weights)),
        "f1_macro": (
            {},
            lambda given: 1
            - (f1_of(y, given, weights) + f1_of(negatives, ~given, weights)) / 2,
        ),
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_metrics(seed):
    of = Random(seed)
    for objective, (more, loss) in losses_of(of).items():
        if objective == "mcc" and seed % 5:
            continue
        best = of.least(lambda given: loss(given.astype(bool)))
        model = OptimalTreeClassifier(objective, constraints=(), **more, **of.shape)
        agrees(of, model, {"y": of.y}, best)
        held_out = scorers.objective(model, of.table(()), of.y, sample_weight=of.weights)
        penalty = of.penalty * model.certificate_.n_leaves
        assert model.objective_ == pytest.approx(penalty - held_out, abs=1e-9)
    with pytest.raises(ValueError, match="leave one of them out"):
        OptimalTreeClassifier("f1", constraints=(Capacity(True, 0.5),), **of.shape).fit(None, None)
