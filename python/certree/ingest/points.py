"""Points: rows that no split can tell apart, counted by class.

The codes of a row are packed into as few 64-bit keys as hold them, and polars groups by those keys,
streaming, so that memory grows with the points and not with the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from certree import _core, budget
from certree.ingest import engine
from certree.ingest.cuts import CodedCuts
from certree.ingest.training import Streamed

#: The code of a row, and how many codes there are.
Digit = tuple[pl.Expr, int]


@dataclass(frozen=True)
class Points:
    """In the order of their codes, first column first: the order of rows does not matter."""

    #: Their codes and rows.
    core: _core.Points
    #: By point and class.
    weights: np.ndarray
    #: True if the time of the fit was over before the rows were grouped: all of them are one point,
    #: and no column has a cut.
    cut_short: bool = False

    @property
    def n_points(self) -> int:
        return len(self.weights)

    @property
    def n_rows(self) -> int:
        return int(self.core.rows.sum())


def group(training: Streamed, cuts: Sequence[CodedCuts]) -> Points:
    """Group the rows of a training set as they are read."""
    # The class is the last digit of the last key, so that sorting by keys brings the classes of a
    # point together.
    n_classes = len(training.labels)
    digits = [
        *((each.code, each.n_codes) for each in cuts),
        (engine.column(training.class_column), n_classes),
    ]
    packs = _packs([n for _, n in digits])
    found = _grouped(training, [_key(digits, pack) for pack in packs])
    codes = [np.zeros(found.height, dtype=np.uint32) for _ in digits]
    starts = np.zeros(found.height, dtype=bool)
    starts[0] = True
    for index, pack in enumerate(packs):
        key = found[f"key{index}"].to_numpy()
        _unpack(codes, key, pack, digits)
        if pack[-1] == len(cuts):
            key = key // np.uint64(n_classes)
        starts[1:] |= key[1:] != key[:-1]
    *codes, classes = codes
    first = np.flatnonzero(starts)
    amount = found["rows"].to_numpy().astype(np.float64)
    if training.unit:
        sums = [found[f"weight{part}"].to_numpy() for part in range(training.unit.n_parts)]
        amount = training.unit.restore(*sums)
    budget.require(
        3 * 8 * len(first) * n_classes,
        f"the weight of {n_classes} classes in {len(first)} groups of equal rows",
    )
    weights = np.zeros((len(first), n_classes))
    weights[np.cumsum(starts) - 1, classes] = amount
    rows = np.add.reduceat(found["rows"].to_numpy().astype(np.uint64), first)
    return Points(_core.Points([code[first] for code in codes], rows), weights)


def _grouped(training: Streamed, keys: Sequence[pl.Expr]) -> pl.DataFrame:
    """The rows and weight of each distinct key, in order."""
    names = [f"key{index}" for index in range(len(keys))]
    amounts = [pl.len().alias("rows")]
    if training.unit:
        sums = (engine.column(name).sum() for name in training.weight_columns)
        amounts.extend(each.alias(f"weight{part}") for part, each in enumerate(sums))
    if not keys:
        return engine.collect(training.frame.select(amounts))
    named = [key.alias(name) for key, name in zip(keys, names)]
    return engine.collect(training.frame.group_by(named).agg(amounts)).sort(names)


def _packs(n_codes: Sequence[int]) -> list[list[int]]:
    """Columns by key: as many in each as fit. Columns with one code need no key."""
    packs: list[list[int]] = []
    room = 0
    for column, n in enumerate(n_codes):
        if n == 1:
            continue
        if n > room:
            packs.append([])
            room = 2**64
        packs[-1].append(column)
        room //= n
    return packs


def _key(digits: Sequence[Digit], pack: Sequence[int]) -> pl.Expr:
    first, *others = pack
    key = digits[first][0].cast(pl.UInt64)
    for place in others:
        code, n_codes = digits[place]
        key = key * n_codes + code.cast(pl.UInt64)
    return key


def _unpack(
    codes: list[np.ndarray], key: np.ndarray, pack: Sequence[int], digits: Sequence[Digit]
) -> None:
    for place in reversed(pack):
        key, code = np.divmod(key, np.uint64(digits[place][1]))
        codes[place][:] = code
