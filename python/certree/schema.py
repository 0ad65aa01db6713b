"""What a column of the user's frame is, as far as a tree needs to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Kind = Literal["number", "boolean", "category", "date", "duration", "time", "ordered"]

#: Those whose thresholds are whole numbers of a unit of time.
TIMED: tuple[Kind, ...] = ("date", "duration", "time")

#: One way out of a split.
Side = Literal["left", "right"]

#: Where a missing value goes that asks for a column which had none in training: the way of the
#: larger child, or nowhere.
MissingUnseen = Literal["larger", "refuse"]

#: What prediction does with values of categories and of declared orders that were not there in
#: training: it warns, or refuses them.
Unseen = Literal["warn", "refuse"]


class Sets(NamedTuple):
    """A test of a category: these values go left, and those go right. Where all others go, missing
    ones do."""

    left: tuple[str, ...]
    right: tuple[str, ...]


def is_threshold(test: Any) -> bool:
    """Whether this test of a split compares with a threshold."""
    return test is not None and not isinstance(test, (bool, str, Sets))


#: What a tree answers, and so what its nodes hold: the row weight by class, the mean cost or reward
#: of each label, numbers that are the answer (see ``NUMBERS``), the row weight by class of several
#: targets, or the summed statistics of a task of the user's own whose answers are labels.
Task = Literal[
    "classification",
    "costs",
    "rewards",
    "regression",
    "rates",
    "quantiles",
    "survival",
    "numbers",
    "targets",
    "labels",
]

#: The tasks whose leaves answer what their nodes hold, and what such a number is in words.
NUMBERS = {
    "regression": "mean",
    "rates": "rate",
    "quantiles": "quantile",
    "survival": "hazard ratio",
    "numbers": "answer",
}


@dataclass(frozen=True)
class Column:
    """A named column.

    ``kind`` says how it is split: numbers, dates, durations, times of day and declared orders at
    thresholds, Booleans at true, categories at "is value" or "in a set". ``dtype`` is the polars
    dtype it was fitted with, as text. Thresholds of dates, durations and times are integers in the
    physical unit of the column: days for ``Date``, the time unit since the epoch for ``Datetime``,
    the time unit for ``Duration``, and nanoseconds since midnight for ``Time``. ``values`` are
    those of a category, or the levels of a declared order, whose thresholds are places among them.
    ``missing`` says whether values were missing (null or NaN) in training.
    """

    name: str
    kind: Kind
    dtype: str
    values: tuple[str, ...] = ()
    missing: bool = False
