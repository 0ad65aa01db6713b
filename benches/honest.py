"""How often the intervals of `docs/honest-numbers.md` hold what is true, by simulation.

    python benches/honest.py [--draws 2000] [--rows 200]

Rows are drawn from populations whose truth is known: shares by leaf for `honest`, two models with
known errors for `compare`, metrics on a million rows for `evaluate`, and the errors of all trees
for `generalization`, whose bound holds for every tree of the search at once and so more often than
it says. Intervals of 95 %; all leaves of a table have to be covered at once.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator

import numpy as np
import polars as pl

from certree import OptimalTreeClassifier, OptimalTreeRegressor, compare, evaluate

LEVEL = 0.95


class Fixed:
    """A model whose answers are known beforehand."""

    def __init__(self, column: int) -> None:
        self.column = column

    def predict(self, X: np.ndarray) -> np.ndarray:
        return X[:, self.column]


def shares(rng: np.random.Generator, draws: int, rows: int) -> Iterator[tuple[str, bool]]:
    X = pl.DataFrame({"x": [0, 1, 2, 3] * 10})
    tree = OptimalTreeClassifier(leaf_penalty=0.001).fit(X, ["a", "b", "b", "c"] * 10).tree_
    two = OptimalTreeClassifier(max_depth=1).fit(X, [0, 0, 1, 1] * 10).tree_
    by_class = np.array([[0.7, 0.2, 0.1], [0.1, 0.85, 0.05], [0.05, 0.45, 0.5]])
    for _ in range(draws):
        x = rng.integers(0, 4, rows)
        frame = pl.DataFrame({"x": x})
        place = np.minimum(x, 1) + (x == 3)
        drawn = (rng.random(rows)[:, None] > by_class.cumsum(1)[place]).sum(1)
        yield "honest, shares of three classes", covers(
            tree.honest(frame, np.array(["a", "b", "c"])[drawn]), by_class.ravel()
        )
        often = np.where(x < 2, 0.3, 0.6)
        found = two.honest(frame, (rng.random(rows) < often).astype(int))
        yield "honest, shares of two classes", covers(found, np.array([0.7, 0.3, 0.4, 0.6]))


def means(rng: np.random.Generator, draws: int, rows: int) -> Iterator[tuple[str, bool]]:
    X = np.arange(40.0)[:, None] % 3
    tree = OptimalTreeRegressor(leaf_penalty=0, max_depth=2).fit(X, X[:, 0]).tree_
    for _ in range(draws):
        x = rng.integers(0, 3, rows)
        noise = {"normal": rng.normal(0, 1, rows), "exponential": rng.exponential(1, rows) - 1}
        for name, each in noise.items():
            found = tree.honest(x[:, None], 10 * x + (1 + x) * each)
            yield f"honest, means of {name} values", covers(found, np.array([0.0, 10.0, 20.0]))


def differences(rng: np.random.Generator, draws: int, rows: int) -> Iterator[tuple[str, bool]]:
    first, second = Fixed(0), Fixed(1)
    for _ in range(draws):
        kind = rng.choice(4, rows, p=[0.1, 0.08, 0.15, 0.67])
        wrong = np.column_stack([kind <= 1, (kind == 0) | (kind == 2)]).astype(float)
        found = compare(first, second, wrong, np.zeros(rows), loss="error")
        yield "compare, difference of errors", found.low <= 0.07 <= found.high
        kind = rng.choice(4, rows, p=[0.1, 0.1, 0.1, 0.7])
        wrong = np.column_stack([kind <= 1, (kind == 0) | (kind == 2)]).astype(float)
        found = compare(first, second, wrong, np.zeros(rows), loss="error")
        yield "compare, no p-value below 0.05 if models are alike", found.p_value > 1 - LEVEL
        said = rng.normal(0, [1.0, 1.1], (rows, 2))
        found = compare(first, second, said, np.zeros(rows), loss="squared_error")
        yield "compare, difference of squared errors", found.low <= 0.21 <= found.high


def labelled(rng: np.random.Generator, rows: int) -> tuple[pl.DataFrame, np.ndarray]:
    X = pl.DataFrame({"x": rng.random(rows), "z": rng.random(rows)})
    x, z = X["x"].to_numpy(), X["z"].to_numpy()
    return X, rng.random(rows) < 0.1 + 0.5 * (x > 0.4) + 0.2 * (z > 0.5)


def metrics(rng: np.random.Generator, draws: int, rows: int) -> Iterator[tuple[str, bool]]:
    model = OptimalTreeClassifier(max_depth=2, thresholds=5).fit(*labelled(rng, 400))
    many = labelled(rng, 1_000_000)
    true = evaluate(model, *many)
    numbers = OptimalTreeRegressor(max_depth=2, thresholds=5)
    numbers.fit(many[0][:400], many[0]["x"].to_numpy()[:400])

    def target(X: pl.DataFrame) -> np.ndarray:
        return X["x"].to_numpy() + rng.normal(0, 0.2, X.height)

    true_numbers = evaluate(numbers, many[0], target(many[0]))
    for _ in range(draws):
        X, y = labelled(rng, rows)
        found = evaluate(model, X, y)
        for name in ("accuracy", "sensitivity", "specificity", "PPV", "NPV", "AUC", "Brier score"):
            yield f"evaluate, {name}", found[name].low <= true[name].value <= found[name].high
        found = evaluate(numbers, X, target(X))
        for name in ("R²", "root mean squared error", "mean absolute error"):
            own, wanted = found[name], true_numbers[name].value
            yield f"evaluate, {name}", own.low <= wanted <= own.high


def trees(rng: np.random.Generator, draws: int, rows: int) -> Iterator[tuple[str, bool]]:
    """y is x > 0.5 but for a tenth of the rows, so that the best tree has an error of 0.1."""
    grid = (np.arange(200) + 0.5) / 200
    fresh = pl.DataFrame({"x": np.repeat(grid, 200), "z": np.tile(grid, 200)})
    right = fresh["x"].to_numpy() > 0.5
    for _ in range(draws):
        X = pl.DataFrame({"x": rng.random(rows), "z": rng.random(rows)})
        y = (X["x"].to_numpy() > 0.5) ^ (rng.random(rows) < 0.1)
        for name, cuts in (("all cuts", "all"), ("given cuts", {"x": [0.25, 0.5], "z": [0.5]})):
            model = OptimalTreeClassifier(max_depth=2, leaf_penalty=0, thresholds=cuts).fit(X, y)
            found = model.certificate_.generalization(LEVEL)
            error = 0.1 + 0.8 * float((model.predict(fresh) != right).mean())
            yield f"generalization, {name}", error <= found.upper and found.lower <= 0.1


def covers(found: pl.DataFrame, true: np.ndarray) -> bool:
    low, high = found["low"].to_numpy(), found["high"].to_numpy()
    return bool(((low <= true) & (true <= high)).all())


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--draws", type=int, default=2000)
    options.add_argument("--rows", type=int, default=200)
    given = options.parse_args()
    error = math.sqrt(LEVEL * (1 - LEVEL) / given.draws)
    print(f"{given.draws:,} draws of {given.rows} rows; 95 % of them have an error of {error:.2%}")
    for part in (shares, means, differences, metrics, trees):
        counts: dict[str, list[bool]] = {}
        for name, held in part(np.random.default_rng(0), given.draws, given.rows):
            counts.setdefault(name, []).append(bool(held))
        for name, each in counts.items():
            print(f"{np.mean(each):7.2%}  {name}", flush=True)


if __name__ == "__main__":
    main()
