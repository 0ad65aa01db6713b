"""Objectives and bounds against fractions: numbers of very different sizes, and all trees tried."""

import os
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from certree import FeatureCost, OptimalCostTree, OptimalTreeClassifier, OptimalTreeRegressor

#: More cases: CERTREE_CASES=200000 python -m pytest tests/python/test_exact_objective.py
CASES = int(os.environ.get("CERTREE_CASES", 150))


def written(x):
    """A float as the decimal that it is written as."""
    return Fraction(repr(float(x)))


def weights_read(weights):
    """Short decimals as they are written, others as they are stored."""
    short = [Fraction(round(w, 6)).limit_denominator(10**6) for w in weights]
    if all(float(a) == b for a, b in zip(short, weights)) and sum(weights) < 2**53 / 10**6:
        return short
    return [Fraction(w) for w in weights]


def splits(X, rows):
    """Both sides of each way to divide some rows by one column."""
    for column in range(X.shape[1]):
        values = sorted({X[row, column] for row in rows})
        for low in values[:-1]:
            left = frozenset(row for row in rows if X[row, column] <= low)
            yield left, rows - left


def partitions(X, depth):
    """The leaves of each tree of no more than this depth."""

    @cache
    def of(rows, depth):
        found = {frozenset([rows])}
        if depth > 0:
            for left, right in splits(X, rows):
                found |= {a | b for a, b in product(of(left, depth - 1), of(right, depth - 1))}
        return found

    return of(frozenset(range(len(X))), depth)


def leaves_of(model, X):
    """The rows of each leaf of a fitted tree."""
    at = model.apply(X)
    return frozenset(frozenset(np.flatnonzero(at == leaf).tolist()) for leaf in set(at.tolist()))


def check(model, X, objective, depth, scale=0):
    """``objective``: of the rows of each leaf, and of the labels that the model gives them or the
    best ones."""
    found = objective(leaves_of(model, X), model)
    best = min(objective(leaves, None) for leaves in partitions(X, depth))
    check_against(model, found, best, scale)
    return best


def check_against(model, found, best, scale):
    """The objective of the fitted tree, and the best one there is."""
    size = abs(found) + scale
    assert abs(
        Fraction(model.objective_) - found
    ) <= size * Fraction(1, 2**51), (model.objective_, float(found))
    assert Fraction(model.lower_bound_) <= best + abs(best) * Fraction(1, 2**52), (
        model.lower_bound_, float(best)
    )
    assert model.lower_bound_ <= model.objective_
    if model.status_ == "optimal":
        # What is no larger than a rounding of what every tree pays is no gap.
        allowed = Fraction(1, 10**9) * max(abs(best), scale)
        assert found - best <= allowed, (float(found), float(best))
        assert Fraction(model.gap_) <= allowed + size * Fraction(1, 2**51), (
            model.gap_, float(best)
        )
    return best


def additive(costs, weights, normalizer, penalty, labels):
    """Σ of weighed costs by row and label, over the normalizer, with a penalty for each leaf."""

    def objective(leaves, model):
        loss = Fraction(0)
        for rows in leaves:
            paid = [sum(weights[row] * costs[row][k] for row in rows) for k in range(len(labels))]
            if model is None:
                loss += min(paid)
            else:
                loss += paid[labels.index(model.predict(model.X_of_test[[min(rows)]])[0])]
        return loss / normalizer + penalty * len(leaves)

    return objective


def fitted(model, X, *args, **more):
    model.fit(X, *args, **more)
    model.X_of_test = X
    return model


