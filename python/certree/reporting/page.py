"""The page of a report: its style, its script, and how parts of it are written.

The page forbids itself to load anything, and to run any script but its own, whose digest it names,
so that a name in the data that looks like a script is not run even if it were not escaped.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape

from certree.drawing.palette import themed
from certree.drawing.svg import FONT, text

STYLE = (
    themed(":root")
    + f"body{{margin:0;background:var(--ground);color:var(--ink);font:15px/1.55 {FONT}}}"
    "main{max-width:1120px;margin:0 auto;padding:24px 20px 64px}"
    "h1{font-size:26px;margin:0 0 4px}h2{font-size:19px;margin:36px 0 8px;"
    "border-bottom:1px solid var(--line);padding-bottom:4px}h3{font-size:16px;margin:20px 0 6px}"
    "p{margin:6px 0}nav a{margin-right:14px}a{color:inherit}.muted{color:var(--muted)}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "td,th{padding:4px 14px 4px 0;text-align:left;border-bottom:1px solid var(--line);"
    "vertical-align:top;overflow-wrap:anywhere}td.n,th.n{text-align:right;overflow-wrap:normal}"
    "pre{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:10px;"
    "overflow-x:auto;font-size:13px;white-space:pre-wrap;overflow-wrap:anywhere}"
    "button,input{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);"
    "border-radius:6px;padding:3px 10px}button{cursor:pointer}"
    ":focus-visible{outline:3px solid var(--k0);outline-offset:1px}"
    ".outline ul{list-style:none;margin:0;padding-left:22px;border-left:1px solid var(--line)}"
    ".outline>ul{padding-left:0;border:0}.outline li{margin:2px 0}summary{cursor:pointer}"
    ".outline button{padding:0 8px;margin-left:6px}.found{outline:2px solid"
    " var(--k1);border-radius:4px}"
    ".leaf{border:1px solid var(--line);border-radius:8px;padding:4px 16px 12px;margin:10px 0}"
    ".sides{display:flex;flex-wrap:wrap;gap:24px}[data-node]{cursor:pointer}"
    "@media print{nav,.tools,.outline{display:none}.leaf[hidden]{display:block!important}"
    "h2{break-after:avoid}.leaf,tr{break-inside:avoid}main{max-width:none;padding:0}"
    ".wide{overflow:visible}svg{max-width:100%;height:auto}}"
)

SCRIPT = """
"use strict";
(function () {
  const outline = document.getElementById("outline");
  const folds = Array.from(outline.querySelectorAll("details"));
  const leaves = Array.from(document.querySelectorAll(".leaf"));
  const status = document.getElementById("search-status");
  function show(id) {
    for (const leaf of leaves) { leaf.hidden = leaf.id !== "leaf-" + id; }
    const chosen = document.getElementById("leaf-" + id);
    if (chosen) { chosen.focus(); chosen.scrollIntoView({ block: "nearest" }); }
  }
  function open(id) {
    const fold = document.getElementById("node-" + id);
    if (fold) { fold.open = true; fold.querySelector("summary").focus(); }
  }
  for (const leaf of leaves) { leaf.hidden = true; }
  for (const button of outline.querySelectorAll("[data-leaf]")) {
    button.addEventListener("click", function () { show(button.dataset.leaf); });
  }
  for (const card of document.querySelectorAll("#picture [data-node]")) {
    const id = card.dataset.node;
    const choose = function () {
      if (document.getElementById("leaf-" + id)) { show(id); } else { open(id); }
    };
    card.setAttribute("tabindex", "0");
    card.addEventListener("click", choose);
    card.addEventListener("keydown", function (event) {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); }
    });
  }
  document.getElementById("unfold").addEventListener("click", function () {
    for (const fold of folds) { fold.open = true; }
  });
  document.getElementById("fold").addEventListener("click", function () {
    for (const fold of folds) { fold.open = false; }
  });
  document.getElementById("search").addEventListener("input", function (event) {
    const wanted = event.target.value.trim().toLowerCase();
    let count = 0;
    for (const line of outline.querySelectorAll("[data-line]")) {
      const found = wanted !== "" && line.dataset.line.toLowerCase().includes(wanted);
      line.classList.toggle("found", found);
      if (!found) { continue; }
      count += 1;
      for (let at = line.parentElement; at && at !== outline; at = at.parentElement) {
        if (at.tagName === "DETAILS") { at.open = true; }
      }
    }
    const lines = count === 1 ? " line found" : " lines found";
    status.textContent = wanted === "" ? "" : count + lines;
  });
})();
"""

Cell = object


def page(title: str, sections: Iterable[tuple[str, str, str]]) -> str:
    """The whole file, of (id, heading, HTML)."""
    sections = list(sections)
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    links = "".join(f'<a href="#{name}">{text(heading)}</a>' for name, heading, _ in sections)
    bodies = "".join(
        f'<section id="{name}"><h2>{text(heading)}</h2>{body}</section>'
        for name, heading, body in sections
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{text(title)}</title>'
        f"<style>{STYLE}</style><noscript><style>.tools{{display:none}}</style></noscript></head>\n"
        f'<body><main><h1>{text(title)}</h1><nav aria-label="Sections">{links}</nav>\n'
        f"{bodies}</main>\n<script>{SCRIPT}</script></body></html>\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]], numbers: int = 0) -> str:
    """A table; its last columns, as many as ``numbers``, hold numbers."""
    first = len(head) - numbers

    def line(cells: Sequence[Cell], tag: str) -> str:
        written = []
        for at, cell in enumerate(cells):
            kind = ' class="n"' if at >= first else ""
            scope = ' scope="col"' if tag == "th" else ""
            written.append(f"<{tag}{scope}{kind}>{text(str(cell))}</{tag}>")
        return f"<tr>{''.join(written)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return (
        "<div"
        f' class="wide"><table><thead>{line(head, "th")}</thead><tbody>{body}</tbody></table></div>'
    )


def paragraph(words: str, kind: str = "") -> str:
    return f'<p class="{kind}">{text(words)}</p>' if kind else f"<p>{text(words)}</p>"


def code(source: str) -> str:
    """Source code, whose lines stay lines."""
    return f"<pre><code>{escape(source)}</code></pre>"
