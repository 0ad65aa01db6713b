"""A search that is divided by its first question: all parts together prove what one search does."""

import os

import numpy as np
import pytest

from certree import OptimalTreeClassifier, OptimalTreeRegressor, _core

CASES = int(os.environ.get("CERTREE_CASES", 30))


class Told:
    seconds, nodes, kernel_calls, peak_bytes, bounds, curve = 1.5, 7, 9, 11, {"leaf": 3}, []


def problem(rng):
    n = int(rng.integers(5, 120))
    X = rng.random((n, int(rng.integers(1, 9)))) < rng.uniform(0.2, 0.8)
    y = (X[:, 0] ^ X[:, -1] ^ (rng.random(n) < 0.3)).astype(int)
    limits = {
        "max_depth": [1, 2, 3, 4, None][int(rng.integers(5))],
        "max_leaf_nodes": [None, 3, 5][int(rng.integers(3))],
        "min_samples_leaf": int(rng.integers(1, 4)),
        "leaf_penalty": float(rng.choice([0.003, 0.02])),
    }
    if rng.random() < 0.3:
        data = X, y * 1.5 + X[:, 0], None, None
        model = OptimalTreeRegressor(**limits).fit(*data)
    else:
        data = X, y, None
        model = OptimalTreeClassifier(**limits).fit(*data)
    return model, model._pose(data)


def of_intervals(rng):
    """Continuous columns with so many cuts that they are searched over intervals, some of whose
    values may be missing."""
    n = int(rng.integers(140, 180))
    X = rng.normal(size=(n, 4)).round(3)
    limits = {
        "max_depth": [2, 3, 3][int(rng.integers(3))],
        "max_leaf_nodes": [None, None, 4, 5][int(rng.integers(4))],
        "min_samples_leaf": int(rng.choice([1, 1, 4])),
        "leaf_penalty": float(rng.choice([0.03, 0.08])),
    }
    signal = (X[:, 0] > 0.3) ^ (X[:, 1] > X[:, 2]) ^ (rng.random(n) < 0.1)
    if rng.random() < 0.3:
        X[rng.random(X.shape) < 0.05] = np.nan
    if rng.random() < 0.4:
        data = X[:60], signal[:60] * 1.5 + rng.normal(size=60).round(2), None, None
        model = OptimalTreeRegressor(**limits).fit(*data)
    else:
        data = X, signal.astype(int), None
        model = OptimalTreeClassifier(**limits).fit(*data)
    assert model.certificate_.route == "intervals of cuts"
    return model, model._pose(data)


def share_of(posed):
    try:
        return _core.Share(posed.problem)
    except ValueError as error:
        assert "divided" in str(error)
        return None


def divided(share, rng, n):
    """So many parts of all trees, or fewer if they cannot be divided so often."""
    parts = [share.whole()[0]]
    assert share.whole() is None, "all trees are divided once"
    for _ in range(n - 1):
        halves = share.halves(parts[-1])
        if halves is not None:
            parts[-1:] = halves
            rng.shuffle(parts)
    return parts


def searched(share, parts, known, limits, rng):
    """The best tree and its cost, after all parts were searched to the end in any order."""
    tree, upper = known
    open_parts, waiting = [(part, False) for part in parts], []
    while open_parts:
        part, _ = open_parts.pop(int(rng.integers(len(open_parts))))
        slice = [None, 1e-9][int(rng.integers(2))]
        lower, better, left, *_ = share.search(part, upper, slice, limits)
        if better is not None:
            tree, upper = better
        if lower < upper:
            (waiting if left[1] else open_parts).append(left)
        if not open_parts and waiting:
            open_parts = [(share.joined([part for part, _ in waiting]), False)]
            waiting = []
    return tree, upper


