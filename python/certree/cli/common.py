"""What several commands need: types of options, saved trees, CSV options, and columns by name."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from certree import tables
from certree.export.to_json import MOST_BYTES
from certree.feature_costs import FeatureCost
from certree.ingest import engine
from certree.tree import Tree


def or_none(read: Callable[[str], Any]) -> Callable[[str], Any]:
    def read_or_none(text: str) -> Any:
        return None if text.lower() == "none" else read(text)

    # argparse names the type in its errors.
    read_or_none.__name__ = f"{read.__name__} (or none)"
    return read_or_none


def an_order(text: str) -> tuple[str, list[str]]:
    """A column, and its values in order."""
    column, equals, levels = text.partition("=")
    if not (column and equals and levels):
        raise argparse.ArgumentTypeError(f"{text!r} is not COLUMN=LEVEL,...")
    return column, levels.split(",")


def a_feature_cost(text: str) -> tuple[str, FeatureCost]:
    """A column, and what a row pays to be asked for it: a cost, or a cost, a group and the cost for
    who has paid for another column of the group. A cost is a number, the name of a column with the
    price of each row, or, alone, an object of values to prices."""
    try:
        if text.endswith("}"):
            column, _, by_value = text.partition("={")
            if not column:
                raise ValueError
            return column, FeatureCost(_by_value("{" + by_value))
        column, _, cost = text.rpartition("=")
        full, *more = cost.split(",")
        if not column or not full or len(more) not in (0, 2):
            raise ValueError
        if not more:
            return column, FeatureCost(_price(full))
        return column, FeatureCost(_price(full), more[0], _price(more[1]))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not COLUMN=COST, COLUMN=COST,GROUP,DISCOUNTED or "
            'COLUMN={"VALUE": COST, ...}'
        ) from None


def _price(text: str) -> float | str:
    """A number, or the name of a column with a price for each row."""
    try:
        return float(text)
    except ValueError:
        if not text:
            raise
        return text


def _by_value(text: str) -> dict[Any, Any]:
    """An object of values to prices: null, true, false and numbers stand for themselves."""
    found = {}
    for key, price in json.loads(text).items():
        try:
            key = json.loads(key)
        except json.JSONDecodeError:
            pass
        if isinstance(key, (list, dict)):
            raise ValueError
        found[key] = price
    return found


def int_or_text(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


def check_column(option: str, name: str, columns: Sequence[str], path: Path) -> None:
    if name not in columns:
        shown = ", ".join(map(repr, columns[:20])) + (", …" if len(columns) > 20 else "")
        raise ValueError(f"{option}: {path} has no column {name!r}; its columns are {shown}")


def load(path: Path) -> Tree:
    try:
        # A file that is no tree may be larger than memory.
        with path.open("rb") as file:
            return Tree.from_json(file.read(MOST_BYTES + 1))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def target_of(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame | pl.Series:
    """The columns that say what is true of rows: one as a vector, several as a table."""
    found = frame.select(engine.columns(names))
    return found.to_series() if len(names) == 1 else found


def about(path: Path) -> str | None:
    """The statement of the certificate that is saved beside a tree; None if there is none."""
    found = json.loads(path.read_bytes()).get("certificate")
    if isinstance(found, dict) and isinstance(found.get("statement"), str):
        statement: str = found["statement"]
        return statement
    return None


def add_csv(command: argparse.ArgumentParser) -> None:
    csv = command.add_argument_group("CSV")
    csv.add_argument(
        "--separator", type=one_byte, metavar="CHARACTER", help="between values (a comma)"
    )
    csv.add_argument(
        "--null",
        nargs="+",
        action="extend",
        metavar="TEXT",
        help="values that stand for a missing one, such as NA; an empty value always does",
    )


def one_byte(text: str) -> str:
    found = "\t" if text == "\\t" else text
    if len(found.encode()) != 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not one character of ASCII")
    return found


def csv_of(given: dict[str, Any]) -> tables.Csv:
    return tables.Csv(given.get("separator", ","), tuple(given.get("null", ())))
