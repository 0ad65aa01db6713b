"""Missing values in features: against every tree there is, with both ways out for missing values at
each cut and "is missing", and against themselves in every container and export.

``CERTREE_CASES`` is how many random tables each kind of tree is tried on: 900 are more than 10,000
cases in all.
"""

import dataclasses
import itertools
import json
import os
import pickle
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from brute import least_of, tree_objective
from test_impurity import entropy, gini
from test_rates import deviance as rate_deviance
from test_survival import deviance as survival_deviance
from test_survival import exposure_by_hand
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from certree import (
    Capacity,
    DemographicParity,
    EqualOpportunity,
    FeatureCost,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    ThresholdBinarizer,
    ThresholdGuesser,
    Tree,
    report,
)

CASES = int(os.environ.get("CERTREE_CASES", 20))
LEVELS = list("gebfadc")
SHARES = (0.0, 0.05, 0.1, 0.3, 0.5, 0.9)


def series(rng, name, n):
    """A column of any kind, with a share of its values missing: as null, and in floats as NaN."""
    kind = rng.choice(["integer", "float", "boolean", "category", "ordered", "date"])
    share = rng.choice(SHARES)
    numbers = rng.integers(0, rng.integers(1, 7 if kind == "category" else 5), n)
    if kind == "float":
        values = (numbers / 4 - rng.choice([0.0, 0.3])).tolist()
        extremes = rng.random() < 0.1
        values = [np.inf if extremes and v == max(values) else v for v in values]
    elif kind == "boolean":
        values = (numbers % 2 == 1).tolist()
    elif kind in ("category", "ordered"):
        values = ["ebfadc"[number] for number in numbers]
    else:
        values = numbers.tolist()
    gone = rng.random(n) < share
    nothing = [float("nan"), None] if kind == "float" else [None]
    values = [nothing[rng.integers(len(nothing))] if g else v for g, v in zip(gone, values)]
    dtypes = {
        "integer": rng.choice([pl.Int64, pl.Int8, pl.UInt16]),
        "float": rng.choice([pl.Float64, pl.Float32]),
        "boolean": pl.Boolean,
        "category": rng.choice([pl.String, pl.Categorical]),
        "ordered": pl.Enum(LEVELS),
        "date": pl.Int32,
    }
    found = pl.Series(name, values, dtype=dtypes[kind])
    return found.cast(pl.Date) if kind == "date" else found


def drawn(seed, n=None, columns=3):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 16)) if n is None else n
    names = "abc"[: int(rng.integers(1, columns + 1))]
    return rng, pl.DataFrame([series(rng, name, n) for name in names])


def missing(column):
    gone = column.is_null()
    return (gone | column.is_nan().fill_null(True) if column.dtype.is_float() else gone).to_numpy()


def cuts_of(column, thresholds=None):
    """Which rows go right, at each cut with missing values on either side, and of "is missing"."""
    gone = missing(column)
    if column.dtype == pl.Boolean or not column.dtype.is_numeric() and column.dtype != pl.Date:
        texts = column.cast(pl.String).to_list()
        values = ["true"] if column.dtype == pl.Boolean else sorted({t for t in texts if t})
        if isinstance(column.dtype, pl.Enum):
            sets = [LEVELS[place:] for place in range(1, len(LEVELS))]
        else:
            # Every set, because the others of a set are one, too.
            sizes = range(1, len(values) if len(values) > 1 else 2)
            sets = [s for size in sizes for s in itertools.combinations(values, size)]
        known = [np.array([t in right for t in texts]) for right in sets]
    else:
        numbers = np.where(gone, 0, column.to_physical().fill_null(0).to_numpy())
        places = np.unique(numbers[~gone])[:-1] if thresholds is None else thresholds
        known = [(numbers > place) & ~gone for place in places]
    return [*known, *(right | gone for right in known), gone] if gone.any() else known


def all_cuts(frame, thresholds):
    return [
        right
        for column in frame.get_columns()
        for right in cuts_of(column, (thresholds or {}).get(column.name))
    ]


def binned(rng, frame):
    """Thresholds of some columns of numbers, or None for all midpoints of all."""
    if rng.random() < 0.5:
        return None
    found = {}
    for column in frame.get_columns():
        if column.dtype.is_numeric() and rng.random() < 0.7:
            found[column.name] = [float(rng.integers(0, 4)) / 4 + 0.1 for _ in range(2)]
    return found


