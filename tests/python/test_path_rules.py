"""``path_rules``: every estimator against the plain list of all trees that keep to the rules, what
certificates say, and what is refused.

More cases: ``CERTREE_CASES=5000 python -m pytest tests/python/test_path_rules.py``.
"""

import html
import itertools
import json
import pickle
from dataclasses import FrozenInstanceError
from functools import cache

import numpy as np
import polars as pl
import pytest
from brute import cases
from sklearn.base import clone
from test_survival import deviance, exposure_by_hand

from certree import (
    After,
    Apart,
    Capacity,
    DemographicParity,
    FirstColumn,
    MostColumns,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    depth_gap,
    frontier,
    report,
)

NAMES = ["a", "b", "c", "d"]


def keeps(rules, path):
    """Whether a path may ask for these columns, in the order in which they are first asked."""
    def number(name):
        return NAMES.index(name) if isinstance(name, str) else name

    for rule in rules:
        if isinstance(rule, MostColumns):
            kept = len(path) <= rule.most
        elif isinstance(rule, FirstColumn):
            kept = not path or path[0] == number(rule.column)
        elif isinstance(rule, After):
            column, above = number(rule.column), {number(name) for name in rule.above}
            kept = column not in path or above <= set(path[: path.index(column)])
        else:
            groups = [{number(name) for name in group} for group in rule.groups]
            grouped = set(path) & set().union(*groups)
            kept = not grouped or any(grouped <= group for group in groups)
        if not kept:
            return False
    return True


def all_trees(X, rules, depth):
    """Every tree of at most this depth that keeps to the rules, as its leaves: the rows of each,
    and the columns that its path asks for."""
    X = np.asarray(X)
    cuts = [(k, v) for k in range(X.shape[1]) for v in np.unique(X[:, k])[:-1]]

    @cache
    def below(rows, path, depth):
        found = {((rows, path),)}
        if depth == 0:
            return found
        for column, value in cuts:
            longer = path if column in path else (*path, column)
            left = tuple(row for row in rows if X[row, column] <= value)
            right = tuple(row for row in rows if X[row, column] > value)
            if not left or not right or not keeps(rules, longer):
                continue
            both = below(left, longer, depth - 1), below(right, longer, depth - 1)
            found |= {tuple(sorted(a + b)) for a, b in itertools.product(*both)}
        return found

    return below(tuple(range(len(X))), (), depth)


def random_rules(rng, n_columns):
    """One to three rules that do not contradict each other, by names or numbers."""
    while True:
        rules = [random_rule(rng, n_columns) for _ in range(rng.integers(1, 4))]
        named = {
            name if isinstance(name, int) else NAMES.index(name)
            for rule in rules
            for name in named_by(rule)
        }
        paths = [
            path
            for n in range(1, n_columns + 1)
            for path in itertools.permutations(range(n_columns), n)
            if all(keeps(rules, path[:k]) for k in range(n + 1))
        ]
        if named <= {column for path in paths for column in path}:
            return rules


def named_by(rule):
    if isinstance(rule, MostColumns):
        return ()
    if isinstance(rule, FirstColumn):
        return (rule.column,)
    return (rule.column, *rule.above) if isinstance(rule, After) else sum(rule.groups, ())


def random_rule(rng, n):
    def column():
        at = int(rng.integers(n))
        return NAMES[at] if rng.random() < 0.5 else at

    kind = rng.integers(4)
    if kind == 0:
        return MostColumns(int(rng.integers(1, 3)))
    if kind == 1:
        return After(column(), *[column() for _ in range(rng.integers(1, 3))])
    if kind == 2:
        return Apart(*[[column() for _ in range(rng.integers(1, 3))] for _ in range(2)])
    return FirstColumn(column())


