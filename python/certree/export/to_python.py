"""A tree as the source of a Python function that imports nothing."""

from __future__ import annotations

import keyword
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from certree.conditions import printable
from certree.export.function import AnswerParts, Language, Read, answers_of, branches, reads, tested
from certree.moments import time_unit
from certree.schema import Column

if TYPE_CHECKING:
    from certree.tree import Tree

PER_MICROSECOND = {"us": 1, "ns": 1000}

_MOMENT = '''
def _microseconds(moment):
    """Since 1970, of a datetime; of one with a time zone in UTC."""
    day = moment.toordinal() - 719163
    seconds = (day * 24 + moment.hour) * 3600 + moment.minute * 60 + moment.second
    offset = moment.utcoffset()
    count = seconds * 1000000 + moment.microsecond
    if offset is None:
        return count
    return count - ((offset.days * 86400 + offset.seconds) * 1000000 + offset.microseconds)

'''


def to_python(tree: Tree, output: str = "label", name: str = "predict") -> str:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"name={name!r} cannot be the name of a function")
    language = Python(answers_of(tree, output))
    known = reads(tree, {column: f"x{at}" for at, column in enumerate(tested(tree))})
    body = branches(tree, language, known)
    lines = [
        f"def {name}(row):",
        (
            f'    """The {output} of a row, a mapping from columns to values; None is a missing'
            ' one."""'
        ),
    ]
    lines += [f"    {read.value} = row[{ascii(column)}]" for column, read in known.items()]
    for read in known.values():
        # What is no number or no moment differs from itself.
        number = f"None if {read.value} is None or {read.value} != {read.value} else "
        lines.append(f"    {read.value} = {number}{_number(read.column, read.value)}")
    lines += body
    helper = _MOMENT if any("_microseconds" in line for line in lines) else ""
    return f"{helper}\n".lstrip("\n") + ("\n" if helper else "") + "\n".join(lines) + "\n"


def _number(column: Column, variable: str) -> str:
    """A value as what its thresholds are: of a date, a number."""
    if column.kind != "date":
        return variable
    unit = time_unit(column.dtype)
    if unit == "day":
        return f"{variable}.toordinal() - 719163"
    if unit == "ms":
        # Up, as prediction rounds moments that are finer than the tree's.
        return f"-(-_microseconds({variable}) // 1000)"
    factor = PER_MICROSECOND[unit]
    return f"_microseconds({variable})" + (f" * {factor}" if factor > 1 else "")


class Python(Language):
    name = "Python"
    #: Python's parser takes no more than a hundred indented blocks.
    most_depth = 90
    either, both = " or ", " and "
    otherwise, end = "else:", ""
    refusal = "return None"

    def __init__(self, answers: AnswerParts) -> None:
        self.answers = answers

    def missing(self, read: Read) -> str:
        return f"{read.value} is None"

    def known(self, read: Read) -> str:
        return f"{read.value} is not None"

    def at_most(self, read: Read, threshold: int | float) -> str:
        test = math.floor(threshold) if read.kind == "date" else threshold
        return f"{read.value} <= {_literal(test)}"

    def is_false(self, read: Read) -> str:
        return f"not {read.value}"

    def is_other(self, read: Read, value: str) -> str:
        return f"{read.value} != {ascii(value)}"

    def is_one_of(self, read: Read, values: Sequence[str]) -> str:
        return f"{read.value} in {_listed(values)}"

    def is_none_of(self, read: Read, values: Sequence[str]) -> str:
        return f"{read.value} not in {_listed(values)}"

    def when(self, condition: str) -> str:
        return f"if {condition}:"

    def answer(self, node: int) -> list[str]:
        values = [part.by_node[node] for part in self.answers.parts]
        if not self.answers.several:
            return [f"return {_literal(values[0])}"]
        return [f"return {_literal(values if self.answers.parts[0].n_shares else tuple(values))}"]


def _listed(values: Sequence[str]) -> str:
    return f"({', '.join(map(ascii, values))},)"


def _literal(value: Any) -> str:
    """The value as source, in ASCII, because what is printed may be read by a terminal."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return printable(ascii(value))
