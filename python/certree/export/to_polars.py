"""A tree as one polars expression, exact for every type of column.

Comparisons are made where they are exact. A threshold below 2^53 in size is compared as a 64-bit
float: narrower numbers fit it, and wider integers are rounded to the same side. A larger one is
compared as an integer of the column's own type.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast, get_args

import polars as pl
from numpy.typing import NDArray

from certree.conditions import float_at_most, levels_apart
from certree.export.walk import Output
from certree.ingest.engine import column as column_of
from certree.moments import TICKS, time_unit, time_zone
from certree.scalars import shown
from certree.schema import NUMBERS, TIMED, Column, Sets, Side

if TYPE_CHECKING:
    from certree.nodes import Split
    from certree.tree import Tree

EXACT_FLOAT = 2**53
"""Integers up to this size are 64-bit floats."""

NEAR_DAYS = 100_000
"""Durations up to this size are 64-bit integers of nanoseconds."""


def to_polars(tree: Tree, output: str = "label") -> pl.Expr:
    if output == "leaf":
        ids = [pl.lit(node.id, dtype=pl.UInt32) for node in tree.nodes]
        return _routed(tree, ids).alias("leaf")
    if output == "label":
        return _answers(tree).alias("label")
    if output == "proba":
        if tree.task == "targets":
            by_target = zip(*[tree.target_shares(node) for node in tree.nodes])
            named = zip(tree.labels.tolist(), tree.classes, by_target)
            return pl.struct(
                [_shares(tree, own, shares).alias(str(name)) for name, own, shares in named]
            ).alias("proba")
        return _shares(tree, tree.labels, [tree.shares(node) for node in tree.nodes]).alias("proba")
    raise ValueError(f"output={shown(output)} must be one of {', '.join(get_args(Output))}")


def _shares(
    tree: Tree, labels: NDArray[Any], by_node: Sequence[tuple[float, ...]]
) -> pl.Expr:
    """A struct with the share of each label."""
    fields = [
        _routed(tree, [pl.lit(share[k], dtype=pl.Float64) for share in by_node]).alias(str(label))
        for k, label in enumerate(labels.tolist())
    ]
    return pl.struct(fields)


def _routed(tree: Tree, answers: list[pl.Expr]) -> pl.Expr:
    """The answer of the leaf that each row ends in; null where a missing value is refused."""
    built: dict[int, pl.Expr] = {}
    tested: dict[str, Column] = {}
    # Children come after their parent, so backwards every child is built before it is needed.
    for node in reversed(tree.nodes):
        if node.split is None:
            built[node.id] = answers[node.id]
            continue
        split = node.split
        tested[split.column.name] = split.column
        left, right = built.pop(split.left), built.pop(split.right)
        goes_left = _routed_left(split, tree.way_of_missing(split))
        built[node.id] = pl.when(goes_left).then(left).otherwise(right)
    if not tested:
        # A literal alone has one row, whatever the frame has.
        return pl.repeat(answers[0], pl.len())
    known = [_has_value(column) for column in tested.values() if tree.refuses_missing(column)]
    known += [_is_seen(column) for column in tested.values() if tree.refuses_unseen(column)]
    return pl.when(pl.all_horizontal(known)).then(built[0]) if known else built[0]


def _answers(tree: Tree) -> pl.Expr:
    """Labels or a number; a struct of several targets' labels, or of several numbers."""
    if tree.task == "targets":
        named = zip(tree.labels.tolist(), tree.classes, zip(*[node.label for node in tree.nodes]))
        return pl.struct(
            [_routed(tree, _literals(own, chosen)).alias(str(name)) for name, own, chosen in named]
        )
    if tree.task not in NUMBERS:
        return _routed(tree, _literals(tree.labels, [node.label for node in tree.nodes]))
    means = [
        _routed(tree, [pl.lit(node.value[k], dtype=pl.Float64) for node in tree.nodes])
        for k in range(len(tree.labels))
    ]
    if len(means) == 1:
        return means[0]
    return pl.struct([mean.alias(str(name)) for name, mean in zip(tree.labels.tolist(), means)])


def _literals(labels: NDArray[Any], chosen: Sequence[Any]) -> list[pl.Expr]:
    """The label that is chosen at each node, in the polars type of the labels."""
    known = labels.tolist()
    if len(types := sorted({type(label).__name__ for label in known})) > 1:
        raise ValueError(
            f"labels of the types {', '.join(types)} cannot be one column of a frame: score with "
            "predict, or fit with labels of one type"
        )
    if labels.dtype == object:
        dtype = _integers(known) if types == ["int"] else pl.Series(known).dtype
    else:
        dtype = pl.Series(labels).dtype
    by_label = {label: pl.lit(label, dtype=dtype) for label in known}
    return [by_label[label] for label in chosen]


def _integers(labels: list[int]) -> pl.DataType:
    """The type that holds all these numbers, in whatever order they come."""
    for dtype, least, most in (
        (pl.Int64(), -(2**63), 2**63),
        (pl.UInt64(), 0, 2**64),
        (pl.Int128(), -(2**127), 2**127),
        (pl.UInt128(), 0, 2**128),
    ):
        if least <= min(labels) and max(labels) < most:
            return dtype
    beyond = max(labels, key=abs)
    raise ValueError(f"polars has no integer as large as the label {shown(beyond)}")


