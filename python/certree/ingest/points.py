"""Points: rows that no split can tell apart, counted by class.

The codes of a row are packed into as few 64-bit keys as hold them, and polars groups by those keys,
streaming, so that memory grows with the points and not with the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from certree.ingest.cuts import Cuts
from certree.ingest.training import Training


@dataclass(frozen=True)
class Points:
    """In the order of their codes, first column first: the order of rows does not matter."""

    #: One array for each column.
    codes: list[np.ndarray]
    rows: np.ndarray
    #: By point and class.
    weights: np.ndarray

    @property
    def n_points(self) -> int:
        return len(self.rows)

    @property
    def n_rows(self) -> int:
        return int(self.rows.sum())


def group(training: Training, cuts: Sequence[Cuts]) -> Points:
    """Group the rows of a training set."""
    packs = _packs([each.n_codes for each in cuts])
    keys = [_key(cuts, pack).alias(f"key{index}") for index, pack in enumerate(packs)]
    names = [f"key{index}" for index in range(len(packs))]
    amounts = [pl.len().alias("rows")]
    if training.unit:
        amounts.append(pl.col(training.weight_column).sum().alias("weight"))
    found = (
        training.frame.group_by(*keys, pl.col(training.class_column).alias("class"))
        .agg(amounts)
        .collect(engine="streaming")
        .sort(*names, "class")
    )
    parts = [found[name].to_numpy() for name in names]
    starts = np.zeros(found.height, dtype=bool)
    starts[0] = True
    for part in parts:
        starts[1:] |= part[1:] != part[:-1]
    first = np.flatnonzero(starts)
    point = np.cumsum(starts) - 1
    rows = np.add.reduceat(found["rows"].to_numpy().astype(np.uint64), first)
    weights = np.zeros((len(first), len(training.labels)))
    amount = found["rows"].to_numpy().astype(np.float64)
    if training.unit:
        amount = training.unit.restore(found["weight"].to_numpy())
    weights[point, found["class"].to_numpy()] = amount
    codes = [np.zeros(len(first), dtype=np.uint32) for _ in cuts]
    for pack, part in zip(packs, parts):
        _unpack(codes, part[first], pack, [each.n_codes for each in cuts])
    return Points(codes, rows, weights)


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


def _key(cuts: Sequence[Cuts], pack: Sequence[int]) -> pl.Expr:
    first, *others = pack
    key = cuts[first].code.cast(pl.UInt64)
    for column in others:
        key = key * cuts[column].n_codes + cuts[column].code.cast(pl.UInt64)
    return key


def _unpack(
    codes: list[np.ndarray], key: np.ndarray, pack: Sequence[int], n_codes: Sequence[int]
) -> None:
    for column in reversed(pack):
        key, code = np.divmod(key, np.uint64(n_codes[column]))
        codes[column] = code.astype(np.uint32)
