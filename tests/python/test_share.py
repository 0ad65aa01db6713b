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


def share_of(posed):
    try:
        return _core.Share(posed.problem)
    except ValueError as error:
        assert "divided" in str(error)
        return None


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
    of = int(rng.integers(1, 12))
    lowers = {}
    for rest in rng.permutation(of).tolist():
        lower, better, work, _ = share.search(rest, of, upper, limits)
        assert lower >= min(best, upper)
        if better is not None:
            assert better[1] < upper and share.cost(better[0]) == better[1]
            tree, upper = better
        lowers[rest] = lower
        # A part that was divided has no lower bound than the whole of it.
        again, found, *_ = share.search(rest + of, 2 * of, upper, limits)
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
    of, lowers = int(rng.integers(2, 7)), {}
    for rest in rng.permutation(of).tolist():
        at = int(rng.integers(3))
        seconds = None if rng.random() < 0.7 else 1e-4
        short = _core.Limits(seconds, None, 0.0, 1)
        lower, better, *_ = shares[at].search(rest, of, upper, short)
        assert lower >= min(best, upper) or seconds is not None
        if better is not None:
            tree, upper = better
            assert shares[0].cost(tree) == upper
        lowers[rest] = lower
        assert min(lowers.values()) <= upper
        news = shares[at].news(bool(rng.random() < 0.3))
        for other in shares:
            if other is not shares[at]:
                other.learn(news)
    # What was told last is enough to end with.
    everything = _core.Limits(None, None, 0.0, 1)
    for rest in range(of):
        lower, better, *_ = shares[int(rng.integers(3))].search(rest, of, upper, everything)
        upper = upper if better is None else better[1]
    assert upper == best


def test_news_that_are_damaged_are_refused():
    rng = np.random.default_rng(3)
    X, y = rng.random((80, 6)) < 0.5, rng.random(80) < 0.5
    posed = OptimalTreeClassifier(max_depth=4, leaf_penalty=0)._pose((X, y, None))
    share, other = _core.Share(posed.problem), _core.Share(posed.problem)
    begun = _core.solve(posed.problem, _core.Limits(1e-9, None, 0.0, 1))
    share.search(0, 2, share.cost(begun.tree), _core.Limits(None, None, 0.0, 1))
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
    lowers = [0] * 3
    for _ in range(200):
        rest = int(rng.integers(3))
        short = _core.Limits(float(rng.choice([1e-4, 3e-3])), None, 0.0, 1)
        lower, better, *_ = share.search(rest, 3, upper, short)
        assert lower <= upper
        lowers[rest] = max(lowers[rest], lower)
        if better is not None:
            upper = better[1]
        assert min(lowers) <= best <= upper
        if min(lowers) >= upper:
            break
    else:
        full = _core.Limits(None, None, 0.0, 1)
        for rest in range(3):
            lower, better, *_ = share.search(rest, 3, upper, full)
            upper = upper if better is None else better[1]
    assert upper == best


def test_what_cannot_be_divided_says_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    posed = OptimalTreeClassifier(max_depth=3)._pose((X, (X[:, 0] > 0).astype(int), None))
    with pytest.raises(ValueError, match="intervals of cuts.: search it in one process"):
        _core.Share(posed.problem)
    posed = OptimalTreeClassifier("f1")._pose((X > 0, (X[:, 0] > 0).astype(int), None))
    with pytest.raises(ValueError, match="costs that add up over rows"):
        _core.Share(posed.problem)
