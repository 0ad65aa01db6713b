"""What all SVG pictures share: the style, and how numbers and text are written.

Colours are classes of a style within the picture, which follows the reader's choice of light or
dark, and that of a notebook. A picture may stand within a page, so every rule of the style begins
with the picture's own class.
"""

from __future__ import annotations

from html import escape

from certree.drawing.layout import SMALL, TITLE
from certree.drawing.palette import LIGHT, themed

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

def _style() -> str:
    own = "certree-picture"
    rules = [
        themed(f".{own}"),
        f".{own}{{font-family:{FONT}}}",
        f".{own} text{{fill:var(--ink);font-size:{SMALL:g}px;unicode-bidi:plaintext}}",
        # Conditions read from left to right, also where the value they ask for does not.
        f".{own} .h{{unicode-bidi:normal}}",
        f".{own} .t{{font-size:{TITLE:g}px;font-weight:600}}",
        f".{own} .m{{fill:var(--muted)}}",
        f".{own} .c{{text-anchor:middle}}",
        f".{own} .v{{text-anchor:end}}",
        f".{own} .g{{fill:var(--ground)}}",
        f".{own} .b{{fill:var(--card);stroke:var(--line)}}",
        f".{own} .e{{fill:none;stroke:var(--line);stroke-linecap:round}}",
        (
            f".{own}"
            " .h{stroke:var(--ground);stroke-width:4px;stroke-linejoin:round;paint-order:stroke}"
        ),
        f".{own} .x{{stroke-dasharray:4 3}}",
        f".{own} .w{{fill:none;stroke:var(--ink);stroke-width:1.5px}}",
        f".{own} .a{{stroke:var(--line);stroke-width:1px}}",
        *(
            f".{own} .k{k}{{fill:var(--k{k})}}.{own} .s.k{k}{{fill:none;stroke:var(--k{k})}}"
            for k in range(len(LIGHT))
        ),
        f".{own} .s{{fill:none;stroke-width:2px;stroke-linejoin:round}}",
        f".{own} [role=listitem]:hover>.b{{stroke:var(--ink)}}",
    ]
    return "".join(rules)


STYLE = _style()


def number(value: float) -> str:
    """A length to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def text(value: str) -> str:
    """Text for an attribute or an element; what XML forbids becomes a mark."""
    if not value.isprintable():
        value = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in value)
    return escape(value, quote=True)
