"""What notebooks show of a tree, a certificate, a frontier and an estimator: HTML that loads and
runs nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import polars as pl

from certree.drawing import charts
from certree.drawing.layout import layout
from certree.drawing.palette import themed
from certree.drawing.svg import FONT, text
from certree.export.to_svg import render

if TYPE_CHECKING:
    from certree.certificate import Certificate
    from certree.tree import Tree

MOST_LEAVES = 64
"""Of a tree that is shown whole; a larger one is folded at a depth where it fits."""

MOST_TREES = 20
"""Of a frontier, whose rows can be opened."""

_OWN = "certree-shown"
STYLE = (
    f"<style>{themed(f'.{_OWN}')}.{_OWN}{{color:var(--ink);background:var(--ground);font:13px/1.45"
    f" {FONT};padding:8px 12px;border-radius:8px;max-width:100%;overflow-x:auto}}.{_OWN}"
    f" p{{margin:4px 0}}.{_OWN} table{{border-collapse:collapse;color:inherit;font:inherit}}.{_OWN}"
    f" td,.{_OWN} th{{text-align:right;padding:2px 12px;border-bottom:1px solid"
    f" var(--line)}}.{_OWN} td:last-child,.{_OWN} th:last-child{{text-align:left}}.{_OWN}"
    " summary{cursor:pointer}</style>"
)


def within(*parts: str) -> str:
    """The parts in a box that scrolls where it is too narrow."""
    return f'{STYLE}<div class="{_OWN}">{"".join(parts)}</div>'


def picture(tree: Tree) -> str:
    """The tree, folded where it has too many leaves to be read."""
    if tree.n_leaves <= MOST_LEAVES:
        return render(layout(tree))
    # With 0, 1, 2, ... as the depth where it is folded.
    leaves_at = [1]
    by_depth: dict[int, int] = {}
    for node in tree.nodes:
        if node.split:
            by_depth[node.depth] = by_depth.get(node.depth, 0) + 1
    for depth in range(tree.depth):
        leaves_at.append(leaves_at[-1] + by_depth.get(depth, 0))
    fits = max(depth for depth, leaves in enumerate(leaves_at) if leaves <= MOST_LEAVES)
    note = f"Splits below depth {fits} are folded: to_svg() draws all {tree.n_leaves:,} leaves."
    return render(layout(tree, fits)) + f"<p>{note}</p>"


def of_tree(tree: Tree) -> str:
    return within(picture(tree))


def of_certificate(certificate: Certificate) -> str:
    return within(statement(certificate), curve(certificate))


def statement(certificate: Certificate) -> str:
    """The sentences of a certificate, and its gap."""
    gap = f"{certificate.gap:.6g}" if certificate.gap > 0 else "0"
    return f"{sentences(certificate.statement())}<p><b>Gap:</b> {text(gap)}</p>"


def sentences(told: str) -> str:
    """Lines such as "Objective: …", with the first word of each in bold."""
    parts = []
    for line in told.split("\n"):
        word, colon, rest = line.partition(":")
        bold = f"<b>{text(word)}:</b>{text(rest)}" if colon else text(line)
        parts.append(f"<p>{bold}</p>")
    return "".join(parts)


def curve(certificate: Certificate) -> str:
    """The objective and the lower bound while the search went on."""
    moments = certificate.curve
    if not moments:
        return ""
    end = max(certificate.seconds, moments[-1][0])
    last = moments[-1]
    objective = [(seconds, upper) for seconds, upper, _ in moments] + [(end, last[1])]
    bound = [(seconds, lower) for seconds, _, lower in moments] + [(end, last[2])]
    shown = [
        charts.Line(objective, "objective", 0, steps=True),
        charts.Line(bound, "lower bound", 1, steps=True, dashed=True),
    ]
    return charts.lines(shown, "Objective and lower bound by second", "seconds", "objective")


def frontier_chart(frame: pl.DataFrame) -> str:
    """The first axis of a frontier against the second one."""
    x, y = frame.columns[1], frame.columns[0]
    points = sorted(zip(frame[x].to_list(), frame[y].to_list()))
    shown = [charts.Line(points, "", 0, steps=True, dots=True)]
    return charts.lines(shown, f"{y} against {x}", words(x), words(y))


def words(name: str) -> str:
    return name.replace("_", " ")


def of_frontier(frame: pl.DataFrame) -> str:
    axes = frame.columns[:2]
    head = "".join(f"<th>{text(words(name))}</th>" for name in (*axes, "status", "tree"))
    rows = []
    for at, (first, second, tree, status) in enumerate(
        frame.select(*axes, "tree", "status").rows()
    ):
        if at < MOST_TREES:
            shown = f"<details><summary>{text(repr(tree))}</summary>{picture(tree)}</details>"
        else:
            shown = text(repr(tree))
        cells = f"<td>{first:.6g}</td><td>{second:.6g}</td><td>{text(status)}</td><td>{shown}</td>"
        rows.append(f"<tr>{cells}</tr>")
    return within(frontier_chart(frame), f"<table><tr>{head}</tr>{''.join(rows)}</table>")


def of_model(model: Any) -> str:
    """The tree and the certificate of a fitted model; nothing of one that is not fitted."""
    if not hasattr(model, "tree_"):
        return ""
    certificate = model.certificate_
    details = f"<details><summary>Certificate: {text(certificate.status)}</summary>"
    return within(
        picture(model.tree_), details, statement(certificate), curve(certificate), "</details>"
    )


def display() -> Callable[[str], Callable[[str], None]] | None:
    """A function that shows HTML below the running cell, and answers one that shows other HTML in
    its place. ``None`` outside of a notebook."""
    import sys

    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    # Within a terminal IPython has no kernel.
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import HTML, display

    def show(html: str) -> Callable[[str], None]:
        handle = display(HTML(html), display_id=True)
        return lambda later: handle.update(HTML(later))

    return show
