"""Ctrl-C, sent as a real signal: the estimator keeps the best tree, and KeyboardInterrupt is
raised, everywhere."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import certree
from certree import (
    __main__,
    Capacity,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    frontier,
)

pytestmark = [
    # What it measures depends on what else the machine does.
    pytest.mark.alone,
    pytest.mark.skipif(sys.platform == "win32", reason="signals differ"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


RNG = np.random.default_rng(0)
X, Y = RNG.random((1500, 12)), RNG.integers(0, 2, 1500)
ALMOST = np.where(RNG.random(1500) < 0.1, 1 - Y, Y)
HARD = {"max_depth": 6, "thresholds": 15, "leaf_penalty": 1e-4, "time_limit": None}


class CtrlC:
    """Sends one signal after a while, as a terminal does."""

    def __init__(self, seconds, number=signal.SIGINT):
        self.timer = threading.Timer(seconds, os.kill, (os.getpid(), number))

    def __enter__(self):
        self.timer.start()

    def __exit__(self, *_):
        self.timer.cancel()
        self.timer.join()


def check_kept(model):
    assert model.status_ == "interrupted"
    assert 0 <= model.gap_ and model.lower_bound_ <= model.objective_
    assert model.certificate_.status == "interrupted"
    assert model.predict(X).shape == (1500,)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def costs():
    return RNG.random((1500, 3))


FITS = {
    "classifier": lambda: OptimalTreeClassifier(**HARD).fit,
    "f1": lambda: OptimalTreeClassifier("f1", **HARD).fit,
    "auc": lambda: OptimalTreeClassifier("auc", **HARD).fit,
    "constrained": lambda: OptimalTreeClassifier(constraints=(Capacity(1, 0.3),), **HARD).fit,
    "regressor": lambda: OptimalTreeRegressor(**HARD).fit,
    "costs": lambda: lambda X, y: OptimalCostTree(**HARD).fit(X, costs()),
    "feature_costs": lambda: OptimalTreeClassifier(feature_costs={"x0": 0.1}, **HARD).fit,
    "min_samples_leaf": lambda: OptimalTreeClassifier(
        **{**HARD, "thresholds": "all"}, min_samples_leaf=5
    ).fit,
    "policy": lambda: lambda X, y: OptimalPolicyTree(**HARD).fit(X, rewards=costs()),
    "reference": lambda: OptimalTreeClassifier(**HARD, reference=ALMOST).fit,
}


@pytest.mark.parametrize("kind", FITS)
def test_a_fit_keeps_its_tree_and_raises(kind, monkeypatch):
    kept = []
    monkeypatch.setattr(
        "certree.estimators._base.check_routing", lambda tree, training: kept.append(tree)
    )
    fit = FITS[kind]()
    start = time.monotonic()
    with CtrlC(1.0), pytest.raises(KeyboardInterrupt):
        fit(X, Y)
    assert time.monotonic() - start < 6
    assert len(kept) == 1
    if hasattr(fit, "__self__"):
        check_kept(fit.__self__)


def test_certify_keeps_what_it_found_and_can_be_called_again():
    easier = {**HARD, "max_depth": 4, "leaf_penalty": 0.002}
    model = OptimalTreeClassifier(**easier).set_params(time_limit=1e-9).fit(X, Y)
    before = model.certificate_
    model.set_params(time_limit=None)
    with CtrlC(0.3), pytest.raises(KeyboardInterrupt):
        model.certify()
    check_kept(model)
    assert model.objective_ <= before.objective and model.lower_bound_ >= before.lower_bound
    assert model.certificate_.seconds > before.seconds
    assert model.certify().status_ == "optimal"


def test_a_frontier_ends():
    start = time.monotonic()
    with CtrlC(0.5), pytest.raises(KeyboardInterrupt):
        frontier(OptimalTreeClassifier(**HARD), X, Y)
    with CtrlC(0.5), pytest.raises(KeyboardInterrupt):
        frontier(OptimalTreeClassifier(**HARD), X, Y, axes=("false_negatives", "false_positives"))
    assert time.monotonic() - start < 6


def test_guessing_ends_without_a_tree():
    model = OptimalTreeClassifier(thresholds="guess", reference="guess")
    rng = np.random.default_rng(1)
    many = rng.random((40_000, 30))
    start = time.monotonic()
    with CtrlC(0.6), pytest.raises(KeyboardInterrupt):
        model.fit(many, rng.integers(0, 2, 40_000))
    assert time.monotonic() - start < 10
    assert not hasattr(model, "tree_")


def test_a_model_that_was_fitted_keeps_its_tree_if_its_next_fit_ends_early(monkeypatch):
    model = OptimalTreeClassifier(max_depth=2, thresholds=5).fit(X, Y)
    before = dict(vars(model))

    def read(*_):
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("certree.ingest.read_training", read)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[::-1], Y)
    assert vars(model) == before and model.certify() is model


def test_ctrl_c_that_a_finalizer_swallows_is_raised_all_the_same(monkeypatch):
    """Python prints what is raised in a finalizer, and goes on."""
    from certree import ingest

    read = ingest.read_training

    class Pressed:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGINT)

    def pressed(*given):
        Pressed()
        return read(*given)

    monkeypatch.setattr("certree.ingest.read_training", pressed)
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: None)
    model = OptimalTreeClassifier(max_depth=2, thresholds=5)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not hasattr(model, "tree_")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_the_tree_is_kept_waits_for_it(monkeypatch):
    from certree.estimators import _base

    routing = _base.check_routing

    def check(tree, training):
        os.kill(os.getpid(), signal.SIGINT)
        routing(tree, training)

    monkeypatch.setattr(_base, "check_routing", check)
    model = OptimalTreeClassifier(max_depth=2, thresholds=5)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.status_ == "optimal" and model.gap_ == 0.0


def test_a_second_ctrl_c_does_not_wait(monkeypatch):
    def check(tree, training):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("this is not reached")

    monkeypatch.setattr("certree.estimators._base.check_routing", check)
    model = OptimalTreeClassifier(max_depth=2, thresholds=5)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not hasattr(model, "tree_")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_users_is_called_once_the_tree_is_kept():
    seen = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with CtrlC(0.5):
            model = OptimalTreeClassifier(**HARD).fit(X, Y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT]
    check_kept(model)


def test_other_signals_whose_handlers_raise_end_a_search_likewise():
    def alarm(number, frame):
        raise TimeoutError("that is enough")

    before = signal.signal(signal.SIGALRM, alarm)
    model = OptimalTreeClassifier(**HARD)
    try:
        with CtrlC(0.5, signal.SIGALRM), pytest.raises(TimeoutError, match="enough"):
            model.fit(X, Y)
    finally:
        signal.signal(signal.SIGALRM, before)
    check_kept(model)


def test_ctrl_c_in_a_callback_waits_for_the_tree():
    def press(progress):
        os.kill(os.getpid(), signal.SIGINT)

    model = OptimalTreeClassifier(**HARD, callback=press)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    check_kept(model)


@pytest.mark.parametrize("stop", [False, np.False_])
def test_a_callback_stops_a_search_with_any_false(stop):
    calls = []

    def callback(progress):
        calls.append(progress)
        return stop

    model = OptimalTreeClassifier(**HARD, callback=callback).fit(X, Y)
    check_kept(model)
    assert len(calls) == 1


@pytest.mark.parametrize("go_on", [None, True, np.True_, 0, "", np.array([])])
def test_a_callback_that_returns_anything_else_does_not(go_on):
    model = OptimalTreeClassifier(**{**HARD, "time_limit": 0.4}, callback=lambda progress: go_on)
    assert model.fit(X, Y).status_ == "time_limit"


SCRIPT = """
    import os, sys, time, warnings
    import numpy as np
    warnings.simplefilter("ignore")
    from certree import OptimalTreeClassifier
    from sklearn.model_selection import GridSearchCV
    if __name__ == "__main__":
        rng = np.random.default_rng(0)
        X, y = rng.random((2000, 12)), rng.integers(0, 2, 2000)
        model = OptimalTreeClassifier(max_depth=6, thresholds=20, time_limit=20)
        print("ready", flush=True)
        try:
            {body}
            print("swallowed", flush=True)
        except KeyboardInterrupt:
            print("raised", flush=True)
