"""A tree as a JSON document and back: docs/tree-json.md says what each member means.

Reading trusts nothing: whatever the text is, the answer is a tree that can be used, or a
`ValueError` that says what is wrong and where. A document has limits, so that reading it takes a
bounded time and memory; a tree beyond them is not written either.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast, get_args

import numpy as np
from numpy.typing import NDArray

from certree.answers import label_array
from certree.moments import TICKS
from certree.schema import (
    NUMBERS,
    TIMED,
    Column,
    Kind,
    MissingUnseen,
    Sets,
    Side,
    Task,
    Unseen,
)

if TYPE_CHECKING:
    from certree.nodes import Node, Split
    from certree.tree import Tree

FORMAT = "certree.tree"
VERSION = 3

READ = (1, 2, 3)
"""Versions that are read. The first had no missing values: there they were refused. The second had
neither sets of values nor declared orders."""

SAFE_INTEGER = 2**53
"""Beyond this, many JSON readers round integers, so they are written as strings of digits."""

MOST_BYTES = 2**26
"""Of a document: 64 MiB."""

MOST_VALUES = 2**22
"""Of a document, by its commas and brackets."""

MOST_NODES = 100_000
MOST_DEPTH = 1_000

LABEL_TYPES: dict[str, type | tuple[type, ...]] = {
    "bool": bool,
    "str": str,
    "bytes": bytes,
    "object": (str, int, float, bool),
    **{f"{name}{size}": int for name in ("int", "uint") for size in (8, 16, 32, 64)},
    **{f"float{size}": float for size in (16, 32, 64)},
}
"""The types of labels, by numpy's name for them, and what their values are in Python."""


# ---- writing


def to_json(tree: Tree, indent: int | None = 2, **more: Any) -> str:
    """The document. ``more`` are members to add after the tree's own."""
    _check_size(len(tree.nodes), tree.depth)
    document = {**to_document(tree), **more}
    if indent is None:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    else:
        text = _one_line_each(document, indent) + "\n"
    _check_text(text.encode())
    return text


def to_document(tree: Tree) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "task": tree.task,
        "missing_unseen": tree.missing_unseen,
        "unseen": tree.unseen,
        "columns": [_column(column) for column in tree.columns],
        "labels": _labels(tree.labels),
        **({"classes": list(map(_labels, tree.classes))} if tree.task == "targets" else {}),
        "nodes": [_node(*pair) for pair in zip(tree.nodes, tree._core.parts())],
    }