def check_classifier(X, y, weights, depth=2, **parameters):
    model = fitted(
        OptimalTreeClassifier(max_depth=depth, **parameters), X, y, sample_weight=weights
    )
    labels = model.classes_.tolist()
    n = len(labels)
    matrix = parameters.get("cost_matrix", 1 - np.eye(n))
    factor = parameters.get("class_weight") or {}
    w = weights_read(weights)
    own = [written(factor.get(label, 1.0)) for label in labels]
    if parameters.get("objective") == "balanced_accuracy":
        totals = [sum(w[i] for i in range(len(y)) if y[i] == label) for label in labels]
        own = [factor / total if total else factor for factor, total in zip(own, totals)]
    weighed = [w[i] * own[labels.index(y[i])] for i in range(len(y))]
    costs = [[written(matrix[labels.index(label)][k]) for k in range(n)] for label in y]
    penalty = written(parameters.get("leaf_penalty", 0.01))
    objective = additive(costs, weighed, sum(weighed), penalty, labels)
    least = sum(u * min(map(abs, row)) for u, row in zip(weighed, costs)) / sum(weighed)
    check(model, X, objective, depth, least)
    return model


def check_costs(X, costs, weights=None, depth=2, leaf_penalty=0.01):
    model = fitted(
        OptimalCostTree(max_depth=depth, leaf_penalty=leaf_penalty), X, costs, sample_weight=weights
    )
    w = [Fraction(1)] * len(X) if weights is None else weights_read(weights)
    exact = [[Fraction(float(cost)) for cost in row] for row in costs]
    objective = additive(exact, w, sum(w), written(leaf_penalty), model.labels_.tolist())
    least = sum(u * abs(min(row)) for u, row in zip(w, exact)) / sum(w)
    check(model, X, objective, depth, least)
    return model


def check_regressor(X, y, weights=None, depth=2, leaf_penalty=0.01):
    w = [Fraction(1)] * len(X) if weights is None else weights_read(weights)
    goal = [Fraction(float(target)) for target in y]

    def error(rows):
        total = sum(w[row] for row in rows)
        mean = sum(w[row] * goal[row] for row in rows) / total
        return sum(w[row] * (goal[row] - mean) ** 2 for row in rows)

    def objective(leaves, model):
        whole = error(range(len(y))) or 1
        return sum(map(error, leaves)) / whole + written(leaf_penalty) * len(leaves)

    model = OptimalTreeRegressor(max_depth=depth, leaf_penalty=leaf_penalty)
    model.fit(X, y, sample_weight=weights)
    check(model, X, objective, depth, 1)
    return model


def ratio_loss(name):
    if name == "jaccard":
        return lambda x, y, p: (x + y) / (p + y)
    return lambda x, y, p: (x + y) / (2 * p - x + y)


def check_ratio(X, y, weights, name, depth=2, leaf_penalty=0.01):
    model = OptimalTreeClassifier(objective=name, max_depth=depth, leaf_penalty=leaf_penalty)
    model.fit(X, y, sample_weight=weights)
    w, loss = weights_read(weights), ratio_loss(name)
    positives = sum(w[i] for i in range(len(y)) if y[i] == 1)

    def of(leaves, positive):
        zero = Fraction(0)
        missed = sum((w[i] for rows in leaves - positive for i in rows if y[i] == 1), zero)
        alarms = sum((w[i] for rows in positive for i in rows if y[i] == 0), zero)
        return loss(missed, alarms, positives) + written(leaf_penalty) * len(leaves)

    def objective(leaves, model):
        listed = list(leaves)
        if model is not None:
            says = model.predict(X)
            return of(leaves, frozenset(rows for rows in listed if says[min(rows)] == 1))
        chosen = product([False, True], repeat=len(listed))
        return min(of(leaves, frozenset(r for r, c in zip(listed, c) if c)) for c in chosen)

    check(model, X, objective, depth, 1)
    return model


