"""`OptimalSurvivalTree`: against every tree there is, against STreeD, and against scikit-survival's
estimates."""

import pickle

import numpy as np
import polars as pl
import pytest
from brute import cases, least_objective, table, tree_objective
from sklearn.base import clone

from certree import OptimalSurvivalTree, Tree, near_optimal


def drawn(seed, n=None):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30)) if n is None else n
    X = table(rng, n, int(rng.integers(1, 4)))
    hazard = np.exp(X[:, 0] - 1.0)
    time = rng.exponential(1.0, n) / hazard
    # Some times are equal, and some are 0.
    time = np.floor(time * 4) if seed % 2 else time
    event = rng.random(n) < 0.7
    event[0] = True
    return rng, X, time, event


def exposure_by_hand(time, event, w):
    """Nelson and Aalen's, from its definition."""
    found = []
    for t in time:
        past = np.unique(time[event & (time <= t)])
        found.append(sum(w[event & (time == u)].sum() / w[time >= u].sum() for u in past))
    return np.array([value if value > 0 else 1 / (w.sum() + 1) for value in found])


def deviance(event, exposure, w):
    events, expected = (w * event).sum(), (w * exposure).sum()
    if events == 0:
        return 0.0
    ratio = events / expected
    each = -np.log(exposure * ratio) * event - event + exposure * ratio
    return float(2 * (w * each).sum())


