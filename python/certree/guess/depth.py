"""How deep a tree need be to be as flexible as an ensemble, and what a depth limit can cost."""

from __future__ import annotations

import math
from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from certree.guess import read_model, references


def suggest_depth(ensemble: Any) -> int:
    """A depth at which single trees are at least as flexible as a fitted ensemble.

    With K trees whose class has the VC dimension V, both at least 3, a weighted vote has a VC
    dimension of at most ``m (3 ln m + 2)`` with ``m = K V + K``, and trees of depth d have one of
    2^d or more. V is taken to be the most leaves that a tree of the ensemble has: how many points
    its leaves can tell apart. K is the number of trees for a class or output; between two of
    several classes, the trees of both decide, so it is twice that.

    The number is conservative. Much shallower trees often predict as well, so it is more of a
    reason not to search deeper than one to search as deep.

    Parameters
    ----------
    ensemble : model
        A fitted model that :class:`ThresholdGuesser` can read, or a fitted ThresholdGuesser. Not an
        explainable boosting machine: that is no vote of so many trees.

    Examples
    --------
    >>> from certree import suggest_depth
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import GradientBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> suggest_depth(GradientBoostingClassifier(n_estimators=10, max_depth=2).fit(X, y > 0))
    10
    """
    if getattr(ensemble, "guesses", False):
        check_is_fitted(ensemble)
        ensemble = ensemble.reference_
    ensemble = references.unwrapped(ensemble)
    references.check_model(ensemble)
    if not references.is_fitted(ensemble):
        raise ValueError(f"the ensemble, a {type(ensemble).__name__}, is not fitted; fit it first")
    found = read_model.read(ensemble, 0.0)
    if found.n_trees is None:
        raise ValueError(
            f"a {type(ensemble).__name__} is no vote of a number of trees, so no depth follows "
            "from its size"
        )
    several = found.n_outputs > 1 and references.classifies(ensemble) is not False
    k = max(3, found.n_trees * (2 if several else 1))
    m = k * max(3, found.most_leaves) + k
    return math.ceil(math.log2(m * (3 * math.log(m) + 2)))


def depth_gap(model: Any, *fitted_to: Any, **also_fitted_to: Any) -> float:
    """How much better than a fitted tree any deeper one with the same cuts can be.

    No tree of any depth, with the cuts and the other limits of the fit, has an objective that is
    lower by more. A tree within the depth limit is not below the certificate's lower bound. A
    deeper one has at least ``max_depth + 2`` leaves, and loses at least what rows with equal
    answers but different labels cost any tree. That is a bound for what a guessed depth can cost,
    and unlike the ones that need the best tree of any depth, it can be known.

    It is proved, but it is not the certificate's gap: that speaks of trees within the limit only.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalCostTree
        Fitted, with or without a depth limit.
    *fitted_to, **also_fitted_to
        What its ``fit`` was given: X, y and so on.

    Examples
    --------
    >>> from certree import OptimalTreeClassifier, depth_gap
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    >>> round(model.objective_, 6), round(depth_gap(model, X, y), 6)
    (0.07, 0.03)
    """
    check_is_fitted(model)
    own = model.certificate_
    most = own.max_leaf_nodes
    if own.max_depth is None or (most is not None and most < own.max_depth + 2):
        return own.gap
    # Without penalty, limits and rules a tree that tells all points apart is the best.
    free = {
        "leaf_penalty": 0.0,
        "max_depth": None,
        "max_leaf_nodes": None,
        "min_samples_leaf": 1,
        "path_rules": (),
    }
    thresholds = getattr(model, "guesser_", model.thresholds)
    best = clone(model).set_params(
        **free, thresholds=thresholds, reference=None, verbose=False, callback=None
    )
    best.fit(*fitted_to, **also_fitted_to)
    if (best.certificate_.cuts, best.certificate_.n_rows) != (own.cuts, own.n_rows):
        raise ValueError(
            "these are not the rows that the model was fitted to: their cuts or their number differ"
        )
    deeper = best.lower_bound_ + own.leaf_penalty * (own.max_depth + 2)
    # Upwards, by more than the few operations round.
    rounding = 2.0**-50 * (abs(own.objective) + abs(deeper))
    return max(own.gap, own.objective - deeper + rounding)