def _is_seen(column: Column) -> pl.Expr:
    """Whether a value was there in training, or is missing."""
    text = column_of(column.name).cast(pl.String)
    return text.is_in(list(column.values)).fill_null(True)


def _sides(column: Column, sets: Sets) -> pl.Expr:
    """True of the values on the left, false of those on the right, and null of all others."""
    values = pl.Series([*sets.left, *sets.right], dtype=pl.String)
    goes_left = pl.Series([True] * len(sets.left) + [False] * len(sets.right))
    text = column_of(column.name).cast(pl.String)
    return text.replace_strict(values, goes_left, default=None, return_dtype=pl.Boolean)


def _has_value(column: Column) -> pl.Expr:
    value = column_of(column.name)
    if column.kind == "number":
        return value.cast(pl.Float64).is_not_nan().fill_null(False)
    return value.is_not_null()


def _routed_left(split: Split, missing: Side) -> pl.Expr:
    """True or false of every row, whether its value is there or not."""
    if split.test is None:
        return _has_value(split.column)
    goes_left = _goes_left(split).fill_null(missing == "left")
    if missing == "left" and split.column.kind == "number":
        # NaN is at most nothing.
        return goes_left | ~_has_value(split.column)
    return goes_left


def _goes_left(split: Split) -> pl.Expr:
    value = column_of(split.column.name)
    test = split.test
    assert test is not None
    if isinstance(test, bool):
        return ~value
    if isinstance(test, str):
        return value.cast(pl.String) != test
    if isinstance(test, Sets):
        return _sides(split.column, test)
    if split.column.kind == "ordered":
        return _sides(split.column, levels_apart(split.column, test))
    if split.column.kind in TIMED:
        return _at_most_moment(value, split.column, math.floor(test))
    if abs(test) < EXACT_FLOAT:
        return value.cast(pl.Float64) <= pl.lit(float(test), dtype=pl.Float64)
    if split.column.dtype in ("Int64", "UInt64"):
        return _at_most_whole(value, math.floor(test), getattr(pl, split.column.dtype))
    return value.cast(pl.Float64) <= pl.lit(float_at_most(test), dtype=pl.Float64)


def _at_most_whole(value: pl.Expr, threshold: int, dtype: Any) -> pl.Expr:
    """As integers of the column's type. A document may hold a threshold beyond them."""
    least, most = (-(2**63), 2**63 - 1) if dtype == pl.Int64 else (0, 2**64 - 1)
    if threshold < least:
        return value < pl.lit(least, dtype=dtype)
    return value <= pl.lit(min(threshold, most), dtype=dtype)


def _at_most_moment(value: pl.Expr, column: Column, threshold: int) -> pl.Expr:
    """A date, duration or time of day against a threshold in the column's unit. The rows may have
    another unit."""
    unit = time_unit(column.dtype)
    if unit == "day":
        return value <= pl.lit(threshold, dtype=pl.Int32).cast(pl.Date)
    if column.kind == "time":
        return value <= pl.lit(threshold).cast(pl.Time)
    compare = _at_most_length if column.kind == "duration" else _at_most_instant
    return compare(value, column, threshold)


def _at_most_instant(value: pl.Expr, column: Column, threshold: int) -> pl.Expr:
    """Polars compares two moments in the coarser of their units, rounded down, and a day beyond the
    range of nanoseconds not at all. So no more than a rounded threshold decides first, and the
    threshold in the finest unit that has it decides the rest."""
    unit, zone = time_unit(column.dtype), time_zone(column.dtype)
    for fine in ("ns", "us"):
        ticks = threshold * (TICKS[fine] // TICKS[unit]) if TICKS[fine] >= TICKS[unit] else None
        if ticks is not None and -(2**63) <= ticks < 2**63:
            rounded = _instant("ms", zone, ticks // (TICKS[fine] // TICKS["ms"]))
            above = (value > _instant(fine, zone, ticks)).fill_null(False)
            return (value <= rounded) & ~above
    return value <= _instant(unit, zone, threshold)


def _instant(unit: str, zone: str | None, ticks: int) -> pl.Expr:
    return pl.lit(ticks).cast(pl.Datetime(cast(Any, unit), zone))


def _at_most_length(value: pl.Expr, column: Column, threshold: int) -> pl.Expr:
    """Polars compares two durations in the coarser of their units, rounded towards zero. So they
    are compared as integers of nanoseconds, unless they are beyond these."""
    unit = time_unit(column.dtype)
    nanoseconds = threshold * (TICKS["ns"] // TICKS[unit])
    if abs(nanoseconds) >= NEAR_DAYS * TICKS["ns"]:
        return value <= pl.lit(threshold).cast(pl.Duration(cast(Any, unit)))
    days = value.dt.total_days()
    is_near = days.is_between(-NEAR_DAYS, NEAR_DAYS)
    at_most = value.dt.total_nanoseconds() <= pl.lit(nanoseconds)
    return pl.when(is_near).then(at_most).otherwise(days < 0)