def _one_line_each(document: dict[str, Any], indent: int) -> str:
    """Columns and nodes on a line each: a file that people and `diff` can read."""
    pad = " " * indent

    def dump(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    members = []
    for name, value in document.items():
        text = dump(value)
        if isinstance(value, list):
            text = "[\n" + ",\n".join(pad * 2 + dump(item) for item in value) + f"\n{pad}]"
        members.append(f"{pad}{dump(name)}: {text}")
    return "{\n" + ",\n".join(members) + "\n}"


def _column(column: Column) -> dict[str, Any]:
    members: dict[str, Any] = {"name": column.name, "kind": column.kind, "dtype": column.dtype}
    if column.kind in ("category", "ordered"):
        members["values"] = list(column.values)
    if column.missing:
        members["missing"] = True
    return members


def _labels(labels: NDArray[Any]) -> dict[str, Any]:
    values = labels.tolist()
    name = _type_name(labels, values)
    if name not in LABEL_TYPES or not all(isinstance(v, LABEL_TYPES[name]) for v in values):
        raise ValueError(f"labels of type {labels.dtype} cannot be written as JSON")
    return {"dtype": name, "values": [_json_label(v, name) for v in values]}


def _type_name(labels: NDArray[Any], values: list[Any]) -> str:
    if all(isinstance(value, bytes) for value in values):
        return "bytes"
    return "str" if labels.dtype.kind in "UT" else labels.dtype.name


def _json_label(value: Any, dtype: str) -> Any:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    # Among objects, digits may be a string of the caller's own.
    return _number(value) if type(value) is int and dtype != "object" else value


def _node(node: Node, part: tuple[Any, ...]) -> dict[str, Any]:
    _, label, rows, value, loss = part
    members: dict[str, Any] = {"label": label, "rows": rows, "value": value, "loss": loss}
    if node.split:
        members["split"] = _split(node.split)
    return members


def _split(split: Split) -> dict[str, Any]:
    members: dict[str, Any] = {"column": split.column_index}
    if split.test is None:
        members["is_missing"] = True
    elif isinstance(split.test, bool):
        members["is_true"] = True
    elif isinstance(split.test, str):
        members["is"] = split.test
    elif isinstance(split.test, Sets):
        members["in"] = [list(side) for side in split.test]
    elif split.column.kind == "ordered":
        members["at_most"] = split.column.values[math.floor(split.test)]
    else:
        members["at_most"] = _number(split.test)
    if split.missing is not None:
        members["missing"] = split.missing
    return {**members, "left": split.left, "right": split.right}


def _number(value: int | float) -> int | float | str:
    if isinstance(value, int) and abs(value) > SAFE_INTEGER:
        return str(value)
    return str(value) if isinstance(value, float) and math.isinf(value) else value


# ---- reading

#: By kind of column.
_TYPES = {
    "date": re.compile(r"Date|Datetime\(time_unit='(ms|us|ns)', time_zone=(None|'[^']+')\)"),
    "duration": re.compile(r"Duration\(time_unit='(ms|us|ns)'\)"),
    "time": re.compile("Time"),
}

Parts = list[tuple[Any, int, int, list[float], float]]


class Read(NamedTuple):
    """The parts of a `_core.Tree`, its columns, its labels, its task, and the labels of each of
    several targets."""

    parts: Parts
    columns: list[Column]
    labels: NDArray[Any]
    task: Task
    classes: list[NDArray[Any]]
    missing_unseen: MissingUnseen
    unseen: Unseen = "warn"


def from_json(text: str | bytes) -> Read:
    """What a document says, or a ValueError."""
    try:
        data = text.encode() if isinstance(text, str) else bytes(text)
        _check_text(data)
        document = json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError, TypeError) as error:
        raise ValueError(f"not a JSON document: {error}") from None
    return from_document(document)


def from_document(document: Any) -> Read:
    top = _object(document, "the document")
    if top.get("format") != FORMAT:
        _wrong("format", f'must be "{FORMAT}"; this is not a certree tree')
    version = _integer(_member(top, "version", "the document"), "version", 1)
    if version not in READ:
        known = f"versions 1 to {VERSION}"
        _wrong("version", f"is {_short(version)}, but this certree reads {known} only")
    task = top.get("task")
    if task not in get_args(Task):
        _wrong("task", f"must be one of {', '.join(get_args(Task))}")
    unseen = top.get("missing_unseen") if version > 1 else "refuse"
    if unseen not in get_args(MissingUnseen):
        _wrong("missing_unseen", f"must be one of {', '.join(get_args(MissingUnseen))}")
    strange = top.get("unseen") if version > 2 else "warn"
    if strange not in get_args(Unseen):
        _wrong("unseen", f"must be one of {', '.join(get_args(Unseen))}")
    columns = _read_columns(_array(_member(top, "columns", "the document"), "columns"))
    labels = _read_labels(_object(_member(top, "labels", "the document"), "labels"), "labels")
    classes = _read_classes(top, len(labels)) if task == "targets" else []
    nodes = _array(_member(top, "nodes", "the document"), "nodes")
    _check_size(len(nodes))
    if not nodes:
        _wrong("nodes", "must hold at least one node")
    # Sets, because a category may have as many values as there are nodes that ask for one.
    values = [frozenset(column.values) for column in columns]
    width = sum(map(len, classes)) if task == "targets" else len(labels)
    if task == "labels":
        first = _object(nodes[0], "nodes[0]")
        width = len(_array(_member(first, "value", "nodes[0]"), "nodes[0].value"))
    sizes = len(labels), width
    parts = [
        _read_node(node, f"nodes[{index}]", (columns, values), sizes, cast(Task, task))
        for index, node in enumerate(nodes)
    ]
    _check_preorder(parts)
    return Read(parts, columns, labels, task, classes, unseen, strange)