@pytest.mark.parametrize("seed", range(CASES // 2))
def test_parts_of_intervals_prove_what_the_whole_search_does(seed):
    rng = np.random.default_rng(3000 + seed)
    model, posed = of_intervals(rng)
    share, limits = _core.Share(posed.problem), _core.Limits(None, None, 0.0, 1)
    best = share.cost(model.tree_._core)
    begun = _core.solve(posed.problem, _core.Limits(float(rng.choice([1e-9, 2e-3])), None, 0.0, 1))
    tree, upper = begun.tree, share.cost(begun.tree)
    share.begin_with(begun)
    lower, better, left, work, *_ = share.search(share.whole()[0], upper, 1e-9, limits)
    assert lower <= best and len(work) == 3
    if better is not None:
        tree, upper = better
        assert share.cost(tree) == upper
    parts = [left[0]]
    for _ in range(int(rng.integers(9))):
        halves = share.halves(parts[0])
        parts = parts[1:] + list(halves or parts[:1])
    # Another process goes on that knows nothing but the parts.
    other = _core.Share(_core.Problem.from_bytes(posed.problem.to_bytes()))
    tree, upper = searched(other, parts, (tree, upper), limits, rng)
    assert upper == best == share.cost(tree)
    answer = share.conclude(tree, best, limits, Told)
    assert answer.route == "intervals of cuts" and answer.lower_bound == model.lower_bound_


def test_a_part_that_is_damaged_is_refused():
    _, posed = of_intervals(np.random.default_rng(1))
    _, other = problem(np.random.default_rng(1))
    shares = _core.Share(posed.problem), _core.Share(other.problem)
    limits = _core.Limits(None, None, 0.0, 1)
    parts = [share.whole()[0] for share in shares]
    for damaged in (b"", parts[0][:-1], parts[0] + b"x", posed.problem.to_bytes()):
        with pytest.raises(ValueError):
            shares[0].halves(damaged)
    with pytest.raises(ValueError, match="another route"):
        shares[0].search(parts[1], 1, None, limits)
    with pytest.raises(ValueError, match="joined"):
        shares[1].joined(parts[1:])


@pytest.mark.parametrize("seed", range(CASES))
def test_parts_prove_what_the_whole_search_does(seed):
    rng = np.random.default_rng(seed)
    model, posed = problem(rng)
    share = share_of(posed)
    if share is None:
        return
    limits = _core.Limits(None, None, 0.0, int(rng.integers(1, 3)))
    best = share.cost(model.tree_._core)
    # From any tree that is known: here a single leaf.
    leaf = _core.solve(posed.problem, _core.Limits(1e-9, None, 0.0, 1)).tree
    tree, upper = leaf, share.cost(leaf)
    lowers = {}
    for at, part in enumerate(divided(share, rng, int(rng.integers(1, 12)))):
        lower, better, (left, waits), work, *_ = share.search(part, upper, None, limits)
        assert lower >= min(best, upper) and left == part and not waits
        if better is not None:
            assert better[1] < upper and share.cost(better[0]) == better[1]
            tree, upper = better
        lowers[at] = lower
        # A part that was divided has no lower bound than the whole of it.
        again, found, *_ = share.search(share.halves(part)[1], upper, None, limits)
        if found is not None:
            # A part without questions may still see a small tree.
            tree, upper = found
        assert again >= min(lower, upper)
    assert upper == best
    # Bounds of parts are of trees below the cutoff of their time.
    assert min([upper, *lowers.values()]) == best
    answer = share.conclude(tree, best, limits, Told)
    assert answer.objective == model.objective_ and answer.lower_bound == model.lower_bound_
    assert answer.status == "optimal" and (answer.nodes, answer.kernel_calls) == (7, 9)
    assert answer.bounds["leaf"] == 3
    stopped = share.conclude(tree, best - 1, limits, Told, "time_limit")
    assert stopped.status == "time_limit" and stopped.lower_bound <= answer.lower_bound


@pytest.mark.parametrize("seed", range(CASES))
def test_processes_that_tell_each_other_prove_the_same(seed):
    rng = np.random.default_rng(2000 + seed)
    model, posed = problem(rng)
    shares = [share_of(posed) for _ in range(3)]
    if shares[0] is None:
        return
    best = shares[0].cost(model.tree_._core)
    begun = _core.solve(posed.problem, _core.Limits(float(rng.choice([1e-9, 1e-3])), None, 0.0, 1))
    tree, upper = begun.tree, shares[0].cost(begun.tree)
    shares[0].begin_with(begun)
    parts, lowers = divided(shares[0], rng, int(rng.integers(2, 7))), {}
    everything = _core.Limits(None, None, 0.0, 1)
    for place, part in enumerate(parts):
        at = int(rng.integers(3))
        seconds = None if rng.random() < 0.7 else 1e-4
        lower, better, *_ = shares[at].search(part, upper, seconds, everything)
        assert lower >= min(best, upper) or seconds is not None
        if better is not None:
            tree, upper = better
            assert shares[0].cost(tree) == upper
        lowers[place] = lower
        assert min(lowers.values()) <= upper
        news = shares[at].news(bool(rng.random() < 0.3))
        for other in shares:
            if other is not shares[at]:
                other.learn(news)
    # What was told last is enough to end with.
    for part in parts:
        lower, better, *_ = shares[int(rng.integers(3))].search(part, upper, None, everything)
        upper = upper if better is None else better[1]
    assert upper == best


def test_news_that_are_damaged_are_refused():
    rng = np.random.default_rng(3)
    X, y = rng.random((80, 6)) < 0.5, rng.random(80) < 0.5
    posed = OptimalTreeClassifier(max_depth=4, leaf_penalty=0)._pose((X, y, None))
    share, other = _core.Share(posed.problem), _core.Share(posed.problem)
    begun = _core.solve(posed.problem, _core.Limits(1e-9, None, 0.0, 1))
    first = share.halves(share.whole()[0])[0]
    share.search(first, share.cost(begun.tree), None, _core.Limits(None, None, 0.0, 1))
    news = share.news(False)
    assert len(share.news(False)) < len(news), "news are told once"
    other.learn(news)
    for damaged in (b"", news[:-1], news[:40] + b"x" + news[41:], posed.problem.to_bytes()):
        with pytest.raises(ValueError):
            other.learn(damaged)


@pytest.mark.parametrize("seed", range(CASES // 3))
def test_bounds_of_parts_that_are_cut_short_are_true(seed):
    rng = np.random.default_rng(1000 + seed)
    n = 300
    X = rng.random((n, 30)) < 0.5
    y = ((X[:, 0] & X[:, 5]) ^ X[:, 9] ^ (rng.random(n) < 0.2)).astype(int)
    model = OptimalTreeClassifier(max_depth=3, leaf_penalty=0.01).fit(X, y)
    posed = model._pose((X, y, None))
    share = share_of(posed)
    best = share.cost(model.tree_._core)
    upper = share.cost(_core.solve(posed.problem, _core.Limits(1e-9, None, 0.0, 1)).tree)
    parts, lowers = divided(share, rng, 3), [0] * 3
    full = _core.Limits(None, None, 0.0, 1)
    for _ in range(200):
        at = int(rng.integers(3))
        short = float(rng.choice([1e-4, 3e-3]))
        lower, better, *_ = share.search(parts[at], upper, short, full)
        assert lower <= upper
        lowers[at] = max(lowers[at], lower)
        if better is not None:
            upper = better[1]
        assert min(lowers) <= best <= upper
        if min(lowers) >= upper:
            break
    else:
        for part in parts:
            lower, better, *_ = share.search(part, upper, None, full)
            upper = upper if better is None else better[1]
    assert upper == best


def test_what_cannot_be_divided_says_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    posed = OptimalTreeClassifier(max_depth=1)._pose((X, (X[:, 0] > 0).astype(int), None))
    with pytest.raises(ValueError, match="is .one split.: search it in one process"):
        _core.Share(posed.problem)
    posed = OptimalTreeClassifier("f1")._pose((X > 0, (X[:, 0] > 0).astype(int), None))
    with pytest.raises(ValueError, match="costs that add up over rows"):
        _core.Share(posed.problem)


def test_a_process_says_that_its_memory_is_full():
    rng = np.random.default_rng(0)
    X = rng.random((600, 40)) < 0.5
    y = (X[:, 0] ^ X[:, 1] ^ X[:, 2] ^ (rng.random(600) < 0.3)).astype(int)
    posed = OptimalTreeClassifier(max_depth=7, leaf_penalty=0.0)._pose((X, y, None))
    for most, is_full in ((300_000, True), (None, False)):
        share = _core.Share(posed.problem)
        limits = _core.Limits(None, most, 0.0, 1)
        seconds = None if is_full else 0.05
        *_, found = share.search(share.whole()[0], 10**9, seconds, limits)
        assert found == is_full
