"""How wide a text is about, and texts cut to a width, without a font to ask.

The widths are those of Helvetica, in shares of the font's size, rounded up to a few groups, with
room for the wider fonts that some systems have instead.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_ROOM = 1.09
_GROUPS = {
    "ijl'|": 0.24,
    " .,:;!/\\ftI[]()": 0.3,
    'r-"{}*°`': 0.36,
    "ckszvxyJ": 0.52,
    "mwMW@%…": 0.9,
    "ABCDEFGHKLNOPQRSTUVXYZ&": 0.72,
    "<>=+~^≤≥≠−": 0.6,
}
_WIDTHS = {character: width * _ROOM for group, width in _GROUPS.items() for character in group}
_OTHER = 0.57
BOLD = 1.15
"""How much wider bold type is."""


def width_of(text: str, size: float) -> float:
    """About how wide a text is, in the unit of ``size``."""
    return sum(map(_width, text)) * size


@lru_cache(maxsize=4096)
def _width(character: str) -> float:
    known = _WIDTHS.get(character)
    if known is not None:
        return known
    if character.isascii():
        return _OTHER * _ROOM
    if unicodedata.combining(character):
        return 0.0
    return 1.0 if unicodedata.east_asian_width(character) in "WF" else 0.62 * _ROOM


def cut(text: str, size: float, width: float) -> str:
    """The text, or as much of it as fits into a width with an ellipsis.

    >>> cut("a very long name", 10, 60)
    'a very lon…'
    >>> cut("short", 10, 60)
    'short'
    """
    if width_of(text, size) <= width:
        return text
    left = width / size - _width("…")
    for end, character in enumerate(text):
        left -= _width(character)
        if left < 0:
            return text[:end].rstrip() + "…"
    return text


def wrapped(text: str, size: float, width: float, lines: int = 2) -> tuple[str, ...]:
    """The text in at most so many lines, broken between words where it can be, and the last one
    cut.

    >>> wrapped("mean corpuscular haemoglobin concentration", 10, 110)
    ('mean corpuscular', 'haemoglobin conce…')
    """
    found: list[str] = []
    rest = text
    while len(found) + 1 < lines and width_of(rest, size) > width:
        end = _break(rest, size, width)
        if end == 0:
            break
        found.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return (*found, cut(rest, size, width))


def _break(text: str, size: float, width: float) -> int:
    """Where the first line ends: after its last whole word or underscore, else in a word."""
    left, last, end = width / size, 0, 0
    for end, character in enumerate(text):
        left -= _width(character)
        if left < 0:
            break
        if character in " _-/.":
            last = end + 1
    return last or end
