"""Training rows in memory, ranked and grouped by the core.

What polars does for a column takes longer than to solve a small problem, so here nothing is done by
column that can be done for all. Cuts, codes and points are those of the streamed path, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import polars as pl

from certree import _core, budget
from certree.ingest import arrays, engine, midpoints, sources, strings, target, weights
from certree.ingest.categories import VALUES, Categories, Way, codes_of_groups
from certree.ingest.checks import check_same_length, count_missing
from certree.ingest.cuts import (
    Cuts,
    choose,
    codes_of_values,
    read_wishes,
    requested_values,
    ways_of,
)
from certree.ingest.kinds import described
from certree.ingest.points import Points
from certree.ingest.slots import filled_in, no_values, values_of, where_missing
from certree.ingest.sparse import Sparse
from certree.ingest.training import Roles, Training
from certree.schema import TIMED, Column

#: Larger tables are streamed: there a copy matters, and polars has more threads.
MOST_VALUES = 100_000_000

#: Bytes of weights by point and class that a second makes a goal of: they are copied, counted in
#: whole units and digested.
PER_SECOND = 200_000_000

#: Bytes that a column takes whatever its rows are: its name, its cuts, and arrays for them here and
#: in the core.
PER_COLUMN = 800

#: Seconds that a column takes once reading is over: its cuts, its place in the problem, and what
#: the certificate says of it.
SECONDS_PER_COLUMN = 6e-6

#: So many values are cut before anyone looks at the clock again, which takes as long as a few.
VALUES_PER_LOOK = 5_000

#: Bytes that a distinct value takes: a threshold here, one in the core and one in its problem.
PER_VALUE = 64

#: Bytes that each string of a category takes beside that and its characters: what Python and the
#: allocator of the core say about it.
PER_STRING = 150


class Part(NamedTuple):
    """The values of a column, or of several side by side; a category's as strings. ``missing``: of
    which rows they are missing, whatever stands there, if of any. Floats that are not a number are
    missing, too."""

    values: np.ndarray | pl.Series | Sparse
    missing: np.ndarray | None = None


@dataclass(frozen=True)
class InMemory(Training):
    #: The columns, ranked.
    table: _core.Table
    #: The distinct values of numbers and dates by column, as they are compared.
    values: dict[int, np.ndarray]
    #: The class number of each row; none where the target is something else.
    classes: np.ndarray | None
    #: In whole units.
    weights: np.ndarray | None
    #: What that leaves of each weight, in finer and finer units.
    finer: list[np.ndarray]


class Ranked(Protocol):
    """Columns whose distinct values are known."""

    @property
    def columns(self) -> list[Column]: ...

    @property
    def values(self) -> dict[int, np.ndarray]:
        """Those of numbers and dates by column, as they are compared."""

    @property
    def table(self) -> Any:
        """Says by its ``amounts`` what each value of a column weighs."""

    @property
    def weights(self) -> np.ndarray | None: ...


@dataclass(frozen=True)
class Located:
    """Points, and the rows that belong to them."""

    cuts: list[Cuts]
    points: Points
    #: The point of each row.
    point_of: np.ndarray
    #: By row; None: every row counts once.
    weights: np.ndarray | None


def fits(source: sources.Source) -> bool:
    if source.sparse is not None:
        return True
    return source.height is not None and source.height * len(source.names) <= MOST_VALUES


def read(roles: Roles) -> InMemory:
    """Rank the features; read the target, if there is one, and the weights."""
    columns, parts = parts_of(roles)
    ranked, table, values = rank(columns, parts)
    for role, series in roles.values.items():
        check_same_length(roles.source.height or 0, len(series), role)
    labels, classes = np.empty(0), None
    if "y" in roles.named or "y" in roles.values:
        labels, classes = target.classes_of(series_of(roles, "y"), roles.shown("y"), roles.y)
    unit = kept = amounts = None
    finer: list[np.ndarray] = []
    if "sample_weight" in roles.named or "sample_weight" in roles.values:
        shown = roles.shown("sample_weight")
        unit, given = weights.measure_series(series_of(roles, "sample_weight"), shown)
        amounts, *finer = (unit.whole_of(given, part) for part in range(unit.n_parts))
        kept = given > 0
        if kept.all():
            kept = None
        else:
            ranked, table, values = rank(columns, [filtered(part, kept) for part in parts])
            classes = None if classes is None else classes[kept]
            amounts, finer = amounts[kept], [part[kept] for part in finer]
    source = roles.source
    return InMemory(
        ranked, source.named, labels, unit, source, kept, table, values, classes, amounts, finer
    )


def series_of(roles: Roles, role: str) -> pl.Series:
    if role in roles.values:
        return roles.values[role]
    return roles.source.frame([roles.source.names.index(roles.named[role])]).to_series()


def filtered(part: Part, kept: np.ndarray) -> Part:
    values, missing = part
    if isinstance(values, pl.Series):
        return Part(values.filter(pl.Series(kept)))
    if isinstance(values, Sparse):
        return Part(values.filter(kept))
    if missing is not None:
        missing = missing[kept]
    return Part(values[kept], missing if missing is not None and missing.any() else None)


def parts_of(roles: Roles) -> tuple[list[Column], list[Part]]:
    """The feature columns."""
    source = roles.source
    if source.height == 0:
        # The streamed path's error.
        count_missing(source.lazy(), roles.features)
    budget.require(PER_COLUMN * len(roles.features), f"{len(roles.features)} columns")
    wanted = set(roles.features)
    picks = [index for index, name in enumerate(source.names) if name in wanted]
    if source.sparse is not None:
        dtype = arrays.series("", np.zeros(0, dtype=source.sparse.dtype)).dtype
        columns = _columns(roles.features, [dtype] * len(picks))
        return columns, [Part(source.sparse.take(picks))]
    if source.array is not None:
        array = source.array()
        array = array[:, picks] if len(picks) < len(source.names) else array
        dtype = arrays.series("", array[:0, 0]).dtype
        return _columns(roles.features, [dtype] * len(roles.features)), [Part(array)]
    frame = source.frame(picks)
    columns = _columns(roles.features, frame.dtypes)
    if all(column.kind == "boolean" for column in columns) and not any(
        series.null_count() for series in frame.get_columns()
    ):
        return columns, [Part(frame.to_numpy(order="fortran"))]
    return columns, [_part(column, series) for column, series in zip(columns, frame.get_columns())]


def _columns(names: Sequence[str], dtypes: Sequence[pl.DataType]) -> list[Column]:
    columns: list[Column] = []
    like = last = None
    for name, dtype in zip(names, dtypes):
        # Often one object for all of 100,000 columns, and slow to compare.
        if like is None or (dtype is not last and dtype != last):
            like, last = described(name, dtype), dtype
        columns.append(Column(name, like.kind, like.dtype, like.values, like.missing))
    return columns


def _part(column: Column, series: pl.Series) -> Part:
    series = engine.unnamed(series)
    if column.kind == "category":
        return Part(series.cast(pl.String))
    if series.dtype.is_float() and column.kind == "number":
        # The core finds what is not a number while it ranks.
        return Part(values_of(column, series.fill_null(float("nan"))))
    missing = where_missing(series)
    if missing is None:
        return Part(values_of(column, series))
    if missing.all():
        return Part(no_values(column, len(series)), missing)
    return Part(values_of(column, filled_in(series, missing)), missing)


def rank(
    columns: list[Column], parts: Sequence[Part]
) -> tuple[list[Column], _core.Table, dict[int, np.ndarray]]:
    """The columns with their values if they are categories, and all of them by rank."""
    columns = list(columns)
    arrays: list[Any] = []
    gaps: list[np.ndarray | None] = []
    for index, (part, missing) in enumerate(parts):
        if isinstance(part, pl.Series):
            has_missing = part.null_count() > 0
            values, part = strings.numbered(part)
            columns[index] = replace(columns[index], values=tuple(values), missing=has_missing)
        if isinstance(part, Sparse):
            arrays.append(part.parts())
            gaps.append(None)
            continue
        flags = part.flags
        if not ((flags.c_contiguous or flags.f_contiguous) and flags.aligned):
            budget.require(part.nbytes, "a copy of the features in one piece")
            # Arrays that came over a network may begin at any byte.
            part = np.require(part, requirements=("C", "A"))
        arrays.append(part)
        gaps.append(missing)
    # Columns that are not read in time have one value, and cannot be split.
    table = _core.Table(arrays, budget.bytes_left(), _reading_left(len(columns)), gaps)
    ordered = ("number", *TIMED, "ordered")
    columns = [
        replace(column, missing=True) if table.has_missing(index) else column
        for index, column in enumerate(columns)
    ]
    return (
        columns,
        table,
        {i: table.values(i) for i, column in enumerate(columns) if column.kind in ordered},
    )


def cut_and_group(
    training: InMemory, thresholds: Any, categories: Categories = VALUES
) -> tuple[list[Cuts], Points]:
    """Cut the columns and group the rows."""
    assert training.classes is not None
    cuts, codes = _cut_in_time(training, thresholds, categories)
    k, grouped = len(training.labels), None
    if not is_cut_short(training):
        of = (codes, [each.n_codes for each in cuts], training.classes, k)
        left = (budget.bytes_left(), _reading_left(len(cuts)))
        grouped = training.table.group(*of, training.weights, *left)
        if grouped is not None and _takes_too_long(grouped[1]):
            grouped = None
    cut_short = grouped is None
    if grouped is None:
        cuts, codes = _no_cuts(training)
        of = (codes, [1] * len(cuts), training.classes, k)
        grouped = _in_any_time(training.table.group(*of, training.weights))
    points, sums = grouped
    finer = [_in_any_time(training.table.group(*of, part))[1] for part in training.finer]
    amounts = training.unit.restore(sums, *finer) if training.unit else sums.astype(np.float64)
    return cuts, Points(points, amounts.reshape(-1, k), cut_short)


def _takes_too_long(sums: np.ndarray) -> bool:
    """True if the time will be over before the core has a goal of these sums."""
    left = budget.reading_left()
    return left is not None and sums.nbytes / PER_SECOND > left


Grouping = TypeVar("Grouping")


def _in_any_time(found: Grouping | None) -> Grouping:
    """What was found without a limit of time."""
    assert found is not None
    return found


def is_cut_short(training: InMemory) -> bool:
    """True if the time of the fit was over before all columns were read, or is now."""
    n_columns = len(training.columns)
    return training.table.n_ranked < n_columns or _reading_left(n_columns) == 0.0


def _reading_left(n_columns: int) -> float | None:
    """How many seconds ranking, cutting and grouping so many columns may still take."""
    left = budget.reading_left()
    return None if left is None else max(left - SECONDS_PER_COLUMN * n_columns, 0.0)


def _no_cuts(training: InMemory) -> tuple[list[Cuts], list[np.ndarray | None]]:
    """Columns that cannot be split, and one code for all their ranks."""
    found = [Cuts(column, [], 1) for column in training.columns]
    n_values = _n_values(training)
    zeros = np.zeros(max(n_values, default=0) + 1, dtype=np.uint32)
    return found, [zeros[: n + 1] for n in n_values]


def _n_values(training: Ranked) -> list[int]:
    """By column: how many ranks of known values it has."""
    return [_n_ranks(training, index) for index in range(len(training.columns))]


def _n_ranks(training: Ranked, index: int) -> int:
    if index in training.values:
        return len(training.values[index])
    column = training.columns[index]
    return len(column.values) if column.kind == "category" else 2


def locate(training: InMemory, thresholds: Any, categories: Categories = VALUES) -> Located:
    """Cut the columns, and say which point each row belongs to."""
    cuts, codes = _cut_in_time(training, thresholds, categories)
    located = None
    if not is_cut_short(training):
        left = (budget.bytes_left(), _reading_left(len(cuts)))
        located = training.table.locate(codes, [each.n_codes for each in cuts], *left)
    cut_short = located is None
    if located is None:
        cuts, codes = _no_cuts(training)
        located = _in_any_time(training.table.locate(codes, [1] * len(cuts)))
    core, point_of = located
    weights = None
    amounts = core.rows.astype(np.float64)
    if training.unit is not None and training.weights is not None:
        weights = training.unit.restore(training.weights, *training.finer)
        amounts = _core.sum_by_point(point_of, len(amounts), weights[:, None])[:, 0]
    return Located(cuts, Points(core, amounts[:, None], cut_short), point_of, weights)


def _cut_in_time(
    training: InMemory, thresholds: Any, categories: Categories
) -> tuple[list[Cuts], list[np.ndarray | None]]:
    """The cuts of each column, and the code of each rank where it is another; nothing if the time
    is over before all are found."""
    if is_cut_short(training):
        return [], []
    n_values = sum(_n_values(training))
    n_bytes = PER_VALUE * n_values + sum(_bytes_of_strings(column) for column in training.columns)
    budget.require(n_bytes, f"{n_values} distinct values and the cuts between them")
    try:
        return cut(training, thresholds, categories)
    except _TimeIsOver:
        return [], []


def _bytes_of_strings(column: Column) -> int:
    """Of a category: its strings here, in the core and in its problem, beside what each value
    takes."""
    if column.kind != "category" or budget.bytes_left() is None:
        return 0
    return PER_STRING * len(column.values) + 3 * sum(map(len, column.values))


class _TimeIsOver(Exception):
    """Columns were still to be cut."""


def cut(
    training: Ranked, thresholds: Any, categories: Categories
) -> tuple[list[Cuts], list[np.ndarray | None]]:
    """The cuts of each column, and the code of each rank where it is another."""
    columns = training.columns
    wishes = read_wishes(columns, thresholds)
    found = _thresholds(training, wishes)
    places = [found.get(index, (None, None))[0] for index in range(len(columns))]

    def amounts(index: int) -> np.ndarray:
        return training.table.amounts(index, training.weights)

    ways = ways_of(columns, places, wishes, thresholds, categories, amounts)
    cuts, codes = [], []
    for index, column in enumerate(columns):
        place, code = found.get(index, (None, None))
        way = ways[index] if ways else Way()
        if way.groups is not None:
            code = codes_of_groups(column, way.groups)
        made = Cuts.of(column, place, wishes[index], way)
        cuts.append(made)
        codes.append(with_missing(code, made, _n_ranks(training, index)))
    return cuts, codes


def with_missing(code: np.ndarray | None, cuts: Cuts, n_ranks: int) -> np.ndarray | None:
    """The code of each rank, that of missing values behind the others; None where ranks are the
    codes."""
    if not cuts.column.missing:
        return code
    if code is None and n_ranks == cuts.missing_code:
        return None
    known = np.arange(n_ranks, dtype=np.uint32) if code is None else code
    return np.append(known, np.uint32(cuts.missing_code))


Thresholds = tuple[np.ndarray | list[float] | list[int] | list[str], np.ndarray | None]


def _requested(
    columns: Sequence[Column], wishes: Sequence[Any]
) -> Iterator[tuple[int, Thresholds]]:
    """The thresholds of categories and Booleans that may not be split at all of their values."""
    for index, column in enumerate(columns):
        if column.kind in ("boolean", "category"):
            found = requested_values(column, wishes[index].cuts)
            if found is not None and column.kind == "category":
                yield index, (found, codes_of_values(column, found))
            elif found is not None:
                yield index, (found, np.zeros(2, dtype=np.uint32))


def _thresholds(training: Ranked, wishes: Sequence[Any]) -> dict[int, Thresholds]:
    """The thresholds of numbers and dates, and the code of each rank where it is another."""
    columns, values = training.columns, training.values
    found: dict[int, Thresholds] = dict(_requested(columns, wishes))
    together: dict[tuple[str, bool], list[int]] = {}
    n_cut = VALUES_PER_LOOK
    for index, own in values.items():
        if n_cut >= VALUES_PER_LOOK:
            n_cut = 0
            if _reading_left(len(columns)) == 0.0:
                raise _TimeIsOver
        n_cut += len(own)
        column, wish = columns[index], wishes[index].cuts
        every = isinstance(wish, str)
        if every and column.kind == "number" and not midpoints.whole(own, column):
            together.setdefault((own.dtype.str, wish == "midpoints"), []).append(index)
            continue

        def amounts(index: int = index) -> np.ndarray:
            return training.table.amounts(index, training.weights)

        cut = choose(column, wish, own, amounts)
        if every:
            found[index] = cut, None
        else:
            below = np.searchsorted(midpoints.rounded_down(cut, own.dtype), own)
            found[index] = cut, below.astype(np.uint32)
    for (_, exact), indices in together.items():
        cuts = midpoints.between_all([values[index] for index in indices], exact)
        found.update((index, (cut, None)) for index, cut in zip(indices, cuts))
    return found
