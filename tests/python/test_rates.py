"""Deviances and quantiles of `OptimalTreeRegressor`: against every tree there is, and
scikit-learn's scores."""

import pickle

import numpy as np
import polars as pl
import pytest
from brute import cases, least_objective, table, tree_objective
from sklearn.base import clone
from sklearn.metrics import d2_absolute_error_score, d2_pinball_score, d2_tweedie_score

from certree import OptimalTreeRegressor, Tree


def deviance(kind, y, e, w):
    """Of rows with the best rate, from its definition."""
    z = y / e
    if kind == "gamma":
        r = np.average(z, weights=w)
        return float(2 * (w * (z / r - 1 - np.log(z / r))).sum())
    r = (w * y).sum() / (w * e).sum()
    if r == 0:
        return 0.0
    logs = np.where(y > 0, y * np.log(np.maximum(y, 1e-300) / (e * r)), 0.0)
    return float(2 * (w * (logs - y + e * r)).sum())


def drawn(kind, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    X = table(rng, n, int(rng.integers(1, 4)))
    y = rng.integers(0, 4, n).astype(float) if kind == "poisson" else rng.gamma(2.0, 3.0, n) + 0.1
    y[0] = 1.0
    exposure = [None, rng.random(n) + 0.1][seed % 2]
    weights = [
        None, rng.integers(1, 4, n), rng.choice([0.5, 1.0, 0.1], n), rng.random(n) + 0.1
    ][seed // 2 % 4]
    return rng, X, y, exposure, weights


@pytest.mark.parametrize("kind", ["poisson", "gamma"])
@pytest.mark.parametrize("seed", cases(60))
def test_no_tree_of_rates_is_better(kind, seed):
    rng, X, y, exposure, weights = drawn(kind, seed)
    e, w = (np.ones(len(y)) if given is None else given for given in (exposure, weights))
    penalty = float(rng.choice([0.0, 0.01, 0.1]))
    model = OptimalTreeRegressor(kind, max_depth=2, leaf_penalty=penalty, n_jobs=1 + seed % 2)
    model.fit(X, y, weights, exposure)
    whole = deviance(kind, y, e, w)
    whole = whole if whole > 1e-9 else 1.0

    def cost(rows):
        return deviance(kind, y[rows], e[rows], w[rows])

    best = least_objective(X, cost, 2, penalty * whole) / whole
    assert model.objective_ == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert model.status_ == "optimal" and model.lower_bound_ <= model.objective_ + 1e-12
    own = tree_objective(model.apply(X), cost, penalty * whole) / whole
    assert own == pytest.approx(best, rel=1e-9, abs=1e-9)
    rates = model.predict(X)
    assert np.allclose(model.predict(X, exposure=e), rates * e)
    loss = model.objective_ - penalty * model.get_n_leaves()
    if deviance(kind, y, e, w) > 1e-9:
        assert model.score(X, y, weights, exposure) == pytest.approx(1 - loss, rel=1e-8, abs=1e-8)
        if rates.min() > 0:
            power, by = {"poisson": (1, w * e), "gamma": (2, w)}[kind]
            assert d2_tweedie_score(
                y / e, rates, sample_weight=by, power=power
            ) == pytest.approx(1 - loss, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("kind", ["absolute_error", "quantile"])
@pytest.mark.parametrize("seed", cases(60))
def test_no_tree_of_quantiles_is_better(kind, seed):
    rng, X, y, _, weights = drawn("gamma" if seed % 3 else "poisson", seed)
    w = np.ones(len(y)) if weights is None else weights
    share = 0.5 if kind == "absolute_error" else float(rng.choice([0.1, 0.5, 0.8]))
    penalty = float(rng.choice([0.0, 0.01, 0.1]))
    few = len(np.unique(y)) > 5 and seed % 2 == 1
    model = OptimalTreeRegressor(
        kind, max_depth=2, leaf_penalty=penalty, quantile=share, levels=5 if few else 64
    ).fit(X, y, weights)
    assert len(model.levels_) <= 5 if few else set(model.levels_) == set(y)

    def losses(rows, level):
        return (
            w * 2 * np.where(y >= level, share * (y - level), (1 - share) * (level - y))
        )[rows].sum()

    def cost(rows):
        return min(losses(rows, level) for level in model.levels_)

    every = np.ones(len(y), dtype=bool)
    whole = min(losses(every, level) for level in y)
    whole = whole if whole > 1e-12 else 1.0
    best = least_objective(X, cost, 2, penalty * whole) / whole
    assert model.objective_ == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert model.status_ == "optimal" and set(model.predict(X)) <= set(model.levels_)
    loss = sum(
        losses(np.array([row]), answer) for row, answer in enumerate(model.predict(X))
    ) / whole
    assert model.objective_ == pytest.approx(
        loss + penalty * model.get_n_leaves(), rel=1e-9, abs=1e-9
    )
    if len(np.unique(y)) > 1:
        theirs = d2_pinball_score(y, model.predict(X), sample_weight=weights, alpha=share)
        assert model.score(X, y, weights) == theirs
    if kind == "absolute_error" and weights is None and len(np.unique(y)) > 1:
        assert 1 - loss == pytest.approx(
            d2_absolute_error_score(y, model.predict(X)), rel=1e-9, abs=1e-9
        )


@pytest.mark.parametrize("kind", ["poisson", "gamma", "absolute_error", "quantile"])
def test_exports_and_containers(kind):
    rng = np.random.default_rng(2)
    X = pl.DataFrame(table(rng, 80, 3), schema=list("abc"))
    y = pl.Series("claims", np.round(rng.gamma(1.0, 2.0, 80) + X["a"].to_numpy() + 0.1, 1))
    e = pl.Series("years", rng.random(80) + 0.5) if kind in ("poisson", "gamma") else None
    model = OptimalTreeRegressor(kind, max_depth=2, leaf_penalty=0.0).fit(X, y, exposure=e)
    tree = model.tree_
    assert tree.task == (
        "quantiles" if e is None else "rates"
    ) and model.target_names_ == ["claims"]
    assert Tree.from_json(tree.to_json()) == tree == pickle.loads(pickle.dumps(tree))
    assert X.select(tree.to_polars())["label"].to_list() == model.predict(X).tolist()
    assert tree.to_text().splitlines()[0].startswith(
        f"80 rows  {'quantile' if e is None else 'rate'} claims: "
    )
    assert "digraph" in tree.to_dot()
    assert "share of that of a single leaf" in model.certificate_.statement()
    both = X.with_columns(y)
    named = {} if e is None else {"exposure": "years"}
    both = both if e is None else both.with_columns(e)
    for x in (both, both.lazy(), both.to_pandas()):
        again = clone(model).fit(x, "claims", **named)
        assert again.predict(X).tolist() == model.predict(X).tolist() and again.n_features_in_ == 3
    if e is not None:
        assert np.allclose(model.predict(both, exposure="years"), model.predict(X) * e.to_numpy())


def test_what_rates_and_quantiles_refuse():
    X, y = [[0], [1], [1]], np.array([1.0, 2.0, 3.0])

    def refused(message, y=y, exposure=None, **parameters):
        with pytest.raises(ValueError, match=message):
            OptimalTreeRegressor(**parameters).fit(X, y, exposure=exposure)

    refused(
        "exposure must be above 0, but is not in 1 value, the least 0",
        exposure=[0, 1, 2],
        objective="poisson",
    )
    refused("exposure must be finite", exposure=[np.nan, 1, 2], objective="poisson")
    refused("X has 3 rows, exposure has 2", exposure=[1, 2], objective="gamma")
    refused("exposure is for objective='poisson' or 'gamma'", exposure=[1, 2, 3])
    refused(
        "targets must be at least 0 with objective='poisson', but 1 value",
        y=y - 2,
        objective="poisson",
    )
    refused(
        "targets must be above 0 with objective='gamma', but 2 values",
        y=np.maximum(y - 2, 0),
        objective="gamma",
    )
    refused("all targets are 0", y=y * 0, objective="poisson")
    refused("is for one target, but y has 2 columns", y=np.ones((3, 2)), objective="poisson")
    refused("is for one target, but y has 2 columns", y=np.ones((3, 2)), objective="quantile")
    refused(
        "quantile=0.9 is only for objective='quantile'", quantile=0.9, objective="absolute_error"
    )
    refused("quantile=1.0 is not valid", quantile=1.0, objective="quantile")
    refused("levels=0 is not valid", levels=0, objective="quantile")
    refused("reference cannot be|objective='poisson'", reference="guess", objective="poisson")


def test_a_leaf_without_events_has_the_rate_zero():
    X, y = [[0], [0], [1], [1]], [0, 0, 1, 3]
    model = OptimalTreeRegressor("poisson", max_depth=1).fit(X, y)
    assert model.predict([[0], [1]]).tolist() == [0.0, 2.0]
    assert model.score(X, y) > 0 and model.score(X, [1, 0, 1, 3]) == -np.inf
