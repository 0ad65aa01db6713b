"""Rows in partitions, merged without any engine: a fit to them is the fit in memory."""

import os
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from certree import OptimalCostTree, OptimalTreeClassifier, _core
from certree.ingest.categories import Categories
from certree.partitions import survey
from certree.partitions.merged import merge
from certree.partitions.reading import Lot, Question, count_leaves, read

CASES = int(os.environ.get("CERTREE_CASES", 40))


class Here:
    """Partitions in this process, whose results are merged in some order and tree."""

    def __init__(self, lots, question, rng):
        self.lots, self.question, self.rng = lots, question, rng

    def map(self, function, *given):
        return [function(read(lot, self.question), *given) for lot in self.lots]

    def merged(self, merge, lots, *given):
        lots = list(lots)
        while len(lots) > 1:
            taken = int(self.rng.integers(2, min(4, len(lots)) + 1))
            lots = [*lots[taken:], merge(lots[:taken], *given)]
        return lots[0]

    def count_leaves(self, tree):
        return sum(count_leaves(tree, lot) for lot in self.lots).tolist()


class OfPartitions(OptimalTreeClassifier):
    def fit(self, X, y, sample_weight=None):
        found = merge(X, Question("labels", self.orders), self.thresholds, self._categories())
        return super().fit(found, y, sample_weight)

    def _pose_in_order(self, data, known=None):
        return self._pose_free(data, known)


def frame(rng, n):
    columns = {
        "whole": rng.integers(-3, 6, n).astype(rng.choice(["int8", "int64", "float64"])),
        "float": rng.normal(size=n).round(int(rng.integers(1, 6))).astype(rng.choice(["f4", "f8"])),
        "yes": rng.random(n) < 0.4,
        "kind": rng.choice(list("vwxyz"), n, p=[0.5, 0.2, 0.2, 0.05, 0.05]),
        "day": [date(2024, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 60, n)],
        "w": rng.integers(0, 4, n) * rng.choice([1.0, 0.1, 1 / 3]),
    }
    found = pl.DataFrame(columns)
    for name in ("whole", "float", "yes", "kind", "day"):
        if rng.random() < 0.3:
            gone = pl.Series(rng.random(n) < 0.1)
            found = found.with_columns(pl.when(~gone).then(pl.col(name)).alias(name))
    hit = (columns["whole"] > 1) ^ columns["yes"] ^ (rng.random(n) < 0.1)
    return found.with_columns(y=pl.Series(np.where(hit, "b", "a")))


def partitions(rng, whole):
    n = whole.height
    ends = np.sort(np.concatenate([[0, n], rng.integers(0, n + 1, int(rng.integers(0, 6)))]))
    return [whole[a:b] for a, b in zip(ends[:-1].tolist(), ends[1:].tolist())]


def same(one, two):
    assert one.objective_ == two.objective_ and one.lower_bound_ == two.lower_bound_
    assert one.status_ == two.status_ and one.tree_ == two.tree_
    assert one._fitted.digest == two._fitted.digest
    a, b = one.certificate_, two.certificate_
    for name in ("cuts", "n_rows", "n_points", "missing", "sets", "loss", "notes", "searched"):
        assert getattr(a, name) == getattr(b, name), name


