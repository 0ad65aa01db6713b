"""`Tree.to_dot`: golden files, and strings that cannot break out of their quotes."""

import re

import pytest
from trees import check_golden, gallery, patients, stump

from certree.export.to_dot import quoted
from certree.schema import Column

STRING = r'"(?:[^"\\\n]|\\.)*"'
ATTRIBUTE = rf"\w+=(?:{STRING}|\w+)"
LINE = re.compile(rf"  (?:node|edge|\d+|\d+ -> \d+) \[{ATTRIBUTE}(?:, {ATTRIBUTE})*\];")


@pytest.mark.parametrize(("name", "tree"), [("patients", patients()), ("gallery", gallery())])
def test_dot_is_as_in_the_golden_file(name, tree):
    check_golden(f"{name}.dot", tree.to_dot())


NASTY = ['"', "\\", '\\"', "a\nb", "a\r\nb", "\0", "größe", "\\N", "]; x [", "<b>", "{a|b}", " "]


@pytest.mark.parametrize("text", NASTY)
def test_no_text_breaks_the_syntax(text):
    assert re.fullmatch(STRING, quoted(text))
    columns = [Column(text, "category", "String", (text, "other"))]
    lines = stump(columns, 0, text, labels=(text, "label")).to_dot().splitlines()
    assert lines[0] == "digraph tree {" and lines[-1] == "}"
    assert all(LINE.fullmatch(line) for line in lines[1:-1])
