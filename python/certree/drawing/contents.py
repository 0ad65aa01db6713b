"""What the card of each node says and shows, as the tree's task is.

A gauge is the small picture on a card: the shares of classes, a mean with its spread, the mean cost
or reward of each label, or a survival curve. All of its numbers are shares from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from certree.conditions import brief, plain
from certree.drawing.measure import width_of
from certree.node_words import answer_text, mean_texts, percent, rows_text, value_texts
from certree.variances import variances
from certree.schema import NUMBERS, Task

if TYPE_CHECKING:
    from certree.nodes import Node
    from certree.tree import Tree

#: How many labels have a colour of their own; the others share the one after the last.
COLOURS = 7
#: How many labels of costs or rewards have a bar on a card.
MOST_BARS = 4


@dataclass(frozen=True)
class Shares:
    """One bar, divided among (share, colour)."""

    parts: tuple[tuple[float, int], ...]


@dataclass(frozen=True)
class Spread:
    """A mean on an axis, with a standard deviation to both sides where that is known."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Bars:
    """A bar for each label."""

    rows: tuple[Bar, ...]

    def columns(self, width: float) -> Columns:
        """How a card's width is divided, in type of 10 pixels."""
        label = min(max(width_of(row.label, 10) for row in self.rows), width * 0.38)
        value = max(width_of(row.value, 10) for row in self.rows)
        return Columns(label, max(width - label - value - 12, 6))


class Columns(NamedTuple):
    """Widths of the label and of the longest bar."""

    label: float
    bar: float


@dataclass(frozen=True)
class Bar:
    label: str
    value: str
    #: From 0 to 1.
    length: float
    colour: int
    #: True of the label that is answered.
    answered: bool


@dataclass(frozen=True)
class Curve:
    """A line of (x, y) that goes by steps, y upwards."""

    points: tuple[tuple[float, float], ...]


Gauge = Shares | Spread | Bars | Curve


@dataclass(frozen=True)
class Content:
    """What is known of one node's card before it has a place."""

    node: int
    title: str
    details: str
    gauge: Gauge | None
    #: The colour of a leaf, and how strong it is from 0 to 1; None for a split.
    colour: int | None
    strength: float
    #: What holds on the edge to this node, briefly; empty for the root.
    condition: str
    #: All of it, for a tooltip and a screen reader.
    sentence: str
    #: True of a split that is drawn as a leaf because its children are too deep.
    folded: bool = False


@dataclass(frozen=True)
class Legend:
    """What the colours mean, (text, colour), and what the gauges are in words."""

    colours: tuple[tuple[str, int], ...]
    note: str


Names = Mapping[str, str] | Sequence[str] | None
Labels = Mapping[Any, str] | Sequence[str] | None


def renamed(tree: Tree, names: Names = None, labels: Labels = None) -> Tree:
    """The tree with other names of columns and labels, to be shown."""
    if names is None and labels is None:
        return tree
    columns = [column.name for column in tree.columns]
    shown = _translated("names", "column", columns, names)
    own: list[Any] = tree.labels.tolist()
    texts = own if labels is None else _translated("labels", "label", own, labels)
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return type(tree)(
        tree._core,
        [replace(column, name=name) for column, name in zip(tree.columns, shown)],
        tree.labels if labels is None else array,
        tree.task,
        tree.classes,
        tree.curves,
        tree.missing_unseen,
        tree.unseen,
    )


def _translated(parameter: str, word: str, known: Sequence[Any], given: Any) -> list[str]:
    if given is None:
        return list(known)
    if isinstance(given, str):
        raise TypeError(f"{parameter} must be a mapping or a sequence of texts, not one text")
    if isinstance(given, Mapping):
        keys = set(map(_key, known))
        for key in given:
            if _key(key) not in keys:
                raise ValueError(f"{parameter}: the tree has no {word} {key!r}")
        return [str(given.get(each, each)) for each in known]
    texts = [str(each) for each in given]
    if len(texts) != len(known):
        raise ValueError(
            f"{parameter} has {len(texts)} texts, but the tree has {len(known)} {word}s"
        )
    return texts


