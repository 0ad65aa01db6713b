"""A decision tree of scikit-learn's as the parts of a `Tree`.

scikit-learn rounds each value to the nearest 32-bit float, ties to the even one, and sends it left
if that is at most the threshold. The values that go left are therefore all those up to a middle
between two 32-bit floats, which is a 64-bit float: the threshold of a tree that rounds nothing.

Each node says where missing values go, whether there were any in training or not. If there were
none, they go the way of the larger child, which trees do by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree.conditions import float32_at_most
from certree.ingest.sources import check_unique, numbered
from certree.schema import Column, MissingUnseen, Side, Task, Unseen

TASKS: dict[str, Task] = {"absolute_error": "quantiles", "poisson": "rates"}
"""What numbers are by criterion, where they are not means."""


class Read(NamedTuple):
    """What `Tree` is made of."""

    parts: list[tuple[Any, int, int, list[float], float]]
    columns: list[Column]
    labels: NDArray[Any]
    task: Task
    classes: list[NDArray[Any]]
    missing_unseen: MissingUnseen
    unseen: Unseen = "warn"


class Held(NamedTuple):
    """What nodes hold, by their ids in scikit-learn."""

    task: Task
    #: The numbers, or the row weights by class of each target in turn.
    values: NDArray[np.float64]
    losses: NDArray[np.float64]
    #: The class that a node answers.
    answers: NDArray[np.int64]
    labels: NDArray[Any]
    classes: list[NDArray[Any]]


def from_sklearn(model: Any, columns: Sequence[str] | None = None) -> Read:
    tree: Any = getattr(model, "tree_", None)
    if not hasattr(tree, "children_left"):
        raise ValueError(
            f"{type(model).__name__} is no fitted decision tree of scikit-learn's; of an ensemble "
            "give one of its estimators_"
        )
    routed = _routed(tree)
    names = _names(model, columns)
    known = [Column(name, "number", "Float32", (), at in routed) for at, name in enumerate(names)]
    held = _classes(model, tree) if hasattr(model, "classes_") else _numbers(model, tree)
    order = _preorder(tree)
    places = {node: at for at, node in enumerate(order)}
    parts = [
        (
            _split(tree, node, places, known),
            int(held.answers[node]),
            int(tree.n_node_samples[node]),
            held.values[node].tolist(),
            float(held.losses[node]),
        )
        for node in order
    ]
    return Read(parts, known, held.labels, held.task, held.classes, _unseen(model))


def _numbers(model: Any, tree: Any) -> Held:
    values = tree.value[:, :, 0]
    several = values.shape[1] > 1
    names = [f"y{k}" for k in range(values.shape[1])] if several else ["y"]
    losses = tree.weighted_n_node_samples * tree.impurity
    # Of the root's, as a tree that explains nothing has 1.
    losses = losses / losses[0] if losses[0] > 0 else np.zeros(len(losses))
    none = np.zeros(len(values), dtype=np.int64)
    task = TASKS.get(model.criterion, "regression")
    return Held(task, values, losses, none, np.array(names), [])


def _classes(model: Any, tree: Any) -> Held:
    several = model.n_outputs_ > 1
    own = list(model.classes_) if several else [model.classes_]
    weights = tree.weighted_n_node_samples
    # scikit-learn keeps shares.
    by_target = [tree.value[:, k, : len(c)] * weights[:, None] for k, c in enumerate(own)]
    values = np.hstack(by_target)
    missed = [weights - found.max(axis=1) for found in by_target]
    losses = np.maximum(np.mean(missed, axis=0), 0.0) / weights[0]
    if several:
        names = np.array([f"y{k}" for k in range(len(own))])
        return Held("targets", values, losses, np.zeros(len(values), dtype=np.int64), names, own)
    return Held("classification", values, losses, tree.value[:, 0].argmax(axis=1), own[0], [])


def _unseen(model: Any) -> MissingUnseen:
    from sklearn.utils import get_tags

    return "larger" if get_tags(model).input_tags.allow_nan else "refuse"


def _names(model: Any, columns: Sequence[str] | None) -> list[str]:
    if columns is None:
        columns = getattr(model, "feature_names_in_", numbered(model.n_features_in_))
    names = [columns] if isinstance(columns, str) else list(columns)
    if len(names) != model.n_features_in_ or not all(isinstance(name, str) for name in names):
        raise ValueError(f"columns must be {model.n_features_in_} names, one for each of X")
    check_unique(names)
    return names


def _split(
    tree: Any, node: int, places: dict[int, int], columns: Sequence[Column]
) -> tuple[Any, ...] | None:
    """What a node asks, with its children by their places; None of a leaf."""
    left, right = int(tree.children_left[node]), int(tree.children_right[node])
    if left < 0:
        return None
    index, threshold = int(tree.feature[node]), float(tree.threshold[node])
    side = _side(tree, node)
    ways = places[left], places[right]
    if threshold == math.inf and side == "right":
        # It sends missing values alone to the right.
        return index, None, *ways, side
    return index, unrounded(threshold), *ways, side if columns[index].missing else None


def _side(tree: Any, node: int) -> Side:
    """Where a node sends missing values."""
    return "left" if tree.missing_go_to_left[node] else "right"


def _routed(tree: Any) -> set[int]:
    """The columns of which some node asks whether they are missing, or sends missing values another
    way than that of its larger child."""
    found = set()
    for node in np.flatnonzero(tree.children_left >= 0).tolist():
        left, right = tree.children_left[node], tree.children_right[node]
        larger = "right" if tree.n_node_samples[left] < tree.n_node_samples[right] else "left"
        if larger != _side(tree, node) or tree.threshold[node] == math.inf:
            found.add(int(tree.feature[node]))
    return found


def unrounded(threshold: float) -> float:
    """The largest 64-bit float whose nearest 32-bit float is at most the threshold.

    >>> unrounded(0.1) > float(np.float32(unrounded(0.1)))
    True
    """
    below = float32_at_most(threshold)
    if math.isinf(below):
        # All finite 32-bit floats go left, or none does.
        return math.copysign(np.finfo(np.float64).max, below)
    with np.errstate(over="ignore"):
        above = float(np.nextafter(below, np.float32(np.inf)))
    # What would be the next one, were there no infinity.
    middle = (float(below) + (2.0**128 if math.isinf(above) else above)) / 2
    even = int(below.view(np.uint32)) % 2 == 0
    return middle if even else math.nextafter(middle, -math.inf)


def _preorder(tree: Any) -> list[int]:
    """All nodes, each left subtree before its right one: a tree with a limit on its leaves has
    another order."""
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if tree.children_left[node] >= 0:
            waiting += [int(tree.children_right[node]), int(tree.children_left[node])]
    return order
