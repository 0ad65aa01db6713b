"""``missing="own_branch"``: a column with missing values may be asked only below the question
whether its value is missing.

To the core such a column is two: whether it is missing, and behind it its values, which may be
asked only after that one. Elsewhere it stays one, so that trees are translated on their way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from certree import _core, ingest


def places(cuts: Sequence[ingest.Cuts]) -> list[int]:
    """By column of the core: the user's column."""
    return [at for at, each in enumerate(cuts) for _ in range(1 + each.missing)]


def columns_and_points(
    cuts: Sequence[ingest.Cuts], points: ingest.Points
) -> tuple[list[tuple[Any, ...]], _core.Points]:
    """As the core takes them."""
    columns: list[tuple[Any, ...]] = []
    codes: list[np.ndarray] = []
    for each, own in zip(cuts, points.core.codes):
        above = None
        if each.missing:
            above = len(columns)
            gone = own == each.missing_code
            columns.append((each.column.name, [], True))
            codes.append(gone.astype(np.uint32))
            # Below the question no value is missing, whatever its code is.
            own = np.where(gone, np.uint32(0), own)
        columns.append((each.column.name, each.kind, False, above))
        codes.append(own)
    return columns, _core.Points(codes, points.core.rows)


def to_user(tree: _core.Tree, cuts: Sequence[ingest.Cuts]) -> _core.Tree:
    """A tree of the core's columns as one of the user's."""
    of = places(cuts)
    return _with_columns(tree, lambda column, test: of[column])


def to_core(tree: _core.Tree, cuts: Sequence[ingest.Cuts]) -> _core.Tree:
    """The other way."""
    last = {column: at for at, column in enumerate(places(cuts))}
    return _with_columns(tree, lambda column, test: last[column] - (test is None))


def _with_columns(tree: _core.Tree, column_of: Any) -> _core.Tree:
    parts = []
    for split, *rest in tree.parts():
        if split is not None:
            column, test, *others = split
            split = (column_of(column, test), test, *others)
        parts.append((split, *rest))
    return _core.Tree(parts)
