"""The sections on held-out rows: how well the tree answers them, by group too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from certree import ingest
from certree.conditions import plain
from certree.drawing import charts
from certree.evaluation import Answered, Labelled, by_label, concordance, labelled, numbers
from certree.node_words import answer_text, rows_text
from certree.measures import RESAMPLES, Estimate, Floats, wilson
from certree.reporting.page import paragraph, table
from certree.schema import NUMBERS
from certree.tree import Tree

MOST_LABELS = 20
"""Of a confusion matrix that is shown."""

MOST_GROUPS = 30

INTERVALS = "In brackets: 95 % intervals, by 500 bootstrap resamples of the held-out rows."


@dataclass(frozen=True)
class HeldOut:
    """Held-out rows, as the sections need them."""

    #: The node that each row ends in.
    leaves: NDArray[np.int64]
    answers: NDArray[Any]
    #: As the user gave it; ``None`` where there is none.
    truth: Any
    groups: NDArray[Any] | None
    #: The number of the class that sensitivity speaks of.
    positive: int


def read(tree: Tree, X: Any, y: Any, sensitive: Any, positive_label: Any) -> HeldOut:
    """``positive_label`` is that of the model; the last one, if it is none of the labels."""
    leaves = np.asarray(tree.apply(X), dtype=np.int64)
    if len(leaves) == 0:
        raise ValueError("X_test has no rows")
    answers = tree.predict(X)
    truth = _column(X, y) if isinstance(y, str) else y
    groups = None
    if sensitive is not None:
        given = _column(X, sensitive) if isinstance(sensitive, str) else sensitive
        groups = np.array([str(value) for value in _values(given)], dtype=object)
        _check_length(groups, leaves, "sensitive")
    labels = tree.labels.tolist()
    known = positive_label in labels
    positive = labels.index(positive_label) if known else len(labels) - 1
    return HeldOut(leaves, answers, truth, groups, positive)


def _column(X: Any, name: str) -> Any:
    frame = X.select(name).collect() if hasattr(X, "collect") else X
    try:
        return frame[name]
    except (KeyError, TypeError, IndexError, ValueError, pl.exceptions.PolarsError) as error:
        raise ValueError(f"X_test has no column {name!r}") from error


def _values(given: Any) -> list[Any]:
    return list(given.tolist() if hasattr(given, "tolist") else given)


def _check_length(values: Sequence[Any] | NDArray[Any], leaves: NDArray[Any], name: str) -> None:
    if len(values) != len(leaves):
        raise ValueError(f"{name} has {len(values)} values, but X_test has {len(leaves)} rows")


def sections(tree: Tree, rows: HeldOut) -> list[tuple[str, str, str]]:
    found = []
    if rows.truth is not None:
        if tree.task == "classification":
            body = _labels(tree, rows)
        elif tree.task in ("costs", "rewards"):
            body = _by_label(tree, rows)
        elif tree.task == "survival":
            body = _survival(tree, rows)
        elif tree.task == "targets":
            body = _targets(tree, rows)
        elif tree.task in NUMBERS:
            body = _numbers(tree, rows)
        else:
            body = paragraph("How well answers of a task of your own fit is not known here.")
        found.append(("held-out", "On held-out rows", body))
    if rows.groups is not None:
        found.append(("groups", "By group", _groups(tree, rows)))
    return found


def _known(tree: Tree, rows: HeldOut) -> NDArray[np.int64]:
    """The number of each row's label."""
    labels = {label: k for k, label in enumerate(tree.labels.tolist())}
    values = _values(rows.truth)
    _check_length(values, rows.leaves, "y_test")
    unknown = next((value for value in values if value not in labels), None)
    if unknown is not None:
        raise ValueError(f"y_test has the label {unknown!r}, which the tree was not fitted with")
    return np.array([labels[value] for value in values], dtype=np.int64)


