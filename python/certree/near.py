"""All trees that are nearly as good as the best one: counted, listed, drawn, and what they share.

The core holds them as a graph whose subtrees are shared, so that there may be any number of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import islice
from time import monotonic
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from certree import _core
from certree.cells import Cells, cells_of
from certree.counterfactuals import regions
from certree.estimators import _groups, _importances, _own_branch
from certree.ingest import sources
from certree.interrupts import Held
from certree.options import Status
from certree.scalars import is_number, shown
from certree.schema import TIMED
from certree.seeds import seed_of
from certree.tree import Tree
from certree.tree_frames import TreeFrame

#: Trees are looked at one by one up to so many, unless more are asked for.
CAP = 10_000

RAISE = "raise time_limit or memory_limit, or ask for trees that are nearer"


@dataclass(frozen=True)
class NearTree:
    """One of the trees, and its objective."""

    tree: Tree
    objective: float
    #: What it was chosen for, such as a difference of shares; None where it was not.
    value: float | None = None


@dataclass(frozen=True)
class Without:
    """Whether a tree that does not ask for a column does as well."""

    column: str
    #: Of the best tree without the column that is known, and what no such tree is below.
    objective: float
    lower_bound: float
    #: Whether that tree is one of the near-optimal ones. None where a limit ended the search
    #: before that was known.
    is_within: bool | None
    tree: Tree


class NearOptimal:
    """What :func:`near_optimal` found: all trees within a bound, or some of them where a limit of
    time or memory ended the search."""

    def __init__(self, model: Any, data: tuple[Any, ...], more: Any, posed: Any, core: Any) -> None:
        self._model, self._data, self._more = model, data, more
        self._posed, self._core = posed, core
        #: The least objective there is: that of the fitted tree.
        self.objective: float = model.objective_
        #: The most that an objective may be.
        self.bound: float = core.bound
        self.seconds: float = core.seconds
        count, is_all = core.count(self._limits())
        #: How many trees there are; at least so many, unless ``is_complete``.
        self.n_trees: int = _number(count)
        #: Whether no tree is missing.
        self.is_complete: bool = is_all

    @property
    def size(self) -> tuple[int, int]:
        """Nodes and splits of the graph that holds all trees."""
        return self._core.size

    def statement(self) -> str:
        """What was found, in a sentence."""
        n = f"{self.n_trees:,} tree{'' if self.n_trees == 1 else 's'}"
        bound = f"an objective of at most {self.bound:.6g}; the least is {self.objective:.6g}"
        if self.is_complete:
            have = "has" if self.n_trees == 1 else "have"
            return f"{n} {have} {bound}."
        return f"At least {n} have {bound}. The search was stopped, so that some may be missing."

    def __repr__(self) -> str:
        return f"<NearOptimal: {self.statement()}>"

    def __reduce__(self) -> Any:
        raise TypeError(
            "the graph of near-optimal trees cannot be pickled or copied: keep what to_polars() "
            "gives, or call near_optimal again on the model"
        )

    def __iter__(self) -> Iterator[NearTree]:
        """The trees one after the other, in the order of their objective, made as they are asked
        for."""
        for core, objective in self._core.listing():
            yield NearTree(self._tree(core), objective)

    def sample(self, n: int, random_state: Any = None) -> list[NearTree]:
        """Trees that are drawn, each time out of all that were found, all with the same chance.

        Parameters
        ----------
        n : int
        random_state : int, RandomState or None, default=None
        """
        seed = seed_of(random_state) % 2**64
        drawn = self._core.sample(int(n), seed, self._limits())
        return [NearTree(self._tree(core), objective) for core, objective in drawn]

    def to_polars(self, n: int | None = None) -> TreeFrame:
        """The best ``n`` trees as a table: ``objective``, ``leaves``, ``depth``, ``columns`` and
        ``tree``. Without ``n`` all of them, if there are at most 10,000."""
        found = self._all(CAP) if n is None else list(islice(self, int(n)))
        return TreeFrame(
            {
                "objective": pl.Series([each.objective for each in found], dtype=pl.Float64),
                "leaves": pl.Series([each.tree.n_leaves for each in found], dtype=pl.Int64),
                "depth": pl.Series([each.tree.depth for each in found], dtype=pl.Int64),
                "columns": pl.Series(
                    [sorted(_asked(each.tree)) for each in found], dtype=pl.List(pl.String)
                ),
                "tree": pl.Series([each.tree for each in found], dtype=pl.Object),
            }
        )

    def by_objective(self, most: int = CAP) -> list[tuple[float, int]]:
        """Each objective that there is, ascending, and how many trees have it. More than ``most``
        objectives are a ``ValueError``."""
        self._check_complete("by_objective()")
        found = self._core.by_objective(int(most), self._limits())
        if found is None:
            raise ValueError(f"there are more than {most:,} different objectives: raise most=")
        return [(objective, _number(count)) for objective, count in found]

    def columns(self) -> pl.DataFrame:
        """What the trees ask for.

        Returns
        -------
        polars.DataFrame
            By column: ``share`` of the trees that ask for it, ``in_all`` and ``in_none``, and
            ``objective_without``: that of the best tree without it, null where none is within the
            bound. An incomplete set is a ``ValueError``.
        """
        self._check_complete("columns()")
        names = [each.column.name for each in self._posed.cuts]
        rows = []
        for column, name in enumerate(names):
            of_core = self._of_core(column)
            if len(of_core) != 1:
                raise ValueError('columns() does not know missing="own_branch"; use "learn"')
            count, is_all = self._core.count(self._limits(), of_core[0])
            if not is_all:
                raise ValueError(f"the trees without {name!r} were not counted in time: {RAISE}")
            others = _number(count)
            rows.append(
                (
                    name,
                    1 - others / self.n_trees if self.n_trees else math.nan,
                    others == 0,
                    others == self.n_trees,
                    self._core.least_without(of_core[0]),
                )
            )
        schema = ["column", "share", "in_all", "in_none", "objective_without"]
        kinds = [pl.String, pl.Float64, pl.Boolean, pl.Boolean, pl.Float64]
        return pl.DataFrame(rows, schema=dict(zip(schema, kinds)), orient="row")

    def column_importances(
        self, cap: int = CAP, *, sample: int | None = None, random_state: Any = None
    ) -> pl.DataFrame:
        """Between what limits the importance of each column is, over all trees: its least and its
        most of ``feature_importances_``.

        Parameters
        ----------
        cap : int, default=10,000
            All trees are looked at, one by one; more than this are a ``ValueError``.
        sample : int, default=None
            Look at so many trees that are drawn instead. The limits are then those of these trees:
            some tree may be beyond.
        random_state : int, RandomState or None, default=None
            Of the draws.

        Returns
        -------
        polars.DataFrame
            By column ``least``, ``mean`` and ``most``; and ``trees``, how many were looked at, and
            ``all``, whether those are all.
        """
        found = self._all(cap) if sample is None else self.sample(sample, random_state)
        names = [each.column.name for each in self._posed.cuts]
        values = np.array([self._importances(each.tree) for each in found])
        values = values.reshape(len(found), len(names))
        return pl.DataFrame(
            {
                "column": names,
                "least": values.min(axis=0),
                "mean": values.mean(axis=0),
                "most": values.max(axis=0),
                "trees": [len(found)] * len(names),
                "all": [sample is None and self.is_complete] * len(names),
            }
        )

    def without(self, column: str) -> Without:
        """Whether a tree without a column does as well.

        Where none of the trees is without it, the best tree that does not ask for it is searched,
        within the limits of the model.

        Parameters
        ----------
        column : str
        """
        names = [each.column.name for each in self._posed.cuts]
        if column not in names:
            raise ValueError(f"column={shown(column)} is not one of the model's: {shown(names)}")
        for each in self if self._has_without(names.index(column)) else ():
            if column not in _asked(each.tree):
                low = each.objective if self.is_complete else self._model.lower_bound_
                return Without(column, each.objective, low, True, each.tree)
        model = clone(self._model)
        if hasattr(self._model, "guesser_"):
            model.set_params(thresholds=dict(self._model.guesser_.thresholds_))
        for name, value in model.get_params(deep=False).items():
            if isinstance(value, Mapping) and column in value:
                others = {key: each for key, each in value.items() if key != column}
                model.set_params(**{name: others})
        X, *data = self._data
        source = sources.whole(X)
        frame = source.frame(range(len(source.names))).drop(column)
        model.fit(frame, *data, **self._more)
        low, found = model.lower_bound_, model.objective_
        close = 1e-12 * max(1.0, abs(self.bound))
        is_within = True if found <= self.bound + close else False if low > self.bound else None
        return Without(column, found, low, is_within, model.tree_)

    def sparsest(self) -> NearTree:
        """The tree of the fewest leaves, and of those the best one."""
        found = self._core.sparsest()
        if found is None:
            raise ValueError(f"no tree was found in time: {RAISE}")
        core, objective = found
        tree = self._tree(core)
        return NearTree(tree, objective, tree.n_leaves)

    def best(self, score: Callable[[Tree], float], cap: int = CAP) -> NearTree:
        """The tree of the lowest score; the first of equals in the order of objectives.

        Parameters
        ----------
        score : callable
            Takes a ``Tree`` and answers a number.
        cap : int, default=10,000
            All trees are looked at; more than this are a ``ValueError``.
        """
        found = self._all(cap)
        values = [float(score(each.tree)) for each in found]
        at = int(np.argmin(values))
        return NearTree(found[at].tree, found[at].objective, values[at])

    def fairest(
        self, X: Any, sensitive: Any, positive: Any = None, cap: int = CAP
    ) -> NearTree:
        """The tree whose answers differ the least between groups of rows.

        Parameters
        ----------
        X : frame or array
            Rows to compare, such as those of the fit.
        sensitive : str or vector
            The group of each row, or the name of its column in X.
        positive : default=None
            The answer whose share of each group is compared; of two classes the last one, if it is
            not given. Of numbers the mean answer is compared.
        cap : int, default=10,000
            All trees are looked at; more than this are a ``ValueError``.

        Returns
        -------
        NearTree
            Its ``value`` is the largest difference between two groups.
        """
        groups = _groups_of(X, sensitive)
        number = _number_of(self._model.tree_, positive)

        def difference(tree: Tree) -> float:
            values = np.array([number(node) for node in tree.nodes])[tree.apply(X)]
            means = [float(values[group].mean()) for group in groups]
            return max(means) - min(means)

        return self.best(difference, cap)

    def most_monotone(
        self, directions: Mapping[str, int], positive: Any = None, cap: int = CAP
    ) -> NearTree:
        """The tree that breaks declared directions the least.

        A direction is broken by two leaves if a row can go from one to the other by a larger value
        of the column alone, all its other values as they are, and the answer goes the other way.

        Parameters
        ----------
        directions : mapping of str to int
            By column 1, if a larger value may not lower the answer, or -1.
        positive : default=None
            The answer that is 1, and others 0; of two classes the last one, if it is not given.
        cap : int, default=10,000
            All trees are looked at; more than this are a ``ValueError``.

        Returns
        -------
        NearTree
            Its ``value`` is the number of pairs of leaves that break a direction: 0 for a tree that
            is monotone.
        """
        self._check_directions(directions)
        number = _number_of(self._model.tree_, positive)
        return self.best(lambda tree: _broken(tree, directions, number), cap)

    def _check_directions(self, directions: Mapping[str, int]) -> None:
        kinds = {each.column.name: each.column.kind for each in self._posed.cuts}
        for name, direction in directions.items():
            if name not in kinds:
                raise ValueError(f"directions names {shown(name)}, which is no column")
            if kinds[name] not in ("number", "boolean", *TIMED):
                raise ValueError(f"directions[{name!r}]: {kinds[name]} values have no order")
            if direction not in (1, -1):
                raise ValueError(f"directions[{name!r}]={shown(direction)} must be 1 or -1")

    def _check_complete(self, what: str) -> None:
        if not self.is_complete:
            raise ValueError(
                f"{what} is about all trees, but a limit ended the search before they were found: "
                f"{RAISE}"
            )

    def _all(self, cap: int) -> list[NearTree]:
        if self.n_trees > cap:
            raise ValueError(
                f"there are {self.n_trees:,} trees, more than the {cap:,} that are looked at one "
                "by one: lower within=, raise cap=, or sample() some of them"
            )
        found = list(self)
        if not found:
            raise ValueError(f"no tree was found in time: {RAISE}")
        return found

    def _has_without(self, column: int) -> bool:
        of_core = self._of_core(column)
        return len(of_core) == 1 and self._core.least_without(of_core[0]) is not None

    def _of_core(self, column: int) -> list[int]:
        """The columns of the core that stand for one of the user's."""
        places = self._model._core_places(self._posed.cuts)
        return [column] if places is None else [at for at, of in enumerate(places) if of == column]

    def _importances(self, tree: Tree) -> NDArray[np.float64]:
        other = copy(self._model)
        other.tree_ = tree
        return _importances.importances(other)

    def _limits(self) -> _core.Limits:
        with self._model._budget(monotonic()) as left:
            limits: _core.Limits = self._model._limits(left)
            return limits

    def _tree(self, core: _core.Tree) -> Tree:
        fitted = self._model._fitted
        tree: Tree = self._model._finished_tree(
            core, self._posed, fitted.missing, fitted.missing_unseen, fitted.unseen, False
        )
        return tree