def _key(value: Any) -> Hashable:
    own: Hashable = value.item() if isinstance(value, np.generic) else value
    return own


def contents(tree: Tree, max_depth: int | None = None) -> list[Content]:
    """A card's content for each node that is drawn: a parent before its children, left ones first.
    """
    gauges = _gauges(tree)
    strengths = _strengths(tree)
    colours = colour_by_label(tree)
    leaves = _leaves_below(tree)
    found: list[Content] = []
    # A stack of (node id, the brief condition, all conditions that lead to it).
    waiting: list[tuple[int, str, tuple[str, ...]]] = [(0, "", ())]
    while waiting:
        index, condition, path = waiting.pop()
        node = tree.nodes[index]
        folded = node.split is not None and max_depth is not None and node.depth >= max_depth
        opened = None if folded else node.split
        answer = answer_text(tree, node)
        found.append(
            Content(
                index,
                plain(opened.column.name) if opened else answer,
                _details(tree, node, leaves[index] if folded else 0),
                gauges[index],
                None if opened else colours.get(node.label, 0),
                strengths[index],
                condition,
                _sentence(tree, node, path, leaves[index] if folded else 0),
                folded,
            )
        )
        if opened:
            name = plain(opened.column.name)
            short = brief(opened.column, opened.test, opened.missing)
            sides = zip((opened.left, opened.right), short, opened.words)
            # The left child is drawn first, so that it goes onto the stack last.
            for child, few, words in reversed(list(sides)):
                waiting.append((child, few, _and(path, f"{name} {words}")))
    return found


#: The sentence of a deeper node leaves its first conditions out, because a text for each node that
#: tells the whole path would grow with the square of the depth.
MOST_CONDITIONS = 12


def _and(path: tuple[str, ...], condition: str) -> tuple[str, ...]:
    longer = (*path, condition)
    return longer if len(longer) <= MOST_CONDITIONS else ("…", *longer[2:])


def _sentence(tree: Tree, node: Node, path: Sequence[str], folded: int) -> str:
    where = f"If {' and '.join(path)}: " if path else "All rows: "
    held = value_texts(tree, node) if tree.task not in NUMBERS else mean_texts(tree, node)
    told = ", ".join([rows_text(node), *held])
    if node.split is None:
        return f"{where}{answer_text(tree, node)}. {told}."
    if folded:
        return f"{where}{answer_text(tree, node)} at best, of {folded} leaves not shown. {told}."
    return f"{where}next, is {node.test}? {told}."


def _details(tree: Tree, node: Node, folded: int) -> str:
    texts = [rows_text(node)]
    if tree.task == "classification" and (node.is_leaf or folded):
        texts.append(percent(dict(zip(tree.labels.tolist(), tree.shares(node)))[node.label]))
    if folded:
        texts.append(f"{folded} leaves")
    return " · ".join(texts)


def _leaves_below(tree: Tree) -> list[int]:
    counts = [1] * len(tree.nodes)
    # Children come after their parent.
    for node in reversed(tree.nodes):
        if node.split:
            counts[node.id] = counts[node.split.left] + counts[node.split.right]
    return counts


def colour_by_label(tree: Tree) -> dict[Any, int]:
    """A colour for each label; where there are too many, for those of most rows at the root."""
    if tree.task in NUMBERS or tree.task == "targets":
        return {}
    labels = tree.labels.tolist()
    first = list(range(len(labels)))
    if len(labels) > COLOURS and tree.task == "classification":
        root = tree.nodes[0].value
        first = sorted(sorted(first, key=lambda k: -root[k])[:COLOURS])
    own = {labels[k]: colour for colour, k in enumerate(first[:COLOURS])}
    return {label: own.get(label, COLOURS) for label in labels}


def legend(tree: Tree) -> Legend:
    colours = colour_by_label(tree)
    named = [(plain(str(label)), colour) for label, colour in colours.items() if colour < COLOURS]
    if len(named) < len(colours):
        named.append((f"{len(colours) - len(named)} others", COLOURS))
    return Legend(tuple(named), _note(tree))


