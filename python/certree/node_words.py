"""What a node holds, in the words that all exports for people share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from certree.conditions import plain
from certree.schema import NUMBERS

if TYPE_CHECKING:
    from certree.nodes import Node
    from certree.tree import Tree

MOST_CLASSES = 4
"""How many class shares a line shows; the smallest are summed up as "other"."""


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
