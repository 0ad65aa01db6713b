"""Trees for a task of the user's own: any cost of a leaf that is a function of summed
statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from math import inf
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.answers import label_array
from certree import _core, combinations, ingest, progress
from certree.estimators import _feature_costs, parameters
from certree.estimators._base import room_for_goal
from certree.estimators._posed import Posed
from certree.estimators._pointers import address_of
from certree.estimators._rows import open_rows, row_weights
from certree.estimators.parameters import Rule
from certree.fitted import columns_named
from certree.ingest.checks import check_same_length
from certree.scalars import is_number, shown
from certree.schema import MissingUnseen, Task, Unseen
from certree.options import Categories, Missing, Thresholds
from certree.tree import Tree

_CONTRACT = "the task breaks its contract:"


class OptimalTree(_feature_costs.FeatureCostEstimator):
    """A decision tree with the lowest objective of all trees within its limits, for a task of your
    own.

    Each row has a few numbers, its *statistics*. A leaf is known by the sums of its rows'
    statistics: the task says what a leaf with these sums costs, and what it answers. The objective
    is the sum of the leaf costs, divided by the row weight, plus ``leaf_penalty`` for each leaf.
    After a fit, ``certificate_`` says what was proved.

    Parameters
    ----------
    task : object
        Has the methods below; see the guide to tasks of your own.

        - ``leaf_cost(sums)``: the costs of m leaves, an array of m numbers, from an array of their
          sums (m × statistics). Each leaf has at least one row. Or a compiled function, which is
          called without the GIL: a numba ``cfunc``, a ctypes function or a
          ``scipy.LowLevelCallable`` of the type ``void (const double *sums, int64_t n_leaves,
          int64_t width, double *costs)``, where statistic s of leaf k is ``sums[s * n_leaves +
          k]``.
        - ``answer(sums)``: what one leaf answers, from an array of its sums: a label (a string, a
          Boolean or an integer), a number, or a vector of numbers.
        - ``least(statistics)``, if there is one: for each row of an array of statistics the least
          that any tree pays for it. Costs may then be below zero, as those of likelihoods are.
        - ``row_costs(statistics, answers)``, if there is one: the cost of each row with the answer
          that the tree gives it, an array of n numbers from the statistics (n × statistics) and the
          answers of ``predict``. The search does not need it; ``certree.scorers.objective`` does,
          for rows that the tree was not fitted to.
        - ``rounding``, if there is one: by how much a cost may be wrong because it is computed in
          floats. Without it, 2^-40 of what all rows cost as one leaf.

        *Dividing a leaf must never raise the cost*, and without ``least`` no leaf may cost less
        than 0. A search that finds a leaf for which that is not so ends with an error.
    leaf_penalty : float, default=0.01
        What each leaf adds to the objective, in the unit of the costs of one row.
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
        What rows pay on average is added to the loss, in the unit of the costs of one row.
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
        The tree, to read and to export. The ``value`` of a node is its answer if that is a number
        or several, and its summed statistics if the answer is a label.
    certificate_ : certree.Certificate
        What was proved. ``objective_``, ``lower_bound_``, ``gap_`` and ``status_`` are taken from
        it.
    statistic_names_ : list of str
        The names of the statistics; "s0", "s1" and so on, where they came without.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        The names of the feature columns, if X came with names.
    feature_importances_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Statistics of integers or Booleans are summed exactly, and reach ``leaf_cost`` and ``answer`` as
    64-bit integers. With floats among them, or with row weights that are not whole, they reach them
    as floats, in the units they were given in. Floats are rounded once, to a unit of which the
    sizes of all rows have 2^58: what is proved is proved of these. A row of weight w counts as w
    rows. Compiled functions are always given floats.

    There is no ``score``, because the task does not say what a good answer is to a row. If it has
    ``row_costs``, choose parameters by ``scoring=certree.scorers.objective``.

    Where the answer is an integer or a Boolean, it is a label, and ``predict`` gives an array of
    this type. An exception in a method of the task ends the search, and is raised as it is.

    Examples
    --------
    Claims of drivers, by the deviance of a Poisson distribution with a rate for each leaf:

    >>> import numpy as np
    >>> import polars as pl
    >>> from certree import OptimalTree
    >>> class Poisson:
    ...     def leaf_cost(self, sums):
    ...         claims, years, rest = sums.T
    ...         return 2 * (rest - claims * np.log(np.maximum(claims, 1e-300) / years))
    ...     def answer(self, sums):
    ...         return sums[0] / sums[1]
    >>> town = [True, False, True, False, True, False]
    >>> X = pl.DataFrame({"age": [19, 21, 30, 42, 55, 68], "town": town})
    >>> claims, years = np.array([2, 1, 0, 1, 0, 0]), np.array([1.0, 0.5, 4.0, 5.0, 3.0, 6.0])
    >>> rest = claims * np.log(np.maximum(claims, 1) / years)
    >>> model = OptimalTree(Poisson(), max_depth=1).fit(X, np.column_stack([claims, years, rest]))
    >>> for rule in model.tree_.rules():
    ...     print(rule)
    if age <= 25 then 2.0 (2 rows)
    if age > 25 then 0.05555555555555555 (4 rows)
    >>> model.status_
    'optimal'
    """

    _rules = {
        "task": Rule(
            lambda task: hasattr(task, "leaf_cost") and callable(getattr(task, "answer", None)),
            "an object with leaf_cost and answer",
        ),
        **parameters.COMMON,
        "feature_costs": parameters.FEATURE_COSTS,
    }

    def __init__(
        self,
        task: Any = None,
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
        self.task = task
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
        self, X: Any, statistics: Any, sample_weight: Any = None, *, start: Any = None
    ) -> OptimalTree:
        """Search for the best tree.

        Parameters
        ----------
        X : frame, array or list of rows
            The features.
        statistics : array or frame of shape (n_rows, n_statistics), vector, str, or list of str
            The numbers that leaves sum up; or the names of their columns in X (which are then not
            features).
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
        combinations.check(self, "Custom", "a task of your own")
        named = columns_named({}, {"statistics": statistics})
        return self._solve((X, statistics, sample_weight), started, named, start)

    def _pose(self, data: Any, known: Any = None) -> Posed:
        X, statistics, sample_weight = data
        read = ingest.read_statistics(X, statistics)
        training = open_rows(X, len(read.values), "statistics", sample_weight, read.named)
        kept = read.values if training.kept is None else read.values[training.kept]
        in_units = ingest.in_units(
            ingest.Statistics(kept, read.names), training.weights, training.unit
        )
        thresholds = self.thresholds if known is None else known
        located = ingest.locate(training, thresholds, self._categories())
        room_for_goal(kept.size, 8)
        n_rows = float(len(kept) if located.weights is None else located.weights.sum())
        given = with_least(self.task, kept, located.weights, in_units)
        goal = _core.Custom(
            core_task(self.task, given, in_units),
            given.sums(located.point_of, located.points.n_points).ravel(),
            n_rows,
            float(self.leaf_penalty),
            located.points.weights.ravel(),
        )
        column_costs, core_costs = self._column_costs(located, training.kept)
        words = f"the leaf costs of {type(self.task).__name__}, divided by row weight,"

        def show(tree: Tree, leaves: NDArray[np.uint32]) -> Tree:
            return with_answers(tree, in_units, leaves, self.task)

        return Posed(
            self._problem(located.cuts, located.points, goal, feature_costs=core_costs),
            training,
            located.cuts,
            located.points,
            np.array(["answer"]),
            _feature_costs.in_words(words, column_costs),
            thresholds,
            show_by_row=show,
            attributes={"statistic_names_": read.names, "_feature_costs": column_costs},
            least_loss=-inf if hasattr(self.task, "least") else 0.0,
        )

    def certify(
        self, X: Any = None, statistics: Any = None, sample_weight: Any = None
    ) -> OptimalTree:
        """Search on until the tree is proved to be the best, as ``OptimalTreeClassifier.certify``
        does; the data are as ``fit`` takes them."""
        return self._go_on(None if X is None else (X, statistics, sample_weight))

    def predict(self, X: Any) -> NDArray[Any]:
        """The answer of the leaf that each row ends in: a vector, or rows × numbers if it is
        several numbers."""
        return self._fitted_tree(X).predict(X)

    def _held_out_loss(self, X: Any, statistics: Any = None, sample_weight: Any = None) -> float:
        statistics = self._recalled(statistics=statistics)["statistics"]
        answers = self.predict(X)
        read = ingest.read_statistics(X, statistics)
        check_same_length(len(answers), len(read.values), "statistics")
        costs = _row_costs(self.task, read.values, answers)
        weights = row_weights(sample_weight, X, len(answers))
        paid = self._mean_paid(X, self.apply(X), weights)
        return float(np.average(costs, weights=weights)) + paid