def near_optimal(
    model: Any,
    X: Any,
    *data: Any,
    within: float | None = None,
    beyond: float | None = None,
    n: int | None = None,
    leaf_answers: str = "best",
    alike: str = "each",
    **fit_params: Any,
) -> NearOptimal:
    """All trees that are nearly as good as that of a fitted model: the Rashomon set.

    The trees are those of the problem that was fitted, with its limits (``max_depth``,
    ``max_leaf_nodes``, ``min_samples_leaf``), its penalty and its cuts, whose objective is at most
    a bound. They are not listed but held as a graph whose subtrees are shared, so that there may be
    far more of them than could be listed; they are counted exactly.

    Trees are told apart by what they ask and answer. A split has rows on both sides. Two questions
    that part the training rows alike make two trees (``alike="each"``), because they may part new
    rows otherwise. A split whose leaves both answer the same is a split like any other.

    Parameters
    ----------
    model : estimator
        A fitted one whose tree is proved to be the best. It has a loss that adds up over rows, and
        no constraints, ``feature_costs``, ``path_rules`` or ``reference``.
    X, *data, **fit_params
        The data of the fit, as they were given to it.
    within : float, default=None
        By how much an objective may be larger than the least one, as a share of it: 0.05 for 5%.
        One of ``within``, ``beyond`` and ``n`` is given.
    beyond : float, default=None
        By how much an objective may be larger, as a number: 0.01.
    n : int, default=None
        The bound is such that there are so many trees: the n best ones, and all that are as good as
        the last of these.
    leaf_answers : {"best", "any"}, default="best"
        Whether leaves have the best answer for their rows (where two are as good, one of them), or
        any label.
    alike : {"each", "once"}, default="each"
        Whether questions that part the rows of a node alike make a tree each, or one tree.

    Returns
    -------
    NearOptimal
        ``n_trees`` is their number; iterate over it for the trees in the order of their objective.
        Where ``time_limit`` or ``memory_limit`` of the model ends the search, ``is_complete`` is
        False, all trees that were found are within the bound, and there are at least ``n_trees``.

    Examples
    --------
    >>> from certree import OptimalTreeClassifier, near_optimal
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.01).fit(X, y)
    >>> found = near_optimal(model, X, y, within=0.3)
    >>> print(found.statement())
    1,678 trees have an objective of at most 0.09; the least is 0.07.
    >>> found.columns()["share"].round(2).to_list()
    [0.27, 0.26, 0.77, 0.86]
    >>> found.sparsest().tree.n_leaves
    3
    """
    check_is_fitted(model)
    model._fitted.check_parameters(model)
    _check(model, {"within": within, "beyond": beyond, "n": n}, leaf_answers, alike)
    again = model._data_again(X, *data, **fit_params)
    with model._budget(monotonic()) as left, Held() as held:
        with left.patient():
            known = getattr(model, "guesser_", model.thresholds)
            posed = model._pose_in_order(again, known)
        model._fitted.check_data(posed.problem.digest, True)
        core = _groups.to_core(model.tree_._core, posed.cuts)
        if model._fitted.missing == "own_branch":
            core = _own_branch.to_core(core, posed.cuts)
        held.search()
        found = _core.near_optimal(
            posed.problem,
            core,
            model._limits(left),
            within,
            beyond,
            n,
            leaf_answers == "any",
            alike == "once",
        )
    if found.interrupt is not None:
        raise found.interrupt
    return NearOptimal(model, (X, *data), fit_params, posed, found)


