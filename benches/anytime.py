"""Fits that their time limit stops: the tree that they have then, beside CART's of that depth.

    python benches/anytime.py DATA [--sets magic,segment] [--depths 4,5] [--limits 2,10]
    python benches/anytime.py [DATA] --made 50 [--limits 0.1,0.2,0.5,1,2]

``DATA`` is a folder of Parquet files with a column ``target``. For each fit the objective and the
lower bound at the limit, and two integrals of its curve over the time, as shares of the limit: the
primal one of the objective above the best that was found, and the dual one of the lower bound
below it. Smaller is better; 0 is a tree, or a proof, from the first moment on.

With ``--made`` so many tables of varied shapes are made (rows, columns, ties, Booleans, classes or
numbers, depths, limits on leaves, penalties), and the folder's sets are added if there is one. Each
fit is held against CART within the same limits, a fit of one level less, and one over ten cuts of
each column, all with the same time limit. A line for each fit that is worse than one of these, and
by how much, and how many there are in the end.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from certree import OptimalTreeClassifier, OptimalTreeRegressor

#: Objectives that differ by less are equal.
CLOSE = 1e-9

#: Cuts of each column of the coarser fit.
COARSE = 10


def integrals(curve: list[tuple[float, float, float]], limit: float, best: float) -> list[float]:
    """How far the objective is above ``best`` and the lower bound below it, over the time."""
    ends = [seconds for seconds, _, _ in curve[1:]] + [limit]
    sums = [0.0, 0.0]
    for (start, upper, lower), end in zip(curve, ends):
        share = max(min(end, limit) - min(start, limit), 0.0) / limit
        sums[0] += share * max(upper - best, 0.0)
        sums[1] += share * max(best - lower, 0.0)
    return sums


def fitted(x: Any, y: Any, **arguments: Any) -> Any:
    """A fit of labels, or of numbers if these are floats."""
    is_numbers = np.asarray(y).dtype.kind == "f"
    model = (OptimalTreeRegressor if is_numbers else OptimalTreeClassifier)(**arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(x, y)


def cart(x: Any, y: Any, leaf_penalty: float, limits: dict[str, Any]) -> float:
    """What CART's tree within the same limits costs."""
    if np.asarray(y).dtype.kind == "f":
        tree = DecisionTreeRegressor(random_state=0, **limits).fit(x, y)
    else:
        tree = DecisionTreeClassifier(random_state=0, **limits).fit(x, y)
    return float(1 - tree.score(x, y) + leaf_penalty * tree.get_n_leaves())


def made(seed: int) -> tuple[str, Any, Any]:
    """A table of some shape: small and large, narrow and wide, with ties and without."""
    rng = np.random.default_rng(seed)
    rows = int(np.exp(rng.uniform(np.log(200), np.log(40_000))))
    columns = int(np.exp(rng.uniform(np.log(3), np.log(60))))
    x = rng.normal(size=(rows, columns))
    kinds = rng.integers(0, 4, size=columns)
    x[:, kinds == 1] = x[:, kinds == 1].round(1)
    x[:, kinds == 2] = x[:, kinds == 2] > 0.5
    a, b, c = (x[:, at] for at in rng.integers(0, columns, size=3))
    signal = a * b + np.sin(2 * c) + 0.5 * x[:, 0] + rng.normal(scale=0.7, size=rows)
    classes = int(rng.choice([0, 2, 2, 3, 6]))
    name = f"made-{seed} {rows}x{columns}" + (f" {classes} classes" if classes else " numbers")
    if classes == 0:
        return name, x, signal
    edges = np.quantile(signal, np.arange(1, classes) / classes)
    return name, x, np.digitize(signal, edges)


def limits_of(seed: int) -> tuple[float, dict[str, Any]]:
    """A leaf penalty, and limits on the tree."""
    rng = np.random.default_rng([seed, 1])
    limits: dict[str, Any] = {"max_depth": int(rng.integers(3, 8))}
    kind = rng.integers(0, 4)
    if kind == 1:
        limits["max_leaf_nodes"] = int(rng.integers(4, 20))
    elif kind == 2:
        limits["min_samples_leaf"] = int(rng.integers(2, 30))
    return (float(rng.choice([0.001, 0.01])) if kind == 3 else 0.0), limits


def sets(data: Path | None, wanted: set[str], n_made: int = 0) -> Iterator[tuple[str, Any, Any]]:
    for path in sorted(data.glob("*.parquet")) if data else []:
        if not wanted or path.stem in wanted:
            frame = pl.read_parquet(path).drop("split", strict=False)
            yield path.stem, frame.drop("target").to_numpy(), frame["target"].to_numpy()
    for seed in range(n_made):
        yield made(seed)


def curves(given: argparse.Namespace, limits: list[float]) -> None:
    print("set           depth   limit     CART  objective  lower bound   primal     dual")
    for name, x, y in sets(given.data, set(given.sets.split(",")) - {""}):
        for depth in map(int, given.depths.split(",")):
            of_cart = cart(x, y, 0.0, {"max_depth": depth})
            arguments: dict[str, Any] = {"max_depth": depth, "leaf_penalty": 0.0}
            models = [(limit, fitted(x, y, time_limit=limit, **arguments)) for limit in limits]
            best = min([of_cart] + [model.objective_ for _, model in models])
            for limit, model in models:
                primal, dual = integrals(model.certificate_.curve, limit, best)
                print(
                    f"{name:<14}{depth:>5}{limit:>8g}{of_cart:>9.5f}{model.objective_:>11.5f}"
                    f"{model.lower_bound_:>13.5f}{primal:>9.5f}{dual:>9.5f}",
                    flush=True,
                )


def never_worse(given: argparse.Namespace, limits: list[float]) -> None:
    counts: dict[str, int] = {"CART": 0, "shallower": 0, "coarser": 0}
    fits = 0
    wanted = set(given.sets.split(",")) - {""}
    for at, (name, x, y) in enumerate(sets(given.data, wanted, given.made)):
        leaf_penalty, shape = limits_of(at)
        peer = cart(x, y, leaf_penalty, shape)
        for limit in limits:
            arguments = {"leaf_penalty": leaf_penalty, "time_limit": limit, **shape}
            objective = fitted(x, y, **arguments).objective_
            shallower = {**arguments, "max_depth": shape["max_depth"] - 1}
            others = {
                "CART": peer,
                "shallower": fitted(x, y, **shallower).objective_,
                "coarser": fitted(x, y, thresholds=COARSE, **arguments).objective_,
            }
            fits += 1
            worse = {of: cost for of, cost in others.items() if objective > cost + CLOSE}
            for of in worse:
                counts[of] += 1
            if worse:
                by = ", ".join(f"{of} {cost:.5f}" for of, cost in worse.items())
                within = f"{shape}, penalty {leaf_penalty:g}, {limit:g} s"
                print(f"{name}, {within}: {objective:.5f}, {by}", flush=True)
    print(f"{fits} fits, worse than " + ", ".join(f"{of}: {n}" for of, n in counts.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--sets", default="")
    parser.add_argument("--depths", default="4,5")
    parser.add_argument("--limits", default=None)
    parser.add_argument("--made", type=int, default=0)
    given = parser.parse_args()
    if given.data is None and given.made == 0:
        parser.error("give a folder of data, or --made with a number of tables")
    limits = given.limits or ("0.1,0.2,0.5,1,2" if given.made else "2,10")
    seconds = [float(limit) for limit in limits.split(",")]
    (never_worse if given.made else curves)(given, seconds)


if __name__ == "__main__":
    main()