def check_area(X, y, weights, depth=2, leaf_penalty=0.01):
    model = OptimalTreeClassifier(objective="auc", max_depth=depth, leaf_penalty=leaf_penalty)
    model.fit(X, y, sample_weight=weights)
    w = weights_read(weights)
    side = [sum(w[i] for i in range(len(y)) if y[i] == k) for k in (0, 1)]

    def objective(leaves, model):
        sums = [
            [sum((w[i] for i in rows if y[i] == k), Fraction(0)) for k in (0, 1)] for rows in leaves
        ]
        sums.sort(key=lambda leaf: leaf[1] / sum(leaf), reverse=True)
        area, above = Fraction(0), Fraction(0)
        for n, p in sums:
            area += n * (above + p / 2)
            above += p
        return 1 - area / (side[0] * side[1]) + written(leaf_penalty) * len(leaves)

    check(model, X, objective, depth, 1)
    return model


def paying_partitions(X, prices, weights, depth, discounted=None):
    """The leaves of each tree of no more than this depth, and the least that its rows pay.
    ``discounted``: what columns cost after another one."""
    discounted = discounted or prices

    @cache
    def of(rows, depth, bought):
        found = {frozenset([rows]): Fraction(0)}
        for column in range(X.shape[1]) if depth > 0 else ():
            mass = sum(weights[row] for row in rows)
            full = discounted[column] if bought else prices[column]
            price = 0 if column in bought else full * mass
            for left, right in splits(X[:, [column]], rows):
                sides = [of(side, depth - 1, bought | {column}).items() for side in (left, right)]
                for (a, of_a), (b, of_b) in product(*sides):
                    paid = price + of_a + of_b
                    found[a | b] = min(paid, found.get(a | b, paid))
        return found

    return of(frozenset(range(len(X))), depth, frozenset())


def check_prices(X, costs, prices, weights, depth=2, leaf_penalty=0.01, discounted=None):
    discounted = list(discounted or prices)
    named = {
        f"x{column}": FeatureCost(float(price), group="one", discounted=float(less))
        for column, (price, less) in enumerate(zip(prices, discounted))
    }
    model = OptimalCostTree(max_depth=depth, leaf_penalty=leaf_penalty, feature_costs=named)
    fitted(model, X, costs, sample_weight=weights)
    w = [Fraction(1)] * len(X) if weights is None else weights_read(weights)
    # Sums of rows are floats, and so is the weight that pays.
    exact = [[Fraction(float(cost)) for cost in row] for row in costs]
    lost = additive(exact, w, sum(w), written(leaf_penalty), model.labels_.tolist())
    prices = [written(price) for price in prices]
    discounted = [written(price) for price in discounted]
    partitions = paying_partitions(X, prices, w, depth, discounted)
    best = min(lost(leaves, None) + paid / sum(w) for leaves, paid in partitions.items())
    path, spent = model.decision_path(X), Fraction(0)
    for row in range(len(X)):
        # Nodes are numbered from the root down.
        nodes = (model.tree_.nodes[node].column for node in sorted(path[row].indices))
        columns = [int(name[1:]) for name in dict.fromkeys(nodes) if name is not None]
        paid = [prices[column] for column in columns[:1]]
        spent += w[row] * sum(paid + [discounted[column] for column in columns[1:]])
    found = lost(leaves_of(model, X), model) + spent / sum(w)
    check_against(model, found, best, sum(u * abs(min(row)) for u, row in zip(w, exact)) / sum(w))
    return model


LINE = np.arange(4.0)[:, None]


def test_a_cost_that_nobody_pays_hides_no_other():
    model = check_costs(np.arange(2.0)[:, None], [[0, 1e17], [0.5, 0.25]])
    assert (model.status_, model.objective_) == ("optimal", 0.145)
    model = check_classifier(LINE, [0, 1, 0, 1], [1.0] * 4, cost_matrix=[[0, 1e20], [1, 0]])
    assert model.status_ == "optimal"


def test_long_decimals_beside_large_costs():
    costs = np.array([[1 / 7, 1e6], [1e6, 2 / 7], [3 / 7, 1.0], [1 / 7, 2 / 7]])
    assert check_costs(LINE, costs).status_ == "optimal"
    model = check_classifier(
        LINE, [0, 1, 1, 0], [1 / 7, 2 / 7, 3 / 7, 1 / 7], cost_matrix=[[0, 1e6], [1e6, 0]]
    )
    assert model.status_ == "optimal"


