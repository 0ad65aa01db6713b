"""Scores for scikit-learn's tools: how good a tree is by what it was optimised for, on rows that it
was not fitted to.

``score`` of an estimator follows scikit-learn's conventions, which know nothing of objectives: a
classifier that minimises costs or 1 − F1 has its accuracy as the score. To choose parameters by
the objective, pass ``scoring=certree.scorers.objective``.
"""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

__all__ = ["Objective", "objective"]


class Objective(BaseEstimator):
    """Minus the loss that an estimator minimises, on the rows that it is given: larger is better.

    The loss is the objective without ``leaf_penalty``, because the penalty is a means against
    overfitting, which rows that the tree was not fitted to show by themselves; with it, no two
    values of ``leaf_penalty`` could be compared. Costs of columns (``feature_costs``) are in it. On
    the training rows it is ``-(objective_ - leaf_penalty * get_n_leaves())``.

    ============================================  ==================================================
    estimator                                     minus the score
    ============================================  ==================================================
    ``OptimalTreeClassifier``                     the mean error or cost, class weights applied, of
                                                  balanced accuracy the mean over the classes of
                                                  these rows, plus the mean costs of columns
    with "f1", "f1_macro", "mcc" and other        1 − the metric, plus the mean costs of columns
    metrics of labels
    with a function of your own                   the function of the matrix of these rows, plus the
                                                  mean costs of columns
    with "auc", "partial_auc"                     1 − the mean height of the ROC curve
    with "gini", "log_loss", "mdl"                the mean squared error of the class shares, their
                                                  mean log loss (a share of 0 is taken for 2⁻⁵², as
                                                  scikit-learn does), or the bits of the classes
    of several targets                            the mean of their error rates
    ``OptimalTreeRegressor``                      the loss as a share of that of the best single
                                                  answer to these rows: 1 − R² or 1 − D², of
                                                  several targets of their squared errors added up
    ``OptimalCostTree``                           the mean cost of the labels, plus the mean costs
                                                  of columns
    ``OptimalPolicyTree``                         minus the value of the policy if that is to be
                                                  large, else the value; plus the mean costs of
                                                  columns
    ``OptimalSurvivalTree``                       the deviance of these rows, by the hazard of the
                                                  training rows, as a share of that of a single leaf
    ``OptimalTree``                               the mean of its task's ``row_costs``
    ============================================  ==================================================

    It is called as ``objective(estimator, X, y)``, and takes what ``score`` of the estimator takes,
    such as ``exposure=``. Arguments of ``fit`` that named columns of X need not be passed: they are
    read from there. The last step of a pipeline is scored on what the steps before make of X, and a
    fitted search by its best estimator.

    Parameters
    ----------
    sample_weight : str or None, default=None
        A column of X that holds the row weights to score with. ``GridSearchCV`` also passes on the
        ``sample_weight`` of its ``fit``.

    Examples
    --------
    To be asked for an age is free, and a scan costs 0.2. The accuracy would always choose the
    deeper tree:

    >>> import numpy as np
    >>> import polars as pl
    >>> from certree import OptimalTreeClassifier, scorers
    >>> from sklearn.model_selection import GridSearchCV
    >>> rng = np.random.default_rng(0)
    >>> X = pl.DataFrame({"age": rng.integers(20, 90, 300), "scan": rng.random(300) < 0.5})
    >>> y = np.where(rng.random(300) < 0.9, X["age"].to_numpy() > 60, X["scan"].to_numpy())
    >>> model = OptimalTreeClassifier(leaf_penalty=0, feature_costs={"scan": 0.2})
    >>> depths = {"max_depth": [0, 1, 2]}
    >>> GridSearchCV(model, depths, cv=3, scoring=scorers.objective).fit(X, y).best_params_
    {'max_depth': 1}
    """

    def __init__(self, sample_weight: str | None = None) -> None:
        self.sample_weight = sample_weight

    def __call__(
        self, estimator: Any, X: Any, y: Any = None, sample_weight: Any = None, **more: Any
    ) -> float:
        """The score of a fitted estimator; ``y`` is what follows X in its ``fit``."""
        weights = self.sample_weight if sample_weight is None else sample_weight
        estimator, X = _innermost(estimator, X)
        if not hasattr(estimator, "_held_out_loss"):
            raise TypeError(f"{type(estimator).__name__} is no estimator of certree")
        more = {name: value for name, value in more.items() if value is not None}
        data = () if y is None else (y,)
        return -float(estimator._held_out_loss(X, *data, sample_weight=weights, **more))

    def score(
        self,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        exposure: Any = None,
        event: Any = None,
        outcome: Any = None,
        propensity: Any = None,
        predicted: Any = None,
    ) -> float:
        """Minus the loss, as a call gives it.

        With scikit-learn's metadata routing, ``set_score_request`` says which of these arguments
        are to be passed.
        """
        more = {
            "exposure": exposure,
            "event": event,
            "outcome": outcome,
            "propensity": propensity,
            "predicted": predicted,
        }
        return self(estimator, X, y, sample_weight, **more)

    #: Of routing: it is no metadata.
    __metadata_request__score = {"estimator": "$UNUSED$"}

    def _accept_sample_weight(self) -> bool:
        # Searches of scikit-learn ask this before they pass on the weights of their fit.
        return True


#: With the weights that it is called with, if any.
objective = Objective()


def _innermost(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The tree in a pipeline or fitted search, and X as it reaches it."""
    while not hasattr(estimator, "_held_out_loss"):
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator, X = estimator.steps[-1][1], estimator[:-1].transform(X)
        else:
            break
    return estimator, X
