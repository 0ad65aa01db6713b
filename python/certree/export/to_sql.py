"""A tree as SQL: columns of a select list, each a CASE of CASEs.

Comparisons are exact. A threshold of at most 15 digits is written as it is, because every database
reads it as the nearest 64-bit float; one of more digits is read from a string where that is exact,
and in SQLite, which reads long decimals roughly, it is a quotient of a whole number and powers of
two. Floats of 32 bits are widened before they are compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, get_args

from certree.conditions import float_at_most, levels_apart
from certree.export.walk import Output, answers, shares, walk
from certree.moments import TICKS, time_unit, time_zone
from certree.scalars import shown
from certree.schema import Column, Sets

if TYPE_CHECKING:
    from certree.nodes import Split
    from certree.tree import Tree

Dialect = Literal["duckdb", "postgres", "sqlite", "snowflake", "bigquery", "spark"]

EXACT = 2**53
"""Integers up to this size are 64-bit floats."""

PER_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True)
class Words:
    """How a dialect says what is not the same everywhere."""

    double: str
    #: Around an identifier.
    mark: str
    #: Backslashes in a string begin an escape.
    escapes: bool
    #: True of a float that is no number; empty where there is none.
    no_number: str
    #: Moments without and with a time zone.
    naive: str
    zoned: str
    #: The largest integer that a literal can be.
    largest: int


_LARGE = 10**37
DIALECTS = {
    "duckdb": Words(
        "DOUBLE", '"', False, "isnan({})", "TIMESTAMP '{}'", "TIMESTAMPTZ '{}+00'", _LARGE
    ),
    "postgres": Words(
        "DOUBLE PRECISION",
        '"',
        False,
        "{} = 'NaN'",
        "TIMESTAMP '{}'",
        "TIMESTAMPTZ '{}+00'",
        _LARGE,
    ),
    "sqlite": Words("REAL", '"', False, "", "'{}'", "'{}'", 2**63 - 1),
    "snowflake": Words(
        "DOUBLE",
        '"',
        True,
        "{} = 'NaN'::DOUBLE",
        "TO_TIMESTAMP_NTZ('{}')",
        "TO_TIMESTAMP_TZ('{} +00:00')",
        _LARGE,
    ),
    "bigquery": Words(
        "FLOAT64", "`", True, "IS_NAN({})", "DATETIME '{}'", "TIMESTAMP '{}+00'", 2**63 - 1
    ),
    "spark": Words(
        "DOUBLE", "`", True, "isnan({})", "TIMESTAMP_NTZ '{}'", "TIMESTAMP '{}+00:00'", _LARGE
    ),
}


def to_sql(tree: Tree, output: str = "label", dialect: str = "duckdb") -> str:
    writer = Writer.of(dialect)
    if output == "leaf":
        columns: dict[str, list[Any]] = {"leaf": [node.id for node in tree.nodes]}
    elif output == "label":
        columns = answers(tree)
    elif output == "proba":
        columns = {**shares(tree)}
    else:
        raise ValueError(f"output={output!r} must be one of {', '.join(get_args(Output))}")
    return ",\n".join(
        f"{_case(tree, values, writer)} AS {writer.name(name)}" for name, values in columns.items()
    )


def _case(tree: Tree, values: Sequence[Any], writer: Writer) -> str:
    """The answer of the leaf that a row ends in; NULL where a missing value is refused."""
    kinds = {type(value) for value in values}
    if len(kinds) > 1:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"the labels are of several types ({names}), but a column of SQL has one")
    lines = []
    tested = {node.split.column.name: node.split.column for node in tree.nodes if node.split}
    columns = tested.values()
    refused = [writer.has_no_value(column) for column in columns if tree.refuses_missing(column)]
    refused += [
        f"{writer.name(column.name)} NOT IN ({writer.strings(column.values)})"
        for column in columns
        if tree.refuses_unseen(column)
    ]
    if refused:
        lines += [f"CASE WHEN {' OR '.join(refused)} THEN NULL", "ELSE"]
    for kind, node, depth in walk(tree):
        pad = "  " * min(depth + bool(refused), 40)
        if kind == "leaf":
            lines.append(f"{pad}{writer.literal(values[node.id])}")
        elif kind == "split":
            assert node.split is not None
            lines.append(f"{pad}CASE WHEN {writer.goes_left(tree, node.split)} THEN")
        elif kind == "between":
            lines.append(f"{pad}ELSE")
        else:
            lines.append(f"{pad}END")
    if refused:
        lines.append("END")
    return "\n".join(lines).strip()


def rule_sql(tree: Tree, leaf: int, dialect: str = "duckdb") -> str:
    """What holds for the rows of a leaf, as the condition of a WHERE."""
    writer = Writer.of(dialect)
    path = tree.path(leaf)
    told = []
    for at, child in zip(path, path[1:]):
        split = tree.nodes[at].split
        assert split is not None
        side = writer.goes_left if child == split.left else writer.goes_right
        told.append(side(tree, split))
    return "\n  AND ".join(told) or "TRUE"


@dataclass(frozen=True)
class Writer:
    """Writes names, literals and conditions in one dialect."""

    dialect: str
    words: Words

    @classmethod
    def of(cls, dialect: str) -> Writer:
        if dialect not in DIALECTS:
            raise ValueError(f"dialect={dialect!r} must be one of {', '.join(DIALECTS)}")
        return cls(dialect, DIALECTS[dialect])

    def name(self, name: str) -> str:
        mark = self.words.mark
        if "\0" in name or not name:
            raise ValueError(f"{name!r} cannot be the name of a column in SQL")
        if self.dialect == "bigquery":
            return f"{mark}{_escaped(name, mark)}{mark}"
        return f"{mark}{name.replace(mark, mark * 2)}{mark}"

    def string(self, value: str) -> str:
        if "\0" in value:
            raise ValueError(f"{value!r} holds a character that SQL's strings cannot")
        if self.words.escapes:
            return f"'{_escaped(value, chr(39))}'"
        return "'" + value.replace("'", "''") + "'"

    def literal(self, value: Any) -> str:
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, int):
            return self.integer(value)
        if isinstance(value, float):
            return self.double(value)
        if isinstance(value, str):
            return self.string(value)
        raise ValueError(f"labels of type {type(value).__name__} cannot be written in SQL")

    def integer(self, value: int) -> str:
        if abs(value) > self.words.largest:
            raise ValueError(f"{self.dialect} has no integer as large as {shown(value)}")
        return str(value)

    def double(self, value: float) -> str:
        """A number that is read as this 64-bit float."""
        text = repr(value)
        digits = text.split("e")[0].replace(".", "").replace("-", "").strip("0")
        if len(digits) <= 15 and "e" not in text:
            return text
        if self.dialect != "sqlite":
            return f"CAST('{text}' AS {self.words.double})"
        return _quotient(value)

    def has_no_value(self, column: Column) -> str:
        name = self.name(column.name)
        tests = [f"{name} IS NULL"]
        if self._has_nan(column):
            tests.append(self.words.no_number.format(name))
        return " OR ".join(tests)

    def strings(self, values: Sequence[str]) -> str:
        return ", ".join(map(self.string, values))

    def _is_one_of(self, column: Column, values: Sequence[str]) -> str:
        name = self.name(column.name)
        if len(values) == 1:
            return f"{name} = {self.string(values[0])}"
        return f"{name} IN ({self.strings(values)})"

    def _side_of(self, tree: Tree, split: Split, sets: Sets, side: str) -> str:
        """Whether a row goes to this side of sets, or of levels. Those of the other side are listed
        where missing values, and whatever no side names, go along."""
        here, there = (sets.left, sets.right) if side == "left" else (sets.right, sets.left)
        column = split.column
        if tree.way_of_missing(split) != side:
            return self._is_one_of(column, here)
        known = f"NOT {self._is_one_of(column, there)}"
        if tree.refuses_unseen(column):
            known = self._is_one_of(column, [v for v in column.values if v not in there])
        if tree.refuses_missing(column):
            return known
        return f"({self.name(column.name)} IS NULL OR {known})"

    def goes_left(self, tree: Tree, split: Split) -> str:
        missing = self.has_no_value(split.column)
        if split.test is None:
            return f"NOT ({missing})"
        if (sets := _sets(split)) is not None:
            return self._side_of(tree, split, sets, "left")
        known = self._side(split, "NOT {}", "<>", "<=")
        # NULL is no answer, and NaN at most nothing: both go right by themselves.
        goes_along = tree.way_of_missing(split) == "left" and not tree.refuses_missing(split.column)
        return f"({known} OR {missing})" if goes_along else known

    def goes_right(self, tree: Tree, split: Split) -> str:
        missing = self.has_no_value(split.column)
        if split.test is None:
            return f"({missing})"
        if (sets := _sets(split)) is not None:
            return self._side_of(tree, split, sets, "right")
        known = self._side(split, "{}", "=", ">")
        if tree.refuses_missing(split.column):
            return known
        if tree.way_of_missing(split) == "right":
            return f"({known} OR {missing})"
        # Most databases have NaN above all numbers.
        return f"({known} AND NOT ({missing}))" if self._has_nan(split.column) else known

    def _has_nan(self, column: Column) -> bool:
        return column.dtype.startswith("Float") and bool(self.words.no_number)

    def _side(self, split: Split, boolean: str, string: str, number: str) -> str:
        column, test = split.column, split.test
        assert test is not None
        name = self.name(column.name)
        if isinstance(test, bool):
            return boolean.format(name)
        if isinstance(test, str):
            return f"{name} {string} {self.string(test)}"
        if column.kind in ("duration", "time"):
            if self.dialect == "duckdb" and column.kind == "time":
                # Its releases differ in the type of a column of nanoseconds.
                return f"epoch_ns({name}) {number} {math.floor(test)}"
            return f"{name} {number} {self.clock(column, math.floor(test))}"
        if column.kind == "date":
            if (
                self.dialect == "duckdb"
                and time_unit(column.dtype) == "ns"
                and time_zone(column.dtype)
            ):
                # Its releases differ in the type of such a column, and literals have none.
                return f"epoch_ns({name}) {number} {math.floor(test)}"
            return f"{name} {number} {self.moment(column, math.floor(test))}"
        if abs(test) >= EXACT and column.dtype in ("Int64", "UInt64"):
            return f"{name} {number} {self.integer(math.floor(test))}"
        if column.dtype in ("Float16", "Float32"):
            name = f"CAST({name} AS {self.words.double})"
        return f"{name} {number} {self.double(float_at_most(test))}"

    def clock(self, column: Column, threshold: int) -> str:
        """A duration or a time of day; their columns have microseconds, to which the threshold is
        rounded down, or in snowflake nanoseconds."""
        if column.kind == "duration" and self.dialect in ("duckdb", "postgres"):
            micros = threshold * TICKS["us"] // TICKS[time_unit(column.dtype)]
            sign, whole = "-" * (micros < 0), abs(micros)
            return f"INTERVAL '{sign}{whole // 10**6}.{whole % 10**6:06d} seconds'"
        if column.kind == "time" and self.dialect != "spark":
            micros, rest = divmod(threshold, 1000)
            text = f"{datetime.min + timedelta(microseconds=micros):%H:%M:%S.%f}"
            digits = f"{rest:03d}" if self.dialect == "snowflake" else ""
            return f"'{text}'" if self.dialect == "sqlite" else f"TIME '{text}{digits}'"
        raise ValueError(
            f"column {column.name!r} is a {column.dtype}, for which {self.dialect} has no type or "
            "no literals: fit the tree with a number, such as pl.col(...).dt.total_seconds() of a "
            "duration, or pl.col(...).cast(pl.Int64) of a time"
        )

    def moment(self, column: Column, threshold: int) -> str:
        unit = time_unit(column.dtype)
        try:
            if unit == "day":
                day = (date(1970, 1, 1) + timedelta(days=threshold)).isoformat()
                # As text, midnight is behind the day, and before all else of it.
                midnight = f"'{day} 00:00:00.000000'"
                return midnight if self.dialect == "sqlite" else f"DATE '{day}'"
            seconds, part = divmod(threshold, PER_SECOND[unit])
            moment = datetime(1970, 1, 1) + timedelta(seconds=seconds)
        except OverflowError:
            raise ValueError(
                f"column {column.name!r} is compared with a moment that has no four-digit year,"
                " which SQL cannot say"
            ) from None
        digits = len(str(PER_SECOND[unit])) - 1
        # Only duckdb's and snowflake's clocks are finer than microseconds.
        text = f"{moment.isoformat(sep=' ')}.{part:0{digits}d}"
        zoned = time_zone(column.dtype) is not None
        if unit == "ns" and self.dialect == "duckdb":
            return f"TIMESTAMP_NS '{text}'"
        if unit == "ns" and self.dialect != "snowflake":
            text = text[:-3]
        return (self.words.zoned if zoned else self.words.naive).format(text)


def _sets(split: Split) -> Sets | None:
    """The values on either side of a split that lists them: of sets, and of levels."""
    if split.column.kind == "ordered" and split.test is not None:
        assert isinstance(split.test, (int, float))
        return levels_apart(split.column, split.test)
    return split.test if isinstance(split.test, Sets) else None


def _escaped(text: str, mark: str) -> str:
    """With backslashes before what would end the text or begin an escape."""
    text = text.replace("\\", "\\\\").replace(mark, "\\" + mark)
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def _quotient(value: float) -> str:
    """A float as whole numbers that are exact floats, multiplied or divided without rounding."""
    whole, below = value.as_integer_ratio()
    power = 1 - below.bit_length()
    while whole and whole % 2 == 0:
        whole //= 2
        power += 1
    parts = [f"CAST({whole} AS REAL)"]
    sign = "*" if power > 0 else "/"
    left = abs(power)
    while left > 0:
        step = min(left, 62)
        parts.append(f"{sign} CAST({2**step} AS REAL)")
        left -= step
    return f"({' '.join(parts)})"
