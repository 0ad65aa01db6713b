"""Finds the file that can read a fitted model's tests."""

from __future__ import annotations

from typing import Any

from certree.guess.splits import Splits


def read(model: Any, jump: float) -> Splits:
    """The tests of a fitted model. ``jump`` is the tolerance for explainable boosting machines."""
    # By module, so that no library is imported for a model of another.
    home = type(model).__module__.partition(".")[0]
    if home == "lightgbm":
        from certree.guess import from_lightgbm

        return from_lightgbm.read(model)
    if home == "xgboost":
        from certree.guess import from_xgboost

        return from_xgboost.read(model)
    if home == "interpret":
        from certree.guess import from_interpret

        return from_interpret.read(model, jump)
    from certree.guess import from_sklearn

    return from_sklearn.read(model)
