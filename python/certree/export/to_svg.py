"""A tree as an SVG picture: text stays text, and nothing is loaded from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from certree.drawing.contents import Bars, Curve, Labels, Names, Shares, Spread, renamed
from certree.drawing.layout import (
    BAR,
    LINE,
    PADDING,
    Card,
    Drawing,
    Entry,
    check_depth,
    layout,
)
from certree.drawing.measure import cut
from certree.drawing.palette import strength
from certree.drawing.svg import STYLE, number, text

if TYPE_CHECKING:
    from certree.tree import Tree

def to_svg(
    tree: Tree, names: Names = None, labels: Labels = None, max_depth: int | None = None
) -> str:
    return render(layout(renamed(tree, names, labels), check_depth(max_depth)))


def render(drawing: Drawing) -> str:
    width, height = number(drawing.width), number(drawing.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="certree-picture" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" role="list" '
        f'aria-label="{text(drawing.title)}">',
        f"<title>{text(drawing.title)}</title><style>{STYLE}</style>",
        f'<rect class="g" width="{width}" height="{height}" rx="8"/>',
        *map(_entry, drawing.legend),
    ]
    # Edges first, so that no edge crosses a card or the words on another edge.
    parts += [_edge(drawing, card) for card in drawing.cards if card.parent >= 0]
    parts += [_card(drawing, card) for card in drawing.cards]
    return "\n".join([*parts, "</svg>\n"])


def _entry(entry: Entry) -> str:
    if entry.colour is None:
        return (
            f'<text class="m" x="{number(entry.x)}" y="{number(entry.y)}">{text(entry.text)}</text>'
        )
    return (
        f'<rect class="k{entry.colour}" x="{number(entry.x)}" y="{number(entry.y - 10)}" width="12"'
        f' height="12" rx="2"/><text x="{number(entry.x + 18)}"'
        f' y="{number(entry.y)}">{text(entry.text)}</text>'
    )


def _edge(drawing: Drawing, card: Card) -> str:
    x, y, to_x, to_y = map(number, drawing.edge(card))
    if drawing.downwards:
        middle = number((drawing.edge(card)[1] + drawing.edge(card)[3]) / 2 - 6)
        way = f"M{x} {y}C{x} {middle} {to_x} {middle} {to_x} {to_y}"
    else:
        turn = number(drawing.edge(card)[0] + 22)
        way = f"M{x} {y}C{turn} {y} {x} {to_y} {turn} {to_y}L{to_x} {to_y}"
    return f'<path class="e" stroke-width="{number(1.2 + 5 * card.share)}" d="{way}"/>'


def _condition(drawing: Drawing, card: Card) -> str:
    """The words on the edge, with the ground's colour around them."""
    _, _, x, y = drawing.edge(card)
    if drawing.downwards:
        x, y, anchor = x, y - 9, "c h"
    else:
        x, y, anchor = x - 7, y - 6, "v h"
    return f'<text class="{anchor}" x="{number(x)}" y="{number(y)}">{text(card.condition)}</text>'


def _card(drawing: Drawing, card: Card) -> str:
    content = card.content
    x, y = number(card.x), number(card.y)
    size = f'width="{number(drawing.card_width)}" height="{number(drawing.card_height)}" rx="6"'
    sentence = text(content.sentence)
    parts = [
        f'<g role="listitem" data-node="{content.node}"'
        f' aria-label="{sentence}"><title>{sentence}</title>'
    ]
    if card.parent >= 0:
        parts.append(_condition(drawing, card))
    folded = " x" if content.folded else ""
    parts.append(f'<rect class="b{folded}" x="{x}" y="{y}" {size}/>')
    if content.colour is not None:
        tint = f'fill-opacity="{strength(content.strength):.2f}"'
        own = f"k{content.colour}"
        parts.append(f'<rect class="{own}" {tint} x="{x}" y="{y}" {size}/>')
        parts.append(
            f'<rect class="{own}" x="{x}" y="{number(card.y + 6)}" width="4" '
            f'height="{number(drawing.card_height - 12)}" rx="2"/>'
        )
    left, at = number(card.x + PADDING), card.y + PADDING + 11
    for line in card.title:
        parts.append(f'<text class="t" x="{left}" y="{number(at)}">{text(line)}</text>')
        at += LINE
    parts.append(f'<text class="m" x="{left}" y="{number(at)}">{text(card.details)}</text>')
    parts.append(_gauge(drawing, card))
    return "".join([*parts, "</g>"])


def _gauge(drawing: Drawing, card: Card) -> str:
    gauge = card.content.gauge
    x, y, width = card.x + PADDING, drawing.gauge_top(card), drawing.gauge_width
    if isinstance(gauge, Shares):
        return _shares(gauge, x, y, width)
    if isinstance(gauge, Spread):
        return _spread(gauge, x, y + 4, width)
    if isinstance(gauge, Bars):
        return _bars(gauge, x, y, width)
    if isinstance(gauge, Curve):
        return _curve(gauge, x, y, width, 28)
    return ""


def _shares(gauge: Shares, x: float, y: float, width: float) -> str:
    parts = []
    for share, colour in gauge.parts:
        # A small share is still seen, as a line.
        own = max(share * width - 1, 0.75)
        parts.append(
            f'<rect class="k{colour}" x="{number(x)}" y="{number(y)}" width="{number(own)}"'
            ' height="6"/>'
        )
        x += share * width
    return "".join(parts)


def _spread(gauge: Spread, x: float, y: float, width: float) -> str:
    low, mean, high = (x + width * each for each in (gauge.low, gauge.mean, gauge.high))
    line = f'y1="{number(y)}" y2="{number(y)}"'
    return (
        f'<line class="a" x1="{number(x)}" x2="{number(x + width)}" {line}/>'
        f'<line class="w" x1="{number(low)}" x2="{number(high)}" {line}/>'
        f'<circle class="k0" cx="{number(mean)}" cy="{number(y)}" r="4"/>'
    )


def _bars(gauge: Bars, x: float, y: float, width: float) -> str:
    parts = []
    columns = gauge.columns(width)
    for row in gauge.rows:
        weight = ' font-weight="700"' if row.answered else ""
        base = number(y + 9)
        label = text(cut(row.label, 10, columns.label + 1))
        parts.append(
            f'<text x="{number(x)}" y="{base}" style="font-size:10px"{weight}>{label}</text>'
            f'<rect class="k{row.colour}" x="{number(x + columns.label + 6)}" y="{number(y + 2)}" '
            f'width="{number(max(columns.bar * row.length, 0.75))}" height="7"/>'
            f'<text class="v" x="{number(x + width)}" y="{base}" style="font-size:10px"{weight}>'
            f"{text(row.value)}</text>"
        )
        y += BAR
    return "".join(parts)


def _curve(gauge: Curve, x: float, y: float, width: float, height: float) -> str:
    first, *rest = gauge.points
    way = [f"M{number(x + first[0] * width)} {number(y + (1 - first[1]) * height)}"]
    for share, value in rest:
        way.append(f"H{number(x + share * width)}V{number(y + (1 - value) * height)}")
    axes = f"M{number(x)} {number(y)}V{number(y + height)}H{number(x + width)}"
    return f'<path class="a" fill="none" d="{axes}"/><path class="w" d="{"".join(way)}"/>'
