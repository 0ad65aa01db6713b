"""A fit that its time limit stops has a tree that is no worse than CART's, and no worse than what
is known of less depth or fewer cuts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from certree import OptimalTreeClassifier, OptimalTreeRegressor

#: What it measures depends on what else the machine does.
pytestmark = pytest.mark.alone

LIMITS: list[dict[str, Any]] = [
    {"max_depth": 5},
    {"max_depth": 6, "min_samples_leaf": 10},
    {"max_depth": 6, "max_leaf_nodes": 9},
    {"max_depth": 7},
]


def table(seed: int, n: int = 1500, columns: int = 8) -> tuple[Any, Any, Any]:
    """Continuous columns, labels and numbers of some of them together, with noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns))
    if seed % 2:
        # Ties.
        x = np.round(x, 1)
    signal = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + 0.5 * x[:, 3]
    noisy = signal + rng.normal(scale=0.7, size=n)
    return (
        x,
        np.digitize(noisy, [-0.8, 0.8]) if seed % 3 else (noisy > 0).astype(int),
        noisy,
    )


def fitted(model: Any, x: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(x, y)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_a_classifier_that_is_stopped_is_no_worse_than_cart(
    seed: int, limits: dict[str, Any]
) -> None:
    x, y, _ = table(seed)
    model = OptimalTreeClassifier(leaf_penalty=0.0, time_limit=0.5, **limits)
    fitted(model, x, y)
    cart = DecisionTreeClassifier(random_state=0, **limits).fit(x, y)
    assert model.objective_ <= 1 - cart.score(x, y) + 1e-9
    assert model.objective_ == pytest.approx(1 - model.score(x, y))
    assert model.lower_bound_ <= model.objective_


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_a_regressor_that_is_stopped_is_no_worse_than_cart(
    seed: int, limits: dict[str, Any]
) -> None:
    x, _, y = table(seed)
    model = OptimalTreeRegressor(leaf_penalty=0.0, time_limit=0.5, **limits)
    fitted(model, x, y)
    cart = DecisionTreeRegressor(random_state=0, **limits).fit(x, y)
    assert model.objective_ <= 1 - cart.score(x, y) + 1e-9


@pytest.mark.parametrize("penalty", [0.01, 0.003])
def test_without_a_depth_limit_it_is_no_worse_than_the_tree_of_depth_two(
    penalty: float,
) -> None:
    x, y, _ = table(4)
    model = fitted(OptimalTreeClassifier(leaf_penalty=penalty, time_limit=0.6), x, y)
    small = fitted(OptimalTreeClassifier(leaf_penalty=penalty, max_depth=2), x, y)
    assert small.status_ == "optimal"
    assert model.objective_ <= small.objective_


def test_it_is_no_worse_than_over_fewer_cuts_or_with_less_depth() -> None:
    x, y, _ = table(1)
    all_cuts = fitted(
        OptimalTreeClassifier(max_depth=4, leaf_penalty=0.0, time_limit=1.0), x, y
    )
    few = fitted(
        OptimalTreeClassifier(max_depth=3, leaf_penalty=0.0, thresholds=4), x, y
    )
    less = fitted(OptimalTreeClassifier(max_depth=2, leaf_penalty=0.0), x, y)
    assert all_cuts.objective_ <= min(few.objective_, less.objective_)


def test_progress_goes_on_and_can_end_the_search() -> None:
    x, _, y = table(1)
    seen: list[float] = []

    def callback(progress: Any) -> bool:
        seen.append(progress.objective)
        return len(seen) < 4

    model = OptimalTreeRegressor(max_depth=6, time_limit=30, callback=callback)
    fitted(model, x, y)
    assert model.status_ == "interrupted"
    assert model.objective_ <= seen[-1] + 1e-9
    assert seen[-1] <= seen[0]
    uppers = [upper for _, upper, _ in model.certificate_.curve]
    assert uppers == sorted(uppers, reverse=True)


def test_certify_goes_on_from_the_tree_that_was_found() -> None:
    x, y, _ = table(1, n=60, columns=4)
    model = OptimalTreeClassifier(max_depth=4, leaf_penalty=0.0, time_limit=0.1)
    first = fitted(model, x, y).objective_
    model.set_params(time_limit=None).certify()
    assert model.status_ == "optimal"
    assert model.objective_ <= first