def _check_text(text: bytes) -> None:
    """One error for all that is too large, before anything is built from it."""
    if len(text) > MOST_BYTES:
        raise ValueError(f"too large: it has more than {MOST_BYTES >> 20} MiB")
    if sum(text.count(mark) for mark in (b",", b"[", b"{")) > MOST_VALUES:
        raise ValueError(f"too large: it has more than {MOST_VALUES:,} values")


def _check_size(n_nodes: int, depth: int = 0) -> None:
    if n_nodes > MOST_NODES:
        _wrong("nodes", f"is too large: a document has at most {MOST_NODES:,} nodes")
    if depth > MOST_DEPTH:
        _wrong("nodes", f"is too deep: a document's tree has a depth of at most {MOST_DEPTH:,}")


def _read_columns(items: list[Any]) -> list[Column]:
    columns = []
    names = set()
    for index, item in enumerate(items):
        where = f"columns[{index}]"
        members = _object(item, where)
        name = _string(_member(members, "name", where), f"{where}.name")
        kind = _string(_member(members, "kind", where), f"{where}.kind")
        if kind not in get_args(Kind):
            known = ", ".join(get_args(Kind))
            _wrong(f"{where}.kind", f"is {_short(kind)}, but must be one of {known}")
        dtype = _string(_member(members, "dtype", where), f"{where}.dtype")
        if kind in TIMED and not _TYPES[kind].fullmatch(dtype):
            _wrong(f"{where}.dtype", f"is {_short(dtype)}, which is no type of {kind}s")
        values: list[str] = []
        if kind in ("category", "ordered"):
            given = _array(_member(members, "values", where), f"{where}.values")
            values = [_string(v, f"{where}.values[{i}]") for i, v in enumerate(given)]
            if kind == "ordered" and len(set(values)) < len(values):
                _wrong(f"{where}.values", "holds a level twice")
        if name in names:
            _wrong(f"{where}.name", f"is {_short(name)}, as an earlier column's is")
        names.add(name)
        missing = members.get("missing", False)
        if not isinstance(missing, bool):
            _wrong(f"{where}.missing", "must be true or false")
        columns.append(Column(name, cast(Kind, kind), dtype, tuple(values), missing))
    return columns


def _read_classes(top: dict[str, Any], n_targets: int) -> list[NDArray[Any]]:
    given = _array(_member(top, "classes", "the document"), "classes")
    if len(given) != n_targets:
        _wrong("classes", f"must hold the labels of {n_targets} targets, one for each label")
    places = [f"classes[{index}]" for index in range(len(given))]
    return [_read_labels(_object(each, where), where) for each, where in zip(given, places)]


def _read_labels(members: dict[str, Any], where: str) -> NDArray[Any]:
    name = _string(_member(members, "dtype", where), f"{where}.dtype")
    if name not in LABEL_TYPES:
        _wrong(f"{where}.dtype", f"is {_short(name)}, but must be one of {', '.join(LABEL_TYPES)}")
    given = _array(_member(members, "values", where), f"{where}.values")
    if not given:
        _wrong(f"{where}.values", "must hold at least one label")
    values = [_label(v, name, f"{where}.values[{i}]") for i, v in enumerate(given)]
    if len(set(values)) < len(values):
        _wrong(f"{where}.values", "holds a label twice")
    try:
        labels = label_array(values) if name in ("str", "bytes") else np.array(values, dtype=name)
    except (OverflowError, ValueError):
        labels = np.array([])
    if labels.tolist() != values:
        _wrong(f"{where}.values", f"do not fit {name}")
    return labels


