"""Feature costs beside every task whose losses add up: against all trees."""

from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import polars as pl
import pytest
from brute import cases
from paying import Errors

from certree import (
    FeatureCost,
    MostColumns,
    OptimalSurvivalTree,
    OptimalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    frontier,
    scorers,
)
from certree.estimators import _quantiles, _rates
from certree.estimators._kaplan_meier import AtRisk
from certree.estimators.survival import exposure_of

SEEDS = cases(25)


class Spread:
    """(Σ x²) − (Σ x)² / n, in floats."""

    def leaf_cost(self, sums):
        return np.maximum(sums[:, 1] - sums[:, 0] ** 2 / sums[:, 2], 0.0)

    def answer(self, sums):
        return sums[0] / sums[2]


class Rows:
    """Random rows, costs, and limits on trees. Questions are told by the rows that go right."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = np.random.default_rng(seed)
        self.n = int(rng.integers(6, 15))
        self.n_columns = int(rng.integers(2, 5))
        X = np.column_stack(
            [rng.integers(0, rng.integers(2, 4), self.n) for _ in range(self.n_columns)]
        ).astype(float)
        X[0], X[1] = 0.0, 1.0
        if rng.random() < 0.3:
            X[2 + int(rng.integers(0, self.n - 2)), 0] = np.nan
        self.X = X
        self.weights = {
            0: np.ones(self.n),
            1: np.ones(self.n),
            2: rng.integers(1, 4, self.n).astype(float),
            3: rng.random(self.n) + 0.1,
        }[int(rng.integers(0, 4))]
        self.penalty = float(rng.choice([0.0, 0.0, 0.01, 0.05]))
        self.depth = int(rng.integers(1, 4))
        self.leaves = int(rng.integers(2, 6)) if rng.random() < 0.4 else None
        self.least_rows = int(rng.choice([1, 1, 2, 3]))
        self.names = [f"x{at}" for at in range(self.n_columns)]
        choices = [[0.0, 0.01, 0.02, 0.05], [0.0, 0.05, 0.1, 0.2], [1 / 3, 1e-4, 0.0, 1e6]]
        style = int(rng.integers(0, 3))
        self.costs: dict = {}
        self.test_of = {}
        together = self.n_columns > 2 and rng.random() < 0.3
        for at, name in enumerate(self.names):
            if together and at == 1:
                continue
            members = (name, "x1") if together and at == 0 else (name,)
            cost = float(rng.choice(choices[style]))
            group = "lab" if rng.random() < 0.6 else None
            cheaper = cost * float(rng.choice([0.0, 0.5, 1.0]))
            test = FeatureCost(cost, group, cheaper) if group else FeatureCost(cost)
            self.costs[members if len(members) > 1 else name] = test
            self.test_of.update({int(member[1:]): (members, test) for member in members})
        self.shape = {
            "leaf_penalty": self.penalty,
            "max_depth": self.depth,
            "max_leaf_nodes": self.leaves,
            "min_samples_leaf": self.least_rows,
            "feature_costs": self.costs,
        }

    @property
    def table(self):
        return pl.DataFrame(self.X, schema=self.names).fill_nan(None)

    def questions(self):
        for at, column in enumerate(self.X.T):
            missing = np.isnan(column)
            for value in np.unique(column[~missing])[:-1]:
                yield at, column > value
                if missing.any():
                    yield at, (column > value) | missing
            if missing.any():
                yield at, missing

    def price(self, bought, column):
        key, test = self.test_of[column]
        if key in bought:
            return 0.0
        known = any(self.costs[self.key(other)].group == "lab" for other in bought)
        return test.discounted if test.group == "lab" and known else test.cost

    @staticmethod
    def key(members):
        return members if len(members) > 1 else members[0]

    def least(self, loss):
        """The lowest objective of any tree. ``loss``: of the rows of a leaf."""
        shares = self.weights / self.weights.sum()
        questions = [(column, right.tobytes()) for column, right in self.questions()]
        leaf = cache(lambda key: loss(np.frombuffer(key, dtype=bool)) + self.penalty)

        @cache
        def best(key, depth, leaves, bought):
            found, rows = leaf(key), np.frombuffer(key, dtype=bool)
            if depth == 0 or leaves == 1:
                return found
            for column, right in questions:
                right = np.frombuffer(right, dtype=bool)
                sides = rows & ~right, rows & right
                if min(side.sum() for side in sides) < self.least_rows:
                    continue
                paid = self.price(bought, column) * shares[rows].sum()
                below = bought | {self.test_of[column][0]}
                left, right = (side.tobytes() for side in sides)
                for n in range(1, leaves):
                    both = best(left, depth - 1, n, below)
                    both += best(right, depth - 1, leaves - n, below)
                    found = min(found, paid + both)
            return found

        every = np.ones(self.n, dtype=bool).tobytes()
        return best(every, self.depth, self.leaves or 2**self.depth, frozenset())

    def judge(self, model, loss, fitted):
        """The fitted tree is the best one, and says what it costs."""
        leaves, shares = model.apply(self.table), self.weights / self.weights.sum()
        lost = sum(loss(leaves == leaf) for leaf in np.unique(leaves))
        paid = shares @ model.feature_costs_paid(self.table)
        objective = lost + paid + self.penalty * len(np.unique(leaves))
        near = {"rel": 1e-9, "abs": 1e-9}
        assert model.objective_ == pytest.approx(objective, **near)
        assert model.objective_ == pytest.approx(self.least(loss), **near)
        assert model.lower_bound_ <= model.objective_ <= model.lower_bound_ + 2e-9
        assert model.status_ == "optimal"
        are_paid = any(cost.cost > 0 for cost in model.feature_costs.values())
        assert ("feature costs included" in str(model.certificate_)) == are_paid
        if fitted is not None:
            held = -scorers.objective(model, self.table, **fitted)
            assert held == pytest.approx(lost + paid, **near)


def squares(of, columns):
    targets = of.rng.integers(0, 4, (of.n, columns)) * of.rng.choice([0.1, 1.0, 1e5])
    targets = targets + of.rng.choice([0.0, 1.0]) * of.rng.random((of.n, columns))
    targets[0], targets[1] = 0.0, 1.0

    def errors(rows):
        means = np.average(targets[rows], axis=0, weights=of.weights[rows])
        return (of.weights[rows] @ (targets[rows] - means) ** 2).sum()

    whole = errors(np.ones(of.n, dtype=bool))
    return targets if columns > 1 else targets[:, 0], lambda rows: errors(rows) / whole


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("columns", [1, 2])
def test_squared_errors(seed, columns):
    of = Rows(seed)
    targets, loss = squares(of, columns)
    model = OptimalTreeRegressor(**of.shape).fit(of.table, targets, of.weights)
    of.judge(model, loss, {"y": targets, "sample_weight": of.weights})


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("share", [0.5, 0.3])
def test_quantiles(seed, share):
    of = Rows(seed)
    targets = of.rng.integers(0, 6, of.n).astype(float)
    targets[0], targets[1] = 0.0, 1.0

    def errors(rows):
        answers = np.unique(targets)
        each = [
            of.weights[rows] @ _quantiles.pinball(targets[rows], np.full(rows.sum(), at), share)
            for at in answers
        ]
        return min(each)

    whole = errors(np.ones(of.n, dtype=bool))
    given = {"quantile": share} if share != 0.5 else {}
    model = OptimalTreeRegressor("quantile" if given else "absolute_error", **given, **of.shape)
    model.fit(of.table, targets, of.weights)
    of.judge(model, lambda rows: errors(rows) / whole, {"y": targets, "sample_weight": of.weights})


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("objective", ["poisson", "gamma"])
def test_rates(seed, objective):
    of = Rows(seed)
    targets = of.rng.integers(0, 4, of.n) + (0.5 if objective == "gamma" else 0.0)
    targets[0], targets[1] = 1.0, 3.0

    def errors(rows):
        own, weights, ones = targets[rows], of.weights[rows], np.ones(rows.sum())
        rate = np.full(rows.sum(), np.average(own, weights=weights))
        return _rates.deviance(objective, own, rate, ones, weights)

    whole = errors(np.ones(of.n, dtype=bool))
    model = OptimalTreeRegressor(objective, **of.shape).fit(of.table, targets, of.weights)
    of.judge(model, lambda rows: errors(rows) / whole, {"y": targets, "sample_weight": of.weights})


@pytest.mark.parametrize("seed", SEEDS)
def test_survival(seed):
    of = Rows(seed)
    times = of.rng.integers(1, 20, of.n).astype(float)
    died = of.rng.random(of.n) < 0.6
    died[:2] = True
    exposure = exposure_of((AtRisk.of(times, died, of.weights), of.weights.sum()), times)

    def errors(rows):
        events, weights = died[rows].astype(float), of.weights[rows]
        rate = (weights @ events) / (weights @ exposure[rows])
        rates = np.full(rows.sum(), rate)
        return _rates.deviance("poisson", events, rates, exposure[rows], weights)

    whole = errors(np.ones(of.n, dtype=bool))
    model = OptimalSurvivalTree(**of.shape).fit(of.table, times, died, of.weights)
    # A leaf without events has no rate that held-out rows could have.
    of.judge(model, lambda rows: errors(rows) / whole, None)


def impurity(objective, counts):
    total = counts.sum()
    shares = counts[counts > 0] / total
    if objective == "gini":
        return total * (1 - (shares**2).sum())
    return -total * (shares * np.log(shares)).sum()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("objective", ["gini", "log_loss"])
def test_impurities(seed, objective):
    of = Rows(seed)
    y = of.rng.integers(0, int(of.rng.integers(2, 4)), of.n)
    y[0], y[1] = 0, 1
    class_weight = [None, "balanced", {0: 2.0, 1: 0.5}][int(of.rng.integers(0, 3))]
    given = of.weights
    factors = np.ones(3)
    if class_weight == "balanced":
        factors = np.array([1 / max(given[y == k].sum(), 1e-300) for k in range(3)])
    elif class_weight:
        factors = np.array([2.0, 0.5, 1.0])
    # Classes weigh for what rows pay, too.
    of.weights = given * factors[y]
    all_weight = of.weights.sum()

    def loss(rows):
        counts = np.bincount(y[rows], weights=of.weights[rows], minlength=3)
        return impurity(objective, counts) / all_weight

    model = OptimalTreeClassifier(objective, class_weight=class_weight, **of.shape)
    model.fit(of.table, y, given)
    of.judge(model, loss, {"y": y, "sample_weight": given})


@pytest.mark.parametrize("seed", SEEDS)
def test_descriptions_say_what_rows_pay(seed):
    of = Rows(seed)
    y = of.rng.integers(0, 2, of.n)
    y[:2] = 0, 1
    shape = {**of.shape, "leaf_penalty": 0}
    free = OptimalTreeClassifier("mdl", **{**shape, "feature_costs": None})
    free.fit(of.table, y, of.weights)
    model = OptimalTreeClassifier("mdl", **shape).fit(of.table, y, of.weights)
    assert model.status_ == "optimal" and model.objective_ >= free.objective_ - 1e-9
    paid = np.average(model.feature_costs_paid(of.table), weights=of.weights)
    again = OptimalTreeClassifier("mdl", **{**shape, "feature_costs": {"x0": 0.0}})
    again.fit(of.table, y, of.weights, start=model)
    assert again.objective_ <= model.objective_ - paid + 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_several_targets(seed):
    of = Rows(seed)
    y = of.rng.integers(0, 2, (of.n, 2))
    y[0], y[1] = 0, 1

    def loss(rows):
        wrong = 0.0
        for target in y[rows].T:
            weights = np.bincount(target, weights=of.weights[rows], minlength=2)
            wrong += weights.min()
        return wrong / 2 / of.weights.sum()

    model = OptimalTreeClassifier(**of.shape).fit(of.table, y, of.weights)
    of.judge(model, loss, {"y": y, "sample_weight": of.weights})


@pytest.mark.parametrize("seed", SEEDS)
def test_tasks_of_the_users_own(seed):
    of = Rows(seed)
    y = np.eye(2)[of.rng.integers(0, 2, of.n)]
    model = OptimalTree(Errors(), **of.shape).fit(of.table, y, of.weights)

    def wrong(rows):
        return (of.weights[rows] @ y[rows]).min() / of.weights.sum()

    of.judge(model, wrong, {"statistics": y, "sample_weight": of.weights})
    x = of.rng.random(of.n)
    statistics = np.column_stack([x, x**2, np.ones(of.n)])
    model = OptimalTree(Spread(), **of.shape).fit(of.table, statistics, of.weights)

    def spread(rows):
        sums = of.weights[rows] @ statistics[rows]
        return max(sums[1] - sums[0] ** 2 / sums[2], 0.0) / of.weights.sum()

    of.judge(model, spread, None)


def larger(n=150, seed=3):
    rng = np.random.default_rng(seed)
    X = pl.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "blood": rng.normal(0, 1, n).round(1),
            "scan": rng.random(n) < 0.4,
        }
    )
    y = (X["blood"].to_numpy() > 0.3) * 2.0 + X["scan"].to_numpy() * (X["age"].to_numpy() > 50)
    return X, y + rng.normal(0, 0.3, n)


COSTS = {"age": 0.01, "blood": FeatureCost(0.2, "lab", 0.05), "scan": FeatureCost(0.3, "lab", 0.1)}


def test_a_tree_that_pays_is_shown_pickled_and_gone_through_by_size():
    X, y = larger()
    model = OptimalTreeRegressor(max_depth=3, feature_costs=COSTS).fit(X, y)
    assert model.status_ == "optimal"
    assert "squared error as a share of that of a single leaf, feature costs included" in str(
        model.certificate_
    )
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.feature_costs_paid(X), model.feature_costs_paid(X))
    front = frontier(model, X, y)
    leaves = model.get_n_leaves()
    loss = front.filter(pl.col("leaves") == leaves)["loss"][0]
    assert loss == pytest.approx(model.objective_ - 0.01 * leaves)
    ruled = OptimalTreeRegressor(max_depth=3, feature_costs=COSTS, path_rules=[MostColumns(1)])
    assert ruled.fit(X, y).objective_ >= model.objective_ - 1e-12
    for more in ({"n_jobs": 2}, {"memory_limit": 50e6}, {"max_leaf_nodes": 8}):
        other = OptimalTreeRegressor(max_depth=3, feature_costs=COSTS, **more).fit(X, y)
        assert other.objective_ == model.objective_


def test_costs_that_no_loss_can_bear():
    X, y = larger()
    model = OptimalTreeRegressor(max_depth=2, feature_costs={"blood": 1e12, "age": 1e300})
    assert model.fit(X, y).get_n_leaves() <= 2
    assert {node.column for node in model.tree_.nodes if node.split is not None} <= {"scan"}
