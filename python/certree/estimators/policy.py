"""Trees that choose the treatment with the best outcome, learnt from what was given to whom and
what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from certree import combinations, feature_costs, ingest, progress, seeds
from certree.estimators import (
    _constrained_rows,
    _feature_costs,
    _reference,
    parameters,
    teachers,
)
from certree.estimators._posed import Posed
from certree.estimators._rows import (
    MergedRows,
    Rows,
    RowTreeEstimator,
    features_as_given,
    mean_and_error,
    of_chosen,
    open_rows,
    row_weights,
)
from certree.estimators.parameters import Rule
from certree.estimators.teachers import Crossfit, Matrix, Seen
from certree.fitted import columns_named
from certree.generalization import REFUSED
from certree.ingest import target
from certree.ingest.checks import check_same_length
from certree.options import Categories, GuessedThresholds, Missing
from certree.scalars import is_number, shown
from certree.schema import MissingUnseen, Unseen


def _is_model(of_kind: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Whether something can be fitted and is of the kind, which scikit-learn asks of models only.
    """
    return lambda value: (
        hasattr(value, "fit") and not isinstance(value, type) and bool(of_kind(value))
    )


class PolicyValue(NamedTuple):
    """The mean outcome that a policy is estimated to have, and the standard error of that estimate.
    """

    value: float
    standard_error: float


#: The error of a score that knows neither outcomes nor rewards.
UNSEEN = (
    "requires outcome to be passed, but it is None: what came of the treatment of each row. Tools"
    " of scikit-learn pass X and y alone to a score: give y as a table with the columns 'treatment'"
    " and 'outcome' (and 'propensity') or with the rewards; or let the arguments of fit name"
    " columns of X, as in cross_val_score(model, frame, params={'treatment': 'treatment',"
    " 'outcome': 'outcome'}), which score then reads by itself"
)


class Outcomes(NamedTuple):
    """The arguments of ``fit`` that say how rows were treated and what came of it."""

    treatment: Any = None
    outcome: Any = None
    propensity: Any = None
    predicted: Any = None
    rewards: Any = None

    @property
    def is_empty(self) -> bool:
        return all(each is None for each in self)

    def unpacked(self) -> Outcomes:
        """With the columns of a table that is given as treatment at their places."""
        if self.rewards is not None:
            if any(other is not None for other in self[:4]):
                raise ValueError(
                    "rewards stands for treatment, outcome, propensity and predicted: pass it alone"
                )
            return self
        if self.outcome is not None:
            return self
        roles = ("treatment", "outcome", "propensity")
        found = ingest.by_role(self.treatment, roles, roles[:2])
        if found is not None:
            if self.propensity is not None and "propensity" in found:
                raise ValueError(
                    "propensity is a column of the table with the treatments: leave it out"
                )
            return Outcomes(**{"propensity": self.propensity, **found, "predicted": self.predicted})
        if is_table(self.treatment):
            return Outcomes(rewards=self.treatment)
        return self


def remembered(given: Outcomes, sample_weight: Any) -> dict[str, Any]:
    """The arguments that a score can use again without being given them: columns of X by name,
    and models."""
    vectors = {"treatment": given.treatment, "outcome": given.outcome}
    tables = {"rewards": given.rewards}
    # A model that fit is given can score other rows as well.
    models = {}
    for role, value in (("propensity", given.propensity), ("predicted", given.predicted)):
        several = isinstance(value, (list, tuple)) and value and hasattr(value[0], "predict")
        if several or isinstance(value, Mapping) or hasattr(value, "predict_proba"):
            models[role] = value
        else:
            tables[role] = value
    named = columns_named({**vectors, "sample_weight": sample_weight}, tables) | models
    both = {"propensity": given.propensity, "predicted": given.predicted}
    lost = [role for role, value in both.items() if value is not None and role not in named]
    return {**named, "by_value": tuple(lost)}


