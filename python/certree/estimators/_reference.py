"""Guessed lower bounds: by point, how much more a reference loses than the best label there, or the
mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core, budget, ingest
from certree.certificate import CutsReference
from certree.estimators import _balanced
from certree.estimators._posed import Posed
from certree.estimators.parameters import Rule
from certree.ingest import in_memory


def _is_given(value: Any) -> bool:
    return (
        value is None
        or (isinstance(value, str) and value == "guess")
        or hasattr(value, "predict")
        or (hasattr(value, "__len__") and not isinstance(value, (str, bytes, dict)))
    )


RULE = Rule(
    _is_given, "'guess', a classifier, the labels that one predicts for the training rows, or None"
)

#: Of regression.
NUMBERS = Rule(
    _is_given, "'guess', a regressor, the numbers that one predicts for the training rows, or None"
)


@dataclass(frozen=True)
class Guess:
    """A reference that lower bounds are guessed from."""

    #: By point.
    regrets: NDArray[np.float64]
    words: str
    #: Of the training rows, as the objective counts it.
    loss: float


@dataclass(frozen=True)
class References:
    """Both references of a fit, as far as there are any."""

    of_bounds: Guess | None = None
    of_cuts: CutsReference | None = None

    @property
    def regrets(self) -> NDArray[np.float64] | None:
        return None if self.of_bounds is None else self.of_bounds.regrets

    def beside(self, posed: Posed) -> Posed:
        """The posed problem, with what its certificate says of references."""
        of, of_cuts = self.of_bounds, self.of_cuts
        if of_cuts is not None and posed.problem.path_rules:
            # The paths of a tree that answers as the reference does keep to no rules.
            of_cuts = replace(of_cuts, copy=None)
        return replace(
            posed,
            reference=None if of is None else of.words,
            reference_loss=None if of is None else of.loss,
            cuts_reference=of_cuts,
        )


def fitted_guesser(thresholds: Any) -> Any:
    """The guesser, if the cuts are from one."""
    return thresholds if hasattr(thresholds, "n_fits_") else None


def in_time(of: Callable[..., References], arguments: tuple[Any, ...]) -> References:
    """The references that one of the functions below finds; none if the time of the fit is over
    before."""
    try:
        return of(*arguments)
    except budget.OutOfTime:
        return References()


def of_classes(
    model: Any,
    features: Any,
    training: ingest.InMemory,
    thresholds: Any,
    costs: Sequence[float],
    factors: Sequence[float],
    balanced: bool,
) -> References:
    """For costs by class. ``costs`` by class and label, ``factors`` by class."""
    from certree.guess.table import Goal

    assert training.classes is not None
    k = len(training.labels)
    weights = _row_weights(training)
    if balanced:
        totals = np.bincount(training.classes, weights=weights, minlength=k)
        factors = _balanced.factors(factors, totals[None, :])
    factor = np.array(factors)
    matrix = np.array(costs).reshape(k, k)
    # Labels are learnt where it is dear to miss them.
    counts = factor[training.classes] if weights is None else factor[training.classes] * weights
    even = bool((counts == counts[0]).all())
    goal = Goal(training.classes.astype(np.int64), training.labels, None if even else counts)

    def loss(labels: NDArray[np.uint32]) -> float:
        return float(counts @ matrix[training.classes, labels] / counts.sum())

    of_cuts, labels = _of_cuts(features, training, goal, thresholds, loss)
    if model.reference is None:
        return References(of_cuts=of_cuts)
    guesser = fitted_guesser(thresholds)
    labels, words = _answers(model, features, training, goal, guesser, labels)
    both = replace(
        training, classes=training.classes * np.uint32(k) + labels, labels=np.arange(k * k)
    )
    _, points = in_memory.cut_and_group(both, thresholds)
    if points.cut_short:
        raise budget.OutOfTime
    by_answer = points.weights.reshape(-1, k, k)
    matrix = matrix * factor[:, None]
    lost = (by_answer * matrix).sum(axis=(1, 2))
    least = (by_answer.sum(axis=2) @ matrix).min(axis=1)
    regrets = np.maximum(lost - least, 0.0) / counts.sum()
    return References(Guess(regrets, words, float(lost.sum() / counts.sum())), of_cuts)


def of_rows(
    model: Any,
    features: Any,
    training: ingest.InMemory,
    thresholds: Any,
    located: ingest.Located,
    costs: NDArray[np.float64],
    by_point: NDArray[np.float64],
    labels: NDArray[Any],
) -> References:
    """For costs by row and label, and their sums by point and label."""
    from certree.guess.table import Goal

    weights = np.ones(len(costs)) if located.weights is None else located.weights
    goal = Goal(costs.argmin(axis=1), labels, np.ptp(costs, axis=1) * weights)
    rows = np.arange(len(costs))

    def loss(labels: NDArray[np.uint32]) -> float:
        return float(np.average(costs[rows, labels], weights=weights))

    of_cuts, answered = _of_cuts(features, training, goal, thresholds, loss)
    if model.reference is None:
        return References(of_cuts=of_cuts)
    guesser = fitted_guesser(thresholds)
    # One that learnt something else is of no use for these labels.
    guesser = guesser if _suits(guesser, goal) else None
    answered, words = _answers(model, features, training, goal, guesser, answered)
    chosen = np.ascontiguousarray(costs[rows, answered][:, None])
    lost = _core.sum_by_point(located.point_of, len(by_point), chosen, located.weights)[:, 0]
    regrets = np.maximum(lost - by_point.min(axis=1), 0.0) / weights.sum()
    return References(Guess(regrets, words, loss(answered)), of_cuts)


def _suits(guesser: Any, goal: Any) -> bool:
    """True if this is a guesser whose reference answers with labels of the goal."""
    known = None if guesser is None else guesser.classes_
    return known is not None and not set(known.tolist()) - set(goal.classes.tolist())


def _of_cuts(
    features: Any,
    training: ingest.InMemory,
    goal: Any,
    thresholds: Any,
    loss: Callable[[NDArray[np.uint32]], float],
) -> tuple[CutsReference | None, NDArray[np.uint32] | None]:
    """The reference that the cuts are from, and its label for each row. None if there is none, or
    one that learnt something else."""
    from certree.guess import answers, copies

    guesser = fitted_guesser(thresholds)
    # A reference that was kept as it was given need not know the cuts alone.
    if not _suits(guesser, goal) or guesser.n_fits_ == 0:
        return None, None
    labels, words = answers.of_rows("guess", features, training.kept, goal, guesser)
    copy = copies.smallest_known(guesser.transform(features), training.kept, labels)
    return CutsReference(words, loss(labels), copy), labels


def _answers(
    model: Any,
    features: Any,
    training: ingest.InMemory,
    goal: Any,
    guesser: Any,
    of_cuts: NDArray[np.uint32] | None,
) -> tuple[NDArray[np.uint32], str]:
    """The label of each row by the reference of the bounds, and what it is in words. ``of_cuts``:
    the labels by the reference of the cuts, if they are known."""
    from certree.guess import answers

    reference = model.reference
    if isinstance(reference, str) and guesser is not None and of_cuts is not None:
        return of_cuts, answers.named(guesser.reference_)
    kept, seed = training.kept, model.random_state
    return answers.of_rows(reference, features, kept, goal, guesser, seed)


def of_squares(
    model: Any,
    features: Any,
    training: ingest.InMemory,
    thresholds: Any,
    located: ingest.Located,
    targets: NDArray[np.float64],
) -> References:
    """For squared errors: what those of the reference add to the least that each point can have, if
    it answers each point's rows by its mean over them."""
    from certree.guess import answers
    from certree.guess.table import Goal

    y = targets[:, 0] if targets.shape[1] == 1 else targets
    goal = Goal(y, None, located.weights)
    guesser = fitted_guesser(thresholds)
    spread = Spread.of(targets, located.weights)
    of_cuts = None
    if guesser is not None and guesser.classes_ is None and guesser.n_fits_ > 0:
        answered, words = answers.of_rows("guess", features, training.kept, goal, guesser)
        # A tree that answers as a regressor does has a leaf for each of its many answers.
        of_cuts = CutsReference(words, spread.loss(answered), None)
    if model.reference is None:
        return References(of_cuts=of_cuts)
    if of_cuts is None or not isinstance(model.reference, str):
        given = model.reference, features, training.kept, goal, guesser, model.random_state
        answered, words = answers.of_rows(*given)
    n_points, weights = located.points.n_points, located.weights
    if spread.size == 0.0:
        return References(Guess(np.zeros(n_points), words, 0.0), of_cuts)

    def by_point(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return _core.sum_by_point(located.point_of, n_points, np.ascontiguousarray(values), weights)

    ones = np.ones((len(targets), 1))
    lost = (by_point(spread.off(answered)) ** 2 / by_point(ones)).sum(axis=1)
    total = by_point(spread.scaled**2).sum()
    # No point costs more than all rows as one leaf.
    regrets = np.minimum(lost / total, 1.0)
    return References(Guess(regrets, words, spread.loss(answered)), of_cuts)


@dataclass(frozen=True)
class Spread:
    """Targets about their mean, of a size whose squares are numbers still."""

    scaled: NDArray[np.float64]
    centre: NDArray[np.float64]
    size: float
    weights: NDArray[np.float64] | None

    @classmethod
    def of(cls, targets: NDArray[np.float64], weights: NDArray[np.float64] | None) -> Spread:
        centre = np.average(targets, axis=0, weights=weights)
        spread = targets - centre
        size = float(np.abs(spread).max())
        return cls(spread / (size or 1.0), centre, size, weights)

    def off(self, answered: NDArray[np.float64]) -> NDArray[np.float64]:
        """By how much answers are off."""
        with np.errstate(over="ignore"):
            return np.clip(self.scaled - (answered - self.centre) / self.size, -1e100, 1e100)

    def loss(self, answered: NDArray[np.float64]) -> float:
        """The squared error as a share of that of a single leaf."""
        if self.size == 0.0:
            return 0.0
        left, whole = (
            np.average((each**2).sum(axis=1), weights=self.weights)
            for each in (self.off(answered), self.scaled)
        )
        return float(left / whole)


def _row_weights(training: ingest.InMemory) -> NDArray[np.float64] | None:
    if training.unit is None or training.weights is None:
        return None
    return training.unit.restore(training.weights, *training.finer)