def _labels(tree: Tree, rows: HeldOut) -> str:
    labels = [plain(str(label)) for label in tree.labels.tolist()]
    known = _known(tree, rows)
    answered = Answered.of_tree(tree, rows.leaves)
    found = labelled(answered, known, len(labels), RESAMPLES, 0.95)
    lines: list[tuple[str, Estimate]] = [("accuracy", found.accuracy)]
    positive = rows.positive
    if len(labels) == 2 and found.brier is not None:
        lines += [*found.by_class[positive], ("Brier score", found.brier)]
    parts = [
        paragraph(f"{len(known):,} held-out rows. {INTERVALS}"),
        table(("measure", "value"), lines, 1),
    ]
    if len(labels) == 2:
        parts.append(paragraph(f"The positive class is {labels[positive]}.", "muted"))
        parts.append(_calibration(answered, found, positive, labels[positive]))
    else:
        of_each = []
        for label, measures in zip(labels[:MOST_LABELS], found.by_class):
            measured = dict(measures)
            of_each.append((label, *(measured[name] for name in ("sensitivity", "PPV", "AUC"))))
        parts.append(table(("class, against all others", "sensitivity", "PPV", "AUC"), of_each, 3))
    if len(labels) <= MOST_LABELS:
        head = ("true class", *(f"answered {label}" for label in labels), "rows")
        body = [
            (label, *(f"{n:,.0f}" for n in line), f"{line.sum():,.0f}")
            for label, line in zip(labels, found.matrix)
        ]
        parts.append(f"<h3>Confusion matrix</h3>{table(head, body, len(labels) + 1)}")
    return "".join(parts)


def _calibration(answered: Answered, found: Labelled, positive: int, label: str) -> str:
    """What leaves say and what their held-out rows are."""
    lines, points = [], []
    assert answered.shares is not None
    said = answered.shares[:, positive].tolist()
    for name, rows, share, line in zip(answered.names, found.rows, said, found.observed):
        estimate = line[positive]
        lines.append((f"leaf {name}", f"{rows:,.0f}", f"{share:.4g}", estimate))
        if rows:
            points.append((share, estimate.value))
    shown = [
        charts.Line([(0, 0), (1, 1)], "as said", 7, dashed=True),
        charts.Line(sorted(points), "leaves", 0, dots=True, joined=False),
    ]
    ends = ((0.0, 1.0), (0.0, 1.0))
    title = f"Calibration for {label}"
    chart = charts.lines(shown, title, "share said", "share observed", limits=ends)
    head = ("leaf", "held-out rows", "share said", "share observed, Wilson's interval")
    return f'<h3>Calibration</h3><div class="sides">{chart}{table(head, lines, 3)}</div>'


def _numbers(tree: Tree, rows: HeldOut) -> str:
    truth = _matrix(rows, len(tree.labels))
    answers = np.asarray(rows.answers, dtype=np.float64).reshape(len(truth), -1)
    measured = numbers(truth, answers, RESAMPLES, 0.95)
    lines = [
        (plain(str(name)), *(estimate for _, estimate in own))
        for name, own in zip(tree.labels.tolist(), measured)
    ]
    head = (NUMBERS[tree.task], "R²", "root mean squared error", "mean absolute error")
    parts = [
        paragraph(f"{len(truth):,} held-out rows. {INTERVALS}"),
        table(head, lines, 3),
    ]
    if len(tree.labels) == 1:
        by_leaf = []
        for leaf in tree.leaves:
            own = truth[rows.leaves == leaf.id, 0]
            if len(own):
                by_leaf.append((leaf.value[0], float(own.mean())))
        low, high = min(min(p) for p in by_leaf), max(max(p) for p in by_leaf)
        shown = [
            charts.Line([(low, low), (high, high)], "as said", 7, dashed=True),
            charts.Line(sorted(by_leaf), "leaves", 0, dots=True, joined=False),
        ]
        parts.append("<h3>Calibration</h3>")
        parts.append(charts.lines(shown, "Calibration", "answer", "mean observed"))
    return "".join(parts)


def _matrix(rows: HeldOut, width: int) -> Floats:
    given = rows.truth
    given = given.to_numpy() if hasattr(given, "to_numpy") else given
    truth = np.asarray(given, dtype=np.float64)
    _check_length(truth, rows.leaves, "y_test")
    truth = truth.reshape(len(truth), -1)
    if truth.shape[1] != width:
        raise ValueError(f"y_test has {truth.shape[1]} columns, but the tree answers {width}")
    if not np.isfinite(truth).all():
        raise ValueError("y_test has values that are missing or infinite")
    return truth


def _by_label(tree: Tree, rows: HeldOut) -> str:
    """Costs or rewards of each label for each row."""
    given = _matrix(rows, len(tree.labels))
    place = {label: k for k, label in enumerate(tree.labels.tolist())}
    chosen = np.array([place[answer] for answer in rows.answers.tolist()])
    word = "cost" if tree.task == "costs" else "reward"
    names = ["the tree", "the best label for each row, were it known"]
    names += [f"always {plain(str(label))}" for label in tree.labels.tolist()]
    lines = list(zip(names, by_label(given, chosen, tree.task == "costs", RESAMPLES, 0.95)))
    share = [(chosen == k).mean() for k in range(len(tree.labels))]
    answered = [(plain(str(label)), f"{part:.1%}") for label, part in zip(place, share)]
    return (
        paragraph(f"{len(given):,} held-out rows. {INTERVALS}")
        + table(("choice", f"mean {word}"), lines, 1)
        + table(("label", "share of rows"), answered, 1)
    )


