"""Limits and faults from outside: too much data, too little memory, interrupts in every phase."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from certree import (
    DemographicParity,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    ThresholdGuesser,
    budget,
    frontier,
)
from certree.ingest import in_memory

#: What it measures depends on what else the machine does.
pytestmark = pytest.mark.alone


@pytest.fixture(autouse=True)
def reading_is_not_cut_short():
    """Here it is."""


def many_cuts(n=20_000):
    rng = np.random.default_rng(0)
    return rng.random((n, 2)), rng.integers(0, 2, n)


def noise(n=2000, columns=12):
    rng = np.random.default_rng(0)
    return rng.random((n, columns)), rng.integers(0, 2, n)


def peak_bytes():
    """The most memory that this process has held."""
    import resource

    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def everything(**parameters):
    return OptimalTreeClassifier(thresholds="all", **parameters)


def test_forty_thousand_cuts_keep_their_time_limit():
    start = time.monotonic()
    with pytest.warns(ConvergenceWarning, match="time limit"):
        model = everything(max_depth=4, leaf_penalty=1e-4, time_limit=1).fit(*many_cuts())
    assert time.monotonic() - start < 8
    assert 0 <= model.lower_bound_ < model.objective_ < 0.51


@pytest.mark.parametrize(("min_samples_leaf", "memory_limit"), [(1, 1e6), (2, 1e6)])
def test_data_that_do_not_fit_are_refused(min_samples_leaf, memory_limit):
    start = time.monotonic()
    with pytest.raises(ValueError, match=r"20000 rows with 3999\d cuts .* thresholds= an int"):
        limits = {"min_samples_leaf": min_samples_leaf, "memory_limit": memory_limit}
        everything(max_depth=4, **limits).fit(*many_cuts())
    assert time.monotonic() - start < 5


def test_a_minimum_of_rows_is_proved_on_all_cuts_in_little_memory():
    """A column of bits for each of 39,998 cuts would take 100 MB."""
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 2))
    # Two hundred rows that no leaf of the required size can hold alone.
    y = (X[:, 0] < 0.01).astype(int)
    model = everything(
        max_depth=2, leaf_penalty=0, min_samples_leaf=5000, memory_limit=1e7, time_limit=20
    ).fit(X, y)
    assert model.status_ == "optimal"
    assert model.lower_bound_ == model.objective_ == y.mean()
    assert model.certificate_.peak_bytes <= 1.1e7


def test_a_memory_limit_too_small_for_one_step_is_refused():
    with pytest.raises(ValueError, match="memory_limit allows 1000: raise it"):
        OptimalTreeClassifier(thresholds=5, memory_limit=1000).fit(*noise(200))


def test_memory_limits_are_kept():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = OptimalTreeClassifier(
            leaf_penalty=2e-3, thresholds=2, memory_limit=2e7, time_limit=2
        ).fit(*noise(1000))
    assert model.certificate_.peak_bytes <= 2.2e7
    assert model.lower_bound_ <= model.objective_


def test_no_time_at_all_gives_a_tree_and_a_gap():
    with pytest.warns(ConvergenceWarning):
        model = OptimalTreeClassifier(max_depth=4, thresholds=5, time_limit=1e-9).fit(*noise())
    assert 0 <= model.lower_bound_ < model.objective_ < 0.6


def test_progress_never_shows_what_no_tree_costs():
    seen = []
    with pytest.warns(ConvergenceWarning):
        OptimalTreeClassifier(
            max_depth=5, thresholds=20, time_limit=0.5, callback=seen.append
        ).fit(*noise())
    assert seen and all(0 <= p.lower_bound <= p.objective < 0.6 for p in seen)


def test_the_curve_tightens_to_what_is_certified():
    with pytest.warns(ConvergenceWarning):
        model = OptimalTreeClassifier(max_depth=5, thresholds=20, time_limit=0.5).fit(*noise())
    curve = model.certificate_.curve
    assert curve[-1][1:] == (model.objective_, model.lower_bound_)
    for (t, upper, lower), (t2, upper2, lower2) in zip(curve, curve[1:], strict=False):
        assert t <= t2 and upper >= upper2 and lower <= lower2
    assert len(curve) <= 600


def test_reading_counts_as_time(monkeypatch):
    from certree import ingest

    read = ingest.read_training

    def slowly(*given):
        time.sleep(1.0)
        return read(*given)

    monkeypatch.setattr(ingest, "read_training", slowly)
    limits = {"max_depth": 6, "thresholds": 20}
    start = time.monotonic()
    with pytest.warns(ConvergenceWarning, match="time limit"):
        model = OptimalTreeClassifier(**limits, time_limit=1.5).fit(*noise())
    assert model.status_ == "time_limit" and model.certificate_.seconds < 1.0
    assert time.monotonic() - start < 4
    # Where nothing is left, the tree that is found at once is kept.
    with pytest.warns(ConvergenceWarning, match="time limit"):
        model = OptimalTreeClassifier(**limits, time_limit=0.5).fit(*noise())
    assert model.status_ == "time_limit" and model.gap_ > 0 and model.predict(noise()[0]).size


class Spread:
    """The squared error, as a task of one's own."""

    def leaf_cost(self, sums):
        n, s, q = sums.T
        return np.maximum(q - s * s / n, 0.0)

    def answer(self, sums):
        return float(sums[1] / sums[0])


