"""What the package promises to type checkers, and that everything public is exported."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import certree

USER = Path(__file__).parent / "typed" / "user.py"


def test_a_users_file_is_typed(tmp_path):
    check = [sys.executable, "-m", "mypy", "--strict", "--warn-unused-ignores", "--cache-dir"]
    found = subprocess.run([*check, str(tmp_path), str(USER)], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_pyright_reads_it_too():
    found = subprocess.run(["pyright", str(USER)], capture_output=True, text=True)
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
