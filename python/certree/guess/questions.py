"""The cuts of certree that send the training rows where a model's tests send them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from certree.guess.splits import Splits
from certree.guess.table import Table
from certree.ingest import midpoints
from certree.schema import TIMED
from certree.unseen import listed


class Question(NamedTuple):
    """A cut of a column: after which of its distinct values, or for which value of a category; 0
    for a Boolean. ``MISSING``: whether its value is missing."""

    column: int
    place: int


#: The place of the question whether a value is missing: behind all others of its column.
MISSING = 2**62


class Axis(NamedTuple):
    """A column as a model reads it: a column of X, or "is value" of a category, where missing
    values are one more."""

    column: int
    value: int | None = None


def axes_of(table: Table) -> list[Axis]:
    """The columns that a reference fitted here gets: those of X with more than one value."""
    axes = []
    for index, column in enumerate(table.columns):
        if column.kind == "category":
            n_values = len(column.values) + column.missing
            # Of two values, one asks for both.
            first = 1 if n_values == 2 else 0
            if n_values > 1:
                axes += [Axis(index, value) for value in range(first, n_values)]
        elif table.ranks[index].min() < table.ranks[index].max():
            axes.append(Axis(index))
    return axes


def by_rank(table: Table, axes: Sequence[Axis]) -> np.ndarray:
    """What a reference that knows ranks is fitted to: missing values are above all others."""
    matrix = np.empty((table.n_rows, len(axes)), dtype=np.float32)
    for at, (column, value) in enumerate(axes):
        ranks = table.ranks[column]
        matrix[:, at] = ranks if value is None else ranks == value
    return matrix


def by_value(table: Table, places: Sequence[int]) -> np.ndarray:
    """The columns of X as numbers, in a model's order; NaN where they are missing."""
    matrix = np.zeros((table.n_rows, len(places)))
    for at, index in enumerate(places):
        own, ranks = table.values[index], table.ranks[index]
        known = own.astype(np.float64) if len(own) else np.arange(table.n_values(index))
        matrix[:, at] = np.append(known, np.nan)[ranks]
    return matrix


def answers(table: Table, questions: Sequence[Question]) -> np.ndarray:
    """What each row answers, as ``ThresholdGuesser.transform`` says it."""
    matrix = np.empty((table.n_rows, len(questions)), dtype=np.float32)
    for at, (column, place) in enumerate(questions):
        ranks, kind = table.ranks[column], table.columns[column].kind
        if place == MISSING:
            matrix[:, at] = ranks == table.n_values(column)
        elif kind == "boolean":
            matrix[:, at] = ranks == 1
        else:
            matrix[:, at] = ranks == place if kind == "category" else ranks <= place
    return matrix


def of_ranks(splits: Splits, table: Table, axes: Sequence[Axis]) -> list[Question]:
    """The questions of a model that was fitted to ``by_rank``."""
    found = set()
    for feature in np.unique(splits.features).tolist():
        column, value = axes[feature]
        n = 2 if value is not None else int(table.ranks[column].max()) + 1
        last = table.n_values(column)
        for left in splits.lefts(feature, np.arange(n)).tolist():
            if 0 < left < n:
                place = left - 1 if value is None else value
                is_missing = place == last if value is not None else left == last
                found.add(Question(column, MISSING if is_missing else place))
    return sorted(found)


def of_values(splits: Splits, table: Table, places: Sequence[int]) -> list[Question]:
    """The questions of a model that was fitted to columns of X; ``places``: which ones.

    Tests that separate none of these rows are left out."""
    found: set[Question] = set()
    outside: list[str] = []
    for feature in np.unique(splits.features).tolist():
        index = places[feature]
        column = table.columns[index]
        if column.kind in ("category", *TIMED, "ordered"):
            raise ValueError(
                f"the reference compares column {column.name!r} with numbers, but here it is "
                f"{column.dtype}; give the reference unfitted, or a number in both places"
            )
        values = table.values[index] if column.kind == "number" else np.array([0, 1])
        n = len(values)
        inside = [left for left in splits.lefts(feature, values).tolist() if 0 < left < n]
        found.update(Question(index, left - 1) for left in inside)
        if column.missing:
            # Where missing values go, the model says by each test.
            found.add(Question(index, MISSING))
        elif not inside:
            own = splits.thresholds[splits.features == feature]
            outside.append(
                f"{column.name!r} is tested between {own.min():g} and {own.max():g}, but its "
                f"values are from {values[0]:g} to {values[-1]:g}"
            )
    for feature, value in splits.values:
        index = places[feature]
        column = table.columns[index]
        if column.kind == "boolean":
            found.add(Question(index, 0))
        elif value in column.values:
            found.add(Question(index, column.values.index(value)))
    if not found and outside:
        raise ValueError(
            "no test of the reference separates any of these rows: column "
            f"{'; column '.join(outside[:5])}; fit it on data of the same scale"
        )
    return sorted(found)


def match(names: Sequence[str] | None, n_features: int, table: Table) -> list[int]:
    """Which column of X each column of a fitted model is: by name where both have names, else by
    place."""
    own = [column.name for column in table.columns]
    if names is None or not table.named:
        if n_features != len(own):
            raise ValueError(
                f"the reference was fitted with {n_features} columns, but X has {len(own)}: "
                f"{listed(own)}"
            )
        return list(range(len(own)))
    if set(names) != set(own):
        # LightGBM and others put _ for spaces.
        plain = [name.replace(" ", "_") for name in own]
        if len(set(plain)) == len(plain) and set(names) == set(plain):
            own = plain
        else:
            unknown = [name for name in names if name not in own]
            more = [name for name in own if name not in names]
            parts = [f"X lacks {listed(unknown)}"] * bool(unknown)
            parts += [f"the reference does not know {listed(more)}"] * bool(more)
            raise ValueError(f"the reference was fitted on other columns: {' and '.join(parts)}")
    return [own.index(name) for name in names]


def thresholds_of(table: Table, questions: Sequence[Question]) -> dict[str, list]:
    """What may be asked of each column, as estimators and ``ThresholdBinarizer`` read it."""
    found: dict[str, list] = {}
    for index, column in enumerate(table.columns):
        places = [place for at, place in questions if at == index]
        known = [place for place in places if place != MISSING]
        cuts: list
        if column.kind == "boolean":
            cuts = [True] if known else []
        elif column.kind == "category":
            cuts = [column.values[place] for place in known]
        else:
            own = np.array(known, dtype=np.int64)
            cuts = midpoints.between(table.values[index], own, column) if known else []
            if column.kind == "ordered":
                cuts = [column.values[place] for place in cuts]
        found[column.name] = cuts + [None] * (len(places) - len(known))
    return found
