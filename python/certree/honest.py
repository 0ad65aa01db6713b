"""What the leaves of a tree hold on rows that the search never saw."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from certree import ingest, intervals

if TYPE_CHECKING:
    from certree.nodes import Node
    from certree.tree import Tree

#: The interval of a leaf without rows, of shares and of means.
NOTHING = {True: (0.0, 1.0), False: (-math.inf, math.inf)}

MEANS = ("regression", "costs", "rewards")


def honest(tree: Tree, X: Any, y: Any, confidence: float) -> pl.DataFrame:
    """A row for each leaf and what it holds."""
    intervals.check(confidence)
    if tree.task not in ("classification", *MEANS):
        raise ValueError(
            f"the leaves of this tree hold {tree.task}, and only of shares of classes, means, costs"
            " and rewards is it known how they spread over rows"
        )
    leaves = np.asarray(tree.apply(X))
    if len(leaves) == 0:
        raise ValueError("X has no rows")
    of_classes = tree.task == "classification"
    read = indicators if of_classes else numbers
    values = read(tree, X, y, len(leaves))
    # The rows of different leaves are independent, and those of one leaf are the same ones for all
    # that it holds. Of two classes one interval is the other one's mirror image.
    n_each = 1 if of_classes and len(tree.labels) <= 2 else len(tree.labels)
    each = 1.0 - (1.0 - intervals.of_each(confidence, tree.n_leaves)) / n_each
    rules = [" and ".join(rule.conditions) or "always" for rule in tree.rules()]
    lines = []
    for leaf, rule in zip(tree.leaves, rules):
        own = values[leaves == leaf.id]
        known = trained(tree, leaf)
        for k, label in enumerate(tree.labels.tolist()):
            found = own[:, k]
            low, high = interval(found, of_classes, each)
            mean = float(found.mean()) if len(found) else None
            lines.append(
                (leaf.id, rule, str(leaf.label), str(label), leaf.rows, len(own))
                + (known[k], mean, low, high)
            )
    return pl.DataFrame(lines, schema=SCHEMA, orient="row")


SCHEMA = {
    "leaf": pl.Int64,
    "rule": pl.String,
    "label": pl.String,
    "of": pl.String,
    "trained_rows": pl.Int64,
    "rows": pl.Int64,
    "trained": pl.Float64,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}


def interval(values: NDArray[np.float64], shares: bool, confidence: float) -> tuple[float, float]:
    if len(values) == 0:
        return NOTHING[shares]
    if shares:
        return intervals.clopper_pearson(float(values.sum()), len(values), confidence)
    return intervals.student(values, confidence)


def trained(tree: Tree, leaf: Node) -> tuple[float, ...]:
    """What the leaf holds in training."""
    return tree.shares(leaf) if tree.task == "classification" else leaf.value


def indicators(tree: Tree, X: Any, y: Any, n_rows: int) -> NDArray[np.float64]:
    """By row and class, whether it is the row's. Labels that the tree does not know are of none."""
    series = ingest.read_column(X, y, "y")
    found, place = ingest.classes_of(series, "y", y)
    _check_length(len(place), n_rows)
    places = {label: k for k, label in enumerate(tree.labels.tolist())}
    known = np.array([places.get(label, -1) for label in found.tolist()])
    return (known[place][:, None] == np.arange(len(tree.labels))).astype(np.float64)


def numbers(tree: Tree, X: Any, y: Any, n_rows: int) -> NDArray[np.float64]:
    """By row the targets, or the cost or reward of each label."""
    labels = tree.labels.tolist()
    if tree.task == "regression":
        values = np.asarray(ingest.read_targets(X, y).values, dtype=np.float64)
    else:
        read = ingest.read_matrix(X, y, "y", "label")
        values, own = read.values, read.labels.tolist()
        if set(own) == set(labels):
            values = values[:, [own.index(label) for label in labels]]
        elif own != list(range(len(labels))):
            raise ValueError(
                f"y has the columns {own!r}, but the tree was fitted with {labels!r}"
            )
    _check_length(len(values), n_rows)
    if values.shape[1] != len(labels):
        raise ValueError(f"y has {values.shape[1]} columns, but the tree answers {len(labels)}")
    return values


def _check_length(n: int, n_rows: int) -> None:
    if n != n_rows:
        raise ValueError(f"X has {n_rows:,} rows, but y has {n:,}")
