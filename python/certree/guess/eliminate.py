"""Column elimination: drop the least important cuts as long as the reference stays as good.

One by one, that is a refit for each cut. Here more and more are dropped at once, up to a sixteenth
of those in use: twice as many after two steps that went well, and half as many once a step went too
far, until not even one can go. What the reference does not use goes along with the others.

What holds at the end is what one-by-one promises: the score is not below the best of all accepted
steps less the tolerance, and without the least important cut it would be. Which cuts are kept may
differ: the score need not fall at every step, and a larger step may pass over a place where
one-by-one stops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

#: Of the cuts in use, the most that one step drops: large steps pass over more of the places to
#: stop at.
SHARE = 16


class Fitted(NamedTuple):
    """The reference on some of the cuts."""

    score: float
    #: By cut.
    importance: np.ndarray
    model: Any = None


class Kept(NamedTuple):
    #: Which cuts, ascending; at least one.
    cuts: np.ndarray
    #: On these. If its score is lower than allowed, nothing was dropped.
    fitted: Fitted
    n_fits: int


def eliminate(
    fit: Callable[[np.ndarray], Fitted],
    n_cuts: int,
    best: float,
    tolerance: float,
    is_late: Callable[[], bool] = lambda: False,
) -> Kept:
    """Drop cuts as long as the score is at least the best one so far, beginning with ``best``, less
    the tolerance. ``fit`` takes the cuts to use. Once ``is_late``, those that are left are kept."""
    kept = np.arange(n_cuts)
    fitted = fit(kept)
    n_fits, batch, successes, growing = 1, 1, 0, True
    best = max(best, fitted.score)
    while True:
        order = np.argsort(fitted.importance, kind="stable")
        unused = min(int((fitted.importance <= 0).sum()), len(kept) - 1)
        used = len(kept) - unused
        batch = min(batch, used - 1, max(1, used // SHARE))
        if unused + batch == 0 or is_late():
            return Kept(kept, fitted, n_fits)
        fewer = np.sort(kept[order[unused + batch :]])
        on_fewer = fit(fewer)
        n_fits += 1
        if is_late():
            # A reference that had to stop early scores below itself.
            return Kept(kept, fitted, n_fits)
        if on_fewer.score >= best - tolerance:
            kept, fitted = fewer, on_fewer
            best = max(best, fitted.score)
            successes += 1
            # Without what was not in use, others may matter less.
            batch = max(batch, 1)
            if growing and successes % 2 == 0:
                batch *= 2
        elif batch == 0:
            return Kept(kept, fitted, n_fits)
        else:
            batch, growing = batch // 2, False
