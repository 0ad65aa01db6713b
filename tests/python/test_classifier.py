"""The classifier from outside: what it optimizes, what it says, and how it lives with
scikit-learn."""

import datetime as dt
import json
import pickle
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from certree import Certificate, OptimalTreeClassifier, Tree


def mixed(n=300, seed=0):
    """Every kind of column, and a class that some of them tell."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": rng.integers(0, 90, n),
            "fare": rng.gamma(2.0, 20.0, n).astype(np.float32),
            "wide": rng.integers(-(2**62), 2**62, n),
            "sex": rng.choice(["f", "m"], n),
            "port": pl.Series(rng.choice(["C", "Q", "S"], n)).cast(pl.Enum(["S", "C", "Q"])),
            "alone": rng.random(n) < 0.3,
            "day": pl.Series(rng.integers(0, 400, n)).cast(pl.Int32).cast(pl.Date),
            "time": pl.Series(rng.integers(0, 10**15, n)).cast(pl.Datetime("us", "UTC")),
        }
    )
    told = pl.when(pl.col("sex") == "f").then(pl.col("fare") > 20).otherwise(pl.col("age") < 10)
    noise = pl.Series(rng.random(n) < 0.1)
    return frame, frame.select(pl.when(told ^ noise).then(pl.lit("yes")).otherwise(pl.lit("no")))[
        "literal"
    ]


@pytest.fixture(scope="module")
def fitted():
    X, y = mixed()
    return OptimalTreeClassifier(max_depth=3, thresholds=8).fit(X, y), X, y


def test_the_objective_is_what_it_says(fitted):
    model, X, y = fitted
    error = 1 - model.score(X, y)
    assert model.objective_ == pytest.approx(error + 0.01 * model.get_n_leaves(), abs=1e-12)
    assert model.status_ == "optimal" and model.gap_ == 0 and model.lower_bound_ == model.objective_
    assert model.score(X, y) == accuracy_score(y, model.predict(X))


def test_no_greedy_tree_is_better():
    X, y = load_iris(return_X_y=True)
    best = OptimalTreeClassifier(max_depth=2, leaf_penalty=0).fit(X, y)
    for seed in range(5):
        cart = DecisionTreeClassifier(max_depth=2, random_state=seed).fit(X, y)
        assert best.score(X, y) >= cart.score(X, y)


def test_the_same_for_every_container(fitted):
    model, X, y = fitted
    table = X.with_columns(y=y)
    same = clone(model).fit(table, "y")
    assert same.tree_ == model.tree_
    assert same.feature_names_in_.tolist() == X.columns
    for frame in (table.lazy(), table.to_arrow()):
        again = clone(model).fit(frame, "y")
        assert again.tree_.to_text() == model.tree_.to_text()
        assert (again.predict(X) == model.predict(X)).all()
    pandas = clone(model).fit(X.to_pandas(), y.to_pandas())
    assert (pandas.predict(X.to_pandas()) == model.predict(X)).all()
    assert pandas.objective_ == model.objective_
    assert (model.predict(X.lazy()) == model.predict(X)).all()


def test_leaves_hold_the_rows_that_are_sent_there(fitted):
    model, X, _ = fitted
    leaves = model.apply(X)
    for node in model.tree_.leaves:
        assert (leaves == node.id).sum() == node.rows
    path = model.decision_path(X)
    assert path.shape == (300, len(model.tree_.nodes))
    assert [path[:, node.id].sum() for node in model.tree_.nodes] == [
        node.rows for node in model.tree_.nodes
    ]


def test_probabilities_are_the_shares_of_the_leaf(fitted):
    model, X, y = fitted
    shares, leaves = model.predict_proba(X), model.apply(X)
    for leaf in set(leaves.tolist()):
        inside = y.to_numpy()[leaves == leaf]
        assert np.allclose(shares[leaves == leaf], [(inside == c).mean() for c in model.classes_])


def test_importances_belong_to_the_tested_columns(fitted):
    model, X, _ = fitted
    used = {node.column for node in model.tree_.nodes if node.column}
    importances = model.feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert {X.columns[i] for i in np.flatnonzero(importances)} <= used
    with pytest.raises(AttributeError):
        model.feature_importances_ = 0


def test_limits_on_the_shape_hold():
    X, y = mixed(120)
    for limits in ({"max_depth": 1}, {"max_leaf_nodes": 3}, {"min_samples_leaf": 20}):
        model = OptimalTreeClassifier(
            **{"max_depth": 3, "leaf_penalty": 0, "thresholds": 4, **limits}
        ).fit(X, y)
        assert model.get_depth() <= limits.get("max_depth", 3)
        assert model.get_n_leaves() <= limits.get("max_leaf_nodes", 8)
        assert min(node.rows for node in model.tree_.leaves) >= limits.get("min_samples_leaf", 1)
    assert (
        OptimalTreeClassifier(max_depth=None, leaf_penalty=0.02, thresholds=3).fit(X, y).status_
        == "optimal"
    )


def test_weights_count_as_copies():
    X, y = mixed(80)
    weight = np.random.default_rng(0).integers(0, 4, 80)
    copies = np.repeat(np.arange(80), weight)
    weighted = OptimalTreeClassifier(max_depth=2).fit(X, y, weight)
    copied = OptimalTreeClassifier(max_depth=2).fit(X[copies], y[copies])
    assert weighted.objective_ == copied.objective_
    halves = OptimalTreeClassifier(max_depth=2).fit(X, y, weight / 2)
    assert halves.objective_ == copied.objective_
    real = OptimalTreeClassifier(max_depth=2).fit(X, y, weight * np.pi)
    assert real.objective_ == pytest.approx(copied.objective_, rel=1e-12)
    assert real.lower_bound_ <= real.objective_


def test_balanced_accuracy():
    X, y = mixed(200)
    rare = pl.concat([X.filter(y == "no"), X.filter(y == "yes")[:15]])
    labels = ["no"] * (y == "no").sum() + ["yes"] * 15
    model = OptimalTreeClassifier(
        "balanced_accuracy", max_depth=2, leaf_penalty=0.001, thresholds=6
    ).fit(rare, labels)
    loss = model.objective_ - 0.001 * model.get_n_leaves()
    assert balanced_accuracy_score(labels, model.predict(rare)) == pytest.approx(1 - loss)
    same = OptimalTreeClassifier(
        class_weight="balanced", max_depth=2, leaf_penalty=0.001, thresholds=6
    ).fit(rare, labels)
    assert same.objective_ == model.objective_


def test_class_weights_and_costs():
    X, y = mixed(100)
    weights = {"yes": 3}
    model = OptimalTreeClassifier(max_depth=2, class_weight=weights).fit(X, y)
    row_weight = np.where(y == "yes", 3, 1)
    rows = OptimalTreeClassifier(max_depth=2).fit(X, y, row_weight)
    assert model.objective_ == pytest.approx(rows.objective_)
    costs = [[0, 1], [5, 0]]
    costly = OptimalTreeClassifier(max_depth=2, cost_matrix=costs).fit(X, y)
    predicted = costly.predict(X)
    cost = sum(
        costs[true == "yes"][label == "yes"] for true, label in zip(y, predicted, strict=True)
    )
    assert costly.objective_ == pytest.approx(cost / 100 + 0.01 * costly.get_n_leaves())
    free = OptimalTreeClassifier(cost_matrix=np.zeros((2, 2))).fit(X, y)
    assert free.get_n_leaves() == 1


def test_one_class_of_many_labels_types():
    X = np.arange(6)[:, None]
    for labels in ([3, 1, 2], ["c", "a", "b"], [True, False], [2.0, 0.0]):
        y = np.array([labels[i % len(labels)] for i in range(6)])
        model = OptimalTreeClassifier(max_depth=3, leaf_penalty=0).fit(X, y)
        assert model.classes_.dtype == y.dtype and model.classes_.tolist() == sorted(labels)
        assert model.predict(X).tolist() == y.tolist()


def test_refitting_without_names_forgets_them():
    X, y = mixed(40)
    model = OptimalTreeClassifier(max_depth=1).fit(X, y)
    model.fit(np.random.default_rng(0).random((40, 3)), y)
    assert not hasattr(model, "feature_names_in_") and model.n_features_in_ == 3


def test_a_fitted_model_loads_in_a_new_process(fitted, tmp_path):
    model, X, _ = fitted
    (tmp_path / "model").write_bytes(pickle.dumps(model))
    X.write_parquet(tmp_path / "X.parquet")
    script = (
        "import json, pickle, sys, pathlib, polars; here = pathlib.Path(sys.argv[1]);model = "
        "pickle.loads((here / "
        "'model').read_bytes());print(json.dumps([model.predict(polars.read_parquet(here / "
        "'X.parquet')).tolist(), model.certificate_.statement()]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, check=True
    )
    predicted, statement = json.loads(done.stdout)
    assert predicted == model.predict(X).tolist() and statement == model.certificate_.statement()


def test_pipelines_and_searches():
    X, y = mixed(90)
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["sex"]), (StandardScaler(), ["age", "fare"])
    )
    pipeline = make_pipeline(encode, OptimalTreeClassifier(max_depth=2, thresholds=5))
    assert pipeline.fit(X.to_pandas(), y.to_pandas()).score(X.to_pandas(), y.to_pandas()) > 0.7
    plain = X.select("age", "fare", "alone").to_pandas()
    assert (
        cross_val_score(OptimalTreeClassifier(max_depth=2, thresholds=5), plain, y, cv=3).mean()
        > 0.5
    )
    grid = GridSearchCV(
        OptimalTreeClassifier(thresholds=4),
        {"max_depth": [1, 2], "leaf_penalty": [0.01, 0.1]},
        cv=3,
    )
    assert grid.fit(plain, y).best_params_["max_depth"] in (1, 2)
    assert isinstance(grid.best_estimator_.tree_, Tree)


def test_threads_do_not_change_the_answer(fitted):
    model, X, y = fitted
    many = clone(model).set_params(n_jobs=-1).fit(X, y)
    assert many.objective_ == model.objective_ and many.tree_ == model.tree_


def test_the_certificate_names_what_it_speaks_of(fitted):
    model, X, _ = fitted
    certificate = model.certificate_
    assert isinstance(certificate, Certificate)
    assert (certificate.objective, certificate.lower_bound, certificate.gap) == (
        model.objective_,
        model.lower_bound_,
        0,
    )
    assert certificate.cuts == {
        "age": 8,
        "fare": 8,
        "wide": 8,
        "sex": 2,
        "port": 2,
        "alone": 1,
        "day": 8,
        "time": 8,
    }
    assert certificate.n_cuts == 45 and certificate.n_rows == 300 and certificate.n_points <= 300
    assert certificate.seconds > 0 and certificate.threads == 1
    text = certificate.statement()
    for part in (
        "of depth at most 3",
        "any of 45 cuts of 8 columns",
        "300 rows",
        "no such tree has a lower objective",
        "0.01 for each leaf",
    ):
        assert part in text
    back = json.loads(json.dumps(certificate.to_dict()))
    assert back["status"] == "optimal" and back["cuts"] == certificate.cuts and back["gap"] == 0
    curve = certificate.to_polars()
    assert curve.columns == ["seconds", "objective", "lower_bound"]
    assert curve["objective"].is_sorted(descending=True) and curve["lower_bound"].is_sorted()
    assert curve.row(-1)[1:] == (model.objective_, model.lower_bound_)
    with pytest.raises(AttributeError):
        certificate.objective = 0


def test_dates_come_back_as_dates():
    days = [dt.date(2024, 2, day) for day in range(1, 29)]
    model = OptimalTreeClassifier().fit(pl.DataFrame({"day": days}), [day.day > 10 for day in days])
    assert model.tree_.nodes[0].test == "day <= 2024-02-10"
