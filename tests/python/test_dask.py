"""Fits on a Dask cluster of two workers on loopback."""

import os
import pickle
import signal
import threading
import time

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from test_partitions import frame, same

import certree
from certree import (
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeCV,
    OptimalTreeRegressor,
)
from certree.fan_out import FanOut
from certree.frontiers import Clock

pytest.importorskip("distributed")
import dask.array as da
import dask.dataframe as dd
from distributed import Client, LocalCluster, wait

from certree.dask import (
    DaskOptimalCostTree,
    DaskOptimalPolicyTree,
    DaskOptimalTreeClassifier,
    DaskOptimalTreeRegressor,
    search,
    tasks,
)

# Workers are processes that need the cores, and are killed at moments that count.
pytestmark = pytest.mark.alone

CASES = int(os.environ.get("CERTREE_CASES", 3))


@pytest.fixture(scope="module")
def client():
    # Processes, as on a real cluster, of one thread each; nothing listens but on loopback.
    where = {"host": "127.0.0.1", "dashboard_address": ":0"}
    # Workers that are killed on purpose come back at once.
    with LocalCluster(n_workers=2, threads_per_worker=1, **where) as cluster:
        with Client(cluster) as client:
            yield client


@pytest.mark.parametrize("seed", range(CASES))
def test_a_fit_to_a_dask_frame_is_the_fit_in_memory(client, seed):
    rng = np.random.default_rng(seed)
    whole = frame(rng, 400).drop_nulls()
    whole = whole.drop("day").with_columns(pl.col("w") + 0.5).to_pandas()
    thresholds, weight = ["all", 5][seed % 2], [None, "w"][seed % 2]
    if weight is None:
        whole = whole.drop(columns="w")
    n_parts = int(rng.integers(1, 7))
    parts = dd.from_pandas(whole, npartitions=n_parts, sort=False)
    given = {"max_depth": 2, "thresholds": thresholds}
    model = DaskOptimalTreeClassifier(client=client, **given).fit(parts, "y", weight)
    wanted = OptimalTreeClassifier(**given).fit(whole, "y", weight)
    same(model, wanted)
    features = whole.drop(columns=["y", "w"], errors="ignore")
    lazy = model.predict(parts)
    assert isinstance(lazy, da.Array)
    assert (lazy.compute() == wanted.predict(features)).all()
    assert (model.predict(features) == wanted.predict(features)).all()
    shares = model.predict_proba(parts).compute()
    assert np.array_equal(shares, wanted.predict_proba(features))


