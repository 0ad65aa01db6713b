"""A tree as the source of a JavaScript function that imports nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from certree.export.function import (
    AnswerParts,
    Language,
    Read,
    answer_words,
    answers_of,
    branches,
    check_name,
    column_words,
    reads,
    tested,
)
from certree.ingest.midpoints import EXACT
from certree.moments import time_unit

if TYPE_CHECKING:
    from certree.tree import Tree

RESERVED = frozenset(
    """arguments await break case catch class const continue debugger default delete do else enum
    eval export extends false finally for function if implements import in instanceof interface let
    new null package private protected public return static super switch this throw true try typeof
    undefined var void while with yield""".split()
)

WORDS = {
    "number": "a number",
    "whole": "a whole number, a BigInt where a number would round it",
    "boolean": "a Boolean, or 0 or 1",
    "text": "a string",
    "ticks": "a number or BigInt of {}",
}

#: By kind of column, what typeof says of its values.
TYPES = {
    "number": ["number", "bigint", "boolean"],
    "whole": ["number", "bigint"],
    "boolean": ["boolean", "number"],
    "text": ["string"],
    "ticks": ["number", "bigint"],
}

_READ = """\
  function read(name, ...types) {
    if (!Object.hasOwn(row, name)) {
      throw new TypeError(`the row has no column ${JSON.stringify(name)}`);
    }
    const value = row[name];
    if (value === null || value === undefined || Number.isNaN(value)) {
      return null;
    }
    if (!types.includes(typeof value)) {
      throw new TypeError(`column ${JSON.stringify(name)} cannot be a ${typeof value}`);
    }
    return value;
  }"""

_MOMENT = """\
  function moment(value, inUnit) {
    if (value === null || typeof value !== "object") {
      return value;
    }
    const milliseconds = value.getTime();
    return Number.isNaN(milliseconds) ? null : inUnit(milliseconds);
  }"""

#: By unit, what it makes of a Date's milliseconds. A day that is not over is more than the day.
IN_UNIT = {
    "day": "(ms) => ms / 86400000",
    "ms": "(ms) => ms",
    "us": "(ms) => BigInt(ms) * 1000n",
    "ns": "(ms) => BigInt(ms) * 1000000n",
}


def to_javascript(
    tree: Tree, output: str = "label", name: str = "predict", module: bool = True
) -> str:
    check_name("JavaScript", name, RESERVED)
    known = reads(tree, {column: f"x{at}" for at, column in enumerate(tested(tree))})
    body = branches(tree, JavaScript(answers_of(tree, output)), known)
    lines = [*answer_words(tree, output), "", "A row is an object with these columns:"]
    lines += [f"- {column_words(read, _words(read))}" for read in known.values()]
    lines += ["", "Null, undefined, NaN and an invalid Date are missing values."]
    lines.append("The answer is null of a row that the tree refuses.")
    lines = ["/**", *(f" * {line}".rstrip() for line in lines), " */"]
    lines.append(f"{'export ' * module}function {name}(row) {{")
    lines += [_READ] if known else []
    lines += [_MOMENT] if any(read.column.kind == "date" for read in known.values()) else []
    lines += [f"  const {read.value} = {_value(read)};" for read in known.values()]
    return "\n".join([*lines, *body, "}"]) + "\n"


def _words(read: Read) -> Mapping[str, str]:
    return {"ticks": f"a Date, or {WORDS['ticks']}"} if read.column.kind == "date" else WORDS


def _value(read: Read) -> str:
    is_date = read.column.kind == "date"
    types = ", ".join(map(literal, [*["object"] * is_date, *TYPES[read.kind]]))
    value = f"read({literal(read.column.name)}, {types})"
    if not is_date:
        return value
    return f"moment({value}, {IN_UNIT[time_unit(read.column.dtype)]})"


class JavaScript(Language):
    name = "JavaScript"
    indent = "  "
    refusal = "return null;"

    def __init__(self, answers: AnswerParts) -> None:
        self.answers = answers
        values = [value for part in answers.parts for value in part.by_node]
        #: Numbers would round some integer of the answers.
        self.large = any(isinstance(value, int) and abs(value) >= EXACT for value in values)

    def missing(self, read: Read) -> str:
        return f"{read.value} === null"

    def known(self, read: Read) -> str:
        return f"{read.value} !== null"

    def at_most(self, read: Read, threshold: int | float) -> str:
        # Numbers and BigInts are compared without rounding.
        test = math.floor(threshold) if read.kind == "ticks" else threshold
        large = isinstance(test, int) and abs(test) >= EXACT
        return f"{read.value} <= {literal(test, large)}"

    def is_false(self, read: Read) -> str:
        return f"!{read.value}"

    def is_other(self, read: Read, value: str) -> str:
        return f"{read.value} !== {literal(value)}"

    def is_one_of(self, read: Read, values: Sequence[str]) -> str:
        return f"[{', '.join(map(literal, values))}].includes({read.value})"

    def is_none_of(self, read: Read, values: Sequence[str]) -> str:
        return f"!{self.is_one_of(read, values)}"

    def answer(self, node: int) -> list[str]:
        values = [self._constant(part.by_node[node]) for part in self.answers.parts]
        listed = f"[{', '.join(values)}]" if self.answers.several else values[0]
        return [f"return {listed};"]

    def _constant(self, value: Any) -> str:
        if isinstance(value, tuple):
            return f"[{', '.join(map(literal, value))}]"
        return literal(value, self.large)


def literal(value: Any, large: bool = False) -> str:
    """In ASCII, and without what would end a script within a page."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value}n" if large else str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return repr(value)
        return "NaN" if math.isnan(value) else f"{'-' * (value < 0)}Infinity"
    if not isinstance(value, str):
        raise ValueError(f"labels of type {type(value).__name__} cannot be written in JavaScript")
    return json.dumps(value).replace("<", "\\u003c").replace("\x7f", "\\u007f")
