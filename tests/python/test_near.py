"""All trees near the best one, against a count of all trees that there are."""

from __future__ import annotations

import os
from collections import Counter
from fractions import Fraction
from itertools import islice, pairwise

import numpy as np
import polars as pl
import pytest

import certree
from certree import OptimalCostTree, OptimalPolicyTree, OptimalTreeClassifier, OptimalTreeRegressor
from certree import near_optimal


def questions(values, cuts, rows):
    """What can be asked of a column where these rows are: which of them go right. Values are
    numbers with cuts, or names, of which every set is asked; None is a missing value."""
    own = [values[row] for row in rows]
    lost = np.array([value is None for value in own])
    asked = []
    if cuts is None:
        known = list(dict.fromkeys(own))
        for chosen in range(1, 2 ** (len(known) - 1)):
            right = {value for at, value in enumerate(known) if chosen >> at & 1}
            asked.append(np.array([value in right for value in own]))
    else:
        for cut in cuts:
            right = np.array([value is not None and value > cut for value in own])
            asked.append(right)
            if lost.any():
                asked.append(right | lost)
        asked.append(lost)
    return [right for right in asked if right.any() and not right.all()]


def every_tree(columns, leaf, depth, most_leaves=99, least_rows=1, once=False):
    """By loss and leaves, how many trees there are. ``columns``: values and cuts. ``leaf``: what
    rows may lose, as fractions. ``once``: whether questions that part rows alike are one."""

    def grow(rows, depth):
        found = Counter()
        for loss in leaf(rows):
            found[loss, 1] += 1
        seen = set()
        for values, cuts in columns if depth else []:
            for right in questions(values, cuts, rows):
                sides = rows[~right], rows[right]
                parts = frozenset((right.tobytes(), (~right).tobytes()))
                if min(map(len, sides)) < least_rows or once and parts in seen:
                    continue
                seen.add(parts)
                left, other = (grow(side, depth - 1) for side in sides)
                for (a, i), n in left.items():
                    for (b, j), m in other.items():
                        found[a + b, i + j] += n * m
        return found

    trees = grow(np.arange(len(columns[0][0])), depth)
    return {key: n for key, n in trees.items() if key[1] <= most_leaves}


def errors(y, weights, is_any):
    def leaf(rows):
        of = np.bincount(y[rows], weights[rows], minlength=3)
        losses = [Fraction(int(of.sum() - own), int(weights.sum())) for own in of]
        return losses if is_any else [min(losses)]

    return leaf


def squares(y):
    total = sum(Fraction(int(v)) ** 2 for v in y) - Fraction(int(y.sum())) ** 2 / len(y)

    def leaf(rows):
        sum_of = sum(int(v) for v in y[rows])
        return [(sum(int(v) ** 2 for v in y[rows]) - Fraction(sum_of**2, len(rows))) / total]

    return leaf


def costs(table, is_any):
    def leaf(rows):
        losses = [Fraction(int(lost), len(table)) for lost in table[rows].sum(axis=0)]
        return losses if is_any else [min(losses)]

    return leaf


def expected(trees, penalty, bound):
    """By objective within a bound, how many trees there are."""
    found = Counter()
    for (loss, leaves), n in trees.items():
        if loss + penalty * leaves <= bound:
            found[loss + penalty * leaves] += n
    return found


def check(found, trees, penalty, bound):
    wanted = expected(trees, penalty, bound)
    assert found.is_complete
    assert found.n_trees == sum(wanted.values())
    listed = list(islice(found, 300))
    objectives = [each.objective for each in listed]
    assert objectives == sorted(objectives)
    assert len({str(each.tree) for each in listed}) == len(listed)
    exact = sorted(objective for objective, n in wanted.items() for _ in range(min(n, 300)))
    assert objectives == pytest.approx([float(x) for x in exact[: len(listed)]], abs=1e-12)
    for each in found.sample(3, random_state=0):
        assert each.objective <= float(bound) + 1e-12
    leaves = min(leaves for (loss, leaves) in trees if loss + penalty * leaves <= bound)
    assert found.sparsest().tree.n_leaves == leaves


