"""A tree as the source of a function in C99."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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

if TYPE_CHECKING:
    from certree.tree import Tree

MOST_BYTES = 4095
"""C99 promises no longer text."""

#: Keywords of C and C++, and macros that compilers or widespread headers define.
RESERVED = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char class co_await
    co_return co_yield compl complex concept const const_cast consteval constexpr constinit continue
    decltype default delete do double dynamic_cast else enum errno explicit export extern false far
    float for friend goto hpux i386 if imaginary inline int interface linux long m68k main mips
    mutable namespace near new noexcept not not_eq nullptr operator or or_eq pixel private protected
    public register reinterpret_cast requires restrict return sgi short signed sizeof small sparc
    static static_assert static_cast stderr stdin stdout struct sun switch template this
    thread_local throw true try typedef typeid typename typeof union unix unsigned using vax vector
    virtual void volatile wchar_t while xor xor_eq""".split()
)

TYPES = {str: "const char *", int: "int64_t ", float: "double ", bool: "int "}

WORDS = {
    "number": "a number; NAN is missing",
    "whole": "a whole number; NULL is missing",
    "boolean": "0 or 1; a negative number is missing",
    "text": "text in UTF-8; NULL is missing",
    "ticks": "{}; NULL is missing",
}


def to_c(tree: Tree, output: str = "label", name: str = "predict") -> str:
    check_name("C", name, RESERVED)
    answers = answers_of(tree, output)
    members = identifiers(tested(tree), RESERVED)
    known = reads(tree, {column: f"row->{member}" for column, member in members.items()})
    structures = _structures(known, members, answers, name)
    declared = f"int {name}(const struct {name}_row *row, {_answer_type(answers, name)})"
    language = C(answers, name)
    body = branches(tree, language, known)
    if not known:
        body.insert(0, "    (void)row;")
    lines = [
        *_head(tree, output, known, members, answers),
        *structures,
        f"{declared};",
        "",
        *(_membership(name) if language.lists else []),
        f"{declared}",
        "{",
        *body,
        "}",
    ]
    return "\n".join(lines) + "\n"


def _head(
    tree: Tree,
    output: str,
    known: Mapping[str, Read],
    members: Mapping[str, str],
    answers: AnswerParts,
) -> list[str]:
    lines = [*answer_words(tree, output), ""]
    if known:
        lines += ["Members of a row:"]
        lines += [f"{members[name]}: {column_words(known[name], WORDS)}" for name in known]
        lines.append("")
    if answers.several:
        lines += ["Members of an answer:"]
        named = identifiers((part.name for part in answers.parts), RESERVED)
        lines += [f"{own}: {in_comment(name)}" for name, own in named.items()]
        lines.append("")
    lines += [
        "The function returns 1 and writes the answer, or returns 0 if it refuses the row.",
        "It needs NAN, so compile it without -ffast-math.",
    ]
    return ["/*", *(f" * {line}".rstrip() for line in lines), " */"]


def _structures(
    known: Mapping[str, Read], members: Mapping[str, str], answers: AnswerParts, name: str
) -> list[str]:
    lines = [f"#include <{header}.h>" for header in ("math", "stddef", "stdint", "string")]
    lines += ["", f"struct {name}_row {{"]
    lines += [f"    {_member_type(read)}{members[column]};" for column, read in known.items()]
    if not known:
        lines.append("    char nothing;")
    lines += ["};", ""]
    if answers.several:
        named = identifiers((part.name for part in answers.parts), RESERVED)
        lines.append(f"struct {name}_answer {{")
        lines += [f"    {_declared(part, named[part.name])};" for part in answers.parts]
        lines += ["};", ""]
    return lines


def _member_type(read: Read) -> str:
    if read.kind == "whole" and read.column.dtype == "UInt64":
        return "const uint64_t *"
    whole = "const int64_t *"
    return {
        "number": "double ",
        "whole": whole,
        "boolean": "int ",
        "text": "const char *",
        "ticks": whole,
    }[read.kind]


