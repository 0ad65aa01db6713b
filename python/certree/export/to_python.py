"""A tree as the source of a Python function that imports nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

from certree.conditions import levels_apart, printable
from certree.export.walk import Output, answers, shares, walk
from certree.moments import time_unit
from certree.schema import Column, Sets

if TYPE_CHECKING:
    from certree.tree import Split, Tree

PER_MICROSECOND = {"us": 1, "ns": 1000}

MOST_DEPTH = 90
"""Python's parser takes no more than a hundred indented blocks."""

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
    if not name.isidentifier():
        raise ValueError(f"name={name!r} cannot be the name of a function")
    if tree.depth > MOST_DEPTH:
        raise ValueError(
            f"Python reads no code of more than {MOST_DEPTH} blocks in each other, and this tree is"
            f" {tree.depth} deep"
        )
    values = _values(tree, output)
    columns = {node.split.column.name: node.split.column for node in tree.nodes if node.split}
    variables = {column: f"x{at}" for at, column in enumerate(columns)}
    lines = [
        f"def {name}(row):",
        (
            f'    """The {output} of a row, a mapping from columns to values; None is a missing'
            ' one."""'
        ),
    ]
    for column, variable in variables.items():
        lines.append(f"    {variable} = row[{ascii(column)}]")
    for read in columns.values():
        variable = variables[read.name]
        # What is no number or no moment differs from itself.
        number = f"None if {variable} is None or {variable} != {variable} else "
        lines.append(f"    {variable} = {number}{_number(read, variable)}")
    if refused := [variables[name] for name, read in columns.items() if tree.refuses_missing(read)]:
        lines += [f"    if None in ({', '.join(refused)},):", "        return None"]
    for name, read in columns.items():
        if tree.refuses_unseen(read):
            known = _listed((None, *read.values))
            lines += [f"    if {variables[name]} not in {known}:", "        return None"]
    for kind, node, depth in walk(tree):
        pad = "    " * (depth + 1)
        if kind == "leaf":
            lines.append(f"{pad}return {_literal(values[node.id])}")
        elif kind == "split":
            assert node.split is not None
            lines.append(f"{pad}if {_routed_left(tree, node.split, variables)}:")
        elif kind == "between":
            lines.append(f"{pad}else:")
    helper = _MOMENT if any("_microseconds" in line for line in lines) else ""
    return f"{helper}\n".lstrip("\n") + ("\n" if helper else "") + "\n".join(lines) + "\n"


def _values(tree: Tree, output: str) -> list[Any]:
    if output == "leaf":
        return [node.id for node in tree.nodes]
    if output == "label":
        columns: dict[str, list[Any]] = answers(tree)
        return columns["label"] if "label" in columns else list(zip(*columns.values()))
    if output == "proba":
        if tree.task == "targets":
            return [tree.target_shares(node) for node in tree.nodes]
        return list(zip(*shares(tree).values()))
    raise ValueError(f"output={output!r} must be one of {', '.join(get_args(Output))}")


def _literal(value: Any) -> str:
    """The value as source, in ASCII, because what is printed may be read by a terminal."""
    return printable(ascii(value))


def _number(column: Column, variable: str) -> str:
    """A value as what its thresholds are: of a date, a number."""
    if column.kind != "date":
        return variable
    unit = time_unit(column.dtype)
    if unit == "day":
        return f"{variable}.toordinal() - 719163"
    if unit == "ms":
        return f"_microseconds({variable}) // 1000"
    factor = PER_MICROSECOND[unit]
    return f"_microseconds({variable})" + (f" * {factor}" if factor > 1 else "")


def _routed_left(tree: Tree, split: Split, variables: dict[str, str]) -> str:
    """What sends a row left, whether its value is there or not."""
    variable = variables[split.column.name]
    if split.test is None:
        return f"{variable} is not None"
    sets = split.test if isinstance(split.test, Sets) else None
    if split.column.kind == "ordered":
        assert isinstance(split.test, (int, float))
        sets = levels_apart(split.column, split.test)
    if sets is not None:
        # Whatever neither side names goes where missing values do.
        if tree.way_of_missing(split) == "left":
            return f"{variable} not in {_listed(sets.right)}"
        return f"{variable} in {_listed(sets.left)}"
    if tree.refuses_missing(split.column):
        return _goes_left(split, variables)
    if tree.way_of_missing(split) == "left":
        return f"{variable} is None or {_goes_left(split, variables)}"
    return f"{variable} is not None and {_goes_left(split, variables)}"


def _listed(values: Sequence[str | None]) -> str:
    return f"({', '.join(map(ascii, values))},)"


def _goes_left(split: Split, variables: dict[str, str]) -> str:
    variable = variables[split.column.name]
    if isinstance(split.test, bool):
        return f"not {variable}"
    if isinstance(split.test, str):
        return f"{variable} != {ascii(split.test)}"
    assert split.test is not None and not isinstance(split.test, Sets)
    test = math.floor(split.test) if split.column.kind == "date" else split.test
    number = repr(test) if math.isfinite(test) else f"float('{test}')"
    return f"{variable} <= {number}"
