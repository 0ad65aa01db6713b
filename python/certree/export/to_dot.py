"""A tree in Graphviz's language: columns in boxes, conditions on the edges, leaves coloured by
label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from certree.conditions import plain
from certree.node_words import answer_text, rows_text, value_texts
from certree.schema import NUMBERS

if TYPE_CHECKING:
    from certree.nodes import Node
    from certree.tree import Tree

# Light enough for black text, and told apart by people who see colours differently.
COLOURS = ("#cfe2f3", "#fce5cd", "#d9ead3", "#ead1dc", "#fff2cc", "#d9d2e9", "#d0e0e3", "#e6e6e6")


def to_dot(tree: Tree) -> str:
    lines = [
        "digraph tree {",
        '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="Helvetica", '
        'ordering=out];',
        '  edge [fontname="Helvetica", fontsize=11];',
    ]
    # Numbers, and the answers to several targets, have no colours of their own.
    labels = [] if tree.task in NUMBERS or tree.task == "targets" else tree.labels.tolist()
    colour = dict(zip(labels, COLOURS * (len(labels) // len(COLOURS) + 1)))
    for node in tree.nodes:
        if node.split is None:
            lines.append(
                f'  {node.id} [label={_leaf(tree, node)}, '
                f'fillcolor="{colour.get(node.label, COLOURS[0])}"];'
            )
            continue
        lines.append(f"  {node.id} [label={quoted(plain(node.split.column.name))}];")
        for child, words in zip((node.split.left, node.split.right), node.split.words):
            lines.append(f"  {node.id} -> {child} [label={quoted(f' {words} ')}];")
    return "\n".join([*lines, "}"]) + "\n"


def _leaf(tree: Tree, node: Node) -> str:
    values = [] if tree.task in NUMBERS else value_texts(tree, node)
    return quoted("\n".join([answer_text(tree, node), rows_text(node), *values]))


def quoted(text: str) -> str:
    r"""A string of the DOT language. In labels, backslashes are escapes of their own.

    >>> print(quoted('so-called "teal"'), quoted("C:\\"))
    "so-called \"teal\"" "C:\\"
    """
    text = text.replace("\0", "\N{REPLACEMENT CHARACTER}").replace("\\", "\\\\")
    return '"' + text.replace('"', '\\"').replace("\r", "").replace("\n", "\\n") + '"'
