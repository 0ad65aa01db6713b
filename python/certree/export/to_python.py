"""A tree as the source of a Python function that imports nothing."""

from __future__ import annotations

import keyword
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from certree.conditions import printable
from certree.export.function import AnswerParts, Language, Read, answers_of, branches, reads, tested
from certree.moments import TICKS, time_unit
from certree.schema import TIMED, Column

if TYPE_CHECKING:
    from certree.tree import Tree

#: By kind of column, what reads a value: exactly, because prediction rounds none that is finer than
#: the tree's unit down. Only moments of pandas have nanoseconds.
_HELPERS = {
    "date": (
        "_since_1970",
        '''
def _since_1970(moment):
    """Nanoseconds, of a date or a datetime; of one with a time zone in UTC."""
    seconds = (moment.toordinal() - 719163) * 86400
    if not hasattr(moment, "hour"):
        return seconds * 1000000000
    seconds += (moment.hour * 60 + moment.minute) * 60 + moment.second
    microseconds, offset = moment.microsecond, moment.utcoffset()
    if offset is not None:
        seconds -= offset.days * 86400 + offset.seconds
        microseconds -= offset.microseconds
    return (seconds * 1000000 + microseconds) * 1000 + getattr(moment, "nanosecond", 0)

''',
    ),
    "duration": (
        "_length",
        '''
def _length(duration):
    """Nanoseconds, of a timedelta."""
    microseconds = (duration.days * 86400 + duration.seconds) * 1000000 + duration.microseconds
    return microseconds * 1000 + getattr(duration, "nanoseconds", 0)

''',
    ),
    "time": (
        "_since_midnight",
        '''
def _since_midnight(time):
    """Nanoseconds, of a time of day."""
    seconds = (time.hour * 60 + time.minute) * 60 + time.second
    return (seconds * 1000000 + time.microsecond) * 1000

''',
    ),
}


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
    kinds = dict.fromkeys(read.column.kind for read in known.values() if read.kind == "ticks")
    helpers = "".join(_HELPERS[kind][1] for kind in kinds)
    return helpers.lstrip("\n") + ("\n" if helpers else "") + "\n".join(lines) + "\n"


def _number(column: Column, variable: str) -> str:
    """A value as what its thresholds are: of a moment, a number."""
    if column.kind not in TIMED:
        return variable
    per_tick = TICKS["ns"] // TICKS[time_unit(column.dtype)]
    count = f"{_HELPERS[column.kind][0]}({variable})"
    return count if per_tick == 1 else f"-(-{count} // {per_tick})"


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
        test = math.floor(threshold) if read.kind == "ticks" else threshold
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