def _row_costs(task: Any, values: NDArray[Any], answers: NDArray[Any]) -> NDArray[np.float64]:
    """The cost of each row with its answer, by the task."""
    if not hasattr(task, "row_costs"):
        raise ValueError(
            f"{type(task).__name__} does not say what a row costs that the tree was not fitted to: "
            "give it a "
            "method row_costs(statistics, answers), which returns one number for each row"
        )
    costs = np.asarray(task.row_costs(values, answers))
    if costs.shape != (len(values),) or costs.dtype.kind not in "biuf":
        raise ValueError(
            f"{_CONTRACT} row_costs gives one number for each row, an array of the shape "
            f"({len(values)},), and not "
            f"{costs.dtype} values of the shape {costs.shape}"
        )
    return costs.astype(np.float64)


def with_least(
    task: Any,
    values: NDArray[Any],
    weights: NDArray[np.float64] | None,
    in_units: ingest.InUnits,
) -> ingest.InUnits:
    """The statistics, and behind them the least that each row costs, if the task says so."""
    if not hasattr(task, "least"):
        return in_units
    least = np.asarray(task.least(values))
    numbers = least.dtype.kind in "biuf"
    if least.shape != (len(values),) or not numbers or not np.isfinite(least).all():
        raise ValueError(
            f"{_CONTRACT} least gives one finite number for each row, an array of the shape "
            f"({len(values)},), and not {least.dtype} numbers of the shape {least.shape}"
        )
    if weights is not None:
        least = least * weights
    own = ingest.in_units(
        ingest.Statistics(least[:, None].astype(np.float64), ["least"]), None, None
    )
    return ingest.InUnits(
        np.column_stack([in_units.units, own.units]), [*in_units.per_one, *own.per_one], False
    )