class Drawn:
    """A small table, rules, and the trees that keep to them."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        n, d = int(rng.integers(5, 11)), int(rng.integers(2, 5))
        most = 3 if d < 4 else 2
        self.values = np.column_stack([rng.integers(0, most, n) for _ in range(d)])
        self.X = pl.DataFrame(self.values, schema=NAMES[:d])
        # Some without rules.
        self.rules = random_rules(rng, d) if seed % 6 else []
        # Deeper trees of columns with several cuts are too many to list.
        self.depth = 3 if most == 2 or d == 2 else 2
        self.penalty = float(rng.choice([0.0, 0.01, 0.05]))
        self.limits = {
            "max_depth": self.depth,
            "leaf_penalty": self.penalty,
            "n_jobs": 1 + seed % 2,
            "path_rules": self.rules if seed % 3 else tuple(self.rules),
        }
        self.trees = all_trees(self.values, self.rules, self.depth)
        self.n = n

    def best(self, loss):
        """The least of what a tree loses, and of its leaves."""
        return min(loss(tree) + self.penalty * len(tree) for tree in self.trees)

    def best_by_leaf(self, cost):
        """``cost``: of the rows of a leaf."""
        cost = cache(cost)
        return self.best(lambda tree: sum(cost(rows) for rows, _ in tree))

    def check(self, model, best):
        assert model.objective_ == pytest.approx(best, rel=1e-9, abs=1e-9)
        assert model.status_ == "optimal"
        assert model.lower_bound_ <= best + 1e-9
        for leaf in np.unique(model.apply(self.X)):
            path = model.decision_path(self.X)[int(np.flatnonzero(model.apply(self.X) == leaf)[0])]
            splits = [model.tree_.nodes[node].split for node in path.indices]
            columns = [split.column_index for split in splits if split is not None]
            assert keeps(self.rules, tuple(dict.fromkeys(columns)))
        assert len(model.certificate_.path_rules) == len(self.rules)
        words = "that keeps to the rules for paths" in str(model.certificate_)
        assert words == bool(self.rules)


@pytest.fixture(params=cases(25))
def drawn(request):
    return Drawn(request.param)


def labels(drawn, k=2):
    """Labels of two or more classes, some of each."""
    y = drawn.rng.integers(0, k, drawn.n)
    y[:k] = np.arange(k)
    return y


def test_errors_and_shares_of_classes(drawn):
    y = labels(drawn, int(drawn.rng.integers(2, 4)))

    def shares(rows):
        return np.bincount(y[list(rows)], minlength=y.max() + 1)

    model = OptimalTreeClassifier(**drawn.limits).fit(drawn.X, y)
    drawn.check(model, drawn.best_by_leaf(lambda rows: (len(rows) - shares(rows).max()) / drawn.n))
    model = OptimalTreeClassifier("gini", **drawn.limits).fit(drawn.X, y)
    gini = drawn.best_by_leaf(
        lambda rows: (len(rows) - (shares(rows) ** 2).sum() / len(rows)) / drawn.n
    )
    drawn.check(model, gini)

    def entropy(rows):
        own = shares(rows)[shares(rows) > 0]
        return (own * np.log(len(rows) / own)).sum() / drawn.n

    model = OptimalTreeClassifier("log_loss", **drawn.limits).fit(drawn.X, y)
    drawn.check(model, drawn.best_by_leaf(entropy))
    # Bits: of each leaf 1 and its shares, of each split 1 and its cut.
    n_cuts = sum(len(np.unique(column)) - 1 for column in drawn.values.T)
    leaf = 1 + y.max() / 2 * np.log2(drawn.n)
    split = 1 + np.log2(max(n_cuts, 1))
    bits = min(
        sum(entropy(rows) for rows, _ in tree) / np.log(2)
        + (len(tree) * leaf + (len(tree) - 1) * split) / drawn.n
        for tree in drawn.trees
    )
    limits = {**drawn.limits, "leaf_penalty": 0.01}
    drawn.check(OptimalTreeClassifier("mdl", **limits).fit(drawn.X, y), bits)


def test_feature_costs_too(drawn):
    y = labels(drawn)
    costs = {name: float(drawn.rng.choice([0.0, 0.02, 0.1])) for name in drawn.X.columns}

    def loss(tree):
        lost = sum(len(rows) - np.bincount(y[list(rows)]).max() for rows, _ in tree)
        paid = sum(len(rows) * sum(costs[NAMES[k]] for k in path) for rows, path in tree)
        return (lost + paid) / drawn.n

    model = OptimalTreeClassifier(feature_costs=costs, **drawn.limits).fit(drawn.X, y)
    drawn.check(model, drawn.best(loss))


def test_squared_errors_and_rates(drawn):
    y = drawn.rng.normal(0, 1, drawn.n).round(2)
    whole = ((y - y.mean()) ** 2).sum()

    def squares(rows):
        own = y[list(rows)]
        return ((own - own.mean()) ** 2).sum() / whole

    model = OptimalTreeRegressor(**drawn.limits).fit(drawn.X, y)
    drawn.check(model, drawn.best_by_leaf(squares))
    counts = drawn.rng.integers(0, 4, drawn.n)
    counts[0] = 1

    def poisson(rows):
        own = counts[list(rows)]
        logs = np.where(own > 0, own * np.log(np.maximum(own, 1) / max(own.mean(), 1e-300)), 0.0)
        return 2 * logs.sum()

    all_ = poisson(range(drawn.n))
    if all_ > 0:
        model = OptimalTreeRegressor("poisson", **drawn.limits).fit(drawn.X, counts)
        drawn.check(model, drawn.best_by_leaf(lambda rows: poisson(rows) / all_))
    amounts = drawn.rng.choice([0.5, 1.0, 2.5, 4.0], drawn.n)

    def gamma(rows):
        own = amounts[list(rows)]
        return 2 * np.log(own.mean() / own).sum()

    all_ = gamma(range(drawn.n))
    if all_ > 1e-9:
        model = OptimalTreeRegressor("gamma", **drawn.limits).fit(drawn.X, amounts)
        drawn.check(model, drawn.best_by_leaf(lambda rows: gamma(rows) / all_))


def test_medians_and_quantiles(drawn):
    y = drawn.rng.integers(0, 6, drawn.n).astype(float)
    for name, share in (("absolute_error", 0.5), ("quantile", 0.8)):

        def pinball(rows, share=share):
            own = y[list(rows)]
            off = own[:, None] - np.unique(y)
            return np.where(off > 0, share * off, (share - 1) * off).sum(axis=0).min()

        all_ = pinball(range(drawn.n))
        if all_ > 1e-9:
            model = OptimalTreeRegressor(name, quantile=share, **drawn.limits).fit(drawn.X, y)
            drawn.check(model, drawn.best_by_leaf(lambda rows: pinball(rows) / all_))


def test_costs_and_policies(drawn):
    costs = drawn.rng.integers(0, 9, (drawn.n, 3)).astype(float)
    model = OptimalCostTree(**drawn.limits).fit(drawn.X, costs)
    drawn.check(
        model, drawn.best_by_leaf(lambda rows: costs[list(rows)].sum(axis=0).min() / drawn.n)
    )
    policy = OptimalPolicyTree(**drawn.limits).fit(drawn.X, rewards=-costs)
    drawn.check(policy, model.objective_)


def counted(parts, chosen, loss):
    """The loss of leaves with these rows of either class, under these labels."""
    tp = sum(part[1] for part, label in zip(parts, chosen) if label)
    fp = sum(part[0] for part, label in zip(parts, chosen) if label)
    fn = sum(part[1] for part, label in zip(parts, chosen) if not label)
    tn = sum(part[0] for part, label in zip(parts, chosen) if not label)
    return loss(int(tp), int(fp), int(fn), int(tn))


def test_metrics(drawn):
    y = labels(drawn)

    def by_labels(loss):
        def least(tree):
            parts = [np.bincount(y[list(rows)], minlength=2) for rows, _ in tree]
            every = itertools.product([0, 1], repeat=len(parts))
            return min(counted(parts, chosen, loss) for chosen in every)

        return drawn.best(least)

    def f1(tp, fp, fn, tn):
        return 1 - 2 * tp / (2 * tp + fp + fn)

    def mcc(tp, fp, fn, tn):
        under = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
        return 1 - ((tp * tn - fp * fn) / np.sqrt(float(under)) if under else 0.0)

    for name, loss in (("f1", f1), ("mcc", mcc)):
        model = OptimalTreeClassifier(name, **drawn.limits).fit(drawn.X, y)
        drawn.check(model, by_labels(loss))


def test_areas(drawn):
    y = labels(drawn)
    pairs = 2 * (y == 0).sum() * (y == 1).sum()

    def lost(tree):
        parts = sorted(
            (np.bincount(y[list(rows)], minlength=2) for rows, _ in tree),
            key=lambda part: -part[1] / part.sum(),
        )
        above = area = 0
        for negatives, positives in parts:
            area += negatives * (2 * above + positives)
            above += positives
        return 1 - area / pairs

    model = OptimalTreeClassifier("auc", **drawn.limits).fit(drawn.X, y)
    drawn.check(model, drawn.best(lost))


def test_constraints(drawn):
    y = labels(drawn)

    def least(tree):
        found = [np.inf]
        for chosen in itertools.product([0, 1], repeat=len(tree)):
            given = sum(len(rows) for (rows, _), label in zip(tree, chosen) if label)
            if given <= 0.3 * drawn.n:
                wrong = [(y[list(rows)] != label).sum() for (rows, _), label in zip(tree, chosen)]
                found.append(sum(wrong) / drawn.n)
        return min(found)

    limit = (Capacity(1, 0.3),)
    model = OptimalTreeClassifier(constraints=limit, **drawn.limits).fit(drawn.X, y)
    drawn_best = drawn.best(least)
    assert model.objective_ == pytest.approx(drawn_best, rel=1e-9, abs=1e-9)
    kept = " and keeps to the rules for paths" * bool(drawn.rules)
    assert f"no such tree that meets the constraints{kept} has" in str(model.certificate_)


def test_survival(drawn):
    time = np.floor(drawn.rng.exponential(4.0, drawn.n))
    event = drawn.rng.random(drawn.n) < 0.7
    event[0] = True
    exposure = exposure_by_hand(time, event, np.ones(drawn.n))

    def cost(rows):
        rows = list(rows)
        return deviance(event[rows], exposure[rows], np.ones(len(rows)))

    whole = cost(range(drawn.n))
    if whole > 1e-9:
        model = OptimalSurvivalTree(**drawn.limits).fit(drawn.X, time, event)
        drawn.check(model, drawn.best_by_leaf(lambda rows: cost(rows) / whole))


class Errors:
    """Errors, as a task of one's own."""

    def leaf_cost(self, sums):
        return sums.sum(axis=1) - sums.max(axis=1)

    def answer(self, sums):
        return int(np.argmax(sums))