LIMITS = [{"max_depth": 1}, {"max_depth": 2}, {"max_depth": 3}, {"max_leaf_nodes": 3}]


def random_table(rng, n):
    """Columns of numbers or names, some of whose values are missing; and as ``columns`` above."""
    X, columns = {}, []
    for at in range(2):
        is_number = rng.random() < 0.6
        numbers = rng.integers(0, 3 if is_number else 4, n).tolist()
        values = numbers if is_number else ["abcd"[number] for number in numbers]
        if rng.random() < 0.4:
            values = [None if rng.random() < 0.3 else value for value in values]
        # All four names, because of three each is asked for alone.
        values[:4] = numbers[:4] if is_number else rng.permutation(list("abcd")).tolist()
        known = sorted({value for value in values if value is not None})
        cuts = [(a + b) / 2 for a, b in pairwise(known)] if is_number else None
        kind = pl.Int64 if is_number else pl.String
        X[f"c{at}"] = pl.Series(values, dtype=kind)
        columns.append((values, cuts))
    return pl.DataFrame(X), columns


def case(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    X, columns = random_table(rng, n)
    limits = dict(LIMITS[rng.integers(4)], min_samples_leaf=int(rng.integers(1, 3)))
    penalty = Fraction(int(rng.integers(0, 4)), 64)
    most = {"depth": limits.get("max_depth", 2), "most_leaves": limits.get("max_leaf_nodes", 99)}
    most["least_rows"] = limits["min_samples_leaf"]
    shared = {**limits, "leaf_penalty": float(penalty), "categories": "subsets"}
    is_any, once = bool(rng.random() < 0.4), bool(rng.random() < 0.3)
    y = rng.integers(0, 3, n)
    y[:3] = 0, 1, 2
    more = {}
    kind = rng.integers(3)
    if kind == 0:
        weights = rng.integers(1, 4, n)
        more = {"sample_weight": weights}
        model, given = OptimalTreeClassifier(**shared), y
        leaf = errors(y, weights, is_any)
    elif kind == 1:
        model, given, leaf = OptimalTreeRegressor(**shared), y.astype(float), squares(y)
    else:
        given = rng.integers(0, 6, (n, 2)).astype(float)
        model, leaf = OptimalCostTree(**shared), costs(given, is_any)
    model.fit(X, given, **more)
    trees = every_tree(columns, leaf, **most, once=once)
    objectives = sorted({loss + penalty * leaves for loss, leaves in trees})
    least = objectives[0]
    assert model.objective_ == pytest.approx(float(least), abs=1e-12)
    # Between two objectives, so that no rounding decides.
    at = int(rng.integers(0, len(objectives)))
    bound = (objectives[at] + objectives[min(at + 1, len(objectives) - 1)]) / 2
    bound = bound if bound > objectives[at] else bound + Fraction(1, 100)
    chosen = {"leaf_answers": "any" if is_any else "best", "alike": "once" if once else "each"}
    found = near_optimal(model, X, given, beyond=float(bound - least), **chosen, **more)
    check(found, trees, penalty, bound)


def test_as_many_trees_as_there_are():
    for seed in range(int(os.environ.get("CERTREE_CASES", "60"))):
        try:
            case(seed)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error


@pytest.fixture(scope="module")
def model_and_data():
    rng = np.random.default_rng(3)
    X = pl.DataFrame(
        {
            "age": rng.integers(20, 30, 80),
            "dose": rng.integers(0, 4, 80),
            "smokes": rng.random(80) < 0.5,
        }
    )
    y = (X["age"].to_numpy() > 24) ^ (rng.random(80) < 0.15)
    model = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.02).fit(X, y)
    return model, X, y


