"""What every optimal tree estimator has: limits, the fitted tree, and the certificate."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from certree import _core, ingest, progress
from certree.certificate import ENDINGS, Certificate
from certree.constraints import Met
from certree.estimators import parameters
from certree.options import Status
from certree.tree import Tree

if TYPE_CHECKING:
    from typing import Self

#: Larger limits are none, and the core's clock and counters hold these.
LONGEST = 1e9
MOST = 2**32 - 1


#: Leaf penalty, shape, limits and pulse, as the core takes them.
Asked = tuple[float, tuple[Any, ...], tuple[Any, ...], Any]


class TreeEstimator(BaseEstimator):
    """The part of a tree estimator that does not depend on the task."""

    tree_: Tree
    certificate_: Certificate
    objective_: float
    lower_bound_: float
    gap_: float
    status_: Status
    n_features_in_: int

    _rules: Mapping[str, parameters.Rule]
    #: What a reference makes the search take for granted.
    _guessed = "no tree is better on any group of equal rows than the reference ({})"
    #: Whether a search that came to its proof is kept, for smaller trees.
    _keeps_search = False

    def _shape(self) -> tuple[int | None, int | None, int]:
        depth = None if self.max_depth is None else min(int(self.max_depth), MOST)
        leaves = None if self.max_leaf_nodes is None else min(int(self.max_leaf_nodes), MOST)
        return depth, leaves, min(int(self.min_samples_leaf), 2**63 - 1)

    def _limits(self) -> tuple[float | None, int | None, float, int]:
        time = None if self.time_limit is None else min(float(self.time_limit), LONGEST)
        memory = None if self.memory_limit is None else min(int(self.memory_limit), 2**63 - 1)
        return time, memory, float(self.gap_limit), parameters.threads(self.n_jobs)

    def _guess(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        class_weight: Any = None,
        n_targets: int | None = None,
    ) -> Any:
        """``thresholds``, or the fitted guesser that it stands for, which is kept as ``guesser_``. With
        ``n_targets`` the target is real, even if its numbers are whole."""
        if hasattr(self, "guesser_"):
            del self.guesser_
        given = self.thresholds
        if isinstance(given, str) and given == "guess":
            # scikit-learn's ensembles are slow to import, so only when they are used.
            from certree.guess import ThresholdGuesser

            given = ThresholdGuesser(class_weight=class_weight)
        elif not parameters.is_guesser(given) or hasattr(given, "thresholds_"):
            return given
        guesser = clone(given)
        if n_targets is not None and guesser.reference is None:
            from certree.guess import references

            guesser.set_params(reference=references.regression(n_targets))
        self.guesser_ = guesser.fit(X, y, sample_weight)
        return self.guesser_

    def _asked(self) -> Asked:
        """What is asked of every search, whatever the task."""
        pulse = progress.pulse(self.callback, bool(self.verbose))
        return float(self.leaf_penalty), self._shape(), self._limits(), pulse

    def _keep(
        self,
        answer: _core.Answer,
        training: ingest.Training,
        cuts: Sequence[ingest.Cuts],
        points: ingest.Points,
        labels: NDArray[Any],
        loss: str,
        show: Callable[[Tree], Tree] | None = None,
        constraints: Sequence[Met] = (),
        reference: str | None = None,
        before: Certificate | None = None,
    ) -> None:
        """Take over what the search found, after checking that prediction routes as it did. ``show`` gives the
        tree whose nodes hold what the user is to see. ``before``: of the search that this one goes on from."""
        self._open = None
        if answer.is_open or self._keeps_search and answer.is_of_nodes:
            more = {"constraints": constraints, "reference": reference}
            self._open = answer, partial(
                self._keep, training=training, cuts=cuts, points=points, labels=labels, loss=loss, show=show, **more
            )
        columns = [each.column for each in cuts]
        tree = Tree(answer.tree, columns, labels)
        check_routing(tree, training)
        if show is not None:
            tree = show(tree)
        self.tree_ = tree
        self.n_features_in_ = len(columns)
        if training.named:
            self.feature_names_in_ = np.array([column.name for column in columns], dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        limits = self._limits()
        self.certificate_ = Certificate(
            status=answer.status,
            objective=answer.objective,
            lower_bound=answer.lower_bound,
            n_leaves=tree.n_leaves,
            loss=loss,
            leaf_penalty=float(self.leaf_penalty),
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            thresholds=thresholds_in_words(getattr(self, "guesser_", self.thresholds)),
            cuts={each.column.name: each.count for each in cuts},
            n_rows=points.n_rows,
            n_points=points.n_points,
            time_limit=self.time_limit,
            memory_limit=self.memory_limit,
            gap_limit=float(self.gap_limit),
            seconds=answer.seconds,
            nodes=answer.nodes,
            kernel_calls=answer.kernel_calls,
            peak_bytes=answer.peak_bytes,
            threads=limits[3],
            # The search rounds its bounds down; the last moment is what was certified.
            curve=[
                *answer.curve[:-1],
                (answer.seconds, answer.objective, answer.lower_bound),
            ],
            constraints=list(constraints),
            reference=reference,
            guessed=None if reference is None else self._guessed.format(reference),
        )
        if before is not None:
            self.certificate_ = self.certificate_.after(before)
        if self.verbose:
            work = (answer.nodes, answer.kernel_calls, answer.peak_bytes)
            bounds = (answer.objective, answer.lower_bound)
            progress.finish(progress.Progress(answer.seconds, *bounds, *work), answer.status)
        self.objective_ = answer.objective
        self.lower_bound_ = answer.lower_bound
        self.gap_ = self.certificate_.gap
        self.status_ = answer.status
        if answer.status in ("time_limit", "memory_limit", "interrupted"):
            warnings.warn(
                f"{ENDINGS[answer.status]} before the tree was proved optimal: its objective is "
                f"{answer.objective:.6g}, no tree is below {answer.lower_bound:.6g} (gap {self.gap_:.3g})",
                ConvergenceWarning,
                stacklevel=3,
            )

    def certify(self) -> Self:
        """Search on, without a guess, until the tree is proved to be the best or a better one that is takes its place.

        Everything known so far is kept: the tree, the lower bound, and where the search stood. The parameters of the limits hold as they are
        now, each for this search alone: ``model.set_params(time_limit=None).certify()`` goes on until it is done. Where
        a limit or Ctrl-C ends it before the proof, the tree and its certificate have what was found until then,
        and it can be called again. Of a tree that is proved already nothing changes.

        It is for losses that add up over rows: for metrics, ranking and constraints fit again with a larger limit. A
        model that was pickled or copied has left the training rows behind, and has to be fitted again.

        Returns
        -------
        self

        Examples
        --------
        >>> from certree import OptimalTreeClassifier
        >>> from sklearn.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = OptimalTreeClassifier(max_depth=3, thresholds="guess", reference="guess").fit(X, y)
        >>> model.status_, model.certify().status_
        ('optimal_given_guess', 'optimal')
        """
        check_is_fitted(self)
        if self.status_ == "optimal":
            return self
        if getattr(self, "_open", None) is None:
            raise ValueError(
                "certify() cannot go on from here: it is for losses that add up over rows, of a model that was not "
                "pickled or copied since its fit; fit it again, with a larger time_limit"
            )
        answer, keep = self._open
        before = self.certificate_
        *_, limits, pulse = self._asked()
        keep(answer.go_on(limits, pulse), before=before)
        return self

    def _with_most_leaves(self, most: int) -> Self | None:
        """A model of the same rows with at most so many leaves, fewer than this one was allowed: what was proved of nodes is
        handed over to it. ``None`` where the search had no nodes that it could."""
        if getattr(self, "_open", None) is None:
            return None
        answer, keep = self._open
        smaller = copy(self).set_params(max_leaf_nodes=most)
        *_, limits, pulse = smaller._asked()
        partial(smaller._keep, **keep.keywords)(answer.with_most_leaves(most, limits, pulse))
        return smaller

    def __getstate__(self) -> dict[str, Any]:
        # The search and the training rows stay behind.
        return {**super().__getstate__(), "_open": None}

    def apply(self, X: Any) -> NDArray[np.uint32]:
        """The leaf that each row ends in, as an index into ``tree_.nodes``."""
        return self._fitted_tree(X).apply(X)

    def decision_path(self, X: Any) -> Any:
        """A sparse indicator matrix (rows × nodes): the nodes that each row passes."""
        return self._fitted_tree(X).decision_path(X)

    def get_depth(self) -> int:
        """The depth of the tree; a single leaf has depth 0."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much the training loss rises if the splits on a column are answered at random, as
        shares of all columns'.

        At random means: each split on the column sends a row left with the share of the training
        weight that it sent left. A row on its own side goes on by its own answers; one that is on
        the other side is spread over the leaves there as the training weight is. The rise is
        computed exactly from what the nodes hold. A column whose split gains nothing by itself, but
        without which the splits below it are of no use, has its part; a column that the tree does
        not use has 0. All are zero for a tree that knows no more than a single leaf.
        """
        from certree.estimators import _importances

        check_is_fitted(self)
        return _importances.importances(self)

    def _fitted_tree(self, X: Any) -> Tree:
        """The tree, once X is known to be something it can read."""
        check_is_fitted(self)
        ingest.check_whole(X)
        return self.tree_


def as_core_takes(
    cuts: Sequence[ingest.Cuts], points: ingest.Points
) -> tuple[list[tuple[str, Any]], _core.Points]:
    """Columns and points."""
    return [(each.column.name, each.kind) for each in cuts], points.core


def check_routing(tree: Tree, training: ingest.Training) -> None:
    """The finished tree must send the training rows where the search did: if it does not, what is
    certified is not what predicts."""
    found = _core.count_rows(tree.apply(training.source), len(tree.nodes), training.kept)
    wanted = [node.rows if node.is_leaf else 0 for node in tree.nodes]
    if found != wanted:
        raise RuntimeError(
            "prediction routes the training rows differently from the search: leaves should hold "
            f"{wanted} rows but hold {found}; this is a defect in certree, please report it "
            "with the data"
        )


def thresholds_in_words(thresholds: Any) -> str:
    """Where the cuts came from, for the certificate."""
    if isinstance(thresholds, str):
        return "all midpoints between neighbouring values"
    if isinstance(thresholds, Mapping):
        return "thresholds given by the user where named, else all midpoints"
    if parameters.is_guesser(thresholds):
        return (
            f"guessed from a {type(thresholds.reference_).__name__}: the proof speaks of these cuts only"
        )
    if hasattr(thresholds, "thresholds_"):
        return "the thresholds of a fitted binarizer"
    return f"at most {thresholds} quantiles for each column of numbers or dates"