def estimators():
    """Every estimator, and most of what a classifier can be asked for, with data that keep a search
    busy."""
    rng = np.random.default_rng(0)
    n = 1500
    X, y, real = rng.random((n, 8)), rng.integers(0, 2, n), rng.normal(size=n)
    people = pl.DataFrame(X).with_columns(sex=rng.choice(["f", "m"], n))
    classes = {
        "quantiles": {"max_depth": 5, "thresholds": 15},
        "all cuts": {"max_depth": 4},
        "min_samples_leaf": {"max_depth": 4, "min_samples_leaf": 5},
        "max_leaf_nodes": {"max_depth": 4, "max_leaf_nodes": 5, "leaf_penalty": 1e-3},
        "one split": {"max_depth": 1},
        "feature_costs": {"max_depth": 4, "thresholds": 9, "feature_costs": {"x0": 0.01}},
        "f1": {"objective": "f1", "max_depth": 4},
        "mcc": {"objective": "mcc", "max_depth": 4, "thresholds": 9},
        "auc": {"objective": "auc", "max_depth": 3, "thresholds": 9},
        "gini": {"objective": "gini", "max_depth": 4, "thresholds": 9},
        "mdl": {"objective": "mdl", "max_depth": 4, "thresholds": 9},
        "weights": {"max_depth": 4, "class_weight": "balanced"},
    }
    for name, parameters in classes.items():
        yield name, OptimalTreeClassifier(**parameters), (X, y)
    parity = DemographicParity("sex", 0.01)
    yield "parity", OptimalTreeClassifier(max_depth=3, constraints=(parity,)), (people, y)
    many = np.column_stack([y, rng.integers(0, 3, n)])
    yield "targets", OptimalTreeClassifier(max_depth=4, thresholds=9), (X, many)
    for objective in ("squared_error", "absolute_error", "quantile"):
        yield objective, OptimalTreeRegressor(objective, max_depth=4), (X, real)
    for objective in ("poisson", "gamma"):
        yield objective, OptimalTreeRegressor(objective, max_depth=4), (X, np.exp(real))
    yield "survival", OptimalSurvivalTree(max_depth=4), (X, np.exp(real), y == 1)
    yield "costs", OptimalCostTree(max_depth=4, thresholds=15), (X, rng.random((n, 4)) - 0.5)
    yield "policy", OptimalPolicyTree(max_depth=4, thresholds=15), (X, rng.integers(0, 2, n), real)
    sums = np.column_stack([np.ones(n), real, real * real])
    yield "custom", OptimalTree(Spread(), max_depth=3, thresholds=9), (X, sums)


