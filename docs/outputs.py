"""Run the Python blocks of pages, and write what they print into the text blocks that follow them.

    python docs/outputs.py docs/start.md ...

The tests compare them, but for seconds, which stay as they are written where nothing else changed.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

#: A block that runs, and the block of what it prints.
PAIR = re.compile(r"```python\n(?P<code>.*?)```(\n\n```text\n(?P<printed>.*?)```)?", re.DOTALL)


def timeless(text: str) -> str:
    """How long a search took differs from run to run."""
    return re.sub(r"after \S+ s\.", "after … s.", text.strip())


def refreshed(page: Path) -> str:
    """The page with what its blocks print now. Blocks share their names, as cells do."""
    names: dict[str, Any] = {}

    def run(found: re.Match[str]) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(found["code"], str(page), "exec"), names)
        if found["printed"] is None or timeless(out.getvalue()) == timeless(found["printed"]):
            return found[0]
        return f"```python\n{found['code']}```\n\n```text\n{out.getvalue().strip()}\n```"

    return PAIR.sub(run, page.read_text(encoding="utf-8"))


def main(pages: list[str]) -> None:
    for page in [Path(page).resolve() for page in pages]:
        # Some blocks write files.
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            text = refreshed(page)
            os.chdir(page.parent)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
