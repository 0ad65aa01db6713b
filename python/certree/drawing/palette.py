"""Colours of pictures."""

from __future__ import annotations

# Okabe and Ito's colours, which people who see colours differently tell apart; the last is for all
# labels beyond them. Dark ones are lightened until they stand out against a dark page.
LIGHT = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b3a500", "#8a8f98")
DARK = ("#4a9fe0", "#f0b030", "#2fc49a", "#e39bc4", "#9ad4f7", "#ff8a4c", "#e8dc4a", "#9aa1ab")

#: Of text, of text of less weight, and of lines, on a light page.
INK, MUTED, LINES = "#1b1f24", "#444c56", "#c3cad2"


def strength(share: float) -> float:
    """How opaque the colour of a leaf is, so that text upon it stays readable."""
    return 0.08 + 0.24 * share


def _variables(ink: str, colours: tuple[str, ...]) -> str:
    return ink + "".join(f"--k{k}:{colour};" for k, colour in enumerate(colours))


#: The colours as variables of CSS, on a light page and on a dark one.
LIGHT_CSS = _variables(
    f"--ground:#ffffff;--card:#ffffff;--ink:{INK};--muted:{MUTED};--line:{LINES};", LIGHT
)
DARK_CSS = _variables(
    "--ground:#15181c;--card:#1f242a;--ink:#f0f3f6;--muted:#d5dbe2;--line:#4a535d;", DARK
)


def themed(selector: str) -> str:
    """Rules of CSS that give an element these variables, as its reader chose. Notebooks have a
    theme of their own, whatever the system's is, and paper is light."""
    return "".join(
        [
            f"{selector}{{{LIGHT_CSS}}}",
            f"@media (prefers-color-scheme:dark){{{selector}{{{DARK_CSS}}}}}",
            f"[data-jp-theme-light=true] {selector},.vscode-light {selector}{{{LIGHT_CSS}}}",
            f"[data-jp-theme-light=false] {selector},.vscode-dark {selector}{{{DARK_CSS}}}",
            f"@media print{{{selector}{{{LIGHT_CSS}}}}}",
        ]
    )