def _check(
    model: Any, reach: Mapping[str, float | None], leaf_answers: str, alike: str
) -> None:
    given = {name: value for name, value in reach.items() if value is not None}
    if len(given) != 1:
        raise ValueError(
            f"one of within=, beyond= and n= says which trees are near; {len(given)} were given"
        )
    (name, value), = given.items()
    if name == "n":
        is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not (is_whole and 1 <= value < 2**63):
            raise ValueError(f"n={shown(value)} is not valid: it must be a whole number from 1")
    elif not (is_number(value) and 0 <= value < math.inf):
        raise ValueError(f"{name}={shown(value)} is not valid: it must be a number from 0")
    for role, choice, choices in (
        ("leaf_answers", leaf_answers, ("best", "any")),
        ("alike", alike, ("each", "once")),
    ):
        if choice not in choices:
            raise ValueError(f"{role}={shown(choice)} is not valid: it must be one of {choices}")
    status: Status = model.status_
    if not model._fitted.adds_up:
        raise ValueError(
            "near_optimal is for losses that add up over rows, and cuts that were read in time: "
            "not for metrics, areas and constraints"
        )
    if status != "optimal":
        raise ValueError(
            f"the tree is not proved to be the best (status {status!r}), so that it is not known "
            "what is near: certify() it first, with a larger time_limit"
        )


