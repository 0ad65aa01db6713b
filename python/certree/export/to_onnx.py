"""A tree as an ONNX model that reads a table's columns and answers exactly what `predict` does.

ONNX's tree ensembles compare one matrix of 32-bit floats. So the model first answers every question
of the tree in the column's own type: 0 left, 1 right, NaN missing. Its ensemble goes by these
answers to the leaf, and tables hold what each leaf answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree.conditions import Test, float_at_most, levels_apart
from certree.export.function import needs_integers
from certree.export.walk import answers
from certree.schema import TIMED, Column, Sets, is_threshold

if TYPE_CHECKING:
    from certree.tree import Tree

OPSET, ML_OPSET, IR = 19, 3, 9
"""Of the end of 2023: the first that compares strings. Runtimes of today read newer ones, too."""

NO_TIME = -(2**63)
"""What numpy's "not a time" is as an integer."""

OWN = "certree:"
"""How names begin of what is neither input nor output."""

MOST_NODES = 2**24
"""Node ids up to here are 32-bit floats."""


class Asked(NamedTuple):
    """What a tree asks of one column, each question once."""

    column: Column
    tests: list[Test]


def to_onnx(tree: Tree, missing: str = "") -> Any:
    try:
        import onnx
    except ImportError:
        raise ImportError("to_onnx needs onnx: pip install 'certree[onnx]'") from None
    if len(tree.nodes) > MOST_NODES:
        raise ValueError(f"ONNX's tree ensembles tell no more than {MOST_NODES:,} nodes apart")
    graph = Graph(onnx)
    asked = _asked(tree)
    parts = [part for each in asked for part in _column(graph, each, missing)]
    graph.add("Concat", parts, axis=1, out=f"{OWN}answers")
    _ensemble(graph, tree, asked)
    tables = _tables(tree)
    for each in asked:
        _check_name(each.column.name, ["leaf", *tables])
    outputs = [graph.value("leaf", np.dtype(np.int64), 1)]
    for name, table in tables.items():
        graph.add("Gather", [graph.constant(table), "leaf"], axis=0, out=name)
        outputs.append(graph.value(name, table.dtype, table.ndim))
    return graph.model(outputs)


def _asked(tree: Tree) -> list[Asked]:
    found: dict[int, Asked] = {}
    for node in tree.nodes:
        if node.split is not None:
            tests = found.setdefault(node.split.column_index, Asked(node.split.column, [])).tests
            if node.split.test not in tests:
                tests.append(node.split.test)
    if not found:
        raise ValueError(
            "the tree is a single leaf, which asks for no column, but an ONNX model has an input; "
            "its answer is always the same"
        )
    return list(found.values())


def _check_name(name: str, outputs: Sequence[str]) -> None:
    """A value has one name in a model, and runtimes written in C end it at a zero character."""
    if not name or "\0" in name or name.startswith(OWN) or name in outputs:
        raise ValueError(
            f"a column that is named {name!r} cannot be an input of an ONNX model whose outputs "
            f"are {', '.join(outputs)}; rename it"
        )


# ---- questions


def _column(graph: Graph, asked: Asked, missing: str) -> list[str]:
    """The input for a column, and matrices with a column for each question."""
    column = asked.column
    tests = [test for test in asked.tests if test is not None and not _lists(column, test)]
    dtype = _input_type(asked)
    graph.inputs.append(graph.value(column.name, dtype, 1))
    rows = graph.add("Unsqueeze", [column.name, graph.constant(np.array([1]))])
    gone = _missing(graph, rows, asked, dtype, missing)
    found = []
    if tests:
        right = graph.add("Cast", [_right(graph, rows, column, tests, dtype)], to=graph.float32)
        if gone:
            nan = graph.constant(np.array([[np.nan]], dtype=np.float32))
            right = graph.add("Where", [gone, nan, right])
        found.append(right)
    if listed := [_sets(column, test) for test in asked.tests if _lists(column, test)]:
        found.append(_sides(graph, rows, column, listed))
    if None in asked.tests:
        assert gone is not None
        found.append(graph.add("Cast", [gone], to=graph.float32))
    return found