ESTIMATORS = list(estimators())
each_estimator = pytest.mark.parametrize(
    ("model", "data"), [each[1:] for each in ESTIMATORS], ids=[each[0] for each in ESTIMATORS]
)


@each_estimator
def test_bounds_that_are_told_never_loosen(model, data):
    told = []
    model = clone(model).set_params(time_limit=0.5, callback=told.append)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(*data)
    for before, after in zip(told, told[1:], strict=False):
        assert before.lower_bound <= after.lower_bound and before.objective >= after.objective
    curve = model.certificate_.curve
    for (_, upper, lower), (_, upper2, lower2) in zip(curve, curve[1:], strict=False):
        assert upper >= upper2 and lower <= lower2
    # What was told holds for the answer.
    assert all(each.lower_bound <= model.lower_bound_ + 1e-12 for each in told)


@each_estimator
def test_a_gap_limit_ends_every_search(model, data):
    model = clone(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        first = clone(model).set_params(time_limit=0.5).fit(*data)
    if first.status_ == "optimal":
        return
    # Wider than what is left after a while, so that it is reached in that time or soon after.
    limit = 1.25 * first.gap_
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model.set_params(time_limit=60, gap_limit=limit).fit(*data)
    assert model.status_ in ("gap_limit", "optimal") and model.gap_ <= limit


@each_estimator
def test_no_time_to_read_gives_a_leaf_and_a_bound_that_holds(model, data, monkeypatch):
    monkeypatch.setattr(budget, "GRACE", 0.0)
    best = clone(model).set_params(max_depth=1, time_limit=60, max_leaf_nodes=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        best.fit(*data)
    late = clone(model).set_params(time_limit=1e-9)
    if late.get_params().get("constraints"):
        with contextlib.suppress(ValueError), pytest.warns(ConvergenceWarning, match="was read"):
            late.fit(*data)
        return
    with pytest.warns(ConvergenceWarning, match="before the table was read"):
        late.fit(*data)
    assert late.status_ == "time_limit" and late.get_n_leaves() == 1
    assert late.lower_bound_ <= min(best.objective_, late.objective_)
    assert len(late.predict(data[0])) == len(data[0])
    late.set_params(time_limit=1)
    if not late._fitted.adds_up:
        with pytest.raises(ValueError, match="larger time_limit"):
            late.certify()
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        late.certify()
    assert late.objective_ <= best.objective_ + 1e-12 or late.status_ == "time_limit"
    assert late.lower_bound_ <= min(late.objective_, best.objective_)


@pytest.mark.parametrize("thresholds", ["guess", ThresholdGuesser()])
def test_cuts_that_there_was_no_time_to_guess_are_not_certified(thresholds, monkeypatch):
    monkeypatch.setattr(budget, "GRACE", 0.0)
    X, y = noise(100, 3)
    model = OptimalTreeClassifier(thresholds=thresholds, time_limit=1e-9)
    with pytest.warns(ConvergenceWarning, match="before the table was read"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="guessed in time; fit again"):
        model.set_params(time_limit=10).certify()


def test_a_short_table_is_read_whole_however_short_the_limit_is(monkeypatch):
    assert 0.0 < budget.GRACE < 0.1
    # A slow machine may need more for that.
    monkeypatch.setattr(budget, "GRACE", 30.0)
    X, y = noise(100, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = OptimalTreeClassifier(max_depth=3, time_limit=1e-9).fit(X, y)
        fitted = OptimalTreeClassifier(max_depth=3).fit(X, y)
        model.set_params(time_limit=60).certify()
    assert model.objective_ == fitted.objective_ and model.status_ == "optimal"


def test_grouping_in_no_time_is_the_same_as_reading_in_none(monkeypatch):
    X, y = noise()
    left = [None]
    cut = in_memory._cut_in_time

    def cut_until_the_end(*given):
        found = cut(*given)
        left[0] = 0.0
        return found

    monkeypatch.setattr(in_memory, "_cut_in_time", cut_until_the_end)
    monkeypatch.setattr(in_memory, "is_cut_short", lambda training: False)
    monkeypatch.setattr(budget, "reading_left", lambda share=1.0: left[0])
    monkeypatch.setattr(budget, "is_over", lambda share=1.0: False)
    with pytest.warns(ConvergenceWarning, match="before the table was read"):
        model = OptimalTreeClassifier(max_depth=3).fit(X, y)
    assert model.get_n_leaves() == 1 and model.objective_ == pytest.approx(
        min(y.mean(), 1 - y.mean()) + 0.01
    )


def test_guessing_takes_half_of_the_time():
    X, y = noise(4000, 30)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = OptimalTreeClassifier(max_depth=4, thresholds="guess", time_limit=1.0).fit(X, y)
    assert time.process_time() - start < 3
    assert model.status_ in ("time_limit", "optimal") and model.get_n_leaves() >= 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the resident memory")
def test_a_view_of_many_categories_is_filled_as_time_allows():
    """Every category is a question of its own below the root: two gigabytes of bits here, of which
    no more come into being than there is time for."""
    n = 130_000
    frame = pl.DataFrame({"s": [f"v{row}" for row in range(n)]})
    y = np.random.default_rng(0).integers(0, 2, n)
    # Reading, and what the machine needs for it, with one split, which is found at once.
    OptimalTreeClassifier(max_depth=1).fit(frame, y)
    model = OptimalTreeClassifier(max_depth=2, time_limit=1.0)
    start, before = time.monotonic(), peak_bytes()
    with pytest.warns(ConvergenceWarning, match="time limit"):
        model.fit(frame, y)
    assert model.status_ == "time_limit" and model.lower_bound_ <= model.objective_
    # To fill it takes ten times as long. Other work on the machine stretches the clock.
    assert time.monotonic() - start < 4 and peak_bytes() - before < 1.3e9


def test_strings_take_a_time_that_grows_with_them():
    rng = np.random.default_rng(0)
    n = 100_000
    X = pl.DataFrame({"name": [f"s{number}" for number in rng.permutation(n)]})
    start = time.process_time()
    model = OptimalTreeClassifier(max_depth=1, time_limit=120).fit(X, rng.integers(0, 2, n))
    assert model.status_ == "optimal" and time.process_time() - start < 10


GROWTH = """
    import numpy as np, polars as pl, warnings
    warnings.simplefilter("ignore")
    from certree import OptimalCostTree, OptimalTreeClassifier, OptimalTreeRegressor

    def status(name):
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(name)) * 1024

    rng = np.random.default_rng(0)
    OptimalTreeClassifier().fit(np.eye(4), [0, 1, 0, 1])
    data, model, limit = {data}, {model}, {limit}
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = status("VmRSS")
    try:
        print(model.set_params(memory_limit=limit, time_limit=3).fit(*data).status_)
    except ValueError as error:
        print("memory_limit" in str(error))
    print((status("VmHWM") - before) / (1.1 * limit + (16 << 20)))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="needs Linux")
@pytest.mark.parametrize(
    ("data", "model", "limit"),
    [
        (
            "(rng.random((20_000, 6)), rng.integers(0, 2500, 20_000))",
            "OptimalTreeClassifier()",
            50e6,
        ),
        (
            "(pl.DataFrame({'s': [f's{i}' for i in range(200_000)]}), rng.integers(0, 2, 200_000))",
            "OptimalTreeClassifier(max_depth=1)",
            40e6,
        ),
        (
            "(rng.random((500_000, 8)), rng.integers(0, 2, 500_000))",
            "OptimalTreeClassifier()",
            40e6,
        ),
        ("(rng.random((20_000, 4)), rng.random((20_000, 300)))", "OptimalCostTree()", 60e6),
        ("(rng.random((20_000, 4)), rng.random((20_000, 100)))", "OptimalTreeRegressor()", 40e6),
        (
            "(rng.random((1500, 12)), rng.integers(0, 2, 1500))",
            "OptimalTreeClassifier(max_depth=6, thresholds=20, leaf_penalty=1e-4)",
            30e6,
        ),
    ],
)
def test_memory_limits_hold_for_the_whole_fit(data, model, limit):
    script = textwrap.dedent(GROWTH).format(data=data, model=model, limit=limit)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    outcome, share = run.stdout.split()
    assert outcome in ("True", "time_limit", "memory_limit", "optimal") and float(share) <= 1.0


@pytest.mark.parametrize("seed", range(3))
def test_a_frontier_with_real_weights_ends_and_is_that_of_all_trees(seed):
    rng = np.random.default_rng(seed)
    n = 14
    X, y, w = rng.integers(0, 3, (n, 2)), rng.integers(0, 2, n), rng.random(n)
    axes = ("false_negatives", "false_positives")
    model = OptimalTreeClassifier(max_depth=2)
    front = frontier(model, X, y, axes=axes, sample_weight=w, time_limit=60)
    splits = [X[:, column] <= cut for column in range(2) for cut in range(2)]

    def trees(rows, depth):
        yield [rows]
        for split in splits if depth else []:
            left, right = rows & split, rows & ~split
            if left.any() and right.any():
                for below in trees(left, depth - 1):
                    yield from (below + other for other in trees(right, depth - 1))

    points = set()
    for leaves in trees(np.ones(n, dtype=bool), 2):
        wrong = np.array([[w[leaf & (y == 1)].sum(), w[leaf & (y == 0)].sum()] for leaf in leaves])
        for labels in itertools.product((0, 1), repeat=len(leaves)):
            positive = np.array(labels, dtype=bool)
            points.add((wrong[~positive, 0].sum().round(9), wrong[positive, 1].sum().round(9)))
    best = []
    for point in sorted(points):
        if not best or point[1] < best[-1][1] - 1e-9:
            best.append(point)
    assert front.select(axes).rows() == [pytest.approx(point, abs=1e-8) for point in best]


def test_an_error_in_a_callback_leaves_no_thread():
    def fail(progress):
        raise KeyError("mine")

    before = threading.active_count(), tasks()
    with pytest.raises(KeyError, match="mine"):
        OptimalTreeClassifier(max_depth=6, thresholds=20, callback=fail, n_jobs=4).fit(*noise())
    assert (threading.active_count(), tasks()) == before


def tasks():
    """Threads of this process by the system's count, where it tells."""
    return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0


def test_more_threads_than_processors():
    X, y = noise(300, 5)
    one = OptimalTreeClassifier(max_depth=3, thresholds=4, n_jobs=1).fit(X, y)
    many = OptimalTreeClassifier(max_depth=3, thresholds=4, n_jobs=64).fit(X, y)
    assert one.objective_ == many.objective_ and many.status_ == "optimal"


INTERRUPTED = """
    import numpy as np, warnings
    warnings.simplefilter("ignore")
    from certree import OptimalTreeClassifier
    rng = np.random.default_rng(0)
    X, y = rng.random(({n}, {columns})), rng.integers(0, 2, {n})
    model = OptimalTreeClassifier({parameters})
    try:
        print("ready", flush=True)
        model.fit(X, y)
        print("swallowed")
    except KeyboardInterrupt:
        if hasattr(model, "tree_"):
            print(model.status_, 0 <= model.lower_bound_ <= model.objective_ < 0.6)
        else:
            print("nothing yet")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.1, 0.3, 0.6, 1.2])
@pytest.mark.parametrize(
    ("n", "columns", "parameters"),
    [(20_000, 2, "max_depth=4, thresholds='all'"), (20_000, 30, "max_depth=6, thresholds=20")],
)
def test_an_interrupt_in_any_phase(seconds, n, columns, parameters):
    script = textwrap.dedent(INTERRUPTED.format(n=n, columns=columns, parameters=parameters))
    run = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert run.stdout.readline() == "ready\n"
        time.sleep(seconds)
        sent = time.monotonic()
        run.send_signal(signal.SIGINT)
        out = run.communicate(timeout=30)[0]
    finally:
        run.kill()
    assert out in ("interrupted True\n", "nothing yet\n")
    assert time.monotonic() - sent < 4
    assert run.returncode == 0
