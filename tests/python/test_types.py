"""What the package promises to type checkers, and that everything public is exported."""

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
    public = {name for name in vars(certree) if not name.startswith("_")}
    modules = {name for name in public if type(getattr(certree, name)).__name__ == "module"}
    assert public - modules | {"scorers"} == set(certree.__all__) - {"__version__"}
    assert "frontier" in certree.__all__ and callable(certree.frontier)