def core_task(
    task: Any, given: ingest.InUnits, in_units: ingest.InUnits
) -> tuple[Any, int | None, list[float], bool, bool, float | None]:
    """The task as the core takes it."""
    rounding = getattr(task, "rounding", None)
    if rounding is not None and not (is_number(rounding) and rounding >= 0):
        raise ValueError(
            f"{_CONTRACT} rounding is a finite number of at least 0, and not {shown(rounding)}"
        )
    rounding = None if rounding is None else float(rounding)
    has_least = given is not in_units
    address = address_of(task.leaf_cost)
    if address is not None:
        return task.leaf_cost, address, given.per_one, False, has_least, rounding

    def leaf_cost(sums: NDArray[Any]) -> NDArray[np.float64]:
        costs = np.asarray(task.leaf_cost(sums))
        if costs.shape != (len(sums),) or costs.dtype.kind not in "biuf":
            raise ValueError(
                f"{_CONTRACT} leaf_cost gives one number for each leaf, an array of the shape "
                f"({len(sums)},), and not {costs.dtype} values of the shape {costs.shape}"
            )
        return np.ascontiguousarray(costs, dtype=np.float64)

    return leaf_cost, None, given.per_one, in_units.whole, has_least, rounding


def with_answers(
    tree: Tree, in_units: ingest.InUnits, leaves: NDArray[np.uint32], task: Any
) -> Tree:
    """The tree whose nodes hold what the task answers there."""
    units = in_units.sums(leaves, len(tree.nodes))
    # Children come after their parent.
    for node in reversed(tree.nodes):
        if node.split is not None:
            units[node.id] = units[node.split.left] + units[node.split.right]
    sums = in_units.restore(units)
    kind, labels, chosen, values = _answers([task.answer(own) for own in sums], sums)
    parts = [
        (split, label, rows, value, loss)
        for (split, _, rows, _, loss), label, value in zip(tree._core.parts(), chosen, values)
    ]
    return tree._with(core=_core.Tree(parts), labels=labels, task=kind)


def _answers(
    given: list[Any], sums: NDArray[Any]
) -> tuple[Task, NDArray[Any], list[int], list[list[float]]]:
    """The answers of all nodes, in the form that ``Tree`` takes: the kind of tree, its labels, the
    number of each node's label, and the values of each node.

    Answers without a fraction (strings, Booleans, integers) are labels; the values of a node are
    then its summed statistics. Other answers are numbers, and are themselves the values of their
    node.
    """
    arrays = [np.asarray(answer) for answer in given]
    if len({array.shape for array in arrays}) > 1 or arrays[0].ndim > 1:
        shapes = sorted({array.shape for array in arrays})
        raise ValueError(
            f"{_CONTRACT} answer gives every leaf a label, a number, or equally many numbers, and "
            f"not arrays of the shapes {', '.join(map(str, shapes))}"
        )
    kinds = {array.dtype.kind for array in arrays}
    if not arrays[0].ndim and not kinds & set("fc"):
        # An array would drop zero characters at the end of a text.
        answers = [
            each if isinstance(each, (str, bytes)) else array.item()
            for each, array in zip(given, arrays)
        ]
        distinct = list(dict.fromkeys(answers))
        if len({type(answer) for answer in distinct}) == 1:
            distinct.sort()
        if len(kinds) == 1:
            labels = label_array(distinct)
        else:
            labels = np.empty(len(distinct), dtype=object)
            labels[:] = distinct
        chosen = [distinct.index(answer) for answer in answers]
        return "labels", labels, chosen, sums.astype(np.float64).tolist()
    try:
        numbers = np.array(arrays, dtype=np.float64).reshape(len(arrays), -1)
    except (TypeError, ValueError):
        raise ValueError(
            f"{_CONTRACT} answer gives a label or numbers, and not {shown(given[0])}"
        ) from None
    if not np.isfinite(numbers).all() or not numbers.shape[1]:
        where = int(np.flatnonzero(~np.isfinite(numbers).all(axis=1)).min(initial=0))
        raise ValueError(f"{_CONTRACT} answer gives finite numbers, and not {shown(given[where])}")
    names = ["answer"] if numbers.shape[1] == 1 else [f"answer{k}" for k in range(numbers.shape[1])]
    return "numbers", np.array(names), [0] * len(arrays), numbers.tolist()
