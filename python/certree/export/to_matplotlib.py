"""A tree on matplotlib's axes: the cards that the SVG picture has, in their places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from certree.drawing.axes import given_or_new
from certree.drawing.contents import Bars, Curve, Labels, Names, Shares, Spread, renamed
from certree.drawing.layout import (
    BAR,
    LINE,
    PADDING,
    SMALL,
    TITLE,
    Card,
    Drawing,
    check_depth,
    layout,
)
from certree.drawing.measure import cut
from certree.drawing.palette import INK, LIGHT, LINES, MUTED, strength

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from certree.tree import Tree

PER_INCH = 96.0
"""Pixels of the drawing for each inch of a new figure."""


def plot(
    tree: Tree,
    ax: Axes | None = None,
    names: Names = None,
    labels: Labels = None,
    max_depth: int | None = None,
) -> Axes:
    drawing = layout(renamed(tree, names, labels), check_depth(max_depth))
    ax = given_or_new(ax, drawing.width / PER_INCH, drawing.height / PER_INCH)
    ax.set_xlim(0, drawing.width)
    ax.set_ylim(drawing.height, 0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    pen = _Pen(ax, drawing)
    for entry in drawing.legend:
        if entry.colour is None:
            pen.text(entry.x, entry.y, entry.text, SMALL, color=MUTED)
        else:
            pen.box(entry.x, entry.y - 10, 12, 12, LIGHT[entry.colour])
            pen.text(entry.x + 18, entry.y, entry.text, SMALL)
    for card in drawing.cards:
        if card.parent >= 0:
            pen.edge(card)
    for card in drawing.cards:
        pen.card(card)
    return ax


class _Pen:
    """Draws on axes whose unit is a pixel of the drawing."""

    def __init__(self, ax: Axes, drawing: Drawing) -> None:
        self.ax, self.drawing = ax, drawing
        figure: Any = ax.get_figure(root=True)
        # On axes of another size, type is as much larger or smaller as the cards are.
        box = ax.get_position()
        width, height = figure.get_size_inches()
        scales = box.width * width / drawing.width, box.height * height / drawing.height
        self.point = 72 * min(scales)

    def text(self, x: float, y: float, text: str, size: float, **style: Any) -> None:
        # Names with dollars are names, not formulas.
        self.ax.text(
            x, y, text, parse_math=False, **{"fontsize": size * self.point, "color": INK, **style}
        )

    def line(self, x: list[float], y: list[float], width: float, colour: str, **style: Any) -> None:
        self.ax.plot(x, y, linewidth=width * self.point, color=colour, **style)

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        from matplotlib.patches import Rectangle

        self.ax.add_patch(Rectangle((x, y), width, height, facecolor=colour, linewidth=0, zorder=3))

    def edge(self, card: Card) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        x, y, to_x, to_y = self.drawing.edge(card)
        if self.drawing.downwards:
            middle = (y + to_y) / 2 - 6
            points = [(x, y), (x, middle), (to_x, middle), (to_x, to_y)]
        else:
            turn = x + 22
            points = [(x, y), (turn, y), (x, to_y), (turn, to_y), (to_x, to_y)]
        codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4, Path.LINETO][: len(points)]
        width = (1.2 + 5 * card.share) * self.point
        self.ax.add_patch(
            PathPatch(Path(points, codes), fill=False, edgecolor=LINES, linewidth=width, zorder=1)
        )
        ground = {"facecolor": "white", "edgecolor": "none", "pad": 1.0 * self.point}
        if self.drawing.downwards:
            x, y, side = to_x, to_y - 9, "center"
        else:
            x, y, side = to_x - 7, to_y - 6, "right"
        self.text(x, y, card.condition, SMALL, ha=side, bbox=ground, zorder=2)

    def card(self, card: Card) -> None:
        from matplotlib.patches import FancyBboxPatch

        drawing, content = self.drawing, card.content
        shape: Any = {"boxstyle": "round,pad=0,rounding_size=6", "linewidth": self.point}
        place = (card.x, card.y), drawing.card_width, drawing.card_height
        style = "--" if content.folded else "-"
        self.ax.add_patch(
            FancyBboxPatch(
                *place, facecolor="white", edgecolor=LINES, linestyle=style, zorder=2, **shape
            )
        )
        if content.colour is not None:
            colour = LIGHT[content.colour]
            tint = strength(content.strength)
            self.ax.add_patch(
                FancyBboxPatch(*place, facecolor=colour, alpha=tint, zorder=2, **shape)
            )
            self.box(card.x, card.y + 6, 4, drawing.card_height - 12, colour)
        at = card.y + PADDING + 11
        for line in card.title:
            self.text(card.x + PADDING, at, line, TITLE, fontweight="bold", zorder=3)
            at += LINE
        self.text(card.x + PADDING, at, card.details, SMALL, color=MUTED, zorder=3)
        self.gauge(card)

    def gauge(self, card: Card) -> None:
        gauge = card.content.gauge
        x, y = card.x + PADDING, self.drawing.gauge_top(card)
        width = self.drawing.gauge_width
        if isinstance(gauge, Shares):
            for share, colour in gauge.parts:
                self.box(x, y, max(share * width - 1, 0.75), 6, LIGHT[colour])
                x += share * width
        elif isinstance(gauge, Spread):
            low, mean, high = (x + width * each for each in (gauge.low, gauge.mean, gauge.high))
            self.line([x, x + width], [y + 4, y + 4], 1, LINES, zorder=3)
            self.line([low, high], [y + 4, y + 4], 1.5, INK, zorder=3)
            self.line([mean], [y + 4], 1, LIGHT[0], marker="o", markersize=8 * self.point, zorder=4)
        elif isinstance(gauge, Bars):
            self.bars(gauge, x, y, width)
        elif isinstance(gauge, Curve):
            self.line([x, x, x + width], [y, y + 28, y + 28], 1, LINES, zorder=3)
            across = [x + width * each for each, _ in gauge.points]
            down = [y + 28 * (1 - value) for _, value in gauge.points]
            self.line(across, down, 1.5, INK, drawstyle="steps-post", zorder=3)

    def bars(self, gauge: Bars, x: float, y: float, width: float) -> None:
        columns = gauge.columns(width)
        for row in gauge.rows:
            weight = "bold" if row.answered else "normal"
            label = cut(row.label, 10, columns.label + 1)
            style: Any = {"fontweight": weight, "zorder": 3}
            self.text(x, y + 9, label, 10, **style)
            length = max(columns.bar * row.length, 0.75)
            self.box(x + columns.label + 6, y + 2, length, 7, LIGHT[row.colour])
            self.text(x + width, y + 9, row.value, 10, ha="right", **style)
            y += BAR
