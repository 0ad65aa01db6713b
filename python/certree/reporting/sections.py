"""The sections on the model itself: the tree, its leaves, the certificate, the data, and words for
a paper."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import sklearn

from certree import _core, notebook
from certree.conditions import plain
from certree.drawing import charts
from certree.drawing.svg import text
from certree.export.to_sql import rule_sql
from certree.node_words import answer_text, percent, rows_text, value_texts
from certree.reporting.page import code, paragraph, table
from certree.measures import wilson
from certree.schema import NUMBERS, Column

if TYPE_CHECKING:
    from certree.certificate import Certificate
    from certree.nodes import Node, Rule
    from certree.tree import Tree

MOST_VALUES = 12
"""Of a category that are named."""

MOST_BARS = 15

MOST_FOLDED = 150
"""Browsers nest no more elements than some hundred: deeper splits stand beside each other."""


def tree_section(tree: Tree, rows: dict[int, int] | None, dialect: str) -> str:
    """The picture, the outline to fold and search, and what is known of each leaf."""
    tools = (
        '<div class="tools"><label>Search <input type="search" id="search"></label> '
        '<button type="button" id="unfold">Unfold all</button> '
        '<button type="button" id="fold">Fold all</button> '
        '<span id="search-status" class="muted" role="status"></span></div>'
    )
    pairs = zip(tree.leaves, tree.rules())
    leaves = "".join(_leaf(tree, leaf, rule, rows, dialect) for leaf, rule in pairs)
    return (
        f'<div id="picture" class="wide">{notebook.picture(tree)}</div>'
        f'<h3>Rules</h3>{tools}<div id="outline" class="outline">{_outline(tree)}</div>'
        f'<div id="leaves" aria-live="polite">{leaves}</div>'
    )


def _outline(tree: Tree) -> str:
    """Splits that fold, in each other, and leaves that open below."""
    parts = ["<ul>"]
    waiting: list[tuple[int, str] | str] = [(0, "all rows")]
    while waiting:
        at = waiting.pop()
        if isinstance(at, str):
            parts.append(at)
            continue
        index, condition = at
        node = tree.nodes[index]
        told = text(f"{condition} · {rows_text(node)}")
        if node.split is None:
            answer = answer_text(tree, node)
            line = text(f"{condition} {answer}")
            parts.append(
                f'<li><span data-line="{line}">{told} <button type="button" data-leaf="{index}">'
                f"{text(answer)}</button></span></li>"
            )
            continue
        name = plain(node.split.column.name)
        left, right = node.split.words
        children = (node.split.right, f"{name} {right}"), (node.split.left, f"{name} {left}")
        if node.depth >= MOST_FOLDED:
            parts.append(f"<li>{told}</li>")
            waiting += children
            continue
        parts.append(
            f'<li><details open id="node-{index}"><summary><span'
            f' data-line="{text(condition)}">{told}</span></summary><ul>'
        )
        waiting += ["</ul></details></li>", *children]
    return "".join([*parts, "</ul>"])


def _leaf(tree: Tree, leaf: Node, rule: Rule, rows: dict[int, int] | None, dialect: str) -> str:
    when = f"If {' and '.join(rule.conditions)}." if rule.conditions else "For all rows."
    told = [("rows in training", f"{leaf.rows:,}")]
    if rows is not None:
        told.append(("held-out rows", f"{rows.get(leaf.id, 0):,}"))
    if tree.task == "classification":
        # The interval is that of as many rows, of which each has its weight's share.
        for label, share in zip(tree.labels.tolist(), tree.shares(leaf)):
            if len(tree.labels) <= MOST_VALUES or share > 0:
                interval = wilson(share * leaf.rows, leaf.rows)
                words = f"{percent(share)} ({interval.low:.1%} to {interval.high:.1%})"
                told.append((f"share of {plain(str(label))}, Wilson's 95 % interval", words))
    elif tree.task not in NUMBERS:
        told += [("holds", each) for each in value_texts(tree, leaf)]
    try:
        sql = rule_sql(tree, leaf.id, dialect)
    except ValueError as error:
        sql = f"-- {error}"
    return (
        f'<section class="leaf" id="leaf-{leaf.id}" tabindex="-1"><h3>Leaf {leaf.id}: '
        f"{text(answer_text(tree, leaf))}</h3>{paragraph(when)}"
        f"{table(('what', 'value'), told, 1)}{code(sql)}</section>"
    )


def certificate_section(certificate: Certificate) -> str:
    words = {
        "optimal": (
            "This tree is proved to be the best one: no other within the limits below is better."
        ),
        "optimal_given_guess": (
            "This tree is the best one if what a reference model suggests holds."
        ),
    }.get(
        certificate.status,
        "This tree is the best that was found; how much better another one could be at most is "
        "the gap.",
    )
    return paragraph(words) + notebook.statement(certificate) + notebook.curve(certificate)


def frontier_section(frame: pl.DataFrame) -> str:
    axes = frame.columns[:2]
    rows = [
        (f"{first:.6g}", f"{second:.6g}", status)
        for first, second, status in frame.select(*axes, "status").rows()
    ]
    head = (*map(notebook.words, axes), "status")
    chart = notebook.frontier_chart(frame)
    return f'<div class="sides">{chart}{table(head, rows)}</div>'


def data_section(model: Any) -> str:
    tree: Tree = model.tree_
    certificate: Certificate = model.certificate_
    importances = model.feature_importances_
    used = {node.column for node in tree.nodes if node.column is not None}
    rows = [
        (
            *_described(column),
            f"{certificate.cuts.get(column.name, 0):,}",
            "yes" if column.name in used else "",
            f"{importance:.3g}",
        )
        for column, importance in zip(tree.columns, importances)
    ]
    order = np.argsort(-importances, kind="stable")[:MOST_BARS]
    named = [
        (plain(tree.columns[k].name), float(importances[k])) for k in order if importances[k] > 0
    ]
    chart = charts.bars(named, "Importance of columns") if named else ""
    words = (
        f"{certificate.n_rows:,} rows of training in {certificate.n_points:,} groups that no split"
        f" can tell apart. {_gaps(tree)}"
    )
    head = ("column", "type", "categories", "splits offered", "used", "importance")
    return paragraph(words) + chart + table(head, rows, 3)


def columns_section(tree: Tree) -> str:
    """What a tree alone knows of its data."""
    used = {node.column for node in tree.nodes if node.column is not None}
    rows = [
        (*_described(column), "yes" if column.name in used else "") for column in tree.columns
    ]
    words = f"{tree.nodes[0].rows:,} rows of training. {_gaps(tree)}"
    return paragraph(words) + table(("column", "type", "categories", "used"), rows)


def _described(column: Column) -> tuple[str, str, str]:
    """The name of a column, its type, and its categories."""
    values = ", ".join(plain(value) for value in column.values[:MOST_VALUES])
    more = len(column.values) - MOST_VALUES
    values += f", and {more:,} more" if more > 0 else ""
    return plain(column.name), f"{column.kind} ({column.dtype.split('(')[0]})", values


def _gaps(tree: Tree) -> str:
    names = [plain(column.name) for column in tree.columns if column.missing]
    if not names:
        return "No value was missing."
    more = f" and {len(names) - 10:,} more columns" if len(names) > 10 else ""
    return (
        f"Values were missing in {', '.join(names[:10])}{more}: each split sends them left or"
        " right, whichever is better."
    )


def constraints_section(certificate: Certificate) -> str:
    rows = [
        (met.what.rpartition(":")[0], f"{met.attained:.6g}", met.allowed)
        for met in certificate.constraints
    ]
    return table(("constraint", "on training rows", "allowed"), rows, 2)


def methods_section(model: Any) -> str:
    """A paragraph for a paper."""
    tree: Tree = model.tree_
    certificate: Certificate = model.certificate_
    searched, measure, *_ = certificate.statement().split("\n")
    kept = " All of them meet the constraints." if certificate.constraints else ""
    if certificate.path_rules:
        kept += f" All of them keep to rules for paths: {'; '.join(certificate.path_rules)}."
    if certificate.status == "optimal":
        proof = "The tree was proved to have the lowest objective of all trees in this set"
    else:
        proof = (
            f"No tree in this set has an objective below {certificate.lower_bound:.6g}, so that the"
            f" tree is at most {certificate.gap:.3g} from the best one"
        )
    words = (
        f"A decision tree with {rows_of(tree.n_leaves, 'leaf', 'leaves')} was fitted with certree"
        f" {_core.__version__} ({type(model).__name__}), which searches for the best tree and"
        f" proves a bound. The search covered{searched.removeprefix('Searched:')}{kept} The"
        f" objective was {measure.removeprefix('Objective: ').split('. This tree')[0]}. {proof}"
        f" (objective {certificate.objective:.6g}; {certificate.seconds:.3g} s on"
        f" {certificate.threads} {'thread' if certificate.threads == 1 else 'threads'})."
    )
    return paragraph(words)


def rows_of(n: int, one: str, many: str) -> str:
    return f"1 {one}" if n == 1 else f"{n:,} {many}"


def software() -> str:
    rows = [
        ("certree", _core.__version__),
        ("Python", platform.python_version()),
        ("numpy", np.__version__),
        ("polars", pl.__version__),
        ("scikit-learn", sklearn.__version__),
        ("system", f"{platform.system()} {platform.machine()}"),
    ]
    return table(("software", "version"), rows)


def parameters(model: Any) -> str:
    rows = [(name, repr(value)[:200]) for name, value in model.get_params(deep=False).items()]
    return "<h3>Parameters</h3>" + table(("parameter", "value"), rows)