def test_a_share_of_the_least_objective_includes_its_end(model_and_data):
    model, X, y = model_and_data
    alone = near_optimal(model, X, y, within=0)
    assert alone.n_trees >= 1 and alone.bound == pytest.approx(model.objective_)
    assert any(each.tree == model.tree_ for each in alone)
    more = near_optimal(model, X, y, within=0.5)
    again = near_optimal(model, X, y, beyond=more.bound - more.objective + 1e-12)
    assert more.n_trees == again.n_trees > alone.n_trees
    counts = more.by_objective()
    assert sum(n for _, n in counts) == more.n_trees


def test_so_many_trees_as_asked(model_and_data):
    model, X, y = model_and_data
    for n in (1, 10, 100):
        found = near_optimal(model, X, y, n=n)
        counts = [count for _, count in found.by_objective()]
        assert sum(counts) == found.n_trees >= n > sum(counts[:-1])


def test_columns_are_those_of_the_listed_trees(model_and_data):
    model, X, y = model_and_data
    found = near_optimal(model, X, y, within=0.3)
    table = found.to_polars()
    assert table.height == found.n_trees
    for row in found.columns().iter_rows(named=True):
        uses = [row["column"] in columns for columns in table["columns"].to_list()]
        assert row["share"] == pytest.approx(np.mean(uses))
        assert row["in_all"] == all(uses) and row["in_none"] == (not any(uses))
        others = [o for o, uses in zip(table["objective"], uses) if not uses]
        if others:
            assert row["objective_without"] == pytest.approx(min(others))
        else:
            assert row["objective_without"] is None
    ranges = found.column_importances()
    drawn = found.column_importances(sample=20, random_state=0)
    assert ranges["all"].all() and not drawn["all"].any()
    assert (ranges["least"] <= drawn["least"]).all() and (ranges["most"] >= drawn["most"]).all()


def test_without_a_column(model_and_data):
    model, X, y = model_and_data
    found = near_optimal(model, X, y, within=0.2)
    needed = found.without("age")
    other = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.02).fit(X.drop("age"), y)
    assert not needed.is_within
    assert needed.objective == pytest.approx(other.objective_)
    free = found.without("smokes")
    other.fit(X.drop("smokes"), y)
    assert free.is_within and free.objective == pytest.approx(other.objective_)


def test_the_fairest_and_the_most_monotone_tree(model_and_data):
    model, X, y = model_and_data
    found = near_optimal(model, X, y, within=0.5)
    group = X["smokes"].to_numpy()

    def difference(tree):
        told = tree.predict(X)
        return abs(told[group].mean() - told[~group].mean())

    fair = found.fairest(X, "smokes")
    assert fair.value == pytest.approx(min(difference(each.tree) for each in found))
    assert fair.value == pytest.approx(difference(fair.tree))
    steady = found.most_monotone({"age": 1, "dose": -1})
    assert steady.value == 0
    grid = pl.DataFrame({"age": range(18, 33)}).join(
        pl.DataFrame({"dose": range(-1, 5)}), how="cross"
    )
    grid = grid.join(pl.DataFrame({"smokes": [False, True]}), how="cross")
    told = grid.with_columns(answer=steady.tree.predict(grid))
    for rest, sign in ((["dose", "smokes"], 1), (["age", "smokes"], -1)):
        name = "age" if sign == 1 else "dose"
        for _, part in told.group_by(rest):
            answers = part.sort(name)["answer"].to_list()
            assert all((b - a) * sign >= 0 for a, b in pairwise(answers))


def test_draws_are_uniform(model_and_data):
    model, X, y = model_and_data
    found = near_optimal(model, X, y, n=10)
    drawn = Counter(str(each.tree) for each in found.sample(200 * found.n_trees, 1))
    assert len(drawn) == found.n_trees
    assert all(120 < times < 280 for times in drawn.values())
    one, two = (found.sample(5, random_state=4) for _ in range(2))
    assert [each.tree for each in one] == [each.tree for each in two]


