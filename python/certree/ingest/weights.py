"""Sample weights as whole numbers of one unit, so that their sums do not depend on the order of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import engine, vectors
from certree.ingest.checks import values

#: Weights with at most so many decimals are counted exactly.
_DIGITS = 6


@dataclass(frozen=True)
class Unit:
    """What one is: 1/denominator where all weights are short decimals, else 2^−shift of a fine grid.

    Decimals are restored exactly, so that a point of three rows that weigh 0.1 weighs 0.3.
    """

    denominator: int
    shift: int | None = None

    def whole(self, weight: pl.Expr) -> pl.Expr:
        shift = self.shift
        if shift is None:
            return (weight * self.denominator).round().cast(pl.Int64)

        def grid(series: pl.Series) -> pl.Series:
            return pl.Series(np.rint(np.ldexp(series.to_numpy(), shift)).astype(np.int64))

        return weight.map_batches(grid, return_dtype=pl.Int64, is_elementwise=True)

    def whole_of(self, weights: np.ndarray) -> np.ndarray:
        """``whole`` of weights in memory."""
        scaled = weights * self.denominator if self.shift is None else np.ldexp(weights, self.shift)
        return np.rint(scaled).astype(np.int64)

    def restore(self, sums: np.ndarray) -> np.ndarray:
        if self.shift is None:
            return sums / self.denominator
        return np.ldexp(sums.astype(np.float64), -self.shift)


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
        digits=weight.map_batches(digits, return_dtype=pl.UInt8, is_elementwise=True).max(),
    )
    return _unit(engine.collect(wanted).row(0, named=True), name)


def measure_series(series: pl.Series, name: str) -> tuple[Unit, np.ndarray]:
    """``measure`` of weights in memory, and the weights as floats: by numpy, since a small problem
    is solved in less time than polars' engine takes, and a forked process has no engine."""
    _check_type(series.dtype, name)
    weights = engine.unnamed(series).cast(pl.Float64).to_numpy()
    with np.errstate(over="ignore", invalid="ignore"):
        found = {
            "missing": int(np.isnan(weights).sum()),
            "infinite": int(np.isinf(weights).sum()),
            "negative": int((weights < 0).sum()),
            "least": weights.min(initial=np.inf),
            "total": weights.sum(),
            "digits": int(_digits(weights).max(initial=0)),
        }
    return _unit(found, name), weights


def _check_type(dtype: pl.DataType, name: str) -> None:
    if not (dtype.is_numeric() or dtype == pl.Boolean):
        raise ValueError(
            f"sample weights must be numbers, but {name!r} has the type {dtype}; cast it"
        )


def _unit(found: Mapping[str, Any], name: str) -> Unit:
    for what, note in (("missing", "null or NaN"), ("infinite", "inf")):
        if found[what]:
            raise ValueError(
                f"sample weights must be finite, but {name!r} has {values(found[what])} {what} ({note})"
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
    if found["digits"] <= _DIGITS and found["total"] * denominator < 2**53:
        return Unit(denominator)
    return Unit(1, shift=60 - int(np.frexp(found["total"])[1]))


def _digits(values: np.ndarray) -> np.ndarray:
    """How many decimals each weight has; more than ``_DIGITS`` for those that are not short.

    By numpy, whose division is rounded correctly where polars multiplies by the reciprocal.
    """
    digits = np.full(len(values), _DIGITS + 1, dtype=np.uint8)
    with np.errstate(over="ignore", invalid="ignore"):
        for power in reversed(range(_DIGITS + 1)):
            scaled = np.rint(values * 10.0**power)
            digits[scaled / 10.0**power == values] = power
    return digits
