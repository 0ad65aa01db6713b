"""What trees have in common that choose among labels with a number for each row and label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from certree import _core, ingest
from certree.answers import label_array
from certree.constraints import Constraint
from certree.estimators import _constrained, _constrained_rows, _reference
from certree.estimators._base import room_for_goal
from certree.estimators._feature_costs import FeatureCostEstimator
from certree.estimators._posed import Posed
from certree.estimators.parameters import is_guesser
from certree.feature_costs import FeatureCosts
from certree.ingest.checks import check_same_length, check_sum, row_sizes
from certree.generalization import REFUSED, Losses
from certree.schema import Task
from certree.tree import Tree

@dataclass(frozen=True)
class Rows:
    """The rows that a tree for costs by row is fitted to."""

    X: Any
    training: ingest.InMemory
    #: By row and label, and whether they are costs (1) or rewards (-1).
    given: NDArray[np.float64]
    labels: NDArray[Any]
    sign: float
    task: Task
    #: In words.
    loss: str
    feature_costs: FeatureCosts | None = None
    #: What the loss on one row is.
    losses: Losses = REFUSED
    #: Further attributes of the fitted estimator.
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class MergedRows:
    """As above, where the rows lie in partitions and only sums came here."""

    training: ingest.Merged
    sign: float
    task: Task
    loss: str
    feature_costs: FeatureCosts | None
    losses: Losses
    attributes: Mapping[str, Any]


class RowTreeEstimator(FeatureCostEstimator):
    """A tree for costs by row and label; rewards are costs below zero."""

    constraints: Sequence[Constraint]

    def _hidden(self, X: Any, taken: Sequence[Any]) -> tuple[Any, list[str]]:
        """The table that features are read from, and columns of X that constraints name and that
        are no features. ``taken``: names of columns that are something else."""
        named = _constrained.named_columns(self.constraints, X)
        for name in named.used:
            if name in [other for other in taken if isinstance(other, str)]:
                role = "sensitive" if name in named.sensitive else "values"
                raise ValueError(
                    f"{role}={name!r} is also a column of targets or weights; it must be "
                    "another one"
                )
        left = ingest.blanked(X, named.hidden)
        return left, named.hidden if left is X else []

    def _pose_rows(self, rows: Rows, known: Any) -> Posed:
        """The problem of the tree with the least mean of ``sign * given``; its nodes show the mean
        of ``given``."""
        training, labels = rows.training, rows.labels
        kept = rows.given if training.kept is None else rows.given[training.kept]
        check_sum(kept)
        costs = rows.sign * kept
        thresholds = self._guess_from(rows) if known is None else known
        located = ingest.locate(training, thresholds, self._categories())
        weights, points = located.weights, located.points
        room_for_goal(points.n_points * costs.shape[1], 6)
        by_point = _core.sum_by_point(located.point_of, points.n_points, costs, weights)
        # Rounded once, so that they do not depend on how rows are divided.
        both = np.column_stack([row_sizes(kept), np.ones(len(kept))])
        at_root = np.zeros(len(kept), dtype=np.uint32)
        size, normalizer = _core.sum_by_point(at_root, 1, both, weights)[0].tolist()
        leaf_penalty = float(self.leaf_penalty)
        goal = _core.RowCosts(by_point, points.weights.ravel(), size, normalizer, leaf_penalty)
        constraints = met = None
        found = _reference.References()
        # A tree that answers as the reference of the cuts does would pay for columns, too.
        of_cuts = is_guesser(thresholds) and rows.feature_costs is None
        if self.constraints:
            of = tuple(self.constraints)
            named = _constrained.named_columns(of, rows.X)
            constraints, met = _constrained_rows.core(
                of, rows.X, training, located, labels, costs, named
            )
        elif known is None and not points.cut_short and (self.reference is not None or of_cuts):
            features = features_as_given(rows.X, training)
            given = training, thresholds, located, costs, by_point, labels
            found = _reference.in_time(_reference.of_rows, (self, features, *given))
        column_costs = rows.feature_costs
        problem = self._problem(
            located.cuts,
            points,
            goal,
            constraints=constraints,
            feature_costs=(
                None
                if column_costs is None
                else column_costs.core(
                    self._core_places(located.cuts), self._sums(located, training.kept)
                )
            ),
            regrets=found.regrets,
        )

        def show(tree: Tree, leaves: NDArray[np.uint32]) -> Tree:
            # A copy of what was given, which may change while the search goes on.
            return with_means(tree, leaves, rows.sign * costs, weights, rows.task)

        posed = Posed(
            problem,
            training,
            located.cuts,
            points,
            labels,
            rows.loss,
            thresholds,
            show_by_row=show,
            met=met,
            attributes={"labels_": labels, **rows.attributes},
            least_loss=_least_mean(costs, weights, size / normalizer) if points.cut_short else 0.0,
            losses=rows.losses,
        )
        return found.beside(posed)

    def _pose_merged_rows(self, rows: MergedRows, known: Any) -> Posed:
        """As above, of rows that lie in partitions, whose numbers were added up there."""
        merged, sign = rows.training, rows.sign
        assert merged.points is not None
        thresholds = self.thresholds if known is None else known
        labels, n_labels = label_array(merged.target_names), len(merged.target_names)
        room_for_goal(merged.points.n_points * n_labels, 6)
        lists = np.concatenate(merged.sums)
        at_root = np.zeros(len(lists), dtype=np.uint32)
        *_, size, normalizer = _core.sum_by_point(at_root, 1, lists)[0].tolist()
        # A sum of 0 has no sign.
        by_point = np.ascontiguousarray(sign * merged.sums[0][:, :n_labels] + 0.0)
        amounts = merged.points.weights.ravel()
        goal = _core.RowCosts(by_point, amounts, size, normalizer, float(self.leaf_penalty))
        column_costs = rows.feature_costs
        places = self._core_places(merged.cuts)
        core_costs = None if column_costs is None else column_costs.core(places)
        problem = self._problem(merged.cuts, merged.points, goal, feature_costs=core_costs)

        def show(tree: Tree, leaves: NDArray[np.uint32]) -> Tree:
            of = np.tile(leaves, len(merged.sums))
            sums = _core.sum_by_point(of, len(tree.nodes), lists)
            return with_mean_sums(tree, sums[:, :n_labels], sums[:, -1:], rows.task)

        return Posed(
            problem,
            merged,
            merged.cuts,
            merged.points,
            labels,
            rows.loss,
            thresholds,
            show_by_row=show,
            attributes={"labels_": labels, **rows.attributes},
            losses=rows.losses,
        )

    def _guess_from(self, rows: Rows) -> Any:
        """``thresholds``, or the guesser that it stands for: its reference learns the cheapest
        label of each row, weighted by what is at stake there."""
        if not (isinstance(self.thresholds, str) and self.thresholds == "guess"):
            if not is_guesser(self.thresholds) or hasattr(self.thresholds, "thresholds_"):
                return self.thresholds
        training = rows.training
        given = rows.given if training.kept is None else rows.given[training.kept]
        stakes = np.ptp(given, axis=1)
        if training.unit is not None and training.weights is not None:
            weights = training.unit.restore(training.weights, *training.finer)
            # Products of large costs and large weights may be more than a float holds.
            stakes = stakes / max(stakes.max(), 1.0) * (weights / weights.max())
        if not stakes.any():
            raise ValueError(
                f"every label has the same {rows.task} in each row, so that a reference cannot "
                "learn which one to "
                "choose: there are no cuts to guess"
            )
        stakes = stakes / stakes.max()
        everything = np.zeros(len(rows.given))
        everything[slice(None) if training.kept is None else training.kept] = stakes
        best = rows.labels[(rows.sign * rows.given).argmin(axis=1)]
        return self._guess(features_as_given(rows.X, training), best, everything)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row."""
        return self._fitted_tree(X).predict(X)


