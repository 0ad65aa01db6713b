"""A tree as text for people: every branch with its own condition, every leaf with what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from certree.conditions import plain
from certree.schema import NUMBERS

if TYPE_CHECKING:
    from certree.tree import Node, Tree

MOST_CLASSES = 4
"""How many class shares a line shows; the smallest are summed up as "other"."""

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


def rows_text(node: Node) -> str:
    return "1 row" if node.rows == 1 else f"{node.rows:,} rows"


def value_texts(tree: Tree, node: Node, width: int = 0) -> list[str]:
    """What a node holds for each label, in their order: shares of classes, or mean costs or
    rewards; of each target the share of the label that it answers."""
    if tree.task == "classification":
        return share_texts(tree, node, width)
    if tree.task == "labels":
        return []
    if tree.task == "targets":
        shares = [max(each) for each in tree.target_shares(node)][:MOST_CLASSES]
        return [f"{percent(share):>{width}}" for share in shares]
    named = list(zip(map(str, tree.labels.tolist()), node.value))
    shown = [f"{plain(label)}: {value:>{width}.4g}" for label, value in _best(tree, named)]
    return shown + (["…"] if len(named) > MOST_CLASSES else [])


def answer_text(tree: Tree, node: Node) -> str:
    """What a leaf answers: its label, the label of each target, or its numbers."""
    if tree.task == "targets":
        named = list(zip(map(str, tree.labels.tolist()), node.label))[:MOST_CLASSES]
        shown = [f"{plain(name)}: {plain(str(label))}" for name, label in named]
        return ", ".join(shown + (["…"] if len(node.label) > MOST_CLASSES else []))
    if tree.task not in NUMBERS:
        return plain(str(node.label))
    if len(node.value) == 1:
        return f"{node.value[0]:.6g}"
    return ", ".join(mean_texts(tree, node))


def mean_texts(tree: Tree, node: Node) -> list[str]:
    """The mean of each target; of the first few if there are many."""
    named = list(zip(map(str, tree.labels.tolist()), node.value))[:MOST_CLASSES]
    shown = [f"{plain(name)}: {mean:.6g}" for name, mean in named]
    return shown + (["…"] if len(node.value) > MOST_CLASSES else [])


def _best(tree: Tree, named: list[tuple[str, float]]) -> list[tuple[str, float]]:
    if len(named) <= MOST_CLASSES:
        return named
    return sorted(named, key=lambda pair: pair[1], reverse=tree.task == "rewards")[:MOST_CLASSES]


def share_texts(tree: Tree, node: Node, width: int = 0) -> list[str]:
    """The share of each class, in the order of the labels; the largest few if there are many."""
    named = list(zip(map(str, tree.labels.tolist()), tree.shares(node)))
    others = 0.0
    if len(named) > MOST_CLASSES:
        named = sorted((pair for pair in named if pair[1] > 0), key=lambda pair: -pair[1])
        others = sum(share for _, share in named[MOST_CLASSES:])
    shown = [(plain(label), share) for label, share in named[:MOST_CLASSES]]
    if others:
        shown.append(("other", others))
    return [f"{label}: {percent(share):>{width}}" for label, share in shown]


def percent(share: float) -> str:
    """A share to a tenth of a percent, where only none is "0%" and only all is "100%".

    >>> percent(0.9999), percent(1.0), percent(0.0001), percent(0.25)
    ('>99.9%', '100%', '<0.1%', '25.0%')
    """
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 0.0005:
        return "<0.1%"
    if share >= 0.9995:
        return ">99.9%"
    return f"{share:.1%}"
