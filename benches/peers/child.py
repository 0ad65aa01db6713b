"""One fit in one process, inside the environment of one solver: `python -m peers.child job.json`.

Only the standard library, numpy and the solver may be imported here, and nothing newer than Python
3.8.
"""

import importlib
import json
import sys
import time

import numpy

from peers.memory import peak_bytes


def main():
    with open(sys.argv[1]) as file:
        job = json.load(file)
    adapter = importlib.import_module("peers.adapters." + job["adapter"])
    with numpy.load(job["table"]) as arrays:
        table = {name: arrays[name] for name in arrays}
    warm_up(adapter, job, "reference" in table)
    table["names"] = [str(name) for name in table["names"]]

    prepared = adapter.prepare(table, job)
    loaded = peak_bytes()
    announce(job, {"loaded_bytes": loaded})
    started, started_cpu = time.perf_counter(), time.process_time()
    model = fit(adapter, prepared)
    seconds, cpu = time.perf_counter() - started, time.process_time() - started_cpu
    peak = peak_bytes()

    answer = adapter.answer(model, prepared) if model is not None else {}
    predictions = answer.pop("predictions", None)
    if predictions is not None:
        # Labels come as floats from some; targets are floats.
        kind = table["y"].dtype
        numpy.save(job["predictions"], numpy.asarray(predictions).astype(kind).ravel())
    answer.update(seconds=seconds, cpu_seconds=cpu, peak_bytes=peak, loaded_bytes=loaded)
    announce(job, answer)


def fit(adapter, prepared):
    try:
        return adapter.fit(prepared)
    except TimeoutError:
        # How some solvers say that they ran out of time.
        return None


def warm_up(adapter, job, guesses):
    """A fit on four rows, so that nothing that is loaded at first use is timed or counted as the
    search's memory."""
    X = numpy.array([[False, False], [False, True], [True, False], [True, True]] * 2)
    y = (X[:, 0] ^ X[:, 1]).astype("int64")
    predicted = numpy.column_stack([y, 1 - y]).astype("float64")
    table = {
        "X": X,
        "y": y,
        "names": ["a", "b"],
        "outcome": y * 1.0,
        "propensity": y * 0.2 + 0.4,
        "predicted": predicted,
    }
    table["sensitive"] = numpy.arange(8) // 4
    table.update({"time": numpy.arange(8) + 1.0, "event": y * 1.0})
    table.update({job["task"]: 1.0 - numpy.eye(2), "test_of": numpy.arange(2)})
    table.update({"prices": numpy.full((2, 2), 0.1), "group": numpy.full(2, -1)})
    if guesses:
        table["reference"] = y
    adapter.fit(adapter.prepare(table, dict(job, leaf_penalty=job["leaf_penalty"] and 0.2)))


def announce(job, answer):
    with open(job["answer"], "w") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main()