def test_weights_of_very_different_sizes():
    weights = [1e6, 1e-13, 1e6, 1e-13]
    model = check_classifier(LINE, [0, 1, 0, 1], weights, objective="balanced_accuracy")
    assert model.status_ == "optimal"
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = [0, 1, 0, 1, 1, 0]
        X = rng.permutation(6).astype(float)[:, None]
        check_classifier(X, y, 10.0 ** rng.uniform(-9, 6, 6))


def test_squared_errors_under_weights_of_very_different_sizes():
    for small in (1e-11, 1e-30):
        with pytest.raises(ValueError, match="too far apart"):
            OptimalTreeRegressor().fit(LINE[:2], [1.0, 2.0], sample_weight=[1e6, small])
    check_regressor(LINE, [1.0, 2.0, 4.0, 4.5], [1e3, 1e-3, 0.7, 1 / 3])
    check_regressor(LINE, [1e6, 1e6 + 1e-3, 1e6 + 3e-3, 1e6], [1 / 7, 2 / 7, 3 / 7, 1 / 7])


def test_areas_under_huge_weights_are_numbers():
    model = check_area(LINE, [0, 1, 0, 1], [1e200, 2e200, 3e200, 1e200])
    assert 0 <= model.lower_bound_ <= model.objective_ <= 1


def test_a_perfect_correlation_costs_nothing_but_its_leaves():
    for n in (3, 7, 12, 49):
        X = np.arange(float(n))[:, None]
        y = (np.arange(n) >= n // 3).astype(int)
        model = OptimalTreeClassifier(objective="mcc", leaf_penalty=0.0, max_depth=1).fit(X, y)
        assert (model.objective_, model.lower_bound_) == (0.0, 0.0)


@pytest.mark.parametrize("name", ["f1", "jaccard"])
def test_ratios_of_real_weights(name):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 4, (8, 2)).astype(float)
        y = [0, 1] * 4
        model = check_ratio(X, y, rng.random(8), name, leaf_penalty=[0.0, 0.013][seed % 2])
        assert model.status_ == "optimal" and model.gap_ <= 1e-9


@pytest.mark.parametrize("name", ["f1", "jaccard"])
def test_ratios_with_a_long_penalty(name):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 4, (8, 2)).astype(float)
        weights = [np.ones(8), rng.random(8)][seed % 2]
        model = check_ratio(X, [0, 1] * 4, weights, name, leaf_penalty=0.0014345028995850922)
        assert model.status_ == "optimal" and model.gap_ <= 1e-9


def test_areas_of_real_weights():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 4, (5, 1)).astype(float)
        model = check_area(X, [0, 1, 0, 1, 1], rng.random(5), leaf_penalty=0.0014345028995850922)
        assert model.status_ == "optimal" and model.gap_ <= 1e-9


def test_prices_that_are_long_decimals():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 3, (7, 2)).astype(float)
        prices = [[1 / 7, 0.1234567890123], [0.05, 1 / 70]][seed % 2]
        weights = None if seed % 3 else rng.random(7)
        model = check_prices(X, rng.random((7, 2)), prices, weights, leaf_penalty=0.0014345)
        assert model.status_ == "optimal" and model.gap_ <= 1e-9


