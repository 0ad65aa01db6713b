"""One hard search on Dask workers, and what more workers would bring.

    pip install certree[dask]
    python benches/dask_search.py DATA_FOLDER [--name splice-1] [--kind binary] [--depth 4]
        [--workers 1 2] [--latency 0.002] [--parts 512]

DATA_FOLDER has `binary/*.parquet`, Boolean features and `target`, and `continuous/*.parquet`, whose
columns have many cuts. Printed are, for one process and for so many workers, the objective,
seconds, CPU seconds of all searches, and kernel calls. Where the machine has no core for each
worker, the busiest worker's CPU seconds say what more cores would bring.

Then a search cut by cut is recorded: every part, a few questions each, is searched to its end with
the best tree known, in the order in which workers would take them, and its CPU seconds are noted.
The simulator gives these lengths to 1 to 4,096 workers as the coordinator would: each hand-over
costs the latency, and the coordinator serves one message at a time. It says what ends the speed-up:
the longest part, the coordinator, or what one process does at the start.
"""

from __future__ import annotations

import argparse
import heapq
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from certree import OptimalTreeClassifier, _core
from certree.dask.search import ALONE, CUT_BY_CUT

#: Seconds that the coordinator takes for one message, as measured on one core.
MESSAGE = 0.0005


class Simulated(NamedTuple):
    seconds: float
    #: The part of the workers' time in which they search.
    efficiency: float
    #: What the last second waited for.
    end: str


def simulate(lengths: list[float], workers: int, latency: float, alone: float) -> Simulated:
    """Parts of these lengths in their order, on so many workers."""
    free = [alone] * workers
    heapq.heapify(free)
    coordinator, last, longest = alone, alone, 0.0
    for length in lengths:
        ready = heapq.heappop(free)
        # The coordinator answers one worker at a time: it takes a result and gives a part.
        coordinator = max(coordinator, ready) + MESSAGE
        end = coordinator + latency + length + latency
        longest = max(longest, length)
        last = max(last, end)
        heapq.heappush(free, end)
    work = sum(lengths)
    seconds = last
    spans = {
        "the longest part": longest,
        "the coordinator": MESSAGE * len(lengths),
        "the start in one process": alone,
        "the work": work / workers,
    }
    end = max(spans, key=lambda name: spans[name])
    return Simulated(seconds, (alone + work) / (workers * seconds), end)


def record(X: Any, y: Any, given: dict[str, Any], parts: int) -> tuple[list[float], float]:
    """CPU seconds of each part, searched to its end with the best tree known, and of posing."""
    model = OptimalTreeClassifier(**given, time_limit=None)
    posed = model._pose((X, y, None))
    answer = _core.solve(posed.problem, _core.Limits(None, None, 0.0, 1))
    share = _core.Share(posed.problem)
    cutoff = share.cost(answer.tree)
    limits = _core.Limits(None, None, 0.0, 1)
    lengths, open_parts = [], [share.whole()[0]]
    while len(open_parts) < parts:
        open_parts = [half for part in open_parts for half in share.halves(part)]
    for part in open_parts:
        # The search has a thread of its own, so that this is the time of the process.
        began = time.process_time()
        share.search(part, cutoff, None, limits)
        lengths.append(time.process_time() - began)
    return lengths, answer.seconds


def on_workers(X: Any, y: Any, given: dict[str, Any], workers: int) -> None:
    from distributed import Client, LocalCluster

    from certree.dask import DaskOptimalTreeClassifier

    where = {"host": "127.0.0.1", "dashboard_address": ":0"}
    with LocalCluster(n_workers=workers, threads_per_worker=1, **where) as cluster:
        with Client(cluster) as client:
            client.run(_load)
            before = client.run(time.process_time)
            own, began = time.process_time(), time.perf_counter()
            model = DaskOptimalTreeClassifier(
                **given, time_limit=None, client=client, search="workers"
            ).fit(X, y)
            seconds = time.perf_counter() - began
            own = time.process_time() - own
            after = client.run(time.process_time)
            each = [after[worker] - before[worker] for worker in before]
            more = f", {own:.1f} at the client and {max(each):.1f} in the busiest worker"
            show(f"{workers} workers", model, seconds, own + sum(each), more)


def _load() -> None:
    import certree.dask.search  # noqa: F401


def show(who: str, model: Any, seconds: float, cpu: float, more: str = "") -> None:
    calls = model.certificate_.kernel_calls
    print(
        f"{who}: objective {model.objective_:.9f} ({model.status_}), {seconds:.1f} s, "
        f"{cpu:.1f} CPU s{more}, {calls:,} kernel calls",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--name", default="splice-1")
    parser.add_argument("--kind", choices=["binary", "continuous"], default="binary")
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--latency", type=float, default=0.002)
    parser.add_argument("--parts", type=int, default=512)
    asked = parser.parse_args()
    frame = pl.read_parquet(asked.data / asked.kind / f"{asked.name}.parquet")
    X, y = frame.drop("target").to_numpy(), frame["target"].to_numpy()
    given = {"max_depth": asked.depth, "leaf_penalty": 0.0}
    cpu, began = time.process_time(), time.perf_counter()
    model = OptimalTreeClassifier(**given, time_limit=None).fit(X, y)
    show("one process", model, time.perf_counter() - began, time.process_time() - cpu)
    for workers in asked.workers:
        on_workers(X, y, given, workers)
    if model.certificate_.route != CUT_BY_CUT:
        # Parts over intervals are divided as they are searched, so that they have no lengths.
        return
    lengths, alone = record(X, y, given, asked.parts)
    print(
        f"{len(lengths)} parts, {sum(lengths):.1f} CPU s in all, the longest {max(lengths):.2f} s, "
        f"the median {np.median(lengths):.3f} s"
    )
    for workers in [1, 2, *(2**k for k in range(3, 13))]:
        found = simulate(lengths, workers, asked.latency, min(ALONE, alone))
        print(
            f"{workers:5} workers: {found.seconds:8.2f} s, efficiency {found.efficiency:4.0%}, "
            f"bound by {found.end}"
        )


if __name__ == "__main__":
    main()
