"""One table says what goes together: the docs print it, and estimators and the core refuse by
it."""

from itertools import combinations as pairs
from pathlib import Path

import numpy as np
import pytest

from certree import (
    Capacity,
    FeatureCost,
    MostColumns,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    _core,
    combinations,
)

RNG = np.random.default_rng(5)
X, Y = RNG.random((60, 3)).round(2), RNG.integers(0, 2, 60)
#: Of the values of the last column.
PRICES = {value: round(0.1 + value / 50, 4) for value in X[:, 2].tolist()}
PARTS = {
    "constraints": (Capacity(1, 0.9),),
    "feature_costs": {"x0": 0.1},
    "path_rules": [MostColumns(2)],
    "reference": 1 - Y,
    "missing": "own_branch",
    "cost_matrix": [[0, 1], [2, 0]],
    "class_weight": {0: 2.0, 1: 1.0},
}


class Errors:
    def leaf_cost(self, sums):
        return sums.min(axis=1)

    def answer(self, sums):
        return int(sums.argmax())


MODELS = {
    "Classes": (lambda **given: OptimalTreeClassifier(max_depth=2, **given), (X, Y)),
    "Metric": (lambda **given: OptimalTreeClassifier("f1", max_depth=2, **given), (X, Y)),
    "Matrix": (
        lambda **given: OptimalTreeClassifier("f1_macro", max_depth=2, **given),
        (X, Y),
    ),
    "RankingArea": (lambda **given: OptimalTreeClassifier("auc", max_depth=2, **given), (X, Y)),
    "RowCosts": (lambda **given: OptimalCostTree(max_depth=2, **given), (X, RNG.random((60, 2)))),
    "Squares": (lambda **given: OptimalTreeRegressor(max_depth=2, **given), (X, Y * 1.5)),
    "Additive": (lambda **given: OptimalTreeClassifier("gini", max_depth=2, **given), (X, Y)),
    "Custom": (lambda **given: OptimalTree(Errors(), max_depth=2, **given), (X, np.eye(2)[Y])),
}


def test_the_docs_print_the_table():
    page = (Path(__file__).parents[2] / "docs" / "combinations.md").read_text(encoding="utf-8")
    assert combinations.table() in page


def test_every_goal_is_in_it():
    assert set(combinations.GOALS) == set(_core.COMBINATIONS) == set(MODELS)
    assert all(set(parts) <= set(combinations._PARTS) for parts in _core.COMBINATIONS.values())


#: Others of the additive tasks, which share one row.
MORE = {
    "poisson": (lambda **given: OptimalTreeRegressor("poisson", max_depth=2, **given), (X, Y)),
    "targets": (
        lambda **given: OptimalTreeClassifier(max_depth=2, **given),
        (X, np.column_stack([Y, 1 - Y])),
    ),
}


@pytest.mark.parametrize("goal", [*MODELS, *MORE])
def test_estimators_take_what_it_says_and_refuse_the_rest(goal):
    make, data = {**MODELS, **MORE}[goal]
    known = make().get_params()
    for name, value in PARTS.items():
        if name not in known:
            continue
        row = "Additive" if goal in MORE else goal
        refused = (goal, name) == ("targets", "class_weight")
        if row in combinations.takers(name) and not refused:
            model = make(**{name: value}).fit(*data)
            assert model.status_ in ("optimal", "optimal_given_guess")
            if name == "feature_costs":
                by_row = {"x0": FeatureCost((X[:, 1] / 10).round(3), "both", 0.0), "x2": PRICES}
                assert make(feature_costs=by_row).fit(*data).status_ == "optimal"
        else:
            with pytest.raises(
                ValueError, match=rf"{name}.*(cannot be combined|leave)|leave {name} out"
            ):
                make(**{name: value}).fit(*data)


def test_pairs_are_refused_before_any_data_is_read():
    for first, second in pairs(combinations._PARTS, 2):
        both = {first: PARTS[first], second: PARTS[second]}
        if "missing" in both and first != "path_rules":
            # What may be asked where, and anything else that a tree keeps to, are two things.
            assert OptimalTreeClassifier(**both).fit(X, Y).status_.startswith("optimal")
            continue
        if (first, second) == ("constraints", "feature_costs"):
            assert OptimalTreeClassifier(**both).fit(X, Y).status_ == "optimal"
            continue
        if "path_rules" in both and second != "missing":
            continue
        assert ((first, second) in _core.APART) or ((second, first) in _core.APART)
        for kind in (OptimalTreeClassifier, OptimalCostTree):
            with pytest.raises(ValueError, match="leave"):
                kind(**both).fit(None, None)
    with pytest.raises(ValueError, match="leave it at None"):
        OptimalPolicyTree(constraints=PARTS["constraints"], reference="guess").fit(None)


