"""Survival trees that are provably the best there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from certree import combinations, ingest, progress
from certree.estimators import _feature_costs, _rates, parameters
from certree.estimators._posed import Posed
from certree.estimators._kaplan_meier import AtRisk, by_leaf, concordance
from certree.estimators._rows import open_rows, row_weights
from certree.fitted import columns_named
from certree.ingest.checks import check_same_length
from certree.options import Categories, Missing, Thresholds
from certree.schema import MissingUnseen, Unseen
from certree.tree import Tree


class OptimalSurvivalTree(_feature_costs.FeatureCostEstimator):
    """A survival tree with the lowest objective of all trees within its limits.

    Rows were observed for some time, at whose end they had an event or were censored. Each leaf
    answers with a hazard ratio: how many times as often its rows have events as all rows do. The
    objective is the deviance of this proportional hazards model as a share of that of a single
    leaf, plus ``leaf_penalty`` for each leaf. After a fit, ``certificate_`` says what was proved.

    Parameters
    ----------
    leaf_penalty : float, default=0.01
        What each leaf adds to the objective: a split has to explain more than this share of the
        deviance of a single leaf.
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
    thresholds : "all", "midpoints", int, dict or a fitted ThresholdBinarizer, default="all"
        Where columns of numbers and dates may be split, as for
        :class:`certree.OptimalTreeClassifier`.
    missing, missing_unseen : str, default="route", "larger"
        What missing values of features are, as for :class:`certree.OptimalTreeClassifier`.
    orders, categories, max_categories, unseen : default=None, "subsets", None, "warn"
        Declared orders, and how categories are asked, as for
        :class:`certree.OptimalTreeClassifier`.
    time_limit, memory_limit, gap_limit, n_jobs, verbose, callback
        As for :class:`certree.OptimalTreeClassifier`.

    Attributes
    ----------
    tree_ : certree.tree.Tree
        The tree, to read and to export. The ``value`` of a node is its hazard ratio.
    certificate_ : certree.Certificate
        What was proved. ``objective_``, ``lower_bound_``, ``gap_`` and ``status_`` are taken from
        it.
    event_times_ : ndarray
        The distinct times of events, in order: at these the estimated curves step.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        The names of the feature columns, if X came with names.
    feature_importances_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    With H the cumulative hazard of all rows (Nelson and Aalen's), a row with time t and event d, 0
    or 1, counts as d events during an exposure of H(t), and the deviance is that of a Poisson
    distribution (LeBlanc and Crowley, 1992; SurTree, Huisman and others, 2024). Before the first
    event H is taken to be 1 / (n + 1) with n the row weight, as SurTree takes it, because an
    exposure is above 0.

    The curves are not those of the proportional hazards that the tree was chosen by, but each
    leaf's own, from its rows.

    ``score`` is Harrell's concordance, which asks for the order of risks alone. The objective of
    other rows is minus ``certree.scorers.objective``; it is infinite where a row has its event in a
    leaf that had none in training. ``cross_val_score`` and ``GridSearchCV`` pass X and y alone to a
    score: give y as a table of time and event (see ``fit``), or let both name columns of X:
    ``cross_val_score(model, frame, params={"time": "months", "event": "died"})``.

    Examples
    --------
    >>> import polars as pl
    >>> from certree import OptimalSurvivalTree
    >>> treated = [True, False, True, False, True, False]
    >>> X = pl.DataFrame({"stage": [1, 1, 2, 2, 3, 3], "treated": treated})
    >>> months, died = [60, 48, 50, 22, 9, 4], [False, False, True, True, True, True]
    >>> model = OptimalSurvivalTree(max_depth=1).fit(X, time=months, event=died)
    >>> print(model.tree_.to_text())
    6 rows  hazard ratio 1
    ├── stage <= 1 → 0        2 rows
    └── stage > 1  → 1.76471  4 rows
    <BLANKLINE>
    >>> model.predict_survival_function(X[[0, 5]], times=[12, 36])
    array([[1.  , 1.  ],
           [0.5 , 0.25]])
    >>> round(model.score(X, months, died), 3), model.status_
    (0.769, 'optimal')
    """

    _rules = {**parameters.COMMON, "feature_costs": parameters.FEATURE_COSTS}
    #: The estimate from all training rows, and their total weight.
    _hazard: tuple[AtRisk, float]

    def __init__(
        self,
        *,
        leaf_penalty: float = 0.01,
        max_depth: int | None = 4,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        path_rules: Any = (),
        feature_costs: Any = None,
        thresholds: Thresholds = "all",
        missing: Missing = "route",
        missing_unseen: MissingUnseen = "larger",
        orders: Mapping[str, Sequence[str]] | None = None,
        categories: Categories = "subsets",
        max_categories: int | None = None,
        unseen: Unseen = "warn",
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
        self.thresholds = thresholds
        self.missing = missing
        self.missing_unseen = missing_unseen
        self.orders = orders
        self.categories = categories
        self.max_categories = max_categories
        self.unseen = unseen
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.gap_limit = gap_limit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(
        self,
        X: Any,
        time: Any,
        event: Any = None,
        sample_weight: Any = None,
        *,
        start: Any = None,
    ) -> OptimalSurvivalTree:
        """Search for the best tree.

        Parameters
        ----------
        X : frame, array or list of rows
            The features.
        time : vector, str or table
            How long each row was observed, at least 0, or the name of the column in X (which is
            then not a feature). Or both in one table, so that scikit-learn's tools can split them:
            a frame or structured array with the columns "time" and "event", or a structured array
            of a Boolean and a number, as scikit-survival makes them.
        event : vector, str or None
            Whether its event came then, as Booleans or 0 and 1 (else it was censored), or the name
            of the column in X. None where ``time`` is a table of both.
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
        combinations.check(self, "Additive", "survival")
        named = columns_named({"time": time, "event": event}, {})
        return self._solve((X, time, event, sample_weight), started, named, start)

    def _pose(self, data: Any, known: Any = None) -> Posed:
        X, time, event, sample_weight = data
        times, events = read_outcomes(X, time, event)
        named = [name for name in (time, event) if isinstance(name, str)]
        training = open_rows(X, len(times), "time", sample_weight, named)
        if training.kept is not None:
            times, events = times[training.kept], events[training.kept]
        if not events.any():
            raise ValueError("no row has an event, so there is no hazard to explain")
        thresholds = self.thresholds if known is None else known
        located = ingest.locate(training, thresholds, self._categories())
        weights = located.weights
        n = len(times) if weights is None else float(weights.sum())
        hazard = AtRisk.of(times, events, weights), n
        exposure = exposure_of(hazard, times)
        goal = _rates.goal("poisson", self, located, events.astype(np.float64), exposure)
        names = np.array(["hazard ratio"])

        at = hazard[0].times
        attributes: dict[str, Any] = {"event_times_": at, "_hazard": hazard}

        def show(tree: Tree, leaves: NDArray[np.uint32]) -> Tree:
            # Of the tree that is kept, because that is shown last.
            attributes["_curves"] = own = by_leaf(leaves, times, events, weights)
            curves = {leaf: (at, curve.survival(at)) for leaf, curve in own.items()}
            return tree._with(labels=names, task="survival", curves=curves)

        column_costs, core_costs = self._column_costs(located, training.kept)
        attributes["_feature_costs"] = column_costs
        words = "deviance of proportional hazards as a share of that of a single leaf"
        return Posed(
            self._problem(located.cuts, located.points, goal, feature_costs=core_costs),
            training,
            located.cuts,
            located.points,
            names,
            _feature_costs.in_words(words, column_costs),
            thresholds,
            show_by_row=show,
            attributes=attributes,
        )

    def certify(
        self, X: Any = None, time: Any = None, event: Any = None, sample_weight: Any = None
    ) -> OptimalSurvivalTree:
        """Search on until the tree is proved to be the best, as ``OptimalTreeClassifier.certify``
        does; the data are as ``fit`` takes them."""
        return self._go_on(None if X is None else (X, time, event, sample_weight))

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The hazard ratio of the leaf that each row ends in, beside all training rows: more is a
        higher risk."""
        return self._fitted_tree(X).predict(X)

    def predict_survival_function(self, X: Any, times: Any = None) -> NDArray[np.float64]:
        """The share of rows like each that have had no event up to each time (Kaplan and Meier's
        estimate of its leaf): rows × times. ``times``: any numbers; ``event_times_`` without it."""
        at = self._times(times)
        return self._by_leaf(X, {leaf: own.survival(at) for leaf, own in self._curves.items()})

    def predict_cumulative_hazard_function(self, X: Any, times: Any = None) -> NDArray[np.float64]:
        """How many events a row like each can expect up to each time, if it could have several
        (Nelson and Aalen's estimate of its leaf): rows × times, as for
        ``predict_survival_function``."""
        at = self._times(times)
        return self._by_leaf(
            X, {leaf: own.cumulative_hazard(at) for leaf, own in self._curves.items()}
        )

    def score(
        self, X: Any, time: Any = None, event: Any = None, sample_weight: Any = None
    ) -> float:
        """Harrell's concordance: of the pairs of rows of which one is known to have had its event
        first, the share where it has the larger hazard ratio; ties count half.

        Without ``time`` and ``event``, the columns of X are read that ``fit`` was given by name.
        """
        risk = self.predict(X)
        times, events, weights = self._observed(X, time, event, sample_weight, len(risk))
        found = concordance(times, events, risk, weights)
        if np.isnan(found):
            raise ValueError(
                "no two rows can be compared: there is no event before another row's time"
            )
        return found

    def _held_out_loss(
        self, X: Any, time: Any = None, event: Any = None, sample_weight: Any = None
    ) -> float:
        ratios = self.predict(X)
        times, events, weights = self._observed(X, time, event, sample_weight, len(ratios))
        if not events.any():
            raise ValueError("no row has an event, so there is no hazard to explain")
        exposures = exposure_of(self._hazard, times)
        explained = _rates.score(
            "poisson", events.astype(np.float64), ratios, exposures, weights
        )
        return 1.0 - explained + self._mean_paid(X, self.apply(X), weights)

    def _observed(
        self, X: Any, time: Any, event: Any, sample_weight: Any, n_rows: int
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64] | None]:
        """Times, events and weights of rows to score."""
        if event is None:
            given = self._recalled(time=time, event=event)
            # A table has its own events.
            time, event = given["time"], given["event"] if time is None else None
        if time is None:
            raise ValueError(
                "a score needs time and event of the rows: pass both, or y as a table with the "
                "columns 'time' and "
                "'event', or fit with the names of their columns in X, which score then reads by "
                "itself"
            )
        times, events = read_outcomes(X, time, event)
        check_same_length(n_rows, len(times), "time")
        return times, events, row_weights(sample_weight, X, n_rows)

    def _times(self, times: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        found = self.event_times_ if times is None else np.asarray(times, dtype=np.float64)
        if found.ndim != 1 or np.isnan(found).any():
            raise ValueError("times must be a vector of numbers without missing ones")
        return found

    def _by_leaf(self, X: Any, values: dict[int, NDArray[np.float64]]) -> NDArray[np.float64]:
        leaves, place = np.unique(self.apply(X), return_inverse=True)
        return np.array([values[leaf] for leaf in leaves.tolist()])[place]


def read_outcomes(X: Any, time: Any, event: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Times of at least 0, and whether an event came then. Without ``event``, ``time`` is a table
    of both."""
    if event is None and time is not None:
        time, event = of_table(time)
    times = ingest.read_vector(X, time, "time")
    if bad := int((times < 0).sum()):
        raise ValueError(
            f"time must be at least 0, but has {ingest.values(bad)} below, the least "
            f"{times.min():g}: count it from when each row was first observed"
        )
    events = ingest.read_vector(X, event, "event")
    if bad := int(((events != 0) & (events != 1)).sum()):
        raise ValueError(
            f"event must be true or false, 1 or 0, but has {ingest.values(bad)} that are neither"
        )
    check_same_length(len(times), len(events), "event")
    return times, events == 1


def of_table(table: Any) -> tuple[Any, Any]:
    """Times and events of a table with both."""
    both = ("time", "event")
    found = ingest.by_role(table, both, both)
    if found is not None:
        return found["time"], found["event"]
    if isinstance(table, np.ndarray) and len(table.dtype.names or ()) == 2:
        kinds = {table.dtype[name].kind == "b": name for name in table.dtype.names or ()}
        if len(kinds) == 2:
            return table[kinds[False]], table[kinds[True]]
    raise ValueError(
        "requires event to be passed, but it is None: whether each row had its event; or pass one "
        "table with the "
        "columns 'time' and 'event'"
    )


def exposure_of(
    hazard: tuple[AtRisk, float], times: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The cumulative hazard of the training rows at these times; before the first event the number
    that SurTree takes. ``hazard``: of the training rows, with their total weight."""
    at_risk, n = hazard
    found = at_risk.cumulative_hazard(times)
    return np.where(found > 0, found, 1.0 / (n + 1.0))
