"""A fitted tree sends every training row where the search put it, whatever the values are: what it
predicts for them has the loss that its certificate says, and the loss is that of the same table
with dense ranks for values."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from certree import OptimalTreeClassifier, OptimalTreeRegressor

N = 360


def ties(rng):
    return {"a": rng.integers(0, 40, N) / 8, "b": np.round(rng.normal(size=N), 1)}


def zeros(rng):
    return {
        "a": rng.choice([-0.0, 0.0, -1.0, 5e-324], N),
        "b": np.copysign(0.0, rng.normal(size=N)),
        "c": rng.normal(size=N),
    }


def subnormal(rng):
    return {"a": rng.integers(-200, 200, N) * 5e-324, "b": rng.integers(0, 300, N) * 2.0**-1070}


def huge(rng):
    return {
        "a": rng.choice([-1, 1], N) * rng.uniform(0.9, 1.0, N) * 1.79e308,
        "b": 10.0 ** rng.uniform(-308, 308, N),
    }


def large_integers(rng):
    signed = 2**53 + rng.integers(0, 350, N)
    return {
        "a": signed,
        "b": -(2**62) - rng.integers(0, 350, N),
        "c": np.uint64(2**62) + rng.integers(0, 350, N).astype(np.uint64),
    }


def few_values(rng):
    return {
        "one": np.full(N, 7.5),
        "two": rng.choice([0.1, np.nextafter(0.1, 1)], N),
        "c": rng.normal(size=N),
    }


def neighbours_in_float32(rng):
    # A midpoint of neighbours is no number of the type: it rounds to one of them.
    steps = np.float32(1).view(np.int32) + rng.integers(0, 340, N).astype(np.int32)
    return {
        "a": steps.view(np.float32),
        "b": (-steps.view(np.float32)),
        "c": rng.normal(size=N).astype(np.float32),
    }


def neighbours_in_float64(rng):
    steps = np.float64(1e300).view(np.int64) + rng.integers(0, 340, N)
    return {"a": steps.view(np.float64), "b": rng.normal(size=N)}


def dates(rng):
    days = [dt.date(1969, 12, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 340, N)]
    ticks = pl.Series(rng.integers(-170, 170, N)).cast(pl.Datetime("ns"))
    return {"day": days, "tick": ticks}


TABLES = [
    ties,
    zeros,
    subnormal,
    huge,
    large_integers,
    few_values,
    neighbours_in_float32,
    neighbours_in_float64,
    dates,
]


def table(make):
    rng = np.random.default_rng(0)
    X = pl.DataFrame(make(rng))
    ranks = X.select(pl.all().rank("dense").cast(pl.Int32))
    # -0.0 is 0.0, whatever the ranks of a library say.
    ranks = ranks.with_columns(
        pl.Series(name, np.unique(X[name].to_numpy() + 0.0, return_inverse=True)[1])
        for name, kind in X.schema.items()
        if kind.is_float()
    )
    score = ranks.to_numpy().astype(float)
    score = ((score - score.mean(0)) / (score.std(0) + 1)).sum(1)
    return X, ranks, score + rng.normal(size=N)


def held(model, X):
    """Every leaf holds as many training rows at prediction as in the search."""
    leaves, counts = np.unique(model.apply(X), return_counts=True)
    nodes = model.tree_.nodes
    assert [nodes[leaf].rows for leaf in leaves] == counts.tolist()
    assert len(leaves) == model.get_n_leaves()


@pytest.mark.parametrize("thresholds", ["all", 5])
@pytest.mark.parametrize("make", TABLES)
def test_classes(make, thresholds):
    X, ranks, score = table(make)
    y = np.digitize(score, np.quantile(score, [0.4, 0.8]))
    model = OptimalTreeClassifier(leaf_penalty=0.0, max_depth=2, thresholds=thresholds).fit(X, y)
    held(model, X)
    assert model.objective_ == pytest.approx((model.predict(X) != y).mean(), abs=1e-12)
    same = OptimalTreeClassifier(leaf_penalty=0.0, max_depth=2, thresholds=thresholds).fit(ranks, y)
    assert model.status_ == "optimal" and model.objective_ == same.objective_


@pytest.mark.parametrize("mean", [0.0, 1e9])
@pytest.mark.parametrize("make", TABLES)
def test_means(make, mean):
    X, ranks, score = table(make)
    y = np.round(score * 1024) / 1024
    model = OptimalTreeRegressor(leaf_penalty=0.0, max_depth=2).fit(X, y + mean)
    held(model, X)
    leaf = model.apply(X)
    left = sum(((y[leaf == one] - y[leaf == one].mean()) ** 2).sum() for one in np.unique(leaf))
    assert model.objective_ == pytest.approx(left / ((y - y.mean()) ** 2).sum(), rel=1e-12)
    same = OptimalTreeRegressor(leaf_penalty=0.0, max_depth=2).fit(ranks, y)
    assert model.status_ == "optimal" and model.objective_ == same.objective_
