"""`path` and `OptimalTreeCV`: all sizes of all depths, and the one that left-out rows choose."""

import math
import random

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GroupKFold, TimeSeriesSplit, cross_val_score

from certree import (
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTreeClassifier,
    OptimalTreeCV,
    OptimalTreeRegressor,
    path,
    plot_path,
    scorers,
)


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = pl.DataFrame(rng.integers(0, 5, (n, 3)), schema=["a", "b", "c"])
    score = X["a"].to_numpy() + 2 * (X["b"].to_numpy() > 2) + rng.normal(size=n)
    return X, score


X, SCORE = table()
Y = np.where(SCORE > 3, "ill", "well")


@pytest.mark.parametrize("seed", range(5))
def test_a_path_has_the_optimum_of_every_size_and_penalty(seed):
    X, score = table(30, seed)
    for model, y in (
        (OptimalTreeClassifier(max_depth=3), score > 2),
        (OptimalTreeRegressor(max_depth=2), score),
        (OptimalTreeClassifier("f1", max_depth=2), score > 2),
    ):
        found = path(model, X, y)
        assert found["depth"].unique().to_list() == list(range(1, model.max_depth + 1))
        for (depth,), rows in found.group_by("depth", maintain_order=True):
            assert rows["leaves"].to_list() == sorted(set(rows["leaves"].to_list()))
            direct = clone(model).set_params(max_depth=depth)
            for most in range(1, 2**depth + 1):
                best = direct.set_params(leaf_penalty=0, max_leaf_nodes=most).fit(X, y)
                within = rows.filter(pl.col("leaves") <= most)
                assert within["loss"].min() == pytest.approx(best.objective_, abs=1e-12)
            for penalty in (0.0, 0.001, 0.03, 0.11, 0.5):
                best = direct.set_params(leaf_penalty=penalty, max_leaf_nodes=None).fit(X, y)
                total = (rows["loss"] + penalty * rows["leaves"]).to_list()
                assert min(total) == pytest.approx(best.objective_, abs=1e-12)
                between = (pl.col("penalty_from") <= penalty) & (pl.col("penalty_to") >= penalty)
                for row in rows.with_row_index().filter(between)["index"].to_list():
                    assert total[row] == pytest.approx(min(total), abs=1e-12)
            ends = rows.drop_nulls("penalty_from").sort("penalty_from")
            assert ends["penalty_from"][0] == 0 and ends["penalty_to"][-1] == math.inf
            assert ends["penalty_from"][1:].to_list() == pytest.approx(ends["penalty_to"][:-1])


def minus_training_loss(model, X, y):
    return -model.objective_


def test_folds_have_the_best_tree_of_every_size():
    model = OptimalTreeClassifier(max_depth=2)
    cv = [(np.arange(60) % 3 != k, np.arange(60) % 3 == k) for k in range(3)]
    cv = [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in cv]
    found = OptimalTreeCV(model, cv=cv, scoring=minus_training_loss).fit(X, Y).path_
    for row in found.rows(named=True):
        limits = {"max_depth": row["depth"], "max_leaf_nodes": row["leaves"]}
        for k, (train, _) in enumerate(cv):
            fold = clone(model).set_params(leaf_penalty=0, **limits).fit(X[train], Y[train])
            assert row[f"split{k}_score"] == pytest.approx(-fold.objective_, abs=1e-12)
        scores = [row[f"split{k}_score"] for k in range(3)]
        assert row["mean_score"] == pytest.approx(np.mean(scores))
        assert row["standard_error"] == pytest.approx(np.std(scores, ddof=1) / math.sqrt(3))


def test_the_rules_choose_what_they_say():
    model = OptimalTreeClassifier(max_depth=3)
    best = OptimalTreeCV(model, cv=4, rule="best").fit(X, Y)
    near = OptimalTreeCV(model, cv=4).fit(X, Y)
    rows = best.path_.rows(named=True)
    top = max(row["mean_score"] for row in rows)
    chosen = [row for row in rows if row["chosen"]]
    assert len(chosen) == 1 and chosen[0]["mean_score"] == top == best.best_score_
    error = chosen[0]["standard_error"]
    within = [row for row in near.path_.rows(named=True) if row["mean_score"] >= top - error]
    least = min((row["leaves"], row["depth"]) for row in within)
    (chosen,) = [row for row in near.path_.rows(named=True) if row["chosen"]]
    assert (chosen["leaves"], chosen["depth"]) == least
    assert near.tree_.n_leaves == chosen["leaves"] and near.certificate_.status == "optimal"
    assert near.best_estimator_.objective_ == chosen["loss"]
    assert (near.predict(X) == near.tree_.predict(X)).all()
    assert (near.predict_proba(X) == near.tree_.predict_proba(X)).all()
    assert (near.apply(X) == near.tree_.apply(X)).all()
    assert near.classes_.tolist() == ["ill", "well"] and near.n_features_in_ == 3
    assert near.score(X, Y) == (near.predict(X) == Y).mean()


def test_every_form_of_the_same_rows_gives_the_same_path():
    weights = np.arange(60) % 3 + 1
    frame = X.with_columns(y=Y, w=weights)
    model = OptimalTreeClassifier(max_depth=2)
    known = OptimalTreeCV(model, cv=3).fit(X, Y, sample_weight=weights).path_.drop("tree")
    forms = [
        (X.to_pandas(), pd.Series(Y), pd.Series(weights)),
        (X.to_numpy(), Y.tolist(), weights.tolist()),
        (X.lazy(), pl.Series(Y), pl.Series(weights)),
        (X.to_arrow(), Y, weights),
        (frame, "y", "w"),
        (frame.to_pandas(), "y", "w"),
        (frame.lazy(), "y", "w"),
    ]
    for rows, y, w in forms:
        found = OptimalTreeCV(model, cv=3, n_jobs=2).fit(rows, y, sample_weight=w)
        assert found.path_.drop("tree").equals(known, null_equal=True)


