"""The Python blocks of the documentation run, and print the text block that follows them."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "docs/certificate.md",
    "docs/guessing.md",
    "docs/choosing-parameters.md",
    "docs/costs-and-policies.md",
    "docs/constraints.md",
    "docs/ranking-and-frontiers.md",
    "docs/rates-and-survival.md",
    "docs/own-task.md",
    "docs/showing.md",
    "docs/exporting.md",
    "docs/missing-values.md",
    "docs/categories.md",
]
BLOCK = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)


def timeless(text: str) -> str:
    """How long a search took differs from run to run."""
    return re.sub(r"after \S+ s\.", "after … s.", text.strip())


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_the_page_says(page, tmp_path, monkeypatch):
    # Some write a file.
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    names: dict = {}
    compared = 0
    for (language, code), (next_language, expected) in zip(blocks, [*blocks[1:], ("", "")]):
        if language != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), names)
        if next_language == "text":
            assert timeless(printed.getvalue()) == timeless(expected)
            compared += 1
    assert compared > 0


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert ((ROOT / page).parent / target).exists(), target


def test_the_commands_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "pip install . && certree demo" in text
    assert "./tests/run" in text and (ROOT / "tests" / "run").exists()
