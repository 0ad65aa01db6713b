"""Column elimination: drop the least important cuts as long as the reference stays as good.

One by one, that is a refit for each cut. Here many are dropped at once: half of those in use at first. Where the
reference then scores too low, the cuts are kept and half as many are tried; after two steps that went well, twice as
many.

What holds at the end is the same: the reference fitted on the kept cuts scores at least the bar, and without the
least important of them it scores below. Which cuts these are may differ. The score need not fall at every step, and
one by one stops at the first step that is too low, while a larger one may pass over it. So most often fewer are
kept; never is one kept that one-by-one would drop next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Fitted(NamedTuple):
    """The reference on some of the cuts."""

    score: float
    #: By cut.
    importance: np.ndarray
    model: Any = None


class Kept(NamedTuple):
    #: Which cuts, ascending; at least one.
    cuts: np.ndarray
    #: On these. Its score is below the bar only if nothing was dropped.
    fitted: Fitted
    n_fits: int


def eliminate(fit: Callable[[np.ndarray], Fitted], n_cuts: int, bar: float) -> Kept:
    """Drop as many of the cuts as a score of at least ``bar`` allows. ``fit`` takes the cuts to use."""
    kept = np.arange(n_cuts)
    fitted = fit(kept)
    n_fits, batch, successes = 1, None, 0
    while True:
        order = np.argsort(fitted.importance, kind="stable")
        # What the reference does not use goes along with the next step.
        unused = min(int((fitted.importance <= 0).sum()), len(kept) - 1)
        used = len(kept) - unused
        batch = used // 2 if batch is None else min(batch, used - 1)
        if unused + batch == 0:
            return Kept(kept, fitted, n_fits)
        fewer = np.sort(kept[order[unused + batch :]])
        on_fewer = fit(fewer)
        n_fits += 1
        if on_fewer.score >= bar:
            kept, fitted = fewer, on_fewer
            successes += 1
            # Without what was not in use, others may matter less.
            batch = max(batch, 1)
            if successes == 2:
                batch, successes = 2 * batch, 0
        elif batch == 0:
            return Kept(kept, fitted, n_fits)
        else:
            batch, successes = batch // 2, 0
