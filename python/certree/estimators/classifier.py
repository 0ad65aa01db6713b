"""Classification trees that are provably the best there are."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import inf
from time import monotonic
from typing import Any

from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from certree import _core, combinations, ingest, progress
from certree.estimators import (
    _balanced,
    _constrained,
    _feature_costs,
    _held_out,
    _impurity,
    _matrix,
    _metrics,
    _ranking,
    _reference,
    _searched,
    _targets,
    parameters,
)
from certree.estimators._base import room_for_goal
from certree.estimators._certified import n_splits
from certree.estimators._posed import Posed
from certree.estimators._class_costs import class_factors, cost_list
from certree.estimators._rows import row_weights
from certree.estimators.parameters import Rule
from certree.feature_costs import differ_by_row
from certree.fitted import columns_named
from certree.generalization import REFUSED
from certree.options import Categories, ClassifierObjective, GuessedThresholds, Missing
from certree.schema import MissingUnseen, Unseen
from certree.tree import Tree

LOSSES = {
    "accuracy": "error rate",
    "balanced_accuracy": "mean error rate of the classes",
    _matrix.MICRO: "1 minus the F1 of all classes together, which is the error rate",
    **_ranking.LOSSES,
    **_impurity.LOSSES,
}


class OptimalTreeClassifier(ClassifierMixin, _feature_costs.FeatureCostEstimator):
    """A decision tree with the lowest objective of all trees within its limits.

    The objective is the loss on the training rows plus ``leaf_penalty`` for each leaf. After a fit,
    ``certificate_`` says what was proved.

    Parameters
    ----------
    objective : str or callable, default="accuracy"
        The loss. "accuracy" is the share of row weight that is misclassified, "balanced_accuracy"
        the mean over the classes of that share. For any number of classes also 1 minus a metric:
        "f1_macro", the mean F1 of the classes, "f1_weighted", each by its weight, "f1_micro", which
        is the accuracy, and "mcc", Matthews' correlation coefficient, which is 0 for a tree that
        gives all rows one label. Or a function of your own of the confusion matrix (see the notes).
        For two classes also 1 minus a metric: "f1", "fbeta" or "jaccard" (all of
        ``positive_label``), "auc", the area under the ROC curve of rows ranked by
        ``predict_proba``, or "partial_auc", its part up to ``max_fpr``. Or how good the class
        shares of the leaves are, for any number of classes: "gini", the mean of their squared error
        (the Gini impurity), "log_loss", the mean of their log loss (the entropy), or "mdl", the
        bits per row that it takes to describe the tree and then the classes: a leaf takes 1 bit and
        (K − 1) / 2 · log2(n) for the shares of K classes among n rows (by weight), a split 1 bit
        and log2 of the number of cuts, so that there is nothing to choose; the search takes what a
        leaf adds from there instead of ``leaf_penalty``.
    leaf_penalty : float, default=0.01
        What each leaf adds to the objective: a split has to reduce the loss by more than this.
    max_depth : int or None, default=4
        The deepest a leaf may be; a single leaf has depth 0. None: no limit.
    max_leaf_nodes : int or None, default=None
        The most leaves.
    min_samples_leaf : int, default=1
        The fewest rows that each leaf of a split holds. Rows count once, whatever they weigh; rows
        that weigh nothing do not count.
    path_rules : list or tuple, default=()
        What the columns of every path from the root to a leaf keep to, all at once: any of
        :class:`certree.MostColumns`, :class:`certree.After`, :class:`certree.Apart` (interaction
        constraints) and :class:`certree.FirstColumn`, with any objective. The tree is the best of
        all that do.
    class_weight : dict, "balanced" or None, default=None
        A factor for each class's row weight; classes left out have 1. "balanced" makes the classes
        weigh the same in total.
    cost_matrix : array of shape (n_classes, n_classes) or None, default=None
        ``cost_matrix[true][predicted]`` in the order of ``classes_``: what a row of a class costs
        when it is given a label. The loss is then the mean cost.
    feature_costs : dict or None, default=None
        What a row pays to be asked for a column: a dict of column names to costs, in the unit of
        ``cost_matrix`` (else an error costs 1). Columns left out are free. A row pays for a column
        once, wherever in the tree it is first asked. A tuple of names stands for columns that one
        test measures (a category as several columns, say); a :class:`certree.FeatureCost` for tests
        that are cheaper after another one of their group. A cost is a number; or it differs by row:
        the name of a column of X with the price of each row, which is then no feature; a number for
        each row; or a dict of the column's values to prices, where None is the price of missing
        values. What rows pay on average is added to the loss; ``feature_costs_paid`` says it for
        each row.
    max_fpr : float or None, default=None
        For ``objective="partial_auc"``: the largest false positive rate that counts, above 0 and at
        most 1. The area below it is divided by it, so that a perfect ranking has 1.
    constraints : tuple, default=()
        What the tree has to keep to on the training rows: any of ``DemographicParity``,
        ``EqualOpportunity``, ``EqualRates``, ``Capacity``, ``FalsePositiveRate`` and ``SumLimit``,
        with any objective but "auc" and "partial_auc". The labels of its leaves are chosen so that
        it does, at the lowest loss; the tree is the best of all that do.
    beta : float, default=1.0
        For "fbeta": how much recall counts beside precision.
    positive_label : label or None, default=None
        The class that "f1", "fbeta" and "jaccard" are about; None: the last of ``classes_``, which
        is 1 of 0 and 1, True of False and True, and of strings the last in the alphabet.
    classes : vector of labels or None, default=None
        All labels there are, if the rows of a fit may lack some, as folds of cross-validation do:
        ``classes_``, ``predict_proba`` and ``cost_matrix`` then have a place for each of them. Of
        several targets a list with such a vector for each. Objectives of two classes need rows of
        both. None: the labels in y.
    thresholds : "all", "midpoints", "guess", int, dict or fitted object, default="all"
        Where columns of numbers and dates may be split: between all neighbouring values, at so many
        quantiles, or as a dict says for some columns by name (the others keep all cuts): a list of
        thresholds, an int, "all" or "midpoints". Of the thresholds that lie between two values, the
        one with the fewest digits is taken (of dates, at the coarsest unit), and of several the one
        nearest to the midpoint; "midpoints" are exact midpoints. Given thresholds that separate no
        rows, or the same rows as a lower one, are left out. The list of a category holds the values
        that may be asked for; an empty list leaves a column out, and ``[True]`` keeps a Boolean.
        "guess" takes the cuts that gradient boosting finds useful, of all kinds of columns: much
        faster, but the proof then speaks of these cuts only. A ThresholdGuesser does so with a
        reference model of your own, and the cuts of a fitted ThresholdBinarizer are kept.
    missing : {"route", "own_branch", "refuse"}, default="route"
        What missing values of features are: nulls, and NaN of floats. "route": values that each
        split sends left or right, whichever is better, and that it may ask for ("age is missing").
        All of that is a part of the search and of its proof. "own_branch": a column with missing
        values is asked only below a split that asked whether they are missing. "refuse": an error
        that names the columns, here and in prediction.
    missing_unseen : {"larger", "refuse"}, default="larger"
        Where a missing value goes in prediction that a split asks for, if its column had none in
        training: the way of the larger child, or nowhere, which is an error.
    orders : dict or None, default=None
        The values of text columns in their order, by column: {"grade": ["I", "II", "III"]}. Such a
        column, and one of the type Enum (in pandas an ordered categorical), is split between
        neighbouring values ("grade <= II").
    categories : {"subsets", "values"} or dict, default="subsets"
        What is asked of the other text columns. "subsets": any set of a column's values ("site in
        {a, c}"), as long as all columns together have no more questions than the depth allows;
        those with the most values are asked for single values otherwise, and a note of the
        certificate says so. "values": single values. A dict says so by column, and "subsets" there
        allows as many questions as there are.
    max_categories : int or None, default=None
        Of a column with more values, the rarest ones count as one. The certificate names them.
    unseen : {"warn", "refuse"}, default="warn"
        What prediction does with a value of a category or a declared order that was not there in
        training, if a split asks for its column: it warns, or refuses it. With a warning, it is
        another value than a single one that is asked for, and goes where missing values go where
        sets or levels are asked for.
    reference : "guess", classifier, vector of labels or None, default=None
        Guess lower bounds: search as if no tree were better than this classifier on any group of
        rows that the cuts cannot tell apart. Much faster where the classifier is good, and whatever
        it is, ``certificate_.guarantee`` says by how much any tree can be better. A fitted
        classifier must know the columns and classes; one that is not is fitted to the ranks of the
        values. A vector holds its labels for the training rows. "guess" is gradient boosting; with
        ``thresholds="guess"`` the one that the cuts are from. ``certify()`` goes on without the
        guess. Only for "accuracy" and "balanced_accuracy", and without constraints.
    random_state : int, RandomState or None, default=0
        Seeds a reference that is fitted here and has no seed of its own, so that two equal fits
        give the same tree. None: a new draw for each fit.
    time_limit : float or None, default=60.0
        Seconds that ``fit`` may take, with reading, grouping and guessing. Where it ends a fit
        before the proof, the best tree so far is kept with its gap, and a ``ConvergenceWarning``
        says so; so it is with Ctrl-C. If it ends while the table is read, that is the best single
        leaf. A LazyFrame, which polars reads, and a reference of one's own, are not cut short.
    memory_limit : float or None, default=None
        Bytes by which the memory of the process may grow during ``fit``, with ranks, groups of rows
        and goals; what libraries load at their first use is not counted. What needs more to begin
        with is refused by an error that says what takes how much; a search that comes to it ends
        there. None allows a search nine tenths of what the machine has free.
    gap_limit : float, default=0.0
        Stop once the objective is proved to be within this of the best.
    n_jobs : int or None, default=1
        Threads of the search; -1 for all cores. The objective does not depend on it.
    verbose : bool or int, default=False
        Write the progress of the search to stderr. 2 also writes which bounds decided, as a table
        at the end.
    callback : callable or None, default=None
        Called now and then with a :class:`certree.Progress`; may return False to stop the search.

    Attributes
    ----------
    tree_ : certree.tree.Tree
        The tree, to read and to export.
    certificate_ : certree.Certificate
        What was proved. ``objective_``, ``lower_bound_``, ``gap_`` and ``status_`` are taken from
        it.
    classes_ : ndarray of shape (n_classes,)
        The labels, in order; of several targets a list of such arrays.
    n_classes_ : int
        The number of labels; of several targets a list of such numbers.
    n_outputs_, n_features_in_ : int
    feature_names_in_ : ndarray of str
        The names of the feature columns, if X came with names.
    feature_importances_ : ndarray of shape (n_features_in_,)
    guesser_ : ThresholdGuesser
        Where the cuts were guessed in this fit.

    Notes
    -----
    X may be a polars DataFrame or LazyFrame, a pandas DataFrame, an Arrow table, a numpy array or a
    list of rows. At prediction, frames are matched by column name, in any order, and other columns
    are ignored. A category that was not seen in training is "not" any of the known ones.

    Where y has several columns, one tree answers all of them, and its loss is the mean of their
    error rates. ``predict`` then gives rows × targets, ``predict_proba`` a list with the shares of
    each target, and ``score`` is the share of rows whose targets are all right, as scikit-learn has
    it.

    ``score`` is the accuracy, whatever the objective is, as scikit-learn has it. To choose
    parameters by the objective (costs, costs of columns, balanced accuracy, metrics, areas, class
    shares), give ``GridSearchCV`` and ``cross_val_score`` the argument
    ``scoring=certree.scorers.objective``; the accuracy alone would choose another tree. On the
    training rows ``1 - (objective_ - leaf_penalty * get_n_leaves())`` is the metric.

    A function as ``objective`` is given the confusion matrix of a tree on the training rows: an
    array of weights, times class weights, with a row for each class and a column for each label, in
    the order of ``classes_``. It returns a finite number, of which less is better, and which must
    not rise where weight moves from a wrong label to the right one of its class; that is tried on a
    hundred matrices before the search, and an error shows two that break it. Nothing else is known
    of it, so that it suits few cuts, two or three classes and trees of depth two or three: at most
    six classes are searched.

    Metrics count weights exactly where they are short decimals. Others are rounded first, and what
    that can do is made up for by a second search in the weights as they are; "mcc", metrics under
    constraints, "f1_macro", "f1_weighted" and functions of your own refuse them.

    A fitted binarizer among the parameters is cloned unfitted by cross-validation and searches over
    parameters; there, give its ``thresholds_``.

    Rows whose ``sample_weight`` is zero are left out: their values make no cuts.

    Examples
    --------
    >>> import polars as pl
    >>> from certree import OptimalTreeClassifier
    >>> sexes = ["m", "f", "f", "f", "m", "m"]
    >>> frame = pl.DataFrame({"age": [22, 38, 26, 35, 54, 2], "sex": sexes})
    >>> ill = ["no", "yes", "yes", "yes", "no", "no"]
    >>> model = OptimalTreeClassifier(max_depth=2).fit(frame, ill)
    >>> model.predict(pl.DataFrame({"age": [30, 30], "sex": ["f", "m"]}))
    array(['yes', 'no'], dtype='<U3')
    >>> model.objective_, model.status_
    (0.02, 'optimal')
    """

    _has_proofs = True
    _rules = {
        "objective": _matrix.rule(*LOSSES, *_metrics.NAMES, *_matrix.NAMES),
        **parameters.COMMON,
        "thresholds": parameters.GUESSES,
        "reference": _reference.RULE,
        "random_state": parameters.RANDOM_STATE,
        "max_fpr": parameters.or_none(_ranking.RULE),
        "constraints": _constrained.RULE,
        "feature_costs": parameters.FEATURE_COSTS,
        "beta": parameters.positive("weight"),
        "classes": Rule(
            lambda value: value is None
            or (hasattr(value, "__len__") and not isinstance(value, (str, bytes, Mapping))),
            "a vector of all labels, or None",
        ),
        "positive_label": parameters.or_none(
            Rule(lambda value: isinstance(value, Hashable), "a label")
        ),
        "class_weight": Rule(
            lambda value: (
                value is None
                or (isinstance(value, str) and value == "balanced")
                or isinstance(value, Mapping)
            ),
            "a dict of labels to weights, 'balanced', or None",
        ),
    }

    def __init__(
        self,
        objective: ClassifierObjective | Callable[[NDArray[Any]], float] = "accuracy",
        *,
        leaf_penalty: float = 0.01,
        max_depth: int | None = 4,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        path_rules: Any = (),
        class_weight: Any = None,
        cost_matrix: Any = None,
        feature_costs: Any = None,
        max_fpr: float | None = None,
        constraints: Any = (),
        beta: float = 1.0,
        positive_label: Any = None,
        classes: Any = None,
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
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.feature_costs = feature_costs
        self.max_fpr = max_fpr
        self.constraints = constraints
        self.beta = beta
        self.positive_label = positive_label
        self.classes = classes
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
        self, X: Any, y: Any, sample_weight: Any = None, *, start: Any = None
    ) -> OptimalTreeClassifier:
        """Search for the best tree.

        Parameters
        ----------
        X : frame, array or list of rows
            The features.
        y : vector, frame or array of shape (n_rows, n_targets), str, or list of str
            The labels, or the name of their column in X (which is then not a feature). Of several
            targets a column for each, or a list of the names of their columns in X.
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
        _ranking.check(self)
        _impurity.check(self)
        _matrix.check(self)
        combinations.check(self, self._goal(), _matrix.named(self))
        return self._solve((X, y, sample_weight), started, columns_named({"y": y}, {}), start)

    def _goal(self) -> str:
        """The name of the core's goal."""
        if callable(self.objective) or self.objective in _matrix.NAMES:
            return "Matrix"
        if self.objective in _metrics.NAMES:
            return "Metric"
        if self.objective in _impurity.LOSSES:
            return "Additive"
        return "RankingArea" if self.objective in _ranking.LOSSES else "Classes"

    def _pose(self, data: Any, known: Any = None) -> Posed:
        targets = _targets.read(data[0], data[1])
        if targets is not None:
            _targets.check(self)
            return _targets.pose(self, data, targets.with_classes(self.classes), known)
        pose = self._pose_constrained if self.constraints else self._pose_free
        return pose(data, known)

    def _pose_free(self, data: Any, known: Any) -> Posed:
        X, y, sample_weight = data
        guesses = self.reference is not None and known is None
        by_row = differ_by_row(self.feature_costs)
        read = ingest.read_labelled if guesses or by_row else ingest.read_training
        training = read(X, y, sample_weight)
        thresholds = known
        if thresholds is None:
            weight = self._guess_weight(training.labels)
            thresholds = self._guess(X, y, sample_weight, weight)
        training = ingest.with_classes(training, self.classes)
        categories = self._categories()
        if by_row:
            # Prices are summed over the rows of each point.
            assert isinstance(training, ingest.InMemory)
            located = _constrained.located_by_class(training, thresholds, categories)
        else:
            located = _constrained.without_rows(
                *ingest.cut_and_group(training, thresholds, categories)
            )
        cuts, points = located.cuts, located.points
        labels = training.labels
        found, show, penalty = _reference.References(), None, None
        factors: list[float] = []
        least_loss = 0.0
        losses = REFUSED
        loss = self._loss_in_words(labels)
        room_for_goal(points.weights.size, 6 if self.objective in _metrics.NAMES else 3)
        goal: Any
        if self.objective in _impurity.LOSSES:
            factors = class_factors(self.class_weight, labels)
            weights, n_cuts = points.weights.ravel(), sum(
                n_splits(each, self.missing) for each in cuts
            )
            goal = _impurity.goal(self, weights, factors, n_cuts)
            penalty, words = _impurity.description(self, weights, len(labels), n_cuts)
            loss = words + (" class weights applied" if self.class_weight else "")
            balanced = self._is_balanced()
            # The bits of a description are told from those of one split.
            least_loss = -inf if self.objective == "mdl" else 0.0

            def show(tree: Tree) -> Tree:
                return _impurity.labelled(tree, factors, balanced)

        elif _matrix.is_matrix(self, len(labels)):
            factors = class_factors(self.class_weight, labels)
            balanced = self._is_balanced()
            goal = _matrix.goal(self, labels, points.weights, factors, balanced)
            least_loss = -inf if callable(self.objective) else 0.0
        elif self.objective in _metrics.NAMES:
            factors = class_factors(self.class_weight, labels)
            balanced = self.class_weight == "balanced"
            goal = _metrics.goal(self, labels, points.weights, factors, balanced)
        elif self.objective in _ranking.LOSSES:
            goal = _ranking.goal(self, labels, points)
        else:
            costs = cost_list(self.cost_matrix, labels)
            least_loss = 0.0 if min(costs) >= 0 else -inf
            factors = class_factors(self.class_weight, labels)
            balanced, leaf_penalty = self._is_balanced(), float(self.leaf_penalty)
            goal = _core.Classes(points.weights.ravel(), costs, factors, balanced, leaf_penalty)
            if parameters.is_guesser(thresholds) and known is None and not self.feature_costs:
                guesses = True
            if isinstance(training, ingest.InMemory) and guesses and not points.cut_short:
                named = [name for name in (y, sample_weight) if isinstance(name, str)]
                features = ingest.without(X, named)
                found = _reference.in_time(
                    _reference.of_classes,
                    (self, features, training, thresholds, costs, factors, balanced),
                )
            weighted = balanced or bool(self.class_weight)
            losses = _searched.of_labels(training, costs, weighted, labels)
        column_costs, core_costs = self._costs_by_class(training, located, goal, factors)
        losses = losses if column_costs is None else _searched.COLUMN_COSTS
        problem = self._problem(
            cuts, points, goal, feature_costs=core_costs, regrets=found.regrets
        )
        posed = Posed(
            problem,
            training,
            cuts,
            points,
            labels,
            _feature_costs.in_words(loss, column_costs),
            thresholds,
            show=show,
            leaf_penalty=penalty,
            attributes=self._attributes(labels, column_costs),
            least_loss=least_loss,
            losses=losses,
        )
        return found.beside(posed)

    def _pose_constrained(self, data: Any, known: Any) -> Posed:
        X, y, sample_weight = data
        named = _constrained.named_columns(self.constraints, X)
        read = ingest.read_grouped(X, y, sample_weight, named.used, named.sensitive, self.classes)
        thresholds = known
        if thresholds is None:
            others = ingest.without(X, named.hidden)
            thresholds = self._guess(others, y, sample_weight, self._guess_weight(read.present))
        located, counted = _constrained.count(self, X, read, named, thresholds)
        cuts, points = located.cuts, located.points
        labels = read.labels
        factors = class_factors(self.class_weight, labels)
        if self._is_balanced():
            factors = _balanced.factors(factors, counted.weights, read.n_groups)
        costs = cost_list(self.cost_matrix, labels)
        room_for_goal(points.weights.size + counted.all_sums.size, 6)
        goal = _constrained.goal(self, read, counted, costs, factors)
        constraints, met = _constrained.core(self, read, counted)
        n_sums = counted.all_sums.shape[1]
        classes = _feature_costs.by_class(read.training, n_sums)
        column_costs, core_costs = self._column_costs(located, read.training.kept, classes)
        losses = REFUSED
        if self.objective in ("accuracy", "balanced_accuracy"):
            weighted = self._is_balanced() or bool(self.class_weight)
            losses = _searched.of_labels(read.training, costs, weighted, labels)
            losses = losses if column_costs is None else _searched.COLUMN_COSTS
        problem = self._problem(
            cuts, points, goal, constraints=constraints, feature_costs=core_costs
        )
        return Posed(
            problem,
            read.training,
            cuts,
            points,
            labels,
            _feature_costs.in_words(self._loss_in_words(labels), column_costs),
            thresholds,
            met=met,
            attributes=self._attributes(labels, column_costs),
            least_loss=0.0 if min(costs) >= 0 else -inf,
            losses=losses,
        )

    def _costs_by_class(
        self, training: ingest.Training, located: ingest.Located, goal: Any, factors: Any
    ) -> tuple[Any, Any]:
        """The prices of columns, for the model and for the core: those by row are summed by class,
        or over all classes with their factors where the goal has none."""
        if not isinstance(training, ingest.InMemory):
            return self._column_costs(located, None)
        classes = _feature_costs.by_class(training)
        of_classes = None
        if isinstance(goal, _core.Additive):
            totals = located.points.weights.sum(axis=0)
            of_classes = _impurity.applied(factors, totals, self._is_balanced())
        return self._column_costs(located, training.kept, classes, of_classes)

    def _attributes(self, labels: NDArray[Any], column_costs: Any) -> dict[str, Any]:
        return {
            "classes_": labels,
            "n_classes_": len(labels),
            "n_outputs_": 1,
            "_feature_costs": column_costs,
        }

    def _guess_weight(self, present: NDArray[Any]) -> Any:
        """The class weights of a reference that is fitted to rows with these labels."""
        if self._is_balanced():
            return "balanced"
        if self.classes is None or not isinstance(self.class_weight, Mapping):
            return self.class_weight
        labels = present.tolist()
        return {label: each for label, each in self.class_weight.items() if label in labels}

    def _is_balanced(self) -> bool:
        return self.objective == "balanced_accuracy" or self.class_weight == "balanced"

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row; of several targets rows × targets."""
        return self._fitted_tree(X).predict(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The accuracy; of several targets the share of rows whose targets are all right.

        ``y`` and ``sample_weight`` may be names of columns of X. Without ``y``, the column is read
        that ``fit`` was given by name.
        """
        y = self._recalled(y=y)["y"]
        weights = row_weights(sample_weight, X, len(self.apply(X)))
        if self.tree_.task == "targets":
            return _targets.subset_accuracy(self, X, y, weights)
        if isinstance(y, str):
            y = ingest.read_column(X, y, "y").to_numpy()
        return float(super().score(X, y, weights))

    def _held_out_loss(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        y = self._recalled(y=y)["y"]
        leaves = self.apply(X)
        return _held_out.loss(self, (X, y, row_weights(sample_weight, X, len(leaves))), leaves)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.objective == "accuracy"
        return tags

    def predict_proba(self, X: Any) -> Any:
        """The share of each class in the training row weight of the leaf a row ends in; of several
        targets a list with such an array for each.

        Class weights, costs and constraints move labels, not these shares, so with them the label
        need not be the class with the largest share.
        """
        return self._fitted_tree(X).predict_proba(X)

    def _loss_in_words(self, labels: NDArray[Any]) -> str:
        if _matrix.is_matrix(self, len(labels)):
            return _matrix.in_words(self)
        if self.objective in _metrics.NAMES:
            return _metrics.in_words(self, labels)
        if self.cost_matrix is not None:
            mean = "mean cost"
            return f"{mean} of the classes" if self.objective == "balanced_accuracy" else mean
        if self.objective == "partial_auc":
            most = float(self.max_fpr)
            return f"{LOSSES[self.objective]} up to a false positive rate of {most:g}"
        weighted = ", class weights applied" if self.class_weight else ""
        return LOSSES[str(self.objective)] + weighted