@pytest.mark.parametrize("seed", range(CASES))
def test_a_fit_to_partitions_is_the_fit_in_memory(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    # Thinned columns are as exact as others.
    monkeypatch.setattr(survey, "FEWEST", int(rng.integers(2, 12)))
    monkeypatch.setattr(survey, "FOR_EACH", 1)
    whole = frame(rng, int(rng.integers(1, 300)))
    weight = "w" if rng.random() < 0.5 and whole["w"].sum() > 0 else None
    thresholds = [
        "all",
        int(rng.integers(1, 9)),
        {"float": int(rng.integers(1, 30)), "kind": ["x", "y"], "yes": []},
        "midpoints",
    ][int(rng.integers(4))]
    limits = {
        "max_depth": int(rng.integers(0, 3)),
        "thresholds": thresholds,
        "min_samples_leaf": int(rng.integers(1, 6)),
        "max_categories": None if rng.random() < 0.5 else 3,
        "missing": str(rng.choice(["route", "own_branch"])),
        "objective": str(rng.choice(["accuracy", "balanced_accuracy", "f1", "auc", "gini"])),
        "class_weight": [None, "balanced", {"a": 2.5}][int(rng.integers(3))],
    }
    if weight is None:
        whole = whole.drop("w")
    lots = [
        Lot(f"partition {at}", part, "y", weight) for at, part in enumerate(partitions(rng, whole))
    ]
    found = Here(lots, Question(), rng)
    try:
        wanted = OptimalTreeClassifier(**limits).fit(whole, "y", weight)
    except ValueError:
        with pytest.raises(ValueError):
            OfPartitions(**limits).fit(found, "y", weight)
        return
    model = OfPartitions(**limits).fit(found, "y", weight)
    same(model, wanted)
    assert model.certificate_.n_partitions == len(lots)
    assert f"in {len(lots)} partition" in model.certificate_.statement()


class CostsOfPartitions(OptimalCostTree):
    def fit(self, X, y, sample_weight=None):
        found = merge(X, Question("costs", self.orders), self.thresholds, self._categories())
        return super().fit(found, y, sample_weight)

    def _pose_in_order(self, data, known=None):
        return self._pose_sums(data[0], known)


def numbers(rng, n):
    """Numbers by row that no float adds up exactly: of many sizes, some of which cancel others."""
    found = rng.normal(size=(n, 3))
    kind = int(rng.integers(4))
    if kind == 1:
        found *= 10.0 ** rng.integers(-9, 9, (n, 3))
    if kind == 2:
        found = rng.choice([1e15, -1e15, 0.1, 0.7, 3.0], (n, 3))
    if kind == 3:
        found = rng.integers(0, 9, (n, 3)) * rng.choice([1.0, 0.1])
    return found


@pytest.mark.parametrize("seed", range(CASES))
def test_costs_of_partitions_are_those_in_memory(seed):
    rng = np.random.default_rng(5000 + seed)
    n = int(rng.integers(1, 300))
    whole = frame(rng, n).drop("y")
    whole = whole.with_columns(pl.DataFrame(numbers(rng, n), schema=list("pqr")))
    weight = "w" if rng.random() < 0.5 and whole["w"].sum() > 0 else None
    if weight is None:
        whole = whole.drop("w")
    elif rng.random() < 0.5:
        whole = whole.with_columns(w=pl.col("w") * pl.Series(rng.random(n)))
    limits = {
        "max_depth": int(rng.integers(0, 3)),
        "min_samples_leaf": int(rng.integers(1, 6)),
        "missing": str(rng.choice(["route", "own_branch"])),
        "feature_costs": {"whole": 0.05, "kind": 0.01} if rng.random() < 0.3 else None,
    }
    lots = [
        Lot(f"partition {at}", part, list("pqr"), weight)
        for at, part in enumerate(partitions(rng, whole))
    ]
    if weight is not None and not (whole["w"] > 0).any():
        return
    found = CostsOfPartitions(**limits).fit(Here(lots, Question("costs"), rng), None)
    wanted = OptimalCostTree(**limits).fit(whole, list("pqr"), weight)
    same(found, wanted)
    assert found.labels_.tolist() == list("pqr")
    # Rows that weigh nothing may have values that were not there.
    counted = whole if weight is None else whole.filter(pl.col("w") > 0)
    features = counted.drop("p", "q", "r", *([] if weight is None else ["w"]))
    assert np.array_equal(found.predict_costs(features), wanted.predict_costs(features))


def test_points_go_through_bytes():
    points = _core.Points([np.array([0, 1], dtype=np.uint32)], np.array([3, 4], dtype=np.uint64))
    again = _core.Points.from_bytes(points.to_bytes())
    assert [codes.tolist() for codes in again.codes] == [[0, 1]] and again.rows.tolist() == [3, 4]
    with pytest.raises(ValueError, match="damaged|bytes"):
        _core.Points.from_bytes(points.to_bytes()[:-1])


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda part: part.drop("yes"), "partition 1 lacks 'yes'"),
        (lambda part: part.with_columns(more=1), "partition 1 has 'more' besides"),
        (lambda part: part.with_columns(pl.col("whole").cast(pl.String)), "'whole' must have one"),
        (lambda part: part.with_columns(pl.lit(None, pl.String).alias("y")), "partition 1: target"),
        (lambda part: part.with_columns(y=1), "targets must have one type"),
    ],
)
def test_partitions_that_differ_are_refused(change, words):
    rng = np.random.default_rng(0)
    whole = frame(rng, 50).drop("w").with_columns(pl.col("whole").cast(pl.Int64))
    parts = [whole[:20], change(whole[20:])]
    lots = [Lot(f"partition {at}", part, "y") for at, part in enumerate(parts)]
    with pytest.raises(ValueError, match=words):
        OfPartitions(max_depth=1).fit(Here(lots, Question(), rng), "y")


def test_partitions_without_any_row_are_refused():
    whole = frame(np.random.default_rng(0), 5)
    lots = [Lot("partition 0", whole[:0], "y"), Lot("partition 1", whole[:0], "y")]
    with pytest.raises(ValueError, match="0 sample.s. in 2 partitions"):
        OfPartitions().fit(Here(lots, Question(), np.random.default_rng(0)), "y")
