"""Several targets at once: one tree that answers each of them, with the lowest mean error rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from certree import _core, combinations, ingest
from certree.estimators import _feature_costs
from certree.estimators._posed import Posed
from certree.estimators._rows import open_rows
from certree.estimators.parameters import is_guesser
from certree.tree import Tree


@dataclass(frozen=True)
class Targets:
    names: list[str]
    #: By target: its labels in order, and the number of each row's.
    labels: list[NDArray[Any]]
    codes: list[NDArray[np.uint32]]
    #: Columns of X, if they were named there.
    named: tuple[str, ...]

    def with_classes(self, given: Any) -> Targets:
        """These targets, with the classes that are named for each in place of those they have."""
        if given is None:
            return self
        if len(given) != len(self.labels) or not all(
            hasattr(each, "__len__") and not isinstance(each, str) for each in given
        ):
            raise ValueError(
                f"y has {len(self.labels)} targets, so classes= must be a list of "
                f"{len(self.labels)} vectors: the "
                "labels of each"
            )
        labels = [ingest.read_classes(each) for each in given]
        places = [ingest.places_of(own, all_) for own, all_ in zip(self.labels, labels)]
        return replace(
            self, labels=labels, codes=[place[codes] for place, codes in zip(places, self.codes)]
        )


def read(X: Any, y: Any) -> Targets | None:
    """The targets, if there are several."""
    columns, named = ingest.target_columns(X, y)
    if len(columns) < 2:
        return None
    array = y if isinstance(y, np.ndarray) else None
    found = [
        ingest.classes_of(series, str(name), None if array is None else array[:, k])
        for k, (name, series) in enumerate(columns.items())
    ]
    return Targets(
        list(map(str, columns)),
        [labels for labels, _ in found],
        [codes for _, codes in found],
        named,
    )


def pose(model: Any, data: Any, targets: Targets, known: Any) -> Posed:
    """The problem of several targets."""
    X, _, sample_weight = data
    training = open_rows(X, len(targets.codes[0]), "y", sample_weight, targets.named)
    kept = slice(None) if training.kept is None else training.kept
    thresholds = model.thresholds if known is None else known
    located = ingest.locate(training, thresholds, model._categories())
    sizes = [len(labels) for labels in targets.labels]
    counts = _counted(training, located, [codes[kept] for codes in targets.codes], sizes)
    columns = {"n_classes": np.array(sizes, dtype=np.float64), "weights": counts}
    n_points = located.points.n_points
    # Each target sees all of the weight.
    paying = np.ascontiguousarray(counts.reshape(n_points, -1)[:, : sizes[0]].sum(axis=1))
    goal = _core.Additive("targets", columns, n_points, float(model.leaf_penalty), None, paying)
    column_costs, core_costs = model._column_costs(located, training.kept)
    names = np.array(targets.names)

    def show(tree: Tree) -> Tree:
        return tree._with(labels=names, task="targets", classes=targets.labels)

    attributes = {
        "classes_": targets.labels,
        "n_classes_": sizes,
        "n_outputs_": len(sizes),
        "_feature_costs": column_costs,
    }
    return Posed(
        model._problem(located.cuts, located.points, goal, feature_costs=core_costs),
        training,
        located.cuts,
        located.points,
        names,
        _feature_costs.in_words(f"mean error rate of {len(sizes)} targets", column_costs),
        thresholds,
        show=show,
        attributes=attributes,
    )


def _counted(
    training: ingest.InMemory,
    located: ingest.Located,
    codes: Sequence[NDArray[np.uint32]],
    sizes: Sequence[int],
) -> NDArray[np.float64]:
    """Row weight by point, then target and class: sums of whole units, so that decimals stay what
    they are."""
    n_points = located.points.n_points
    point_of = located.point_of.astype(np.int64)

    def summed(amounts: NDArray[np.int64]) -> NDArray[np.int64]:
        by_target = []
        for own, size in zip(codes, sizes):
            sums = np.zeros(n_points * size, dtype=np.int64)
            np.add.at(sums, point_of * size + own, amounts)
            by_target.append(sums.reshape(n_points, size))
        return np.hstack(by_target).ravel()

    if training.weights is None or training.unit is None:
        return summed(np.ones(len(point_of), dtype=np.int64)).astype(np.float64)
    # What whole units leave of each weight is in finer and finer ones.
    parts = [training.weights, *training.finer]
    return training.unit.restore(*(summed(part) for part in parts))


def check(model: Any) -> None:
    """An error for parameters that do not go with several targets."""
    if model.objective != "accuracy":
        raise ValueError(
            f"objective={model.objective!r} is for one target, but y has several columns: take "
            "'accuracy', the mean over them, or fit one tree for each"
        )
    combinations.check(model, "Additive", "several targets")
    if model.class_weight is not None:
        raise ValueError(
            "class_weight cannot be combined with several targets, which have classes of their "
            "own: leave one of them out, or take sample_weight"
        )
    given = model.thresholds
    if (isinstance(given, str) and given == "guess") or (
        is_guesser(given) and not hasattr(given, "thresholds_")
    ):
        raise ValueError(
            "thresholds='guess' cannot be combined with several targets: give all cuts, quantiles, "
            "or a fitted guesser"
        )


def subset_accuracy(
    model: Any, X: Any, y: Any, weights: NDArray[np.float64] | None
) -> float:
    """The share of row weight whose targets are all answered right."""
    predicted = model.predict(X)
    columns, _ = ingest.target_columns(X, y)
    if len(columns) != predicted.shape[1]:
        raise ValueError(
            f"y has {len(columns)} columns, but the tree was fitted to {predicted.shape[1]} targets"
        )
    right = np.ones(len(predicted), dtype=bool)
    for series, answers in zip(columns.values(), predicted.T):
        if isinstance(series.dtype, (pl.Categorical, pl.Enum)):
            series = series.cast(pl.String)
        right &= series.to_numpy() == answers
    return float(np.average(right, weights=weights))
