"""Objectives of the regressor whose leaves answer with a rate: Poisson and Gamma deviance, with
exposure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core, ingest

LOSSES = {
    "poisson": "Poisson deviance as a share of that of a single leaf",
    "gamma": "Gamma deviance as a share of that of a single leaf",
}


def read_exposure(X: Any, exposure: Any) -> NDArray[np.float64] | None:
    """One number above 0 for each row, if there are any."""
    if exposure is None:
        return None
    found = ingest.read_vector(X, exposure, "exposure")
    if bad := int((found <= 0).sum()):
        raise ValueError(
            f"exposure must be above 0, but is not in {ingest.values(bad)}, the least "
            f"{found.min():g}: drop those rows, or give them what they were exposed to"
        )
    return found


def check_targets(objective: str, targets: NDArray[np.float64]) -> None:
    """An error for targets that no such distribution has."""
    if targets.shape[1] > 1:
        raise ValueError(
            f"objective={objective!r} is for one target, but y has {targets.shape[1]} columns"
        )
    least = "above 0" if objective == "gamma" else "at least 0"
    bad = int((targets <= 0).sum() if objective == "gamma" else (targets < 0).sum())
    if bad:
        raise ValueError(
            f"targets must be {least} with objective={objective!r}, but {ingest.values(bad)} of y "
            "are not"
        )
    if not targets.any():
        raise ValueError("all targets are 0, so there is no rate to explain")


def goal(
    task: str,
    model: Any,
    located: ingest.Located,
    targets: NDArray[np.float64],
    exposure: NDArray[np.float64] | None,
) -> _core.Additive:
    """The goal of the search, for the core's task of this name."""
    columns = {
        "targets": np.ascontiguousarray(targets),
        "exposures": exposure,
        "weights": located.weights,
    }
    n_points, penalty = located.points.n_points, float(model.leaf_penalty)
    paying = located.points.weights.ravel()
    return _core.Additive(task, columns, n_points, penalty, located.point_of, paying)


def deviance(
    objective: str,
    targets: NDArray[np.float64],
    rates: NDArray[np.float64],
    exposure: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> float:
    """The deviance of all rows; infinite where a rate is 0 and the target is not."""
    z = targets / exposure
    # A row without a target costs its rate, and x · ln x is 0 there.
    with np.errstate(divide="ignore", invalid="ignore"):
        if objective == "gamma":
            each = z / rates - 1.0 - np.log(z / rates)
        else:
            logs = np.where(z > 0, z * np.log(z / rates), 0.0)
            each = exposure * (logs - z + rates)
    return float(2.0 * (weights * each).sum())


def score(
    objective: str,
    targets: NDArray[np.float64],
    rates: NDArray[np.float64],
    exposure: NDArray[np.float64] | None,
    weights: NDArray[np.float64] | None,
) -> float:
    """D²: the share of the deviance that the rates explain, beside one rate for all rows."""
    exposure = np.ones(len(targets)) if exposure is None else exposure
    weights = np.ones(len(targets)) if weights is None else weights
    if objective == "poisson":
        alone = (weights * targets).sum() / (weights * exposure).sum()
    else:
        alone = np.average(targets / exposure, weights=weights)
    rows = targets, exposure, weights
    whole = deviance(objective, rows[0], np.full(len(targets), alone), *rows[1:])
    left = deviance(objective, rows[0], rates, *rows[1:])
    if whole == 0.0:
        return 1.0 if left == 0.0 else 0.0
    return 1.0 - left / whole