def test_a_task_of_ones_own_and_several_targets(drawn):
    y, z = labels(drawn), labels(drawn)
    statistics = np.column_stack([y == 0, y == 1]).astype(int)
    errors = OptimalTreeClassifier(**drawn.limits).fit(drawn.X, y)
    model = OptimalTree(Errors(), **drawn.limits).fit(drawn.X, statistics)
    drawn.check(model, errors.objective_)
    both = OptimalTreeClassifier(**drawn.limits).fit(drawn.X, np.column_stack([y, z]))

    def wrong(rows):
        rows = list(rows)
        return sum(len(rows) - np.bincount(of[rows]).max() for of in (y, z)) / (2 * drawn.n)

    drawn.check(both, drawn.best_by_leaf(wrong))


def test_frontiers(drawn):
    y = labels(drawn)

    def wrong(tree):
        return sum(len(rows) - np.bincount(y[list(rows)]).max() for rows, _ in tree) / drawn.n

    least = {}
    for tree in drawn.trees:
        least[len(tree)] = min(least.get(len(tree), np.inf), wrong(tree))
    front = frontier(OptimalTreeClassifier(**drawn.limits), drawn.X, y)
    for loss, leaves in front.select("loss", "leaves").rows():
        assert loss == pytest.approx(min(least[n] for n in least if n <= leaves), abs=1e-9)
    assert front["loss"][0] == pytest.approx(min(least.values()), abs=1e-9)


