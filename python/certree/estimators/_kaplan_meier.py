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
        weights = np.ones(len(time)) if weights is None else weights
        distinct, place = np.unique(time, return_inverse=True)
        leaving = np.bincount(place, weights=weights, minlength=len(distinct))
        events = np.bincount(place, weights=weights * event, minlength=len(distinct))
        # Summed from the last time, so that the last row at risk weighs exactly what it does.
        at_risk = np.cumsum(leaving[::-1])[::-1]
        some = np.bincount(place, weights=event, minlength=len(distinct)) > 0
        return cls(distinct[some], events[some], at_risk[some])

    def cumulative_hazard(self, times: Floats) -> Floats:
        """Σ of events / at risk up to each time (Nelson–Aalen)."""
        return self._at(times, np.cumsum(self.events / self.at_risk), 0.0)

    def survival(self, times: Floats) -> Floats:
        """Π of 1 − events / at risk up to each time (Kaplan–Meier)."""
        steps = np.maximum(1.0 - self.events / self.at_risk, 0.0)
        return self._at(times, np.cumprod(steps), 1.0)

    def _at(self, times: Floats, values: Floats, before: float) -> Floats:
        return np.concatenate([[before], values])[np.searchsorted(self.times, times, side="right")]


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
