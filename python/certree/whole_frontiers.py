"""Axes of a frontier that sum up whole numbers over rows, and the one search that finds all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

import polars as pl
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from certree import _core, progress
from certree.estimators import parameters
from certree.estimators._metrics import positive_of
from certree.interrupts import Held
from certree.scalars import shown
from certree.warned import warn

#: Axes that are one word.
NAMES = ("loss", "leaves", "errors", "false_negatives", "false_positives")
#: Axes of a label: (kind, label).
OF_LABEL = ("errors", "rows")

HELP = (
    "two or three different ones of 'loss', 'leaves', 'errors', 'false_negatives', "
    "'false_positives', ('errors', label) and ('rows', label)"
)


@dataclass(frozen=True)
class Found:
    """All rows of a frontier, and what is known of those that are missing."""

    #: By axis: the name of its column.
    names: list[str]
    #: By row: the values, the tree, and the status.
    rows: list[tuple[list[float], Any, str]]
    #: By axis: where trees may be that were not found.
    open: list[list[float]]
    statement: str


def are_axes(axes: Any) -> bool:
    """Whether these are two or three axes that one search takes."""
    if not isinstance(axes, (tuple, list)) or not 2 <= len(axes) <= 3:
        return False
    known = [_is_axis(axis) for axis in axes]
    return all(known) and all(
        name(one) != name(other) for at, one in enumerate(axes) for other in axes[:at]
    )


def _is_axis(axis: Any) -> bool:
    if isinstance(axis, str):
        return axis in NAMES
    pair = isinstance(axis, tuple) and len(axis) == 2 and isinstance(axis[0], str)
    return pair and axis[0] in OF_LABEL


def name(axis: Any) -> str:
    """The column of an axis."""
    return axis if isinstance(axis, str) else f"{axis[0]} of {axis[1]}"


def search(model: Any, data: tuple[Any, ...], axes: Sequence[Any], most: int) -> Found:
    """The whole frontier of a classifier, whose time limit is that of all of it."""
    model = clone(model).set_params(leaf_penalty=0, objective=_objective(model, axes))
    parameters.check(model, model._rules)
    started = monotonic()
    with model._budget(started) as left, Held() as held:
        posed = model._pose_in_order(data)
        model._refuse_missing(posed)
        labels = posed.labels.tolist()
        sums = [_sum(model, axis, labels) for axis in axes]
        held.search()
        line = model._progress(left)
        pulse = progress.pulse(model.callback, line, held)
        found = _core.whole_front(posed.problem, sums, most, model._limits(left), pulse)
        if found.interrupt is not None:
            raise found.interrupt
        # Without the columns nothing is known of trees that ask them.
        status = "time_limit" if posed.cut_short else found.status
        nowhere = [[0.0] * len(axes)] if posed.cut_short else found.open
        as_given = (model.missing, model.missing_unseen, model.unseen)
        rows = []
        for core, values, is_proved in found.trees:
            tree = model._finished_tree(core, posed, *as_given)
            proved = is_proved and not posed.cut_short
            rows.append((values, tree, "optimal" if proved else status))
    names = [name(axis) for axis in axes]
    statement = _statement(model, names, status, rows, len(nowhere))
    if status != "optimal":
        warn(statement, ConvergenceWarning)
    return Found(names, rows, nowhere, statement)


def _objective(model: Any, axes: Sequence[Any]) -> str:
    """The objective that is searched: labels by their costs."""
    if not hasattr(model, "cost_matrix"):
        raise ValueError(
            f"axes={shown(tuple(axes))} is for OptimalTreeClassifier, not {type(model).__name__}"
        )
    for parameter in ("constraints", "feature_costs"):
        if getattr(model, parameter):
            raise ValueError(
                f"axes={shown(tuple(axes))} cannot be combined with {parameter}: leave it out"
            )
    if "loss" not in axes:
        if model.cost_matrix is not None or model.class_weight is not None:
            raise ValueError(
                f"axes={shown(tuple(axes))} count rows: they are for a classifier without "
                "cost_matrix and class_weight"
            )
        return "accuracy"
    if model.objective not in ("accuracy", "balanced_accuracy"):
        raise ValueError(
            f"axes={shown(tuple(axes))} need a loss that adds up over rows: take "
            f"objective='accuracy' or 'balanced_accuracy', not {shown(model.objective)}"
        )
    return str(model.objective)


def _sum(model: Any, axis: Any, labels: list[Any]) -> Any:
    """What the core is told of an axis: its name, or so much for each class and label."""
    if axis in ("loss", "leaves"):
        return axis
    n = range(len(labels))
    if axis == "errors":
        return [int(true != given) for true in n for given in n]
    if isinstance(axis, str):
        if len(labels) != 2:
            raise ValueError(
                f"false negatives and positives are of two classes, but y has {len(labels)}: "
                f"{shown(labels[:10])}; name a label, as in ('errors', {labels[0]!r})"
            )
        positive = positive_of(model, labels)
        wrong = positive if axis == "false_negatives" else 1 - positive
        return [int(true == wrong and true != given) for true in n for given in n]
    kind, label = axis
    if label not in labels:
        raise ValueError(
            f"axes name the label {shown(label)}, but the classes in y are {shown(labels)}"
        )
    at = labels.index(label)
    if kind == "rows":
        return [int(given == at) for true in n for given in n]
    return [int(true == at and true != given) for true in n for given in n]


def _statement(
    model: Any,
    names: list[str],
    status: str,
    rows: list[tuple[list[float], Any, str]],
    n_open: int,
) -> str:
    """What was proved, in words."""
    size = []
    if model.max_depth is not None:
        size.append(f"a depth of at most {model.max_depth}")
    if model.max_leaf_nodes is not None:
        size.append(f"at most {model.max_leaf_nodes} leaves")
    words = [each.replace("_", " ") for each in names]
    axes = ", ".join(words[:-1]) + " and " + words[-1]
    if status == "optimal":
        return (
            f"The frontier is complete: of all trees with {' and '.join(size)}, no other one is "
            f"better than one of these {len(rows)} in {axes}, and none of these is better than "
            "another one."
        )
    proved = sum(own == "optimal" for *_, own in rows)
    return (
        f"The {status.replace('_', ' ')} of the frontier was reached: {proved} of these "
        f"{len(rows)} trees are proved to be on it, in {axes}; trees that are missing are no "
        f"better than one of these, or than one of the {n_open} rows of `open`."
    )


def open_frame(found: Found) -> pl.DataFrame:
    """Where trees may be that were not found."""
    return pl.DataFrame(
        {name: [row[at] for row in found.open] for at, name in enumerate(found.names)},
        schema={name: pl.Float64 for name in found.names},
    )
