"""What each treatment would have brought each row, as far as what was seen can tell: a score by row
and treatment whose mean over rows estimates the value of a policy.

With treatment kᵢ, outcome yᵢ, the propensity μᵢ of the treatment that was given, and outcomes v
predicted for every treatment:

- direct method: v(i, k);
- inverse propensity weighting: yᵢ / μᵢ for the treatment that was given, 0 for the others;
- doubly robust: v(i, k), plus (yᵢ − v(i, kᵢ)) / μᵢ for the treatment that was given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from certree import ingest
from certree.ingest.checks import check_same_length
from certree.seeds import seeded

#: What the scores of each teacher are called.
NAMES = {
    "dr": "doubly robust score",
    "dm": "outcome predicted for the treatment",
    "ipw": "inverse propensity score",
}

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Seen:
    """What was done and what came of it, by row."""

    treatments: NDArray[Any]
    #: The number of the treatment that each row was given.
    given: NDArray[np.uint32]
    outcome: Matrix

    @property
    def n_rows(self) -> int:
        return len(self.given)

    @property
    def names(self) -> list[Any]:
        return self.treatments.tolist()


@dataclass(frozen=True)
class Crossfit:
    """How models are made where none are given: each row is scored by models that did not see it.
    """

    n_folds: int
    propensity_model: Any
    outcome_model: Any
    random_state: Any

    def propensities(self, design: Matrix, seen: Seen) -> Matrix:
        """The estimated probability of each treatment."""
        model = self.propensity_model
        if model is None:
            model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        found = np.zeros((seen.n_rows, len(seen.treatments)))
        for train, test in self._folds(seen):
            fitted = seeded(clone(model), self.random_state).fit(design[train], seen.given[train])
            found[np.ix_(test, fitted.classes_)] = fitted.predict_proba(design[test])
        return found

    def predictions(self, design: Matrix, seen: Seen) -> Matrix:
        """The outcome predicted for each treatment, by a model of the rows that were given it."""
        model = self.outcome_model
        if model is None:
            model = RandomForestRegressor(min_samples_leaf=5)
        found = np.zeros((seen.n_rows, len(seen.treatments)))
        for train, test in self._folds(seen):
            for k in range(len(seen.treatments)):
                rows = train[seen.given[train] == k]
                fitted = seeded(clone(model), self.random_state)
                fitted.fit(design[rows], seen.outcome[rows])
                found[test, k] = fitted.predict(design[test])
        return found

    def _folds(self, seen: Seen) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        counts = np.bincount(seen.given, minlength=len(seen.treatments))
        if counts.min() < self.n_folds:
            rare = seen.names[counts.argmin()]
            raise ValueError(
                f"treatment {rare!r} was given to {counts.min()} rows, too few to fit models in "
                f"{self.n_folds} folds (n_folds); pass propensity= and predicted=, or leave it out"
            )
        folds = StratifiedKFold(self.n_folds, shuffle=True, random_state=self.random_state)
        return list(folds.split(np.zeros((seen.n_rows, 1)), seen.given))


def scores(
    teacher: str,
    seen: Seen,
    propensity: Matrix | None,
    predicted: Matrix | None,
) -> Matrix:
    """The formulas above; what a teacher does not use may be None."""
    rows = np.arange(seen.n_rows)
    if teacher == "dm":
        assert predicted is not None
        return predicted
    assert propensity is not None
    if teacher == "ipw":
        found = np.zeros((seen.n_rows, len(seen.treatments)))
        found[rows, seen.given] = seen.outcome / propensity
        return found
    assert predicted is not None
    found = predicted.copy()
    found[rows, seen.given] += (seen.outcome - predicted[rows, seen.given]) / propensity
    return found


def read_propensity(
    X: Any, propensity: Any, seen: Seen, features: Any, clip: float
) -> Matrix:
    """The probability of the treatment that each row was given: from a vector, from a table with a
    column for each treatment, or from a fitted classifier (then at least ``clip``)."""
    rows = np.arange(seen.n_rows)
    if hasattr(propensity, "predict_proba"):
        return clipped(_by_classifier(propensity, features, seen), seen, clip)
    if isinstance(propensity, str) or not _is_table(propensity):
        found = ingest.read_vector(X, propensity, "propensity")
        check_same_length(seen.n_rows, len(found), "propensity")
    else:
        found = _by_treatment(X, propensity, "propensity", seen)[rows, seen.given]
    outside = ~((found > 0) & (found <= 1))
    if outside.any():
        raise ValueError(
            f"propensities are probabilities of the treatment that was given, above 0 and at most 1, but "
            f"{int(outside.sum()):,} of {len(found):,} are not, such as {found[outside][0]:g}; drop these "
            "rows or correct the model"
        )
    return found


def clipped(probabilities: Matrix, seen: Seen, clip: float) -> Matrix:
    """Of the treatment that was given, and no less than ``clip``."""
    return np.maximum(probabilities[np.arange(seen.n_rows), seen.given], clip)


def read_predicted(X: Any, predicted: Any, seen: Seen, features: Any) -> Matrix:
    """The outcome predicted for each treatment: from a table, or from fitted regressors by
    treatment."""
    if isinstance(predicted, Mapping):
        missing = [name for name in seen.names if name not in predicted]
        if missing:
            raise ValueError(f"predicted has no model for the treatments {missing!r}")
        models = [predicted[name] for name in seen.names]
    elif isinstance(predicted, Sequence) and predicted and hasattr(predicted[0], "predict"):
        models = list(predicted)
        _check_width(len(models), "predicted", seen)
    else:
        return _by_treatment(X, predicted, "predicted", seen)
    found = [np.asarray(model.predict(features), dtype=np.float64).ravel() for model in models]
    return _by_treatment(X, np.column_stack(found), "predicted", seen)


def _by_classifier(model: Any, features: Any, seen: Seen) -> Matrix:
    places = {label: place for place, label in enumerate(np.asarray(model.classes_).tolist())}
    missing = [name for name in seen.names if name not in places]
    if missing:
        raise ValueError(
            f"the propensity model knows the treatments {list(places)!r}, but not {missing!r}"
        )
    return np.asarray(model.predict_proba(features))[:, [places[name] for name in seen.names]]


def _is_table(given: Any) -> bool:
    if isinstance(given, (list, tuple)):
        return bool(given) and (isinstance(given[0], str) or hasattr(given[0], "__len__"))
    return len(getattr(given, "shape", (0,))) == 2


def _by_treatment(X: Any, given: Any, role: str, seen: Seen) -> Matrix:
    """Columns in the order of the treatments: by name where the names are the treatments', else as
    they come."""
    read = ingest.read_matrix(X, given, role, "treatment")
    check_same_length(seen.n_rows, len(read.values), role)
    _check_width(len(read.labels), role, seen)
    names = [str(label) for label in read.labels.tolist()]
    wanted = [str(name) for name in seen.names]
    if set(names) == set(wanted):
        return np.ascontiguousarray(read.values[:, [names.index(name) for name in wanted]])
    return read.values


def _check_width(width: int, role: str, seen: Seen) -> None:
    if width != len(seen.treatments):
        raise ValueError(
            f"{role} has {width} columns or models, but the treatments are {seen.names!r}: one for each is "
            "needed. What a treatment that was never given would bring cannot be read from outcomes; if you "
            "know it, pass rewards="
        )
