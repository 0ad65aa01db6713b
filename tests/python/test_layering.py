"""The layers of docs/architecture/python.md, and that no file imports one that imports it."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "certree"
PAGE = ROOT / "docs" / "architecture" / "python.md"

#: Files by module name, such as ``certree.ingest.cuts``.
FILES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}

#: Lines end here.
WIDTH = 100


def imports(name: str) -> set[str]:
    """The modules of certree that a file imports, also within its functions. What only type
    checkers see is never imported."""
    tree = ast.parse(FILES[name].read_text())
    unseen = {
        id(node)
        for part in ast.walk(tree)
        if isinstance(part, ast.If) and "TYPE_CHECKING" in ast.unparse(part.test)
        for node in ast.walk(part)
    }
    found = set()
    for node in ast.walk(tree):
        if id(node) in unseen:
            continue
        if isinstance(node, ast.Import):
            found.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports by dots"
            for each in node.names:
                member = f"{node.module}.{each.name}"
                found.add(member if member in FILES or each.name == "_core" else node.module)
    return {each for each in found if each in FILES} - {name}


def layers() -> dict[str, set[str] | None]:
    """By module, what it may import; None for everything above."""
    table = PAGE.read_text().partition("## Layers")[2].partition("## From a frame")[0]
    found: dict[str, set[str] | None] = {}
    for names, allowed in re.findall(r"^\| (`.*?) \|(.*)\|$", table, flags=re.MULTILINE):
        words = set(re.findall(r"`(.*?)`", allowed))
        for name in re.findall(r"`(.*?)`", names):
            found[name] = set(found) if "everything above" in allowed else words
    return found


def row(name: str, rows: dict[str, set[str] | None]) -> str:
    """The row of the table that a file belongs to."""
    parts = name.split(".")[1:]
    whole = "/".join(parts)
    return whole if whole in rows else parts[0]


def test_every_file_keeps_to_its_layer():
    rows = layers()
    wrong = []
    for name in FILES:
        if name in ("certree", "certree.__main__"):
            continue
        own = row(name, rows)
        assert own in rows, f"{own} has no row in {PAGE.name}"
        for other in imports(name):
            # The command line asks the package for its version.
            if other == "certree" and own == "cli":
                continue
            theirs = row(other, rows) if other != "certree" else "certree"
            same = theirs == own or theirs.split("/")[0] == own.split("/")[0] == "estimators"
            if not same and theirs not in rows[own]:
                wrong.append(f"{name} imports {other}")
    assert not wrong


def test_no_file_imports_one_that_imports_it():
    known = {name: imports(name) for name in FILES}
    done: set[str] = set()

    def visit(name: str, way: list[str]) -> None:
        assert name not in way, " -> ".join([*way[way.index(name) :], name])
        if name not in done:
            for other in sorted(known[name]):
                visit(other, [*way, name])
            done.add(name)

    for name in FILES:
        visit(name, [])


def test_exports_do_not_know_each_other():
    for name in FILES:
        if name.startswith("certree.export."):
            known = [other for other in imports(name) if other.startswith("certree.export")]
            own = ("encode", "function", "walk")
            shared = {f"certree.export.{each}" for each in own}
            assert set(known) <= shared, f"{name} imports {known}"


@pytest.mark.parametrize("folder", ["python", "tests", "benches"])
def test_lines_end_in_time(folder):
    long = [
        f"{path.relative_to(ROOT)}:{number} has {len(line)} characters"
        for path in sorted((ROOT / folder).rglob("*.py*"))
        if path.suffix in (".py", ".pyi")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > WIDTH
    ]
    assert not long


@pytest.mark.parametrize("folder", ["rust", "python", "tests", "benches"])
def test_comments_say_what_they_are_about(folder):
    """A reader who lands on a function has not read the one above it."""
    begins = re.compile(r'^\s*(//[/!]?|#:?|""") ?The same\b', re.MULTILINE)
    found = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".rs", ".py", ".pyi") and begins.search(path.read_text("utf-8"))
    ]
    assert not found
