"""Small charts in SVG: lines over two axes, and bars with names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from certree.drawing.layout import SMALL
from certree.drawing.measure import cut, width_of
from certree.drawing.svg import STYLE, number, text

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    """Points that are joined, by steps (a value holds until the next point), or only dots."""

    points: Points
    name: str
    colour: int
    steps: bool = False
    dots: bool = False
    joined: bool = True
    dashed: bool = False


@dataclass(frozen=True)
class Frame:
    """Where a chart's axes are, and what they measure."""

    width: float
    height: float
    low: tuple[float, float]
    high: tuple[float, float]
    left: float
    bottom: float
    top: float = 26.0
    right: float = 14.0

    def x(self, value: float) -> float:
        share = (value - self.low[0]) / (self.high[0] - self.low[0])
        return self.left + share * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        share = (value - self.low[1]) / (self.high[1] - self.low[1])
        return self.height - self.bottom - share * (self.height - self.bottom - self.top)


def lines(
    shown: Sequence[Line],
    title: str,
    x_label: str,
    y_label: str,
    size: tuple[float, float] = (420.0, 240.0),
    limits: tuple[tuple[float, float], tuple[float, float]] | None = None,
) -> str:
    """A chart of lines. ``limits`` are the ends of both axes, else those of the points."""
    points = [
        point for line in shown for point in line.points if all(map(math.isfinite, point))
    ] or [(0.0, 0.0)]
    (x_low, x_high), (y_low, y_high) = limits or (
        _ends([x for x, _ in points]),
        _ends([y for _, y in points]),
    )
    y_ticks = ticks(y_low, y_high)
    left = 24 + max(width_of(_tick(tick), SMALL) for tick in y_ticks)
    frame = Frame(*size, (x_low, y_low), (x_high, y_high), left, 40.0)
    parts = [opened(title, *size), *_axes(frame, y_ticks, x_label, y_label)]
    parts += [_line(frame, line) for line in shown]
    named = [line for line in shown if line.name]
    at = frame.left
    for line in named:
        parts.append(
            f'<rect class="k{line.colour}" x="{number(at)}" y="8" width="10" height="10" rx="2"/>'
            f'<text x="{number(at + 15)}" y="17">{text(line.name)}</text>'
        )
        at += 15 + width_of(line.name, SMALL) + 16
    return "".join([*parts, "</svg>"])


def bars(
    named: Sequence[tuple[str, float]], title: str, width: float = 420.0, colour: int = 0
) -> str:
    """A bar for each name, with its value beside it."""
    values = [f"{value:.3g}" for _, value in named]
    label = min(max((width_of(name, SMALL) for name, _ in named), default=0.0), width * 0.45)
    room = width - label - max((width_of(value, SMALL) for value in values), default=0.0) - 24
    longest = max((abs(value) for _, value in named), default=0.0) or 1.0
    parts = [opened(title, width, 20.0 * len(named) + 8)]
    for at, ((name, value), words) in enumerate(zip(named, values)):
        y = 20.0 * at + 6
        end = label + 10 + max(room * abs(value) / longest, 0.75)
        parts.append(
            f'<text class="v" x="{number(label)}" y="{number(y + 11)}">'
            f"{text(cut(name, SMALL, label + 1))}</text>"
            f'<rect class="k{colour}" x="{number(label + 8)}" y="{number(y + 1)}" '
            f'width="{number(end - label - 10)}" height="12" rx="2"/>'
            f'<text class="m" x="{number(end + 2)}" y="{number(y + 11)}">{text(words)}</text>'
        )
    return "".join([*parts, "</svg>"])


def opened(title: str, width: float, height: float) -> str:
    """The beginning of a picture."""
    size = f'width="{number(width)}" height="{number(height)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="certree-picture" {size} '
        f'viewBox="0 0 {number(width)} {number(height)}" role="img" aria-label="{text(title)}">'
        f"<title>{text(title)}</title><style>{STYLE}</style>"
        f'<rect class="g" {size} rx="8"/>'
    )


def _axes(frame: Frame, y_ticks: Sequence[float], x_label: str, y_label: str) -> list[str]:
    start, end = frame.left, frame.width - frame.right
    base = frame.height - frame.bottom
    parts = []
    for tick in y_ticks:
        y = frame.y(tick)
        parts.append(
            f'<line class="a" x1="{number(start)}" x2="{number(end)}" y1="{number(y)}"'
            f' y2="{number(y)}"/><text class="m v" x="{number(start - 5)}"'
            f' y="{number(y + 4)}">{_tick(tick)}</text>'
        )
    for tick in ticks(frame.low[0], frame.high[0]):
        x = frame.x(tick)
        parts.append(
            f'<line class="a" x1="{number(x)}" x2="{number(x)}" y1="{number(base)}"'
            f' y2="{number(base + 4)}"/><text class="m c" x="{number(x)}"'
            f' y="{number(base + 16)}">{_tick(tick)}</text>'
        )
    middle = (frame.top + base) / 2
    parts.append(
        f'<text class="c" x="{number((start + end) / 2)}"'
        f' y="{number(frame.height - 7)}">{text(x_label)}</text><text class="c"'
        f' transform="translate(11 {number(middle)}) rotate(-90)">{text(y_label)}</text>'
    )
    return parts


def _line(frame: Frame, line: Line) -> str:
    places = [
        (number(frame.x(x)), number(frame.y(y)))
        for x, y in line.points
        if math.isfinite(x) and math.isfinite(y)
    ]
    if not places:
        return ""
    parts = []
    if line.joined and len(places) > 1:
        if line.steps:
            way = "".join(f"H{x}V{y}" for x, y in places[1:])
        else:
            way = "".join(f"L{x} {y}" for x, y in places[1:])
        dashed = ' stroke-dasharray="5 4"' if line.dashed else ""
        parts.append(
            f'<path class="s k{line.colour}"{dashed} d="M{places[0][0]} {places[0][1]}{way}"/>'
        )
    if line.dots or len(places) == 1:
        parts += [f'<circle class="k{line.colour}" cx="{x}" cy="{y}" r="4"/>' for x, y in places]
    return "".join(parts)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    if high > low:
        return low, high
    # One value alone has some room to both sides.
    room = abs(low) * 0.1 or 1.0
    return low - room, high + room


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between two ends.

    >>> ticks(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> ticks(3.0, 27.0)
    [5.0, 10.0, 15.0, 20.0, 25.0]
    """
    raw = (high - low) / about
    if not (math.isfinite(raw) and raw > 0):
        return [low]
    power = 10.0 ** math.floor(math.log10(raw))
    if power == 0:
        return [low, high]
    step = min((power * k for k in (1, 2, 5, 10)), key=lambda step: abs(step - raw))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    if last - first > 50:
        # The ends are so large and close that steps between them are lost in rounding.
        return [low, high]
    return [round(k * step, 12) if step > 1e-9 else k * step for k in range(first, last + 1)]


def _tick(value: float) -> str:
    return f"{value:.6g}"
