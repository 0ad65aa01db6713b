"""Searches that are stopped, watched or interrupted keep the best tree so far and say so."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from certree import OptimalTreeClassifier, Progress

#: What it measures depends on what else the machine does.
pytestmark = pytest.mark.alone


def hard(n=2000):
    """Noise: nothing to find, so much to search."""
    rng = np.random.default_rng(0)
    return rng.random((n, 12)), rng.integers(0, 2, n)


def search(**parameters):
    return OptimalTreeClassifier(
        **{"max_depth": 6, "leaf_penalty": 0.0001, "thresholds": 20, "time_limit": 30, **parameters}
    )


def check_stopped(model, status):
    assert model.status_ == model.certificate_.status == status
    assert 0 <= model.lower_bound_ < model.objective_ < 0.6
    assert model.gap_ == model.objective_ - model.lower_bound_
    text = model.certificate_.statement()
    assert "no such tree has an objective below" in text and status in text


def test_a_time_limit_is_kept_and_told():
    start = time.monotonic()
    with pytest.warns(
        ConvergenceWarning,
        match=r"stopped at its time limit before .* proved optimal: .* \(gap 0\.\d+\)",
    ):
        model = search(time_limit=0.5).fit(*hard())
    assert time.monotonic() - start < 10
    check_stopped(model, "time_limit")


def test_a_gap_limit_is_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = search(gap_limit=0.55).fit(*hard(300))
    check_stopped(model, "gap_limit")
    assert model.gap_ <= 0.55


def test_a_callback_sees_progress_and_may_stop():
    seen = []

    def look(progress):
        seen.append(progress)
        return len(seen) < 3

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = search(callback=look).fit(*hard())
    check_stopped(model, "interrupted")
    assert len(seen) == 3 and all(isinstance(each, Progress) for each in seen)
    assert [each.seconds for each in seen] == sorted(each.seconds for each in seen)
    assert seen[-1].gap >= model.gap_ and seen[-1].nodes > 0


def test_an_error_in_a_callback_comes_through():
    def fail(progress):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        search(callback=fail).fit(*hard())


def test_verbose_writes_lines_to_stderr(capfd):
    with pytest.warns(ConvergenceWarning):
        search(verbose=True, time_limit=1.2).fit(*hard())
    out, err = capfd.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) > 1 and lines[-1].endswith("time_limit (cut by cut)")
    for line in lines:
        assert all(word in line for word in ("objective", "lower bound", "gap", "nodes/s"))


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_an_interrupt_keeps_the_best_tree():
    timer = threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT))
    model, data = search(), hard()
    try:
        with (
            pytest.warns(
                ConvergenceWarning, match="interrupted before the tree was proved optimal"
            ),
            pytest.raises(KeyboardInterrupt),
        ):
            timer.start()
            model.fit(*data)
    finally:
        timer.cancel()
    check_stopped(model, "interrupted")
    assert model.predict(hard()[0]).shape == (2000,)


def test_interrupted_searches_do_not_swallow_later_interrupts():
    script = (
        "import os, signal, numpy as np\n"
        "from certree import OptimalTreeClassifier\n"
        "OptimalTreeClassifier().fit(np.eye(4), [0, 1, 0, 1])\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True)
    assert b"KeyboardInterrupt" in done.stderr
