"""The least change of a row that gives it another answer.

What leads to a leaf is, for each column by itself, a set of cells. So the least change that leads
there takes each column whose cell is not in its set to the nearest one that is, and the least of
these over all leaves is the least there is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from certree.cells import Cells, cells_of
from certree.conditions import plain
from certree.ingest import sources
from certree.moments import TICKS, time_unit, time_zone
from certree.scalars import is_number, shown
from certree.schema import TIMED

if TYPE_CHECKING:
    from certree.tree import Tree


@dataclass(frozen=True)
class Counterfactual:
    """What would have to be otherwise, so that the row had another answer."""

    answer: Any
    #: The leaf that the row would come to.
    leaf: int
    #: By column, the value that the row has, and the nearest one that would do.
    changes: dict[str, tuple[Any, Any]]
    #: By column, all values that would do, in words.
    conditions: dict[str, str]
    #: The sum of the changes: of numbers and dates how far they are (dates, durations and times of
    #: day in days), of others 1 each.
    size: float

    def __str__(self) -> str:
        told = [
            f"{condition} (is {self.changes[name][0]})"
            for name, condition in self.conditions.items()
        ]
        return f"{plain(str(self.answer))} if {' and '.join(told)}"


def counterfactual(
    tree: Tree,
    row: Any,
    answer: Any,
    immutable: Iterable[str],
    scales: Mapping[str, float] | None,
) -> Counterfactual | None:
    frame = _one_row(tree, row)
    cells = cells_of([tree])
    fixed, sizes = _checked(tree, immutable, scales)
    here = tree.nodes[int(tree.apply(frame)[0])].label
    labels = [leaf.label for leaf in tree.leaves]
    if answer is not None and answer not in labels:
        raise ValueError(f"answer={shown(answer)} is not one of the tree's, {labels[:20]!r}")
    wanted = [label != here if answer is None else label == answer for label in labels]
    if answer is not None and answer == here:
        raise ValueError(f"the row's answer is {here!r} already")
    values = {name: frame[name][0] for name in cells}
    at = {name: _cell(cells[name], frame[name]) for name in cells}
    best: tuple[tuple[int, float], int, dict[str, int]] | None = None
    for leaf, region in regions(tree, cells):
        if not wanted[leaf]:
            continue
        moved, size = {}, 0.0
        for name, part in region.items():
            if at[name] in part:
                continue
            steps = _steps(cells[name], part, frame[name], at[name])
            if name in fixed or not steps:
                break
            step, moved[name] = min(steps)
            size += step / sizes.get(name, 1.0)
        else:
            found = (len(moved), size)
            if best is None or found < best[0]:
                best = found, leaf, {name: moved[name] for name in moved}
    if best is None:
        return None
    (_, size), place, moved = best
    leaf_id = tree.leaves[place].id
    region = next(part for leaf, part in regions(tree, cells) if leaf == place)
    changes = {
        name: (values[name], _value_in(cells[name], frame[name], at[name], cell))
        for name, cell in moved.items()
    }
    conditions = {name: cells[name].told(region[name]) or "" for name in moved}
    return Counterfactual(labels[place], leaf_id, changes, conditions, size)


def regions(
    tree: Tree, cells: Mapping[str, Cells]
) -> Iterable[tuple[int, dict[str, frozenset[int]]]]:
    """The place of each leaf from the left, and by column the cells of rows that come there; no
    leaf without such rows."""
    waiting: list[tuple[int, dict[str, frozenset[int]]]] = [(0, {})]
    places = {leaf.id: place for place, leaf in enumerate(tree.leaves)}
    while waiting:
        at, region = waiting.pop()
        split = tree.nodes[at].split
        if split is None:
            yield places[at], region
            continue
        name = split.column.name
        part = region.get(name, cells[name].all())
        left = cells[name].left_of(tree, split)
        for child, own in ((split.right, part - left), (split.left, part & left)):
            if own:
                waiting.append((child, {**region, name: own}))


def _checked(
    tree: Tree, immutable: Iterable[str], scales: Mapping[str, float] | None
) -> tuple[set[str], Mapping[str, float]]:
    names = {column.name for column in tree.columns}
    fixed = {immutable} if isinstance(immutable, str) else set(immutable)
    sizes = {} if scales is None else scales
    for role, given in (("immutable", fixed), ("scales", sizes)):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(f"{role} names {shown(unknown)}, which are no columns of the tree")
    for name, size in sizes.items():
        if not is_number(size) or not 0 < size < math.inf:
            raise ValueError(f"scales[{name!r}]={shown(size)} is not valid: it must be above 0")
    return fixed, sizes


def _one_row(tree: Tree, row: Any) -> pl.DataFrame:
    """A table of one row, with the tree's names."""
    if isinstance(row, Mapping):
        return pl.DataFrame({str(name): [value] for name, value in row.items()})
    if isinstance(row, (list, tuple)) and not any(isinstance(v, (list, tuple)) for v in row):
        row = [list(row)]
    if isinstance(row, np.ndarray) and row.ndim == 1:
        row = row[None, :]
    source = sources.whole(row)
    frame = source.frame(range(len(source.names)))
    if frame.height != 1:
        raise ValueError(f"a change is found for one row, but there are {frame.height:,}")
    if not source.named:
        if frame.width != len(tree.columns):
            raise ValueError(f"the row has {frame.width} values, not {len(tree.columns)}")
        frame.columns = [column.name for column in tree.columns]
    return frame


