"""How well a model does on rows that it was not fitted to, with bootstrap intervals.

What is measured here, ``certree.report`` shows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from certree import honest, ingest, intervals
from certree.measures import (
    Counts,
    Estimate,
    Floats,
    area,
    confusion,
    mean_over_rows,
    of_resamples,
    wilson,
)
from certree.schema import NUMBERS
from certree.tree import Tree

MOST_PAIRS = 60_000_000
"""Of rows, that all resamples together compare."""

RESAMPLES = 2000
"""Of ``evaluate``; a report takes fewer."""

Measures = list[tuple[str, Estimate]]


@dataclass(frozen=True)
class Answered:
    """The groups of rows that a model answers alike: of a tree its leaves."""

    #: By row, the place of its group.
    place: NDArray[np.int64]
    #: By group, the number of the class that is answered.
    answers: NDArray[np.int64]
    #: Group × class; None where the model knows no shares.
    shares: Floats | None
    #: What groups are called: the ids of leaves, or their places.
    names: list[int]

    @classmethod
    def of_tree(cls, tree: Tree, leaves: NDArray[np.int64]) -> Answered:
        ids = [leaf.id for leaf in tree.leaves]
        place = np.zeros(len(tree.nodes), dtype=np.int64)
        place[ids] = np.arange(len(ids))
        own = tree.labels.tolist()
        answers = np.array([own.index(leaf.label) for leaf in tree.leaves])
        shares = np.array([tree.shares(leaf) for leaf in tree.leaves])
        return cls(place[leaves], answers, shares, ids)


@dataclass(frozen=True)
class Labelled:
    """What is measured of answers that are classes."""

    accuracy: Estimate
    #: By class, its measures against all others.
    by_class: list[Measures]
    brier: Estimate | None
    #: True class × answered class.
    matrix: Floats
    #: By group, its rows and the share of each class that is observed.
    rows: Floats
    observed: list[list[Estimate]]


def labelled(
    answered: Answered, known: NDArray[np.int64], n_labels: int, resamples: int, confidence: float
) -> Labelled:
    """``known``: the number of each row's class; of two classes the Brier score is that of the
    last one."""
    shape = (len(answered.answers), n_labels)
    counts = Counts(answered.place, known, shape, resamples, confidence)
    matrices = confusion(counts.rows, answered.answers)
    with np.errstate(divide="ignore", invalid="ignore"):
        right = np.einsum("rcc->rc", matrices)
        shares_right = right.sum(axis=1) / matrices.sum(axis=(1, 2))
    accuracy = of_resamples(shares_right, len(known), confidence)
    shares, brier = answered.shares, None
    if n_labels == 2 and shares is not None:
        own = shares
        brier = counts.estimate(lambda drawn: _brier(drawn, own, 1))
    found = counts.rows[0]
    totals = found.sum(axis=1)
    observed = [
        [wilson(each, total, confidence) for each in line] for line, total in zip(found, totals)
    ]
    by_class = [_of_class(counts, matrices, shares, k) for k in range(n_labels)]
    return Labelled(accuracy, by_class, brier, matrices[0], totals, observed)


def _of_class(counts: Counts, matrices: Floats, shares: Floats | None, positive: int) -> Measures:
    """Measures of one class against all others."""
    total = matrices.sum(axis=(1, 2))
    hit = matrices[:, positive, positive]
    actual = matrices[:, positive].sum(axis=1)
    answered = matrices[:, :, positive].sum(axis=1)
    rejected = total - actual - answered + hit
    with np.errstate(divide="ignore", invalid="ignore"):
        found = [
            ("sensitivity", hit / actual),
            ("specificity", rejected / (total - actual)),
            ("PPV", hit / answered),
            ("NPV", rejected / (total - answered)),
        ]
    n, level = counts.n_rows, counts.confidence
    measures = [(name, of_resamples(values, n, level)) for name, values in found]
    if shares is not None:
        said = shares[:, positive]
        measures.append(("AUC", counts.estimate(lambda drawn: area(drawn, said, positive))))
    return measures


def _brier(drawn: Floats, shares: Floats, positive: int) -> Floats:
    said = shares[:, positive]
    of_class = drawn[:, :, positive]
    others = drawn.sum(axis=2) - of_class
    squares = of_class @ (1 - said) ** 2 + others @ said**2
    found: Floats = squares / drawn.sum(axis=(1, 2))
    return found


def numbers(truth: Floats, answers: Floats, resamples: int, confidence: float) -> list[Measures]:
    """Of each target: R², root mean squared error, and mean absolute error."""
    found = []
    for y, said in zip(truth.T, answers.T):
        error, centred = y - said, y - y.mean()
        vectors = (error**2, np.abs(error), centred, centred**2)
        squares, absolute, mean, spread = mean_over_rows(*vectors, resamples=resamples)
        with np.errstate(divide="ignore", invalid="ignore"):
            explained = 1 - squares / (spread - mean**2)
        explained[~np.isfinite(explained)] = math.nan
        values = (explained, np.sqrt(squares), absolute)
        names = ("R²", "root mean squared error", "mean absolute error")
        estimates = [of_resamples(each, len(truth), confidence) for each in values]
        found.append(list(zip(names, estimates)))
    return found


def by_label(
    given: Floats, chosen: NDArray[np.intp], costs: bool, resamples: int, confidence: float
) -> list[Estimate]:
    """The mean cost or reward of the labels chosen, of the best label of each row, were it known,
    and of each label for all rows."""
    best = given.min(axis=1) if costs else given.max(axis=1)
    vectors = [given[np.arange(len(given)), chosen], best, *given.T]
    means = mean_over_rows(vectors[0], *vectors[1:], resamples=resamples)
    return [of_resamples(own, len(given), confidence) for own in means]


def concordance(
    time: Floats, events: NDArray[np.bool_], risk: Floats, confidence: float
) -> Estimate:
    """Harrell's: it compares pairs, so that data of many rows have no interval."""
    from certree.estimators._kaplan_meier import concordance as harrell

    values = [harrell(time, events, risk, None)]
    rng = np.random.default_rng(0)
    resamples = min(MOST_PAIRS // len(time) ** 2, 100)
    for _ in range(resamples if resamples >= 20 else 0):
        drawn = rng.integers(0, len(time), len(time))
        values.append(harrell(time[drawn], events[drawn], risk[drawn], None))
    return of_resamples(np.array(values), len(time), confidence)


@dataclass(frozen=True)
class Evaluation:
    """What rows that a model was not fitted to say of it."""

    n_rows: int
    confidence: float
    #: ``of`` (a class, target or label; null of all), ``metric``, ``value``, ``low``, ``high``.
    metrics: pl.DataFrame
    #: By leaf what it says and what its rows are; None where that is not known.
    leaves: pl.DataFrame | None = None
    #: By true class the rows that each class was answered for; None of other answers.
    confusion: pl.DataFrame | None = None

    def __getitem__(self, metric: str) -> Estimate:
        """A metric by its name: of the class that is positive, or of the only target."""
        found = self.metrics.filter(pl.col("metric") == metric)
        if not found.height:
            known = ", ".join(self.metrics["metric"].unique(maintain_order=True))
            raise KeyError(f"{metric!r} was not measured, but {known}")
        return Estimate(*(math.nan if v is None else v for v in found.row(-1)[2:]))

    def __str__(self) -> str:
        lines = [
            f"{self.n_rows:,} rows; in brackets intervals of confidence {self.confidence:g}, by "
            "resampling them"
        ]
        for of, metric, *ends in self.metrics.iter_rows():
            estimate = Estimate(*(math.nan if v is None else v for v in ends))
            lines.append(f"  {metric}{'' if of is None else f' of {of}'}: {estimate}")
        return "\n".join(lines)


def evaluate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    confidence: float = 0.95,
    positive_label: Any = None,
    **given: Any,
) -> Evaluation:
    """Measure a fitted model on rows that it was not fitted to, with bootstrap intervals.

    Parameters
    ----------
    model : a fitted model, or a Tree
        Of certree, or any classifier or regressor of scikit-learn's kind. One without
        ``predict_proba`` has no AUC, Brier score and calibration.
    X : frame or array
        Independent rows that had no part in the fit, nor in the choice of its parameters.
    y : default=None
        What is true of them: labels, numbers, or the name of a column of X. Of trees for costs and
        rewards the table, rows × labels; of survival trees a pair of times and events.
    confidence : float, default=0.95
        Of each interval by itself. They are percentiles of 2,000 resamples (fewer of many rows),
        which are too narrow below some 50 rows; :meth:`Tree.honest` is exact.
    positive_label : default=None
        The class that sensitivity and the others speak of first; without it that of the model, or
        else the last one.
    **given
        For ``OptimalPolicyTree`` in place of y: ``treatment``, ``outcome``, ``propensity`` and
        ``predicted``, as for its ``policy_value``. What each treatment would have brought is then
        estimated as its ``teacher`` says, doubly robust unless another one was asked for, with
        models that are cross-fitted on these rows where they are not given.

    Returns
    -------
    Evaluation
        With ``metrics``, ``leaves`` and ``confusion`` as tables, and ``evaluation["accuracy"]``.

    Examples
    --------
    >>> from certree import OptimalTreeClassifier, evaluate
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = OptimalTreeClassifier(max_depth=2, thresholds=8).fit(X[:300], y[:300])
    >>> found = evaluate(model, X[300:], y[300:])
    >>> print(found["accuracy"])
    0.9145 (0.8773 to 0.948)
    """
    intervals.check(confidence)
    tree = model if isinstance(model, Tree) else getattr(model, "tree_", None)
    if not hasattr(model, "predict"):
        raise TypeError(f"the model has no predict, it is a {type(model).__name__}")
    if isinstance(tree, Tree):
        positive = positive_label
        if positive is None:
            positive = getattr(model, "positive_label", None)
        return _of_tree(model, tree, X, y, confidence, positive, given)
    if given:
        raise TypeError(f"{', '.join(given)} are for OptimalPolicyTree")
    return _of_other(model, X, y, confidence, positive_label)