def _survival(tree: Tree, rows: HeldOut) -> str:
    if not isinstance(rows.truth, (tuple, list)) or len(rows.truth) != 2:
        raise ValueError(
            "y_test of a survival tree is a pair: the times, and whether events came then"
        )
    time, event = (
        ingest.read_vector(None, each, name) for each, name in zip(rows.truth, ("time", "event"))
    )
    for name, own in (("time", time), ("event", event)):
        _check_length(own, rows.leaves, name)
    from certree.estimators._kaplan_meier import AtRisk

    risk = np.asarray(rows.answers, dtype=np.float64)
    events = event == 1
    lines = [("concordance (Harrell)", concordance(time, events, risk, 0.95))]
    shown = []
    for at, leaf in enumerate(tree.leaves[:7]):
        own = rows.leaves == leaf.id
        if own.any():
            curve = AtRisk.of(time[own], events[own], None)
            shares = curve.survival(curve.times)
            points = [(0.0, 1.0), *zip(curve.times.tolist(), shares.tolist())]
            shown.append(charts.Line(points, f"leaf {leaf.id}", at, steps=True))
    title = "Share of held-out rows without an event"
    chart = charts.lines(shown, title, "time", "share without an event", size=(620.0, 280.0))
    words = f"{len(time):,} held-out rows, {int(events.sum()):,} with an event."
    return paragraph(words) + table(("measure", "value"), lines, 1) + f"<h3>{title}</h3>{chart}"


def _targets(tree: Tree, rows: HeldOut) -> str:
    given = rows.truth
    given = given.to_numpy() if hasattr(given, "to_numpy") else given
    truth = np.asarray(given, dtype=object)
    _check_length(truth, rows.leaves, "y_test")
    if truth.ndim != 2 or truth.shape[1] != len(tree.labels):
        raise ValueError(f"y_test must have {len(tree.labels)} columns, one for each target")
    lines = []
    for k, name in enumerate(tree.labels.tolist()):
        right = (np.asarray(rows.answers, dtype=object)[:, k] == truth[:, k]).sum()
        lines.append((plain(str(name)), wilson(float(right), len(truth))))
    words = f"{len(truth):,} held-out rows. In brackets: Wilson's 95 % intervals."
    return paragraph(words) + table(("target", "accuracy"), lines, 1)


def _groups(tree: Tree, rows: HeldOut) -> str:
    assert rows.groups is not None
    names, place = np.unique(rows.groups.astype(str), return_inverse=True)
    two = tree.task == "classification" and len(tree.labels) == 2
    known = _known(tree, rows) if two and rows.truth is not None else None
    lines = []
    for k, name in enumerate(names[:MOST_GROUPS].tolist()):
        own = place == k
        line: list[Any] = [plain(name), f"{own.sum():,}"]
        if two:
            positive = rows.positive
            said = rows.answers[own] == tree.labels[positive]
            line.append(wilson(float(said.sum()), int(own.sum())))
            if known is not None:
                true = known[own] == positive
                for kind in (true, ~true):
                    line.append(wilson(float((said & kind).sum()), int(kind.sum())))
                line.append(wilson(float((said == true).sum()), int(own.sum())))
        else:
            line.append(_most_answered(tree, rows, own))
        lines.append(line)
    if two:
        label = plain(str(tree.labels.tolist()[rows.positive]))
        head = ["group", "rows", f"answered {label}"]
        if known is not None:
            head += ["true positive rate", "false positive rate", "accuracy"]
    else:
        head = ["group", "rows", "leaf of most rows"]
    parts = [table(head, lines, len(head) - 1)]
    if two:
        parts.append(paragraph("In brackets: Wilson's 95 % intervals.", "muted"))
    if len(names) > MOST_GROUPS:
        parts.append(paragraph(f"{len(names) - MOST_GROUPS:,} more groups are not shown.", "muted"))
    return "".join(parts)


def _most_answered(tree: Tree, rows: HeldOut, own: NDArray[np.bool_]) -> str:
    ids, counts = np.unique(rows.leaves[own], return_counts=True)
    node = tree.nodes[int(ids[counts.argmax()])]
    return (
        f"{answer_text(tree, node)} ({counts.max() / own.sum():.1%}; {rows_text(node)} in training)"
    )
