"""Estimates from times and events: Nelson and Aalen's cumulative hazard, Kaplan and Meier's
survival, Harrell's concordance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class AtRisk:
    """By distinct time of an event: the weight of the events then, and of the rows still observed
    just before."""

    times: Floats
    events: Floats
    at_risk: Floats

    @classmethod
    def of(cls, time: Floats, event: NDArray[np.bool_], weights: Floats | None) -> AtRisk:
        order = np.argsort(time, kind="stable")
        return cls.in_order(time[order], event[order], None if weights is None else weights[order])

    @classmethod
    def in_order(cls, time: Floats, event: NDArray[np.bool_], weights: Floats | None) -> AtRisk:
        """As above, of rows that are sorted by time."""
        if not len(time):
            return cls(time, time, time)
        is_new = np.empty(len(time), dtype=bool)
        is_new[0] = True
        np.not_equal(time[1:], time[:-1], out=is_new[1:])
        place = is_new.cumsum() - 1
        leaving = np.bincount(place, weights)
        events = np.bincount(place, event if weights is None else weights * event)
        # Summed from the last time, so that the last row at risk weighs exactly what it does.
        at_risk = leaving[::-1].cumsum()[::-1]
        # All rows weigh something.
        some = events > 0
        return cls(time[is_new][some], events[some], at_risk[some].astype(np.float64))

    def cumulative_hazard(self, times: Floats) -> Floats:
        """Σ of events / at risk up to each time (Nelson–Aalen)."""
        return self._at(times, np.cumsum(self.events / self.at_risk), 0.0)

    def survival(self, times: Floats) -> Floats:
        """Π of 1 − events / at risk up to each time (Kaplan–Meier)."""
        steps = np.maximum(1.0 - self.events / self.at_risk, 0.0)
        return self._at(times, np.cumprod(steps), 1.0)

    def _at(self, times: Floats, values: Floats, before: float) -> Floats:
        return np.concatenate([[before], values])[np.searchsorted(self.times, times, side="right")]


def by_leaf(
    leaves: NDArray[np.uint32], time: Floats, event: NDArray[np.bool_], weights: Floats | None
) -> dict[int, AtRisk]:
    """The rows at risk of each leaf."""
    # Sorted once, because each leaf's rows then are.
    order = np.lexsort((time, leaves))
    at = leaves[order]
    starts = np.flatnonzero(np.concatenate([[True], at[1:] != at[:-1]]))
    time, event = time[order], event[order]
    weights = None if weights is None else weights[order]
    return {
        int(at[start]): AtRisk.in_order(
            time[start:end], event[start:end], None if weights is None else weights[start:end]
        )
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(at)])
    }


def concordance(
    time: Floats, event: NDArray[np.bool_], risk: Floats, weights: Floats | None
) -> float:
    """Harrell's concordance: of the pairs of which one is known to have had its event first, the
    share where that one was given the larger risk; half of those with equal risks. NaN if there is
    no such pair."""
    weights = np.ones(len(time)) if weights is None else weights
    distinct, place = np.unique(risk, return_inverse=True)
    later = np.zeros(len(distinct))
    right = tied = pairs = 0.0
    order = np.argsort(-time, kind="stable")
    _, starts = np.unique(-time[order], return_index=True)
    for rows in np.split(order, starts[1:]):
        # Of equal times, an event comes before what was only observed until then, and pairs of
        # events tell nothing.
        had = event[rows]
        np.add.at(later, place[rows[~had]], weights[rows[~had]])
        own = rows[had]
        below = np.concatenate([[0.0], np.cumsum(later)])
        right += float((weights[own] * below[place[own]]).sum())
        tied += float((weights[own] * later[place[own]]).sum())
        pairs += float(weights[own].sum() * below[-1])
        np.add.at(later, place[own], weights[own])
    return (right + tied / 2) / pairs if pairs > 0 else float("nan")