def is_table(given: Any) -> bool:
    """True if this has several columns."""
    names = ingest.table_names(given)
    if names is not None:
        return len(names) > 1
    return len(getattr(given, "shape", ())) == 2 and given.shape[1] > 1


@dataclass(frozen=True)
class Scored:
    """The score of each row and label that a tree is fitted to, and where it came from."""

    X: Any
    sample_weight: Any
    values: Matrix
    labels: NDArray[Any]
    #: The name of the scores in errors.
    role: str
    #: Columns of X that are no features.
    others: tuple[str, ...]


class OptimalPolicyTree(RowTreeEstimator):
    """A decision tree that gives each row a treatment, with the best estimated mean outcome of all
    such trees.

    From rows that were each given one treatment and had one outcome, a teacher computes a score for
    each row and treatment, whose mean estimates how a policy would do. The tree's objective is
    minus its mean score plus ``leaf_penalty`` for each leaf. After a fit, ``certificate_`` says
    what was proved about it. The proof is about the scores: how near these are to the truth depends
    on the teacher's models.

    Parameters
    ----------
    teacher : {"dr", "dm", "ipw"}, default="dr"
        How rows are scored. "dm", the direct method: the outcome predicted for each treatment.
        "ipw": the outcome over the propensity for the treatment that was given, else 0. "dr",
        doubly robust: the prediction, corrected by its error over the propensity where the
        treatment was given.
    maximize : bool, default=True
        Whether a larger outcome is better.
    propensity_model : classifier or None, default=None
        Estimates the probability of each treatment where ``fit`` is given no ``propensity``: an
        unfitted scikit-learn classifier. None: logistic regression on standardized features.
    outcome_model : regressor or None, default=None
        Predicts the outcome where ``fit`` is given no ``predicted``: an unfitted scikit-learn
        regressor, fitted to the rows of each treatment on their own. None: a random forest with at
        least 5 rows in a leaf.
    n_folds : int, default=5
        These models are cross-fitted: each row is scored by models fitted to the other folds.
    clip : float, default=0.01
        Propensities that models estimate are raised to this where they are below. Those that are
        given as numbers are never changed.
    random_state : int, RandomState or None, default=0
        Draws the folds, and seeds models that have no seed of their own, also an unfitted
        ``reference``: two equal fits give the same tree. None: a new draw for each fit.
    leaf_penalty : float, default=0.01
        What each leaf adds to the objective, in the unit of the outcome: a split has to improve the
        mean score by more than this.
    max_depth, max_leaf_nodes, min_samples_leaf, path_rules, thresholds, missing, missing_unseen,
    orders, categories, max_categories, unseen, reference
        As for :class:`certree.OptimalCostTree`; the labels of a reference are treatments.
    feature_costs : dict or None, default=None
        What a row pays to be asked for a column, as for :class:`certree.OptimalCostTree`, in the
        unit of the outcome: what rows pay on average is taken off the mean score (added to it,
        where smaller outcomes are better).
    constraints : tuple, default=()
        What the tree has to keep to on the training rows: any of ``Capacity`` (at most this share
        of the row weight is given a treatment), ``SumLimit`` (what the treatments of all rows cost
        together, say) and ``DemographicParity`` (groups are given a treatment, or each one, about
        equally often).
    time_limit, memory_limit, gap_limit, n_jobs, verbose, callback
        As for :class:`certree.OptimalTreeClassifier`. Time that models take is not counted.

    Attributes
    ----------
    tree_ : certree.tree.Tree
        The tree, to read and to export. The ``value`` of a node is the mean score of each treatment
        there.
    certificate_ : certree.Certificate
        What was proved. ``objective_``, ``lower_bound_``, ``gap_`` and ``status_`` are taken from
        it.
    labels_ : ndarray of shape (n_treatments,)
        The treatments in order; the columns of ``rewards``, if these were given.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        The names of the feature columns, if X came with names.
    feature_importances_ : ndarray of shape (n_features_in_,)
    guesser_ : ThresholdGuesser
        Where the cuts were guessed in this fit.

    Notes
    -----
    X may be any table that :class:`certree.OptimalTreeClassifier` takes; a LazyFrame is read into
    memory.

    The value of the tree on the rows that it was fitted to is too good to be true, as any maximum
    of estimates is: use :meth:`policy_value` on others. Row weights count in the objective, and not
    in the fits of models.

    ``score`` is the mean score of the tree's treatments; where smaller outcomes are better, minus
    that. It is what was optimised, so parameters can be chosen by it, and
    ``certree.scorers.objective`` is the same, but for what rows pay for columns, which that counts.
    ``cross_val_score`` and ``GridSearchCV`` pass X and y
    alone to a score: give y as a table (see ``fit``), or let the arguments of ``fit`` name columns
    of X: ``cross_val_score(model, frame, params={"treatment": "given", "outcome": "came"})``.

    Examples
    --------
    >>> import polars as pl
    >>> from certree import OptimalPolicyTree
    >>> X = pl.DataFrame({"age": [20, 25, 30, 35, 60, 65, 70, 75]})
    >>> treatment = ["drug", "none"] * 4
    >>> outcome = [1.0, 5.0, 1.0, 4.0, 9.0, 2.0, 8.0, 3.0]
    >>> model = OptimalPolicyTree("ipw", max_depth=1)
    >>> model = model.fit(X, treatment, outcome, propensity=[0.5] * 8)
    >>> model.predict(pl.DataFrame({"age": [22, 66]}))
    array(['none', 'drug'], dtype='<U4')
    >>> value, standard_error = model.policy_value(X, treatment, outcome, propensity=[0.5] * 8)
    >>> value, round(standard_error, 3)
    (6.5, 2.693)
    >>> model.predict_rewards(pl.DataFrame({"age": [66]}))
    array([[8.5, 2.5]])
    """

    _rules = {
        "teacher": parameters.one_of(*teachers.NAMES),
        "maximize": Rule(lambda value: isinstance(value, (bool, np.bool_)), "True or False"),
        "propensity_model": parameters.or_none(
            Rule(_is_model(is_classifier), "a scikit-learn classifier, not yet fitted")
        ),
        "outcome_model": parameters.or_none(
            Rule(_is_model(is_regressor), "a scikit-learn regressor, not yet fitted")
        ),
        "n_folds": parameters.integer(2),
        "random_state": parameters.RANDOM_STATE,
        "clip": Rule(lambda value: is_number(value) and 0 < value <= 1, "above 0 and at most 1"),
        "feature_costs": parameters.FEATURE_COSTS,
        "constraints": _constrained_rows.OF_REWARDS,
        **parameters.COMMON,
        "thresholds": parameters.GUESSES,
        "reference": _reference.RULE,
    }

    def __init__(
        self,
        teacher: str = "dr",
        *,
        maximize: bool = True,
        propensity_model: Any = None,
        outcome_model: Any = None,
        n_folds: int = 5,
        clip: float = 0.01,
        random_state: Any = 0,
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
        time_limit: float | None = 60.0,
        memory_limit: float | None = None,
        gap_limit: float = 0.0,
        n_jobs: int | None = 1,
        verbose: bool | int = False,
        callback: progress.Callback | None = None,
    ) -> None:
        self.teacher = teacher
        self.maximize = maximize
        self.propensity_model = propensity_model
        self.outcome_model = outcome_model
        self.n_folds = n_folds
        self.clip = clip
        self.random_state = random_state
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
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.gap_limit = gap_limit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(
        self,
        X: Any,
        treatment: Any = None,
        outcome: Any = None,
        propensity: Any = None,
        predicted: Any = None,
        *,
        rewards: Any = None,
        sample_weight: Any = None,
        start: Any = None,
    ) -> OptimalPolicyTree:
        """Search for the best tree.

        Whatever is one value for each row may also be the name of its column in X, and a table a
        list of such names; these columns are then not features.

        Parameters
        ----------
        X : frame, array or list of rows
            The features.
        treatment : vector or table
            The treatment of each row. Or a table that stands for the other arguments, so that
            scikit-learn's tools can split and pass it as y: a frame or structured array with the
            columns "treatment", "outcome" and, if they are known, "propensity"; or what
            ``rewards`` is.
        outcome : vector of numbers
            The outcome of each row.
        propensity : vector, table, fitted classifier or None, default=None
            The probability, above 0 and at most 1, with which each row was given its treatment; or
            that of every treatment, with a column for each; or a classifier to predict them from
            the features. None: cross-fitted. Not used by "dm".
        predicted : table, dict or list of fitted regressors, or None, default=None
            The outcome predicted for every treatment, with a column for each: matched by name if
            the names are those of the treatments, else in their order. Or a regressor for each.
            None: cross-fitted. Not used by "ipw".
        rewards : table or None, default=None
            Instead of all these: what each label brings each row. Then there is no teacher, and a
            larger reward is better if ``maximize`` is true.
        sample_weight : vector or None, default=None
            Row weights, not negative.
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
        combinations.check(self, "RowCosts", "rewards")
        given = Outcomes(treatment, outcome, propensity, predicted, rewards)
        named = remembered(given, sample_weight)
        return self._solve(self._scored(X, given, sample_weight), started, named, start)

    def certify(  # type: ignore[override]
        self,
        X: Any = None,
        treatment: Any = None,
        outcome: Any = None,
        propensity: Any = None,
        predicted: Any = None,
        *,
        rewards: Any = None,
        sample_weight: Any = None,
    ) -> OptimalPolicyTree:
        """Search on until the tree is proved to be the best, as
        :meth:`OptimalTreeClassifier.certify` does.

        The arguments are those of ``fit``, for a model that was pickled or copied; scores are then
        made again, and have to be those of the fit. Without them, the scores of the fit hold.
        """
        if X is None:
            return self._go_on(None)
        check_is_fitted(self)
        self._fitted.check_parameters(self)
        given = Outcomes(treatment, outcome, propensity, predicted, rewards)
        return self._go_on(self._scored(X, given, sample_weight))

    def _data_again(self, *given: Any, **named: Any) -> Any:
        X, *outcomes, rewards, sample_weight = super()._data_again(*given, **named)
        return self._scored(X, Outcomes(*outcomes, rewards), sample_weight)

    def _scored(self, X: Any, given: Outcomes, sample_weight: Any) -> Scored:
        """The score of each row and treatment, by the teacher or as given."""
        treatment, outcome, propensity, predicted, rewards = given.unpacked()
        X = ingest.with_orders(X, self.orders)
        if rewards is not None:
            read = ingest.read_matrix(X, rewards, "rewards", "label")
            return Scored(X, sample_weight, read.values, read.labels, "rewards", tuple(read.named))
        seen = read_seen(X, treatment, outcome)
        if len(seen.treatments) < 2:
            raise ValueError(
                f"every row was given the treatment {seen.names[0]!r}: there is nothing to choose "
                "from"
            )
        others = names_in((treatment, outcome, propensity), (propensity, predicted))
        training = open_rows(X, seen.n_rows, "treatment", sample_weight, others)
        self._hidden(X, [*others, sample_weight])
        # Models see all columns, also those that the tree does not split on.
        scores = self._scores(X, seen, propensity, predicted, training)
        return Scored(X, sample_weight, scores, seen.treatments, "treatment", tuple(others))

    def _pose(self, data: Any, known: Any = None) -> Posed:
        name = "reward" if data.role == "rewards" else teachers.NAMES[self.teacher]
        words, sign = self._loss_of(name)
        left, hidden = self._hidden(data.X, [*data.others, data.sample_weight])
        others = [*data.others, *hidden]
        training = open_rows(left, len(data.values), data.role, data.sample_weight, others)
        column_costs = feature_costs.read(self.feature_costs, training.columns)
        rows = Rows(
            data.X,
            training,
            data.values,
            data.labels,
            sign,
            "rewards",
            _feature_costs.in_words(words, column_costs),
            column_costs,
            attributes={"_feature_costs": column_costs},
        )
        return self._pose_rows(rows, known)

    def _loss_of(self, name: str) -> tuple[str, float]:
        """The loss in words, and its sign."""
        return (f"minus the mean {name}", -1.0) if self.maximize else (f"mean {name}", 1.0)

    def _pose_sums(self, merged: ingest.Merged, known: Any) -> Posed:
        """The problem of rewards of rows that lie in partitions."""
        words, sign = self._loss_of("reward")
        column_costs = feature_costs.read(self.feature_costs, merged.columns)
        loss = _feature_costs.in_words(words, column_costs)
        attributes = {"_feature_costs": column_costs}
        rows = MergedRows(merged, sign, "rewards", loss, column_costs, REFUSED, attributes)
        return self._pose_merged_rows(rows, known)

    def predict_rewards(self, X: Any) -> NDArray[np.float64]:
        """The mean score of each treatment over the training rows of the leaf that a row ends in:
        an array of rows × treatments, in the order of ``labels_``."""
        return self._fitted_tree(X).predict_value(X)

    def policy_value(
        self,
        X: Any,
        treatment: Any = None,
        outcome: Any = None,
        propensity: Any = None,
        predicted: Any = None,
        *,
        rewards: Any = None,
        sample_weight: Any = None,
    ) -> PolicyValue:
        """What the mean outcome would be if every row were treated as the tree says: the mean score
        of these treatments, with its standard error.

        The arguments are those of ``fit``, for these rows; models that are not given are
        cross-fitted on them. Without any, the columns of X are read that ``fit`` was given by name.
        The standard error is that of a mean over independent rows: it knows nothing of errors of
        the models that all rows share.
        """
        given = Outcomes(treatment, outcome, propensity, predicted, rewards)
        scores = self._row_scores(X, given, sample_weight)
        chosen = self.predict(X)
        got = of_chosen(scores, self.labels_, chosen)
        return PolicyValue(*mean_and_error(got, row_weights(sample_weight, X, len(chosen))))

    def policy_scores(
        self,
        X: Any,
        treatment: Any = None,
        outcome: Any = None,
        propensity: Any = None,
        predicted: Any = None,
    ) -> NDArray[np.float64]:
        """What each treatment is estimated to bring each row, rows × treatments in the order of
        ``labels_``: the scores that :meth:`policy_value` takes the mean of."""
        given = Outcomes(treatment, outcome, propensity, predicted)
        return np.asarray(self._row_scores(X, given, None), dtype=np.float64)

    def _row_scores(self, X: Any, given: Outcomes, sample_weight: Any) -> NDArray[np.float64]:
        """By row and treatment, in the order of ``labels_``."""
        parameters.check(self, self._rules)
        if given.is_empty:
            given = self._of_columns()
        treatment, outcome, propensity, predicted, rewards = given.unpacked()
        n_rows = len(self.apply(X))
        if rewards is not None:
            read = ingest.read_matrix(X, rewards, "rewards", "label")
            scores, labels = read.values, read.labels
        else:
            seen = read_seen(X, treatment, outcome, self.labels_)
            others = names_in((treatment, outcome, propensity), (propensity, predicted))
            if sample_weight is None:
                # The weights of the fit are no feature of models, even if they are not counted.
                others += names_in([self._recalled(sample_weight=None)["sample_weight"]], [])
            training = open_rows(X, seen.n_rows, "treatment", sample_weight, others)
            scores = self._scores(X, seen, propensity, predicted, training)
            labels = seen.treatments
        check_same_length(n_rows, len(scores), "treatment" if rewards is None else "rewards")
        known = set(labels.tolist())
        unknown = [label for label in self.labels_.tolist() if label not in known]
        if unknown:
            raise ValueError(
                f"rewards has no column for {shown(unknown)}, which the tree may choose"
            )
        places = [labels.tolist().index(label) for label in self.labels_.tolist()]
        ordered: NDArray[np.float64] = np.asarray(scores)[:, places]
        return ordered

    def _of_columns(self) -> Outcomes:
        """The columns of X that ``fit`` was given by name, and its models."""
        found = Outcomes(**self._recalled(**Outcomes()._asdict()))
        if found.is_empty:
            raise ValueError(UNSEEN)
        by_value = self._recalled(by_value=None)["by_value"]
        if by_value:
            raise ValueError(
                f"fit was given {' and '.join(by_value)} by value, which cannot be read for other "
                "rows: let it name "
                "columns of X, or pass the values of these rows to the score"
            )
        return found

    def score(
        self,
        X: Any,
        treatment: Any = None,
        outcome: Any = None,
        propensity: Any = None,
        predicted: Any = None,
        *,
        rewards: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """The value of :meth:`policy_value`; minus that, where smaller outcomes are better."""
        given = {"rewards": rewards, "sample_weight": sample_weight}
        found = self.policy_value(X, treatment, outcome, propensity, predicted, **given)
        return found.value if self.maximize else -found.value

    def _held_out_loss(self, X: Any, *data: Any, **more: Any) -> float:
        paid = self.feature_costs_paid(X)
        weights = row_weights(more.get("sample_weight"), X, len(paid))
        return float(np.average(paid, weights=weights)) - self.score(X, *data, **more)

    def _scores(
        self, X: Any, seen: Seen, propensity: Any, predicted: Any, training: ingest.InMemory
    ) -> Matrix:
        """The teacher's scores, by row and treatment."""
        crossfit = Crossfit(
            self.n_folds,
            self.propensity_model,
            self.outcome_model,
            seeds.fixed(self.random_state),
        )
        needs_propensity, needs_predicted = self.teacher != "dm", self.teacher != "ipw"
        has_models = hasattr(propensity, "predict_proba") or not (
            predicted is None or hasattr(predicted, "shape")
        )
        features = features_as_given(X, training) if has_models else None
        design = None
        if (needs_propensity and propensity is None) or (needs_predicted and predicted is None):
            design = ingest.design_matrix(training)
        chance = guess = None
        if needs_propensity and propensity is None:
            chance = teachers.clipped(crossfit.propensities(design, seen), seen, self.clip)
        elif needs_propensity:
            chance = teachers.read_propensity(X, propensity, seen, features, self.clip)
        if needs_predicted and predicted is None:
            guess = crossfit.predictions(design, seen)
        elif needs_predicted:
            guess = teachers.read_predicted(X, predicted, seen, features)
        return teachers.scores(self.teacher, seen, chance, guess)


