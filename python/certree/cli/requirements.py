"""Options about classes: which one counts as positive, what they weigh, and what the answers of
the tree must keep to."""

from __future__ import annotations

import argparse
import math
from typing import Any

import polars as pl

from certree.constraints import (
    RATES,
    Capacity,
    Constraint,
    DemographicParity,
    EqualOpportunity,
    EqualRates,
    FalsePositiveRate,
    SumLimit,
)
from certree.ingest import engine

#: Labels that an error names.
MOST_NAMED = 20

OPTIONS = (
    "positive_label",
    "class_weight",
    "parity",
    "opportunity",
    "capacity",
    "false_positive_rate",
    "parity_ratio",
    "equal_rates",
    "sum_at_most",
    "sum_at_least",
)


def add_options(fit: argparse.ArgumentParser) -> None:
    about = fit.add_argument_group("classes", "Of labels in --target with the task classification.")
    about.add_argument("--positive-label", metavar="LABEL", help="of two classes; the last one")
    about.add_argument(
        "--class-weight",
        nargs="+",
        metavar="LABEL=W",
        help="what a row of each class weighs, such as no=1 yes=5, or the word balanced",
    )
    about.add_argument(
        "--parity",
        action="append",
        type=share,
        metavar="COLUMN=X",
        help="demographic parity: the shares of any two groups of the column that are given the "
        "positive label differ by at most X",
    )
    about.add_argument(
        "--opportunity",
        action="append",
        type=share,
        metavar="COLUMN=X",
        help="equal opportunity: the same among rows whose true label is the positive one",
    )
    about.add_argument(
        "--capacity",
        action="append",
        type=share,
        metavar="LABEL=X",
        help="at most the share X of the rows is given this label",
    )
    about.add_argument(
        "--false-positive-rate",
        type=float,
        metavar="X",
        help="at most the share X of the rows of the negative class is given the positive label",
    )
    about.add_argument(
        "--parity-ratio",
        action="append",
        type=share,
        metavar="COLUMN=X",
        help="each group is given the positive label at least X times as often as any other: 0.8 "
        "is the four-fifths rule",
    )
    about.add_argument(
        "--equal-rates",
        action="append",
        type=share,
        metavar="RATE:COLUMN=X",
        help="as --parity, of a rate: selection, true_positive, false_positive or error",
    )
    for option, most in (("--sum-at-most", "most"), ("--sum-at-least", "least")):
        about.add_argument(
            option,
            action="append",
            type=share,
            metavar="COLUMN=X",
            help=f"the sum of the column over rows that are given the positive label is at {most} "
            "X; the tree does not split on the column",
        )


def share(text: str) -> tuple[str, float]:
    """What stands before the last =, and the number behind it."""
    name, _, number = text.rpartition("=")
    try:
        found = float(number)
    except ValueError:
        found = math.nan
    if not name or math.isnan(found):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=NUMBER")
    return name, found


def parameters(given: dict[str, Any], target: pl.DataFrame | pl.LazyFrame) -> dict[str, Any]:
    """The parameters of a classifier that these options stand for. ``target``: its column."""
    labels = Labels(target)
    found: dict[str, Any] = {}
    if "positive_label" in given:
        found["positive_label"] = labels.named("--positive-label", given["positive_label"])
    if "class_weight" in given:
        found["class_weight"] = _class_weight(given["class_weight"], labels)
    constraints: list[Constraint] = [
        *(DemographicParity(*each) for each in given.get("parity", [])),
        *(EqualOpportunity(*each) for each in given.get("opportunity", [])),
        *(
            Capacity(labels.named("--capacity", label), most)
            for label, most in given.get("capacity", [])
        ),
    ]
    for column, least in given.get("parity_ratio", []):
        constraints.append(DemographicParity(column, min_ratio=least))
    for name, most in given.get("equal_rates", []):
        rate, _, column = name.partition(":")
        if rate not in RATES or not column:
            raise ValueError(f"--equal-rates: {name!r} is not RATE:COLUMN of {', '.join(RATES)}")
        constraints.append(EqualRates(rate, column, most))
    for column, most in given.get("sum_at_most", []):
        constraints.append(SumLimit(column, at_most=most))
    for column, least in given.get("sum_at_least", []):
        constraints.append(SumLimit(column, at_least=least))
    if "false_positive_rate" in given:
        constraints.append(FalsePositiveRate(given["false_positive_rate"]))
    return {**found, "constraints": constraints} if constraints else found


def _class_weight(given: list[str], labels: Labels) -> Any:
    if given == ["balanced"]:
        return "balanced"
    try:
        weights = [share(each) for each in given]
    except argparse.ArgumentTypeError as error:
        raise ValueError(f"--class-weight: {error}") from None
    return {labels.named("--class-weight", label): weight for label, weight in weights}


class Labels:
    """The labels of a table, as they are written on a command line."""

    def __init__(self, target: pl.DataFrame | pl.LazyFrame) -> None:
        self.target = target
        self.known: dict[str, Any] | None = None

    def named(self, option: str, text: str) -> Any:
        if self.known is None:
            distinct = engine.collect(self.target.lazy().unique()).to_series().drop_nulls().sort()
            self.known = {_text(label): label for label in distinct.to_list()}
        if text not in self.known:
            shown = ", ".join(map(repr, list(self.known)[:MOST_NAMED]))
            more = ", …" if len(self.known) > MOST_NAMED else ""
            raise ValueError(f"{option} names {text!r}; the labels are {shown}{more}")
        return self.known[text]


def _text(label: Any) -> str:
    """As CSV has it."""
    return str(label).lower() if isinstance(label, bool) else str(label)