def judge(model, frame, cost, penalty, cuts, depth):
    """The objective is the least of all trees, and the tree's own."""
    best = least_of(cuts, frame.height, cost, depth, penalty)
    own = tree_objective(model.apply(frame), cost, penalty)
    assert own == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert model.status_ == "optimal" and model.lower_bound_ <= model.objective_ + 1e-9
    return best


def shape(rng):
    return int(rng.integers(1, 4)), float(rng.choice([0.0, 0.01, 0.06]))


@pytest.mark.parametrize("seed", range(CASES))
def test_no_classifier_is_better(seed):
    rng, frame = drawn(seed)
    y, n = rng.integers(0, 3, frame.height), frame.height
    weights = rng.integers(1, 4, n) / 2 if seed % 3 else None
    w = np.ones(n) if weights is None else weights
    depth, penalty = shape(rng)
    wish = binned(rng, frame)
    model = OptimalTreeClassifier(
        max_depth=depth, leaf_penalty=penalty, thresholds=wish or "all", n_jobs=1 + seed % 2
    ).fit(frame, y, weights)

    def cost(rows):
        return w[rows].sum() - max(w[rows & (y == label)].sum() for label in range(3))

    best = judge(model, frame, cost, penalty * w.sum(), all_cuts(frame, wish), depth)
    assert model.objective_ == pytest.approx(best / w.sum(), rel=1e-9, abs=1e-9)
    agree(model, frame, rng)


@pytest.mark.parametrize("seed", range(CASES))
def test_no_regressor_is_better(seed):
    rng, frame = drawn(seed + 10_000)
    y, (depth, penalty) = rng.normal(size=frame.height).round(1), shape(rng)
    wish = binned(rng, frame)
    model = OptimalTreeRegressor(
        max_depth=depth, leaf_penalty=penalty, thresholds=wish or "all"
    ).fit(frame, y)

    def cost(rows):
        return float(((y[rows] - y[rows].mean()) ** 2).sum())

    whole = cost(np.ones(len(y), dtype=bool))
    whole = whole if whole > 1e-12 else 1.0
    best = judge(model, frame, cost, penalty * whole, all_cuts(frame, wish), depth)
    assert model.objective_ == pytest.approx(best / whole, rel=1e-9, abs=1e-9)
    agree(model, frame, rng)


