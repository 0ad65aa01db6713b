"""What every optimal tree estimator has: limits, the fitted tree, and the certificate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cache
from inspect import signature
from os import PathLike
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from certree import _core, budget, ingest, path_rules, progress
from certree.certificate import Certificate
from certree.constraints import NO_TREE
from certree.estimators import (
    _advice,
    _certified,
    _groups,
    _own_branch,
    _proof,
    _start,
    parameters,
)
from certree.estimators._model import FittedModel
from certree.estimators._posed import Posed
from certree.fitted import Fitted
from certree.interrupts import Held
from certree.tree import Tree
from certree.warned import warn

if TYPE_CHECKING:
    from typing import Self

#: Larger limits are none, and the core's clock and counters hold these.
LONGEST = 1e9
MOST = 2**32 - 1

#: The search of a pickled model goes along if it takes no more bytes.
MOST_SAVED = 16 << 20


class TreeEstimator(FittedModel, ABC):
    """The part of a tree estimator that does not depend on the task."""

    _rules: Mapping[str, parameters.Rule]
    #: What a reference makes the search take for granted.
    _guessed: Mapping[str, str] = {
        "leaf": "no leaf of the best tree loses less than the reference ({}) on the same rows",
        "point": "no tree is better on any group of equal rows than the reference ({})",
    }
    #: Whether a search that came to its proof is kept, for smaller trees.
    _keeps_search = False
    #: Whether there are proofs of its trees for others to check.
    _has_proofs = False

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        # To inspect the signature takes longer than a small search, and it is asked at every fit.
        names: list[str] = super()._get_param_names()
        return names

    @abstractmethod
    def _pose(self, data: Any, known: Any = None) -> Posed:
        """The problem of these data, which are what ``fit`` was given. ``known``: the thresholds of
        the fit, where the problem is posed again; lower bounds are not guessed then."""

    def _shape(self, points: ingest.Points) -> _core.Shape:
        """The limits on the tree. No tree of n points is deeper than n − 1, and some searches go
        from depth to depth, so a larger limit is taken as that one."""
        given = {core: getattr(self, name) for name, core in parameters.LIMITS.items()}
        limits = {
            core: None if value is None else min(int(value), 2**63 - 1)
            for core, value in given.items()
        }
        if limits["max_depth"] is not None:
            limits["max_depth"] = min(limits["max_depth"], max(points.n_points - 1, 0))
        return _core.Shape(**limits)

    def _problem(
        self, cuts: Sequence[ingest.Cuts], points: ingest.Points, goal: Any, **parts: Any
    ) -> _core.Problem:
        """The core's problem of these columns and points, with the limits on the tree and what its
        paths keep to. ``parts``: what else a tree of this goal keeps to."""
        rules = path_rules.read(self.path_rules, [each.column.name for each in cuts])
        if self.missing == "own_branch":
            columns, core_points = _own_branch.columns_and_points(cuts, points)
        else:
            columns = [(each.column.name, each.kind, each.missing) for each in cuts]
            core_points = points.core
        shape = self._shape(points)
        return _core.Problem(columns, core_points, goal, shape, path_rules=rules, **parts)

    def _core_places(self, cuts: Sequence[ingest.Cuts]) -> list[int] | None:
        """By column of the core, the user's column; None if they are the same."""
        return _own_branch.places(cuts) if self.missing == "own_branch" else None

    def _categories(self) -> ingest.Categories:
        """What is asked of categories."""
        most = None if self.max_categories is None else int(self.max_categories)
        depth = None if self.max_depth is None else int(min(self.max_depth, MOST))
        return ingest.Categories(self.categories, most, depth)

    def _pose_in_order(self, data: Any, known: Any = None) -> Posed:
        """As ``_pose``, of data whose columns have the orders that were declared."""
        if isinstance(data, tuple):
            data = ingest.with_orders(data[0], self.orders), *data[1:]
        return self._pose(data, known)

    def _budget(self, started: float) -> budget.Budget:
        """The limits of all that begins now, or began then."""
        time = None if self.time_limit is None else min(self.time_limit, LONGEST)
        return budget.Budget(time, self.memory_limit, started)

    def _limits(self, left: budget.Budget) -> _core.Limits:
        """The limits of a search: what is left of the budget."""
        memory = None if self.memory_limit is None else min(int(self.memory_limit), 2**63 - 1)
        threads = parameters.threads(self.n_jobs)
        gap = float(self.gap_limit)
        held = left.bytes_held()
        return _core.Limits(left.seconds_left(), memory, gap, threads, held, self._keeps_search)

    def _is_to_guess(self) -> bool:
        """True if the cuts are to be guessed from the training rows."""
        given = self.thresholds
        if isinstance(given, str):
            return given == "guess"
        return parameters.is_guesser(given) and not hasattr(given, "thresholds_")

    def _progress(self, left: budget.Budget) -> progress.Shown | None:
        """The line of progress of a search that begins now."""
        return progress.shown(bool(self.verbose), left.seconds_left())

    def _guess(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        class_weight: Any = None,
        n_targets: int | None = None,
    ) -> Any:
        """``thresholds``, or the fitted guesser that it stands for. With ``n_targets`` the target
        is real, even if its numbers are whole."""
        given = self.thresholds
        if (self._is_to_guess() or parameters.is_guesser(given)) and budget.is_over():
            # There is no time to ask for any cut.
            return given if hasattr(given, "thresholds_") else "all"
        if isinstance(given, str) and given == "guess":
            # scikit-learn's ensembles are slow to import, so only when they are used.
            from certree.guess import ThresholdGuesser

            given = ThresholdGuesser(class_weight=class_weight, random_state=self.random_state)
        elif not parameters.is_guesser(given) or hasattr(given, "thresholds_"):
            return given
        guesser = clone(given)
        if n_targets is not None and guesser.reference is None:
            from certree.guess import references

            guesser.set_params(reference=references.regression(n_targets))
        try:
            return guesser.fit(X, y, sample_weight)
        except budget.OutOfTime:
            return "all"

    def _solve(
        self, data: Any, started: float, named: Mapping[str, Any], start: Any = None
    ) -> Self:
        """Pose the problem of these data, search for its best tree, and keep that: also where
        Ctrl-C ends the search. ``named``: the columns of X that arguments of ``fit`` name.
        ``start``: a tree to begin with."""
        with self._budget(started) as left, Held() as held:
            posed = self._pose_in_order(data)
            self._refuse_missing(posed)
            # Before the search, because a callback may set parameters.
            fitted = Fitted.of(self, posed.digest, named)
            known = None if start is None else _start.incumbent(start, posed, self.missing)
            held.search()
            shown = self._progress(left)
            pulse = progress.pulse(self.callback, shown, held)
            answer = self._search(posed, left, pulse, known)
            # Without cuts that were to be guessed there is no problem to go on with.
            lacks_cuts = posed.cut_short and self._is_to_guess()
            fitted = replace(fitted, adds_up=answer.is_of_nodes and not lacks_cuts)
            self._keep(answer, posed, fitted, data, shown=shown)
        return self

    def _refuse_missing(self, posed: Posed) -> None:
        """A ValueError where values are missing that may not be."""
        if self.missing == "refuse" and any(each.missing for each in posed.training.columns):
            features = [each.name for each in posed.training.columns]
            if isinstance(posed.training, ingest.Merged):
                posed.training.refuse_missing()
            ingest.refuse_missing(posed.training.source, features)

    def _search(
        self,
        posed: Posed,
        left: budget.Budget,
        pulse: progress.Pulse,
        known: tuple[_core.Tree, float] | None,
    ) -> _core.Answer:
        """The answer to a problem that was posed for the first time. ``known``: a tree of it, and a
        number that no tree's objective is below."""
        try:
            return _core.solve(posed.problem, self._limits(left), pulse, known)
        except ValueError as error:
            if not (posed.cut_short and str(error).startswith(NO_TREE)):
                raise
            raise ValueError(
                f"time_limit={self.time_limit} was over before the table was read, and no single"
                " leaf meets the constraints: raise it"
            ) from None

    def _keep(
        self,
        answer: _core.Answer,
        posed: Posed,
        fitted: Fitted,
        data: Any,
        before: Certificate | None = None,
        shown: progress.Shown | None = None,
        larger: Certificate | None = None,
    ) -> None:
        """Take over what the search found, all at once, after checking that prediction routes as it
        did. ``before``: of the search that this one goes on from. ``shown``: its line of progress.
        ``larger``: of the same problem with more leaves. What a signal raised meanwhile is raised
        at the end."""
        columns = [each.column for each in posed.cuts]
        try:
            tree = self._finished_tree(
                answer.tree, posed, fitted.missing, fitted.missing_unseen, fitted.unseen
            )
        except RuntimeError:
            # A callback, or another thread, may have changed the data under the search.
            again = self._pose_in_order(data, posed.thresholds)
            fitted.check_data(again.problem.digest, False)
            raise
        certificate = _certified.certificate(self, answer, posed, fitted, tree, larger)
        if before is not None:
            certificate = certificate.after(before)
        stays_open = (
            posed.cut_short or answer.is_open or self._keeps_search and answer.is_of_nodes
        )
        kept: dict[str, Any] = {
            **posed.attributes,
            "_fitted": fitted,
            "_open": (None if posed.cut_short else answer, posed, data) if stays_open else None,
            # Of a model that was unpickled: what its search had proved.
            "_saved_search": None,
            "tree_": tree,
            "certificate_": certificate,
            "n_features_in_": len(columns),
            "objective_": certificate.objective,
            "lower_bound_": certificate.lower_bound,
            "gap_": certificate.gap,
            "status_": certificate.status,
        }
        if posed.training.named:
            names = [column.name for column in columns]
            kept["feature_names_in_"] = np.array(names, dtype=object)
        if parameters.is_guesser(posed.thresholds) and posed.thresholds is not self.thresholds:
            kept["guesser_"] = posed.thresholds
        # Together, so that no error in between leaves half of another tree.
        for name in ("feature_names_in_", "guesser_"):
            self.__dict__.pop(name, None)
        self.__dict__.update(kept)
        if shown is not None:
            work = (answer.nodes, answer.kernel_calls, answer.peak_bytes)
            bounds = (self.objective_, self.lower_bound_)
            last = progress.Progress(answer.seconds, *bounds, *work)
            table = certificate.work.table() if int(self.verbose) >= 2 else None
            shown.finish(last, self.status_, certificate.route, table)
        try:
            if self.status_ in ("time_limit", "memory_limit", "interrupted"):
                message = _advice.text(self, posed, fitted.adds_up)
                warn(message, ConvergenceWarning)
        finally:
            if answer.interrupt is not None:
                raise answer.interrupt

    def _finished_tree(
        self,
        core: _core.Tree,
        posed: Posed,
        missing: str,
        missing_unseen: str,
        unseen: Any,
        is_checked: bool = True,
    ) -> Tree:
        """The user's tree, after checking that prediction routes as the search did."""
        found = core
        if missing == "own_branch":
            core = _own_branch.to_user(core, posed.cuts)
        core = _groups.to_user(core, posed.cuts)
        tree = Tree(core, [each.column for each in posed.cuts], posed.labels)
        training = posed.training
        if isinstance(training, ingest.Merged):
            if is_checked:
                check_routing(tree, list(training.count_leaves(tree)))
            if posed.show_by_row is not None:
                # Its rows are points.
                tree = posed.show_by_row(tree, posed.problem.leaves(found))
        elif is_checked or posed.show_by_row is not None:
            leaves = tree._route(training.source, None)
            if is_checked:
                check_routing(tree, _core.count_rows(leaves, len(tree.nodes), training.kept))
            if posed.show_by_row is not None:
                kept = leaves if training.kept is None else leaves[training.kept]
                tree = posed.show_by_row(tree, kept)
        if posed.show is not None:
            tree = posed.show(tree)
        # After the check, because rows that weigh nothing may miss what no other row does.
        missing_unseen = "refuse" if missing == "refuse" else missing_unseen
        return tree._with(missing_unseen=missing_unseen, unseen=unseen)

    def certify(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        instance: str | PathLike[str] | None = None,
        proof: str | PathLike[str] | None = None,
    ) -> Self:
        """Search on, without a guess, until the tree is proved to be the best or a better one that
        is takes its place.

        Everything known so far is kept: the tree, the lower bound, and where the search stood. The
        limits of the run hold as they are now, for this search alone:
        ``model.set_params(time_limit=None).certify()`` goes on until it is done. The other
        parameters define the problem that was fitted, so that one which was changed is an error.
        Where a limit or Ctrl-C ends it before the proof, the tree and its certificate have what was
        found until then, and it can be called again. Of a tree that is proved already nothing
        changes.

        It is for losses that add up over rows: for metrics, ranking and constraints fit again with
        a larger limit.

        Parameters
        ----------
        X, y, sample_weight : default=None
            The data of the fit, as they were given to it. They are needed by a model that was
            pickled or copied, which has left its training rows behind. A pickle keeps what the
            search had proved if that takes at most 16 MB; otherwise, and in a copy, the search
            starts again from the tree and the lower bound. Without them, the data are those
            that ``fit`` was given, which are read again. Either way a digest tells whether they are
            still the same; if not, it is an error.
        instance, proof : path, default=None
            Files to write, for others to check: the problem, and why no tree of it is better than
            this one, as :func:`certree.prove` does. They belong together.

        Returns
        -------
        self

        Examples
        --------
        >>> from certree import OptimalTreeClassifier
        >>> from sklearn.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = OptimalTreeClassifier(max_depth=3, thresholds="guess", reference="guess")
        >>> model.fit(X, y).status_, model.certify().status_
        ('optimal_given_guess', 'optimal')
        """
        data = None if X is None else (X, y, sample_weight)
        return self._certify(data, instance, proof)

    def _certify(
        self, data: Any, instance: str | PathLike[str] | None, proof: str | PathLike[str] | None
    ) -> Self:
        """As above; ``data`` are as ``_solve`` takes them, or None for those of the fit."""
        if (instance is None) != (proof is None):
            raise ValueError("instance= and proof= belong together: the one speaks of the other")
        kept = getattr(self, "_open", None) or (None, None, None)
        certified = self._go_on(data)
        if instance is not None and proof is not None:
            data = kept[2] if data is None else data
            if data is None:
                raise ValueError(
                    "proof= needs the data of the fit: pass them, as they were given to fit"
                )
            _proof.write(self, data, instance, proof)
        return certified

    def _go_on(self, data: Any) -> Self:
        """Certify; ``data`` are as ``_solve`` takes them, or None for those of the fit."""
        check_is_fitted(self)
        self._fitted.check_parameters(self)
        if self.status_ == "optimal" and data is None:
            return self
        earlier: Any = getattr(self, "_open", None)
        if not self._fitted.adds_up:
            raise ValueError(
                "certify() cannot go on from here: it is for losses that add up over rows, and for "
                "cuts that were guessed in time; fit again, with a larger time_limit"
            )
        if data is None and earlier is None:
            raise ValueError(
                "certify() cannot go on from here without the data: a model that was pickled or "
                "copied has left them behind; pass them, as they were given to fit"
            )
        given = data is not None
        data = data if given else earlier[2]
        with self._budget(monotonic()) as left, Held() as held:
            # All rows have to be read, or nobody knows whether they are those of the fit.
            with left.patient():
                posed = self._pose_in_order(data, getattr(self, "guesser_", self.thresholds))
            self._fitted.check_data(posed.problem.digest, given)
            if self.status_ == "optimal":
                return self
            before, fitted = self.certificate_, replace(self._fitted, digest=posed.digest)
            posed = replace(
                posed,
                reference=before.reference,
                reference_loss=before.reference_loss,
                cuts_reference=before.cuts_reference,
            )
            held.search()
            shown = self._progress(left)
            pulse = progress.pulse(self.callback, shown, held)
            limits = self._limits(left)
            if earlier is not None and earlier[0] is not None:
                answer = earlier[0].go_on(limits, pulse)
            else:
                core = _groups.to_core(self.tree_._core, posed.cuts)
                if self._fitted.missing == "own_branch":
                    core = _own_branch.to_core(core, posed.cuts)
                incumbent = core, self.lower_bound_
                saved = getattr(self, "_saved_search", None)
                answer = _core.solve(posed.problem, limits, pulse, incumbent, saved)
            self._keep(answer, posed, fitted, data, before, shown)
        return self

    def _data_again(self, *given: Any, **named: Any) -> Any:
        """The data of the fit, given again as ``certify`` takes them, as ``_solve`` takes them."""
        bound = signature(self.certify).bind(*given, **named)
        bound.apply_defaults()
        # These are files to write, which only ``certify`` has, and no data.
        files = {"instance", "proof"}
        return tuple(given for name, given in bound.arguments.items() if name not in files)

    def _with_most_leaves(self, most: int) -> Self | None:
        """A model of the same rows with at most so many leaves, fewer than this one was allowed:
        what was proved of nodes is handed over to it. ``None`` where the search had no nodes that
        it could."""
        answer, posed, data = getattr(self, "_open", None) or (None, None, None)
        if answer is None:
            return None
        smaller = copy(self)
        # Not by set_params, which looks up the names of all parameters first.
        smaller.max_leaf_nodes = most
        with Held() as held, smaller._budget(monotonic()) as left:
            held.search()
            shown = smaller._progress(left)
            pulse = progress.pulse(self.callback, shown, held)
            answer = answer.with_most_leaves(most, smaller._limits(left), pulse)
            fitted = self._fitted.with_most_leaves(most)
            larger = self.certificate_
            smaller._keep(answer, posed, fitted, data, shown=shown, larger=larger)
        return smaller

    def __getstate__(self) -> dict[str, Any]:
        # The training rows stay behind, and what the search has proved goes along as bytes.
        state = super().__getstate__()
        if state.get("_open") is None:
            return state
        answer = state["_open"][0]
        saved = answer.to_bytes(MOST_SAVED) if answer is not None and answer.is_open else None
        return {**state, "_open": None, "_saved_search": saved}

    def __copy__(self) -> Self:
        # A copy within this process is no reason to write the search down.
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__, _open=None)
        return made

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "refuse"
        tags.input_tags.sparse = True
        return tags


def room_for_goal(n_numbers: int, copies: int) -> None:
    """A ValueError unless there is room for a goal of so many numbers, and for the copies of them
    that are there at once: as they were given, in whole units, and as the search needs them."""
    budget.require(8 * n_numbers * copies, f"a goal of {n_numbers} numbers")


def check_routing(tree: Tree, found: list[int]) -> None:
    """The finished tree must send the training rows where the search did: if it does not, what is
    certified is not what predicts. ``found``: by node, the rows that prediction sends there."""
    wanted = [node.rows if node.is_leaf else 0 for node in tree.nodes]
    if found != wanted:
        raise RuntimeError(
            "prediction routes the training rows differently from the search: leaves should hold "
            f"{wanted} rows but hold {found}; this is a defect in certree, please report it "
            "with the data"
        )