def _note(tree: Tree) -> str:
    if tree.task == "survival":
        curve = "; the line is the share without an event, by time" if tree.curves else ""
        return f"hazard ratio{curve}"
    if tree.task in NUMBERS:
        names = [plain(str(name)) for name in tree.labels.tolist()]
        word = NUMBERS[tree.task]
        if len(names) > 1 or names == [word]:
            return word
        spread = "; the line is one standard deviation to each side" if _spreads(tree) else ""
        return f"{word} of {names[0]}{spread}"
    if tree.task in ("costs", "rewards"):
        return f"bars: mean {tree.task}"
    return ""


def _gauges(tree: Tree) -> list[Gauge | None]:
    task: Task = tree.task
    if task == "classification":
        return [_class_shares(tree, node) for node in tree.nodes]
    if task in ("costs", "rewards"):
        return [_bars(tree, node) for node in tree.nodes]
    if task == "survival" and tree.curves:
        return [_curve(tree, node.id) for node in tree.nodes]
    if task in NUMBERS and len(tree.labels) == 1:
        return _means(tree)
    return [None] * len(tree.nodes)


def _class_shares(tree: Tree, node: Node) -> Shares:
    by_colour = [0.0] * (COLOURS + 1)
    for share, colour in zip(tree.shares(node), colour_by_label(tree).values()):
        by_colour[colour] += share
    return Shares(tuple((share, k) for k, share in enumerate(by_colour) if share > 0))


def _bars(tree: Tree, node: Node) -> Bars:
    named = list(zip(tree.labels.tolist(), node.value, colour_by_label(tree).values()))
    longest = max((abs(value) for each in tree.nodes for value in each.value), default=0.0) or 1.0
    best = sorted(named, key=lambda each: each[1], reverse=tree.task == "rewards")[:MOST_BARS]
    shown = [each for each in named if each in best] if len(named) > MOST_BARS else named
    rows = [
        Bar(
            plain(str(label)), f"{value:.4g}", abs(value) / longest, colour, label == node.label
        )
        for label, value, colour in shown
    ]
    return Bars(tuple(rows))


def _curve(tree: Tree, node: int) -> Curve | None:
    own = tree.curves.get(node)
    if own is None:
        return None
    times, shares = own
    if len(times) == 0 or times[-1] <= 0:
        return None
    # More steps than this are not told apart on a card.
    kept = np.unique(np.linspace(0, len(times) - 1, min(len(times), 48)).astype(int))
    points = zip((times[kept] / times[-1]).tolist(), shares[kept].tolist())
    return Curve(((0.0, 1.0), *points))


def _means(tree: Tree) -> list[Gauge | None]:
    spreads = _spreads(tree) or [0.0] * len(tree.nodes)
    means = [node.value[0] for node in tree.nodes]
    low = min(mean - spread for mean, spread in zip(means, spreads))
    high = max(mean + spread for mean, spread in zip(means, spreads))
    scale = (high - low) or 1.0
    return [
        Spread((mean - low) / scale, (mean - spread - low) / scale, (mean + spread - low) / scale)
        for mean, spread in zip(means, spreads)
    ]


def _spreads(tree: Tree) -> list[float] | None:
    """The standard deviation of the target at each node; ``None`` where nodes do not tell."""
    known = variances(tree) if len(tree.labels) == 1 else None
    return None if known is None else [math.sqrt(each) for each in known.tolist()]


def _strengths(tree: Tree) -> list[float]:
    """How strong the colour of each node is as a leaf: by its share of the answered class, or by
    where its number is among those of the tree."""
    if tree.task == "classification":
        return [max(tree.shares(node), default=1.0) for node in tree.nodes]
    if tree.task in NUMBERS and len(tree.labels) == 1:
        values = [node.value[0] for node in tree.leaves]
        low, high = min(values), max(values)
        scale = (high - low) or 1.0
        return [min(max((node.value[0] - low) / scale, 0.0), 1.0) for node in tree.nodes]
    return [0.7] * len(tree.nodes)
