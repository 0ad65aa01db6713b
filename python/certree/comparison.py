"""Whether one model is better than another one on rows that neither has seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from certree import honest, ingest, intervals
from certree.scalars import shown
from certree.schema import NUMBERS
from certree.tree import Tree

Floats = NDArray[np.float64]

#: Rows whose losses differ, up to which all signs are gone through.
MOST_EXACT = 18

#: Signs that are drawn beyond.
DRAWS = 9_999

LOSSES = ("error", "squared_error", "absolute_error")


@dataclass(frozen=True)
class Comparison:
    """Two models on the same rows."""

    n_rows: int
    #: What is compared, in words.
    loss: str
    #: The mean losses.
    model: float
    other: float
    #: On how many rows the model loses less, and more.
    better: int
    worse: int
    confidence: float
    #: The interval of ``difference``.
    low: float
    high: float
    #: How likely a difference as large is by chance, if the models lose alike.
    p_value: float
    #: How ``p_value`` was found.
    test: Literal["McNemar, exact", "sign flips, exact", "sign flips, drawn"]

    @property
    def difference(self) -> float:
        """The mean loss of the other one, less that of the model: above 0, the model is better."""
        return self.other - self.model

    def statement(self) -> str:
        """All of it as plain sentences."""
        how = {
            "McNemar, exact": "McNemar's exact test",
            "sign flips, exact": "all sign flips of the differences",
            "sign flips, drawn": f"{DRAWS:,} sign flips of the differences, drawn at random",
        }[self.test]
        return (
            f"{self.loss[0].upper()}{self.loss[1:]} on {self.n_rows:,} rows: {self.model:.4g}, and "
            f"{self.other:.4g} of the other model. The difference is {self.difference:.4g}, with "
            f"confidence {self.confidence:g} between {self.low:.4g} and {self.high:.4g}.\n"
            f"The model loses less on {self.better:,} rows and more on {self.worse:,}. If both "
            "lost alike, a difference as large would come by chance with probability "
            f"{self.p_value:.3g} ({how})."
        )

    def __str__(self) -> str:
        return self.statement()


def compare(
    model: Any,
    other: Any,
    X: Any,
    y: Any,
    *,
    loss: str | Callable[[Any, Any], Any] | None = None,
    confidence: float = 0.95,
    random_state: int = 0,
) -> Comparison:
    """Compare two models on the same rows, which neither was fitted to.

    Errors are compared by McNemar's exact test: of the rows on which one alone is right, as many
    should be of either model. Other losses are compared by flipping the signs of the differences:
    if both models lose alike, a row's difference could as well have the other sign.

    Parameters
    ----------
    model, other : fitted models
        Anything with ``predict``; a ``Tree``, or a model of another library. ``other`` may be older
        or simpler, such as a single leaf.
    X : frame or array
        Independent rows that neither model has seen.
    y : vector, table or str
        Labels or numbers, or the name of their column in X; of trees for costs or rewards the
        table, rows × labels.
    loss : {"error", "squared_error", "absolute_error"} or callable, default=None
        What a row loses. A callable takes y and predictions, and gives a number for each row.
        Without it: the squared error of a regressor, the cost (minus the reward) of the label of a
        tree for costs (rewards), and else the error.
    confidence : float, default=0.95
        Of the interval: Bonett and Price's for differences of errors, and Student's for others.
    random_state : int, default=0
        Where more rows differ than allow to go through all signs, they are drawn.

    Returns
    -------
    Comparison
        With ``difference``, ``low``, ``high``, ``p_value`` and ``statement()``.

    Examples
    --------
    >>> from certree import OptimalTreeClassifier, compare
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> best = OptimalTreeClassifier(max_depth=2, thresholds=8).fit(X[:300], y[:300])
    >>> cart = DecisionTreeClassifier(max_depth=1).fit(X[:300], y[:300])
    >>> found = compare(best, cart, X[300:], y[300:])
    >>> found.better, found.worse, round(found.p_value, 3)
    (4, 5, 1.0)
    """
    intervals.check(confidence)
    for each, name in ((model, "model"), (other, "other")):
        if not hasattr(each, "predict"):
            raise TypeError(f"{name} has no predict, it is a {type(each).__name__}")
    tree = next((found for found in map(_tree, (model, other)) if found is not None), None)
    words, losses = _losses(tree, X, y, loss, (model, other))
    own, others = losses
    differences = others - own
    n = len(differences)
    if n == 0:
        raise ValueError("X has no rows")
    better, worse = int((differences > 0).sum()), int((differences < 0).sum())
    test: Literal["McNemar, exact", "sign flips, exact", "sign flips, drawn"]
    if words == "share of errors":
        ends = intervals.paired_shares(better, worse, n, confidence)
        test, p_value = "McNemar, exact", mcnemar(better, worse)
    else:
        ends = intervals.student(differences, confidence)
        exact = better + worse <= MOST_EXACT
        test = "sign flips, exact" if exact else "sign flips, drawn"
        p_value = sign_flips(differences, random_state)
    return Comparison(
        n,
        words,
        float(own.mean()),
        float(others.mean()),
        better,
        worse,
        confidence,
        *ends,
        p_value,
        test,
    )


def mcnemar(better: int, worse: int) -> float:
    """How likely counts as uneven are, if a row that differs goes either way with equal chances.

    >>> round(mcnemar(1, 5), 5), mcnemar(0, 0)
    (0.21875, 1.0)
    """
    from scipy.special import bdtr

    few, n = min(better, worse), better + worse
    return float(min(2.0 * bdtr(few, n, 0.5), 1.0)) if n else 1.0


def sign_flips(differences: Floats, random_state: int) -> float:
    """How likely a sum as far from 0 is, if each difference has either sign with equal chances."""
    differing = differences[differences != 0]
    n = len(differing)
    if n == 0:
        return 1.0
    # As far, but for the rounding of the sum.
    far = abs(differing.sum()) - 1e-12 * np.abs(differing).sum()
    if n <= MOST_EXACT:
        sums = np.zeros(1)
        for each in differing:
            sums = np.concatenate([sums + each, sums - each])
        return float((np.abs(sums) >= far).mean())
    rng = np.random.default_rng(random_state)
    reached = 0
    at_once = max(2**22 // n, 1)
    for start in range(0, DRAWS, at_once):
        signs = rng.integers(0, 2, (min(at_once, DRAWS - start), n)) * 2 - 1
        reached += int((np.abs(signs @ differing) >= far).sum())
    return (1 + reached) / (1 + DRAWS)


def _tree(model: Any) -> Tree | None:
    found = model if isinstance(model, Tree) else getattr(model, "tree_", None)
    return found if isinstance(found, Tree) else None


def _losses(
    tree: Tree | None, X: Any, y: Any, loss: Any, models: tuple[Any, Any]
) -> tuple[str, list[Floats]]:
    """What is compared, and what each row loses by each model."""
    if loss is None and tree is not None and tree.task in ("costs", "rewards"):
        return _by_label(tree, X, y, models)
    kind = loss
    if loss is None:
        is_number = tree is not None and tree.task in NUMBERS or _is_regressor(models[0])
        kind = "squared_error" if is_number else "error"
    elif not callable(loss) and loss not in LOSSES:
        allowed = ", ".join(map(repr, LOSSES))
        raise ValueError(
            f"loss={shown(loss)} is not valid: it must be one of {allowed}, or a callable"
        )
    truth = ingest.read_column(X, y, "y").to_numpy() if kind != "error" else _labels(X, y)
    answers = [np.asarray(model.predict(X)) for model in models]
    for found, name in zip(answers, ("model", "other")):
        if found.shape != truth.shape:
            raise ValueError(
                f"{name} predicts an array of shape {found.shape}, but y has {truth.shape}"
            )
    if callable(kind):
        name = getattr(kind, "__name__", "loss").replace("_", " ")
        losses = [_checked(kind(truth, found), len(truth)) for found in answers]
        return f"mean {name}", losses
    if kind == "error":
        return "share of errors", [(found != truth).astype(np.float64) for found in answers]
    truth = ingest.read_vector(X, y, "y")
    errors = [_checked(found, len(truth)) - truth for found in answers]
    if kind == "squared_error":
        return "mean squared error", [error**2 for error in errors]
    return "mean absolute error", [np.abs(error) for error in errors]


def _labels(X: Any, y: Any) -> NDArray[Any]:
    """The label of each row, as predictions have them."""
    labels, place = ingest.classes_of(ingest.read_column(X, y, "y"), "y", y)
    return np.asarray(labels)[place]


def _by_label(tree: Tree, X: Any, y: Any, models: tuple[Any, Any]) -> tuple[str, list[Floats]]:
    found = []
    places = {label: k for k, label in enumerate(tree.labels.tolist())}
    for model in models:
        answers = np.asarray(model.predict(X)).tolist()
        values = honest.numbers(tree, X, y, len(answers))
        unknown = next((each for each in answers if each not in places), None)
        if unknown is not None:
            raise ValueError(f"a model answers {unknown!r}, which y has no column for")
        chosen = np.array([places[each] for each in answers], dtype=np.intp)
        found.append(values[np.arange(len(values)), chosen])
    if tree.task == "costs":
        return "mean cost", found
    return "minus the mean reward", [-values for values in found]


def _checked(values: Any, n: int) -> Floats:
    found = np.asarray(values, dtype=np.float64)
    if found.shape != (n,) or not np.isfinite(found).all():
        raise ValueError(f"each row must lose one finite number, but the shape is {found.shape}")
    return found


def _is_regressor(model: Any) -> bool:
    from sklearn.base import is_regressor

    try:
        return bool(is_regressor(model))
    except (AttributeError, TypeError):
        # An object of another library, which knows nothing of scikit-learn's tags.
        return False
