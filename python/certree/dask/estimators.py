"""certree's estimators for tables whose rows lie in partitions on Dask workers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from certree import ingest
from certree.connected import Connected
from certree.dask import tasks
from certree.dask.rows import Rows
from certree.dask.search import Limits, Search
from certree.dask.tables import (
    Files,
    delayed_parts,
    is_collection,
    lengths_of,
    open_table,
    paths_of,
    scan,
)
from certree.estimators import (
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    parameters,
)
from certree.estimators._posed import Posed
from certree.feature_costs import differ_by_row
from certree.partitions.merged import merge
from certree.partitions.reading import Question

Estimator = TypeVar("Estimator", bound=type)

#: The process that searches.
Where = Literal["client", "workers"]


def _with_client(made: Estimator) -> Estimator:
    """The class with the parameters of its parent, and those of its own."""
    parent = made.__bases__[1].__init__  # type: ignore[misc]
    signature = inspect.signature(parent)
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in (("client", None), ("search", "client"))
    ]
    own = made.__init__  # type: ignore[misc]
    own.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *more])
    return made


class _OnDask(Connected):
    """The part that both estimators share: workers merge the rows to points before the search."""

    client: Any
    search: Where
    _target: str
    #: The argument of ``fit`` that each row's target is.
    _role = "y"

    def _check(self) -> None:
        model: Any = self
        parameters.check(self, {**model._rules, "search": parameters.one_of(*get_args(Where))})

    def _client(self) -> Any:
        return tasks.client_of(self.client)

    def _merged(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """The rows of a table of partitions, merged to points; a table in memory as it is."""
        model: Any = self
        if not _lies_in_partitions(X):
            return X
        for name, nothing in _REFUSED.items():
            value = getattr(model, name, nothing)
            if value is not nothing and value != nothing:
                raise ValueError(
                    f"{name} needs all rows in one process, so that it cannot be set where rows "
                    "lie in partitions; leave it out, or fit to a sample in memory"
                )
        if differ_by_row(model.feature_costs):
            raise ValueError(
                "feature_costs that differ by row need all rows in one process, so that they "
                "cannot be set where rows lie in partitions; give each test one cost, or fit "
                "to a sample in memory"
            )
        if model._is_to_guess() or (
            parameters.is_guesser(model.thresholds) and not hasattr(model.thresholds, "thresholds_")
        ):
            raise ValueError(
                "thresholds are guessed from rows in one process: fit a ThresholdGuesser to a "
                "sample of the rows, and pass it fitted as thresholds"
            )
        client = self._client()
        question = Question(self._target, model.orders)  # type: ignore[arg-type]
        rows = Rows.of(client, open_table(client, X, y, sample_weight, self._role), question)
        return merge(rows, question, model.thresholds, model._categories())

    def _pose_in_order(self, data: Any, known: Any = None) -> Posed:
        model: Any = self
        X, y, sample_weight, *more = data
        if not isinstance(X, ingest.Merged):
            X = self._merged(X, y, sample_weight)
        if isinstance(X, ingest.Merged):
            found: Posed = model._pose_merged(X, y, sample_weight, known)
        else:
            found = super()._pose_in_order((X, y, sample_weight, *more), known)  # type: ignore
        return found

    def _search(self, posed: Posed, left: Any, pulse: Any, known: Any) -> Any:
        model: Any = self
        if model.search == "client" or posed.cut_short:
            return super()._search(posed, left, pulse, known)  # type: ignore[misc]
        memory = None if model.memory_limit is None else int(min(model.memory_limit, 2**62))
        seconds, gap = left.seconds_left(), float(model.gap_limit)
        limits = Limits(seconds, memory, gap, parameters.threads(model.n_jobs))
        return Search(self._client(), posed.problem, limits, pulse).run(known)


#: Parameters that ask for rows, and what says that nothing is asked.
_REFUSED: dict[str, Any] = {"constraints": (), "reference": None}


@_with_client
class DaskOptimalTreeClassifier(_OnDask, OptimalTreeClassifier):
    """A provably optimal classification tree for rows that lie in partitions on Dask workers.

    The parameters are those of :class:`certree.OptimalTreeClassifier`, and ``client``. Workers
    agree on the cuts and merge equal rows to points, so that what travels grows with distinct
    points, never with rows; the search then runs on the points. The tree,
    its objective and its certificate are those of a fit in memory.

    ``constraints`` and ``reference`` need the rows in one process and are refused.

    Parameters
    ----------
    client : distributed.Client or None, default=None
        The connection to the cluster; None: the one that was started last.
    search : {"client", "workers"}, default="client"
        Where the search runs. "workers": one hard search is divided among all workers, each of
        which may use ``memory_limit`` bytes and ``n_jobs`` threads; X may then be in memory, too.
        It is for problems that are searched cut by cut, or over intervals of cuts
        (``certificate_.route``).

    Examples
    --------
    >>> from certree.dask import DaskOptimalTreeClassifier
    >>> from dask.distributed import Client, LocalCluster  # doctest: +SKIP
    >>> with LocalCluster() as cluster, Client(cluster) as client:  # doctest: +SKIP
    ...     model = DaskOptimalTreeClassifier(max_depth=3, client=client)
    ...     model.fit("visits/*.parquet", "outcome")
    """

    _target = "labels"

    def __init__(
        self, *given: Any, client: Any = None, search: Where = "client", **others: Any
    ) -> None:
        super().__init__(*given, **others)
        self.client = client
        self.search = search

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """Search for the best tree.

        Parameters
        ----------
        X : Dask DataFrame or Array, Parquet files, or a table in memory
            The features. Files are given as a path that may have wildcards, or a list of paths,
            which all workers can open; they are scanned with polars.
        y : Dask Series or Array of as many partitions, or str
            The labels, or the name of their column in X.
        sample_weight : Dask Series or Array, str or None, default=None
            Row weights, not negative, or the name of their column in X.

        Returns
        -------
        self
        """
        self._check()
        merged = self._merged(X, y, sample_weight)
        return super().fit(merged, y, sample_weight)

    def _pose_merged(self, X: Any, y: Any, sample_weight: Any, known: Any) -> Posed:
        return self._pose_free((X, y, sample_weight), known)

    def predict(self, X: Any) -> Any:
        """The label of each row: of a Dask collection lazily, as a Dask Array or Series by
        partition."""
        return _lazily(self, "predict", X, super().predict)

    def predict_proba(self, X: Any) -> Any:
        """The share of each class in the leaf of each row, lazily for a Dask collection."""
        return _lazily(self, "predict_proba", X, super().predict_proba)


@_with_client
class DaskOptimalTreeRegressor(_OnDask, OptimalTreeRegressor):
    """A provably optimal regression tree for rows that lie in partitions on Dask workers, as
    :class:`DaskOptimalTreeClassifier` is for labels.

    ``objective`` is "squared_error". What travels grows with the distinct pairs of a point and its
    targets: little for counts or ratings, and a pair for each row where every target is another
    number.

    Parameters
    ----------
    client : distributed.Client or None, default=None
        The connection to the cluster; None: the one that was started last.
    search : {"client", "workers"}, default="client"
        Where the search runs. "workers": one hard search is divided among all workers, each of
        which may use ``memory_limit`` bytes and ``n_jobs`` threads; X may then be in memory, too.
        It is for problems that are searched cut by cut, or over intervals of cuts
        (``certificate_.route``).
    """

    _target = "targets"

    def __init__(
        self, *given: Any, client: Any = None, search: Where = "client", **others: Any
    ) -> None:
        super().__init__(*given, **others)
        self.client = client
        self.search = search

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """Search for the best tree. X, y and sample_weight are as those of
        :meth:`DaskOptimalTreeClassifier.fit`; y may have several columns, or be a list of names."""
        self._check()
        if self.objective != "squared_error":
            raise ValueError(
                f"objective={self.objective!r} needs all rows in one process; where rows lie in "
                "partitions it is 'squared_error'"
            )
        merged = self._merged(X, y, sample_weight)
        return super().fit(merged, y, sample_weight)

    def _pose_merged(self, X: Any, y: Any, sample_weight: Any, known: Any) -> Posed:
        return self._pose_sums(X, known)

    def predict(self, X: Any, exposure: Any = None) -> Any:
        """The prediction for each row: for a Dask collection a lazy Dask Array."""
        return _lazily(self, "predict", X, super().predict)


@_with_client
class DaskOptimalCostTree(_OnDask, OptimalCostTree):
    """A provably optimal tree for costs by row, for rows that lie in partitions on Dask workers, as
    :class:`DaskOptimalTreeClassifier` is for labels.

    What travels are points with the sums of their rows' costs. These are added up without any
    rounding, so that tree, objective and certificate are those of :class:`certree.OptimalCostTree`
    in memory, however the rows are divided. ``constraints`` and ``reference`` need the rows in one
    process and are refused.

    Parameters
    ----------
    client : distributed.Client or None, default=None
        The connection to the cluster; None: the one that was started last.
    search : {"client", "workers"}, default="client"
        Where the search runs, as for :class:`DaskOptimalTreeClassifier`.
    """

    _target = _role = "costs"

    def __init__(
        self, *given: Any, client: Any = None, search: Where = "client", **others: Any
    ) -> None:
        super().__init__(*given, **others)
        self.client = client
        self.search = search

    def fit(self, X: Any, costs: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """Search for the best tree.

        Parameters
        ----------
        X : Dask DataFrame or Array, Parquet files, or a table in memory
            The features, as for :meth:`DaskOptimalTreeClassifier.fit`.
        costs : Dask DataFrame or Array of as many partitions, or list of str
            What each label costs each row; or the names of such columns in X.
        sample_weight : Dask Series or Array, str or None, default=None
            Row weights, not negative, or the name of their column in X.

        Returns
        -------
        self
        """
        self._check()
        merged = self._merged(X, costs, sample_weight)
        return super().fit(merged, costs, sample_weight)

    def _pose_merged(self, X: Any, y: Any, sample_weight: Any, known: Any) -> Posed:
        return self._pose_sums(X, known)

    def predict(self, X: Any) -> Any:
        """The label of each row: for a Dask collection a lazy Dask Array."""
        return _lazily(self, "predict", X, super().predict)

    def predict_costs(self, X: Any) -> Any:
        """The mean cost of each label in the leaf of each row, lazily for a Dask collection."""
        return _lazily(self, "predict_value", X, super().predict_costs)


@_with_client
class DaskOptimalPolicyTree(_OnDask, OptimalPolicyTree):
    """A provably optimal policy for rows that lie in partitions on Dask workers, learnt from
    ``rewards``: what each treatment brings each row, such as the scores that
    :meth:`certree.OptimalPolicyTree.policy_scores` makes of a part of the rows.

    As for :class:`DaskOptimalCostTree`, points travel with exact sums. A ``teacher`` fits its
    models to all rows in one process, so that where rows lie in partitions, ``fit`` takes
    ``rewards`` alone. ``constraints`` and ``reference`` are refused there, too.

    Parameters
    ----------
    client : distributed.Client or None, default=None
        The connection to the cluster; None: the one that was started last.
    search : {"client", "workers"}, default="client"
        Where the search runs, as for :class:`DaskOptimalTreeClassifier`. "workers" takes tables in
        memory, too, with whatever :meth:`certree.OptimalPolicyTree.fit` takes.
    """

    _target = _role = "rewards"

    def __init__(
        self, *given: Any, client: Any = None, search: Where = "client", **others: Any
    ) -> None:
        super().__init__(*given, **others)
        self.client = client
        self.search = search

    def fit(  # type: ignore[override]
        self,
        X: Any,
        treatment: Any = None,
        outcome: Any = None,
        propensity: Any = None,
        predicted: Any = None,
        *,
        rewards: Any = None,
        sample_weight: Any = None,
    ) -> Any:
        """Search for the best tree.

        Parameters
        ----------
        X : Dask DataFrame or Array, Parquet files, or a table in memory
            The features, as for :meth:`DaskOptimalTreeClassifier.fit`.
        treatment, outcome, propensity, predicted
            As for :meth:`certree.OptimalPolicyTree.fit`, where X is in memory.
        rewards : Dask DataFrame or Array of as many partitions, or list of str
            What each label brings each row; or the names of such columns in X.
        sample_weight : Dask Series or Array, str or None, default=None
            Row weights, not negative, or the name of their column in X.

        Returns
        -------
        self
        """
        self._check()
        given = (treatment, outcome, propensity, predicted)
        if _lies_in_partitions(X):
            _check_rewards_alone(given, rewards)
            X = self._merged(X, rewards, sample_weight)
        return super().fit(X, *given, rewards=rewards, sample_weight=sample_weight)

    def _scored(self, X: Any, given: Any, sample_weight: Any) -> Any:
        if not (isinstance(X, ingest.Merged) or _lies_in_partitions(X)):
            return super()._scored(X, given, sample_weight)
        _check_rewards_alone(given[:4], given.rewards)
        return X, given.rewards, sample_weight

    def _pose_in_order(self, data: Any, known: Any = None) -> Posed:
        if isinstance(data, tuple):
            return super()._pose_in_order(data, known)
        return OptimalPolicyTree._pose_in_order(self, data, known)

    def _pose_merged(self, X: Any, y: Any, sample_weight: Any, known: Any) -> Posed:
        return self._pose_sums(X, known)

    def predict(self, X: Any) -> Any:
        """The treatment of each row: for a Dask collection a lazy Dask Array."""
        return _lazily(self, "predict", X, super().predict)

    def predict_rewards(self, X: Any) -> Any:
        """The mean reward of each treatment in the leaf of each row, lazily for a Dask
        collection."""
        return _lazily(self, "predict_value", X, super().predict_rewards)


def _check_rewards_alone(others: Any, rewards: Any) -> None:
    """A ValueError unless rewards are given, and nothing that they would be made from."""
    if rewards is None or any(other is not None for other in others):
        raise ValueError(
            "models of treatments and outcomes are fitted to all rows in one process: where rows "
            "lie in partitions, pass rewards= alone, what each treatment brings each row, such as "
            "columns with the scores of OptimalPolicyTree.policy_scores"
        )


def _lies_in_partitions(X: Any) -> bool:
    return is_collection(X) or names_files(X)


def _lazily(model: Any, method: str, X: Any, now: Callable[[Any], Any]) -> Any:
    """Call a method on each partition of X, lazily; on a table in memory at once."""
    paths = paths_of(X) if names_files(X) else None
    if paths is None and not is_collection(X):
        return now(X)
    import dask.array as da
    from dask import delayed

    check_is_fitted(model)
    lots = delayed_parts(X) if paths is None else [Files(path) for path in paths]
    lengths = lengths_of(X) if paths is None else [np.nan] * len(lots)
    answers = getattr(model.tree_._answers, _ANSWERS[method])
    tree, arrays = delayed(model.tree_, pure=True), []
    for part, length in zip(lots, lengths):
        found = delayed(_answer)(tree, method, part)
        arrays.append(da.from_delayed(found, (length, *answers.shape[1:]), answers.dtype))
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


#: By method, the answers of leaves, whose type and width its own have.
_ANSWERS = {"predict": "predictions", "predict_proba": "shares", "predict_value": "values"}


def names_files(X: Any) -> bool:
    several = isinstance(X, list) and bool(X) and all(isinstance(path, str) for path in X)
    return isinstance(X, str) or several


def _answer(tree: Any, method: str, X: Any) -> Any:
    return getattr(tree, method)(scan(X))
