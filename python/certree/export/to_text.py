"""A tree as text for people: every branch with its own condition, every leaf with what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from certree.conditions import plain
from certree.node_words import answer_text, mean_texts, rows_text, value_texts
from certree.schema import NUMBERS

if TYPE_CHECKING:
    from certree.nodes import Node
    from certree.tree import Tree

Row = tuple[str, ...]


def to_text(tree: Tree) -> str:
    root = tree.nodes[0]
    title = _title(tree, root)
    if root.is_leaf:
        return f"{title}\n└── always → {answer_text(tree, root)}\n"
    # Left of the arrow the branches, right of it the leaves as a table.
    lines: list[tuple[str, Row]] = []
    # A stack of (node id, the condition that leads to it, what its line starts with, is it a last
    # child).
    waiting: list[tuple[int, str, str, bool]] = []

    def wait_for_children(node: Node, start: str) -> None:
        if node.split is None:
            return
        name = plain(node.split.column.name)
        left, right = node.split.words
        waiting.append((node.split.right, f"{name} {right}", start, True))
        waiting.append((node.split.left, f"{name} {left}", start, False))

    wait_for_children(root, "")
    while waiting:
        index, condition, start, last = waiting.pop()
        node = tree.nodes[index]
        line = f"{start}{'└── ' if last else '├── '}{condition}"
        lines.append((line, _leaf(tree, node) if node.is_leaf else ()))
        wait_for_children(node, start + ("    " if last else "│   "))
    return "\n".join([title, *_aligned(lines)]) + "\n"


def _title(tree: Tree, root: Node) -> str:
    if tree.task in NUMBERS:
        word = NUMBERS[tree.task]
        unnamed = tree.labels.tolist() == [word]
        shown = answer_text(tree, root) if unnamed else ", ".join(mean_texts(tree, root))
        return f"{rows_text(root)}  {word} {shown}"
    if tree.task in ("targets", "labels"):
        return f"{rows_text(root)}  {answer_text(tree, root)}"
    if tree.task != "classification":
        return f"{rows_text(root)}  mean {tree.task}  {', '.join(value_texts(tree, root))}"
    weight = sum(root.value)
    # Shares are of weight; say so where weight is not simply the number of rows.
    weighted = "" if weight == root.rows else f" of weight {weight:g}"
    return f"{rows_text(root)}{weighted}  {', '.join(value_texts(tree, root))}"


def _leaf(tree: Tree, node: Node) -> Row:
    if tree.task in NUMBERS:
        return f"→ {answer_text(tree, node)}", rows_text(node), ""
    return (
        f"→ {answer_text(tree, node)}",
        rows_text(node),
        ", ".join(value_texts(tree, node, width=6)),
    )


def _aligned(lines: list[tuple[str, Row]]) -> list[str]:
    leaves = [(line, *cells) for line, cells in lines if cells]
    branch, label, rows = (max(len(leaf[i]) for leaf in leaves) for i in range(3))
    out = []
    for line, cells in lines:
        if cells:
            line = f"{line:<{branch}} {cells[0]:<{label}}  {cells[1]:>{rows}}  {cells[2]}"
        out.append(line.rstrip())
    return out
