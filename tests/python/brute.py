"""Every tree there is: the judge of trees for any leaf cost, on tables of a few columns."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

import numpy as np


def cases(usual: int) -> range:
    """The seeds of a test: as many as ``CERTREE_CASES`` says, which is for long runs by hand."""
    return range(int(os.environ.get("CERTREE_CASES", usual)))


def sides(X: np.ndarray) -> list[np.ndarray]:
    """One Boolean vector for each cut of each column: which rows go right."""
    found = []
    for column in np.asarray(X, dtype=np.float64).T:
        found += [column > value for value in np.unique(column)[:-1]]
    return found


def least_objective(
    X: np.ndarray,
    leaf_cost: Callable[[np.ndarray], float],
    depth: int,
    penalty: float,
    min_rows: int = 1,
    max_leaves: int = 10**9,
) -> float:
    """The least Σ over leaves of (cost of its rows + penalty) of any tree. ``leaf_cost`` is given a
    mask of rows."""
    return least_of(sides(X), len(X), leaf_cost, depth, penalty, min_rows, max_leaves)


def least_of(
    cuts: list[np.ndarray],
    n_rows: int,
    leaf_cost: Callable[[np.ndarray], float],
    depth: int,
    penalty: float,
    min_rows: int = 1,
    max_leaves: int = 10**9,
) -> float:
    """As above, with these cuts: for each, which rows go right."""

    @cache
    def leaf(key: bytes) -> float:
        return leaf_cost(np.frombuffer(key, dtype=bool)) + penalty

    @cache
    def best(key: bytes, depth: int, leaves: int) -> float:
        least = leaf(key)
        rows = np.frombuffer(key, dtype=bool)
        if depth == 0 or leaves < 2:
            return least
        for right in cuts:
            parts = rows & ~right, rows & right
            if min(part.sum() for part in parts) < max(min_rows, 1):
                continue
            keys = [part.tobytes() for part in parts]
            shares = range(1, leaves) if leaves < 2 ** (depth + 1) else [leaves]
            for left in shares:
                other = leaves - left if leaves < 2 ** (depth + 1) else leaves
                least = min(least, best(keys[0], depth - 1, left) + best(keys[1], depth - 1, other))
        return least

    every = np.ones(n_rows, dtype=bool).tobytes()
    return best(every, depth, min(max_leaves, 2 ** (depth + 1)))


def tree_objective(
    leaves: np.ndarray, leaf_cost: Callable[[np.ndarray], float], penalty: float
) -> float:
    """What a fitted tree costs, from the leaf of each row."""
    masks = [leaves == leaf for leaf in np.unique(leaves)]
    return sum(leaf_cost(mask) + penalty for mask in masks)


def table(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Columns of two or three values."""
    return np.column_stack([rng.integers(0, rng.integers(2, 4), n) for _ in range(d)])