@pytest.mark.parametrize("kind", ["poisson", "absolute_error"])
@pytest.mark.parametrize("seed", range(CASES))
def test_no_regressor_of_rates_or_medians_is_better(kind, seed):
    rng, frame = drawn(seed + 20_000)
    y, (depth, penalty) = rng.integers(0, 4, frame.height).astype(float), shape(rng)
    y[0] = 1.0
    model = OptimalTreeRegressor(kind, max_depth=depth, leaf_penalty=penalty).fit(frame, y)
    ones = np.ones(len(y))

    def cost(rows):
        if kind == "poisson":
            return rate_deviance(kind, y[rows], ones[rows], ones[rows])
        return float(np.abs(y[rows] - np.median(y[rows])).sum())

    whole = cost(np.ones(len(y), dtype=bool))
    whole = whole if whole > 1e-9 else 1.0
    best = judge(model, frame, cost, penalty * whole, all_cuts(frame, None), depth)
    assert model.objective_ == pytest.approx(best / whole, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("objective", ["gini", "log_loss"])
@pytest.mark.parametrize("seed", range(CASES))
def test_no_tree_of_shares_is_better(objective, seed):
    rng, frame = drawn(seed + 30_000)
    y, (depth, penalty) = rng.integers(0, 2, frame.height), shape(rng)
    model = OptimalTreeClassifier(objective, max_depth=depth, leaf_penalty=penalty).fit(frame, y)

    def cost(rows):
        weights = np.array([float((rows & (y == label)).sum()) for label in range(2)])
        return (gini if objective == "gini" else entropy)(weights)

    n = frame.height
    best = judge(model, frame, cost, penalty * n, all_cuts(frame, None), depth)
    assert model.objective_ == pytest.approx(best / n, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", ["costs", "rewards"])
@pytest.mark.parametrize("seed", range(CASES))
def test_no_policy_is_better(kind, seed):
    rng, frame = drawn(seed + 40_000)
    n, (depth, penalty) = frame.height, shape(rng)
    costs = rng.integers(-4, 5, (n, 3)) / 4
    common = {"max_depth": depth, "leaf_penalty": penalty}
    if kind == "costs":
        model = OptimalCostTree(**common).fit(frame, costs)
    else:
        model = OptimalPolicyTree(**common).fit(frame, rewards=-costs)

    def cost(rows):
        return float(costs[rows].sum(axis=0).min())

    best = judge(model, frame, cost, penalty * n, all_cuts(frame, None), depth)
    assert model.objective_ == pytest.approx(best / n, rel=1e-9, abs=1e-9)
    agree(model, frame, rng)


@pytest.mark.parametrize("seed", range(CASES))
def test_no_survival_tree_is_better(seed):
    rng, frame = drawn(seed + 50_000)
    n, (depth, penalty) = frame.height, shape(rng)
    time, event = np.floor(rng.exponential(4.0, n)), rng.random(n) < 0.7
    event[0] = True
    model = OptimalSurvivalTree(max_depth=depth, leaf_penalty=penalty).fit(frame, time, event)
    ones = np.ones(n)
    exposure = exposure_by_hand(time, event, ones)
    whole = survival_deviance(event, exposure, ones)
    whole = whole if whole > 1e-9 else 1.0

    def cost(rows):
        return survival_deviance(event[rows], exposure[rows], ones[rows])

    best = judge(model, frame, cost, penalty * whole, all_cuts(frame, None), depth)
    assert model.objective_ == pytest.approx(best / whole, rel=1e-8, abs=1e-8)


def partitions(cuts, n, depth):
    """The leaves of every tree, as sets of masks."""

    @cache
    def below(key, depth):
        rows = np.frombuffer(key, dtype=bool)
        found = {frozenset([key])}
        for right in cuts if depth else []:
            parts = (rows & ~right).tobytes(), (rows & right).tobytes()
            if all(np.frombuffer(part, dtype=bool).any() for part in parts):
                for pair in itertools.product(*(below(part, depth - 1) for part in parts)):
                    found.add(pair[0] | pair[1])
        return found

    for leaves in below(np.ones(n, dtype=bool).tobytes(), depth):
        yield [np.frombuffer(leaf, dtype=bool) for leaf in leaves]


def f1_loss(leaves, y):
    """The least of all labels of the leaves."""
    best = 1.0
    for labels in itertools.product((False, True), repeat=len(leaves)):
        given = np.any([leaf for leaf, label in zip(leaves, labels) if label] or [y < 0], axis=0)
        hits, all_given, all_true = (given & (y == 1)).sum(), given.sum(), (y == 1).sum()
        best = min(best, 1 - 2 * hits / (all_given + all_true))
    return best


def auc_loss(leaves, y):
    score = np.empty(len(y))
    for leaf in leaves:
        score[leaf] = y[leaf].mean()
    higher = score[y == 1][:, None] - score[y == 0][None, :]
    return 1 - (np.sign(higher) + 1).mean() / 2


def capacity_loss(leaves, y):
    """Errors where at most two fifths of the rows are given the label 1."""
    best = np.inf
    for labels in itertools.product((0, 1), repeat=len(leaves)):
        given = sum((leaf * label for leaf, label in zip(leaves, labels)), np.zeros(len(y)))
        if given.mean() <= 0.4:
            best = min(best, (given != y).mean())
    return best


LOSSES = {"f1": f1_loss, "auc": auc_loss, "capacity": capacity_loss}


@pytest.mark.parametrize("seed", range(CASES))
def test_both_orders_of_a_column_and_is_missing_are_paid_once(seed):
    rng, frame = drawn(seed + 70_000, n=int(np.random.default_rng(seed).integers(3, 9)), columns=2)
    y, n, (depth, penalty) = rng.integers(0, 2, frame.height), frame.height, shape(rng)
    depth, names = min(depth, 2), frame.columns
    prices = {name: float(rng.choice([0.02, 0.1])) for name in names}
    group = "lab" if seed % 2 else None
    costs = {name: FeatureCost(price, group, price / 2) for name, price in prices.items()}
    if group is None:
        costs = prices
    model = OptimalTreeClassifier(
        max_depth=depth, leaf_penalty=penalty, feature_costs=costs
    ).fit(frame, y)
    cuts = [(name, right) for name in names for right in cuts_of(frame[name])]

    def least(rows, bought, depth):
        errors = min((y[rows] != label).sum() for label in (0, 1)) / n
        best = errors + penalty
        for name, right in cuts if depth else []:
            parts = rows & ~right, rows & right
            if not all(part.any() for part in parts):
                continue
            price = 0.0
            if name not in bought:
                price = prices[name] / (2 if group and bought else 1) * rows.sum() / n
            further = sum(least(part, bought | {name}, depth - 1) for part in parts)
            best = min(best, price + further)
        return best

    best = least(np.ones(n, dtype=bool), frozenset(), depth)
    assert model.objective_ == pytest.approx(best, rel=1e-9, abs=1e-9)


def own_branches(frame):
    """By column: the rows where it is missing, if there are any, and its cuts among the others."""
    cuts = {}
    for name, column in zip(frame.columns, frame.get_columns()):
        known = cuts_of(column)
        gone = known.pop() if missing(column).any() else None
        # With missing values come those of both ways: the first half sends them left.
        cuts[name] = gone, known[: len(known) // 2] if gone is not None else known
    return cuts


def may_be_asked(cuts, name, asked):
    gone, known = cuts[name]
    first = [] if gone is None else [gone]
    return first + (known if gone is None or name in asked else [])


@pytest.mark.parametrize("kind", ["classes", "squares", "paid"])
@pytest.mark.parametrize("seed", range(CASES))
def test_a_branch_of_their_own_is_asked_for_first(kind, seed):
    rng, frame = drawn(seed + 80_000, n=int(np.random.default_rng(seed).integers(3, 9)), columns=2)
    y, n, (depth, penalty) = rng.integers(0, 2, frame.height), frame.height, shape(rng)
    prices = {name: float(rng.choice([0.0, 0.03])) * (kind == "paid") for name in frame.columns}
    common = {"max_depth": depth, "leaf_penalty": penalty, "missing": "own_branch"}
    whole = 1.0
    if kind == "squares":
        model = OptimalTreeRegressor(**common).fit(frame, y * 1.0)
        whole = n * y.var() or 1.0
    else:
        model = OptimalTreeClassifier(feature_costs=prices, **common).fit(frame, y)
    cuts = own_branches(frame)

    def least(rows, asked, depth):
        errors = min((y[rows] != label).sum() for label in (0, 1)) / n
        if kind == "squares":
            errors = rows.sum() * y[rows].var() / whole
        best = errors + penalty
        for name in cuts if depth else []:
            for right in may_be_asked(cuts, name, asked):
                parts = rows & ~right, rows & right
                if all(part.any() for part in parts):
                    price = 0.0 if name in asked else prices[name] * rows.sum() / n
                    further = sum(least(part, asked | {name}, depth - 1) for part in parts)
                    best = min(best, price + further)
        return best

    best = least(np.ones(n, dtype=bool), frozenset(), depth)
    assert model.objective_ == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert model.status_ == "optimal"
    for node in model.tree_.nodes:
        if node.split and node.split.test is not None:
            assert node.split.missing is None and "missing" not in node.test
    agree(model, frame, rng)


def partitions_with_own_branches(cuts, n, depth):
    """As ``partitions``, where missing values have a branch of their own."""

    @cache
    def below(key, asked, depth):
        rows = np.frombuffer(key, dtype=bool)
        found = {frozenset([key])}
        for name in cuts if depth else []:
            for right in may_be_asked(cuts, name, asked):
                parts = (rows & ~right).tobytes(), (rows & right).tobytes()
                if all(np.frombuffer(part, dtype=bool).any() for part in parts):
                    sides = (below(part, asked | {name}, depth - 1) for part in parts)
                    found |= {left | right for left, right in itertools.product(*sides)}
        return found

    for leaves in below(np.ones(n, dtype=bool).tobytes(), frozenset(), depth):
        yield [np.frombuffer(leaf, dtype=bool) for leaf in leaves]


@pytest.mark.parametrize("how", ["route", "own_branch"])
@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("seed", range(CASES))
def test_no_tree_has_a_better_metric(kind, seed, how):
    rng, frame = drawn(seed + 60_000, n=int(np.random.default_rng(seed).integers(3, 9)), columns=2)
    y, (depth, penalty) = rng.integers(0, 2, frame.height), shape(rng)
    y[:2] = 0, 1
    depth = min(depth, 2)
    given = {"objective": "accuracy", "constraints": (Capacity(1, 0.4),)}
    if kind != "capacity":
        given = {"objective": kind}
    model = OptimalTreeClassifier(max_depth=depth, leaf_penalty=penalty, missing=how, **given)
    model.fit(frame, y)
    if how == "own_branch":
        every = partitions_with_own_branches(own_branches(frame), frame.height, depth)
    else:
        every = partitions(all_cuts(frame, None), frame.height, depth)
    best = min(LOSSES[kind](leaves, y) + penalty * len(leaves) for leaves in every)
    assert model.objective_ == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert model.status_ == "optimal"


@pytest.mark.parametrize("seed", range(CASES))
def test_branches_of_their_own_go_with_references(seed):
    rng, frame = drawn(seed + 95_000, n=30, columns=2)
    y, (depth, penalty) = rng.integers(0, 2, frame.height), shape(rng)
    own = OptimalTreeClassifier(max_depth=depth, leaf_penalty=penalty, missing="own_branch")
    best = own.fit(frame, y).objective_
    guessed = clone(own).set_params(reference=rng.integers(0, 2, frame.height)).fit(frame, y)
    assert guessed.objective_ >= best - 1e-12
    assert guessed.objective_ - best <= guessed.certificate_.guarantee + 1e-12
    assert guessed.lower_bound_ <= best + 1e-12
    assert guessed.certify().objective_ == pytest.approx(best, rel=1e-12, abs=1e-12)


def unseen(rng, frame):
    """The frame's rows again, with more of their values missing, also where none was, and with
    other values of categories."""
    changed = []
    for column in frame.get_columns():
        gone = pl.Series(rng.random(frame.height) < 0.3)
        changed.append(column.set(gone, None) if column.dtype.is_numeric() else column)
        if column.dtype in (pl.Boolean, pl.String, pl.Date) or isinstance(column.dtype, pl.Enum):
            nulls = pl.Series([None] * frame.height, dtype=column.dtype)
            changed[-1] = column.zip_with(~gone, nulls)
        if column.dtype == pl.String:
            strange = pl.Series(rng.random(frame.height) < 0.2)
            others = pl.Series(["another"] * frame.height)
            changed[-1] = changed[-1].zip_with(~strange, others)
    return pl.DataFrame(changed)


def agree(model, frame, rng):
    """All containers and exports give the same answers, also for values that are new to a column
    or missing where none was."""
    tree = model.tree_
    assert Tree.from_json(tree.to_json()) == tree
    names = {}
    exec(tree.to_python("leaf"), names)
    for rows in (frame, unseen(rng, frame)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            _agree_on(tree, rows, names["predict"])


def _agree_on(tree, rows, by_python):
    wanted = tree.apply(rows)
    lazily = rows.lazy().select(tree.to_polars("leaf")).collect()
    assert lazily["leaf"].to_list() == wanted.tolist()
    assert rows.select(tree.to_polars("leaf"))["leaf"].to_list() == wanted.tolist()
    assert (Tree.from_json(tree.to_json()).apply(rows) == wanted).all()
    assert (tree.apply(rows.to_arrow()) == wanted).all()
    if pl.Date not in rows.dtypes:
        assert (tree.apply(rows.to_pandas()) == wanted).all()
    assert [by_python(row) for row in rows.iter_rows(named=True)] == wanted.tolist()


AGES = pl.DataFrame({"age": [20, 30, 40, None, 50, 60, None, 70]})
ILL = np.array(["no", "no", "no", "no", "yes", "yes", "no", "yes"])


def test_the_page_tells_what_happens():
    page = (Path(__file__).parents[2] / "docs" / "missing-values.md").read_text(encoding="utf-8")
    model = OptimalTreeClassifier(max_depth=1).fit(AGES.with_columns(ill=ILL), "ill")
    assert str(model.tree_) in page
    assert model.tree_.nodes[0].split.missing == "left"
    assert [str(rule) for rule in model.tree_.rules()] == [
        "if age <= 45 or missing then no (5 rows)",
        "if age > 45 then yes (3 rows)",
    ]
    assert "7 cuts" not in str(model.certificate_)
    assert model.certificate_.cuts == {"age": 11} and model.certificate_.missing == ["age"]
    assert "missing values, of 1 column, go left or right" in str(model.certificate_)


def test_rules_say_or_missing_only_where_it_can_be():
    frame = pl.DataFrame({"x": [0, 1, 2, 3, None, None, None, 2]})
    y = np.array([0, 1, 0, 1, 0, 0, 0, 0])
    tree = OptimalTreeClassifier(max_depth=3, leaf_penalty=0.0).fit(frame, y).tree_
    told = {rule.label: str(rule) for rule in tree.rules()}
    assert (tree.predict(frame) == y).all()
    # Two conditions on a side are one, which says what both do.
    for rule in tree.rules():
        rows = tree.apply(frame) == rule.leaf
        says = [condition.endswith("missing") for condition in rule.conditions]
        assert any(says) == frame["x"].is_null().to_numpy()[rows].any(), told


def test_a_column_without_missing_values_sends_them_the_larger_way():
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, 5.0]})
    y = [0, 0, 0, 1, 1]
    tree = OptimalTreeClassifier(max_depth=1).fit(frame, y).tree_
    assert tree.nodes[0].split.missing is None and tree.missing_unseen == "larger"
    nothing = pl.DataFrame({"x": [None, float("nan")]}, schema={"x": pl.Float64})
    assert tree.predict(nothing).tolist() == [0, 0]
    assert tree.predict(pl.DataFrame({"x": [None, None]})).tolist() == [0, 0]
    other = OptimalTreeClassifier(max_depth=1).fit(frame, [0, 0, 1, 1, 1]).tree_
    assert other.predict(nothing).tolist() == [1, 1]
    even = OptimalTreeClassifier(max_depth=1).fit(frame[:4], [0, 0, 1, 1]).tree_
    assert even.predict(nothing).tolist() == [0, 0]
    strict = OptimalTreeClassifier(max_depth=1, missing_unseen="refuse").fit(frame, y)
    with pytest.raises(ValueError, match="'x' has 2 missing values"):
        strict.predict(nothing)
    again = pickle.loads(pickle.dumps(strict.tree_))
    assert again == strict.tree_ and again.missing_unseen == "refuse"
    assert Tree.from_json(strict.tree_.to_json()).missing_unseen == "refuse"
    assert nothing.select(strict.tree_.to_polars())["label"].to_list() == [None, None]


def test_a_tree_of_version_one_is_read_and_refuses_missing_values():
    tree = OptimalTreeClassifier(max_depth=1).fit(pl.DataFrame({"x": [1, 2]}), [0, 1]).tree_
    document = json.loads(tree.to_json())
    assert document["version"] == 3
    document["version"] = 1
    del document["missing_unseen"]
    old = Tree.from_json(json.dumps(document))
    assert old.nodes == tree.nodes and old.missing_unseen == "refuse"
    with pytest.raises(ValueError, match="'x' has 1 missing values"):
        old.predict(pl.DataFrame({"x": [None, 1]}))


@pytest.mark.parametrize("dtype", [pl.Int64, pl.Float32, pl.String, pl.Boolean, pl.Date])
def test_a_column_without_any_value_cannot_be_split(dtype):
    nothing = pl.Series("nothing", [None] * 8, dtype=dtype)
    frame = AGES.with_columns(nothing)
    model = OptimalTreeClassifier(max_depth=2).fit(frame, ILL)
    assert {node.column for node in model.tree_.nodes} == {"age", None}
    alone = OptimalTreeClassifier(max_depth=2).fit(frame.select("nothing"), ILL)
    assert alone.get_n_leaves() == 1 and alone.status_ == "optimal"
    lazy = frame.lazy().with_columns(ill=pl.lit(pl.Series(ILL)))
    assert OptimalTreeClassifier(max_depth=2).fit(lazy, "ill").tree_.nodes == model.tree_.nodes
    ThresholdBinarizer().fit_transform(frame)


@pytest.mark.parametrize("seed", range(CASES))
def test_tables_in_memory_and_lazy_frames_give_the_same_tree(seed):
    rng, frame = drawn(seed + 90_000, n=40)
    y, weights = rng.integers(0, 2, 40), rng.integers(0, 3, 40) / 2
    thresholds = [None, 3, {"a": [0.3, 1.2]}, {"a": [None]}, {"a": []}][seed % 5]
    if thresholds and isinstance(thresholds, dict) and not frame["a"].dtype.is_numeric():
        thresholds = {"a": thresholds["a"][2:]}
    model = OptimalTreeClassifier(max_depth=2, thresholds=thresholds or "all")
    one = clone(model).fit(frame, y, weights)
    lazy = frame.lazy().with_columns(target=pl.lit(pl.Series(y)), weight=pl.lit(pl.Series(weights)))
    two = clone(model).fit(lazy, "target", "weight")
    assert one.tree_ == two.tree_ and one.certificate_.cuts == two.certificate_.cuts
    assert one._fitted.digest == two._fitted.digest


def test_lists_of_thresholds_may_ask_for_missing_values_alone():
    frame = AGES.with_columns(sex=pl.Series(["f", None, "m", "f", None, "m", "f", "m"]))
    model = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.0)
    only = clone(model).set_params(thresholds={"age": [None], "sex": [None]}).fit(frame, ILL)
    assert {node.test for node in only.tree_.nodes} <= {"age is missing", "sex is missing", None}
    assert only.certificate_.cuts == {"age": 1, "sex": 1}
    none = clone(model).set_params(thresholds={"age": [], "sex": ["m"]}).fit(frame, ILL)
    assert none.certificate_.cuts == {"age": 0, "sex": 3}
    binarizer = ThresholdBinarizer({"age": [45], "sex": ["f"]}).fit(frame)
    assert binarizer.thresholds_ == {"age": [45.0, None], "sex": ["f", None]}
    assert binarizer.get_feature_names_out().tolist() == [
        "age <= 45", "age is missing", "sex = f", "sex is missing"
    ]
    asked = clone(model).set_params(thresholds=binarizer).fit(frame, ILL)
    assert asked.certificate_.cuts == {"age": 3, "sex": 3}
    assert binarizer.transform(frame)[3].tolist() == [False, True, True, False]
    assert binarizer.transform(frame)[1].tolist() == [True, False, False, True]


