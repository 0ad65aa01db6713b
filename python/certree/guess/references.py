"""Reference models: the default one, and fitting, reading and scoring any of them alike."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from certree import budget
from certree.guess.splits import KNOWN
from certree.guess.table import Goal
from certree.scalars import shown
from certree.seeds import seeded

#: Guessing ends at this share of the time of a fit, so that there is some left for the search.
SHARE = 0.5

#: The default reference, besides its seed.
DEFAULT = {"n_estimators": 50, "max_depth": 2, "learning_rate": 0.1}


def default(goal: Goal) -> Any:
    """Gradient boosting; of several outputs, each its own."""
    if goal.classes is None:
        return regression(goal.y.shape[1] if goal.y.ndim > 1 else 1)
    return classification()


def classification(**changed: Any) -> Any:
    """Boosting of this size, but for parameters that are changed."""
    # Slow to import, so only when it is used.
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(**{**DEFAULT, **changed})


def regression(n_outputs: int, **changed: Any) -> Any:
    """Boosting of this size for one or more targets, but for parameters that are changed."""
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.multioutput import MultiOutputRegressor

    one = GradientBoostingRegressor(**{**DEFAULT, **changed})
    return one if n_outputs == 1 else MultiOutputRegressor(one)


def unwrapped(reference: Any) -> Any:
    """The model in scikit-learn's ``FrozenEstimator``, which keeps a fitted one fitted when it is
    cloned."""
    return reference.estimator if type(reference).__name__ == "FrozenEstimator" else reference


def is_fitted(model: Any) -> bool:
    if is_booster(model):
        return True
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError):
        return False
    return True


def is_booster(model: Any) -> bool:
    """LightGBM's and XGBoost's own models, which have no ``fit``."""
    return type(model).__name__ == "Booster"


def is_additive(model: Any) -> bool:
    """An explainable boosting machine."""
    return hasattr(model, "term_scores_") or type(model).__name__.startswith("ExplainableBoosting")


def classifies(model: Any) -> bool | None:
    """What the model's target is; None for any."""
    if model is None or is_booster(model):
        return None
    return not is_regressor(model)


def check_model(model: Any) -> None:
    """Refuse what is no model at all, before any work."""
    if not is_booster(model) and not (hasattr(model, "fit") and hasattr(model, "get_params")):
        raise ValueError(f"reference={shown(model)} is not a model; give {KNOWN}, or None")


def fit(model: Any, matrix: np.ndarray, goal: Goal, seed: int) -> Any:
    """A fitted copy, with the seed if it has none."""
    model = seeded(clone(model), seed)
    if is_additive(model):
        # It would take columns of few values for categories.
        model.set_params(feature_types=["continuous"] * matrix.shape[1])
    options = {}
    if goal.weight is not None:
        if not has_fit_parameter(model, "sample_weight"):
            raise ValueError(
                f"reference={type(model).__name__} takes no sample_weight; give one that does, or "
                "no weights"
            )
        options["sample_weight"] = goal.weight
    if _is_staged(model) and budget.reading_left() is not None:
        options["monitor"] = is_late
    return model.fit(matrix, goal.y, **options)


def _is_staged(model: Any) -> bool:
    """True for scikit-learn's gradient boosting, which can be asked to stop after any tree."""
    kind = type(model)
    staged = ("GradientBoostingClassifier", "GradientBoostingRegressor")
    return kind.__name__ in staged and kind.__module__.startswith("sklearn.")


def is_late(*_: Any) -> bool:
    """True once guessing has taken its share of the time of a fit."""
    return budget.is_over(SHARE)


def predict(model: Any, matrix: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        # The columns are in the model's order, under no names.
        warnings.filterwarnings("ignore", message=".*feature names.*")
        return np.asarray(model.predict(matrix))


def score(predicted: np.ndarray, goal: Goal) -> float:
    """The share of row weight that is right, or R² (its mean over the outputs)."""
    if goal.classes is not None:
        return float(np.average(predicted == goal.y, weights=goal.weight))
    from sklearn.metrics import r2_score

    return float(r2_score(goal.y, predicted, sample_weight=goal.weight))


def predicted_classes(predicted: np.ndarray, model: Any, goal: Goal) -> np.ndarray:
    """The class numbers of a fitted model's own labels."""
    if goal.classes is None:
        return predicted
    known = np.asarray(model.classes_).tolist()
    strange = [label for label in goal.classes.tolist() if label not in known]
    if strange:
        raise ValueError(
            f"the reference was fitted on other classes: it knows {shown(known[:10])}, but y has "
            f"{shown(strange[:10])}"
        )
    numbers = {label: number for number, label in enumerate(goal.classes.tolist())}
    return np.array([numbers.get(label, -1) for label in predicted.tolist()])