def test_guesses_stay_valid(drawn):
    y = labels(drawn)

    def wrong(rows):
        return (len(rows) - np.bincount(y[list(rows)]).max()) / drawn.n

    best = drawn.best_by_leaf(wrong)
    guess = drawn.rng.integers(0, 2, drawn.n)
    model = OptimalTreeClassifier(reference=guess, **drawn.limits).fit(drawn.X, y)
    assert model.lower_bound_ <= best + 1e-9 <= model.objective_ + 2e-9
    model.certify()
    drawn.check(model, best)


def table(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = pl.DataFrame(rng.integers(0, 4, (n, 4)), schema=NAMES)
    y = (X["a"] + X["b"] * X["c"] > 3).to_numpy() ^ (rng.random(n) < 0.15)
    return X, y.astype(int)


def test_copies_and_pickles_go_on():
    X, y = table()
    rules = [MostColumns(2), After("b", "a"), Apart(["c"], ["d"])]
    model = OptimalTreeClassifier(max_depth=4, leaf_penalty=0.002, path_rules=rules)
    best = clone(model).fit(X, y)
    stopped = clone(model).set_params(time_limit=1e-6)
    with pytest.warns(UserWarning):
        stopped.fit(X, y)
    stopped.set_params(time_limit=None)
    again = pickle.loads(pickle.dumps(stopped))
    stopped.certify()
    again.certify(X, y)
    assert stopped.objective_ == again.objective_ == best.objective_
    assert again.status_ == "optimal" and again.certificate_.path_rules
    assert pickle.loads(pickle.dumps(rules)) == rules
    again.set_params(path_rules=rules[:2])
    with pytest.raises(ValueError, match="path_rules was another list when the tree was fitted"):
        again.certify()


def test_the_certificate_says_which_rules_held(tmp_path):
    X, y = table()
    rules = [MostColumns(3), After("b", "a", "d"), Apart(["b"], [2]), FirstColumn("a")]
    model = OptimalTreeClassifier(path_rules=rules).fit(X, y)
    words = [
        "each path asks for at most 3 different columns",
        "'b' is asked only below splits on 'a' and 'd'",
        "no path asks for columns of several of the groups ['b'], ['c']",
        "the first split is on 'a'",
    ]
    assert model.certificate_.path_rules == words
    statement = model.certificate_.statement()
    assert all(f"Rule for paths: {rule}." in statement for rule in words)
    assert "Proved: no such tree that keeps to the rules for paths has a lower" in statement
    assert json.loads(json.dumps(model.certificate_.to_dict()))["path_rules"] == words
    report(model, path=tmp_path / "report.html")
    page = html.unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert f"All of them keep to rules for paths: {'; '.join(words)}." in page
    free = OptimalTreeClassifier().fit(X, y)
    assert free.certificate_.path_rules == [] and "rules" not in str(free.certificate_)


def test_rules_do_not_loosen_what_a_depth_limit_can_cost():
    X, y = table()
    rules = [FirstColumn("d"), MostColumns(2)]
    model = OptimalTreeClassifier(max_depth=2, path_rules=rules).fit(X, y)
    deep = clone(model).set_params(max_depth=5, time_limit=None).fit(X, y)
    assert model.objective_ - deep.objective_ <= depth_gap(model, X, y)


def test_sensitive_columns_and_targets_are_no_columns_of_paths():
    X, y = table()
    X = X.with_columns(pl.Series("sex", ["f", "m"] * 40), pl.Series("y", y))
    parity = DemographicParity("sex", max_difference=0.5)
    model = OptimalTreeClassifier(constraints=(parity,), path_rules=[FirstColumn("sex")])
    with pytest.raises(ValueError, match="'sex' is no feature column: there are 'a', 'b', 'c'"):
        model.fit(X, "y")
    with pytest.raises(ValueError, match="'y' is no feature column"):
        OptimalTreeClassifier(path_rules=[FirstColumn("y")]).fit(X, "y")


def test_arrays_have_numbers_and_names():
    X, y = table()
    by_number = OptimalTreeClassifier(path_rules=[FirstColumn(3)]).fit(X.to_numpy(), y)
    name = by_number.tree_.columns[3].name
    by_name = OptimalTreeClassifier(path_rules=[FirstColumn(name)]).fit(X.to_numpy(), y)
    assert by_name.objective_ == by_number.objective_
    np_number = OptimalTreeClassifier(path_rules=[FirstColumn(np.int64(3))]).fit(X.to_numpy(), y)
    assert np_number.objective_ == by_number.objective_


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        ("a", "must be a list or tuple of rules"),
        (MostColumns(2), "must be a list or tuple of rules"),
        ([("a", "b")], "must be a list or tuple of rules"),
        (None, "must be a list or tuple of rules"),
        ([MostColumns(0)], "path_rules allow 0 columns on a path, which forbids every split"),
        ([MostColumns(-1)], "the most columns of a path are an integer of at least 1"),
        ([MostColumns(1.5)], "the most columns of a path are an integer of at least 1"),
        ([MostColumns(True)], "the most columns of a path are an integer of at least 1"),
        ([After("b", "z")], r"After\('b', 'z'\), but 'z' is no feature column: there are 'a', 'b'"),
        ([After("b", 4)], "but 4 is no feature column: there are 4, numbered from 0"),
        ([After("b", -1)], "but -1 is no feature column"),
        ([After("b", ["a"])], r"but \['a'\] is no column: give its name, or its number"),
        ([After("b", None)], "but None is no column"),
        ([After("b")], "let 'b' be asked only after other columns, but name none"),
        ([After("b", "b")], "'b' may be asked only after itself"),
        (
            [After("a", "b"), After("b", "a")],
            "contradict each other: 'a' can never be asked, because 'a' may be asked only after "
            "itself, through the columns that it needs",
        ),
        ([Apart("a", "b")], "each group of columns is a list, such as in"),
        ([Apart(["a"], [])], "keep groups of columns apart, but one of them is empty"),
        ([Apart()], "name fewer than two groups"),
        ([Apart(["a", "b"])], "name fewer than two groups"),
        ([After("a", "b"), Apart(["a"], ["b"])], "which are of groups that are kept apart"),
        ([FirstColumn("a"), FirstColumn("b")], "first split of a tree cannot be on 'a' and on 'b'"),
        ([FirstColumn("a"), After("a", "b")], "first split is on 'a', which may be asked only aft"),
        ([FirstColumn(10**400)], "is no feature column"),
        ([MostColumns(1), After("a", "b")], "which are 2 columns, and 1 is the most allowed"),
    ],
)
def test_bad_rules_are_one_clear_error(rules, text):
    X, y = table()
    with pytest.raises(ValueError, match=text):
        OptimalTreeClassifier(path_rules=rules).fit(X, y)
    with pytest.raises(ValueError, match=text):
        OptimalTreeClassifier("auc", path_rules=rules).fit(X, y)