def _declared(part: Part, name: str) -> str:
    kind = part.type
    if kind not in TYPES:
        raise ValueError(f"labels of type {kind.__name__} cannot be written in C")
    return f"{TYPES[kind]}{name}" + (f"[{part.n_shares}]" if part.n_shares else "")


def _answer_type(answers: AnswerParts, name: str) -> str:
    if answers.several:
        return f"struct {name}_answer *answer"
    part = answers.parts[0]
    return _declared(part, "answer" if part.n_shares else "*answer")


def _membership(name: str) -> list[str]:
    return [
        f"static int {name}_is_one_of(const char *text, const char *const *known)",
        "{",
        "    for (; *known != NULL; known++)",
        "        if (strcmp(text, *known) == 0)",
        "            return 1;",
        "    return 0;",
        "}",
        "",
    ]


class C(Language):
    name = "C"
    refusal = "return 0;"

    def __init__(self, answers: AnswerParts, function: str) -> None:
        self.answers = answers
        self.function = function
        #: Whether some condition lists values.
        self.lists = False

    def missing(self, read: Read) -> str:
        if read.kind == "number":
            return f"isnan({read.value})"
        return f"{read.value} < 0" if read.kind == "boolean" else f"{read.value} == NULL"

    def known(self, read: Read) -> str:
        if read.kind == "number":
            return f"!isnan({read.value})"
        return f"{read.value} >= 0" if read.kind == "boolean" else f"{read.value} != NULL"

    def at_most(self, read: Read, threshold: int | float) -> str:
        if read.kind == "number":
            return f"{read.value} <= {literal(float_at_most(threshold))}"
        whole = whole_threshold(read.column, threshold)
        if whole is None:
            return "0"
        unsigned = read.column.dtype == "UInt64"
        return f"*{read.value} <= {f'UINT64_C({whole})' if unsigned else literal(whole)}"

    def is_false(self, read: Read) -> str:
        return f"{read.value} == 0"

    def is_other(self, read: Read, value: str) -> str:
        return f"strcmp({read.value}, {literal(value)}) != 0"

    def is_one_of(self, read: Read, values: Sequence[str]) -> str:
        self.lists = True
        listed = ", ".join([*map(literal, values), "NULL"])
        return f"{self.function}_is_one_of({read.value}, (const char *const[]){{{listed}}})"

    def is_none_of(self, read: Read, values: Sequence[str]) -> str:
        return f"!{self.is_one_of(read, values)}"

    def answer(self, node: int) -> list[str]:
        values = [_constant(part.by_node[node]) for part in self.answers.parts]
        if self.answers.several:
            made = f"*answer = (struct {self.function}_answer){{{', '.join(values)}}};"
            return [made, "return 1;"]
        shares = self.answers.parts[0].n_shares
        if not shares:
            return [f"*answer = {values[0]};", "return 1;"]
        return [
            f"static const double shares[{shares}] = {values[0]};",
            "memcpy(answer, shares, sizeof shares);",
            "return 1;",
        ]


def _constant(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{{{', '.join(map(literal, value))}}}"
    return literal(value)


def literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        if math.isnan(value):
            return "NAN"
        return repr(value) if math.isfinite(value) else f"{'-' * (value < 0)}INFINITY"
    return _text(value)


def _integer(value: int) -> str:
    check_integer(value)
    if value == -(2**63):
        return "INT64_MIN"
    return f"INT64_C({value})" if value >= 0 else f"-INT64_C({-value})"


def _text(value: str) -> str:
    """In ASCII. Escapes in octal end after three digits, and marks of a question are none of a
    trigraph."""
    if "\0" in value:
        raise ValueError(f"{value!r} holds a character that ends a text in C")
    found = utf8(value)
    if len(found) > MOST_BYTES:
        raise ValueError(
            f"a text of {len(found):,} bytes, which begins with {value[:20]!r}, cannot be written "
            f"in C, which promises no more than {MOST_BYTES:,}"
        )
    plain = {code: chr(code) for code in range(32, 127)}
    plain |= {ord(mark): f"\\{mark}" for mark in '"\\?'}
    return '"' + "".join(plain.get(byte, f"\\{byte:03o}") for byte in found) + '"'