def _lists(column: Column, test: Test) -> bool:
    """Whether a test lists the values on both sides: sets of values, or of levels."""
    return isinstance(test, Sets) or (column.kind == "ordered" and test is not None)


def _sets(column: Column, test: Any) -> Sets:
    return test if isinstance(test, Sets) else levels_apart(column, test)


def _sides(graph: Graph, rows: str, column: Column, tests: Sequence[Sets]) -> str:
    """A column for each test: 0 left, 1 right, and NaN of what neither side names."""
    values = graph.constant(np.array([column.values], dtype=object))
    is_value = graph.add("Cast", [graph.add("Equal", [rows, values])], to=graph.float32)

    def holds(sides: Sequence[Sequence[str]]) -> str:
        """Whether the value of a row is in the set of each test."""
        members = [[float(value in side) for side in sides] for value in column.values]
        matrix = graph.constant(np.array(members, dtype=np.float32))
        return graph.add("MatMul", [is_value, matrix])

    right = holds([test.right for test in tests])
    named = holds([(*test.left, *test.right) for test in tests])
    nan = graph.constant(np.array([[np.nan]], dtype=np.float32))
    half = graph.constant(np.array([[0.5]], dtype=np.float32))
    return graph.add("Where", [graph.add("Greater", [named, half]), right, nan])


def _rank(column: Column, test: Test) -> int:
    """Where `_column` puts the answer to a test: lists behind others, and "is missing" last."""
    return 2 if test is None else int(_lists(column, test))


def _input_type(asked: Asked) -> np.dtype[Any]:
    column = asked.column
    if column.kind in ("category", "ordered"):
        return np.dtype(object)
    if column.kind in TIMED:
        return np.dtype(np.int64)
    if needs_integers(column, asked.tests):
        if column.missing:
            raise ValueError(
                f"column {column.name!r} has missing values, and thresholds beyond 2^53, which are "
                "whole numbers: ONNX has no missing ones"
            )
        return np.dtype(np.int64)
    return np.dtype(np.float64)


def _numbers(tests: Sequence[Test]) -> list[int | float]:
    return [t for t in tests if is_threshold(t)]  # type: ignore[misc]


def _missing(
    graph: Graph, rows: str, asked: Asked, dtype: np.dtype[Any], missing: str
) -> str | None:
    """Which values are missing; None if the input cannot say."""
    column = asked.column
    if dtype == np.float64:
        return graph.add("IsNaN", [rows])
    if column.kind in TIMED:
        return graph.add("Equal", [rows, graph.constant(np.array([[NO_TIME]]))])
    if column.kind == "number":
        return None
    if missing in column.values:
        if column.missing:
            raise ValueError(
                f"missing={missing!r} is a value of column {column.name!r}, which has missing ones "
                "too; ONNX has no missing strings, so choose another one for them"
            )
        return None
    return graph.add("Equal", [rows, graph.constant(np.array([[missing]], dtype=object))])


def _right(
    graph: Graph, rows: str, column: Column, tests: Sequence[Test], dtype: np.dtype[Any]
) -> str:
    """Which rows go right at each test."""
    if column.kind == "category":
        return graph.add("Equal", [rows, graph.constant(np.array([tests], dtype=object))])
    if column.kind == "boolean":
        return graph.add("Equal", [rows, graph.constant(np.array([[1.0]]))])
    if dtype != np.float64:
        whole = [math.floor(min(max(t, -(2**63)), 2**63 - 1)) for t in _numbers(tests)]
        return graph.add("Greater", [rows, graph.constant(np.array([whole], dtype=np.int64))])
    ends = [float_at_most(test) for test in _numbers(tests)]
    return graph.add("Greater", [rows, graph.constant(np.array([ends], dtype=np.float64))])


# ---- the tree


