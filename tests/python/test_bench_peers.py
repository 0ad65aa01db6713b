"""The parts of the peers bench that decide what a figure means: limits, who is right, and the
means."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from certree import OptimalPolicyTree

sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))

from peers import report  # noqa: E402
from peers.adapters import certree as certree_adapter  # noqa: E402
from peers import run as runner  # noqa: E402
from peers.tables import REGRESSION_CUTS, load_tables  # noqa: E402
from peers.tasks import objective  # noqa: E402

#: What it measures depends on what else the machine does.
pytestmark = pytest.mark.alone


class Limits:
    def __init__(self, seconds, memory):
        self.seconds, self.memory = seconds, memory


def record(solver, objective, outcome="optimal", seconds=1.0, peer="pystreed", name="vote"):
    return {
        "setting": "accuracy-depth4",
        "peer": peer,
        "set": name,
        "max_depth": 4,
        "leaf_penalty": 0.0,
        "solver": solver,
        "rows": 10,
        "features": 3,
        "limit": 300.0,
        "outcome": outcome,
        "seconds": seconds,
        "cpu_seconds": seconds,
        "objective": objective,
        "peak_bytes": 30_000_000,
        "loaded_bytes": 10_000_000,
        "detail": {},
    }


def python(code):
    return subprocess.Popen([sys.executable, "-c", code])


def test_objective_counts_errors_and_leaves():
    arrays = {"y": [0, 1, 1, 2]}
    assert objective("accuracy", arrays, [0, 1, 0, 0], 3, 0.01) == (2, pytest.approx(0.53))


def test_policies_are_scored_as_the_estimator_does():
    rng = np.random.default_rng(0)
    arrays = {
        "y": rng.integers(0, 2, 40),
        "outcome": rng.normal(size=40),
        "propensity": rng.uniform(0.2, 1, 40),
        "predicted": rng.normal(size=(40, 2)),
    }
    X = rng.random((40, 3)) < 0.5
    for teacher in ("dm", "ipw", "dr"):
        model = OptimalPolicyTree(teacher, max_depth=2).fit(X, *arrays.values())
        _, found = objective(teacher, arrays, model.predict(X), model.get_n_leaves(), 0.01)
        assert found == pytest.approx(model.objective_, rel=1e-12)


def answered_by_certree(task, table):
    """What certree was given, the model that it fitted, and its answer."""
    job = {
        "task": task,
        "leaf_penalty": 0.01,
        "max_depth": 3,
        "limit": 60,
        "memory": 1e9,
        "options": {},
    }
    prepared = certree_adapter.prepare(table, job)
    model = certree_adapter.fit(prepared)
    return prepared, model, certree_adapter.answer(model, prepared)


def test_test_costs_are_read_off_the_tree():
    rng = np.random.default_rng(0)
    X = rng.random((60, 4)) < 0.5
    y = (X[:, 0] ^ X[:, 2]).astype(int)
    arrays = {
        "X": X,
        "y": y,
        "cost-low": np.array([[0.0, 2.0], [1.0, 0.0]]),
        "test_of": np.array([0, 0, 1, 2]),
        "prices": np.array([[0.1, 0.1], [0.2, 0.05], [0.2, 0.1]]),
        "group": np.array([-1, 0, 0]),
    }
    table = {**arrays, "names": ["a", "b", "c", "d"]}
    prepared, model, answer = answered_by_certree("cost-low", table)
    _, found = objective(
        "cost-low", arrays, answer["predictions"], answer["leaves"], 0.01, answer["tree"]
    )
    assert found == pytest.approx(model.objective_, rel=1e-12)
    assert model.feature_costs_paid(prepared[1]).any()


def test_numbers_are_left_alone_for_labels_and_cut_for_targets(tmp_path):
    rng = np.random.default_rng(0)
    split = ["train", "test", "train"] * 30
    frame = pl.DataFrame({"x": rng.normal(size=90), "k": rng.integers(0, 3, 90), "split": split})
    targets = rng.normal(size=(90, 2))
    frame.with_columns(target=targets[:, 0] > 0).write_parquet(tmp_path / "labels.parquet")
    means = frame.with_columns(target_u=targets[:, 0], target_v=targets[:, 1], odd=frame["k"] == 1)
    means.write_parquet(tmp_path / "means.parquet")
    labels, means = load_tables(tmp_path, None, tmp_path)
    assert labels.arrays["X"].shape == (60, 2) and labels.arrays["X"].dtype == float
    assert means.features <= 2 * REGRESSION_CUTS + 1 and means.arrays["X"].dtype == bool
    assert np.array_equal(means.arrays["y"], np.delete(targets[:, 0], slice(1, None, 3)))


def test_means_are_scored_as_the_estimator_does():
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 4)) < 0.5, rng.normal(size=60)
    table = {"X": X, "y": y, "names": ["a", "b", "c", "d"]}
    _, model, answer = answered_by_certree("squared_error", table)
    _, found = objective("squared_error", table, answer["predictions"], answer["leaves"], 0.01)
    assert found == pytest.approx(model.objective_, rel=1e-12)


def test_a_slow_child_is_killed(monkeypatch):
    monkeypatch.setattr(runner, "GRACE_SECONDS", 0.2)
    assert runner.watch(python("import time; time.sleep(60)"), Limits(0.1, None))[0] == "time"


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of others is read from /proc")
def test_a_large_child_is_killed():
    hog = "x = b'x' * 300_000_000; import time; time.sleep(60)"
    reason, peak = runner.watch(python(hog), Limits(60, 100e6))
    assert reason == "memory" and peak > 100e6


def test_a_failing_child_is_an_error():
    assert runner.watch(python("raise SystemExit(3)"), Limits(60, None))[0] == "error"


def test_two_proofs_that_differ_disagree():
    complaints = list(report.disagreements([record("pystreed", 0.2), record("certree", 0.1)]))
    assert len(complaints) == 1 and "pystreed claims" in complaints[0]


def test_a_tree_without_a_proof_can_refute_one():
    complaints = list(
        report.disagreements([record("pystreed", 0.1, "time"), record("certree", 0.2)])
    )
    assert len(complaints) == 1 and "certree claims" in complaints[0]


def test_a_worse_tree_without_a_proof_is_no_disagreement():
    assert not list(report.disagreements([record("pystreed", 0.2, "time"), record("certree", 0.1)]))


def test_means_leave_out_what_is_too_quick_to_measure():
    records = [
        record("pystreed", 0.1, seconds=8.0),
        record("certree", 0.1, seconds=1.0),
        record("pystreed", 0.1, seconds=2.0, name="lymph"),
        record("certree", 0.1, seconds=1.0, name="lymph"),
        record("pystreed", 0.1, seconds=0.01, name="anneal"),
        record("certree", 0.1, seconds=1.0, name="anneal"),
    ]
    text = report.report(records, threshold=0.05)
    assert "over the 2 cases" in text and "geometric mean 4.00, worst 2.00 (lymph d4)" in text


def test_a_case_solved_by_the_peer_only_is_said_loudly():
    text = report.report(
        [record("pystreed", 0.1), record("certree", 0.2, "time", 300.0)], threshold=0.05
    )
    assert "!!! solved by the peer only: vote d4" in text


def test_the_last_measurement_of_a_problem_wins():
    pairs = list(
        report.pairs([record("pystreed", 0.1, "time", 60.0), record("pystreed", 0.1, seconds=70.0)])
    )
    assert len(pairs) == 1 and pairs[0][0]["seconds"] == 70.0


def test_a_fit_that_waited_for_a_processor_is_named():
    waited = {**record("pystreed", 0.1, seconds=8.0), "cpu_seconds": 4.0}
    other = record("certree", 0.1, seconds=1.0)
    assert "vote d4 pystreed (50% on a processor)" in report.report([waited, other], threshold=0.05)
    assert "geometric mean 4.00" in report.report([waited, other], threshold=0.05, clock="cpu")


def test_a_crash_is_said_loudly_and_moves_no_mean():
    records = [
        record("pystreed", 0.1, seconds=8.0),
        record("certree", 0.1, seconds=2.0),
        record("pystreed", None, "error", seconds=300.0, name="lymph"),
        record("certree", 0.1, seconds=1.0, name="lymph"),
    ]
    text = report.report(records, threshold=0.05)
    assert "geometric mean 4.00" in text
    assert "!!! failed, and not in the means: lymph d4 pystreed" in text
