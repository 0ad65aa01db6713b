"""Fits that their time limit stops: the tree that they have then, beside CART's of that depth.

    python benches/anytime.py DATA [--sets magic,segment] [--depths 4,5] [--limits 2,10]

``DATA`` is a folder of Parquet files with a column ``target``. For each fit the objective and the
lower bound at the limit, and two integrals of its curve over the time, as shares of the limit: the
primal one of the objective above the best that was found, and the dual one of the lower bound
below it. Smaller is better; 0 is a tree, or a proof, from the first moment on.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import polars as pl
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from certree import OptimalTreeClassifier


def integrals(curve: list[tuple[float, float, float]], limit: float, best: float) -> list[float]:
    """How far the objective is above ``best`` and the lower bound below it, over the time."""
    ends = [seconds for seconds, _, _ in curve[1:]] + [limit]
    sums = [0.0, 0.0]
    for (start, upper, lower), end in zip(curve, ends):
        share = max(min(end, limit) - min(start, limit), 0.0) / limit
        sums[0] += share * max(upper - best, 0.0)
        sums[1] += share * max(best - lower, 0.0)
    return sums


def measured(x: Any, y: Any, depth: int, limit: float) -> OptimalTreeClassifier:
    model = OptimalTreeClassifier(max_depth=depth, leaf_penalty=0.0, time_limit=limit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(x, y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default="")
    parser.add_argument("--depths", default="4,5")
    parser.add_argument("--limits", default="2,10")
    given = parser.parse_args()
    wanted = set(given.sets.split(",")) - {""}
    limits = [float(limit) for limit in given.limits.split(",")]
    print("set           depth   limit     CART  objective  lower bound   primal     dual")
    for path in sorted(given.data.glob("*.parquet")):
        if wanted and path.stem not in wanted:
            continue
        frame = pl.read_parquet(path).drop("split", strict=False)
        x, y = frame.drop("target").to_numpy(), frame["target"].to_numpy()
        for depth in map(int, given.depths.split(",")):
            cart = 1 - DecisionTreeClassifier(max_depth=depth, random_state=0).fit(x, y).score(x, y)
            models = [(limit, measured(x, y, depth, limit)) for limit in limits]
            best = min([cart] + [model.objective_ for _, model in models])
            for limit, model in models:
                primal, dual = integrals(model.certificate_.curve, limit, best)
                print(
                    f"{path.stem:<14}{depth:>5}{limit:>8g}{cart:>9.5f}{model.objective_:>11.5f}"
                    f"{model.lower_bound_:>13.5f}{primal:>9.5f}{dual:>9.5f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
