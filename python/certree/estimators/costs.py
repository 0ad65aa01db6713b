"""Trees that choose the label that costs least, where each row has its own costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import combinations, feature_costs, ingest, progress
from certree.estimators import (
    _constrained_rows,
    _feature_costs,
    _reference,
    _searched,
    parameters,
)
from certree.estimators._posed import Posed
from certree.estimators._rows import (
    MergedRows,
    Rows,
    RowTreeEstimator,
    mean_and_error,
    of_chosen,
    open_rows,
    row_weights,
)
from certree.fitted import columns_named
from certree.generalization import Losses
from certree.ingest.checks import check_same_length
from certree.options import Categories, GuessedThresholds, Missing
from certree.scalars import shown
from certree.schema import MissingUnseen, Unseen


class OptimalCostTree(RowTreeEstimator):
    """A decision tree with the lowest mean cost of all trees within its limits.

    Every row has a cost for each label, such as the time that each of several algorithms takes for
    an instance. The tree gives each row one label. Its objective is the mean cost over the training
    rows plus ``leaf_penalty`` for each leaf. After a fit, ``certificate_`` says what was proved.

    Parameters
    ----------
    leaf_penalty : float, default=0.01
        What each leaf adds to the objective, in the unit of the costs: a split has to reduce the
        mean cost by more than this.
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
        What a row pays to be asked for a column: a dict of column names to costs, in the unit of
        ``costs``. Columns left out are free. A row pays for a column once, wherever in the tree it
        is first asked. A tuple of names stands for columns that one test measures (a category as
        several columns, say); a :class:`certree.FeatureCost` for tests that are cheaper after
        another one of their group. A cost is a number; or it differs by row: the name of a column
        of X with the price of each row, which is then no feature; a number for each row; or a dict
        of the column's values to prices, where None is the price of missing values. What rows pay
        on average is added to the loss; ``feature_costs_paid`` says it for each row.
    constraints : tuple, default=()
        What the tree has to keep to on the training rows: any of ``Capacity`` (at most this share
        of the row weight is given a label), ``SumLimit`` (the sum of a column over the rows that
        are given a label stays within bounds), ``DemographicParity`` (groups are given a label, or
        each one, about equally often) and ``EqualOpportunity`` (the same among rows for which no
        label costs less). If no tree keeps to them, the error says how far they must be loosened.
    thresholds : "all", "midpoints", "guess", int, dict or fitted object, default="all"
        Where columns of numbers and dates may be split, as for
        :class:`certree.OptimalTreeClassifier`. The reference that "guess" stands for learns the
        cheapest label of each row, weighted by what is at stake there.
    missing, missing_unseen : str, default="route", "larger"
        What missing values of features are, as for :class:`certree.OptimalTreeClassifier`.
    orders, categories, max_categories, unseen : default=None, "subsets", None, "warn"
        Declared orders, and how categories are asked, as for
        :class:`certree.OptimalTreeClassifier`.
    reference : "guess", classifier, vector of labels or None, default=None
        Guessed lower bounds, as for :class:`certree.OptimalTreeClassifier`; the labels are those of
        ``costs``. A classifier that is not fitted learns the cheapest label of each row, weighted
        by what is at stake.
    random_state : int, RandomState or None, default=0
        Seeds a reference that is fitted here and has no seed of its own, so that two equal fits
        give the same tree. None: a new draw for each fit.
    time_limit, memory_limit, gap_limit, n_jobs, verbose, callback
        As for :class:`certree.OptimalTreeClassifier`.

    Attributes
    ----------
    tree_ : certree.tree.Tree
        The tree, to read and to export. The ``value`` of a node is the mean cost of each label
        there.
    certificate_ : certree.Certificate
        What was proved. ``objective_``, ``lower_bound_``, ``gap_`` and ``status_`` are taken from
        it.
    labels_ : ndarray of shape (n_labels,)
        The columns of ``costs``: their names, or their numbers from 0 if they had none.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        The names of the feature columns, if X came with names.
    feature_importances_ : ndarray of shape (n_features_in_,)
    guesser_ : ThresholdGuesser
        Where the cuts were guessed in this fit.

    Notes
    -----
    X may be any table that :class:`certree.OptimalTreeClassifier` takes; a LazyFrame is read into
    memory. Costs may be below zero.

    ``score`` is minus the mean cost of the labels that are predicted. With ``feature_costs``,
    choose parameters by ``scoring=certree.scorers.objective``, which counts what rows pay for
    columns, too.

    Examples
    --------
    >>> import polars as pl
    >>> from certree import OptimalCostTree
    >>> X = pl.DataFrame({"size": [1, 2, 3, 40, 50, 60]})
    >>> seconds = pl.DataFrame({"plain": [1, 2, 2, 9, 9, 9], "clever": [5, 5, 5, 6, 6, 6]})
    >>> model = OptimalCostTree(max_depth=1).fit(X, seconds)
    >>> model.predict(pl.DataFrame({"size": [5, 55]}))
    array(['plain', 'clever'], dtype='<U6')
    >>> model.predict_costs(pl.DataFrame({"size": [55]}))
    array([[9., 6.]])
    >>> round(model.objective_, 6), model.status_
    (3.853333, 'optimal')
    """

    _has_proofs = True
    _rules = {
        **parameters.COMMON,
        "thresholds": parameters.GUESSES,
        "constraints": _constrained_rows.OF_COSTS,
        "reference": _reference.RULE,
        "random_state": parameters.RANDOM_STATE,
        "feature_costs": parameters.FEATURE_COSTS,
    }

    def __init__(
        self,
        *,
        leaf_penalty: float = 0.01,
        max_depth: int | None = 4,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        path_rules: Any = (),
        feature_costs: Any = None,
        constraints: Any = (),
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
        self.leaf_penalty = leaf_penalty
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.path_rules = path_rules
        self.feature_costs = feature_costs
        self.constraints = constraints
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
        self, X: Any, costs: Any, sample_weight: Any = None, *, start: Any = None
    ) -> OptimalCostTree:
        """Search for the best tree.

        Parameters
        ----------
        X : frame, array or list of rows
            The features.
        costs : frame or array of shape (n_rows, n_labels), or list of str
            ``costs[i, k]`` is what it costs to give row i label k; or the names of such columns in
            X (which are then not features).
        sample_weight : vector, str or None, default=None
            Row weights, not negative, or the name of their column in X.
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
        combinations.check(self, "RowCosts", "costs by row")
        named = columns_named({}, {"costs": costs})
        return self._solve((X, costs, sample_weight), started, named, start)

    def _pose(self, data: Any, known: Any = None) -> Posed:
        X, costs, sample_weight = data
        read = ingest.read_matrix(X, costs, "costs", "label")
        left, hidden = self._hidden(X, [*read.named, sample_weight])
        training = open_rows(left, len(read.values), "costs", sample_weight, [*read.named, *hidden])
        column_costs = feature_costs.read(self.feature_costs, training.columns)
        loss = _feature_costs.in_words("mean cost", column_costs)
        seen = float(read.values.min()), float(read.values.max())
        losses = _losses(training, seen, read.labels, column_costs)
        rows = Rows(
            X,
            training,
            read.values,
            read.labels,
            1.0,
            "costs",
            loss,
            column_costs,
            losses,
            {"_feature_costs": column_costs},
        )
        return self._pose_rows(rows, known)

    def _pose_sums(self, merged: ingest.Merged, known: Any) -> Posed:
        """The problem of costs of rows that lie in partitions."""
        column_costs = feature_costs.read(self.feature_costs, merged.columns)
        loss = _feature_costs.in_words("mean cost", column_costs)
        losses = _losses(merged, merged.seen, merged.target_names, column_costs)
        attributes = {"_feature_costs": column_costs}
        rows = MergedRows(merged, 1.0, "costs", loss, column_costs, losses, attributes)
        return self._pose_merged_rows(rows, known)

    def predict_costs(self, X: Any) -> NDArray[np.float64]:
        """The mean cost of each label over the training rows of the leaf that a row ends in: an
        array of rows × labels, in the order of ``labels_``."""
        return self._fitted_tree(X).predict_value(X)

    def score(self, X: Any, costs: Any = None, sample_weight: Any = None) -> float:
        """Minus the mean cost of the labels that are predicted, without ``feature_costs``.

        ``costs`` has the columns it had in ``fit``: frames are matched by name. Without it, the
        columns of X are read that ``fit`` was given by name.
        """
        paid, weights = self._paid(X, costs, sample_weight)
        mean, _ = mean_and_error(paid, weights)
        return -mean

    def _held_out_loss(self, X: Any, costs: Any = None, sample_weight: Any = None) -> float:
        paid, weights = self._paid(X, costs, sample_weight)
        return float(np.average(paid + self.feature_costs_paid(X), weights=weights))

    def _paid(
        self, X: Any, costs: Any, sample_weight: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """The cost of the predicted label in each row, and the row weights."""
        costs = self._recalled(costs=costs)["costs"]
        labels = self.predict(X)
        read = ingest.read_matrix(X, costs, "costs", "label")
        check_same_length(len(labels), len(read.values), "costs")
        if set(read.labels.tolist()) != set(self.labels_.tolist()):
            raise ValueError(
                f"costs has the columns {shown(read.labels.tolist())}, but the tree was fitted "
                f"with {shown(self.labels_.tolist())}"
            )
        paid = of_chosen(read.values, read.labels, labels)
        return paid, row_weights(sample_weight, X, len(labels))


def _losses(
    training: ingest.Training, seen: tuple[float, float], labels: Any, column_costs: Any
) -> Losses:
    if column_costs is not None:
        return _searched.COLUMN_COSTS
    return _searched.of_costs(training, seen, labels)
