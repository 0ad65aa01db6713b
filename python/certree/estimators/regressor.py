"""Regression trees that are provably the best there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dataclasses import replace
from os import PathLike
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_pinball_score, r2_score
from sklearn.utils import column_or_1d

from certree.answers import label_array
from certree import _core, combinations, ingest, progress
from certree.estimators import (
    _feature_costs,
    _quantiles,
    _rates,
    _reference,
    _searched,
    parameters,
)
from certree.estimators._base import room_for_goal
from certree.estimators._posed import Posed
from certree.estimators._rows import features_as_given, open_rows, row_weights
from certree.estimators.parameters import is_guesser
from certree.fitted import columns_named
from certree.ingest.checks import check_same_length
from certree.options import Categories, GuessedThresholds, Missing, RegressorObjective
from certree.scalars import is_number
from certree.schema import MissingUnseen, Unseen
from certree.tree import Tree


class OptimalTreeRegressor(RegressorMixin, _feature_costs.FeatureCostEstimator):
    """A regression tree with the lowest objective of all trees within its limits.

    The objective is the squared error on the training rows as a share of that of a single leaf
    (that is, one minus R²), plus ``leaf_penalty`` for each leaf. After a fit, ``certificate_`` says
    what was proved.

    Parameters
    ----------
    objective : str, default="squared_error"
        The loss. "squared_error": the squared errors of several targets are added as they are:
        scale targets that are to count alike. "poisson" or "gamma": the deviance of these
        distributions, for counts or amounts that grow with an ``exposure``; leaves answer with a
        rate. "absolute_error", or "quantile" with ``quantile``, the pinball loss: leaves answer
        with one of a few ``levels``. All but the first are for one target, and each is a share of
        what a single leaf has (that is, one minus D²).
    leaf_penalty : float, default=0.01
        What each leaf adds to the objective: a split has to explain more than this share of the
        loss of all rows as one leaf.
    max_depth : int or None, default=4
        The deepest a leaf may be; a single leaf has depth 0. None: no limit.
    max_leaf_nodes : int or None, default=None
        The most leaves.
    min_samples_leaf : int, default=1
        The fewest rows that each leaf of a split holds. Rows count once, whatever they weigh; rows
        that weigh nothing do not count.
    path_rules : list or tuple, default=()
        What the columns of every path keep to, as for :class:`certree.OptimalTreeClassifier`.
    feature_costs : dict or None, default=None
        What a row pays to be asked for a column: as for :class:`certree.OptimalTreeClassifier`.
        What rows pay on average is added to the loss, so a cost of 0.01 for everybody is worth a
        hundredth of what a single leaf has.
        ``feature_costs_paid`` says it for each row.
    quantile : float, default=0.5
        Which quantile "quantile" asks for: this share of a leaf's row weight is to lie below its
        answer.
    levels : int, default=64
        For "absolute_error" and "quantile", how many different answers leaves choose from: all
        distinct targets if there are no more, and so the tree is the best there is; else quantiles
        of the targets, and the proof speaks of these.
    thresholds : "all", "midpoints", "guess", int, dict or fitted object, default="all"
        Where columns of numbers and dates may be split, as for
        :class:`certree.OptimalTreeClassifier`.
    missing, missing_unseen : str, default="route", "larger"
        What missing values of features are, as for :class:`certree.OptimalTreeClassifier`.
    orders, categories, max_categories, unseen : default=None, "subsets", None, "warn"
        Declared orders, and how categories are asked, as for
        :class:`certree.OptimalTreeClassifier`.
    reference : "guess", regressor, array of numbers or None, default=None
        Guessed lower bounds: the search takes for granted that no leaf has a lower squared error
        than this model on the same rows. "guess" is gradient boosting; with ``thresholds="guess"``
        the one that the cuts are from. A regressor that is fitted must know the columns of X; one
        that is not is fitted here, to the ranks of the values. Or give what any model predicts for
        the training rows: a vector, or rows × targets. What the guess can have cost is
        ``certificate_.guarantee``, and ``certify()`` goes on to the proof. See the guide to
        guessing. Only for "squared_error".
    random_state : int, RandomState or None, default=0
        Seeds a reference that is fitted here and has no seed of its own, so that two equal fits
        give the same tree. None: a new draw for each fit.
    time_limit, memory_limit, gap_limit, n_jobs, verbose, callback
        As for :class:`certree.OptimalTreeClassifier`.

    Attributes
    ----------
    tree_ : certree.tree.Tree
        The tree, to read and to export. The ``value`` of a node is the mean of each target there,
        or the rate or level that it answers.
    certificate_ : certree.Certificate
        What was proved. ``objective_``, ``lower_bound_``, ``gap_`` and ``status_`` are taken from
        it.
    target_names_ : list of str
        The names of the targets; "y", or "y0", "y1" and so on, where they came without.
    n_outputs_, n_features_in_ : int
    feature_names_in_ : ndarray of str
        The names of the feature columns, if X came with names.
    feature_importances_ : ndarray of shape (n_features_in_,)
    levels_ : ndarray
        What leaves may answer, with "absolute_error" or "quantile".
    guesser_ : ThresholdGuesser
        Where the cuts were guessed in this fit.

    Notes
    -----
    X may be any table that :class:`certree.OptimalTreeClassifier` takes; a LazyFrame is read into
    memory.

    The search is exact for the targets as they are given: they are centred before they are squared,
    so that a large mean takes nothing from a small spread. Leaves predict means of the targets.

    If all targets are the same, there is nothing to explain: the loss is 0 and the objective
    ``leaf_penalty``.

    Of rates, ``predict`` gives the rate, or with ``exposure`` what the rows of that exposure are
    expected to have. A Poisson leaf whose rows have only zeros has the rate 0.

    ``score`` is R², of several targets their mean; of the other objectives D², the share of their
    loss that is explained beside the best single answer, as scikit-learn has it. To choose
    parameters, it will do: ``certree.scorers.objective`` is the same less 1, but for several
    targets, whose squared errors it adds up as the objective does.

    Examples
    --------
    >>> import polars as pl
    >>> from certree import OptimalTreeRegressor
    >>> old = [True, False, True, False, False]
    >>> flats = pl.DataFrame({"size": [30, 45, 60, 80, 95], "old": old})
    >>> rents = [310.0, 560.0, 590.0, 980.0, 1010.0]
    >>> model = OptimalTreeRegressor(max_depth=2).fit(flats, rents)
    >>> model.predict(pl.DataFrame({"size": [50, 100], "old": [False, True]}))
    array([575., 995.])
    >>> for rule in model.tree_.rules():
    ...     print(rule)
    if size <= 40 then 310.0 (1 row)
    if size > 40 and size <= 70 then 575.0 (2 rows)
    if size > 70 then 995.0 (2 rows)
    >>> round(model.objective_, 6), model.status_
    (0.032515, 'optimal')
    """

    _has_proofs = True
    _rules = {
        "objective": parameters.one_of("squared_error", *_rates.LOSSES, *_quantiles.OBJECTIVES),
        **parameters.COMMON,
        "quantile": parameters.Rule(
            lambda value: is_number(value) and 0 < value < 1, "a number above 0 and below 1"
        ),
        "levels": parameters.integer(1),
        "thresholds": parameters.GUESSES,
        "reference": _reference.NUMBERS,
        "feature_costs": parameters.FEATURE_COSTS,
        "random_state": parameters.RANDOM_STATE,
    }
    #: True if the fit was given exposures.
    _has_exposure: bool
    _guessed = {
        "leaf": "no leaf of the best tree has a lower squared error than the reference ({}) on the "
        "same rows"
    }

    def __init__(
        self,
        objective: RegressorObjective = "squared_error",
        *,
        leaf_penalty: float = 0.01,
        max_depth: int | None = 4,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        path_rules: Any = (),
        feature_costs: Any = None,
        quantile: float = 0.5,
        levels: int = 64,
        thresholds: GuessedThresholds = "all",
        missing: Missing = "route",
        missing_unseen: MissingUnseen = "larger",
        orders: Mapping[str, Sequence[str]] | None = None,
        categories: Categories = "subsets",
        max_categories: int | None = None,
        unseen: Unseen = "warn",
        reference: Any = None,
        random_state: Any = 0,
        time_limit: float | None = 60.0,
        memory_limit: float | None = None,
        gap_limit: float = 0.0,
        n_jobs: int | None = 1,
        verbose: bool | int = False,
        callback: progress.Callback | None = None,
    ) -> None:
        self.objective = objective
        self.leaf_penalty = leaf_penalty
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.path_rules = path_rules
        self.feature_costs = feature_costs
        self.quantile = quantile
        self.levels = levels
        self.thresholds = thresholds
        self.missing = missing
        self.missing_unseen = missing_unseen
        self.orders = orders
        self.categories = categories
        self.max_categories = max_categories
        self.unseen = unseen
        self.reference = reference
        self.random_state = random_state
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.gap_limit = gap_limit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        exposure: Any = None,
        *,
        start: Any = None,
    ) -> OptimalTreeRegressor:
        """Search for the best tree.

        Parameters
        ----------
        X : frame, array or list of rows
            The features.
        y : vector, frame or array of shape (n_rows, n_outputs), str, or list of str
            The targets, or the names of their columns in X (which are then not features).
        sample_weight : vector, str or None, default=None
            Row weights, not negative, or the name of their column in X.
        exposure : vector, str or None, default=None
            For "poisson" and "gamma", how long or how much each row was observed, above 0, or the
            name of its column in X (which is then not a feature). None: all alike.
        start : Tree, fitted estimator or None, default=None
            A tree to begin with, such as last year's or a CART tree: the search is for a better
            one. Only its splits count, over columns of the same names; what this problem does not
            offer of them is left out. It saves time and changes no proof.

        Returns
        -------
        self
        """
        started = monotonic()
        parameters.check(self, self._rules)
        _quantiles.check(self)
        named = f"objective={self.objective!r}"
        if self.objective == "squared_error":
            combinations.check(self, "Squares", named)
        else:
            combinations.check(self, "Additive", named)
            if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
                y = column_or_1d(y, warn=True)
        columns = columns_named({"exposure": exposure}, {"y": y})
        return self._solve((X, y, sample_weight, exposure), started, columns, start)

    def _pose(self, data: Any, known: Any = None) -> Posed:
        X, y, sample_weight, exposure = data
        read = ingest.read_targets(X, y)
        exposures = self._exposure(X, exposure, len(read.values))
        named = [*read.named, *([exposure] if isinstance(exposure, str) else [])]
        training = open_rows(X, len(read.values), "y", sample_weight, named)
        kept = read.values if training.kept is None else read.values[training.kept]
        if exposures is not None and training.kept is not None:
            exposures = exposures[training.kept]
        if self.objective in _rates.LOSSES:
            _rates.check_targets(self.objective, kept)
        elif self.objective != "squared_error" and kept.shape[1] > 1:
            raise ValueError(
                f"objective={self.objective!r} is for one target, but y has {kept.shape[1]} columns"
            )
        thresholds = known
        if thresholds is None:
            features = ingest.without(X, named)
            n_targets = read.values.shape[1]
            thresholds = self._guess(features, read.values, sample_weight, n_targets=n_targets)
        located = ingest.locate(training, thresholds, self._categories())
        n_numbers = kept.size
        if self.objective in _quantiles.OBJECTIVES:
            n_numbers = located.points.n_points * min(self.levels, len(kept))
        room_for_goal(n_numbers, 8)
        if self.objective != "squared_error":
            goal = self._other_goal(located, kept[:, 0], exposures, label_array(read.names))
            posed = self._posed(training, located, thresholds, read.names, *goal)
            has_exposure = exposures is not None
            return replace(posed, attributes={**posed.attributes, "_has_exposure": has_exposure})
        found = _reference.References()
        # A tree that answers as the reference of the cuts does would pay for columns, too.
        of_cuts = is_guesser(thresholds) and not self.feature_costs
        guesses = self.reference is not None or of_cuts
        if guesses and known is None and not located.points.cut_short:
            features = features_as_given(X, training)
            found = _reference.in_time(
                _reference.of_squares, (self, features, training, thresholds, located, kept)
            )
        squares = self._squares(training.unit, located, kept, training.weights)
        goal = self._shown_as_means(squares, read.names)
        unit = training.unit
        # The goal has weights in whole units.
        units = 1.0 if unit is None or unit.shift is not None else float(unit.denominator)
        posed = self._posed(
            training, located, thresholds, read.names, *goal, found.regrets, None, units
        )
        losses = self._losses(posed, _searched.of_squares(training, kept))
        return found.beside(replace(posed, losses=losses))

    def _pose_sums(self, merged: ingest.Merged, known: Any) -> Posed:
        """The problem of squared errors of rows that lie in partitions: rows that are alike are
        one, which weighs as much as all of them."""
        assert merged.points is not None
        located = ingest.Located(merged.cuts, merged.points, merged.point_of, merged.weights)
        room_for_goal(merged.targets.size, 8)
        squares = self._squares(merged.unit, located, merged.targets, merged.units)
        goal = self._shown_as_means(squares, merged.target_names)
        thresholds = self.thresholds if known is None else known
        posed = self._posed(merged, located, thresholds, merged.target_names, *goal)
        losses = _searched.of_squares(merged, merged.targets, merged.weights)
        return replace(posed, losses=self._losses(posed, losses))

    def _squares(
        self, unit: Any, located: ingest.Located, targets: NDArray[Any], weights: Any
    ) -> _core.Squares:
        """The goal of squared errors of these rows, whose weights are in whole units."""
        given = located.weights if unit is not None and unit.shift is not None else None
        of, n_points = located.point_of, located.points.n_points
        penalty = float(self.leaf_penalty)
        return _core.Squares(np.ascontiguousarray(targets), of, n_points, weights, penalty, given)

    def _shown_as_means(
        self, squares: _core.Squares, target_names: list[Any]
    ) -> tuple[_core.Squares, NDArray[Any], str, Any]:
        """The goal, the labels of its trees, its loss in words, and how a tree is shown."""
        names = label_array(target_names)

        def show(tree: Tree) -> Tree:
            return tree._with(labels=names, task="regression")

        return squares, names, loss_in_words(len(names)), show

    def _losses(self, posed: Posed, losses: Any) -> Any:
        paid = posed.attributes["_feature_costs"] is not None
        return _searched.COLUMN_COSTS if paid else losses

    def _posed(
        self,
        training: ingest.Training,
        located: ingest.Located,
        thresholds: Any,
        target_names: list[str],
        goal: Any,
        labels: NDArray[Any],
        loss: str,
        show: Any,
        regrets: Any = None,
        levels: NDArray[np.float64] | None = None,
        paid_by_weight: float = 1.0,
    ) -> Posed:
        """``paid_by_weight``: what a unit of row weight pays for a cost of 1, in the weights of the
        goal."""
        factor = np.array([paid_by_weight])
        column_costs, core_costs = self._column_costs(located, training.kept, None, factor)
        problem = self._problem(
            located.cuts, located.points, goal, feature_costs=core_costs, regrets=regrets
        )
        attributes: dict[str, Any] = {
            "target_names_": target_names,
            "n_outputs_": len(target_names),
            "_has_exposure": False,
            "_feature_costs": column_costs,
        }
        if levels is not None:
            attributes["levels_"] = levels
        return Posed(
            problem,
            training,
            located.cuts,
            located.points,
            labels,
            _feature_costs.in_words(loss, column_costs),
            thresholds,
            show=show,
            attributes=attributes,
        )

    def _exposure(self, X: Any, exposure: Any, n_rows: int) -> NDArray[np.float64] | None:
        if exposure is not None and self.objective not in _rates.LOSSES:
            raise ValueError(
                f"exposure is for objective='poisson' or 'gamma', not {self.objective!r}; leave it "
                "out"
            )
        found = _rates.read_exposure(X, exposure)
        if found is not None:
            check_same_length(n_rows, len(found), "exposure")
        return found

    def _other_goal(
        self,
        located: ingest.Located,
        targets: NDArray[np.float64],
        exposure: NDArray[np.float64] | None,
        names: NDArray[Any],
    ) -> tuple[Any, ...]:
        """The goal, the core's labels, the loss in words, what shows the tree, and levels if there
        are any."""
        if self.objective in _rates.LOSSES:
            goal = _rates.goal(self.objective, self, located, targets, exposure)

            def show(tree: Tree) -> Tree:
                return tree._with(labels=names, task="rates")

            return goal, names, _rates.LOSSES[self.objective], show
        share = _quantiles.alpha(self)
        levels, every = _quantiles.choose_levels(targets, located.weights, share, self.levels)

        def show_levels(tree: Tree) -> Tree:
            return _quantiles.with_levels(tree, levels, names)

        # The core's labels are numbers of levels, which no tree of the user's has.
        words = _quantiles.in_words(self, levels, every)
        goal = _quantiles.goal(self, located, targets, levels)
        paid = _quantiles.paid_by_weight(self, located, targets)
        return goal, levels, words, show_levels, None, levels, paid

    def certify(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        exposure: Any = None,
        *,
        instance: str | PathLike[str] | None = None,
        proof: str | PathLike[str] | None = None,
    ) -> OptimalTreeRegressor:
        """Search on, without a guess, until the tree is proved to be the best, as
        ``OptimalTreeClassifier.certify`` does; the data are as ``fit`` takes them."""
        data = None if X is None else (X, y, sample_weight, exposure)
        return self._certify(data, instance, proof)

    def predict(self, X: Any, exposure: Any = None) -> NDArray[np.float64]:
        """What the leaf that each row ends in answers: a vector, or rows × targets if there are
        several means. Of rates, times the ``exposure`` if it is given: a vector, or the name of its
        column in X."""
        answers = self._fitted_tree(X).predict(X)
        exposures = self._exposure(X, exposure, len(answers))
        return answers if exposures is None else answers * exposures

    def score(
        self, X: Any, y: Any = None, sample_weight: Any = None, exposure: Any = None
    ) -> float:
        """R² of the predictions, of several targets the mean of each one's; of other objectives D².

        For rates, ``exposure`` as in ``fit``. Without ``y`` or ``exposure``, the columns of X are
        read that ``fit`` was given by name.
        """
        targets, predicted, exposures, weights = self._scored(X, y, sample_weight, exposure)
        if self.objective == "squared_error":
            return float(r2_score(targets, predicted, sample_weight=weights))
        targets = targets[:, 0]
        if self.objective in _rates.LOSSES:
            return _rates.score(self.objective, targets, predicted, exposures, weights)
        share = _quantiles.alpha(self)
        return float(d2_pinball_score(targets, predicted, sample_weight=weights, alpha=share))

    def _held_out_loss(
        self, X: Any, y: Any = None, sample_weight: Any = None, exposure: Any = None
    ) -> float:
        targets, predicted, exposures, weights = self._scored(X, y, sample_weight, exposure)
        loss = self._share_lost(targets, predicted, exposures, weights)
        return loss + self._mean_paid(X, self.apply(X), weights)

    def _share_lost(
        self,
        targets: NDArray[np.float64],
        predicted: NDArray[np.float64],
        exposures: Any,
        weights: NDArray[np.float64] | None,
    ) -> float:
        """The loss as a share of that of the best single answer."""
        if self.objective in _rates.LOSSES:
            return 1.0 - _rates.score(
                self.objective, targets[:, 0], predicted, exposures, weights
            )
        ones = np.ones(len(targets)) if weights is None else weights
        if self.objective == "squared_error":
            off = targets - predicted.reshape(targets.shape)
            spread = targets - np.average(targets, axis=0, weights=ones)
            left, whole = (float(ones @ (each**2).sum(axis=1)) for each in (off, spread))
        else:
            share = _quantiles.alpha(self)
            left = float(ones @ _quantiles.pinball(targets[:, 0], predicted, share))
            whole = _quantiles.best_constant(targets[:, 0], weights, share)
        if whole == 0.0:
            # Of targets that are all the same, a single leaf loses nothing.
            return 0.0 if left == 0.0 else 1.0
        return left / whole

    def _scored(
        self, X: Any, y: Any, sample_weight: Any, exposure: Any
    ) -> tuple[Any, NDArray[np.float64], Any, NDArray[np.float64] | None]:
        """Targets by row and output, predictions, exposures and weights of rows to score."""
        given = self._recalled(y=y, exposure=exposure)
        if given["y"] is None:
            raise ValueError("requires y to be passed, but the target y is None")
        predicted = self.predict(X)
        exposures = self._exposure(X, given["exposure"], len(predicted))
        if exposures is None and self._has_exposure:
            raise ValueError(
                "the tree was fitted with exposure=, so a score needs the exposure of these rows, "
                "too: pass it, or "
                "fit with the name of its column in X, which score then reads by itself"
            )
        read = ingest.read_targets(X, given["y"])
        check_same_length(len(predicted), len(read.values), "y")
        if self.objective in _rates.LOSSES:
            _rates.check_targets(self.objective, read.values)
        return read.values, predicted, exposures, row_weights(sample_weight, X, len(predicted))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.objective == "squared_error"
        tags.target_tags.positive_only = self.objective in _rates.LOSSES
        return tags


def loss_in_words(n_outputs: int) -> str:
    """What the loss is, for the certificate."""
    of = "" if n_outputs == 1 else f" of {n_outputs} targets"
    return f"squared error{of} as a share of that of a single leaf"
