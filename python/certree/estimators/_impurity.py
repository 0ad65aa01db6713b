"""Objectives of the classifier that measure the shares of classes in leaves: impurities and
description length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core, combinations
from certree.scalars import shown
from certree.tree import Tree

LOSSES = {
    "gini": "mean Gini impurity of the leaves",
    "log_loss": "mean log loss of the class shares",
    "mdl": "bits per row that describe the classes",
}

#: What the core calls them.
_NAMES = {"gini": "gini", "log_loss": "entropy", "mdl": "mdl"}

#: What ``leaf_penalty`` is unless somebody sets it, or nothing.
_UNSET = (0.01, 0)


def check(model: Any) -> None:
    """An error for parameters that do not go with these objectives."""
    if model.objective not in LOSSES:
        return
    objective = f"objective={model.objective!r}"
    combinations.check(model, "Additive", objective)
    if model.objective == "mdl" and model.leaf_penalty not in _UNSET:
        raise ValueError(
            f"leaf_penalty={shown(model.leaf_penalty)} cannot be combined with {objective}, where "
            f"a leaf costs what its description takes; leave it at {_UNSET[0]!r}"
        )


def goal(
    model: Any, weights: NDArray[np.float64], factors: Sequence[float], n_cuts: int
) -> _core.Additive:
    """The goal of the search."""
    is_mdl = model.objective == "mdl"
    columns = {
        "weights": weights,
        "class_weights": np.array(factors, dtype=np.float64),
        "balanced": float(model.class_weight == "balanced"),
        "n_cuts": float(n_cuts) if is_mdl else None,
    }
    penalty = 0.0 if is_mdl else float(model.leaf_penalty)
    n_points = len(weights) // len(factors)
    return _core.Additive(_NAMES[model.objective], columns, n_points, penalty)


def description(
    model: Any, weights: NDArray[np.float64], n_classes: int, n_cuts: int
) -> tuple[float | None, str]:
    """The cost of a leaf, if that is not the model's ``leaf_penalty``, and the loss in words."""
    if model.objective != "mdl":
        return None, LOSSES[model.objective]
    leaf, constant = _core.description_bits(weights, n_classes, n_cuts)
    return leaf, f"{LOSSES['mdl']}, less {constant:.6g} for one split,"


def labelled(tree: Tree, factors: Sequence[float], balanced: bool) -> Tree:
    """The tree whose nodes answer the class with the largest share, class weights applied; the
    first among equals."""
    parts = tree._core.parts()
    factor = np.array(factors)
    if balanced:
        totals = np.array(parts[0][3])
        factor = factor / np.where(totals > 0, totals, 1.0)
    parts = [
        (split, int((np.array(value) * factor).argmax()), rows, value, loss)
        for split, _, rows, value, loss in parts
    ]
    return tree._with(core=_core.Tree(parts))