def test_a_policy_and_sets_of_values_with_missing_ones():
    rng = np.random.default_rng(0)
    X = pl.DataFrame(
        {
            "city": rng.choice(["a", "b", "c"], 60).tolist(),
            "age": [None if x < 3 else int(x) for x in rng.integers(0, 9, 60)],
        }
    )
    rewards = rng.random((60, 2)).round(1)
    model = OptimalPolicyTree(max_depth=2, categories="subsets").fit(X, rewards=rewards)
    found = near_optimal(model, X, rewards=rewards, n=50)
    texts = [str(each.tree) for each in found]
    assert len(set(texts)) == found.n_trees == len(texts) >= 50


def test_more_trees_than_any_list_holds():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (60, 10))
    y = rng.random(60) < 0.5
    model = OptimalTreeClassifier(max_depth=3, leaf_penalty=0.005).fit(X, y)
    found = near_optimal(model, X, y, beyond=1.0)
    assert found.is_complete and found.n_trees > 10**9
    assert sum(n for _, n in found.by_objective()) == found.n_trees
    with pytest.raises(ValueError, match="more than the 10,000"):
        found.column_importances()
    with pytest.raises(ValueError, match="different objectives"):
        found.by_objective(3)
    assert next(iter(found)).objective == pytest.approx(model.objective_)


def test_a_limit_leaves_some_trees_out_and_says_so():
    rng = np.random.default_rng(0)
    X = rng.random((2000, 40)) < 0.5
    y = X[:, 0] & X[:, 1] | X[:, 2]
    # Found at once, but all that are near take minutes to count.
    model = OptimalTreeClassifier(max_depth=6, leaf_penalty=0.01).fit(X, y)
    model.set_params(time_limit=0.05)
    found = near_optimal(model, X, y, beyond=0.5)
    assert not found.is_complete
    assert "At least" in found.statement()
    for each in islice(found, 20):
        assert each.objective <= found.bound + 1e-12
    with pytest.raises(ValueError, match="about all trees"):
        found.columns()


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({}, "one of within"),
        ({"within": 0.1, "n": 3}, "2 were given"),
        ({"within": -0.1}, "must be a number from 0"),
        ({"beyond": float("nan")}, "must be a number from 0"),
        ({"n": 0}, "whole number"),
        ({"within": 0.1, "alike": "twice"}, "alike='twice'"),
        ({"within": 0.1, "leaf_answers": 3}, "leaf_answers=3"),
    ],
)
def test_arguments_that_say_nothing(model_and_data, given, match):
    model, X, y = model_and_data
    with pytest.raises(ValueError, match=match):
        near_optimal(model, X, y, **given)


def test_models_without_such_a_set(model_and_data):
    model, X, y = model_and_data
    with pytest.raises(ValueError, match="not the rows"):
        near_optimal(model, X, ~y, within=0.1)
    changed = OptimalTreeClassifier(max_depth=2).fit(X, y).set_params(max_depth=3)
    with pytest.raises(ValueError, match="max_depth was 2"):
        near_optimal(changed, X, y, within=0.1)
    with pytest.raises(ValueError, match="add up over rows"):
        near_optimal(OptimalTreeClassifier("f1", max_depth=1).fit(X, y), X, y, within=0.1)
    ruled = OptimalTreeClassifier(max_depth=2, path_rules=[certree.MostColumns(1)]).fit(X, y)
    with pytest.raises(ValueError, match="path_rules"):
        near_optimal(ruled, X, y, within=0.1)
    free = OptimalTreeClassifier(max_depth=None, leaf_penalty=0).fit(X, y)
    with pytest.raises(ValueError, match="set max_depth"):
        near_optimal(free, X, y, within=0.1)
    found = near_optimal(model, X, y, within=0.1)
    with pytest.raises(ValueError, match="is not one of"):
        found.without("height")
    with pytest.raises(ValueError, match="must be 1 or -1"):
        found.most_monotone({"age": 2})
