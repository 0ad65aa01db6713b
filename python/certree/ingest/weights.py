"""Sample weights as whole numbers of one unit, so that their sums do not depend on the order of
rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import engine, vectors
from certree.ingest.checks import values

#: Weights with at most so many decimals are counted exactly.
DECIMALS = 6


def are_short(values: np.ndarray) -> bool:
    """Whether all of these are decimals that are counted exactly."""
    return bool((np.round(values, DECIMALS) == values).all())


def shortened(sums: np.ndarray) -> np.ndarray:
    """Sums of short decimals, which are short decimals, without what floats rounded."""
    return np.round(sums, DECIMALS)


@dataclass(frozen=True)
class Unit:
    """What one is: 1/denominator where all weights are short decimals, else 2^−shift of a fine
    grid.

    Decimals are restored exactly, so that a point of three rows that weigh 0.1 weighs 0.3. On the
    grid a weight is the sum of several integers, its parts, the unit of each so much finer than
    that of the one before that nothing is left over: sums over any rows then are those of the
    weights as they were given.
    """

    denominator: int
    shift: int | None = None
    #: Binary digits from the unit of a part to that of the next one.
    step: int = 0
    n_parts: int = 1

    def whole(self, weight: pl.Expr, part: int = 0) -> pl.Expr:
        """A part of each weight, as integers."""
        if self.shift is None:
            return (weight * self.denominator).round().cast(pl.Int64)

        def grid(series: pl.Series) -> pl.Series:
            return pl.Series(self.whole_of(series.to_numpy(), part))

        return weight.map_batches(grid, return_dtype=pl.Int64, is_elementwise=True)

    def whole_of(self, weights: np.ndarray, part: int = 0) -> np.ndarray:
        """``whole`` of weights in memory."""
        if self.shift is None:
            return np.rint(weights * self.denominator).astype(np.int64)
        rest = weights
        for earlier in range(part):
            rest = rest - np.ldexp(self._rounded(rest, earlier), -self._shift(earlier))
        return self._rounded(rest, part).astype(np.int64)

    def _shift(self, part: int) -> int:
        assert self.shift is not None
        return self.shift + part * self.step

    def _rounded(self, values: np.ndarray, part: int) -> np.ndarray:
        return np.rint(np.ldexp(values, self._shift(part)))

    def restore(self, *sums: np.ndarray) -> np.ndarray:
        """The floats that sums of all parts stand for, each rounded once."""
        first, *others = sums
        if self.shift is None:
            return first / self.denominator
        # From the finest up, with what each sum lost: that is far below the last digit of the next
        # one.
        total, lost = np.zeros(len(first)), np.zeros(len(first))
        for part in reversed(range(len(sums))):
            low = sums[part] & 0xFFFFFFFF
            for digits in (low, sums[part] - low):
                value = np.ldexp(digits.astype(np.float64), -self._shift(part))
                added = total + value
                from_value = added - total
                lost = lost + ((total - (added - from_value)) + (value - from_value))
                total = added
        return total + lost


def read(sample_weight: Any) -> pl.Series:
    """The weights as a series."""
    return vectors.series(sample_weight, "sample_weight")


def measure(frame: pl.LazyFrame, name: str) -> Unit:
    """Check the weights and choose their unit."""
    _check_type(engine.schema(frame)[name], name)
    weight = engine.column(name).cast(pl.Float64)

    def digits(series: pl.Series) -> pl.Series:
        return pl.Series(_digits(series.to_numpy()))

    wanted = frame.select(
        missing=weight.null_count().cast(pl.Int64) + weight.is_nan().sum().cast(pl.Int64),
        infinite=weight.is_infinite().sum(),
        negative=(weight < 0).sum(),
        least=weight.min(),
        total=weight.sum(),
        rows=pl.len(),
        smallest=weight.filter(weight > 0).min(),
        digits=weight.map_batches(digits, return_dtype=pl.UInt8, is_elementwise=True).max(),
    )
    return _unit(engine.collect(wanted).row(0, named=True), name)


def measure_series(series: pl.Series, name: str) -> tuple[Unit, np.ndarray]:
    """``measure`` of weights in memory, and the weights as floats: by numpy, since a small problem
    is solved in less time than polars' engine takes, and a forked process has no engine."""
    found, weights = look(series, name)
    return _unit(found, name), weights