def test_rules_for_paths_go_with_nearly_everything():
    apart = [pair for pair in _core.APART if "path_rules" in pair]
    assert apart == [("path_rules", "missing")]
    for goal, (make, data) in MODELS.items():
        known = make().get_params()
        for name in combinations._PARTS:
            if name == "missing":
                continue
            if name in known and goal in combinations.takers(name):
                both = {name: PARTS[name], "path_rules": PARTS["path_rules"]}
                model = make(**both).fit(*data)
                assert model.status_ in ("optimal", "optimal_given_guess")
                assert model.certificate_.path_rules


def additive(task, n_points=2, **columns):
    point_of = np.array([0, 1], dtype=np.uint32)
    return _core.Additive(task, columns, n_points, 0.0, point_of, np.ones(2))


def by_row(price, n_classes=2):
    """Prices of the one test for two points."""
    return _core.FeatureCosts(
        [((0.0, 0), (0.0, 0), None)], [0], np.full((2, n_classes, 1), price)
    )


def core_parts():
    points = _core.Points([np.array([0, 1], dtype=np.uint32)], np.array([1, 1], dtype=np.uint64))
    weights = np.array([1.0, 0.0, 0.0, 1.0])
    limits = [_core.LinearLimit("capacity", [([(0, 1), (1, 1)], [0, 1], 1.0)], float("-inf"), 1.0)]
    goals = {
        "Classes": _core.Classes(weights, [0, 1, 1, 0], [1, 1], False, 0.0),
        "RowCosts": _core.RowCosts(weights.reshape(2, 2), np.ones(2), 2.0, 2.0, 0.0),
        "Squares": _core.Squares(
            np.array([[0.0], [1.0]]), np.array([0, 1], dtype=np.uint32), 2, None, 0.0
        ),
        "Metric": _core.Metric("fbeta", weights, [1, 1], False, 1, 0.0),
        "Matrix": _core.Matrix("f1_macro", weights, [1, 1], False, 0.0),
        "RankingArea": _core.RankingArea(weights, 1, 1.0, 0.0),
        "Additive": additive("gini", weights=weights, class_weights=np.ones(2), balanced=0.0),
        "Custom": _core.Custom(
            (lambda sums: sums.min(axis=1).astype(float), None, [1.0, 1.0], True, False, None),
            np.array([1, 0, 0, 1]),
            2.0,
            0.0,
            np.ones(2),
        ),
    }
    parts = {
        "constraints": _core.Constraints(limits, class_of=[0, 1]),
        "feature_costs": _core.FeatureCosts([((1.0, None), (1.0, None), None)], [0]),
        "regrets": np.zeros(2),
    }
    by_rows = _core.Constraints(limits[:], weights=np.ones((2, 2)))
    return points, goals, parts, by_rows


@pytest.mark.parametrize("goal", MODELS)
def test_the_core_refuses_by_it_too(goal):
    points, goals, parts, by_rows = core_parts()
    if goal == "RowCosts":
        parts["constraints"] = by_rows

    def problem(**given):
        return _core.Problem([("a", None)], points, goals[goal], _core.Shape(max_depth=1), **given)

    limits = _core.Limits()
    assert _core.solve(problem(), limits).lower_bound == pytest.approx(0.0, abs=1e-15)
    for name, part in parts.items():
        table = "reference" if name == "regrets" else name
        if table in _core.COMBINATIONS[goal]:
            assert _core.solve(problem(**{name: part}), limits).objective <= 1.0
        else:
            with pytest.raises(ValueError, match=f"{goal} cannot be combined with {table}"):
                problem(**{name: part})
    listed = by_row(0.2, 2 if goal in ("Classes", "Metric", "Matrix", "RankingArea") else 1)
    if "feature_costs" in _core.COMBINATIONS[goal]:
        assert _core.solve(problem(feature_costs=listed), limits).objective <= 1.0
    else:
        with pytest.raises(ValueError, match=f"{goal} cannot be combined with"):
            problem(feature_costs=listed)
    for first, second in pairs(parts, 2):
        both = {first: parts[first], second: parts[second]}
        names = {"reference" if name == "regrets" else name for name in both}
        takes = names <= set(_core.COMBINATIONS[goal])
        apart = [{*pair} for pair in _core.APART]
        apart += [{*pair} for only, *pair in _core.APART_FOR if only == goal]
        if takes and names not in apart:
            assert _core.solve(problem(**both), limits).objective <= 1.0
            continue
        with pytest.raises(ValueError, match="cannot be combined with"):
            problem(**both)


