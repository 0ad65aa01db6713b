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
    by_class = weights.reshape(-1, len(factors))
    # A row of weight 2 pays as two rows do, whatever gives it its weight.
    paying = by_class @ applied(factors, by_class.sum(axis=0), model.class_weight == "balanced")
    name = _NAMES[model.objective]
    return _core.Additive(name, columns, len(by_class), penalty, None, paying)


def description(
    model: Any, weights: NDArray[np.float64], n_classes: int, n_cuts: int
) -> tuple[float | None, str]:
    """The cost of a leaf, if that is not the model's ``leaf_penalty``, and the loss in words."""
    if model.objective != "mdl":
        return None, LOSSES[model.objective]
    leaf, constant = _core.description_bits(weights, n_classes, n_cuts)
    return leaf, f"{LOSSES['mdl']}, less {constant:.6g} for one split,"


def applied(
    factors: Sequence[float], totals: NDArray[np.float64], balanced: bool
) -> NDArray[np.float64]:
    """What the weight of each class is multiplied by, if all rows have these weights."""
    given = np.array(factors, dtype=np.float64)
    return given / np.where(totals > 0, totals, 1.0) if balanced else given


def labelled(tree: Tree, factors: Sequence[float], balanced: bool) -> Tree:
    """The tree whose nodes answer the class with the largest share, class weights applied; the
    first among equals."""
    parts = tree._core.parts()
    factor = applied(factors, np.array(parts[0][3]), balanced)
    parts = [
        (split, int((np.array(value) * factor).argmax()), rows, value, loss)
        for split, _, rows, value, loss in parts
    ]
    return tree._with(core=_core.Tree(parts))