def read_seen(
    X: Any, treatment: Any, outcome: Any, known: NDArray[Any] | None = None
) -> Seen:
    """Treatments and outcomes. ``known``: the treatments there may be, in order."""
    if treatment is None:
        raise ValueError(
            "This estimator requires y to be passed: treatment and outcome of each row, or rewards="
        )
    if outcome is None:
        raise ValueError(UNSEEN)
    series = ingest.read_column(X, treatment, "treatment")
    found = ingest.read_vector(X, outcome, "outcome")
    check_same_length(len(series), len(found), "outcome")
    labels, given = target.classes_of(series, "treatment", treatment)
    if known is None:
        return Seen(labels, given, found)
    places = {label: place for place, label in enumerate(known.tolist())}
    unknown = [label for label in labels.tolist() if label not in places]
    if unknown:
        raise ValueError(
            f"treatment holds {shown(unknown)}, but the tree was fitted with "
            f"{shown(known.tolist())}"
        )
    numbers = np.array([places[label] for label in labels.tolist()], dtype=np.uint32)
    return Seen(known, numbers[given], found)


def names_in(columns: Iterable[Any], tables: Iterable[Any]) -> list[str]:
    """The columns of X that arguments name: one as a string, several as a list of strings."""
    names = [value for value in columns if isinstance(value, str)]
    for value in tables:
        if isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value):
            names += value
    return names
