"""Do limits hold? Some fifty combinations of shape, task and limit, each in its own process.

    python benches/limits.py [--only WORDS] [--times 1] [--json FILE]

A limit of time holds if ``fit`` takes no more than 10% and 0.1 s beyond it, and one of memory if
the resident memory of the process grows by no more than 10% and 16 MB beyond it while ``fit`` runs.
A memory limit may also be held by an error that names it. Both are for the whole of ``fit``, from
reading on. ``--times`` repeats each fit, and the median counts, because a machine with other work
stretches the clock: ``cpu`` is the processor time of all threads, and where it is far below
``wall``, others had the processor. Where the system does not tell the peak of a process, as outside
of Linux, memory is not judged.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

#: What a limit may be exceeded by: a share, and seconds or bytes.
SHARE, SECONDS, BYTES = 0.10, 0.1, 16 << 20

#: A fit is ended after so many seconds, or when the process holds so many bytes of addresses.
PATIENCE, MOST_BYTES = 600, 16 << 30

MB = 10**6


@dataclass(frozen=True)
class Case:
    name: str
    #: Makes the arguments of ``fit``.
    data: Callable[[], tuple[Any, ...]]
    #: Given the module, the limits and the data: fits, and gives a status.
    fit: Callable[[Any, dict[str, Any], tuple[Any, ...]], str]
    #: Seconds, or bytes.
    time: float | None = None
    memory: float | None = None


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def noise(n: int = 2000, columns: int = 12, classes: int = 2) -> tuple[Any, Any]:
    r = rng()
    return r.random((n, columns)), r.integers(0, classes, n)


def targets(n: int = 20_000, columns: int = 6, outputs: int = 1) -> tuple[Any, Any]:
    r = rng()
    y = r.normal(size=(n, outputs))
    return r.random((n, columns)), y[:, 0] if outputs == 1 else y


def strings(n: int) -> tuple[Any, Any]:
    import polars as pl

    r = rng()
    names = [f"customer {number:07}" for number in r.permutation(n)]
    return pl.DataFrame({"name": names}), r.integers(0, 2, n)


def long() -> tuple[Any, Any]:
    r = rng()
    return r.integers(0, 40, (5_000_000, 4)).astype(np.int16), r.integers(0, 2, 5_000_000)


def long_floats() -> tuple[Any, Any]:
    r = rng()
    return r.random((5_000_000, 4), dtype=np.float32), r.integers(0, 2, 5_000_000)


def wide() -> tuple[Any, Any]:
    r = rng()
    return r.integers(-9, 9, (50, 100_000)).astype(np.int8), r.integers(0, 2, 50)


def people(n: int = 3000) -> tuple[Any, Any]:
    import polars as pl

    r = rng()
    frame = {f"x{index}": r.integers(0, 30, n) for index in range(6)}
    return pl.DataFrame({**frame, "group": r.choice(["a", "b"], n)}), r.integers(0, 2, n)


def survival(n: int = 20_000) -> tuple[Any, Any, Any]:
    r = rng()
    return r.random((n, 5)), r.exponential(size=n), r.random(n) < 0.7


def costs(n: int, labels: int, columns: int = 8) -> tuple[Any, Any]:
    r = rng()
    return r.random((n, columns)), r.random((n, labels))


def fitting(estimator: str, *arguments: Any, **parameters: Any) -> Callable[..., str]:
    def fit(certree: Any, limits: dict[str, Any], data: tuple[Any, ...]) -> str:
        model = getattr(certree, estimator)(*arguments, **parameters, **limits)
        return str(model.fit(*data).status_)

    return fit


def classifier(*arguments: Any, **parameters: Any) -> Callable[..., str]:
    return fitting("OptimalTreeClassifier", *arguments, **parameters)


def policy(certree: Any, limits: dict[str, Any], data: tuple[Any, ...]) -> str:
    model = certree.OptimalPolicyTree(max_depth=4, thresholds=30, **limits)
    return str(model.fit(data[0], rewards=data[1]).status_)


def parity(certree: Any, limits: dict[str, Any], data: tuple[Any, ...]) -> str:
    limit = certree.DemographicParity("group", 0.01)
    model = certree.OptimalTreeClassifier(max_depth=3, constraints=(limit,), **limits)
    return str(model.fit(*data).status_)


def front_of(axes: tuple[str, str]) -> Callable[..., str]:
    def fit(certree: Any, limits: dict[str, Any], data: tuple[Any, ...]) -> str:
        X, y, *weights = data
        weights = {"sample_weight": weights[0]} if weights else {}
        model = certree.OptimalTreeClassifier(max_depth=4, thresholds=20, time_limit=None)
        front = certree.frontier(model, X, y, axes=axes, **limits, **weights)
        return f"{len(front)} rows"

    return fit


def weighted() -> tuple[Any, Any, Any]:
    return (*noise(500, 6), rng().random(500))


def certify(certree: Any, limits: dict[str, Any], data: tuple[Any, ...]) -> str:
    """Only the search that goes on counts."""
    model = certree.OptimalTreeClassifier(max_depth=5, thresholds=20, time_limit=0.5).fit(*data)
    started()
    return str(model.set_params(**limits).certify().status_)


def near(certree: Any, limits: dict[str, Any], data: tuple[Any, ...]) -> str:
    """Only the search for all good trees counts."""
    model = certree.OptimalTreeClassifier(max_depth=3, thresholds=30, time_limit=None)
    model.fit(*data)
    started()
    found = certree.near_optimal(model.set_params(**limits), *data, within=0.3)
    return "complete" if found.is_complete else "stopped"


def capacity(certree: Any, limits: dict[str, Any], data: tuple[Any, ...]) -> str:
    import polars as pl

    limit = certree.Capacity("x0", 0.3)
    model = certree.OptimalCostTree(max_depth=3, thresholds=20, constraints=(limit,), **limits)
    costs = pl.DataFrame(data[1], schema=["x0", "x1", "x2"])
    return str(model.fit(data[0], costs).status_)


def errors(matrix: Any) -> float:
    """A function of the confusion matrix."""
    return float(1 - np.trace(matrix) / matrix.sum())


def custom(certree: Any, limits: dict[str, Any], data: tuple[Any, ...]) -> str:
    class Spread:
        def leaf_cost(self, sums: Any) -> Any:
            n, s, q = sums.T
            return np.maximum(q - s * s / n, 0.0)

        def answer(self, sums: Any) -> Any:
            return float(sums[1] / sums[0])

    X, y = data
    statistics = np.column_stack([np.ones(len(y)), y, y * y])
    model = certree.OptimalTree(Spread(), max_depth=3, thresholds=20, **limits)
    return str(model.fit(X, statistics).status_)


CASES = [
    Case("accuracy, quantiles", noise, classifier(max_depth=6, thresholds=20), time=0.05),
    Case("accuracy, all cuts", lambda: noise(20_000, 2), classifier(max_depth=4), time=1),
    Case(
        "accuracy, min_samples_leaf",
        lambda: noise(20_000, 2),
        classifier(max_depth=4, min_samples_leaf=5),
        time=1,
    ),
    Case(
        "accuracy, max_leaf_nodes",
        lambda: noise(5000, 4),
        classifier(max_leaf_nodes=6, max_depth=4),
        time=1,
    ),
    Case("accuracy, 5M rows", long, classifier(max_depth=4), time=2),
    Case("accuracy, 100,000 columns", wide, classifier(max_depth=3), time=2),
    Case("accuracy, 60,000 strings", lambda: strings(60_000), classifier(max_depth=2), time=1),
    Case(
        "accuracy, 200,000 strings, depth 1",
        lambda: strings(200_000),
        classifier(max_depth=1),
        time=3,
    ),
    Case(
        "accuracy, 120,000 strings, depth 2",
        lambda: strings(120_000),
        classifier(max_depth=2),
        time=1,
    ),
    Case("accuracy, 2500 classes", lambda: noise(20_000, 6, 2500), classifier(max_depth=3), time=2),
    Case(
        "feature_costs",
        noise,
        classifier(max_depth=4, feature_costs={f"x{i}": 0.01 for i in range(12)}),
        time=0.05,
    ),
    Case("mcc", noise, classifier("mcc", max_depth=4), time=0.05),
    Case("mcc", noise, classifier("mcc", max_depth=4, thresholds=20), time=1),
    Case("mcc, 7 classes", lambda: noise(2300, 12, 7), classifier("mcc", max_depth=3), time=2),
    Case(
        "mcc, 7 classes, cuts",
        lambda: noise(2300, 12, 7),
        classifier("mcc", max_depth=4, thresholds=50),
        time=2,
    ),
    Case(
        "f1_macro, 4 classes",
        lambda: noise(2300, 12, 4),
        classifier("f1_macro", max_depth=4, thresholds=20),
        time=2,
    ),
    Case(
        "own function of the matrix",
        lambda: noise(2300, 12, 3),
        classifier(errors, max_depth=3, thresholds=10),
        time=2,
    ),
    Case(
        "several targets",
        lambda: (noise()[0], rng().integers(0, 3, (2000, 3))),
        classifier(max_depth=4, thresholds=20),
        time=1,
    ),
    Case("f1, 5M rows", long_floats, classifier("f1", max_depth=4, thresholds=20), time=1),
    Case("auc", noise, classifier("auc", max_depth=3, thresholds=10), time=1),
    Case("gini", noise, classifier("gini", max_depth=4, thresholds=20), time=0.5),
    Case("parity", people, parity, time=1),
    Case("regression", targets, fitting("OptimalTreeRegressor", max_depth=4), time=0.1),
    Case(
        "regression, quantile",
        targets,
        fitting("OptimalTreeRegressor", "quantile", max_depth=4),
        time=1,
    ),
    Case(
        "poisson",
        lambda: (targets()[0], rng().poisson(2, 20_000)),
        fitting("OptimalTreeRegressor", "poisson", max_depth=4),
        time=1,
    ),
    Case("survival", survival, fitting("OptimalSurvivalTree", max_depth=4), time=1),
    Case(
        "survival, sets of columns",
        survival,
        fitting("OptimalSurvivalTree", max_depth=4, thresholds=15),
        time=1,
    ),
    Case(
        "poisson, sets of columns",
        lambda: (targets()[0], rng().poisson(2, 20_000)),
        fitting("OptimalTreeRegressor", "poisson", max_depth=4, thresholds=20),
        time=1,
    ),
    Case(
        "costs by row, all cuts",
        lambda: costs(20_000, 3),
        fitting("OptimalCostTree", max_depth=4),
        time=1,
    ),
    Case("capacity", lambda: costs(3000, 3), capacity, time=1),
    Case(
        "costs, 20 labels",
        lambda: costs(5000, 20),
        fitting("OptimalCostTree", max_depth=4, thresholds=30),
        time=0.5,
    ),
    Case("policy", lambda: costs(5000, 3), policy, time=0.5),
    Case("custom, called back", lambda: targets(3000), custom, time=1),
    Case(
        "guessed cuts",
        lambda: noise(20_000, 20),
        classifier(max_depth=5, thresholds="guess"),
        time=2,
    ),
    Case(
        "guessed bounds",
        lambda: noise(20_000, 20),
        classifier(max_depth=5, thresholds=10, reference="guess"),
        time=2,
    ),
    Case("frontier, leaves", noise, front_of(("loss", "leaves")), time=1),
    Case(
        "frontier, errors, real weights",
        weighted,
        front_of(("false_negatives", "false_positives")),
        time=1,
    ),
    Case("certify", noise, certify, time=0.5),
    Case("near_optimal", noise, near, time=1),
    Case(
        "accuracy, 2500 classes",
        lambda: noise(20_000, 6, 2500),
        classifier(max_depth=3, time_limit=20),
        memory=50 * MB,
    ),
    Case(
        "accuracy, 200,000 strings, depth 1",
        lambda: strings(200_000),
        classifier(max_depth=1, time_limit=20),
        memory=100 * MB,
    ),
    Case(
        "accuracy, 60,000 strings, depth 2",
        lambda: strings(60_000),
        classifier(max_depth=2, time_limit=20),
        memory=200 * MB,
    ),
    Case("accuracy, 5M rows", long, classifier(max_depth=2, time_limit=20), memory=100 * MB),
    Case("accuracy, 100,000 columns", wide, classifier(max_depth=3, time_limit=10), memory=60 * MB),
    Case(
        "accuracy, quantiles",
        noise,
        classifier(max_depth=6, thresholds=20, leaf_penalty=1e-4, time_limit=4),
        memory=30 * MB,
    ),
    Case(
        "accuracy, min_samples_leaf",
        lambda: noise(20_000, 2),
        classifier(max_depth=4, min_samples_leaf=5, time_limit=4),
        memory=20 * MB,
    ),
    Case(
        "f1",
        lambda: noise(20_000, 12),
        classifier("f1", max_depth=4, thresholds=50, time_limit=4),
        memory=40 * MB,
    ),
    Case("auc", noise, classifier("auc", max_depth=4, thresholds=10, time_limit=4), memory=40 * MB),
    Case(
        "regression, 100 targets",
        lambda: targets(20_000, 6, 100),
        fitting("OptimalTreeRegressor", max_depth=3, time_limit=4),
        memory=100 * MB,
    ),
    Case(
        "mcc, 7 classes",
        lambda: noise(2300, 12, 7),
        classifier("mcc", max_depth=3, time_limit=4),
        memory=40 * MB,
    ),
    Case("near_optimal", noise, near, memory=60 * MB),
    Case(
        "survival, sets of columns",
        survival,
        fitting("OptimalSurvivalTree", max_depth=4, thresholds=15, time_limit=4),
        memory=60 * MB,
    ),
    Case(
        "costs, 500 labels",
        lambda: costs(20_000, 500),
        fitting("OptimalCostTree", max_depth=3, time_limit=4),
        memory=200 * MB,
    ),
    Case(
        "guessed cuts",
        lambda: noise(20_000, 20),
        classifier(max_depth=5, thresholds="guess", time_limit=10),
        memory=60 * MB,
    ),
]


def status_field(name: str) -> int | None:
    try:
        with open("/proc/self/status") as file:
            for line in file:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


#: When and with how much memory the fit began.
BEGIN: dict[str, float] = {}


def started() -> None:
    try:
        # The peak so far is forgotten.
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass
    BEGIN.update(held=status_field("VmRSS") or 0, cpu=time.process_time(), wall=time.perf_counter())


def child(index: int) -> None:
    import certree

    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    warnings.simplefilter("ignore")
    case = CASES[index]
    data = case.data()
    # Whatever is loaded at the first fit is no part of this one.
    certree.OptimalTreeClassifier(max_depth=2).fit([[1.0], [2.0], [3.0]], [0, 1, 1])
    limits = {"time_limit": case.time} if case.time else {"memory_limit": case.memory}
    started()
    try:
        status = case.fit(certree, limits, data)
    except (ValueError, MemoryError) as error:
        text = str(error)
        named = any(limit in text for limit in limits)
        status = f"{'refused' if named else 'FAILED'}: {text}"
    wall, cpu = time.perf_counter() - BEGIN["wall"], time.process_time() - BEGIN["cpu"]
    peak = status_field("VmHWM")
    grown = None if peak is None else peak - BEGIN["held"]
    print(json.dumps({"status": status, "wall": wall, "cpu": cpu, "grown": grown}))


def run(index: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", str(index)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return {
            "status": f"FAILED: no answer in {PATIENCE} s",
            "wall": PATIENCE,
            "cpu": PATIENCE,
            "grown": None,
        }
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        why = (done.stderr.splitlines() or ["?"])[-1]
        return {
            "status": f"FAILED: {why}",
            "wall": float("inf"),
            "cpu": float("inf"),
            "grown": None,
        }
    return dict(json.loads(lines[-1]))


def judged(case: Case, found: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of the repeats, and whether it holds the limit."""
    median = {
        key: statistics.median(
            [each[key] for each in found if each[key] is not None] or [float("nan")]
        )
        for key in ("wall", "cpu", "grown")
    }
    status = found[-1]["status"]
    fine = not any(each["status"].startswith("FAILED") for each in found)
    if case.time is not None:
        most = case.time * (1 + SHARE) + SECONDS
        holds = median["wall"] <= most
        # The processor was busy with others for the rest of the time.
        by_cpu = median["cpu"] <= most
    else:
        assert case.memory is not None
        most = case.memory * (1 + SHARE) + BYTES
        holds = by_cpu = not median["grown"] > most
    verdict = "yes" if fine and holds else "cpu" if fine and by_cpu else "NO"
    return {
        "name": case.name,
        "time": case.time,
        "memory": case.memory,
        **median,
        "status": status,
        "holds": verdict,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    parser.add_argument(
        "--only", default="", help="cases whose name or kind of limit has these words"
    )
    parser.add_argument("--times", type=int, default=1, help="how often each fit is repeated")
    parser.add_argument("--json", help="a file for the figures")
    options = parser.parse_args()
    if options.child is not None:
        return child(options.child)
    print(
        f"{'limit':>8} {'case':<36} {'wall s':>7} {'cpu s':>7} {'grown MB':>8} {'holds':>5}  status"
    )
    rows = []
    for index, case in enumerate(CASES):
        limit = f"{case.time:g} s" if case.time else f"{(case.memory or 0) / MB:.0f} MB"
        if options.only and options.only not in f"{case.name} {'time' if case.time else 'memory'}":
            continue
        row = judged(case, [run(index) for _ in range(options.times)])
        rows.append(row)
        print(
            f"{limit:>8} {case.name:<36} {row['wall']:>7.3f} {row['cpu']:>7.3f}"
            f" {row['grown'] / MB:>8.0f} {row['holds']:>5}  {row['status'][:60]}",
            flush=True,
        )
    held = sum(row["holds"] == "yes" for row in rows)
    by_cpu = sum(row["holds"] == "cpu" for row in rows)
    print(f"{held} of {len(rows)} hold by the clock, and {by_cpu} more by processor time")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