def look(series: pl.Series, name: str) -> tuple[dict[str, Any], np.ndarray]:
    """What decides on the unit of these weights, or with ``unit_of`` on that of several such lots,
    and the weights as floats."""
    _check_type(series.dtype, name)
    weights = engine.unnamed(series).cast(pl.Float64).to_numpy()
    with np.errstate(over="ignore", invalid="ignore"):
        found = {
            "missing": int(np.isnan(weights).sum()),
            "infinite": int(np.isinf(weights).sum()),
            "negative": int((weights < 0).sum()),
            "least": weights.min(initial=np.inf),
            "total": weights.sum(),
            "rows": len(weights),
            "smallest": weights[weights > 0].min(initial=np.inf),
            "digits": int(_digits(weights).max(initial=0)),
        }
    return found, weights


#: How two lots of weights make one, by what ``look`` says of each.
_TOGETHER = {"least": min, "smallest": min, "digits": max, "total": fsum}


def unit_of(found: Sequence[Mapping[str, Any]], name: str) -> Unit:
    """The unit of lots of weights, such as those of the partitions of a table."""
    keys = found[0]
    whole = {key: _TOGETHER.get(key, sum)([each[key] for each in found]) for key in keys}
    return _unit(whole, name)


def _check_type(dtype: pl.DataType, name: str) -> None:
    if not (dtype.is_numeric() or dtype == pl.Boolean):
        raise ValueError(
            f"sample weights must be numbers, but {name!r} has the type {dtype}; cast it"
        )


def _unit(found: Mapping[str, Any], name: str) -> Unit:
    for what, note in (("missing", "null or NaN"), ("infinite", "inf")):
        if found[what]:
            raise ValueError(
                f"sample weights must be finite, but {name!r} has {values(found[what])} {what} "
                f"({note})"
            )
    if found["negative"]:
        raise ValueError(
            f"sample weights must not be negative, but {name!r} has {values(found['negative'])} "
            f"below zero, the least {found['least']}"
        )
    if found["total"] == 0:
        raise ValueError(f"sample weights are all zero in {name!r}; at least one row must count")
    if not np.isfinite(found["total"]):
        raise ValueError(
            f"sample weights in {name!r} add up to more than a float holds; scale them down"
        )
    denominator = 10 ** found["digits"]
    if found["digits"] <= DECIMALS and found["total"] * denominator < 2**53:
        return Unit(denominator)
    return _grid(found["total"], found["smallest"], found["rows"])


def _grid(total: float, smallest: float, rows: int) -> Unit:
    """A unit of 2⁻⁶⁰ of the total, and as many finer ones as the last digit of the smallest weight
    asks for."""
    shift = 60 - int(np.frexp(total)[1])
    # What is left over is at most half a unit for each row, and sums of it fit into 62 binary
    # digits.
    step = 62 - rows.bit_length()
    finer = 53 - int(np.frexp(smallest)[1]) - shift
    return Unit(1, shift, step, 1 + max(0, -(-finer // step)))


def _digits(values: np.ndarray) -> np.ndarray:
    """How many decimals each weight has; more than ``DECIMALS`` for those that are not short.

    By numpy, whose division is rounded correctly where polars multiplies by the reciprocal.
    """
    digits = np.full(len(values), DECIMALS + 1, dtype=np.uint8)
    with np.errstate(over="ignore", invalid="ignore"):
        for power in reversed(range(DECIMALS + 1)):
            scaled = np.rint(values * 10.0**power)
            digits[scaled / 10.0**power == values] = power
    return digits