def _of_tree(
    model: Any,
    tree: Tree,
    X: Any,
    y: Any,
    confidence: float,
    positive: Any,
    given: dict[str, Any],
) -> Evaluation:
    if given and not hasattr(model, "policy_scores"):
        raise TypeError(f"{', '.join(given)} are for OptimalPolicyTree")
    leaves = np.asarray(tree.apply(X), dtype=np.int64)
    if not len(leaves):
        raise ValueError("X has no rows")
    if tree.task == "classification":
        labels = tree.labels.tolist()
        known = np.asarray(honest.indicators(tree, X, y, len(leaves)))
        if not known.any(axis=1).all():
            raise ValueError("y has labels that the tree was not fitted with")
        numbers_of = known.argmax(axis=1)
        answered = Answered.of_tree(tree, leaves)
        return _labelled(answered, numbers_of, labels, confidence, positive, "leaf")
    if tree.task in ("costs", "rewards"):
        return _valued(model, tree, X, y, leaves, confidence, given)
    if tree.task == "survival":
        return _survived(tree, X, y, confidence)
    if tree.task in NUMBERS and tree.task != "numbers":
        truth = _targets(X, y, len(leaves), len(tree.labels))
        answers = np.asarray(tree.predict(X), dtype=np.float64).reshape(len(leaves), -1)
        names = [str(name) for name in tree.labels.tolist()]
        return _numbered(truth, answers, names, confidence)
    raise ValueError(f"how well a tree of {tree.task} answers is not measured here")


def _of_other(model: Any, X: Any, y: Any, confidence: float, positive: Any) -> Evaluation:
    from sklearn.base import is_regressor

    answers = np.asarray(model.predict(X))
    if not len(answers):
        raise ValueError("X has no rows")
    if is_regressor(model):
        found = answers.reshape(len(answers), -1).astype(np.float64)
        truth = _targets(X, y, len(answers), found.shape[1])
        return _numbered(truth, found, [f"y{k}" for k in range(found.shape[1])], confidence)
    series = ingest.read_column(X, y, "y")
    true, place = ingest.classes_of(series, "y", y)
    _check_length(len(place), len(answers))
    classes = list(getattr(model, "classes_", ()))
    labels = [*classes, *(each for each in true.tolist() if each not in classes)]
    labels += [each for each in dict.fromkeys(answers.tolist()) if each not in labels]
    where = {label: k for k, label in enumerate(labels)}
    known = np.array([where[label] for label in true.tolist()])[place]
    said = np.array([where[label] for label in answers.tolist()])
    shares = None
    rows = said[:, None].astype(np.float64)
    if hasattr(model, "predict_proba") and classes:
        own = np.asarray(model.predict_proba(X), dtype=np.float64)
        shares = np.zeros((len(own), len(labels)))
        shares[:, : own.shape[1]] = own
        rows = np.column_stack([rows, own])
    _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    groups = None if shares is None else shares[first]
    answered = Answered(place.ravel(), said[first], groups, list(range(len(first))))
    return _labelled(answered, known, labels, confidence, positive, None)