def test_an_additive_task_takes_what_the_core_lists():
    points, *_ = core_parts()
    targets = np.array([1.0, 3.0])
    weights = np.array([1.0, 0.0, 0.0, 1.0])
    inputs = {
        "poisson": {"targets": targets, "exposures": None},
        "gamma": {"targets": targets},
        "gini": {"weights": weights, "class_weights": np.ones(2), "balanced": 1.0},
        "targets": {"weights": weights, "n_classes": np.array([2.0])},
    }
    inputs["entropy"] = inputs["gini"]
    inputs["mdl"] = {**inputs["gini"], "n_cuts": 1.0}
    assert set(inputs) == set(_core.ADDITIVE)
    for task, columns in inputs.items():
        words, names = _core.ADDITIVE[task]
        assert set(columns) <= set(names) and words
        goal = additive(task, **columns)
        problem = _core.Problem([("a", None)], points, goal, _core.Shape(max_depth=1))
        assert _core.solve(problem, _core.Limits()).status == "optimal"
        again = _core.Problem.from_bytes(problem.to_bytes())
        assert again.digest == problem.digest
    for wrong, said in [
        (lambda: additive("gini"), "gini needs the column class_weights"),
        (lambda: additive("gamma", targets=targets, size=1.0), "gamma takes .*, and not size"),
        (lambda: additive("gini", **{**inputs["gini"], "balanced": 2.0}), "balanced is 0 or 1"),
        (lambda: additive("gini", 3, **inputs["gini"]), "columns of 2 points, but there are 3"),
        (lambda: additive("brier"), "there is no task \"brier\""),
    ]:
        with pytest.raises(ValueError, match=said):
            _core.Problem([("a", None)], points, wrong(), _core.Shape(max_depth=1))


def test_the_digest_differs_where_anything_does():
    points, goals, parts, _ = core_parts()
    digests = [
        _core.Problem([(name, None)], points, goal, _core.Shape(max_depth=depth), **given).digest
        for name, goal, depth, given in [
            ("a", goals["Classes"], 1, {}),
            ("b", goals["Classes"], 1, {}),
            ("a", goals["Classes"], 1, {"path_rules": [_core.PathRule.first_column(0)]}),
            ("a", goals["Classes"], 1, {"path_rules": [_core.PathRule.most_columns(1)]}),
            ("a", goals["Metric"], 1, {}),
            ("a", goals["RowCosts"], 1, {}),
            ("a", _core.Classes(np.array([1.0, 0, 0, 2]), [0, 1, 1, 0], [1, 1], False, 0.0), 1, {}),
            ("a", _core.Classes(np.array([1.0, 0, 0, 1]), [0, 1, 2, 0], [1, 1], False, 0.0), 1, {}),
            ("a", _core.Classes(np.array([1.0, 0, 0, 1]), [0, 1, 1, 0], [1, 2], False, 0.0), 1, {}),
            ("a", _core.Classes(np.array([1.0, 0, 0, 1]), [0, 1, 1, 0], [1, 1], True, 0.0), 1, {}),
            ("a", _core.Classes(np.array([1.0, 0, 0, 1]), [0, 1, 1, 0], [1, 1], False, 0.1), 1, {}),
            ("a", goals["Classes"], 1, {"constraints": parts["constraints"]}),
            ("a", goals["Classes"], 1, {"feature_costs": parts["feature_costs"]}),
            ("a", goals["Classes"], 1, {"feature_costs": by_row(0.5)}),
            ("a", goals["Classes"], 1, {"feature_costs": by_row(0.25)}),
        ]
    ]
    assert len(set(digests)) == len(digests) and all(len(digest) == 32 for digest in digests)
    # Of the data alone: not of what trees may be, nor of what is guessed.
    of = [("a", None)], points, goals["Classes"]
    assert _core.Problem(*of, _core.Shape(max_depth=3)).digest == digests[0]
    assert _core.Problem(*of, _core.Shape(max_depth=1), regrets=np.ones(2)).digest == digests[0]


def test_a_tree_of_another_problem_is_no_incumbent():
    points, goals, parts, _ = core_parts()

    def problem(goal, depth):
        return _core.Problem([("a", None)], points, goals[goal], _core.Shape(max_depth=depth))

    best = _core.solve(problem("Classes", 1), _core.Limits()).tree
    assert len(best.parts()) == 3
    with pytest.raises(ValueError, match="none of this problem"):
        _core.solve(problem("Classes", 0), _core.Limits(), None, (best, 0.0))
    with pytest.raises(ValueError, match="have incumbents"):
        _core.solve(problem("Metric", 1), _core.Limits(), None, (best, 0.0))
    split, *rest = best.parts()[0]
    strange = [((7, *split[1:]), *rest), *best.parts()[1:]]
    with pytest.raises(ValueError, match="none of this problem"):
        _core.solve(problem("Classes", 1), _core.Limits(), None, (_core.Tree(strange), 0.0))
    found = _core.solve(problem("Classes", 1), _core.Limits(), None, (best, 0.0))
    assert found.objective == 0.0 and found.status == "optimal"


def test_many_balanced_classes_under_constraints_have_factors():
    """The least number that makes all quotients whole is then beyond any float."""
    primes = [n for n in range(100, 3000) if all(n % d for d in range(2, 60))][:120]
    y = np.repeat(np.arange(120), primes)
    model = OptimalTreeClassifier(
        "balanced_accuracy", max_depth=1, constraints=(Capacity(0, 0.5),), leaf_penalty=0
    ).fit((y[:, None] > 60).astype(float), y)
    assert model.objective_ == pytest.approx(118 / 120)