def test_rules_are_values():
    rules = [MostColumns(10**30), After("b", "a"), Apart(["a"], ["b", 2]), FirstColumn(0)]
    assert [repr(rule) for rule in rules[1:3]] == ["After('b', 'a')", "Apart(['a'], ['b', 2])"]
    assert len({*rules, After("b", "a"), Apart(["a"], ["b", 2])}) == 4
    for rule in rules:
        name = next(iter(vars(rule)))
        with pytest.raises(FrozenInstanceError):
            setattr(rule, name, 1)
    X, y = table()
    # A limit beyond any number of columns is none.
    assert (
        OptimalTreeClassifier(path_rules=rules[:1]).fit(X, y).objective_
        == OptimalTreeClassifier().fit(X, y).objective_
    )
    # A list that is changed after the fit changes nothing that was proved.
    changing = [FirstColumn("d")]
    model = OptimalTreeClassifier(path_rules=changing).fit(X, y)
    changing[0] = FirstColumn("a")
    assert model.certificate_.path_rules == ["the first split is on 'd'"]
    with pytest.raises(ValueError, match="path_rules"):
        model.certify()


def test_a_column_without_cuts_forbids_every_split():
    X, y = table()
    constant = X.with_columns(pl.lit(1).alias("d"))
    model = OptimalTreeClassifier(path_rules=[FirstColumn("d")]).fit(constant, y)
    assert model.get_n_leaves() == 1 and model.status_ == "optimal"


def test_many_cuts_are_searched_one_by_one():
    rng = np.random.default_rng(1)
    X = rng.normal(0, 1, (400, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    free = OptimalTreeClassifier(max_depth=2).fit(X, y)
    ruled = OptimalTreeClassifier(max_depth=2, path_rules=[MostColumns(1)]).fit(X, y)
    assert free.certificate_.route == "intervals of cuts"
    assert ruled.certificate_.route == "cut by cut"
    assert ruled.status_ == "optimal" and ruled.objective_ >= free.objective_
    loose = OptimalTreeClassifier(max_depth=2, path_rules=[MostColumns(2)]).fit(X, y)
    assert loose.objective_ == free.objective_