def test_arrays_are_fitted_by_their_chunks_of_rows(client):
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 9, (300, 4)), rng.integers(0, 3, 300)
    y = np.where(X[:, 1] > 4, y, X[:, 2] // 4)
    chunked = da.from_array(X, chunks=(70, 2))
    model = DaskOptimalTreeClassifier(max_depth=2, client=client)
    model.fit(chunked, da.from_array(y, chunks=70))
    wanted = OptimalTreeClassifier(max_depth=2).fit(X, y)
    same(model, wanted)
    assert model.classes_.dtype == wanted.classes_.dtype
    assert model.predict(chunked).chunks == ((70, 70, 70, 70, 20),)
    assert (model.predict(chunked).compute() == wanted.predict(X)).all()


def test_files_are_scanned_by_the_workers(client, tmp_path):
    whole = frame(np.random.default_rng(7), 500).drop("w")
    for at in range(4):
        whole[at * 125 : (at + 1) * 125].write_parquet(tmp_path / f"{at}.parquet")
    paths = str(tmp_path / "*.parquet")
    model = DaskOptimalTreeClassifier(max_depth=2, client=client).fit(paths, "y")
    wanted = OptimalTreeClassifier(max_depth=2).fit(whole, "y")
    same(model, wanted)
    assert (model.predict(paths).compute() == wanted.predict(whole)).all()
    # What was merged is still there, so that a search goes on without the files.
    short = DaskOptimalTreeClassifier(max_depth=2, client=client, gap_limit=1.0).fit(paths, "y")
    same(short.set_params(gap_limit=0.0)._go_on(None), wanted)
    with pytest.raises(ValueError, match="there is no file"):
        model.fit(str(tmp_path / "*.csv"), "y")
    (tmp_path / "9.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(Exception, match="parquet|Parquet|File"):
        model.fit(paths, "y")


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("costs", [None, {"a": 0.05, "b": 0.01}])
def test_regression_is_that_in_memory(client, n_outputs, costs):
    rng = np.random.default_rng(n_outputs)
    X = pd.DataFrame({"a": rng.integers(0, 12, 400), "b": rng.normal(size=400).round(1)})
    y = pd.DataFrame({f"t{k}": rng.poisson(1.0 + X["a"]) * 0.5 for k in range(n_outputs)})
    parts = dd.from_pandas(X.join(y), npartitions=5)
    names = list(y.columns)
    model = DaskOptimalTreeRegressor(max_depth=2, feature_costs=costs, client=client)
    model.fit(parts, names)
    wanted = OptimalTreeRegressor(max_depth=2, feature_costs=costs).fit(X.join(y), names)
    assert model.objective_ == wanted.objective_ and model.lower_bound_ == wanted.lower_bound_
    assert model.tree_ == wanted.tree_
    assert np.array_equal(model.predict(parts).compute(), wanted.predict(X))


@pytest.mark.parametrize("weight", [None, "w"])
def test_costs_by_row_are_those_in_memory(client, weight):
    rng = np.random.default_rng(8)
    X = pd.DataFrame({"a": rng.integers(0, 9, 300), "b": rng.normal(size=300).round(1)})
    costs = pd.DataFrame(rng.normal(size=(300, 3)) + X[["a"]].to_numpy() % 2, columns=list("pqr"))
    whole = X.join(costs).assign(w=rng.random(300))
    if weight is None:
        whole = whole.drop(columns="w")
    parts = dd.from_pandas(whole, npartitions=5)
    model = DaskOptimalCostTree(max_depth=2, client=client).fit(parts, list("pqr"), weight)
    wanted = OptimalCostTree(max_depth=2).fit(whole, list("pqr"), weight)
    same(model, wanted)
    assert np.array_equal(model.predict(parts).compute(), wanted.predict(X))
    assert np.array_equal(model.predict_costs(parts).compute(), wanted.predict_costs(X))
    # Arrays, whose labels have numbers.
    given = (da.from_array(X.to_numpy(), chunks=(90, 2)), da.from_array(costs.to_numpy(), (90, 1)))
    model = DaskOptimalCostTree(max_depth=1, client=client).fit(*given)
    same(model, OptimalCostTree(max_depth=1).fit(X.to_numpy(), costs.to_numpy()))
    assert model.labels_.tolist() == [0, 1, 2]


def test_a_policy_for_rewards_is_that_in_memory(client):
    rng = np.random.default_rng(9)
    X = pd.DataFrame({"a": rng.integers(0, 9, 300), "b": rng.normal(size=300).round(1)})
    values = rng.normal(size=(300, 2)) * (1 + X[["a"]].to_numpy())
    rewards = pd.DataFrame(values, columns=["u", "v"])
    parts = dd.from_pandas(X.join(rewards), npartitions=4)
    for maximize in (True, False):
        given = {"max_depth": 2, "maximize": maximize}
        model = DaskOptimalPolicyTree(client=client, **given).fit(parts, rewards=["u", "v"])
        wanted = OptimalPolicyTree(**given).fit(X, rewards=rewards)
        same(model, wanted)
    assert np.array_equal(model.predict(parts).compute(), wanted.predict(X))
    assert np.array_equal(model.predict_rewards(parts).compute(), wanted.predict_rewards(X))
    again = pickle.loads(pickle.dumps(model)).set_params(client=client)
    again.certify(parts, rewards=["u", "v"])
    assert again.tree_ == model.tree_
    with pytest.raises(ValueError, match="pass rewards= alone.*policy_scores"):
        model.fit(parts, "u", "v")
    with pytest.raises(ValueError, match="pass rewards= alone.*policy_scores"):
        again.certify(parts, "u", "v")
    with pytest.raises(TypeError, match="rewards must be a Dask collection like X, or name"):
        model.fit(parts, rewards=rewards)


def test_trees_for_costs_and_policies_are_searched_on_workers(client, no_start):
    rng = np.random.default_rng(10)
    X = rng.random((200, 8)) < 0.5
    costs = rng.normal(size=(200, 3)) + (X[:, :3] ^ X[:, 3:6])
    given = {"max_depth": 3, "leaf_penalty": 0.02}
    there = {**given, "client": client, "search": "workers"}
    found = DaskOptimalCostTree(**there).fit(X, costs)
    wanted = OptimalCostTree(**given).fit(X, costs)
    assert found.objective_ == wanted.objective_ and found.status_ == "optimal"
    treatment, outcome = rng.integers(0, 2, 200), rng.normal(size=200)
    found = DaskOptimalPolicyTree("ipw", **there).fit(X, treatment, outcome, np.full(200, 0.5))
    wanted = OptimalPolicyTree("ipw", **given).fit(X, treatment, outcome, np.full(200, 0.5))
    assert found.objective_ == wanted.objective_ and found.status_ == "optimal"
    parts = [da.from_array(each, chunks=(60, each.shape[1])) for each in (X, costs)]
    wanted = OptimalCostTree(**given).fit(X, costs)
    assert DaskOptimalCostTree(**there).fit(*parts).objective_ == wanted.objective_


def test_a_model_is_copied_and_pickled_without_its_client(client):
    whole = frame(np.random.default_rng(1), 100).drop("w", "day").drop_nulls().to_pandas()
    parts = dd.from_pandas(whole, npartitions=2)
    model = DaskOptimalTreeClassifier(max_depth=1, client=client)
    assert clone(model).client is client and "client" in model.get_params()
    again = pickle.loads(pickle.dumps(model.fit(parts, "y")))
    assert again.client is None and again.tree_ == model.tree_


def _other_version(*given):
    return tasks.run(lambda: 1, "0.0.1")


def _out_of_memory():
    raise MemoryError


def test_bad_input_gives_one_clear_error_each(client):
    whole = frame(np.random.default_rng(2), 60).drop("w", "day").drop_nulls().to_pandas()
    parts = dd.from_pandas(whole, npartitions=2)
    model = DaskOptimalTreeClassifier(max_depth=1, client=client)
    with pytest.raises(TypeError, match="y must be a Dask collection like X, or name columns"):
        model.fit(parts, whole["y"])
    with pytest.raises(ValueError, match="search='there' is not valid"):
        clone(model).set_params(search="there").fit(parts, "y")
    with pytest.raises(ValueError, match="X has 2 partitions but y has 3"):
        model.fit(parts, dd.from_pandas(whole["y"], npartitions=3))
    with pytest.raises(ValueError, match="y='z' is not a column of X"):
        model.fit(parts, "z")
    with pytest.raises(ValueError, match="constraints needs all rows in one process"):
        constrained = clone(model).set_params(constraints=[certree.DemographicParity("a", 0.1)])
        constrained.fit(parts, "y")
    for by_row in ({"a": "b"}, {"a": {1: 0.5}}, {"a": np.ones(60)}):
        with pytest.raises(ValueError, match="that differ by row need all rows in one process"):
            clone(model).set_params(feature_costs=by_row).fit(parts, "y")
    with pytest.raises(ValueError, match="fit a ThresholdGuesser to a sample"):
        clone(model).set_params(thresholds="guess").fit(parts, "y")
    with pytest.raises(ValueError, match="same version everywhere"):
        tasks.result(client, client.submit(_other_version, pure=False))
    with pytest.raises(tasks.WorkerError, match="ran out of memory"):
        tasks.result(client, client.submit(_out_of_memory, pure=False))
    closed = Client(client.scheduler.address)
    closed.close()
    with pytest.raises(ValueError, match="the Dask client is closed"):
        clone(model).set_params(client=closed).fit(parts, "y")


def test_partitions_without_rows_count_as_none(client):
    whole = frame(np.random.default_rng(3), 90).drop("w", "day").drop_nulls().to_pandas()
    parts = dd.concat([dd.from_pandas(whole, npartitions=2), dd.from_pandas(whole[:0], 1)])
    model = DaskOptimalTreeClassifier(max_depth=1, client=client).fit(parts, "y")
    same(model, OptimalTreeClassifier(max_depth=1).fit(whole, "y"))


def _die(path):
    if not os.path.exists(path):
        open(path, "w").close()
        os._exit(1)
    return 1


def test_what_a_dead_worker_did_is_done_again(client, tmp_path):
    futures = [tasks.submit(client, abs, -1) for _ in range(4)]
    futures.append(tasks.submit(client, _die, str(tmp_path / "died")))
    assert [result for _, result in tasks.results(client, futures)] == [1] * 5


def test_a_fit_without_workers_ends(client):
    with LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=":0") as cluster:
        with Client(cluster) as nobody:
            future = tasks.submit(nobody, abs, -1)
            with pytest.raises(tasks.WorkerError, match="no Dask worker"):
                list(tasks.results(nobody, [future], patience=0.1))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(11)
    X = pd.DataFrame(rng.integers(0, 6, (240, 4)), columns=list("abcd"))
    y = (X["a"] > 2) ^ (X["b"] > 3) ^ (rng.random(240) < 0.15)
    return X, y.astype(int)


def test_a_tuner_finds_the_same_on_workers(client, rows):
    tuner = OptimalTreeCV(OptimalTreeClassifier(max_depth=2, time_limit=None), cv=3)
    here = clone(tuner).fit(*rows)
    there = clone(tuner).set_params(client=client).fit(*rows)
    assert here.path_.drop("tree").equals(there.path_.drop("tree"))
    assert here.tree_ == there.tree_
    assert clone(there).client is client


def test_resamples_are_the_same_on_workers(client, rows):
    model = OptimalTreeClassifier(max_depth=2)
    here = certree.stability(model, *rows, refits=6)
    there = certree.stability(model, *rows, refits=6, client=client)
    assert here.trees == there.trees and here.agreements == there.agreements


def test_nested_choices_are_the_same_on_workers(client, rows):
    tuner = OptimalTreeCV(OptimalTreeClassifier(max_depth=2), cv=3)
    here = certree.nested(tuner, *rows, cv=3)
    there = certree.nested(tuner, *rows, cv=3, client=client)
    assert here.splits.drop("tree").equals(there.splits.drop("tree"))
    assert list(here.splits["tree"]) == list(there.splits["tree"])


def _ended_on_a_worker_that_died(client, pinned):
    """A task that has ended, and whose worker died before anybody fetched the result."""
    worker, process = next(iter(client.run(os.getpid).items()))
    future = tasks.submit(client, abs, -3, workers=[worker], allow_other_workers=not pinned)
    wait([future])
    os.kill(process, signal.SIGKILL)
    return future, worker


def test_a_result_that_died_with_its_worker_is_lost_soon_where_no_other_may_do_it(client):
    future, worker = _ended_on_a_worker_that_died(client, pinned=True)
    start = time.monotonic()
    with pytest.raises(tasks.Lost, match="died before the result"):
        tasks.fetched(client, future, worker)
    assert time.monotonic() - start < tasks.NO_WORKERS / 2
    tasks.cancel(client, [future])


def test_a_result_that_died_with_its_worker_is_done_again_by_another(client):
    future, _ = _ended_on_a_worker_that_died(client, pinned=False)
    assert list(tasks.results(client, [future])) == [(future, 3)]


def _fails(data, at):
    if at == 2:
        raise ValueError(f"no {at} in {data}")
    return data + at


def test_results_come_in_order_and_the_first_error_ends_all(client):
    assert FanOut(10, None, client).run(_fails, [(at,) for at in (5, 4, 3)]) == [15, 14, 13]
    with pytest.raises(ValueError, match="no 2 in 10"):
        FanOut(10, None, client).run(_fails, [(at,) for at in range(5)])


def _last_words(data, at, path):
    _die(path)
    return data + at


def test_data_are_sent_again_where_all_that_held_them_died(client, tmp_path):
    given = [(at, str(tmp_path / str(at % 2))) for at in range(6)]
    assert FanOut(1, None, client).run(_last_words, given) == [1, 2, 3, 4, 5, 6]


def test_joblib_runs_a_grid_search_on_workers(client, rows):
    grid = {"leaf_penalty": [0.0, 0.01, 0.1], "max_depth": [1, 2]}
    search = GridSearchCV(OptimalTreeClassifier(), grid, cv=2)
    here = clone(search).fit(*rows)
    with joblib.parallel_config("dask"):
        there = clone(search).fit(*rows)
        # A tuner within a cross-validation.
        nested = cross_val_score(OptimalTreeCV(OptimalTreeClassifier(max_depth=1)), *rows, cv=2)
    assert there.best_params_ == here.best_params_
    scores = [each.cv_results_["mean_test_score"] for each in (here, there)]
    assert np.array_equal(*scores) and len(nested) == 2


def test_a_clock_runs_on_in_another_process():
    clock = pickle.loads(pickle.dumps(Clock(100.0, 7.0)))
    assert 99 < clock.end - time.monotonic() <= 100 and clock.limit() == 7.0
    assert pickle.loads(pickle.dumps(Clock(None, None))).limit() is None


def hard(seed, n=400, columns=24):
    rng = np.random.default_rng(seed)
    X = rng.random((n, columns)) < 0.5
    y = (X[:, 0] & X[:, -1]) ^ (X[:, 1] | X[:, 2]) ^ (rng.random(n) < 0.25)
    return X, y.astype(int)


def continuous(seed, n=400, columns=4):
    """Columns of so many cuts that they are searched over intervals."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    y = ((X[:, 0] > 0.2) & (X[:, 1] > 0)) ^ (X[:, 2] > X[:, 3]) ^ (rng.random(n) < 0.1)
    return X, y.astype(int)


@pytest.fixture()
def no_start(monkeypatch):
    """The coordinator hands all to the workers, and parts are short."""
    monkeypatch.setattr(search, "ALONE", 1e-9)
    monkeypatch.setattr(search, "FIRST_SLICE", 0.05)


@pytest.mark.parametrize("seed", range(CASES))
def test_a_search_on_workers_finds_the_same_objective(client, seed, no_start):
    rng = np.random.default_rng(seed)
    X, y = hard(seed, columns=int(rng.integers(3, 14)), n=int(rng.integers(30, 200)))
    limits = [{"max_depth": 3}, {"max_depth": 4, "max_leaf_nodes": 5}, {"max_depth": None}]
    given = {**limits[seed % 3], "leaf_penalty": 0.02, "min_samples_leaf": int(rng.integers(1, 4))}
    found = DaskOptimalTreeClassifier(**given, client=client, search="workers").fit(X, y)
    wanted = OptimalTreeClassifier(**given).fit(X, y)
    assert found.objective_ == wanted.objective_ and found.status_ == "optimal"
    assert found.lower_bound_ == wanted.lower_bound_
    assert found.certificate_.nodes > 0 and found.certificate_.kernel_calls > 0


@pytest.mark.parametrize("seed", range(CASES + 1))
def test_a_search_over_intervals_on_workers_finds_the_same_objective(client, seed, no_start):
    X, y = continuous(seed, n=[300, 150][seed % 2])
    limits = [{}, {}, {"max_leaf_nodes": 4}, {"min_samples_leaf": 20}][seed % 4]
    given = {"max_depth": 3, "leaf_penalty": 0.01, **limits}
    kinds = [
        (DaskOptimalTreeClassifier, OptimalTreeClassifier),
        (DaskOptimalTreeRegressor, OptimalTreeRegressor),
    ]
    there, here = kinds[seed % 2]
    found = there(**given, client=client, search="workers").fit(X, y)
    wanted = here(**given).fit(X, y)
    assert found.certificate_.route == wanted.certificate_.route == "intervals of cuts"
    assert found.objective_ == wanted.objective_ and found.status_ == "optimal"
    assert found.lower_bound_ == wanted.lower_bound_
    assert found.certificate_.kernel_calls > 0


#: Searches of about a second, cut by cut and over intervals.
SECONDS = {
    "cut by cut": (hard(3, columns=30), {"max_depth": 5, "leaf_penalty": 0.005}),
    "intervals of cuts": (continuous(3, n=500), {"max_depth": 4, "leaf_penalty": 0.0}),
}


@pytest.mark.parametrize("route", list(SECONDS))
def test_bounds_are_true_whatever_dies(client, no_start, route):
    (X, y), given = SECONDS[route]
    wanted = OptimalTreeClassifier(**given, time_limit=None).fit(X, y)
    assert wanted.certificate_.route == route
    over, killed = threading.Event(), []

    first = next(iter(client.run(os.getpid).values()))

    def kill():
        rng = np.random.default_rng(0)
        # The first one dies soon, because the search takes less than a second on a quiet machine.
        if over.wait(0.1):
            return
        os.kill(first, signal.SIGKILL)
        killed.append(first)
        while len(killed) < 2 and not over.wait(2.0):
            try:
                process = int(rng.choice(list(client.run(os.getpid).values())))
            except (ValueError, OSError):
                # There is no worker now, or one died before it told.
                continue
            os.kill(process, signal.SIGKILL)
            killed.append(process)

    told = []
    watch = {"callback": told.append, "time_limit": None}
    model = DaskOptimalTreeClassifier(**given, **watch, client=client, search="workers")
    killer = threading.Thread(target=kill)
    killer.start()
    try:
        model.fit(X, y)
    finally:
        over.set()
        killer.join()
    assert killed
    assert model.objective_ == wanted.objective_ and model.status_ == "optimal"
    for each in told:
        assert each.lower_bound <= wanted.objective_ + 1e-12 <= each.objective + 2e-12


@pytest.mark.parametrize("rows", [hard(4, n=2000, columns=60), continuous(4, n=2000)])
@pytest.mark.parametrize("limit", ["time_limit", "gap_limit", "callback"])
def test_a_search_on_workers_keeps_its_limits(client, limit, rows, no_start):
    X, y = rows
    values = {"time_limit": 1.5, "gap_limit": 0.5, "callback": lambda now: now.seconds < 1.0}
    status = "interrupted" if limit == "callback" else limit
    # Far more than a fast machine does until then.
    model = DaskOptimalTreeClassifier(max_depth=7, client=client, search="workers")
    model.set_params(**{"time_limit": 60.0, limit: values[limit]})
    if limit != "gap_limit":
        with pytest.warns(ConvergenceWarning):
            model.fit(X, y)
    else:
        model.fit(X, y)
    assert model.status_ == status and model.lower_bound_ < model.objective_
    assert model.certificate_.curve[-1][0] < 20.0
    # Workers give up what nobody waits for any more, also where one cut takes hours.
    for worker in client.nthreads():
        assert client.submit(abs, -1, workers=[worker], pure=False).result(timeout=60) == 1


def test_searches_that_cannot_be_divided_are_refused(client, no_start):
    X = np.random.default_rng(0).normal(size=(600, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = DaskOptimalTreeClassifier(max_depth=1, client=client, search="workers")
    with pytest.raises(ValueError, match="the route of this problem is .one split.: search it in"):
        model.fit(X, y)
