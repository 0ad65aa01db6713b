"""Tables of many columns, and columns of many values: reading them takes a time that grows no
faster than they do."""

import time

import numpy as np
import polars as pl
import pytest

from certree import OptimalTreeClassifier, ingest
from certree.ingest import cuts

#: What it measures depends on what else the machine does.
pytestmark = pytest.mark.alone

WIDE = 100_000


def counted(X, y):
    began = time.monotonic()
    training = ingest.read_training(X, y)
    found, points = ingest.cut_and_group(training, "all")
    return found, points, time.monotonic() - began


def test_a_hundred_thousand_columns():
    """Within seconds; a look through all columns for each one takes minutes."""
    rng = np.random.default_rng(0)
    X = rng.integers(-100, 100, (50, WIDE)).astype(np.int8)
    found, points, seconds = counted(X, rng.integers(0, 2, 50))
    assert len(found) == WIDE and points.n_rows == 50 and seconds < 60
    wishes = {f"x{k}": [0] for k in range(WIDE)}
    began = time.monotonic()
    assert len(cuts.read_wishes([each.column for each in found], wishes)) == WIDE
    assert time.monotonic() - began < 10


def test_a_fit_over_a_hundred_thousand_columns():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (50, WIDE)).astype(np.int8)
    y = X[:, 77_777]
    began = time.monotonic()
    model = OptimalTreeClassifier(max_depth=1).fit(X, y)
    assert model.score(X, y) == 1 and model.tree_.nodes[0].column == "x77777"
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("weighted", [False, True])
def test_lazy_frames_are_read_in_few_parts(weighted, monkeypatch):
    """The work is counted: how often the frame of all columns is asked."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.integers(0, 9, (40, 300)), schema=[f"c{k}" for k in range(300)])
    frame = frame.with_columns(y=pl.Series(rng.integers(0, 2, 40)), w=pl.Series(rng.random(40)))
    widths = []
    collect = cuts.engine.collect

    def counting(lazy):
        found = collect(lazy)
        widths.append(found.width)
        return found

    monkeypatch.setattr(cuts.engine, "collect", counting)
    training = ingest.read_training(frame.lazy(), "y", "w" if weighted else None)
    widths.clear()
    weight = training.weight_columns[0] if training.weight_columns else ""
    whole = cuts.make_cuts(training.frame, training.columns, "all", weight)
    # Two for each column: its name and the weight of each value.
    assert sum(width > 2 for width in widths) == 1 and len(widths) <= 303
    monkeypatch.setattr(cuts, "BATCH", 1)
    single = cuts.make_cuts(training.frame, training.columns, "all", weight)
    assert [each.thresholds for each in whole] == [each.thresholds for each in single]


def test_two_hundred_thousand_strings():
    n = 200_000
    X = pl.DataFrame({"name": [f"v{k:06}" for k in range(n)], "a": np.arange(n) % 7})
    found, points, seconds = counted(X, np.arange(n) % 2)
    assert found[0].count == n and points.n_points == n and seconds < 30
    column = found[0].column
    began = time.monotonic()
    assert len(cuts.requested_values(column, list(column.values[: n // 2]))) == n // 2
    assert time.monotonic() - began < 10
