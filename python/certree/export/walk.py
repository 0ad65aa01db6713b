"""The one way through a tree for exports that write code: what comes before, between and after the
children of each split, without recursion, so that no depth is too deep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from certree.nodes import Node
    from certree.tree import Tree

#: What an export answers for each row.
Output = Literal["label", "leaf", "proba"]


class Step(NamedTuple):
    """``split`` comes before the left child, ``between`` before the right one, and ``end`` after
    it; a leaf is met once."""

    kind: Literal["leaf", "split", "between", "end"]
    node: Node
    #: The depth of the node.
    depth: int


def walk(tree: Tree) -> Iterator[Step]:
    """All steps through the tree, left children first."""
    waiting: list[tuple[Literal["open", "between", "end"], int]] = [("open", 0)]
    while waiting:
        kind, index = waiting.pop()
        node = tree.nodes[index]
        if node.split is None:
            yield Step("leaf", node, node.depth)
        elif kind == "open":
            waiting += [("end", index), ("open", node.split.right)]
            waiting += [("between", index), ("open", node.split.left)]
            yield Step("split", node, node.depth)
        else:
            yield Step(kind, node, node.depth)


def answers(tree: Tree) -> dict[str, list[object]]:
    """By the name of each output, the answer of each node. Several numbers, or targets, have an
    output each, whose name tells which."""
    names = [str(name) for name in tree.labels.tolist()]
    several = isinstance(tree.nodes[0].label, tuple)
    if not several:
        return {"label": [node.label for node in tree.nodes]}
    columns = zip(*(node.label for node in tree.nodes))
    return {f"label_{name}": list(column) for name, column in zip(names, columns)}


def shares(tree: Tree) -> dict[str, list[float]]:
    """By the name of each output, the share of a class at each node."""
    if tree.task == "targets":
        by_target = zip(*(tree.target_shares(node) for node in tree.nodes))
        return {
            f"proba_{name}_{label}": [own[k] for own in by_node]
            for name, labels, by_node in zip(tree.labels.tolist(), tree.classes, by_target)
            for k, label in enumerate(labels.tolist())
        }
    by_node = [tree.shares(node) for node in tree.nodes]
    return {
        f"proba_{label}": [own[k] for own in by_node]
        for k, label in enumerate(tree.labels.tolist())
    }