def test_many_prices_and_weights_that_are_long_decimals():
    """As many digits as both together need have no room in products of whole numbers."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 3, (8, 4)).astype(float)
        prices = rng.random(4) / 20
        less = [None, list(prices * rng.random(4))][seed % 2]
        costs, weights = rng.random((8, 2)), rng.random(8)
        model = check_prices(X, costs, prices, weights, leaf_penalty=0.0014345, discounted=less)
        assert model.status_ == "optimal" and model.gap_ <= 1e-12
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 3, (60, 6)).astype(float)
        costs = {
            f"x{column}": FeatureCost(price, group="blood", discounted=price * rng.random())
            for column, price in enumerate(rng.random(6) / 20)
        }
        model = OptimalCostTree(max_depth=3, leaf_penalty=0.0014345, feature_costs=costs)
        model.fit(X, rng.random((60, 2)), sample_weight=rng.random(60))
        assert model.status_ == "optimal" and model.gap_ <= 1e-12


def number(rng, orders):
    """Short decimals, long ones, and numbers of any size."""
    kind = rng.integers(4)
    if kind == 0:
        return float(rng.integers(1, 10))
    if kind == 1:
        return float(rng.integers(1, 100)) / 7
    if kind == 2:
        return float(rng.integers(1, 1000)) / 1000
    return float(10.0 ** rng.uniform(-orders / 2, orders / 2))


def random_case(seed):
    rng = np.random.default_rng(seed)
    n, columns = int(rng.integers(2, 7)), int(rng.integers(1, 3))
    orders = rng.choice([2, 15, 30, 60])
    X = rng.integers(0, 4, (n, columns)).astype(float)
    weights = [number(rng, orders) for _ in range(n)]
    penalty = float(rng.choice([0.0, 0.01, 0.1, number(rng, 4) / 100, number(rng, orders)]))
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    kind = rng.integers(4)
    if kind == 0:
        costs = [
            [number(rng, orders) * rng.choice([1, 1, 0, -1]) for _ in range(2)] for _ in range(n)
        ]
        check_costs(X, costs, weights, leaf_penalty=penalty)
    elif kind == 1:
        matrix = [[0.0, number(rng, orders)], [number(rng, orders), 0.0]]
        check_classifier(X, y.tolist(), weights, leaf_penalty=penalty, cost_matrix=matrix)
    elif kind == 2:
        factors = {0: number(rng, 4), 1: number(rng, 4)}
        objective = str(rng.choice(["accuracy", "balanced_accuracy"]))
        parameters = {"objective": objective, "class_weight": factors}
        check_classifier(X, y.tolist(), weights, leaf_penalty=penalty, **parameters)
    else:
        targets = [number(rng, min(orders, 6)) for _ in range(n)]
        check_regressor(X, targets, weights, leaf_penalty=penalty)


def random_other_case(seed):
    """Areas, ratios and prices. What is said of a range that has no room is for ``REFUSED``."""
    rng = np.random.default_rng((seed, 1))
    n, columns = int(rng.integers(2, 7)), int(rng.integers(1, 3))
    orders = rng.choice([2, 6, 15])
    X = rng.integers(0, 4, (n, columns)).astype(float)
    weights = [number(rng, orders) for _ in range(n)]
    penalty = float(rng.choice([0.0, 0.01, 0.1, number(rng, 4) / 100]))
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    kind = rng.integers(3)
    if kind == 0:
        return check_area(X, y.tolist(), weights, leaf_penalty=penalty)
    if kind == 1:
        return check_ratio(
            X, y.tolist(), weights, str(rng.choice(["f1", "jaccard"])), leaf_penalty=penalty
        )
    costs = [[number(rng, orders) * rng.choice([1, 1, 0]) for _ in range(2)] for _ in range(n)]
    prices = [number(rng, orders) / 10 for _ in range(columns)]
    return check_prices(
        X, costs, prices, weights if rng.random() < 0.5 else None, leaf_penalty=penalty
    )


REFUSED = ("too far apart", "too large", "too fine")


def run_cases(case, cases):
    refused = 0
    for seed in cases:
        try:
            case(seed)
        except ValueError as error:
            assert any(words in str(error) for words in REFUSED), f"seed {seed}: {error}"
            refused += 1
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from None
    assert refused < len(cases) / 2


def test_numbers_of_any_size():
    run_cases(random_case, range(CASES))


def test_areas_ratios_and_prices_of_any_size():
    run_cases(random_other_case, range(CASES))
