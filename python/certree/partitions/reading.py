"""One partition: its columns by rank, and targets and weights by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from certree import _core
from certree.ingest import in_memory, matrices, numbers, sources, target, training, weights
from certree.ingest.checks import check_same_length, check_sum
from certree.ingest.kinds import described
from certree.ingest.orders import Orders, with_orders
from certree.schema import Column
from certree.tree import Tree


@dataclass(frozen=True)
class Question:
    """What is read of every partition of a table."""

    #: A label for each row, or numbers.
    target: Literal["labels", "targets", "costs", "rewards"] = "labels"
    orders: Orders | None = None


#: Of these every row has its own numbers, which are added up by point and not told apart.
BY_ROW = ("costs", "rewards")


@dataclass(frozen=True)
class Lot:
    """The rows of a partition as they are given: a table, targets and weights, each of which may
    also be the name of columns of the table."""

    #: The partition, as an error names it.
    where: str
    X: Any
    y: Any
    sample_weight: Any = None


class Key(NamedTuple):
    """What a target holds in a partition."""

    #: Its distinct values in order, with those of rows that weigh nothing if they are labels.
    values: np.ndarray
    #: The value of each rank.
    by_rank: np.ndarray


@dataclass(frozen=True)
class Partition:
    """Rows that weigh something."""

    where: str
    #: Features, with their own values if they are categories.
    columns: list[Column]
    named: bool
    #: How many rows weigh something.
    n_rows: int
    #: Features, then targets; None without rows.
    table: _core.Table | None
    #: The distinct values of numbers and dates by column.
    values: dict[int, np.ndarray]
    #: By target.
    keys: list[Key]
    #: The names of targets that are numbers.
    target_names: list[Any]
    #: By row, as given; and what decides on their unit.
    weights: np.ndarray | None
    weights_seen: Mapping[str, Any] | None
    #: Costs or rewards, rows × labels.
    by_row: np.ndarray | None = None


def read(lot: Lot, question: Question) -> Partition:
    """Rank the columns of a partition. A ValueError names it."""
    try:
        return _read(lot, question)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{lot.where}: {error}") from None


def count_leaves(tree: Tree, lot: Lot) -> np.ndarray:
    """By node of a finished tree: how many rows that weigh something end there."""
    found = np.zeros(len(tree.nodes), dtype=np.int64)
    source = sources.read(lot.X)
    if sources.height(source) == 0:
        return found
    kept = None
    if lot.sample_weight is not None:
        series = matrices.read_column(source, lot.sample_weight, "sample_weight")
        kept = weights.look(series, "sample_weight")[1] > 0
    leaves = tree._route(source, None)
    return found + np.array(_core.count_rows(leaves, len(tree.nodes), kept), dtype=np.int64)


def _read(lot: Lot, question: Question) -> Partition:
    source = sources.whole(with_orders(lot.X, question.orders))
    roles, given, names = _roles(source, lot, question)
    n_rows = source.height or 0
    dtypes = [each.dtype for each in source.frame(source.places(roles.features)).get_columns()]
    columns = [described(name, dtype) for name, dtype in zip(roles.features, dtypes)]
    nothing = Partition(lot.where, columns, source.named, 0, None, {}, [], names, None, None)
    if n_rows == 0:
        return nothing
    columns, parts = in_memory.parts_of(roles)
    amounts = kept = None
    if lot.sample_weight is not None:
        series = in_memory.series_of(roles, "sample_weight")
        check_same_length(n_rows, len(series), "sample_weight")
        seen, amounts = weights.look(series, roles.shown("sample_weight"))
        kept = amounts > 0
        nothing = replace(nothing, weights_seen=seen)
    labels = None
    if given is None:
        series = in_memory.series_of(roles, "y")
        check_same_length(n_rows, len(series), "y")
        labels, classes = target.classes_of(series, roles.shown("y"), roles.y)
        given = classes[:, None]
        nothing = replace(nothing, keys=[Key(labels, labels[:0])])
    check_same_length(n_rows, len(given), "y" if question.target == "labels" else question.target)
    if kept is not None and not kept.any():
        return nothing
    by_row = None
    if question.target in BY_ROW:
        by_row = given if kept is None else given[kept]
        check_sum(by_row)
        given, names = given[:, :0], []
    parts += [in_memory.Part(np.ascontiguousarray(column)) for column in given.T]
    if kept is not None and amounts is not None and not kept.all():
        parts, amounts = [in_memory.filtered(part, kept) for part in parts], amounts[kept]
    n = len(columns)
    every = [*columns, *(Column(str(name), "number", "") for name in names)]
    ranked, table, values = in_memory.rank(every, parts)
    found = [values.pop(n + place) for place in range(len(names))]
    keys = [Key(each, each) for each in found]
    if labels is not None:
        keys = [Key(labels, labels[found[0]])]
    n_kept = n_rows if amounts is None else len(amounts)
    return replace(
        nothing,
        columns=ranked[:n],
        n_rows=n_kept,
        table=table,
        values=values,
        keys=keys,
        weights=amounts,
        by_row=by_row,
    )


def _roles(
    source: sources.Source, lot: Lot, question: Question
) -> tuple[training.Roles, np.ndarray | None, list[Any]]:
    """Features, target and weights; the targets' numbers, unless they are labels; and a name for
    each target."""
    if question.target == "labels":
        return training.assign(source, lot.y, lot.sample_weight), None, ["y"]
    if question.target == "targets":
        read = numbers.read_targets(source, lot.y)
        values, names, taken = read.values, list(read.names), read.named
    else:
        matrix = matrices.read_matrix(source, lot.y, question.target, "label")
        values, names, taken = matrix.values, matrix.labels.tolist(), tuple(matrix.named)
    return training.assign_rows(source, taken, lot.sample_weight), values, names
