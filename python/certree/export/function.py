"""What the exports share that write a tree as a function of some programming language: the columns
that it reads, what sends a row left, the branches, and what each leaf answers. A `Language` says
these in its own words."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from certree.conditions import Test, levels_apart
from certree.export.walk import Output, answers, shares, walk
from certree.ingest.midpoints import EXACT
from certree.moments import time_unit, time_zone
from certree.scalars import shown
from certree.schema import TIMED, Column, Sets, Side, is_threshold

if TYPE_CHECKING:
    from certree.nodes import Split
    from certree.tree import Tree


# ---- columns


class Read(NamedTuple):
    """A column that the function reads."""

    column: Column
    #: How its values are compared: ``whole`` are 64-bit integers that floats would round, and
    #: ``ticks`` those of a unit of time.
    kind: Literal["number", "whole", "boolean", "text", "ticks"]
    #: The expression of its value in the code.
    value: str


def tested(tree: Tree) -> dict[str, tuple[Column, list[Test]]]:
    """By name, the columns that a tree tests and their tests, in the order of nodes."""
    found: dict[str, tuple[Column, list[Test]]] = {}
    for node in tree.nodes:
        if node.split is not None:
            column = node.split.column
            found.setdefault(column.name, (column, []))[1].append(node.split.test)
    return found


def needs_integers(column: Column, tests: Sequence[Test]) -> bool:
    """Whether 64-bit floats would send some integer of the column the wrong way. Thresholds below
    2^53 are on the same side of an integer that a float rounds."""
    numbers = [test for test in tests if is_threshold(test)]
    return column.dtype in ("Int64", "UInt64") and any(
        abs(test) >= EXACT  # type: ignore[arg-type]
        for test in numbers
    )


def reads(tree: Tree, values: Mapping[str, str]) -> dict[str, Read]:
    """By name, what the function reads; ``values`` are the expressions."""
    found = {}
    for name, (column, tests) in tested(tree).items():
        kind: Any = {"category": "text", "ordered": "text"}.get(column.kind, column.kind)
        kind = "ticks" if column.kind in TIMED else kind
        if needs_integers(column, tests):
            kind = "whole"
        found[name] = Read(column, kind, values[name])
    return found


def ticks_text(column: Column) -> str:
    """What the integers of a column of dates, durations or times of day are."""
    unit = time_unit(column.dtype)
    if unit == "day":
        return "days since 1970-01-01"
    zone = ", in UTC" if time_zone(column.dtype) else ""
    word = {"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}[unit]
    if column.kind == "duration":
        return word
    return f"{word} since {'midnight' if column.kind == 'time' else '1970-01-01T00:00:00'}{zone}"


def column_words(read: Read, words: Mapping[str, str]) -> str:
    """For the head comment: a column by its own name, and what its values are, by their kind."""
    said = words[read.kind]
    if read.kind == "ticks":
        said = said.format(ticks_text(read.column))
    return f"{in_comment(read.column.name)}, {said}"


def whole_threshold(column: Column, test: int | float) -> int | None:
    """The largest 64-bit integer of the column's type that is at most the threshold; None if all
    are larger."""
    least, most = (0, 2**64 - 1) if column.dtype == "UInt64" else (-(2**63), 2**63 - 1)
    return None if test < least else math.floor(min(test, most))


# ---- answers


class Part(NamedTuple):
    """One answer of each node: a value, or the shares of classes as a tuple."""

    name: str
    by_node: Sequence[Any]

    @property
    def type(self) -> type:
        """Of the values."""
        kinds = {type(each) for value in self.by_node for each in _values(value)}
        if len(kinds) > 1:
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise ValueError(f"the labels are of several types ({names}), but an answer has one")
        return kinds.pop()

    @property
    def n_shares(self) -> int:
        """How many shares there are, or 0 of a value."""
        return len(self.by_node[0]) if isinstance(self.by_node[0], tuple) else 0


def _values(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


class AnswerParts(NamedTuple):
    parts: list[Part]
    #: Whether there is one for each of several numbers or targets.
    several: bool


def answers_of(tree: Tree, output: str) -> AnswerParts:
    several = isinstance(tree.nodes[0].label, tuple)
    names = [str(name) for name in tree.labels.tolist()]
    if output == "leaf":
        return AnswerParts([Part("leaf", [node.id for node in tree.nodes])], False)
    if output == "label":
        columns = answers(tree)
        named = names if several else list(columns)
        return AnswerParts([Part(*part) for part in zip(named, columns.values())], several)
    if output == "proba":
        if tree.task == "targets":
            by_target = zip(*(tree.target_shares(node) for node in tree.nodes))
            return AnswerParts([Part(*part) for part in zip(names, by_target)], True)
        return AnswerParts([Part("proba", list(zip(*shares(tree).values())))], False)
    raise ValueError(f"output={output!r} must be one of {', '.join(get_args(Output))}")


def answer_words(tree: Tree, output: str) -> list[str]:
    """For the head comment: what is answered, and in which order."""
    if output == "leaf":
        return ["The id of the leaf of a row."]
    if output == "label":
        return ["The label of a row."]
    known = tree.classes if tree.task == "targets" else [tree.labels]
    named = [", ".join(map(in_comment, classes.tolist())) for classes in known]
    return ["The share of each class at the leaf of a row, in this order:", *named]


# ---- branches


class Language(ABC):
    """How a programming language says what a tree asks."""

    #: Of the language.
    name: str
    #: How many blocks may be in each other.
    most_depth = 120
    indent = "    "
    either, both = " || ", " && "
    #: What is between the branches of a condition, and behind them.
    otherwise, end = "} else {", "}"

    @abstractmethod
    def missing(self, read: Read) -> str: ...

    @abstractmethod
    def known(self, read: Read) -> str: ...

    @abstractmethod
    def at_most(self, read: Read, threshold: int | float) -> str: ...

    @abstractmethod
    def is_false(self, read: Read) -> str: ...

    @abstractmethod
    def is_other(self, read: Read, value: str) -> str: ...

    @abstractmethod
    def is_one_of(self, read: Read, values: Sequence[str]) -> str: ...

    @abstractmethod
    def is_none_of(self, read: Read, values: Sequence[str]) -> str: ...

    def routed(self, read: Read, condition: str, missing: Side | None) -> str:
        """What sends a row left: a condition on a value that is there, and the way of missing ones;
        None if there are none."""
        if missing is None:
            return condition
        if missing == "left":
            return f"{self.missing(read)}{self.either}{condition}"
        return f"{self.known(read)}{self.both}{condition}"

    def when(self, condition: str) -> str:
        return f"if ({condition}) {{"

    #: What answers that a row is refused.
    refusal: str

    @abstractmethod
    def answer(self, node: int) -> list[str]:
        """The lines of a leaf."""


def branches(tree: Tree, language: Language, known: Mapping[str, Read]) -> list[str]:
    """The body of the function, in blocks: first what it refuses, then the tree."""
    if tree.depth > language.most_depth:
        raise ValueError(
            f"{language.name} reads no code of more than {language.most_depth} blocks in each "
            f"other, and this tree is {tree.depth} deep"
        )
    lines = []
    for read in known.values():
        for condition in _refused(tree, language, read):
            lines += [language.when(condition), f"{language.indent}{language.refusal}"]
            lines += [language.end] if language.end else []
    for kind, node, depth in walk(tree):
        pad = language.indent * depth
        if kind == "leaf":
            lines += [pad + line for line in language.answer(node.id)]
        elif kind == "split":
            assert node.split is not None
            goes_left = _routed_left(tree, node.split, language, known[node.split.column.name])
            lines.append(f"{pad}{language.when(goes_left)}")
        elif kind == "between":
            lines.append(f"{pad}{language.otherwise}")
        elif language.end:
            lines.append(f"{pad}{language.end}")
    return [language.indent + line for line in lines]


def _refused(tree: Tree, language: Language, read: Read) -> list[str]:
    found = [language.missing(read)] if tree.refuses_missing(read.column) else []
    if tree.refuses_unseen(read.column):
        unknown = language.is_none_of(read, read.column.values)
        found.append(language.routed(read, unknown, None if found else "right"))
    return found


def _routed_left(tree: Tree, split: Split, language: Language, read: Read) -> str:
    """What sends a row left, whether its value is there or not."""
    if split.test is None:
        return language.known(read)
    way = tree.way_of_missing(split)
    missing = None if tree.refuses_missing(split.column) else way
    return language.routed(read, _goes_left(split, way, language, read), missing)


def _goes_left(split: Split, way: Side, language: Language, read: Read) -> str:
    test: Any = split.test
    if split.column.kind == "ordered":
        test = levels_apart(split.column, test)
    if isinstance(test, Sets):
        # Whatever neither side names goes where missing values do.
        if way == "left":
            return language.is_none_of(read, test.right)
        return language.is_one_of(read, test.left)
    if isinstance(test, bool):
        return language.is_false(read)
    if isinstance(test, str):
        return language.is_other(read, test)
    return language.at_most(read, test)


# ---- words


def check_name(language: str, name: str, reserved: Collection[str]) -> None:
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) or name in reserved:
        raise ValueError(f"name={name!r} cannot be the name of a function in {language}")


def check_integer(value: int) -> None:
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"the label {shown(value)} is beyond 64-bit integers")


def utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{text!r} cannot be written in UTF-8") from None


def identifiers(names: Iterable[str], reserved: Collection[str]) -> dict[str, str]:
    """For each name an own one of small letters, digits and underscores.

    >>> list(identifiers(["Größe", "größe", "2nd", "int", "漢"], {"int"}).values())
    ['grosse', 'grosse_2', 'x2nd', 'int_', 'x']
    """
    found: dict[str, str] = {}
    taken = set(reserved)
    for name in names:
        plain = unicodedata.normalize("NFKD", name[:200]).casefold().encode()
        letters = re.sub("[^a-z0-9]+", "_", _without_marks(plain.decode())).strip("_")[:40]
        own = letters if letters[:1].isalpha() else f"x{letters}"
        own = f"{own}_" if own in reserved else own
        tries = 1
        candidate = own
        while candidate in taken:
            tries += 1
            candidate = f"{own}_{tries}"
        taken.add(candidate)
        found[name] = candidate
    return found


def _without_marks(text: str) -> str:
    return "".join(character for character in text if not unicodedata.combining(character))


def in_comment(value: Any) -> str:
    """A name or label within a comment, in ASCII and on one line, that cannot end it or open
    another.

    >>> print(in_comment("*/ größe??/"))
    "\\u002a/ gr\\u00f6\\u00dfe?\\u003f/"
    """
    text = json.dumps(value) if isinstance(value, str) else ascii(value)
    for dangerous in ("*", "<", "\x7f"):
        text = text.replace(dangerous, f"\\u{ord(dangerous):04x}")
    return text.replace("??", "?\\u003f")