def _number(count: bytes) -> int:
    return int.from_bytes(count, "little")


def _asked(tree: Tree) -> set[str]:
    return {node.split.column.name for node in tree.nodes if node.split is not None}


def _groups_of(X: Any, sensitive: Any) -> list[NDArray[np.bool_]]:
    """By group, which rows are in it."""
    if isinstance(sensitive, str):
        source = sources.whole(X)
        frame = source.frame(range(len(source.names)))
        if sensitive not in frame.columns:
            raise ValueError(f"sensitive={sensitive!r} is no column of X")
        values = frame[sensitive]
    else:
        values = pl.Series(sensitive)
    kept = values.unique(maintain_order=True).to_list()
    if len(kept) < 2:
        raise ValueError("sensitive has one value: there are no groups to compare")
    return [values.eq_missing(pl.Series([each], dtype=values.dtype)).to_numpy() for each in kept]


def _number_of(tree: Tree, positive: Any) -> Callable[[Any], float]:
    """What a node answers, as a number."""
    labels = list(dict.fromkeys(node.label for node in tree.nodes))
    if tree.task not in ("classification", "costs", "rewards"):
        if positive is not None:
            raise ValueError("positive= is for answers that are labels")
        return lambda node: float(np.ravel(node.label)[0])
    known: Sequence[Any] = tree._labels.tolist()
    if positive is None and len(known) != 2:
        raise ValueError(f"positive= is needed to tell {shown(known)} apart")
    chosen = known[-1] if positive is None else positive
    if chosen not in known:
        raise ValueError(f"positive={shown(positive)} is not one of {shown(known or labels)}")
    return lambda node: float(node.label == chosen)


def _broken(
    tree: Tree, directions: Mapping[str, int], number: Callable[[Any], float]
) -> int:
    """How many pairs of leaves break a direction."""
    cells: Mapping[str, Cells] = cells_of([tree])
    leaves = [
        (number(tree.leaves[place]), region) for place, region in regions(tree, cells)
    ]
    broken = 0
    for name, direction in directions.items():
        if name not in cells:
            continue
        for low, here in leaves:
            for high, there in leaves:
                if (high - low) * direction >= 0:
                    continue
                broken += _leads(cells, here, there, name)
    return broken


def _leads(
    cells: Mapping[str, Cells],
    here: Mapping[str, frozenset[int]],
    there: Mapping[str, frozenset[int]],
    name: str,
) -> bool:
    """Whether a row of one region comes to the other by a larger value of the column alone."""

    def of(region: Mapping[str, frozenset[int]], column: str) -> frozenset[int]:
        return region.get(column, cells[column].all())

    if any(not of(here, other) & of(there, other) for other in cells if other != name):
        return False
    known = range(cells[name].n_known)
    low = [cell for cell in of(here, name) if cell in known]
    high = [cell for cell in of(there, name) if cell in known]
    return bool(low) and bool(high) and min(low) < max(high)
