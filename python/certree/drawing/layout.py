"""Where each card is drawn.

Every leaf has a slot of its own, and a split stands in the middle between its children. Two nodes
of one depth are at least a slot apart, because what is below them shares no slot, so that cards of
one size never overlap. Small trees grow downwards; larger ones, which would be wider than a page,
grow to the right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from certree.drawing.contents import Bars, Content, Curve, Legend, contents, legend
from certree.drawing.measure import BOLD, cut, width_of, wrapped

if TYPE_CHECKING:
    from certree.tree import Tree

TITLE, SMALL = 13.0, 11.0
"""Sizes of type, in pixels."""

PADDING = 10.0
MARGIN = 16.0
NARROWEST, WIDEST = 84.0, 200.0
"""Of what a card holds."""

NARROWEST_BARS = 136.0
"""Of a card with a bar for each label, and its name beside it."""

WIDEST_CONDITION = 120.0
WIDEST_LABEL = 220.0
PAGE = 1080.0
"""Wider trees than this grow to the right."""

LINE = 16.0
BAR = 13.0


@dataclass(frozen=True)
class Card:
    """A card in its place, and the edge that leads to it."""

    content: Content
    x: float
    y: float
    title: tuple[str, ...]
    details: str
    condition: str
    #: Of the parent's card, or -1 for the root.
    parent: int
    #: The share of the root's rows.
    share: float


@dataclass(frozen=True)
class Entry:
    """A colour with its text, or a note without a colour, in its place."""

    text: str
    colour: int | None
    x: float
    y: float


@dataclass(frozen=True)
class Drawing:
    """All that is to be drawn. Sizes are in pixels, y downwards."""

    width: float
    height: float
    cards: tuple[Card, ...]
    card_width: float
    card_height: float
    downwards: bool
    legend: tuple[Entry, ...]
    title: str

    @property
    def gauge_width(self) -> float:
        return self.card_width - 2 * PADDING

    def gauge_top(self, card: Card) -> float:
        """Below the lines of a card."""
        return card.y + PADDING + LINE * (len(card.title) + 1) + 2

    def edge(self, card: Card) -> tuple[float, float, float, float]:
        """From the parent's card to this one: x and y of both ends."""
        parent = self.cards[card.parent]
        if self.downwards:
            middle = self.card_width / 2
            return parent.x + middle, parent.y + self.card_height, card.x + middle, card.y
        middle = self.card_height / 2
        return parent.x + self.card_width, parent.y + middle, card.x, card.y + middle


def layout(tree: Tree, max_depth: int | None = None) -> Drawing:
    shown = contents(tree, max_depth)
    place = {content.node: at for at, content in enumerate(shown)}
    parents = [place[tree._parents[content.node]] for content in shown]
    depths = [tree.nodes[content.node].depth for content in shown]
    slots = _slots(shown, parents)
    n_slots = sum(content.colour is not None for content in shown)

    titles = [wrapped(content.title, TITLE * BOLD, WIDEST) for content in shown]
    details = [cut(content.details, SMALL, WIDEST) for content in shown]
    conditions = [cut(content.condition, SMALL, WIDEST_CONDITION) for content in shown]
    lines = [(line, TITLE * BOLD) for title in titles for line in title]
    lines += [(line, SMALL) for line in details]
    widest = max(width_of(line, size) for line, size in lines)
    bars = any(isinstance(content.gauge, Bars) for content in shown)
    card_width = min(max(widest, NARROWEST_BARS if bars else NARROWEST), WIDEST) + 2 * PADDING
    card_height = 2 * PADDING + LINE * (max(map(len, titles)) + 1) + _gauge_height(shown)
    condition_width = max(width_of(condition, SMALL) for condition in conditions)

    pitch = max(card_width, condition_width + 8) + 18
    downwards = MARGIN * 2 + pitch * n_slots <= PAGE
    top, entries, legend_width = _legend(
        legend(tree), max(pitch * n_slots, 480) if downwards else 900
    )
    if downwards:
        steps = pitch, card_height + 52
    else:
        steps = card_height + 14, card_width + condition_width + 44
    cards = []
    rows = max(tree.nodes[0].rows, 1)
    for at, content in enumerate(shown):
        across, along = slots[at] * steps[0], depths[at] * steps[1]
        x, y = (across, along) if downwards else (along, across)
        share = tree.nodes[content.node].rows / rows
        parent = -1 if at == 0 else parents[at]
        own = titles[at], details[at], conditions[at]
        cards.append(Card(content, MARGIN + x, top + y, *own, parent, share))
    right = max(card.x for card in cards) + card_width
    bottom = max(card.y for card in cards) + card_height
    width = max(right, legend_width) + MARGIN
    n_leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves} leaves"
    title = f"Decision tree: {n_leaves}, depth {tree.depth}"
    return Drawing(
        width, bottom + MARGIN, tuple(cards), card_width, card_height, downwards, entries, title
    )


def check_depth(max_depth: int | None) -> int | None:
    if max_depth is not None and (isinstance(max_depth, bool) or not max_depth >= 0):
        raise ValueError(f"max_depth={max_depth!r} must be a number of at least 0, or None")
    return max_depth


def _slots(shown: list[Content], parents: list[int]) -> list[float]:
    """By card: its leaf's slot, or the middle of its first and last child's."""
    slots = [0.0] * len(shown)
    children: list[list[float]] = [[] for _ in shown]
    taken = sum(content.colour is not None for content in shown)
    # Backwards children come before their parent, and right ones first.
    for at in range(len(shown) - 1, -1, -1):
        if shown[at].colour is None:
            slots[at] = sum(children[at]) / len(children[at])
        else:
            taken -= 1
            slots[at] = float(taken)
        if at:
            children[parents[at]].append(slots[at])
    return slots


def _gauge_height(shown: list[Content]) -> float:
    tallest = 0.0
    for content in shown:
        if isinstance(content.gauge, Bars):
            tallest = max(tallest, BAR * len(content.gauge.rows))
        elif isinstance(content.gauge, Curve):
            tallest = max(tallest, 30.0)
        elif content.gauge is not None:
            tallest = max(tallest, 8.0)
    return tallest


def _legend(given: Legend, width: float) -> tuple[float, tuple[Entry, ...], float]:
    """Where the tree begins below the legend, the legend's entries, and where they end."""
    entries = []
    x, y, right = MARGIN, MARGIN + 10, 0.0
    texts = [*given.colours, (given.note, None)] if given.note else list(given.colours)
    for text, colour in texts:
        text = cut(text, SMALL, WIDEST_LABEL if colour is not None else 2 * WIDEST_LABEL)
        need = width_of(text, SMALL) + (18 if colour is not None else 0)
        if x > MARGIN and x + need > width:
            x, y = MARGIN, y + 18
        entries.append(Entry(text, colour, x, y))
        right = max(right, x + need)
        x += need + 18
    return (y + 18 if entries else MARGIN), tuple(entries), right
