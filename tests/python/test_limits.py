"""Limits and faults from outside: too much data, too little memory, interrupts in every phase."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from certree import OptimalTreeClassifier


def many_cuts(n=20_000):
    rng = np.random.default_rng(0)
    return rng.random((n, 2)), rng.integers(0, 2, n)


def noise(n=2000, columns=12):
    rng = np.random.default_rng(0)
    return rng.random((n, columns)), rng.integers(0, 2, n)


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


def test_cuts_that_cannot_be_searched_one_by_one_leave_what_the_relaxation_proves():
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 2))
    # Two hundred rows that no leaf of the required size can hold alone.
    y = (X[:, 0] < 0.01).astype(int)
    with pytest.warns(ConvergenceWarning, match="memory limit"):
        model = everything(
            max_depth=2, leaf_penalty=0, min_samples_leaf=5000, memory_limit=1e7, time_limit=20
        ).fit(X, y)
    assert 0 <= model.lower_bound_ < model.objective_ <= y.mean()


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
    print("ready", flush=True)
    model = OptimalTreeClassifier({parameters})
    try:
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