"""


def interrupted(body, seconds, group=False):
    """Run a script that gets Ctrl-C after so many seconds; its output, and how long it took to
    end."""
    script = textwrap.dedent(SCRIPT).format(body=body)
    run = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert run.stdout.readline() == "ready\n"
        time.sleep(seconds)
        sent = time.monotonic()
        if group:
            os.killpg(run.pid, signal.SIGINT)
        else:
            run.send_signal(signal.SIGINT)
        out, error = run.communicate(timeout=60)
    finally:
        run.kill()
    return out, time.monotonic() - sent, run.returncode, error


@pytest.mark.parametrize("group", [False, True])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_grid_search_ends(jobs, group):
    """With one process, and with workers that get the signal too, as from a terminal, or do not."""
    grid = f"GridSearchCV(model, {{'max_depth': [5, 6, 7]}}, n_jobs={jobs}).fit(X, y)"
    out, seconds, code, error = interrupted(grid, 4 if jobs > 1 else 1, group)
    assert out == "raised\n" and code == 0, error
    assert seconds < 10


def test_a_grid_search_over_threads_ends():
    grid = "GridSearchCV(model.set_params(time_limit=6), {'max_depth': [5, 6, 7]}, n_jobs=2)"
    body = f"import joblib; joblib.parallel_backend('threading', n_jobs=2); {grid}.fit(X, y)"
    out, seconds, code, error = interrupted(body, 2)
    assert out == "raised\n" and code == 0, error
    assert seconds < 15


def test_a_fit_in_another_thread_is_left_to_its_limits():
    """Signals reach the main thread alone, which is not held up."""
    body = (
        "import threading; worker = threading.Thread(target=model.set_params(time_limit=3).fit, "
        "args=(X, y)); worker.start(); time.sleep(30)"
    )
    out, seconds, code, error = interrupted(body, 0.7)
    assert out == "raised\n" and code == 0, error
    assert seconds < 8


def command_line(tmp_path):
    table, tree = tmp_path / "hard.csv", tmp_path / "tree.json"
    pl.DataFrame(X[:, :8], schema=[f"c{i}" for i in range(8)]).with_columns(y=Y).write_csv(table)
    options = [
        "--target", "y", "--max-depth", "7", "--leaf-penalty", "0.0001", "--thresholds", "20"
    ]
    run = subprocess.Popen(
        [sys.executable, "-m", "certree", "fit", str(table), *options, "--model", str(tree)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # The first line of progress.
    assert "lower bound" in run.stderr.readline()
    run.send_signal(signal.SIGINT)
    out, error = run.communicate(timeout=30)
    return run.returncode, out, error, tree


def test_ctrl_c_while_the_command_line_loads(monkeypatch):
    class Loading:
        def find_spec(self, name, *_):
            if name == "certree.cli":
                raise KeyboardInterrupt
            return None

    for name in [name for name in sys.modules if name.startswith("certree.cli")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(certree, "cli", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Loading(), *sys.meta_path])
    monkeypatch.setattr(sys, "argv", ["certree", "fit", "table.csv"])
    assert __main__.main() == 130


def test_the_command_line_prints_the_best_tree_and_leaves_with_130(tmp_path):
    code, out, error, tree = command_line(tmp_path)
    assert code == 130, error
    assert "Status: interrupted (the search was interrupted)" in out and "├── c" in out
    assert "Traceback" not in error and tree.exists()


def fuzz_interrupts():
    """The module ``tests/fuzz/interrupts.py``."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))
    import interrupts

    return interrupts


def test_random_interrupts_are_never_swallowed():
    """Whatever a fit is doing, it ends at once: with a tree that is whole, or as it was before."""
    rng = np.random.default_rng(7)
    X, y = rng.random((400, 6)), rng.integers(0, 2, 400)
    frame = pl.DataFrame(X).with_columns(city=pl.Series(rng.choice(["a", "b", "c"], 400)))
    weights = rng.random(400)
    interrupts = fuzz_interrupts()
    for _ in range(150):
        model = OptimalTreeClassifier(max_depth=3, thresholds=8, time_limit=5)
        sent = interrupts.Signal(rng.random() * 0.06)
        sent.run(lambda model=model: model.fit(frame, y, sample_weight=weights))
        if hasattr(model, "tree_"):
            assert model.objective_ == model.certificate_.objective
            assert len(model.predict(frame)) == 400


def test_random_interrupts_of_everything_that_searches():
    """A little of ``tests/fuzz/interrupts.py``, which says what must hold."""
    interrupts = fuzz_interrupts()
    assert interrupts.run([*interrupts.FITS, *interrupts.CALLS], 10.0, seed=0) == 0
