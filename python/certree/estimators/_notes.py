"""What a certificate notes of columns that cannot help, or that should not be there."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from certree import ingest
from certree.estimators._advice import identifiers, listed

if TYPE_CHECKING:
    from certree.estimators._posed import Posed

#: Larger tables are not looked through for equal columns, because limits of time are for notes,
#: too.
MOST_CODES, MOST_COLUMNS = 1 << 24, 10_000


def of(posed: Posed) -> list[str]:
    """Each note as a sentence without its end."""
    if posed.cut_short:
        return []
    of_categories = [note for each in posed.cuts for note in each.way.notes]
    return [
        *_without_values(posed),
        *_constant(posed),
        *_equal(posed),
        *_names(posed),
        *of_categories,
    ]


def _note(columns: Sequence[ingest.Cuts], one: str, several: str) -> list[str]:
    if not columns:
        return []
    names = listed([repr(each.column.name) for each in columns])
    return [f"{names} {one if len(columns) == 1 else several}"]


def _without_values(posed: Posed) -> list[str]:
    empty = [each for each in posed.cuts if each.missing and not each.n_known]
    return _note(empty, "has no value in any row", "have no value in any row")


def _constant(posed: Posed) -> list[str]:
    # Lists of thresholds may ask for less than there is.
    if not isinstance(posed.thresholds, (str, int)):
        return []
    same = [each for each in posed.cuts if not each.count]
    return _note(same, "has one value in all rows", "have one value each in all rows")


def _equal(posed: Posed) -> list[str]:
    """Columns whose cuts divide the rows as those of an earlier column do."""
    if len(posed.cuts) > MOST_COLUMNS:
        return []
    codes = posed.points.core.codes
    if sum(own.size for own in codes) > MOST_CODES:
        return []
    first: dict[tuple[int, int], list[int]] = {}
    found = []
    for at, (each, own) in enumerate(zip(posed.cuts, codes)):
        if not each.count:
            continue
        alike = first.setdefault((each.n_codes, zlib.crc32(np.ascontiguousarray(own))), [])
        like = next((other for other in alike if np.array_equal(codes[other], own)), None)
        if like is None:
            alike.append(at)
        else:
            found.append((posed.cuts[like].column.name, each.column.name))
    pairs = listed([f"{first!r} and {second!r}" for first, second in found])
    return [f"{pairs} divide the rows alike, so that one is enough"] if found else []


def _names(posed: Posed) -> list[str]:
    found = identifiers(posed.cuts, posed.points.n_rows)
    one = "looks like an identifier, with a value for nearly each row"
    return _note(found, one, one.replace("looks like an identifier", "look like identifiers"))
