"""A tree as a PMML document of version 4.4, whose evaluators score it in other places.

Each split is two nodes whose predicates are each other's opposite, so that a value that is there
goes one way: of sets, whatever neither side names goes where missing values do. A missing value
makes both unknown, and goes to the default child.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from certree.conditions import float_at_most, levels_apart
from certree.export.function import Part, Read, answers_of, reads, tested, whole_threshold
from certree.export.walk import walk
from certree.moments import TICKS, clock_text, time_unit
from certree.schema import NUMBERS, Column, Sets, Side

if TYPE_CHECKING:
    from certree.nodes import Node, Split
    from certree.tree import Tree

TYPES = {str: "string", int: "integer", float: "double", bool: "boolean"}

IN_UTC = "Times of columns with a time zone are in UTC."


def to_pmml(tree: Tree, target: str = "label") -> str:
    answers = answers_of(tree, "label")
    if answers.several:
        raise ValueError(
            f"this tree answers {', '.join(map(repr, tree.labels.tolist()))}, but a tree of PMML "
            "has one target"
        )
    known = reads(tree, dict.fromkeys(tested(tree), ""))
    answer = answers.parts[0]
    _check_names(tree, known, target)
    function = "regression" if tree.task in NUMBERS else "classification"
    model = {
        "functionName": function,
        "missingValueStrategy": "defaultChild",
        "noTrueChildStrategy": "returnNullPrediction",
        "splitCharacteristic": "binarySplit",
    }
    lines = [
        '<?xml version="1.0" encoding="US-ASCII"?>',
        _open("PMML", version="4.4", xmlns="http://www.dmg.org/PMML-4_4"),
        _open("Header", description=IN_UTC),
        _empty("Application", name="certree"),
        "</Header>",
        *_dictionary(tree, known, answer, target),
        _open("TreeModel", **model),
        *_mining_schema(tree, known, target),
        *_output(tree, answer, target),
        *_nodes(tree, known, answer),
        "</TreeModel>",
        "</PMML>",
    ]
    text = "\n".join(lines) + "\n"
    return text.encode("ascii", "xmlcharrefreplace").decode().replace("\x7f", "&#127;")


def _check_names(tree: Tree, known: Mapping[str, Read], target: str) -> None:
    outputs = {target, *_output_names(tree, target)}
    if len(outputs) < 1 + len(_output_names(tree, target)):
        raise ValueError(f"target={target!r} is the name of an output, too; choose another one")
    for name in known:
        if name in outputs or not name:
            raise ValueError(
                f"a column that is named {name!r} cannot be a field of a PMML document whose "
                f"target is {target!r}; rename it, or choose another target="
            )


def _classes(tree: Tree) -> list[Any]:
    return tree.labels.tolist() if tree.task == "classification" else []


def _output_names(tree: Tree, target: str) -> list[str]:
    return [f"predicted_{target}", "leaf", *(f"proba_{label}" for label in _classes(tree))]


# ---- fields


def _dictionary(
    tree: Tree, known: Mapping[str, Read], answer: Part, target: str
) -> list[str]:
    lines = [_open("DataDictionary", numberOfFields=str(len(known) + 1))]
    for name, read in known.items():
        lines += _field(name, *_type(read), read.column.values)
    numbers = tree.task in NUMBERS
    labels = [] if numbers else [_written(label) for label in tree.labels.tolist()]
    optype = "continuous" if numbers else "categorical"
    return [*lines, *_field(target, optype, _answer_type(answer), labels), "</DataDictionary>"]


def _field(name: str, optype: str, data_type: str, values: Sequence[str]) -> list[str]:
    attributes = {"name": name, "optype": optype, "dataType": data_type}
    if not values:
        return [_empty("DataField", **attributes)]
    listed = [_empty("Value", value=value) for value in values]
    return [_open("DataField", **attributes), *listed, "</DataField>"]


def _type(read: Read) -> tuple[str, str]:
    if read.column.kind == "duration":
        raise ValueError(
            f"column {read.column.name!r} is a {read.column.dtype}, but PMML has no type of "
            "durations: fit the tree with a number, such as pl.col(...).dt.total_seconds()"
        )
    if read.column.kind == "time":
        return "continuous", "time"
    if read.kind == "ticks":
        day = time_unit(read.column.dtype) == "day"
        return "continuous", "date" if day else "dateTime"
    return {
        "number": ("continuous", "double"),
        "whole": ("continuous", "integer"),
        "boolean": ("categorical", "boolean"),
        "text": ("categorical", "string"),
    }[read.kind]


def _answer_type(answer: Part) -> str:
    kind = answer.type
    if kind not in TYPES:
        raise ValueError(f"labels of type {kind.__name__} cannot be written in PMML")
    return TYPES[kind]


def _mining_schema(tree: Tree, known: Mapping[str, Read], target: str) -> list[str]:
    lines = ["<MiningSchema>"]
    for name, read in known.items():
        treatments = {
            "missingValueTreatment": tree.refuses_missing(read.column),
            "invalidValueTreatment": tree.refuses_unseen(read.column),
        }
        refused = {key: "returnInvalid" if no else "asIs" for key, no in treatments.items()}
        lines.append(_empty("MiningField", name=name, usageType="active", **refused))
    return [*lines, _empty("MiningField", name=target, usageType="target"), "</MiningSchema>"]


def _output(tree: Tree, answer: Part, target: str) -> list[str]:
    predicted, leaf, *shares = _output_names(tree, target)
    optype = "continuous" if tree.task in NUMBERS else "categorical"
    kinds = {"optype": optype, "dataType": _answer_type(answer)}
    lines = [
        "<Output>",
        _empty("OutputField", name=predicted, feature="predictedValue", **kinds),
        _empty(
            "OutputField", name=leaf, feature="entityId", optype="categorical", dataType="string"
        ),
    ]
    numbers = {"optype": "continuous", "dataType": "double", "feature": "probability"}
    for name, label in zip(shares, _classes(tree)):
        lines.append(_empty("OutputField", name=name, value=_written(label), **numbers))
    return [*lines, "</Output>"]


# ---- nodes


def _nodes(tree: Tree, known: Mapping[str, Read], answer: Part) -> list[str]:
    predicates = {0: ["<True/>"]}
    lines = []
    for kind, node, depth in walk(tree):
        pad = " " * min(depth, 40)
        if kind == "leaf":
            score = _written(answer.by_node[node.id])
            opened = _open("Node", id=str(node.id), score=score, recordCount=_count(tree, node))
            lines += [pad + line for line in (opened, *predicates.pop(node.id))]
            lines += [pad + line for line in _distribution(tree, node)]
            lines.append(f"{pad}</Node>")
        elif kind == "split":
            split = node.split
            assert split is not None
            way = tree.way_of_missing(split)
            ways = _predicates(split, known[split.column.name], way)
            predicates[split.left], predicates[split.right] = ways
            default = str(split.left if way == "left" else split.right)
            opened = _open("Node", id=str(node.id), defaultChild=default)
            lines += [pad + line for line in (opened, *predicates.pop(node.id))]
        elif kind == "end":
            lines.append(f"{pad}</Node>")
    return lines


def _count(tree: Tree, node: Node) -> str:
    return repr(sum(node.value)) if _classes(tree) else str(node.rows)


def _distribution(tree: Tree, node: Node) -> list[str]:
    if not _classes(tree):
        return []
    return [
        _empty(
            "ScoreDistribution",
            value=_written(label),
            recordCount=repr(weight),
            probability=repr(share),
        )
        for label, weight, share in zip(_classes(tree), node.value, tree.shares(node))
    ]


class Ways(NamedTuple):
    """The predicates of the two children of a split."""

    left: list[str]
    right: list[str]


def _predicates(split: Split, read: Read, way: Side) -> Ways:
    test: Any = split.test
    column = split.column
    if column.kind == "ordered" and test is not None:
        test = levels_apart(column, test)
    if test is None:
        return _simple(column, ("isNotMissing", "isMissing"), None)
    if isinstance(test, Sets):
        if way == "right":
            return Ways(_among(column, test.left, True), _among(column, test.left, False))
        return Ways(_among(column, test.right, False), _among(column, test.right, True))
    if isinstance(test, bool):
        left, right = (_simple(column, ("equal", ""), value).left for value in ("false", "true"))
        return Ways(left, right)
    if isinstance(test, str):
        return _simple(column, ("notEqual", "equal"), test)
    above = ("lessOrEqual", "greaterThan")
    if column.kind == "time":
        return _simple(column, above, clock_text(math.floor(test)))
    if read.kind == "ticks":
        return _simple(column, above, _moment(column, math.floor(test)))
    if read.kind == "whole":
        whole = whole_threshold(column, test)
        if whole is None:
            least = 0 if column.dtype == "UInt64" else -(2**63)
            return _simple(column, ("lessThan", "greaterOrEqual"), str(least))
        return _simple(column, above, str(whole))
    return _simple(column, above, _written(float_at_most(test)))


def _simple(column: Column, operators: tuple[str, str], value: str | None) -> Ways:
    said = {} if value is None else {"value": value}
    left, right = (
        [_empty("SimplePredicate", field=column.name, operator=operator, **said)]
        for operator in operators
    )
    return Ways(left, right)


def _among(column: Column, values: Sequence[str], inside: bool) -> list[str]:
    """Whether a value is one of these, or none of them."""
    if all(map(_is_plain, values)):
        operator = "isIn" if inside else "isNotIn"
        listed = " ".join(_escaped(f'"{value}"') for value in values)
        array = f'<Array type="string" n="{len(values)}">{listed}</Array>'
        opened = _open("SimpleSetPredicate", field=column.name, booleanOperator=operator)
        return [opened, array, "</SimpleSetPredicate>"]
    # PMML says that a backslash escapes a quote in an array, but not what escapes a backslash.
    compared = [_simple(column, ("equal", "notEqual"), value) for value in values]
    lines = [line for each in compared for line in (each.left if inside else each.right)]
    if len(lines) == 1:
        return lines
    opened = _open("CompoundPredicate", booleanOperator="or" if inside else "and")
    return [opened, *lines, "</CompoundPredicate>"]


def _is_plain(value: str) -> bool:
    return value.isprintable() and value == value.strip() != "" and not set('"\\') & set(value)


# ---- words


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"the number {value} cannot be written in PMML")
    return value if isinstance(value, str) else repr(value)


def _moment(column: Column, threshold: int) -> str:
    unit = time_unit(column.dtype)
    days, part = divmod(threshold, TICKS[unit])
    try:
        day = date(1970, 1, 1) + timedelta(days=days)
    except OverflowError:
        raise ValueError(
            f"column {column.name!r} is compared with a moment that has no four-digit year, which "
            "PMML cannot say"
        ) from None
    if unit == "day":
        return day.isoformat()
    per_second = TICKS[unit] // 86400
    seconds, rest = divmod(part, per_second)
    digits = len(str(per_second)) - 1
    clock = datetime.combine(day, datetime.min.time()) + timedelta(seconds=seconds)
    return f"{clock.isoformat()}.{rest:0{digits}d}"


def _open(element: str, /, **attributes: str) -> str:
    told = "".join(f" {key}={_quoted(value)}" for key, value in attributes.items())
    return f"<{element}{told}>"


def _empty(element: str, /, **attributes: str) -> str:
    return f"{_open(element, **attributes)[:-1]}/>"


def _quoted(text: str) -> str:
    _check(text)
    return quoteattr(text)


def _escaped(text: str) -> str:
    _check(text)
    return escape(text)


def _check(text: str) -> None:
    for c in text:
        if (c < " " and c not in "\t\n\r") or "\ud800" <= c <= "\udfff" or c in "\ufffe\uffff":
            raise ValueError(f"{text!r} holds a character that XML cannot")
