"""What the package promises to type checkers, and that everything public is exported."""

import ast
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import certree

USER = Path(__file__).parent / "typed" / "user.py"
TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"


@pytest.fixture(scope="module")
def users(tmp_path_factory):
    """What users write: a file that tries what is typed, and the code of each tutorial."""
    folder = tmp_path_factory.mktemp("users")
    (folder / "user.py").write_text(USER.read_text())
    for page in TUTORIALS.glob("*.md"):
        blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        (folder / f"{page.stem.replace('-', '_')}.py").write_text("\n\n".join(blocks))
    return folder


def test_what_users_write_is_typed(users, tmp_path):
    strict = ["--strict", "--warn-unused-ignores", "--ignore-missing-imports", "--cache-dir"]
    check = [sys.executable, "-m", "mypy", *strict, str(tmp_path)]
    found = subprocess.run([*check, str(users)], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.skipif(
    importlib.util.find_spec("basedpyright") is None, reason="basedpyright is not installed"
)
def test_pyright_reads_it_too(users):
    # Of scikit-learn, which has no types, nothing is guessed.
    settings = {"typeCheckingMode": "standard", "useLibraryCodeForTypes": False}
    (users / "pyrightconfig.json").write_text(json.dumps(settings))
    check = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable]
    found = subprocess.run([*check, "-p", str(users)], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def test_everything_public_is_exported():
    source = ast.parse(Path(certree.__file__).read_text())
    checked = next(part for part in source.body if isinstance(part, ast.If))
    typed = {
        (each.name, node.module)
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    }
    # What type checkers see, what is loaded when it is asked for, and what is said to be there.
    assert typed == {
        *((name, f"certree.{home}") for name, home in certree._HOMES.items()),
        ("scorers", "certree"),
    }
    assert {name for name, _ in typed} == set(certree.__all__) - {"__version__"}
    for name in certree.__all__:
        assert getattr(certree, name) is getattr(certree, name)
    assert callable(certree.frontier)
    with pytest.raises(AttributeError, match="has no attribute 'frontiers_of'"):
        certree.frontiers_of  # noqa: B018


def modules_after(code: str) -> set[str]:
    shown = f"{code}; import sys; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return set(found.stdout.split())


def test_what_takes_long_to_load_is_loaded_where_it_is_used():
    assert not {"polars", "sklearn", "pandas"} & modules_after("import certree")
    assert not {"sklearn", "pandas"} & modules_after("from certree import Tree")
