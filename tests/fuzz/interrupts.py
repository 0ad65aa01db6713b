"""Ctrl-C at random moments: ``python tests/fuzz/interrupts.py --seconds 60 [kinds]``.

Each run of something that searches for a tree gets a signal at a moment that is drawn anew, and
must keep to the rule: ``KeyboardInterrupt`` is raised, and the estimator either has a whole tree,
with a gap that holds, or is as it was before. What breaks it is printed with the moment, and ends
the run with exit code 1. ``tests/python/test_interrupts.py`` runs a little of this.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.validation import check_is_fitted

from certree import (
    Capacity,
    DemographicParity,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    ThresholdBinarizer,
    ThresholdGuesser,
    frontier,
)

#: Seconds of the processor that anything may go on after the signal. Those of a clock depend on
#: what else the machine does.
PATIENCE = 3.0

N = 300
RNG = np.random.default_rng(0)
X = RNG.random((N, 5)).round(2)
Y = RNG.integers(0, 2, N)
COSTS = RNG.random((N, 3))
TIMES = RNG.integers(1, 9, N)
WEIGHTS = RNG.random(N)
FRAME = pl.DataFrame(X, schema=list("abcde")).with_columns(
    city=pl.Series(RNG.choice(["x", "y", "z"], N)), group=pl.Series(RNG.choice(["f", "m"], N))
)
LAZY = FRAME.with_columns(ill=pl.Series(Y), weight=pl.Series(WEIGHTS)).lazy()
SMALL = {"max_depth": 3, "thresholds": 12, "leaf_penalty": 0.001, "time_limit": 20}


class Errors:
    """A task in Python: rows that are not of the most frequent class."""

    def leaf_cost(self, sums):
        return sums.sum(axis=1) - sums.max(axis=1)

    def answer(self, sums):
        return int(sums.argmax())


#: An estimator, and what its fit gets.
FITS: dict[str, Callable[[], tuple[Any, tuple[Any, ...]]]] = {
    "classifier": lambda: (OptimalTreeClassifier(**SMALL), (X, Y)),
    "frame": lambda: (OptimalTreeClassifier(**SMALL), (FRAME, Y, WEIGHTS)),
    "lazy": lambda: (OptimalTreeClassifier(**SMALL), (LAZY, "ill", "weight")),
    "all cuts": lambda: (OptimalTreeClassifier(**{**SMALL, "thresholds": "all"}), (X, Y)),
    "threads": lambda: (OptimalTreeClassifier(**SMALL, n_jobs=2), (X, Y)),
    "f1": lambda: (OptimalTreeClassifier("f1", **SMALL), (X, Y)),
    "mcc": lambda: (OptimalTreeClassifier("mcc", **{**SMALL, "max_depth": 2}), (X, Y)),
    "auc": lambda: (OptimalTreeClassifier("auc", **{**SMALL, "max_depth": 2}), (X, Y)),
    "log_loss": lambda: (OptimalTreeClassifier("log_loss", **SMALL), (X, Y)),
    "targets": lambda: (OptimalTreeClassifier(**SMALL), (X, np.column_stack([Y, Y[::-1]]))),
    "constraints": lambda: (
        OptimalTreeClassifier(
            constraints=(DemographicParity("group", 0.1),), **{**SMALL, "max_depth": 2}
        ),
        (FRAME, Y),
    ),
    "feature costs": lambda: (
        OptimalTreeClassifier(feature_costs={"a": 0.01}, **SMALL), (FRAME, Y)
    ),
    "leaf size": lambda: (OptimalTreeClassifier(**SMALL, min_samples_leaf=9), (X, Y)),
    "reference": lambda: (OptimalTreeClassifier(**SMALL, reference=Y), (X, Y)),
    "guess": lambda: (OptimalTreeClassifier(max_depth=2, thresholds="guess"), (X, Y)),
    "regressor": lambda: (OptimalTreeRegressor(**SMALL), (X, COSTS)),
    "poisson": lambda: (OptimalTreeRegressor("poisson", **SMALL), (X, TIMES)),
    "quantile": lambda: (OptimalTreeRegressor("quantile", **SMALL), (X, TIMES)),
    "costs": lambda: (OptimalCostTree(**SMALL), (X, COSTS)),
    "capacity": lambda: (
        OptimalCostTree(constraints=(Capacity("x0", 0.3),), **{**SMALL, "max_depth": 2}),
        (X, pl.DataFrame(COSTS, schema=["x0", "x1", "x2"])),
    ),
    "policy": lambda: (OptimalPolicyTree(n_folds=2, **SMALL), (X, Y, COSTS[:, 0])),
    "survival": lambda: (OptimalSurvivalTree(**SMALL), (X, TIMES, Y)),
    "custom": lambda: (
        OptimalTree(Errors(), **{**SMALL, "max_depth": 2}), (X, np.column_stack([Y, 1 - Y]))
    ),
}


class Signal:
    """Sends Ctrl-C after some seconds, and tells at the end whether it was raised.

    It is raised in the block, or, if that has ended before, while this waits for the timer.
    """

    def __init__(self, seconds: float) -> None:
        self.timer = threading.Timer(seconds, self._send)
        self.sent = 0.0
        self.raised_inside = False

    def _send(self) -> None:
        self.sent = time.process_time()
        os.kill(os.getpid(), signal.SIGINT)

    def run(self, work: Callable[[], object]) -> None:
        finished = raised = False
        # One block from the timer's start to the end of the wait, because the signal may be
        # raised between any two steps.
        try:
            self.timer.start()
            work()
            finished = True
            self.timer.join()
            # The signal is handled at the next step of Python.
            for _ in range(100):
                time.sleep(0.001)
        except KeyboardInterrupt:
            raised = True
            self.raised_inside = not finished
            took = time.process_time() - self.sent
            assert finished or took < PATIENCE, f"it went on for {took:.1f} s"
        finally:
            # After another error nobody waits for the signal.
            self.timer.cancel()
        assert raised, "the signal was swallowed"
        found = signal.getsignal(signal.SIGINT)
        assert found is signal.default_int_handler, f"the handler is now {found}"


def check_whole(model: Any, optimum: float, features: Any) -> str:
    """The model has a tree, with bounds that hold; how it ended."""
    check_is_fitted(model)
    assert model.objective_ == model.certificate_.objective
    assert model.status_ == model.certificate_.status
    slack = 1e-9 * max(1.0, abs(optimum))
    assert model.lower_bound_ <= model.objective_ and model.gap_ >= 0
    if model.status_ != "optimal_given_guess":
        assert model.lower_bound_ <= optimum + slack, (model.lower_bound_, optimum)
    assert model.objective_ >= optimum - slack, (model.objective_, optimum)
    assert len(model.predict(features)) == N
    return model.status_


def check_unfitted(model: Any, before: dict[str, Any]) -> str:
    assert vars(model).keys() == before.keys(), set(vars(model)) ^ set(before)
    try:
        check_is_fitted(model)
    except NotFittedError:
        return "not fitted"
    raise AssertionError("it has no tree, but says that it is fitted")


class Fits:
    """A fit of one kind, and ``certify()`` after one that was stopped."""

    def __init__(self, kind: str) -> None:
        self.make = FITS[kind]
        model, data = self.make()
        start = time.monotonic()
        model.fit(*data)
        self.seconds = time.monotonic() - start
        self.optimum = model.objective_
        self.adds_up = model._fitted.adds_up

    def __call__(self, rng: random.Random) -> str:
        model, data = self.make()
        if self.adds_up and rng.random() < 0.3:
            return self.certify(model, data, rng)
        before = dict(vars(model))
        found = Signal(moment(rng, self.seconds))
        found.run(lambda: model.fit(*data))
        if not found.raised_inside:
            return "finished before"
        if not hasattr(model, "tree_"):
            return check_unfitted(model, before)
        return check_whole(model, self.optimum, data[0])

    def certify(self, model: Any, data: tuple[Any, ...], rng: random.Random) -> str:
        limit = model.time_limit
        model.set_params(time_limit=1e-9).fit(*data).set_params(time_limit=limit)
        if not model._fitted.adds_up:
            # There was no time to guess any cut, so that there is nothing to go on with.
            return "certify: no cuts"
        before = model.objective_, model.lower_bound_
        found = Signal(moment(rng, self.seconds))
        found.run(model.certify)
        status = check_whole(model, self.optimum, data[0])
        assert model.objective_ <= before[0] and model.lower_bound_ >= before[1]
        return f"certify: {status}" if found.raised_inside else "finished before"


class Calls:
    """Something without a tree of its own to keep."""

    def __init__(self, call: Callable[[], object]) -> None:
        self.call = call
        start = time.monotonic()
        call()
        self.seconds = time.monotonic() - start

    def __call__(self, rng: random.Random) -> str:
        found = Signal(moment(rng, self.seconds))
        found.run(self.call)
        return "raised" if found.raised_inside else "finished before"


class CommandLine:
    """A process: it leaves with 130, and prints its best tree if the search had begun."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.table = Path(self.folder.name) / "t.csv"
        FRAME.with_columns(ill=pl.Series(Y)).write_csv(self.table)
        start = time.monotonic()
        code, out, _ = self.run(None)
        assert code == 0 and "Status: optimal" in out
        self.seconds = time.monotonic() - start

    def run(self, seconds: float | None) -> tuple[int, str, str]:
        options = ["--target", "ill", "--max-depth", "3", "--thresholds", "12"]
        process = subprocess.Popen(
            [sys.executable, "-m", "certree", "fit", str(self.table), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if seconds is not None:
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=900)
        return process.returncode, out, err

    def __call__(self, rng: random.Random) -> str:
        code, out, err = self.run(rng.uniform(0, 1.1) * self.seconds)
        if code == 0:
            assert "Status: optimal" in out
            return "finished before"
        if code in (-signal.SIGINT, 1) and "KeyboardInterrupt" in err and "cli.main" not in err:
            # Python itself, which has not come to the command yet.
            return "while Python started"
        if code == -signal.SIGINT and "Traceback" not in err:
            # Python has no handler yet, or none any more after all was printed.
            assert not out or "Status: optimal" in out, (code, out, err)
            return "outside of Python"
        assert code == 130, (code, out, err)
        assert "Traceback" not in err, err
        if "Status" not in out:
            assert "objective" not in err, f"a search without a tree: {err}"
            return "before the search"
        status = out.partition("Status: ")[2].split()[0]
        assert status in ("interrupted", "optimal"), out
        return status


def moment(rng: random.Random, seconds: float) -> float:
    """Anywhere in a run, more often at its beginning."""
    return seconds * rng.random() ** rng.choice((1, 1, 3)) * 1.1


CALLS: dict[str, Callable[[], object]] = {
    "frontier": lambda: frontier(OptimalTreeClassifier(**SMALL), X, Y),
    "frontier of errors": lambda: frontier(
        OptimalTreeClassifier(**{**SMALL, "max_depth": 1}),
        X,
        Y,
        axes=("false_negatives", "false_positives"),
    ),
    "grid": lambda: GridSearchCV(
        OptimalTreeClassifier(**SMALL), {"max_depth": [1, 2, 3]}, cv=2
    ).fit(X, Y),
    "guesser": lambda: ThresholdGuesser().fit(FRAME, Y),
    "binarizer": lambda: ThresholdBinarizer().fit(FRAME).transform(FRAME),
}
KINDS = [*FITS, *CALLS, "command line"]


def made(kind: str) -> Callable[[random.Random], str]:
    if kind in FITS:
        return Fits(kind)
    return CommandLine() if kind == "command line" else Calls(CALLS[kind])


def run(kinds: list[str], seconds: float, seed: int) -> int:
    """Runs of all kinds in turn; the number of those that broke the rule."""
    rng = random.Random(seed)
    end = time.monotonic() + seconds
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.simplefilter("ignore")
    runs = {kind: made(kind) for kind in kinds}
    counts: dict[tuple[str, str], int] = {}
    wrong = 0
    while time.monotonic() < end:
        for kind, once in runs.items():
            # A process takes as long as a hundred fits.
            if kind == "command line" and len(kinds) > 1 and rng.random() < 0.9:
                continue
            try:
                how = once(rng)
            except (Exception, KeyboardInterrupt):
                wrong += 1
                how = "wrong"
                print(f"{kind}, seed {seed}:\n{traceback.format_exc()}", flush=True)
            counts[kind, how] = counts.get((kind, how), 0) + 1
    for kind in kinds:
        own = [f"{n} {how}" for (of, how), n in sorted(counts.items()) if of == kind]
        print(f"{kind}: {', '.join(own)}")
    return wrong


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("kinds", nargs="*", default=KINDS)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--seed", type=int, default=int(time.time()))
    asked = options.parse_args()
    return int(run(asked.kinds, asked.seconds, asked.seed) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
