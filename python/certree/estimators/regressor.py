"""Regression trees that are provably the best there are."""

from __future__ import annotations

from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from certree import _core, combinations, ingest, progress
from certree.estimators import _reference, parameters
from certree.estimators._base import Posed, TreeEstimator, as_core_takes
from certree.estimators._rows import features_as_given, open_rows, row_weights
from certree.ingest.checks import check_same_length
from certree.tree import Tree


class OptimalTreeRegressor(RegressorMixin, TreeEstimator):
    """A regression tree with the lowest objective of all trees within its limits.

    The objective is the squared error on the training rows as a share of that of a single leaf (that is, one
    minus R²), plus ``leaf_penalty`` for each leaf. After a fit, ``certificate_`` says what was proved.

    Parameters
    ----------
    objective : {"squared_error"}, default="squared_error"
        The loss. The squared errors of several targets are added as they are: scale targets that are to
        count alike.
    leaf_penalty : float, default=0.01
        What each leaf adds to the objective: a split has to explain more than this share of the squared
        error of all rows.
    max_depth : int or None, default=4
        The deepest a leaf may be; a single leaf has depth 0. None: no limit.
    max_leaf_nodes : int or None, default=None
        The most leaves.
    min_samples_leaf : int, default=1
        The fewest rows that each leaf of a split holds. Rows count once, whatever they weigh; rows that
        weigh nothing do not count.
    thresholds : "all", "guess", int, dict, ThresholdGuesser or fitted ThresholdBinarizer, default="all"
        Where columns of numbers and dates may be split, as for :class:`certree.OptimalTreeClassifier`.
    reference : "guess", regressor, array of numbers or None, default=None
        Guessed lower bounds: the search takes for granted that no leaf has a lower squared error than this model on the
        same rows. "guess" is gradient boosting; with ``thresholds="guess"`` the one that the cuts are from. A regressor
        that is fitted must know the columns of X; one that is not is fitted here, to the ranks of the values. Or
        give what any model predicts for the training rows: a vector, or rows × targets. What the guess can have cost is
        ``certificate_.guarantee``, and ``certify()`` goes on to the proof. See the guide to guessing.
    time_limit, memory_limit, gap_limit, n_jobs, verbose, callback
        As for :class:`certree.OptimalTreeClassifier`.

    Attributes
    ----------
    tree_ : certree.tree.Tree
        The tree, to read and to export. The ``value`` of a node is the mean of each target there.
    certificate_ : certree.Certificate
        What was proved. ``objective_``, ``lower_bound_``, ``gap_`` and ``status_`` are taken from it.
    target_names_ : list of str
        The names of the targets; "y", or "y0", "y1" and so on, where they came without.
    n_outputs_, n_features_in_ : int
    feature_names_in_ : ndarray of str
        The names of the feature columns, if X came with names.
    feature_importances_ : ndarray of shape (n_features_in_,)
    guesser_ : ThresholdGuesser
        Where the cuts were guessed in this fit.

    Notes
    -----
    X may be any table that :class:`certree.OptimalTreeClassifier` takes; a LazyFrame is read into memory.

    The search is exact for the targets as they are given: they are centred before they are squared, so that a
    large mean takes nothing from a small spread. Leaves predict means of the targets.

    If all targets are the same, there is nothing to explain: the loss is 0 and the objective ``leaf_penalty``.

    ``score`` is R², of several targets their mean.

    Examples
    --------
    >>> import polars as pl
    >>> from certree import OptimalTreeRegressor
    >>> flats = pl.DataFrame({"size": [30, 45, 60, 80, 95], "old": [True, False, True, False, False]})
    >>> rents = [310.0, 560.0, 590.0, 980.0, 1010.0]
    >>> model = OptimalTreeRegressor(max_depth=2).fit(flats, rents)
    >>> model.predict(pl.DataFrame({"size": [50, 100], "old": [False, True]}))
    array([575., 995.])
    >>> for rule in model.tree_.rules():
    ...     print(rule)
    if size <= 37.5 then 310.0 (1 row)
    if size > 37.5 and size <= 70 then 575.0 (2 rows)
    if size > 70 then 995.0 (2 rows)
    >>> round(model.objective_, 6), model.status_
    (0.032515, 'optimal')
    """

    _rules = {
        "objective": parameters.one_of("squared_error"),
        **parameters.COMMON,
        "thresholds": parameters.GUESSES,
        "reference": _reference.NUMBERS,
    }
    _guessed = "no leaf of the best tree has a lower squared error than the reference ({}) on the same rows"

    def __init__(
        self,
        objective: str = "squared_error",
        *,
        leaf_penalty: float = 0.01,
        max_depth: int | None = 4,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        thresholds: Any = "all",
        reference: Any = None,
        time_limit: float | None = 60.0,
        memory_limit: float | None = None,
        gap_limit: float = 0.0,
        n_jobs: int | None = 1,
        verbose: bool = False,
        callback: progress.Callback | None = None,
    ) -> None:
        self.objective = objective
        self.leaf_penalty = leaf_penalty
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.thresholds = thresholds
        self.reference = reference
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.gap_limit = gap_limit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OptimalTreeRegressor:
        """Search for the best tree.

        Parameters
        ----------
        X : frame, array or list of rows
            The features, without missing values.
        y : vector, frame or array of shape (n_rows, n_outputs), str, or list of str
            The targets, or the names of their columns in X (which are then not features).
        sample_weight : vector, str or None, default=None
            Row weights, not negative, or the name of their column in X.

        Returns
        -------
        self
        """
        started = monotonic()
        parameters.check(self, self._rules)
        combinations.check(self, "Squares", f"objective={self.objective!r}")
        return self._solve((X, y, sample_weight), started)

    def _pose(self, data: Any, known: Any = None) -> Posed:
        X, y, sample_weight = data
        read = ingest.read_targets(X, y)
        training = open_rows(X, len(read.values), "y", sample_weight, read.named)
        kept = read.values if training.kept is None else read.values[training.kept]
        thresholds = known
        if thresholds is None:
            features = ingest.without(X, read.named)
            n_targets = read.values.shape[1]
            thresholds = self._guess(features, read.values, sample_weight, n_targets=n_targets)
        located = ingest.locate(training, thresholds)
        regrets = reference = None
        if self.reference is not None and known is None:
            features = features_as_given(X, training)
            regrets, reference = _reference.of_squares(
                self, features, training, thresholds, located, kept
            )
        points = located.points
        goal = _core.Squares(
            np.ascontiguousarray(kept),
            located.point_of,
            points.n_points,
            training.weights,
            float(self.leaf_penalty),
        )
        problem = _core.Problem(
            *as_core_takes(located.cuts, points), goal, self._shape(), regrets=regrets
        )
        names = np.array(read.names)

        def show(tree: Tree) -> Tree:
            return Tree(tree._core, tree.columns, names, "regression")

        return Posed(
            problem,
            training,
            located.cuts,
            points,
            names,
            loss_in_words(len(names)),
            thresholds,
            reference,
            show,
            attributes={"target_names_": read.names, "n_outputs_": len(names)},
        )

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The mean of the leaf that each row ends in: a vector, or rows × targets if there are several."""
        return self._fitted_tree(X).predict(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions; of several targets the mean of each one's."""
        predicted = self.predict(X)
        read = ingest.read_targets(X, y)
        check_same_length(len(predicted), len(read.values), "y")
        weights = row_weights(sample_weight, X, len(predicted))
        return float(r2_score(read.values, predicted, sample_weight=weights))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def loss_in_words(n_outputs: int) -> str:
    """What the loss is, for the certificate."""
    of = "" if n_outputs == 1 else f" of {n_outputs} targets"
    return f"squared error{of} as a share of that of a single leaf"