@pytest.mark.parametrize("seed", cases(100))
def test_no_tree_is_better(seed):
    rng, X, time, event = drawn(seed)
    n = len(time)
    weights = [
        None, rng.integers(1, 4, n), rng.choice([0.5, 1.0, 0.1], n), rng.random(n) + 0.1
    ][seed // 2 % 4]
    w = np.ones(n) if weights is None else weights
    penalty = float(rng.choice([0.0, 0.01, 0.1]))
    model = OptimalSurvivalTree(
        max_depth=2, leaf_penalty=penalty, n_jobs=1 + seed % 2
    ).fit(X, time, event, weights)
    exposure = exposure_by_hand(time, event, w)
    # Where nothing is to be explained, the loss is 0.
    whole = deviance(event, exposure, w) or 1.0

    def cost(rows):
        return deviance(event[rows], exposure[rows], w[rows])

    best = least_objective(X, cost, 2, penalty * whole) / whole
    assert model.objective_ == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert model.status_ == "optimal" and model.lower_bound_ <= model.objective_ + 1e-12
    own = tree_objective(model.apply(X), cost, penalty * whole) / whole
    assert own == pytest.approx(best, rel=1e-9, abs=1e-9)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        ratio = (w * event)[rows].sum() / (w * exposure)[rows].sum()
        assert model.predict(X)[rows][0] == pytest.approx(ratio, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_never_worse_than_streed(seed):
    pytest.importorskip("sksurv")
    pystreed = pytest.importorskip("pystreed")
    rng = np.random.default_rng(seed)
    n, depth = 120, 2 + seed % 2
    X = (rng.random((n, 6)) < 0.5).astype(int)
    time = np.round(rng.exponential(1.0, n) * np.exp(X[:, 0] - X[:, 1] * X[:, 2]), 1) + 0.1
    event = rng.random(n) < 0.7
    y = np.array(list(zip(event, time)), dtype=[("event", bool), ("time", float)])

    class STreeD(pystreed.STreeDSurvivalAnalysis):
        def _compute_baseline_cumulative_hazard_function(self, events, times):
            # It indexes a list by the events, which numpy's Booleans no longer do.
            return super()._compute_baseline_cumulative_hazard_function(events.astype(int), times)

    theirs = STreeD(max_depth=depth, time_limit=60).fit(X, y)
    ours = OptimalSurvivalTree(max_depth=depth, leaf_penalty=0.0).fit(X, time, event)
    exposure = exposure_by_hand(time, event, np.ones(n))

    def loss(leaves):
        masks = [leaves == leaf for leaf in np.unique(leaves)]
        return sum(deviance(event[rows], exposure[rows], np.ones(rows.sum())) for rows in masks)

    whole = deviance(event, exposure, np.ones(n))
    assert ours.objective_ == pytest.approx(loss(ours.apply(X)) / whole, rel=1e-9)
    assert ours.objective_ * whole <= loss(streed_leaves(theirs.get_tree(), X)) + 1e-7
    assert ours.objective_ * whole == pytest.approx(
        loss(streed_leaves(theirs.get_tree(), X)), rel=1e-6
    )


def streed_leaves(node, X, at=1):
    if node.is_leaf_node():
        return np.full(len(X), at)
    right = X[:, node.feature] == 1
    left_leaves, right_leaves = streed_leaves(node.left_child, X, 2 * at), streed_leaves(
        node.right_child, X, 2 * at + 1
    )
    return np.where(right, right_leaves, left_leaves)


@pytest.mark.parametrize("seed", range(10))
def test_curves_and_concordance_are_those_of_scikit_survival(seed):
    pytest.importorskip("sksurv")
    from sksurv.metrics import concordance_index_censored
    from sksurv.nonparametric import kaplan_meier_estimator, nelson_aalen_estimator

    _, X, time, event = drawn(seed, 60)
    model = OptimalSurvivalTree(max_depth=2).fit(X, time, event)
    leaves, times = model.apply(X), np.linspace(0, time.max() + 1, 37)
    survival = model.predict_survival_function(X, times)
    hazard = model.predict_cumulative_hazard_function(X, times)
    assert survival.shape == hazard.shape == (60, 37)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        for theirs, ours, before in [
            (kaplan_meier_estimator(event[rows], time[rows]), survival[rows][0], 1.0),
            (nelson_aalen_estimator(event[rows], time[rows]), hazard[rows][0], 0.0),
        ]:
            steps = np.concatenate([[before], theirs[1]])
            assert np.allclose(ours, steps[np.searchsorted(theirs[0], times, side="right")])
    assert model.predict_survival_function(X).shape == (60, len(np.unique(time[event])))
    if model.get_n_leaves() > 1:
        theirs = concordance_index_censored(event, time, model.predict(X))[0]
        assert model.score(X, time, event) == pytest.approx(theirs, abs=1e-12)
        doubled = [np.concatenate([given] * 2) for given in (X, time, event)]
        assert model.score(*doubled) == pytest.approx(model.score(X, time, event, np.full(60, 2.0)))


def test_weights_are_copies():
    rng, X, time, event = drawn(8, 40)
    weights = rng.integers(0, 4, 40)
    weights[:2] = 1
    copied = [np.repeat(given, weights, axis=0) for given in (X, time, event)]
    model = OptimalSurvivalTree(max_depth=2).fit(X, time, event, weights)
    again = OptimalSurvivalTree(max_depth=2).fit(*copied)
    assert model.objective_ == pytest.approx(again.objective_, rel=1e-12)
    assert np.allclose(model.predict(X), again.predict(X))
    assert np.allclose(
        model.predict_survival_function(X, [1, 2]), again.predict_survival_function(X, [1, 2])
    )


def test_exports_and_containers():
    _, X, time, event = drawn(4, 80)
    X = pl.DataFrame(X, schema=[f"c{i}" for i in range(X.shape[1])])
    model = OptimalSurvivalTree(max_depth=2, leaf_penalty=0.0).fit(X, time, event)
    tree = model.tree_
    assert tree.task == "survival" and Tree.from_json(tree.to_json()) == tree
    assert X.select(tree.to_polars())["label"].to_list() == model.predict(X).tolist()
    assert "80 rows  hazard ratio 0.99" in tree.to_text() and "digraph" in tree.to_dot()
    both = X.with_columns(t=time, e=event)
    for x in (both, both.lazy(), both.to_pandas(), both.to_arrow()):
        again = clone(model).fit(x, "t", "e")
        assert again.predict(
            X
        ).tolist() == model.predict(X).tolist() and again.n_features_in_ == X.width
    assert clone(model).fit(X, time, event.astype(int)).tree_ == tree
    loaded = pickle.loads(pickle.dumps(model))
    assert np.array_equal(loaded.predict_survival_function(X), model.predict_survival_function(X))
    assert "proportional hazards" in model.certificate_.statement()
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_certify_goes_on():
    rng = np.random.default_rng(0)
    X = rng.random((2000, 40)) < 0.5
    time, event = rng.exponential(1, 2000), rng.random(2000) < 0.8
    with pytest.warns(Warning, match="before the tree was proved"):
        model = OptimalSurvivalTree(
            max_depth=4, leaf_penalty=0.0, time_limit=1e-9
        ).fit(X, time, event)
    model.set_params(time_limit=60.0).certify()
    assert model.status_ == "optimal"
    again = OptimalSurvivalTree(max_depth=4, leaf_penalty=0.0).fit(X, time, event)
    assert model.objective_ == again.objective_
    assert model.predict_survival_function(X).shape == (2000, len(model.event_times_))


def test_what_is_refused():
    X = [[0], [1], [1]]

    def refused(message, time=(1, 2, 3), event=(1, 0, 1), X=X):
        with pytest.raises(ValueError, match=message):
            OptimalSurvivalTree().fit(X, list(time) if time is not None else None, list(event))

    refused("time must be at least 0, but has 1 value below, the least -1", time=[-1, 2, 3])
    refused("time must be finite", time=[np.nan, 2, 3])
    refused("no row has an event", event=[0, 0, 0])
    refused("event must be true or false, 1 or 0, but has 1 value that", event=[2, 0, 1])
    refused("event must be true or false, 1 or 0, but has 2 values that", event=[0.5, 2, 1])
    refused("inconsistent numbers of samples: X has 3 rows, event has 2", event=[0, 1])
    refused("X has 3 rows, time has 2", time=[0, 1], event=[1, 1])
    refused("requires time to be passed", time=None)
    with pytest.raises(ValueError, match="no row has an event"):
        OptimalSurvivalTree().fit(X, [1, 2, 3], [1, 0, 0], [0, 1, 1])
    model = OptimalSurvivalTree().fit(X, [1, 2, 3], [1, 0, 1])
    with pytest.raises(ValueError, match="no two rows can be compared"):
        model.score(X, [1, 2, 3], [0, 0, 0])
    with pytest.raises(ValueError, match="times must be a vector"):
        model.predict_survival_function(X, [[1.0]])


def test_curves_stay_those_of_the_tree_while_others_are_looked_at():
    """Trees of one problem that are shown to somebody else are not the model's."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, (80, 4))
    time, event = rng.integers(1, 9, 80), rng.random(80) < 0.7
    model = OptimalSurvivalTree(max_depth=2, leaf_penalty=0.01).fit(X, time, event)
    before = model.predict_survival_function(X)
    others = near_optimal(model, X, time, event, within=0.2)
    assert len([near.tree.curves for near in others]) > 1
    np.testing.assert_array_equal(model.predict_survival_function(X), before)