def _least_mean(
    costs: NDArray[np.float64], weights: NDArray[np.float64] | None, size: float
) -> float:
    """What every tree loses at least: the mean of the least that each row can cost, rounded down.
    ``size``: the mean size of rows' costs."""
    return float(np.average(costs.min(axis=1), weights=weights)) - 1e-9 * size


def open_rows(
    X: Any, n_rows: int, role: str, sample_weight: Any, others: Sequence[str] = ()
) -> ingest.InMemory:
    """Features and weights, of as many rows as the numbers in ``role`` have."""
    training = ingest.read_rows(X, sample_weight, others)
    check_same_length(training.source.height, n_rows, role)
    return training


def with_means(
    tree: Tree,
    leaves: NDArray[np.uint32],
    given: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    task: Task,
) -> Tree:
    """The tree whose nodes hold the means over their rows."""
    n_nodes = len(tree.nodes)
    total = _core.sum_by_point(leaves, n_nodes, given, weights)
    weight = _core.sum_by_point(leaves, n_nodes, np.ones((len(leaves), 1)), weights)
    return with_mean_sums(tree, total, weight, task)


def with_mean_sums(
    tree: Tree, total: NDArray[np.float64], weight: NDArray[np.float64], task: Task
) -> Tree:
    """The tree whose nodes hold the means of sums in its leaves, and of their weights."""
    # Children come after their parent.
    for node in reversed(tree.nodes):
        if node.split is not None:
            for sums in (total, weight):
                sums[node.id] = sums[node.split.left] + sums[node.split.right]
    means = (total / weight).tolist()
    parts = [
        (split, label, rows, mean, loss)
        for (split, label, rows, _, loss), mean in zip(tree._core.parts(), means)
    ]
    return tree._with(core=_core.Tree(parts), task=task)


def of_chosen(
    values: NDArray[np.float64], labels: NDArray[Any], chosen: NDArray[Any]
) -> NDArray[np.float64]:
    """Each row's value of the label that was chosen for it; ``values`` has a column for each of
    ``labels``."""
    places = {label: place for place, label in enumerate(labels.tolist())}
    return values[np.arange(len(chosen)), [places[label] for label in chosen.tolist()]]


def mean_and_error(
    values: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> tuple[float, float]:
    """The weighted mean, and its standard error: of rows drawn one by one, whose weights are known.
    """
    if weights is None:
        weights = np.ones(len(values))
    share = weights / weights.sum()
    mean = float(share @ values)
    n = int((weights > 0).sum())
    if n < 2:
        return mean, float("nan")
    return mean, float(np.sqrt(n / (n - 1) * (share**2 @ (values - mean) ** 2)))


def row_weights(sample_weight: Any, X: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Weights to score with: checked as those of a fit."""
    if sample_weight is None:
        return None
    found = ingest.read_weights(X, sample_weight)
    check_same_length(n_rows, len(found), "sample_weight")
    return found


def features_as_given(X: Any, training: ingest.InMemory) -> Any:
    """What fitted models predict from: X, less the columns that were named as something else."""
    names = [column.name for column in training.columns]
    if len(names) == len(training.source.names):
        return X.collect() if isinstance(X, pl.LazyFrame) else X
    frame = training.source.frame(training.source.places(names))
    return X[names] if hasattr(X, "iloc") else frame
