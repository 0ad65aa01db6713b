"""Cuts that a reference model uses, as a transformer and as the ``thresholds`` of an estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from certree.binarize import ThresholdBinarizer
from certree.estimators import parameters
from certree.estimators._class_costs import class_factors
from certree.guess import questions, read_model, references, splits
from certree.guess.eliminate import Fitted, eliminate
from certree.guess.questions import Question
from certree.guess.table import Goal, Table, read, read_table
from certree.seeds import seed_of
from certree.warned import warn


class ThresholdGuesser(ThresholdBinarizer):
    """Keep only the cuts that a reference model, such as gradient boosting, finds useful.

    The reference is fitted, and the tests in its trees become cuts: every test of every tree, of
    all classes or outputs. Then column elimination drops the least important ones, a few at a time,
    and fits the reference again on the answers to the others, as long as its training score does
    not fall by more than ``tolerance`` below the best one so far. A search over these cuts takes a
    fraction of the time, but its proof speaks of these cuts only.

    It transforms like :class:`ThresholdBinarizer`. Given to an estimator as its ``thresholds``, it
    is used as it is if it is fitted; otherwise each fit of the estimator fits a copy.

    Parameters
    ----------
    reference : model or None, default=None
        None: scikit-learn's gradient boosting (50 trees of depth 2, learning rate 0.1), a regressor
        if the target has fractions. Else a decision tree, random
        forest, extra trees, bagged or boosted trees of scikit-learn, LightGBM or XGBoost, or an
        explainable boosting machine. One that is not fitted is fitted here, to the ranks of the
        values: a column for each value of a category, and dates as well as numbers. One that is
        fitted must know the columns of X as they are.
    tolerance : float or None, default=0.0
        How far the score (accuracy or R²) on the training rows may fall below that of the
        reference, or the best one later, while cuts are dropped. None drops nothing and keeps a
        fitted reference as it is; boosters without a scikit-learn interface need this. Explainable
        boosting machines choose by ``jump`` instead.
    jump : float, default=0.1
        For explainable boosting machines: a step in a column's function is a cut if it is higher
        than this times the importance of the most important column over that of its own. In the
        unit of the machine's scores: log-odds of a classifier, the target's own of a regressor.
    class_weight : dict, "balanced" or None, default=None
        A factor for each class's row weight while the reference is fitted and scored.
    random_state : int, RandomState or None, default=0
        Seeds a reference that has no seed of its own. None: a new draw for each fit.

    Attributes
    ----------
    thresholds_ : dict
        What may be asked of each column: thresholds, ascending, of numbers and dates (dates as
        integers in their physical unit), values of a category, ``[True]`` of a Boolean; an empty
        list if nothing.
    reference_ : model
        The reference fitted to ``transform(X)``; it predicts class numbers, of ``classes_``. A
        fitted one that nothing was dropped from by intent (``tolerance=None``, or an explainable
        boosting machine) is kept as it was given.
    classes_ : ndarray or None
        The labels in order; None if the target is real or was not given.
    n_found_, n_kept_ : int
        Cuts in the reference, and those that are left.
    n_fits_ : int
        How often the reference was fitted, or fitted again.
    reference_score_, score_ : float or None
        The training score of the reference, and of the one fitted to the answers.
    columns_ : list of certree.schema.Column
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        The names of the columns, if X came with names.

    Notes
    -----
    ``score_`` is at least ``reference_score_ - tolerance``, except where nothing could be dropped:
    fitted to the answers to all its own cuts, a reference with randomness may score below itself.

    A reference that predicts one class for all rows says nothing about which cuts matter. All its
    cuts are kept then, with a warning. At least one cut is kept in any case.

    The rows are read into memory, also those of a LazyFrame.

    Examples
    --------
    >>> import polars as pl
    >>> from certree import ThresholdGuesser
    >>> sexes = ["m", "f", "f", "f", "m", "m"]
    >>> frame = pl.DataFrame({"age": [22, 38, 26, 35, 54, 2], "sex": sexes})
    >>> guesser = ThresholdGuesser().fit(frame, ["no", "yes", "yes", "yes", "no", "no"])
    >>> guesser.thresholds_
    {'age': [], 'sex': ['m']}
    """

    #: Known by estimators, which fit a copy.
    guesses = True

    _rules = {
        "tolerance": parameters.or_none(parameters.at_least_zero()),
        "jump": parameters.at_least_zero(),
        "class_weight": parameters.Rule(
            lambda value: value is None
            or (isinstance(value, str) and value == "balanced")
            or isinstance(value, Mapping),
            "a dict of labels to weights, 'balanced', or None",
        ),
        "random_state": parameters.RANDOM_STATE,
    }

    def __init__(
        self,
        reference: Any = None,
        *,
        tolerance: float | None = 0.0,
        jump: float = 0.1,
        class_weight: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.reference = reference
        self.tolerance = tolerance
        self.jump = jump
        self.class_weight = class_weight
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ThresholdGuesser:
        """Guess the cuts of each column.

        Parameters
        ----------
        X : frame, array or list of rows
            The features, without missing values.
        y : vector or str
            The target, or the name of its column in X. May be left out for a fitted reference with
            ``tolerance=None``.
        sample_weight : vector, str or None, default=None
            Row weights, not negative, or the name of their column in X.
        """
        parameters.check(self, self._rules)
        reference = references.unwrapped(self.reference)
        if reference is not None:
            references.check_model(reference)
        fitted = reference is not None and references.is_fitted(reference)
        drop = self.tolerance is not None and not references.is_additive(reference)
        if fitted and drop and references.is_booster(reference):
            raise ValueError(
                "a Booster cannot be fitted again to drop cuts: give tolerance=None to keep all of "
                "its cuts, or the library's scikit-learn model"
            )
        if y is None and fitted and not drop:
            table, goal = read_table(X), None
        else:
            table, goal = read(X, y, sample_weight, references.classifies(reference))
            goal = self._weighted(goal)
        if reference is None:
            assert goal is not None
            reference = references.default(goal)
        self._guess(table, goal, reference, fitted, drop)
        return self

    def _weighted(self, goal: Goal) -> Goal:
        if goal.classes is not None and len(goal.classes) == 1:
            raise ValueError(
                f"y has 1 class, {goal.classes.tolist()[0]!r}: a reference cannot learn anything "
                "from it, so there are no cuts to guess"
            )
        if self.class_weight is None:
            return goal
        if goal.classes is None:
            raise ValueError("class_weight is given, but the target is no class")
        weight = np.ones(len(goal.y)) if goal.weight is None else goal.weight
        factors = np.array(class_factors(self.class_weight, goal.classes))
        if isinstance(self.class_weight, str):
            factors = 1.0 / np.bincount(goal.y, weights=weight)
        weight = weight * factors[goal.y]
        if not weight.any():
            raise ValueError("class_weight leaves no row with a weight above zero")
        # References may have limits on the weight of a leaf.
        return replace(goal, weight=weight * (len(weight) / weight.sum()))

    def _guess(
        self, table: Table, goal: Goal | None, reference: Any, fitted: bool, drop: bool
    ) -> None:
        seed = seed_of(self.random_state)
        if fitted:
            found, predicted = self._of_fitted(table, goal, reference)
        else:
            assert goal is not None
            found, predicted = self._of_unfitted(table, goal, reference, seed)
        if not found:
            raise ValueError(
                f"the reference, a {type(reference).__name__}, tests nothing that separates these "
                "rows: there are no cuts to guess"
            )
        kept, score, source = found, None, reference
        n_fits = 0 if fitted else 1
        if goal is not None and not (fitted and not drop):
            assert predicted is not None
            one_class = goal.classes is not None and len(np.unique(predicted)) == 1
            if one_class and drop:
                warn(
                    f"the reference predicts one class for all {table.n_rows:,} rows, so its score "
                    f"cannot say which cuts to drop: all {len(found):,} are kept; give a stronger "
                    "reference, or class_weight",
                )
            answers = questions.answers(table, found)

            def refit(cuts: np.ndarray) -> Fitted:
                matrix = np.ascontiguousarray(answers[:, cuts])
                model = references.fit(reference, matrix, goal, seed)
                score = references.score(references.predict(model, matrix), goal)
                return Fitted(score, read_model.read(model, 0.0).importance(len(cuts)), model)

            if drop and not one_class:
                best = references.score(predicted, goal)
                chosen = eliminate(
                    refit, len(found), best, self.tolerance or 0.0, references.is_late
                )
                kept = [found[cut] for cut in chosen.cuts]
                score, source = chosen.fitted.score, chosen.fitted.model
                n_fits += chosen.n_fits
            else:
                score, _, source = refit(np.arange(len(found)))
                n_fits += 1
        self.columns_ = table.columns
        self.thresholds_ = questions.thresholds_of(table, kept)
        self.reference_ = source
        self.classes_ = None if goal is None else goal.classes
        self.n_found_, self.n_kept_, self.n_fits_ = len(found), len(kept), n_fits
        self.score_ = score
        self.reference_score_ = (
            None if goal is None or predicted is None else references.score(predicted, goal)
        )
        self.n_features_in_ = len(table.columns)
        if table.named:
            self.feature_names_in_ = np.array([c.name for c in table.columns], dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _of_fitted(
        self, table: Table, goal: Goal | None, model: Any
    ) -> tuple[list[Question], np.ndarray | None]:
        """The cuts of a model that knows the columns of X, and what it predicts for the rows."""
        names = splits.names_of(model)
        places = questions.match(names, splits.n_features_of(model), table)
        found = questions.of_values(read_model.read(model, self.jump), table, places)
        if goal is None or references.is_booster(model) or references.is_additive(model):
            return found, None
        predicted = references.predict(model, questions.by_value(table, places))
        return found, references.predicted_classes(predicted, model, goal)

    def _of_unfitted(
        self, table: Table, goal: Goal, model: Any, seed: int
    ) -> tuple[list[Question], np.ndarray]:
        """The cuts of a model that is fitted to ranks, and what it predicts for the rows."""
        axes = questions.axes_of(table)
        if not axes:
            raise ValueError(
                "all rows are the same in every column of X: there are no cuts to guess"
            )
        matrix = questions.by_rank(table, axes)
        model = references.fit(model, matrix, goal, seed)
        found = questions.of_ranks(read_model.read(model, self.jump), table, axes)
        return found, references.predict(model, matrix)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags
