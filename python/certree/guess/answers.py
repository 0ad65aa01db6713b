"""What a reference answers for the training rows: guessed lower bounds are made of where it errs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import is_classifier, is_regressor

from certree.guess import questions, references, splits
from certree.guess.table import Goal, Table, read_table
from certree.ingest import sources, vectors
from certree.ingest.arrays import is_masked
from certree.ingest.checks import check_same_length
from certree.seeds import seed_of


def of_rows(
    reference: Any,
    X: Any,
    kept: np.ndarray | None,
    goal: Goal,
    guesser: Any = None,
    random_state: Any = 0,
) -> tuple[np.ndarray, str]:
    """A label number for each row that weighs something, and what the reference is, in words. Where
    the goal has no labels, the numbers of each row and output.

    ``goal`` is of these rows, ``X`` has all rows and no columns but features. With ``guesser``,
    fitted to these rows, its own reference is the one that "guess" stands for.
    """
    if _is_vector(reference):
        given = _given(reference, goal)
        height = sources.height(sources.read(X)) if kept is None else len(kept)
        check_same_length(height, len(given), "reference")
        words = "given predictions" if goal.classes is None else "given labels"
        return _read(_of_kept(given, kept), goal), words
    if isinstance(reference, str):
        if guesser is not None:
            return _of_guesser(guesser, X, kept, goal), named(guesser.reference_)
        model = references.default(goal)
    else:
        model = references.unwrapped(reference)
        references.check_model(model)
    if references.is_booster(model):
        raise ValueError(
            "reference= cannot take a Booster: give the library's scikit-learn model, or what it "
            "predicts for the training rows"
        )
    if goal.classes is None and is_classifier(model):
        raise ValueError(
            f"reference={type(model).__name__} predicts labels, but a regressor is needed, or its "
            "numbers for the training rows"
        )
    if goal.classes is not None and is_regressor(model):
        raise ValueError(
            f"reference={type(model).__name__} predicts numbers, but a classifier is needed, or "
            "its labels for the training rows"
        )
    if references.is_fitted(model):
        return _of_fitted(model, X, kept, goal), named(model)
    predicted = _of_unfitted(model, _rows(read_table(X), kept), goal, seed_of(random_state))
    return predicted, named(model)


def _is_vector(reference: Any) -> bool:
    return not isinstance(reference, str) and not hasattr(reference, "predict")


def named(model: Any) -> str:
    """A model in words."""
    return f"a {type(model).__name__}"


def _of_kept(values: np.ndarray, kept: np.ndarray | None) -> np.ndarray:
    return values if kept is None else values[kept]


def _rows(table: Table, kept: np.ndarray | None) -> Table:
    ranks = [_of_kept(ranks, kept) for ranks in table.ranks]
    return Table(table.columns, table.named, table.values, ranks)


def _given(reference: Any, goal: Goal) -> np.ndarray:
    """What was predicted for the training rows."""
    if goal.classes is not None:
        return vectors.series(reference, "reference").to_numpy()
    if isinstance(reference, pl.LazyFrame):
        reference = reference.collect()
    try:
        found = np.asanyarray(reference, dtype=np.float64)
        # A masked number is missing, whatever lies behind the mask.
        return np.ma.filled(found, np.nan) if is_masked(found) else np.asarray(found)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            "reference= must be numbers here: what a regressor predicts for the training rows"
        ) from None


def _read(predicted: np.ndarray, goal: Goal) -> np.ndarray:
    """Labels as numbers of classes; numbers as they are, by row and output."""
    if goal.classes is not None:
        return _numbers(predicted.reshape(len(predicted), -1)[:, 0], goal)
    numbers = np.asarray(predicted, dtype=np.float64).reshape(len(predicted), -1)
    n_outputs = goal.y.reshape(len(goal.y), -1).shape[1]
    if numbers.shape[1] != n_outputs:
        raise ValueError(
            f"the reference predicts {numbers.shape[1]} numbers for each row, but y has {n_outputs}"
        )
    if count := int((~np.isfinite(numbers)).any(axis=1).sum()):
        raise ValueError(
            f"the reference predicts what is missing or infinite for {count} of {len(numbers)} "
            "rows: give one that predicts a number for each"
        )
    return numbers


def _numbers(labels: np.ndarray, goal: Goal) -> np.ndarray:
    """The places of labels among the classes."""
    assert goal.classes is not None
    known = {label: number for number, label in enumerate(goal.classes.tolist())}
    found = labels.tolist()
    strange = sorted({label for label in found if label not in known}, key=str)
    if strange:
        raise ValueError(
            f"the reference answers {_listed(strange)}, but the labels are {_listed(list(known))}"
        )
    return np.array([known[label] for label in found], dtype=np.uint32)


def _listed(labels: Sequence[Any]) -> str:
    return f"{list(labels[:10])!r}" + (" and more" if len(labels) > 10 else "")


def _of_guesser(guesser: Any, X: Any, kept: np.ndarray | None, goal: Goal) -> np.ndarray:
    if guesser.n_fits_ == 0:
        # It was given fitted and kept as it was.
        return of_rows(guesser.reference_, X, kept, goal)[0]
    if goal.classes is not None and guesser.classes_ is None:
        raise ValueError(
            "the reference of thresholds= predicts numbers; give reference= a classifier"
        )
    if goal.classes is None and guesser.classes_ is not None:
        raise ValueError(
            "the reference of thresholds= predicts labels; give reference= a regressor"
        )
    answers = np.asarray(guesser.transform(X), dtype=np.float32)
    predicted = references.predict(guesser.reference_, answers)
    if guesser.classes_ is not None:
        predicted = guesser.classes_[predicted]
    return _read(_of_kept(predicted, kept), goal)


def _of_fitted(model: Any, X: Any, kept: np.ndarray | None, goal: Goal) -> np.ndarray:
    """What a model that knows the columns of X predicts."""
    known = getattr(model, "classes_", None) if goal.classes is not None else None
    lacking = []
    if goal.classes is not None and known is not None:
        lacking = np.setdiff1d(goal.classes[np.unique(goal.y)], known).tolist()
    if lacking:
        raise ValueError(
            "the reference was fitted on other classes: it knows "
            f"{_listed(np.asarray(known).tolist())}, but not {_listed(lacking)}"
        )
    table = read_table(X)
    names = splits.names_of(model)
    n_features = getattr(model, "n_features_in_", len(table.columns))
    places = questions.match(names, int(n_features), table)
    if all(column.kind in ("number", "boolean") for column in table.columns):
        given: Any = questions.by_value(table, places)
    elif hasattr(X, "iloc"):
        given = X.iloc[:, places]
    else:
        given = sources.read(X).frame(places)
    try:
        predicted = references.predict(model, given)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"the reference, a {type(model).__name__}, cannot predict these rows: {error}"
        ) from error
    return _read(_of_kept(predicted.reshape(len(table.ranks[0]), -1), kept), goal)


def _of_unfitted(model: Any, table: Table, goal: Goal, seed: int) -> np.ndarray:
    """What a model predicts that is fitted to the ranks of these rows, as guessers fit it."""
    axes = questions.axes_of(table)
    if goal.classes is None:
        if not axes:
            # There is nothing to learn.
            means = np.average(goal.y.reshape(len(goal.y), -1), axis=0, weights=goal.weight)
            return np.tile(means, (len(goal.y), 1))
        matrix = questions.by_rank(table, axes)
        return _read(references.predict(references.fit(model, matrix, goal, seed), matrix), goal)
    counts = np.ones(len(goal.y), dtype=bool) if goal.weight is None else goal.weight > 0
    present, y = np.unique(goal.y[counts], return_inverse=True)
    if len(present) < 2 or not axes:
        # There is nothing to learn.
        return np.full(len(goal.y), present[0] if len(present) else 0, dtype=np.uint32)
    matrix = questions.by_rank(table, axes)
    weight = None if goal.weight is None else goal.weight[counts] / goal.weight[counts].mean()
    known = Goal(y, goal.classes[present], weight)
    fitted = references.fit(model, matrix[counts], known, seed)
    return present[references.predict(fitted, matrix).astype(np.int64)].astype(np.uint32)