@pytest.mark.parametrize("seed", [6, 11, 13])
@pytest.mark.parametrize("objective", ["accuracy", "balanced_accuracy"])
def test_references_and_guessed_cuts_know_missing_values(objective, seed):
    rng, frame = drawn(seed, n=200, columns=3)
    assert 50 < frame[:, 0].null_count() < 150, "the labels follow what is missing"
    y = (frame[:, 0].is_null().to_numpy() ^ (rng.random(200) < 0.2)).astype(int)
    exact = OptimalTreeClassifier(objective, max_depth=2).fit(frame, y)
    guessed = clone(exact).set_params(thresholds="guess", reference="guess").fit(frame, y)
    assert guessed.objective_ >= exact.objective_ - 1e-12
    certain = guessed.certify()
    assert certain.status_ == "optimal"


def test_a_fitted_reference_that_knows_missing_values_has_its_cuts_taken():
    rng = np.random.default_rng(2)
    X = np.where(rng.random((200, 3)) < 0.2, np.nan, rng.random((200, 3)).round(2))
    y = (np.isnan(X[:, 0]) | (X[:, 1] < 0.4)).astype(int)
    reference = DecisionTreeClassifier(max_depth=2).fit(X, y)
    guesser = ThresholdGuesser(reference, tolerance=None).fit(X)
    assert guesser.thresholds_["x0"][-1] is None and guesser.thresholds_["x2"] == []
    assert guesser.transform(X).shape == (200, len(guesser.get_feature_names_out()))
    guessed = OptimalTreeClassifier(max_depth=2, thresholds=guesser, leaf_penalty=0.0).fit(X, y)
    assert guessed.score(X, y) >= reference.score(X, y)