def _labelled(
    answered: Answered,
    known: NDArray[np.int64],
    labels: Sequence[Any],
    confidence: float,
    positive: Any,
    leaf: str | None,
) -> Evaluation:
    if positive is not None and positive not in labels:
        raise ValueError(f"positive_label={positive!r} is not one of the labels {labels!r}")
    resamples = max(min(RESAMPLES, 20_000_000 // (len(answered.names) * len(labels))), 20)
    found = labelled(answered, known, len(labels), resamples, confidence)
    lines: list[tuple[Any, str, Estimate]] = [(None, "accuracy", found.accuracy)]
    if found.brier is not None:
        lines.append((None, "Brier score", found.brier))
    # The positive class last, where its measures are found by their names.
    last = len(labels) - 1 if positive is None else list(labels).index(positive)
    for k in [*(k for k in range(len(labels)) if k != last), last]:
        lines += [(str(labels[k]), name, estimate) for name, estimate in found.by_class[k]]
    names = [str(label) for label in labels]
    matrix = pl.DataFrame(
        {"true": names, **{f"answered {n}": found.matrix[:, k] for k, n in enumerate(names)}}
    )
    leaves = None
    if leaf is not None and answered.shares is not None:
        told = [
            (name, label, int(rows), said, *_ends(estimate))
            for name, rows, shares, line in zip(
                answered.names, found.rows, answered.shares.tolist(), found.observed
            )
            for label, said, estimate in zip(names, shares, line)
        ]
        leaves = pl.DataFrame(told, schema=LEAVES, orient="row")
    return Evaluation(len(known), confidence, _frame(lines), leaves, matrix)


LEAVES = {
    "leaf": pl.Int64,
    "of": pl.String,
    "rows": pl.Int64,
    "said": pl.Float64,
    "observed": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}


def _numbered(
    truth: Floats, answers: Floats, names: Sequence[str], confidence: float
) -> Evaluation:
    found = numbers(truth, answers, RESAMPLES, confidence)
    lines = [(name, metric, each) for name, own in zip(names, found) for metric, each in own]
    return Evaluation(len(truth), confidence, _frame(lines))


def _valued(
    model: Any,
    tree: Tree,
    X: Any,
    y: Any,
    leaves: NDArray[np.int64],
    confidence: float,
    given: dict[str, Any],
) -> Evaluation:
    """Costs or rewards: of all rows, and by leaf, with Student's intervals there."""
    if given:
        if y is not None:
            raise ValueError("y holds the rewards, so that no treatments are needed: give either")
        values = model.policy_scores(X, **given)
        _check_length(len(values), len(leaves))
    else:
        values = honest.numbers(tree, X, y, len(leaves))
    labels = tree.labels.tolist()
    by_node = np.array([labels.index(node.label) for node in tree.nodes], dtype=np.intp)
    chosen = by_node[leaves]
    costs = tree.task == "costs"
    found = by_label(values, chosen, costs, RESAMPLES, confidence)
    word = "mean cost" if costs else "mean reward"
    names = [None, "the best label of each row", *(f"always {label}" for label in labels)]
    lines = [(name, word, each) for name, each in zip(names, found)]
    told = []
    for leaf in tree.leaves:
        own = values[leaves == leaf.id, by_node[leaf.id]]
        mean = float(own.mean()) if len(own) else None
        ends = intervals.student(own, confidence) if len(own) else (-math.inf, math.inf)
        said = leaf.value[by_node[leaf.id]]
        told.append((leaf.id, str(leaf.label), len(own), said, mean, *ends))
    frame = pl.DataFrame(told, schema=LEAVES, orient="row")
    return Evaluation(len(values), confidence, _frame(lines[::-1]), frame)


def _survived(tree: Tree, X: Any, y: Any, confidence: float) -> Evaluation:
    if not isinstance(y, (tuple, list)) or len(y) != 2:
        raise ValueError("y of a survival tree is a pair: the times, and whether events came then")
    time, event = (
        ingest.read_vector(X, each, name) for each, name in zip(y, ("time", "event"))
    )
    risk = np.asarray(tree.predict(X), dtype=np.float64)
    for own in (time, event):
        _check_length(len(own), len(risk))
    found = concordance(time, event == 1, risk, confidence)
    return Evaluation(len(risk), confidence, _frame([(None, "concordance", found)]))


def _targets(X: Any, y: Any, n_rows: int, width: int) -> Floats:
    truth = np.asarray(ingest.read_targets(X, y).values, dtype=np.float64)
    _check_length(len(truth), n_rows)
    if truth.shape[1] != width:
        raise ValueError(f"y has {truth.shape[1]} columns, but the model answers {width}")
    return truth


def _check_length(n: int, n_rows: int) -> None:
    if n != n_rows:
        raise ValueError(f"X has {n_rows:,} rows, but y has {n:,}")


def _ends(estimate: Estimate) -> tuple[float | None, ...]:
    ends = (estimate.value, estimate.low, estimate.high)
    return tuple(each if math.isfinite(each) else None for each in ends)


def _frame(lines: Sequence[tuple[Any, str, Estimate]]) -> pl.DataFrame:
    schema = {
        "of": pl.String,
        "metric": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
    }
    rows = [(of, metric, *_ends(estimate)) for of, metric, estimate in lines]
    return pl.DataFrame(rows, schema=schema, orient="row")