def test_every_estimator_can_be_tuned():
    rng = np.random.default_rng(1)
    costs = np.abs(SCORE[:, None] - np.array([[0.0, 2.0, 4.0]]))
    months, died = np.exp(SCORE / 3), rng.random(60) < 0.7
    fits = [
        (OptimalTreeRegressor(max_depth=2), (SCORE,), {}),
        (OptimalTreeRegressor(max_depth=2), (np.column_stack([SCORE, -SCORE]),), {}),
        (
            OptimalTreeRegressor("poisson", max_depth=2),
            (rng.poisson(2, 60).astype(float),),
            {"exposure": np.ones(60)},
        ),
        (OptimalCostTree(max_depth=2), (costs,), {}),
        (OptimalPolicyTree(max_depth=2), (), {"rewards": costs}),
        (OptimalSurvivalTree(max_depth=2), (months,), {"event": died}),
        (OptimalTreeClassifier(max_depth=2), (np.column_stack([SCORE > 2, SCORE > 3]),), {}),
        (OptimalTreeClassifier("auc", max_depth=2), (Y,), {}),
        (OptimalTreeClassifier("gini", max_depth=2), (Y,), {}),
    ]
    for model, data, more in fits:
        search = OptimalTreeCV(model, cv=3).fit(X, *data, **more)
        # A rate of 0 is infinitely wrong where something came.
        assert not np.isnan(search.path_["mean_score"].to_numpy()).any()
        assert math.isfinite(search.best_score_)
        # Scores are those of scorers.objective on rows that were left out.
        own = {**more, **({"sample_weight": None} if "exposure" not in more else {})}
        scored = scorers.objective(search, X, *data, **own)
        assert scored == pytest.approx(-search.best_estimator_.objective_, abs=1e-9)


def test_groups_and_time_and_nested_folds():
    town = np.arange(60) // 10
    model = OptimalTreeClassifier(max_depth=2)
    seen = []

    def scoring(fitted, rows, y):
        seen.append(set(rows["town"].to_list()))
        return fitted.score(rows, y)

    frame = X.with_columns(town=town)
    OptimalTreeCV(model, cv=GroupKFold(3), scoring=scoring).fit(frame, Y, groups=town)
    assert all(len(part) == 2 for part in seen)
    search = OptimalTreeCV(model, cv=TimeSeriesSplit(3))
    assert len([c for c in search.fit(X, Y).path_.columns if c.startswith("split")]) == 3
    scores = cross_val_score(OptimalTreeCV(model, cv=3), X.to_pandas(), Y, cv=3)
    assert scores.shape == (3,) and scores.mean() > 0.6
    assert OptimalTreeCV(model, cv=3, scoring="balanced_accuracy").fit(X, Y).best_score_ > 0.5


def test_time_is_over_in_the_middle():
    rng = random.Random(0)
    wide = pl.DataFrame({f"x{k}": [rng.random() for _ in range(400)] for k in range(12)})
    y = [rng.random() < 0.5 for _ in range(400)]
    model = OptimalTreeClassifier(max_depth=5)
    search = OptimalTreeCV(model, cv=3, time_limit=3)
    with pytest.warns(ConvergenceWarning, match="stopped by a limit"):
        search.fit(wide, y)
    known = search.path_.drop_nulls("mean_score")
    assert 0 < known.height < search.path_.height or known["depth"].max() < 5
    assert search.path_.filter("chosen")["mean_score"].null_count() == 0
    with pytest.warns(ConvergenceWarning, match="over before the search of depth 1"):
        with pytest.raises(ValueError, match="before every fold had a tree of the least depth"):
            OptimalTreeCV(model, cv=3, time_limit=1e-6).fit(wide, y)


def test_mistakes_are_told():
    model = OptimalTreeClassifier(max_depth=2)
    wrong = [
        (OptimalTreeCV("tree"), TypeError, "not a str"),
        (OptimalTreeCV(model, rule="2se"), ValueError, "rule='2se' is not valid"),
        (OptimalTreeCV(model, time_limit=-1), ValueError, "time_limit=-1 is not valid"),
        (OptimalTreeCV(model, max_depths=[1.5]), ValueError, "must hold whole numbers"),
        (OptimalTreeCV(model, max_depths=[]), ValueError, "must hold whole numbers"),
        (OptimalTreeCV(clone(model).set_params(max_depth=None)), ValueError, "set max_depth"),
        (OptimalTreeCV(OptimalTreeClassifier("mdl")), ValueError, "no size to choose"),
        (OptimalTreeCV(model, scoring=lambda *_: math.nan), ValueError, "not a number"),
    ]
    for search, kind, words in wrong:
        with pytest.raises(kind, match=words):
            search.fit(X, Y)
    with pytest.raises(NotFittedError):
        OptimalTreeCV(model).predict(X)
    with pytest.raises(ValueError, match="number of splits|n_splits"):
        OptimalTreeCV(model, cv=5).fit(X[:4], Y[:4])
    assert not hasattr(OptimalTreeCV(OptimalTreeRegressor()), "predict_proba")


def test_a_path_is_drawn():
    pytest.importorskip("matplotlib").use("agg")
    search = OptimalTreeCV(OptimalTreeClassifier(max_depth=3), cv=3).fit(X, Y)
    ax = plot_path(search)
    assert [text.get_text() for text in ax.get_legend().get_texts()][0] == "depth 1"
    assert ax.get_xlabel() == "leaves"
    with pytest.raises(TypeError, match="takes a fitted OptimalTreeCV"):
        plot_path(search.path_)