@pytest.mark.parametrize("how", ["route", "own_branch"])
def test_a_stopped_search_goes_on_with_missing_values(how):
    rng = np.random.default_rng(3)
    X = np.where(rng.random((150, 5)) < 0.2, np.nan, rng.random((150, 5)).round(2))
    y = rng.integers(0, 2, 150)
    model = OptimalTreeClassifier(max_depth=3, time_limit=0.05, thresholds=8, missing=how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    best = clone(model).set_params(time_limit=None).fit(X, y)
    assert model.set_params(time_limit=None).certify().objective_ == best.objective_
    assert again.set_params(time_limit=None).certify(X, y).objective_ == best.objective_


def test_rows_that_weigh_nothing_may_miss_anything():
    X = pl.DataFrame({"x": [1, 2, 3, None]})
    for given in ({"missing": "refuse"}, {"missing_unseen": "refuse"}, {}):
        model = OptimalTreeClassifier(**given).fit(X, [0, 0, 1, 1], [1, 1, 1, 0])
        assert not model.tree_.columns[0].missing
        lazy = X.with_columns(y=pl.Series([0, 0, 1, 1]), w=pl.Series([1, 1, 1, 0])).lazy()
        again = OptimalTreeClassifier(**given).fit(lazy, "y", "w")
        assert again.tree_.nodes == model.tree_.nodes


def test_cross_validation_and_missing_targets():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 3)) < 0.3, np.nan, rng.random((60, 3)))
    y = rng.integers(0, 2, 60)
    assert len(cross_val_score(OptimalTreeClassifier(max_depth=2), X, y, cv=3)) == 3
    assert get_tags(OptimalTreeClassifier()).input_tags.allow_nan
    assert not get_tags(OptimalTreeClassifier(missing="refuse")).input_tags.allow_nan
    with pytest.raises(ValueError, match="target 'y' has 1 value missing"):
        OptimalTreeClassifier().fit(X, np.where(np.arange(60) == 3, np.nan, y))
    with pytest.raises(ValueError, match="missing='elsewhere' is not valid"):
        OptimalTreeClassifier(missing="elsewhere").fit(X, y)