def _ensemble(graph: Graph, tree: Tree, asked: Sequence[Asked]) -> None:
    """From the answers to the id of the leaf."""
    places: dict[tuple[str, Test], int] = {}
    for each in asked:
        for test in sorted(each.tests, key=lambda test: _rank(each.column, test)):
            places[each.column.name, test] = len(places)
    nodes = tree.nodes
    splits = [node.split for node in nodes]
    graph.add(
        "TreeEnsembleRegressor",
        [f"{OWN}answers"],
        out=f"{OWN}leaf",
        domain="ai.onnx.ml",
        n_targets=1,
        nodes_treeids=[0] * len(nodes),
        nodes_nodeids=list(range(len(nodes))),
        nodes_modes=["BRANCH_LEQ" if split else "LEAF" for split in splits],
        nodes_featureids=[places[s.column.name, s.test] if s else 0 for s in splits],
        nodes_values=[0.5 if split else 0.0 for split in splits],
        nodes_truenodeids=[split.left if split else 0 for split in splits],
        nodes_falsenodeids=[split.right if split else 0 for split in splits],
        nodes_missing_value_tracks_true=[
            int(split is not None and tree.way_of_missing(split) == "left") for split in splits
        ],
        target_treeids=[0] * tree.n_leaves,
        target_nodeids=[leaf.id for leaf in tree.leaves],
        target_ids=[0] * tree.n_leaves,
        target_weights=[float(leaf.id) for leaf in tree.leaves],
    )
    flat = graph.add("Reshape", [f"{OWN}leaf", graph.constant(np.array([-1]))])
    graph.add("Cast", [flat], to=graph.int64, out="leaf")


def _tables(tree: Tree) -> dict[str, NDArray[Any]]:
    """By the name of each output, what each node answers."""
    found = {name: _labels(column) for name, column in answers(tree).items()}
    if tree.task == "classification":
        found["proba"] = np.array([tree.shares(node) for node in tree.nodes])
    elif tree.task == "targets":
        by_target = zip(*(tree.target_shares(node) for node in tree.nodes))
        for name, shares in zip(tree.labels.tolist(), by_target):
            found[f"proba_{name}"] = np.array(shares)
    return found


def _labels(column: list[Any]) -> NDArray[Any]:
    kinds = {type(label) for label in column}
    for kind, dtype in ((bool, bool), (int, np.int64), (float, np.float64), (str, object)):
        if kinds == {kind}:
            if kind is int and any(not -(2**63) <= label < 2**63 for label in column):
                raise ValueError("ONNX has no labels beyond 64-bit integers")
            return np.array(column, dtype=dtype)
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise ValueError(
        f"labels of type {names} cannot be written as ONNX, which has one type for an output: "
        "strings, integers, floats or Booleans"
    )


# ---- onnx


@dataclass
class Graph:
    """What a model is made of, with a name for every value."""

    #: The module.
    onnx: Any
    inputs: list[Any] = field(default_factory=list)
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    @property
    def float32(self) -> int:
        return int(self.onnx.TensorProto.FLOAT)

    @property
    def int64(self) -> int:
        return int(self.onnx.TensorProto.INT64)

    def add(self, kind: str, inputs: Sequence[str], out: str = "", **attributes: Any) -> str:
        """A node, and the name of what it makes."""
        name = out or f"{OWN}{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, [name], **attributes))
        return name

    def constant(self, values: NDArray[Any]) -> str:
        name = f"{OWN}constant {len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(values, name))
        return name

    def value(self, name: str, dtype: np.dtype[Any], n_dimensions: int) -> Any:
        """An input or output: as many rows as there are."""
        kind = self.onnx.TensorProto.STRING
        if dtype != object:
            kind = self.onnx.helper.np_dtype_to_tensor_dtype(dtype)
        shape = ["rows", None][:n_dimensions]
        return self.onnx.helper.make_tensor_value_info(name, kind, shape)

    def model(self, outputs: Sequence[Any]) -> Any:
        helper = self.onnx.helper
        graph = helper.make_graph(
            self.nodes, "certree", self.inputs, outputs, initializer=self.constants
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(
            graph, opset_imports=opsets, producer_name="certree", ir_version=IR
        )
        self.onnx.checker.check_model(model)
        return model
