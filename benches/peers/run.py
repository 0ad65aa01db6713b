"""Runs one solver on one case in one child process, within limits, and says what came of it."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy

from peers.memory import held_bytes, peak_bytes_of
from peers.tasks import objective

# How long a solver may take beyond its limit to stop by itself, import, load, and predict.
GRACE_SECONDS = 20.0
POLL_SECONDS = 0.02


def run(solver, python, case, table, limits):
    """One record: the fields of `case`, what was measured, and `outcome`.

    Outcomes are optimal, time, memory, error, and unproved (stopped before its limit without a
    proof).
    """
    with tempfile.TemporaryDirectory() as folder:
        job = make_job(solver, case, table, limits, Path(folder))
        with open(Path(folder, "log"), "w+") as log:
            stopped, peak = watch(start(python, job, log), limits)
            log.seek(0)
            text = log.read()
        answer = read_answer(job)
        record = describe(solver, case, table, limits, answer, stopped, peak)
        if record["outcome"] == "error":
            record["message"] = text.strip()[-2000:]
        score(record, job, table, case, answer.get("tree"))
        return record


def make_job(solver, case, table, limits, folder):
    job = {
        "adapter": solver.adapter,
        "options": solver.options,
        "table": str(table.path),
        "task": case.task,
        "max_depth": case.max_depth,
        "leaf_penalty": case.leaf_penalty,
        "limit": limits.seconds,
        "memory": limits.memory,
        "answer": str(folder / "answer.json"),
        "predictions": str(folder / "predictions.npy"),
        "job": str(folder / "job.json"),
    }
    Path(job["job"]).write_text(json.dumps(job))
    return job


def start(python, job, log):
    # One thread for the numerical libraries: only the solver's own threads are under test.
    one = {
        name: "1"
        for name in (
            "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"
        )
    }
    return subprocess.Popen(
        [python, "-m", "peers.child", job["job"]],
        cwd=Path(__file__).resolve().parent.parent,
        env={**os.environ, **one},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
    )


def watch(process, limits):
    """Waits for the child; kills it over a limit. Returns what it was stopped for, and the peak
    seen until then."""
    deadline = time.monotonic() + limits.seconds + GRACE_SECONDS
    peak = None
    while True:
        try:
            process.wait(POLL_SECONDS)
            return ("" if process.returncode == 0 else "error"), peak
        except subprocess.TimeoutExpired:
            peak = peak_bytes_of(process.pid) or peak
        reason = ""
        if time.monotonic() > deadline:
            reason = "time"
        elif limits.memory and (held_bytes(process.pid) or 0) > limits.memory:
            reason = "memory"
        if reason:
            process.kill()
            process.wait()
            return reason, peak


def read_answer(job):
    try:
        return json.loads(Path(job["answer"]).read_text())
    except (OSError, ValueError):
        return {}


def describe(solver, case, table, limits, answer, stopped, peak):
    seconds = answer.get("seconds")
    if stopped:
        outcome = stopped
    elif answer.get("optimal") and seconds <= limits.seconds:
        outcome = "optimal"
    else:
        outcome = "time" if seconds >= 0.95 * limits.seconds else "unproved"
    return {
        "setting": case.setting,
        "task": case.task,
        "set": case.set,
        "max_depth": case.max_depth,
        "leaf_penalty": case.leaf_penalty,
        "solver": solver.name,
        "rows": table.rows,
        "features": table.features,
        "limit": limits.seconds,
        "outcome": outcome,
        # Whatever is not solved counts as the whole limit.
        "seconds": seconds if outcome == "optimal" else limits.seconds,
        "cpu_seconds": answer.get("cpu_seconds"),
        "peak_bytes": answer.get("peak_bytes", peak),
        "loaded_bytes": answer.get("loaded_bytes"),
        "leaves": answer.get("leaves"),
        "detail": answer.get("detail", {}),
    }


def score(record, job, table, case, tree):
    record["errors"] = record["objective"] = None
    if record["leaves"] is not None and os.path.exists(job["predictions"]):
        predictions = numpy.load(job["predictions"])
        record["errors"], record["objective"] = objective(
            case.task, table.arrays, predictions, record["leaves"], case.leaf_penalty, tree
        )
