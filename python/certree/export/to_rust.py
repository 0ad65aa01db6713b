"""A tree as the source of a function in Rust, of the standard library alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from certree.conditions import float_at_most
from certree.export.function import (
    AnswerParts,
    Language,
    Part,
    Read,
    answer_words,
    answers_of,
    branches,
    check_integer,
    check_name,
    column_words,
    identifiers,
    in_comment,
    reads,
    tested,
    utf8,
    whole_threshold,
)
from certree.schema import Side

if TYPE_CHECKING:
    from certree.tree import Tree

RESERVED = frozenset(
    """abstract as async await become box break const continue crate do dyn else enum extern false
    final fn for gen if impl in let loop macro match mod move mut override priv pub ref return self
    static struct super trait true try type typeof union unsafe unsized use virtual where while
    yield""".split()
)

TYPES = {str: "&'static str", int: "i64", float: "f64", bool: "bool"}

WORDS = {
    "number": "a number; NaN is missing, too",
    "whole": "a whole number",
    "boolean": "a Boolean",
    "text": "a text",
    "ticks": "{}",
}


def to_rust(tree: Tree, output: str = "label", name: str = "predict") -> str:
    check_name("Rust", name, RESERVED)
    answers = answers_of(tree, output)
    fields = identifiers(tested(tree), RESERVED)
    known = reads(tree, {column: f"x{at}" for at, column in enumerate(tested(tree))})
    prefix = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    lives = "<'a>" if any(read.kind == "text" for read in known.values()) else ""
    elided = "<'_>" if lives else ""
    given = "row" if known else "_row"
    kind = f"{prefix}Answer" if answers.several else _type(answers.parts[0])
    lines = [f"// {line}" for line in answer_words(tree, output)]
    lines += ["// None is a missing value, and the answer of a row that the tree refuses.", ""]
    lines += [
        "#[derive(Clone, Copy, Debug, Default, PartialEq)]", f"pub struct {prefix}Row{lives} {{"
    ]
    for column, read in known.items():
        lines += [
            f"    // {column_words(read, WORDS)}", f"    pub {fields[column]}: {_field(read)},"
        ]
    lines += ["}", ""]
    if answers.several:
        lines += _structure(answers, prefix)
    lines += [
        "#[allow(clippy::all)]",
        f"pub fn {name}({given}: &{prefix}Row{elided}) -> Option<{kind}> {{",
    ]
    for column, read in known.items():
        number = ".filter(|value| !value.is_nan())" if read.kind == "number" else ""
        lines.append(f"    let {read.value} = row.{fields[column]}{number};")
    lines += branches(tree, Rust(answers, prefix), known)
    return "\n".join([*lines, "}"]) + "\n"


def _field(read: Read) -> str:
    whole = "u64" if read.column.dtype == "UInt64" else "i64"
    kinds = {"number": "f64", "whole": whole, "boolean": "bool", "text": "&'a str", "ticks": "i64"}
    return f"Option<{kinds[read.kind]}>"


def _type(part: Part) -> str:
    kind = part.type
    if kind not in TYPES:
        raise ValueError(f"labels of type {kind.__name__} cannot be written in Rust")
    return f"[{TYPES[kind]}; {part.n_shares}]" if part.n_shares else TYPES[kind]


def _members(answers: AnswerParts) -> dict[str, str]:
    return identifiers((part.name for part in answers.parts), RESERVED)


def _structure(answers: AnswerParts, prefix: str) -> list[str]:
    named = _members(answers)
    lines = ["#[derive(Clone, Copy, Debug, PartialEq)]", f"pub struct {prefix}Answer {{"]
    for part in answers.parts:
        lines += [f"    // {in_comment(part.name)}", f"    pub {named[part.name]}: {_type(part)},"]
    return [*lines, "}", ""]


class Rust(Language):
    name = "Rust"
    refusal = "return None;"

    def __init__(self, answers: AnswerParts, prefix: str) -> None:
        self.answers = answers
        self.prefix = prefix

    def missing(self, read: Read) -> str:
        return f"{read.value}.is_none()"

    def known(self, read: Read) -> str:
        return f"{read.value}.is_some()"

    def at_most(self, read: Read, threshold: int | float) -> str:
        if read.kind == "number":
            return f"value <= {literal(float_at_most(threshold))}"
        whole = whole_threshold(read.column, threshold)
        if whole is None or whole + 1 in (2**63, 2**64):
            # rustc warns of comparisons that all integers of the type answer alike.
            return f"i128::from(value) <= {math.floor(max(-(2**64), min(threshold, 2**64)))}"
        return f"value <= {whole}"

    def is_false(self, read: Read) -> str:
        return "!value"

    def is_other(self, read: Read, value: str) -> str:
        return f"value != {literal(value)}"

    def is_one_of(self, read: Read, values: Sequence[str]) -> str:
        return f"matches!(value, {' | '.join(map(literal, values))})"

    def is_none_of(self, read: Read, values: Sequence[str]) -> str:
        return f"!{self.is_one_of(read, values)}"

    def routed(self, read: Read, condition: str, missing: Side | None) -> str:
        alone = "true" if missing == "left" else "false"
        return f"{read.value}.map_or({alone}, |value| {condition})"

    def when(self, condition: str) -> str:
        return f"if {condition} {{"

    def answer(self, node: int) -> list[str]:
        values = [_constant(part.by_node[node]) for part in self.answers.parts]
        if not self.answers.several:
            return [f"Some({values[0]})"]
        named = _members(self.answers).values()
        members = ", ".join(f"{name}: {value}" for name, value in zip(named, values))
        return [f"Some({self.prefix}Answer {{ {members} }})"]


def _constant(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(literal, value))}]"
    return literal(value)


def literal(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        check_integer(value)
        return str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return repr(value)
        return "f64::NAN" if math.isnan(value) else f"f64::{'NEG_' * (value < 0)}INFINITY"
    return _text(value)


def _text(value: str) -> str:
    """In ASCII."""
    utf8(value)
    plain = {chr(code): chr(code) for code in range(32, 127)} | {'"': '\\"', "\\": "\\\\"}
    return '"' + "".join(plain.get(c, f"\\u{{{ord(c):x}}}") for c in value) + '"'
