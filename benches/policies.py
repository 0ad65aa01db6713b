"""Policies from doubly robust scores: rows × columns × cuts × treatments, as their users have them.

    python benches/policies.py [--rows 40000] [--columns 5] [--cuts 0 1000 100] [--treatments 2 3]
                               [--depth 3] [--noise 1.0] [--seconds 60] [--seed 0]

The scores are continuous, signed and mostly noise: the effect of a treatment is a tree of depth
three and a slope, and each row has been given one treatment, whose outcome is divided by its
probability. ``--cuts`` are the cuts of each column that are left when its values are rounded to
quantiles; 0 leaves all values as they are. Every combination of cuts and treatments is a line, with
CPU seconds of ``fit``, kernel calls, nodes, the mean score, its proved bound and the status.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import OptimalPolicyTree

Matrix = NDArray[np.float64]


def scores(X: Matrix, n_treatments: int, noise: float, rng: np.random.Generator) -> Matrix:
    """A doubly robust score of each row and treatment."""
    n = len(X)
    a, b, c = (X[:, at % X.shape[1]] for at in range(3))
    effects = np.zeros((n, n_treatments))
    for treatment in range(1, n_treatments):
        a, b, c = b, c, a
        leaf = np.where(a > 0.2, np.where(b > -0.3, 0.5, -0.4), np.where(c > 0.4, 0.3, -0.3))
        effects[:, treatment] = leaf + 0.2 * X[:, treatment % X.shape[1]]
    propensity = np.full((n, n_treatments), 1 / n_treatments)
    propensity[:, 0] *= 1 + 0.5 * np.tanh(X[:, 0])
    propensity /= propensity.sum(axis=1, keepdims=True)
    given = (rng.random(n)[:, None] > propensity.cumsum(axis=1)).sum(axis=1)
    outcome = effects[np.arange(n), given] + noise * rng.normal(size=n)
    predicted = 0.8 * effects + 0.1 * rng.normal(size=effects.shape)
    was_given = given[:, None] == np.arange(n_treatments)
    return predicted + was_given / propensity * (outcome[:, None] - predicted)


def rounded(X: Matrix, cuts: int) -> Matrix:
    """With so many cuts left in each column, at quantiles."""
    if cuts == 0:
        return X
    edges = np.quantile(X, np.arange(1, cuts + 1) / (cuts + 1), axis=0)
    codes = [np.searchsorted(edges[:, at], X[:, at]) for at in range(X.shape[1])]
    return np.stack(codes, axis=1).astype(np.float64)


def fit(options: argparse.Namespace, cuts: int, n_treatments: int) -> list[Any]:
    rng = np.random.default_rng(options.seed)
    X = rng.normal(size=(options.rows, options.columns))
    rewards = scores(X, n_treatments, options.noise, rng)
    X = rounded(X, cuts)
    tree = OptimalPolicyTree(
        max_depth=options.depth,
        leaf_penalty=0.0,
        time_limit=options.seconds,
        n_jobs=options.jobs,
    )
    wall, start = time.perf_counter(), cpu()
    tree.fit(X, rewards=rewards)
    found = tree.certificate_
    return [
        options.rows,
        options.columns,
        cuts or "all",
        n_treatments,
        options.depth,
        f"{cpu() - start:.2f}",
        f"{time.perf_counter() - wall:.2f}",
        found.kernel_calls,
        found.nodes,
        f"{found.objective:.6f}",
        f"{found.lower_bound:.6f}",
        found.status,
        found.route,
    ]


def cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--columns", type=int, default=5)
    parser.add_argument("--cuts", type=int, nargs="+", default=[0, 1000, 100])
    parser.add_argument("--treatments", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--noise", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = ["rows", "columns", "cuts", "treatments", "depth", "CPU s", "wall s", "calls", "nodes"]
    names += ["objective", "bound", "status", "route"]
    print(*(f"{name:>10}" for name in names))
    for cuts in options.cuts:
        for n_treatments in options.treatments:
            print(*(f"{value:>10}" for value in fit(options, cuts, n_treatments)), flush=True)


if __name__ == "__main__":
    main()