def test_infinities_are_large_numbers():
    X = np.array([[-np.inf], [np.inf], [0.0], [1.0], [np.finfo(float).max], [-np.finfo(float).max]])
    y = np.arange(6)
    tree = OptimalTreeClassifier(leaf_penalty=0.0).fit(X, y).tree_
    assert tree.predict(X).tolist() == y.tolist()
    again = Tree.from_json(tree.to_json())
    assert again == tree and again.predict(X).tolist() == y.tolist()
    frame = pl.DataFrame(X, schema=["x0"], orient="row")
    assert frame.select(tree.to_polars())["label"].to_list() == y.tolist()
    names = {}
    exec(tree.to_python(), names)
    assert [names["predict"](row) for row in frame.to_dicts()] == y.tolist()
    both = OptimalTreeClassifier().fit(X[:2], [0, 1]).tree_
    assert both.nodes[0].test == "x0 <= 0"


def test_pictures_and_reports_tell_it(tmp_path):
    model = OptimalTreeClassifier(max_depth=1).fit(AGES, ILL)
    assert "≤ 45 or missing" in model.tree_.to_svg() and "<= 45 or missing" in model.tree_.to_dot()
    page = report(model, path=tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Values were missing in age" in page


@pytest.mark.parametrize(
    "values",
    [
        [True, None, False, None] * 5,
        ["m", None, "f", None] * 5,
        [1.0, None, 0.0, float("nan")] * 5,
        pl.Series([1, None, 0, None] * 5, dtype=pl.Int8),
        pl.Series(["m", None, "f", None] * 5, dtype=pl.Categorical),
        pl.Series(["m", None, "f", None] * 5, dtype=pl.Enum(["m", "f"])),
    ],
)
def test_missing_values_of_sensitive_columns_are_refused_by_name_and_number(values):
    frame = pl.DataFrame({"a": range(20), "sex": values})
    says = "sensitive column 'sex' has 10 values missing .null or NaN.; fill them, or drop those"
    y = [at % 3 == 0 for at in range(20)]
    for constraint in (DemographicParity("sex", 0.1), EqualOpportunity("sex", 0.1)):
        for used in (False, True):
            limit = dataclasses.replace(constraint, use_as_feature=used)
            model = OptimalTreeClassifier(max_depth=1, constraints=[limit])
            for X in (frame, frame.to_pandas(), frame.lazy().with_columns(y=pl.Series(y))):
                with pytest.raises(ValueError, match=says):
                    model.fit(X, "y" if isinstance(X, pl.LazyFrame) else y)
