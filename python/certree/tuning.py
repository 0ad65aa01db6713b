"""Which size of tree does best on rows that it was not fitted to: every size from one search."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from certree import frontiers, scorers
from certree.connected import Connected
from certree.fan_out import FanOut
from certree.frontiers import Clock, Data, check_time_limit, undominated
from certree.rows import Rows, in_memory
from certree.scalars import is_number, shown
from certree.tree_frames import TreeFrame
from certree.warned import warn

if TYPE_CHECKING:
    from typing import Self

    from certree.certificate import Certificate
    from certree.tree import Tree


class OutOfTime(ValueError):
    """A time limit was over before anything could be chosen."""


#: How a size is chosen: the best mean score, or the smallest tree within one standard error of it.
Choice = Literal["best", "1se"]

#: What is told of each tree, in this order; then come the scores of the folds.
COLUMNS = ("depth", "leaves", "loss", "penalty_from", "penalty_to", "status", "tree")


def standard_error(scores: Sequence[float]) -> float:
    """Of the mean of these scores; nan where there are fewer than two, or some is no number."""
    if len(scores) < 2 or not math.isfinite(np.mean(scores)):
        return math.nan
    return float(np.std(scores, ddof=1) / math.sqrt(len(scores)))


@dataclass(frozen=True)
class Size:
    """The best tree of at most this depth with so many leaves, and its scores by fold: those of
    the best trees of the fold with no more leaves. NaN where the time was over."""

    depth: int
    leaves: int
    model: Any
    penalties: tuple[float, float] | None
    scores: list[float] = field(default_factory=list)

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores)) if self.scores else math.nan

    @property
    def error(self) -> float:
        return standard_error(self.scores)


def path(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    max_depths: Sequence[int] | None = None,
    time_limit: float | None = None,
    **fit_params: Any,
) -> pl.DataFrame:
    """The best tree of every depth and size, and for which ``leaf_penalty`` it is the best one.

    Parameters
    ----------
    estimator : an estimator of certree
        Its cuts, objective and limits; its ``leaf_penalty`` is not used.
    X, y, **fit_params
        What its ``fit`` takes.
    max_depths : sequence of int or None, default=None
        The depths; without it all from 1 to the estimator's ``max_depth``.
    time_limit : float or None, default=None
        Seconds for all of it. Where they end, the sizes that are known are answered, and a
        ``ConvergenceWarning`` says so.

    Returns
    -------
    polars.DataFrame
        A row for each tree: ``depth`` (the limit), ``leaves``, ``loss``, ``penalty_from`` and
        ``penalty_to``, between which this tree is the best one of its depth (null where there is
        no such penalty), the ``status`` of its search, and the ``tree``.

    Examples
    --------
    >>> import polars as pl
    >>> from certree import OptimalTreeClassifier, path
    >>> X, y = pl.DataFrame({"a": [1, 2, 3, 4, 5, 6]}), [0, 0, 1, 0, 1, 1]
    >>> found = path(OptimalTreeClassifier(max_depth=2), X, y)
    >>> found.filter(depth=2).select("leaves", pl.col("penalty_from").round(3)).rows()
    [(1, 0.333), (2, 0.083), (4, 0.0)]
    """
    model = _checked(estimator, time_limit)
    clock, found = Clock(time_limit, model.time_limit), []
    with one_warning():
        for depth in _depths(model, max_depths):
            found += _sizes(model, depth, Data(X, y, fit_params), clock)
    return _frame(found)


class OptimalTreeCV(Connected, MetaEstimatorMixin, BaseEstimator):
    """An optimal tree whose depth and size are chosen by cross-validation.

    For each depth one search gives the best trees of all sizes (every ``leaf_penalty`` has its
    tree among them), on all rows and on those of each fold. The size whose trees do best on the
    rows that were left out is chosen, and its tree on all rows is the answer, with its proof.

    Parameters
    ----------
    estimator : an estimator of certree
        Its cuts, objective and limits; its ``leaf_penalty`` is not used. ``max_depth`` is the
        largest depth that is tried, unless ``max_depths`` says which are.
    max_depths : sequence of int or None, default=None
        The depths to try; without it all from 1 to the estimator's ``max_depth``.
    cv : int, splitter or iterable, default=5
        How rows are left out, as for ``GridSearchCV``: a number of folds, or a splitter of
        scikit-learn's for groups or time.
    scoring : str, callable or None, default=None
        The score on rows that were left out, of which more is better. Without it
        ``certree.scorers.objective``: minus the loss that the estimator minimises.
    rule : {"1se", "best"}, default="1se"
        The smallest tree (fewest leaves, then least depth) whose mean score is within one standard
        error of the best one, or the best one itself.
    n_jobs : int or None, default=None
        How many folds are searched at once, in threads; -1 for all cores. The estimator's own
        ``n_jobs`` are the threads of each search.
    time_limit : float or None, default=None
        Seconds for all of ``fit``. Depths are tried from the least on, and one that the time did
        not suffice for is left out.
    verbose : bool, default=False
        Print a line for each depth.
    client : distributed.Client or None, default=None
        A connection to a Dask cluster, on whose workers the folds are searched then, instead of in
        threads: see ``docs/dask.md``.

    Attributes
    ----------
    best_estimator_ : estimator
        Fitted to all rows: the best tree with at most the chosen number of leaves.
    tree_, certificate_
        Its tree and certificate.
    path_ : polars.DataFrame
        What :func:`path` answers, with ``mean_score``, ``standard_error``, a column
        ``split<k>_score`` for each fold, and ``chosen``.
    best_score_ : float
        The mean score of the chosen size.

    Notes
    -----
    The mean score of the chosen size is the largest of several, so that it flatters. What it is
    worth on new rows, :func:`nested` says.

    A size of the path is compared with the trees of a fold that have no more leaves, so that sizes
    mean the same everywhere. Penalties do not: a fold has fewer rows.

    Examples
    --------
    >>> from certree import OptimalTreeClassifier, OptimalTreeCV
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = OptimalTreeCV(OptimalTreeClassifier(max_depth=3, thresholds=6), cv=3).fit(X, y)
    >>> search.tree_.depth, search.tree_.n_leaves, search.certificate_.status
    (2, 3, 'optimal')
    """

    best_estimator_: Any
    best_score_: float
    path_: pl.DataFrame

    def __init__(
        self,
        estimator: Any,
        *,
        max_depths: Sequence[int] | None = None,
        cv: Any = 5,
        scoring: Any = None,
        rule: Choice = "1se",
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool = False,
        client: Any = None,
    ) -> None:
        self.estimator = estimator
        self.max_depths = max_depths
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.verbose = verbose
        self.client = client

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **fit_params: Any) -> Self:
        """Find the tree.

        Parameters
        ----------
        X, y, **fit_params
            What ``fit`` of the estimator takes. Vectors and tables with a value for each row are
            divided with the rows.
        groups : vector, default=None
            The group of each row, for splitters that keep groups together.

        Returns
        -------
        self
        """
        with one_warning():
            self._fit(X, y, groups, fit_params)
        return self

    def _fit(self, X: Any, y: Any, groups: Any, fit_params: Mapping[str, Any]) -> None:
        """As ``fit``, with a warning of each search that a limit stops."""
        if self.rule not in get_args(Choice):
            raise ValueError(
                f"rule={shown(self.rule)} is not valid: it must be one of "
                f"{', '.join(map(repr, get_args(Choice)))}"
            )
        model = _checked(self.estimator, self.time_limit)
        depths = _depths(model, self.max_depths)
        X = in_memory(X)
        rows = Rows(X, y, fit_params)
        splits = splits_of(rows, self.cv, model, groups)
        scorer = scorer_of(model, self.scoring)
        clock = Clock(self.time_limit, model.time_limit)
        fan_out = FanOut(rows, self.n_jobs, self.client)
        found: list[Size] = []
        for depth in depths:
            sizes = self._scored(model, depth, fan_out, splits, scorer, clock)
            found += sizes
            if self.verbose:
                self._tell(depth, sizes)
        self._choose(found)

    def _scored(
        self,
        model: Any,
        depth: int,
        fan_out: FanOut,
        splits: Sequence[tuple[Any, Any]],
        scorer: Any,
        clock: Clock,
    ) -> list[Size]:
        """The sizes of a depth, with the scores of every fold, or with none."""
        sizes = list(_sizes(model, depth, fan_out.data.data(), clock))
        if not sizes:
            return []
        leaves = [each.leaves for each in sizes]
        given = [(model, depth, split, scorer, clock, leaves) for split in splits]
        by_fold = fan_out.run(_scores_by_leaves, given)
        if any(scores is None for scores in by_fold):
            return sizes
        for size, scores in zip(sizes, zip(*by_fold)):
            size.scores.extend(scores)
        return sizes

    def _tell(self, depth: int, sizes: Sequence[Size]) -> None:
        known = [size for size in sizes if size.scores]
        if known:
            best = max(known, key=lambda size: size.mean)
            told = f"best mean score {best.mean:.6g} with {best.leaves} leaves"
        else:
            told = "the time was over"
        print(f"depth {depth}: {len(sizes)} sizes, {told}")

    def _choose(self, found: Sequence[Size]) -> None:
        known = [size for size in found if size.scores]
        if not known:
            raise OutOfTime(
                f"time_limit={self.time_limit} was over before every fold had a tree of the least "
                "depth: raise it, or take fewer folds or cuts"
            )
        if any(math.isnan(score) for size in known for score in size.scores):
            raise ValueError("scoring answered what is not a number")

        def smallness(size: Size) -> tuple[int, int]:
            return size.leaves, size.depth

        best = max(known, key=lambda size: (size.mean, *(-part for part in smallness(size))))
        chosen = best
        if self.rule == "1se" and math.isfinite(best.error):
            near = [size for size in known if size.mean >= best.mean - best.error]
            chosen = min(near, key=smallness)
        n_folds = len(best.scores)
        columns = {
            "mean_score": [size.mean for size in found],
            "standard_error": [size.error for size in found],
            **{
                f"split{k}_score": [size.scores[k] if size.scores else math.nan for size in found]
                for k in range(n_folds)
            },
        }
        frame = _frame(found).with_columns(
            *(pl.Series(name, values).fill_nan(None) for name, values in columns.items()),
            pl.Series("chosen", [size is chosen for size in found]),
        )
        self.path_ = TreeFrame(frame)
        self.best_score_ = chosen.mean
        self.best_estimator_ = chosen.model
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(chosen.model, name):
                setattr(self, name, getattr(chosen.model, name))

    @property
    def tree_(self) -> Tree:
        return self._best().tree_

    @property
    def certificate_(self) -> Certificate:
        return self._best().certificate_

    def _best(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def predict(self, X: Any) -> Any:
        """As the best estimator does."""
        return self._best().predict(X)

    @available_if(lambda self: _has(self, "predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """As the best estimator does."""
        return self._best().predict_proba(X)

    def apply(self, X: Any) -> Any:
        """The leaf that each row ends in, as an index into ``tree_.nodes``."""
        return self._best().apply(X)

    @available_if(lambda self: _has(self, "score"))
    def score(self, X: Any, y: Any = None, **more: Any) -> float:
        """By ``scoring``; without it the score of the estimator."""
        if self.scoring is not None:
            return float(check_scoring(self._best(), scoring=self.scoring)(self._best(), X, y))
        data = () if y is None else (y,)
        return float(self._best().score(X, *data, **more))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = clone(self.estimator).__sklearn_tags__()
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


def _has(search: OptimalTreeCV, name: str) -> bool:
    return hasattr(getattr(search, "best_estimator_", search.estimator), name)


def _checked(estimator: Any, time_limit: float | None) -> Any:
    """A copy of the estimator without a leaf penalty."""
    if not (hasattr(estimator, "get_params") and hasattr(type(estimator), "certify")):
        raise TypeError(f"an estimator of certree is needed, not a {type(estimator).__name__}")
    check_time_limit(time_limit)
    if getattr(estimator, "objective", None) == "mdl":
        raise ValueError(
            "objective='mdl' sets what a leaf costs, so that there is no size to choose"
        )
    if getattr(estimator, "reference", None) is not None:
        raise ValueError("a path holds the best trees, and reference= finds trees that may not be")
    return clone(estimator).set_params(leaf_penalty=0)


def _depths(model: Any, given: Sequence[int] | None) -> list[int]:
    if given is None:
        if model.max_depth is None:
            raise ValueError(
                "set max_depth of the estimator, or max_depths: a path needs the depths to try"
            )
        return list(range(1, int(model.max_depth) + 1)) or [0]
    depths = sorted({int(depth) for depth in given if is_number(depth) and depth == int(depth)})
    if not depths or len(depths) < len(set(given)) or depths[0] < 0:
        raise ValueError(
            f"max_depths={shown(given)} is not valid: it must hold whole numbers from 0 on"
        )
    return depths


def _models(model: Any, depth: int, data: Data, clock: Clock) -> list[Any]:
    """The best trees of a depth, from a single leaf to the largest one."""
    limited = clone(model).set_params(max_depth=depth)
    found = frontiers.by_leaves(limited, data, clock)
    # Without their searches, of which only the last one is needed.
    rows = undominated((loss, leaves, copy(each)) for loss, leaves, each in found)
    return [each for *_, each in rows[::-1]]


def _sizes(model: Any, depth: int, data: Data, clock: Clock) -> Iterator[Size]:
    """The sizes of a depth, from a single leaf on; none where the time is over."""
    if clock.is_over_now():
        told = f"the time limit was over before the search of depth {depth}"
        warn(told, ConvergenceWarning)
        return
    models = _models(model, depth, data, clock)
    points = [(each.get_n_leaves(), each.objective_) for each in models]
    for each, (leaves, _), penalties in zip(models, points, _penalties(points)):
        yield Size(depth, leaves, each, penalties)


def _penalties(points: Sequence[tuple[int, float]]) -> list[tuple[float, float] | None]:
    """For each size and loss, the leaf penalties for which it is the best one: those between the
    slopes to larger and to smaller sizes."""
    found: list[tuple[float, float] | None] = []
    for leaves, loss in points:
        slopes = [(loss - other) / (more - leaves) for more, other in points if more > leaves]
        falls = [(other - loss) / (leaves - less) for less, other in points if less < leaves]
        low, high = max([0.0, *slopes]), min(falls, default=math.inf)
        found.append((low, high) if low < high else None)
    return found


def _scores_by_leaves(
    rows: Rows,
    model: Any,
    depth: int,
    split: tuple[Any, Any],
    scorer: Any,
    clock: Clock,
    sizes: Sequence[int],
) -> list[float] | None:
    """For each size, the score of the fold's best tree that is no larger; None if the time is
    over."""
    train, test = split
    if clock.is_over_now():
        return None
    models = _models(model, depth, rows.data(train), clock)
    if clock.is_over_now():
        return None
    left_out = rows.data(test)
    known = {each.get_n_leaves(): score(scorer, each, left_out) for each in models}
    return [known[max(n for n in known if n <= size)] for size in sizes]


def splits_of(rows: Rows, cv: Any, estimator: Any, groups: Any) -> list[tuple[Any, Any]]:
    """The rows to choose on and those that are left out, for each part."""
    labels = rows.labels()
    splitter = check_cv(cv, labels, classifier=is_classifier(estimator))
    return list(splitter.split(np.zeros(rows.n), labels, groups))


def scorer_of(model: Any, scoring: Any) -> Any:
    """By ``scoring``; without it minus the loss that the model minimises."""
    return scorers.objective if scoring is None else check_scoring(model, scoring=scoring)


def score(scorer: Any, model: Any, data: Data) -> float:
    """Of a fitted model on these rows, with the weights that the scorer takes."""
    more: Mapping[str, Any] = {}
    if isinstance(scorer, scorers.Objective):
        more = data.more
    elif "sample_weight" in data.more and getattr(scorer, "_accept_sample_weight", bool)():
        more = {"sample_weight": data.more["sample_weight"]}
    return float(scorer(model, data.X, data.y, **more))


def _frame(found: Sequence[Size]) -> TreeFrame:
    penalties = [size.penalties or (math.nan, math.nan) for size in found]
    return TreeFrame(
        {
            "depth": pl.Series([size.depth for size in found], dtype=pl.Int64),
            "leaves": pl.Series([size.leaves for size in found], dtype=pl.Int64),
            "loss": pl.Series([size.model.objective_ for size in found], dtype=pl.Float64),
            "penalty_from": pl.Series([low for low, _ in penalties]).fill_nan(None),
            "penalty_to": pl.Series([high for _, high in penalties]).fill_nan(None),
            "status": pl.Series([size.model.status_ for size in found], dtype=pl.String),
            "tree": pl.Series([size.model.tree_ for size in found], dtype=pl.Object),
        }
    )


@contextmanager
def one_warning() -> Iterator[None]:
    """Within, searches that are stopped by a limit warn once in all, at the end."""
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    finally:
        _tell_stopped(caught)


def _tell_stopped(caught: Sequence[warnings.WarningMessage]) -> None:
    stopped = [each for each in caught if each.category is ConvergenceWarning]
    for each in caught:
        if each.category is not ConvergenceWarning:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    if stopped:
        n = len(stopped)
        warn(
            f"{n} {'search was' if n == 1 else 'searches were'} stopped by a limit, so that the "
            "path may lack trees, or hold such as are not proved; the first one said: "
            f"{stopped[0].message}",
            ConvergenceWarning,
        )
