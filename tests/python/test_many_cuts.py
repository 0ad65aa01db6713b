"""Every task on continuous features, with hundreds of cuts each: as if each cut were a column of
its own."""

import numpy as np
import polars as pl
import pytest

from certree import (
    Capacity,
    DemographicParity,
    EqualOpportunity,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
)

N = 301


def table():
    rng = np.random.default_rng(8)
    X = pl.DataFrame({name: rng.permutation(N).astype(float) for name in "ab"})
    score = X["a"].to_numpy() / N + (X["b"].to_numpy() > 0.6 * N) * 0.7
    y = (score + rng.normal(size=N) * 0.3 > 0.8).astype(int)
    group = np.where(rng.random(N) < 0.3 + 0.3 * y, "f", "m")
    costs = np.column_stack([rng.random(N) + y, rng.random(N) + 1 - y]).round(3)
    return X, y, group, costs


X, Y, GROUP, COSTS = table()
CUTS = pl.DataFrame(
    {f"{name} <= {cut}": X[name] <= cut for name in X.columns for cut in range(N - 1)}
)


def classifier(objective="accuracy", y=Y, **given):
    model = OptimalTreeClassifier(objective, max_depth=2, leaf_penalty=0.01, **given)

    def fit(frame):
        sensitive = [c.sensitive for c in given.get("constraints", ()) if hasattr(c, "sensitive")]
        return model.fit(frame.with_columns(pl.Series("sex", GROUP)) if sensitive else frame, y)

    return fit


TASKS = {
    "accuracy": classifier(),
    "balanced": classifier("balanced_accuracy"),
    "cost matrix": classifier(cost_matrix=[[0, 1], [3, 0]]),
    "f1": classifier("f1"),
    "jaccard": classifier("jaccard"),
    "mcc": classifier("mcc"),
    "auc": classifier("auc"),
    "partial auc": classifier("partial_auc", max_fpr=0.2),
    "parity": classifier(constraints=(DemographicParity("sex", 0.02),)),
    "opportunity": classifier(constraints=(EqualOpportunity("sex", 0.02),)),
    "capacity": classifier(constraints=(Capacity(1, 0.2),)),
    "costs": lambda frame: OptimalCostTree(max_depth=2).fit(frame, COSTS),
    "policy": lambda frame: OptimalPolicyTree(max_depth=2).fit(frame, rewards=-COSTS),
    "capacity of a policy": lambda frame: OptimalPolicyTree(
        max_depth=2, constraints=(Capacity(1, 0.2),)
    ).fit(frame, rewards=-COSTS),
    "regression": lambda frame: OptimalTreeRegressor(max_depth=2).fit(frame, COSTS[:, 0]),
}


@pytest.mark.parametrize("task", TASKS)
def test_cuts_are_questions(task):
    assert CUTS.width == 2 * (N - 1)
    searched, listed = TASKS[task](X), TASKS[task](CUTS)
    assert (searched.status_, listed.status_) == ("optimal", "optimal")
    assert searched.objective_ == pytest.approx(listed.objective_, abs=1e-9)
