"""The pictures of the documentation are what the code draws."""

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
PICTURES = runpy.run_path(str(FOLDER / "make.py"))["PICTURES"]


@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_is_drawn_by_the_code(name):
    # `python docs/pictures/make.py` writes them.
    assert PICTURES[name]() == (FOLDER / name).read_text(encoding="utf-8")
