"""What a search did, and which bounds decided it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from certree import OptimalTreeClassifier, OptimalTreeRegressor, _core
from certree.work import Work

RNG = np.random.default_rng(5)
BITS = (RNG.random((120, 10)) < 0.5).astype(int)
NOISE = (RNG.random(120) < 0.5).astype(int)


def fitted(**parameters):
    return OptimalTreeClassifier(leaf_penalty=0.01, **parameters).fit(BITS, NOISE)


def test_every_bound_is_counted_by_name():
    work = fitted(max_depth=5).certificate_.work
    assert list(work.bounds) == list(_core.BOUNDS)
    assert all(isinstance(times, int) and times >= 0 for times in work.bounds.values())
    assert work.bounds["look_ahead"] > 0
    assert work.nodes > 0 and work.kernel_calls > 0 and work.peak_bytes > 0 and work.seconds > 0


def test_bounds_of_other_goals_do_not_decide():
    bounds = fitted(max_depth=4).certificate_.work.bounds
    assert not any(bounds[name] for name in ("k_means", "fence", "multipliers", "area", "floors"))


def test_metrics_and_targets_have_bounds_of_their_own():
    metric = OptimalTreeClassifier(objective="f1", max_depth=3, leaf_penalty=0.01).fit(BITS, NOISE)
    assert metric.certificate_.work.bounds["ratio_line"] > 0
    cuts = RNG.random((150, 3))
    target = cuts[:, 0] + RNG.normal(size=150)
    regression = OptimalTreeRegressor(max_depth=3, leaf_penalty=0.01).fit(cuts, target)
    assert regression.certificate_.work.bounds["neighbouring_cuts"] > 0


def test_a_search_that_goes_on_adds_its_counts():
    with pytest.warns(ConvergenceWarning):
        model = fitted(max_depth=5, time_limit=1e-6)
    before = model.certificate_.work.bounds
    after = model.set_params(time_limit=None).certify().certificate_.work.bounds
    assert all(after[name] >= before[name] for name in before)
    assert sum(after.values()) > sum(before.values())


def test_the_certificate_has_them_as_plain_values():
    certificate = fitted(max_depth=3).certificate_
    assert json.loads(json.dumps(certificate.to_dict()))["bounds"] == certificate.work.bounds


def test_verbose_two_writes_a_table(capfd):
    model = fitted(max_depth=4, verbose=2)
    lines = capfd.readouterr().err.splitlines()
    decided = {name: times for name, times in model.certificate_.work.bounds.items() if times}
    head = next(at for at, line in enumerate(lines) if line.split()[:2] == ["decided", "bound"])
    assert "nodes" in lines[head - 1]
    rows = [line.split(maxsplit=2) for line in lines[head + 1 :]]
    assert {name: int(times.replace(",", "")) for times, name, _ in rows} == decided
    assert all(words == _core.BOUNDS[name] for _, name, words in rows)
    counts = [int(times.replace(",", "")) for times, _, _ in rows]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize("verbose", [True, 1])
def test_verbose_alone_writes_none(capfd, verbose):
    fitted(max_depth=3, verbose=verbose)
    assert "decided" not in capfd.readouterr().err


def test_a_table_without_decisions_says_so():
    work = Work(0.1, 1, 2, 3, dict.fromkeys(_core.BOUNDS, 0))
    assert work.table() == "1 nodes, 2 kernel calls, 3 bytes; no bound decided"