def _cell(cells: Cells, series: pl.Series) -> int:
    """The cell of the row's value."""
    value = series[0]
    if value is None or isinstance(value, float) and math.isnan(value):
        return cells.missing
    kind = cells.column.kind
    if kind in TIMED:
        instant = _nanoseconds(series)
        return sum(instant > threshold for threshold in cells.thresholds)
    if kind == "number":
        return sum(value > threshold for threshold in cells.thresholds)
    known = list(cells.values)
    text = bool(value) if kind == "boolean" else str(value)
    return known.index(text) if text in known else cells.other


def _nanoseconds(series: pl.Series) -> int:
    unit = time_unit(str(series.dtype))
    return int(series.to_physical()[0]) * (TICKS["ns"] // TICKS[unit])


def _steps(
    cells: Cells, part: frozenset[int], series: pl.Series, at: int
) -> list[tuple[float, int]]:
    """How far each of these cells is, with the cell. Values that no tree knows are no aim, and to
    miss a value is one only where values were missing in training."""
    aims = [cell for cell in part if cell < cells.n_known or cell == cells.missing]
    if not cells.had_missing:
        aims = [cell for cell in aims if cell != cells.missing]
    if cells.column.kind not in ("number", *TIMED) or at == cells.missing:
        return [(1.0, cell) for cell in aims]
    return [
        (1.0 if cell == cells.missing else _distance(cells, series, at, cell), cell)
        for cell in aims
    ]


def _distance(cells: Cells, series: pl.Series, at: int, cell: int) -> float:
    """In the column's own numbers; of dates, durations and times of day in days."""
    aim = _nearest(cells, at, cell)
    if cells.column.kind in TIMED:
        unit = TICKS[time_unit(cells.column.dtype)]
        return abs(aim * (TICKS["ns"] // unit) - _nanoseconds(series)) / TICKS["ns"]
    return float(abs(aim - float(series[0])))


def _nearest(cells: Cells, at: int, cell: int) -> Any:
    """The value in a cell that is nearest to another one; of moments in their column's unit. Where
    any value will do, because the split asks whether it is missing, it is 0."""
    dtype = cells.column.dtype
    if not cells.thresholds:
        return 0
    up = cell > at or cell == len(cells.thresholds)
    threshold: Any = cells.thresholds[cell - 1 if up and cell > 0 else cell]
    if cells.column.kind in TIMED:
        threshold = int(threshold) // (TICKS["ns"] // TICKS[time_unit(dtype)])
        return threshold + 1 if up else threshold
    if "Int" in dtype:
        return math.floor(threshold) + 1 if up else math.floor(threshold)
    if dtype == "Float32":
        return _in_float32(threshold, up)
    return math.nextafter(threshold, math.inf) if up else float(threshold)


def _in_float32(threshold: float, up: bool) -> float:
    near = np.float32(threshold)
    if (float(near) > threshold) == up:
        return float(near)
    return float(np.nextafter(near, np.float32(np.inf if up else -np.inf)))


def _value_in(cells: Cells, series: pl.Series, at: int, cell: int) -> Any:
    """The value that stands for a cell."""
    if cell == cells.missing:
        return None
    kind = cells.column.kind
    if kind == "number":
        return _nearest(cells, len(cells.thresholds) if at == cells.missing else at, cell)
    if kind not in TIMED:
        return cells.values[cell]
    aim = _nearest(cells, len(cells.thresholds) if at == cells.missing else at, cell)
    dtype = cells.column.dtype
    ticks = pl.Series([aim], dtype=pl.Int64)
    unit: Any = time_unit(dtype)
    if unit == "day":
        return ticks.cast(pl.Int32).cast(pl.Date)[0]
    if kind == "time":
        return ticks.cast(pl.Time)[0]
    if kind == "duration":
        return ticks.cast(pl.Duration(unit))[0]
    return ticks.cast(pl.Datetime(unit, time_zone(dtype)))[0]