def _label(value: Any, dtype: str, where: str) -> Any:
    expected = LABEL_TYPES[dtype]
    if expected is float or type(value) is float:
        value = _finite(value, where)
    elif expected is int:
        value = _digits(value)
    if isinstance(value, str):
        _string(value, where)
        if expected is bytes:
            value = _bytes(value, where)
    if not (
        isinstance(value, expected) if isinstance(expected, tuple) else type(value) is expected
    ):
        _wrong(where, f"is no value of type {dtype}")
    return value


def _bytes(text: str, where: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        _wrong(where, "is not bytes: its characters must be from U+0000 to U+00FF")


def _read_node(
    node: Any,
    where: str,
    known: tuple[list[Column], list[frozenset[str]]],
    sizes: tuple[int, int],
    task: Task,
) -> tuple[Any, ...]:
    """``known``: the columns, and the values of each. ``sizes``: how many labels there are, and how
    many numbers a node holds."""
    members = _object(node, where)
    n_labels, width = sizes
    most = 0 if task in NUMBERS or task == "targets" else n_labels - 1
    label = _integer(_member(members, "label", where), f"{where}.label", 0, most)
    rows = _integer(_member(members, "rows", where), f"{where}.rows", 0, 2**64 - 1)
    given = _array(_member(members, "value", where), f"{where}.value")
    if len(given) != width:
        each = ", one for each label" if task not in ("targets", "labels") else ""
        _wrong(f"{where}.value", f"must hold {width} numbers{each}")
    value = [_finite(v, f"{where}.value[{i}]") for i, v in enumerate(given)]
    weights = task in ("classification", "targets")
    if weights and (any(weight < 0 for weight in value) or not math.isfinite(sum(value))):
        _wrong(f"{where}.value", "must hold weights: not negative, with a finite sum")
    loss = _finite(_member(members, "loss", where), f"{where}.loss")
    split = None
    if "split" in members:
        split = _read_split(members["split"], f"{where}.split", *known)
    return split, label, rows, value, loss


def _read_split(
    split: Any, where: str, columns: list[Column], values: list[frozenset[str]]
) -> tuple[Any, ...]:
    members = _object(split, where)
    if not columns:
        _wrong(where, "is a test, but there are no columns")
    index = _integer(_member(members, "column", where), f"{where}.column", 0, len(columns) - 1)
    column = columns[index]
    tests = [name for name in ("at_most", "is", "in", "is_true", "is_missing") if name in members]
    needed = {"boolean": "is_true", "category": "is"}.get(column.kind, "at_most")
    if tests == ["is_missing"] or (tests == ["in"] and column.kind == "category"):
        needed = tests[0]
    if tests != [needed]:
        _wrong(where, f"on a {column.kind} column must have {needed!r} and no other test")
    test = members[needed]
    if needed in ("is_true", "is_missing") and test is not True:
        _wrong(f"{where}.{needed}", "must be true")
    if needed == "is" and _string(test, f"{where}.is") not in values[index]:
        name = _short(column.name)
        _wrong(f"{where}.is", f"is {_short(test)}, which is no value of column {name}")
    if needed == "in":
        test = _read_sets(test, f"{where}.in", values[index])
    if needed == "at_most":
        test = _threshold(test, f"{where}.at_most", column)
    missing = _read_missing(members, where, column, needed == "is_missing")
    left, right = (
        _integer(_member(members, side, where), f"{where}.{side}", 0, 2**32 - 1)
        for side in ("left", "right")
    )
    return index, None if needed == "is_missing" else test, left, right, missing


def _read_sets(given: Any, where: str, known: frozenset[str]) -> Sets:
    """The values on either side: none of them empty, and each value once."""
    sides = _array(given, where)
    if len(sides) != 2:
        _wrong(where, "must hold two arrays: the values that go left, and those that go right")
    found = []
    for at, side in enumerate(sides):
        texts = _array(side, f"{where}[{at}]")
        found.append(tuple(_string(v, f"{where}[{at}][{i}]") for i, v in enumerate(texts)))
    left, right = found
    if not left or not right:
        _wrong(where, "must have a value on each side")
    if len(set(left) | set(right)) < len(left) + len(right):
        _wrong(where, "holds a value twice")
    for value in (*left, *right):
        if value not in known:
            _wrong(where, f"holds {_short(value)}, which is no value of the column")
    return Sets(left, right)


def _read_missing(
    members: dict[str, Any], where: str, column: Column, asked: bool
) -> Side | None:
    """Where missing values go. ``asked``: whether the split asks if a value is missing."""
    missing = members.get("missing")
    if missing is not None and missing not in get_args(Side):
        _wrong(f"{where}.missing", f"must be one of {', '.join(get_args(Side))}")
    if asked and missing != "right":
        _wrong(f"{where}.missing", "must be right, because what is missing goes there")
    if missing is not None and not column.missing:
        _wrong(f"{where}.missing", "is told, but the column has no missing values")
    return cast("Side | None", missing)


def _threshold(value: Any, where: str, column: Column) -> int | float:
    if column.kind == "ordered":
        if _string(value, where) not in column.values:
            _wrong(where, f"is {_short(value)}, which is no level of the column")
        return column.values.index(value)
    value = _digits(value)
    if column.kind == "time":
        return _integer(value, where, 0, TICKS["ns"] - 1)
    if type(value) is int:
        most = 2**31 if column.dtype == "Date" else 2**63
        return _integer(value, where, -most, most - 1)
    if column.kind in TIMED:
        _wrong(where, f"must be an integer, as {column.kind}s are")
    # Between the least finite number and what is below it there is no finite one.
    return -math.inf if value == "-inf" else _finite(value, where)


def _check_preorder(parts: Sequence[tuple[Any, ...]]) -> None:
    """The root first, each left subtree right after its parent, and nothing left over or too
    deep."""
    # What comes next must be the child that its parent is still waiting for.
    awaited = [(0, 0)]
    for index, (split, *_) in enumerate(parts):
        child, depth = awaited.pop() if awaited else (-1, 0)
        if child != index:
            _wrong(f"nodes[{index}]", "is not where its parent says: nodes must be in preorder")
        _check_size(0, depth)
        if split is not None:
            _, _, left, right, _ = split
            awaited += [(right, depth + 1), (left, depth + 1)]
    if awaited:
        _wrong("nodes", f"has {len(parts)} nodes, but node {awaited[-1][0]} is a child")


def _wrong(where: str, problem: str) -> NoReturn:
    raise ValueError(f"not a tree that certree can read: {where} {problem}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _member(members: dict[str, Any], name: str, where: str) -> Any:
    if name not in members:
        _wrong(where, f"has no {name!r}")
    return members[name]


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        _wrong(where, "must be an object")
    return value


def _array(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        _wrong(where, "must be an array")
    return value


def _string(value: Any, where: str) -> str:
    if not isinstance(value, str):
        _wrong(where, "must be a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        _wrong(where, "is not valid Unicode")
    return value


def _integer(value: Any, where: str, least: int, most: int | None = None) -> int:
    if type(value) is not int:
        _wrong(where, "must be an integer")
    if value < least or (most is not None and value > most):
        _wrong(where, f"is {_short(value)}, but must be {_range(least, most)}")
    return value


def _short(value: Any) -> str:
    """A value for an error message, which is for people."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:50]}… ({len(text):,} characters)"


def _range(least: int, most: int | None) -> str:
    return f"at least {least}" if most is None else f"from {least} to {most}"


def _finite(value: Any, where: str) -> float:
    if type(value) is int and abs(value) <= SAFE_INTEGER:
        return float(value)
    if type(value) is not float or not math.isfinite(value):
        _wrong(where, "must be a finite number")
    return value


def _digits(value: Any) -> Any:
    """An integer that was written as a string of digits; anything else as it is."""
    if isinstance(value, str) and len(value) <= 20:
        try:
            number = int(value)
        except ValueError:
            return value
        return number if str(number) == value else value
    return value
