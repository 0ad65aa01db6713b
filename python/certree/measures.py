"""What held-out rows say of a tree, with intervals.

A tree answers all rows of a leaf alike, so that for labels the counts by leaf and class hold all
there is to know. A bootstrap then draws counts, not rows, and takes no longer for more rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 500
MOST_DRAWN = 20_000_000
"""Of rows in all resamples together, so that a report of many rows takes no more than a second."""


@dataclass(frozen=True)
class Estimate:
    """A number with the ends of its interval, where that is known."""

    value: float
    low: float = math.nan
    high: float = math.nan

    def __str__(self) -> str:
        if not math.isfinite(self.value):
            return "–"
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            return f"{self.value:.4g}"
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"


def wilson(successes: float, n: float, confidence: float = 0.95) -> Estimate:
    """A share of n rows with Wilson's interval.

    >>> print(wilson(8, 10))
    0.8 (0.4902 to 0.9433)
    """
    if n <= 0:
        return Estimate(math.nan)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return Estimate(share, max(middle - half, 0.0), min(middle + half, 1.0))


class Counts:
    """Rows by leaf and class: those that there are, first, and those of each resample."""

    def __init__(
        self,
        leaves: NDArray[np.int64],
        classes: NDArray[np.int64],
        shape: tuple[int, int],
        resamples: int = RESAMPLES,
        confidence: float = 0.95,
    ):
        self.confidence = confidence
        flat = np.bincount(leaves * shape[1] + classes, minlength=shape[0] * shape[1])
        n = self.n_rows = int(flat.sum())
        drawn = np.random.default_rng(0).multinomial(n, flat / n, size=resamples)
        #: Resample × leaf × class.
        self.rows: Floats = np.vstack([flat, drawn]).reshape(-1, *shape).astype(np.float64)

    def estimate(self, measure: Callable[[Floats], Floats]) -> Estimate:
        """A measure of counts (resample × leaf × class), with its bootstrap interval."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return of_resamples(measure(self.rows), self.n_rows, self.confidence)


def of_resamples(values: Floats, n_rows: int, confidence: float = 0.95) -> Estimate:
    """The first value, and the interval of the others, which are of as many rows: percentiles that
    are wider than the confidence by what Student's t is wider than the normal law, and resamples
    are too narrow (Hesterberg 2015)."""
    from scipy.special import ndtr, stdtrit

    others = values[1:][np.isfinite(values[1:])]
    # Where hardly any resample has a value, there is no interval.
    if len(others) < 20:
        return Estimate(float(values[0]))
    # For two rows and fewer, all that resamples reach.
    far = math.inf
    if n_rows > 2:
        t = float(stdtrit(n_rows - 1, 0.5 + confidence / 2))
        far = t * math.sqrt(n_rows / (n_rows - 1))
    low, high = np.quantile(others, [float(ndtr(-far)), float(ndtr(far))])
    return Estimate(float(values[0]), float(low), float(high))


def confusion(rows: Floats, answers: NDArray[np.int64]) -> Floats:
    """Resample × true class × answered class, from the class that each leaf answers."""
    n_classes = rows.shape[2]
    one_hot = np.eye(n_classes)[answers]
    found: Floats = np.einsum("rlc,la->rca", rows, one_hot)
    return found


def area(rows: Floats, scores: Floats, positive: int) -> Floats:
    """The area under the ROC curve of the scores of leaves; ties count half."""
    order = np.argsort(scores, kind="stable")
    # Leaves of one score are one step of the curve.
    _, place = np.unique(scores[order], return_inverse=True)
    of_class = rows[:, order, positive]
    of_others = rows[:, order].sum(axis=2) - of_class
    steps = np.zeros((2, len(rows), place.max() + 1))
    for at, values in enumerate((of_class, of_others)):
        np.add.at(steps[at].T, place, values.T)
    positives, negatives = steps
    below = np.cumsum(negatives, axis=1) - negatives
    won = (positives * (below + negatives / 2)).sum(axis=1)
    found: Floats = won / (positives.sum(axis=1) * negatives.sum(axis=1))
    return found


def mean_over_rows(
    values: Floats, *others: Floats, resamples: int = RESAMPLES
) -> list[Floats]:
    """Means of each vector over the rows, and over each resample of them: the same rows for all."""
    n = len(values)
    resamples = max(min(resamples, MOST_DRAWN // max(n, 1)), 20)
    rng = np.random.default_rng(0)
    vectors = np.column_stack([values, *others])
    means = [vectors.mean(axis=0)]
    for _ in range(resamples):
        # How often each row is drawn; that the sum varies does not matter to means.
        drawn = rng.poisson(1.0, n).astype(np.float64)
        means.append(drawn @ vectors / max(drawn.sum(), 1.0))
    return list(np.array(means).T)
