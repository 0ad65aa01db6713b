"""What a column of the user's frame is, as far as a tree needs to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "boolean", "category", "date"]

#: One way out of a split.
Side = Literal["left", "right"]

#: Where a missing value goes that asks for a column which had none in training: the way of the
#: larger child, or nowhere.
MissingUnseen = Literal["larger", "refuse"]

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

    ``kind`` says how it is split: numbers and dates at thresholds, Booleans at true, categories at
    "is value". ``dtype`` is the polars dtype it was fitted with, as text. Thresholds of a date
    column are integers in its physical unit: days for ``Date``, the time unit since the epoch for
    ``Datetime``. ``missing`` says whether values were missing (null or NaN) in training.
    """

    name: str
    kind: Kind
    dtype: str
    values: tuple[str, ...] = ()
    missing: bool = False
