"""What trees are worth on new rows whose size was chosen, beside others that were tuned likewise.

    pip install pystreed==1.4.0
    python benches/held_out.py DATA_FOLDER [--sets german-credit,vote] [--depth 4] [--folds 5]
        [--only certree,cart]

DATA_FOLDER has `binary/*.parquet`: columns `target` and features. 5 × 2 folds of a fixed seed. On
each training half every way chooses by the same number of inner folds: `OptimalTreeCV` by either
rule over all depths and sizes, CART by twenty values of `ccp_alpha` of its pruning path, and
pystreed by its own tuner (`hyper_tune`), if it is installed; all within `--depth`. Printed are mean
errors in percent, and CPU seconds of all ten choices; `-` and `+` stand behind an error that is
significantly below or above that of the rule "best" (t test of Nadeau and Bengio, which corrects
for halves that share rows; 95%). One thread.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from certree import OptimalTreeClassifier, OptimalTreeCV

SEED = 3

#: Student's t of nine degrees of freedom, 95% in the middle.
T_OF_NINE = 2.262

Choose = Callable[[np.ndarray, np.ndarray], Any]


def certree(depth: int, folds: int, rule: Any) -> Choose:
    model = OptimalTreeClassifier(max_depth=depth, leaf_penalty=0.0, time_limit=None)
    return lambda X, y: OptimalTreeCV(model, cv=folds, rule=rule).fit(X, y)


def cart(depth: int, folds: int) -> Choose:
    """As its users tune it: a deep tree, pruned by a penalty that the folds choose."""

    def choose(X: np.ndarray, y: np.ndarray) -> Any:
        whole = DecisionTreeClassifier(max_depth=depth, random_state=0)
        alphas = np.maximum(whole.cost_complexity_pruning_path(X, y).ccp_alphas, 0)
        grid = {"ccp_alpha": np.unique(np.quantile(alphas, np.linspace(0, 1, 20)))}
        return GridSearchCV(whole, grid, cv=folds).fit(X, y)

    return choose


def pystreed(depth: int, folds: int) -> Choose | None:
    try:
        from pystreed import STreeDClassifier
    except ImportError:
        return None

    def choose(X: np.ndarray, y: np.ndarray) -> Any:
        tuner = STreeDClassifier(
            "accuracy", max_depth=depth, hyper_tune=True, num_hyper_runs=folds, time_limit=600
        )
        return tuner.fit(X.astype(np.int32), y)

    return choose


def errors_of(choose: Choose, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """By half, and CPU seconds of the choices."""
    halves = RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=SEED)
    errors, seconds = [], 0.0
    for train, test in halves.split(X, y):
        start = time.process_time()
        chosen = choose(X[train], y[train])
        seconds += time.process_time() - start
        errors.append(float((np.asarray(chosen.predict(X[test])) != y[test]).mean()))
    return np.array(errors), seconds


def sign(own: np.ndarray, other: np.ndarray) -> str:
    """Whether `other` is significantly below or above `own`."""
    gaps = other - own
    spread = math.sqrt((1 / len(gaps) + 1) * gaps.var(ddof=1))
    if spread == 0 or abs(gaps.mean()) / spread < T_OF_NINE:
        return " "
    return "-" if gaps.mean() < 0 else "+"


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("folder", type=Path)
    options.add_argument("--sets", help="comma-separated names of files, instead of all")
    options.add_argument("--depth", type=int, default=4)
    options.add_argument("--folds", type=int, default=5)
    options.add_argument("--only", help="comma-separated beginnings of ways, instead of all")
    given = options.parse_args()
    warnings.simplefilter("ignore")
    all_ways = {
        "certree best": certree(given.depth, given.folds, "best"),
        "certree 1se": certree(given.depth, given.folds, "1se"),
        "cart": cart(given.depth, given.folds),
        "pystreed": pystreed(given.depth, given.folds),
    }
    only = tuple((given.only or "").split(","))
    ways = {name: way for name, way in all_ways.items() if way and name.startswith(only)}
    print(f"{'data':>18}" + "".join(f"{name:>16}{'s':>8}" for name in ways))
    signs: dict[str, list[str]] = {name: [] for name in ways}
    for path in sorted((given.folder / "binary").glob("*.parquet")):
        if given.sets and path.stem not in given.sets.split(","):
            continue
        frame = pl.read_parquet(path)
        y = frame["target"].to_numpy()
        X = frame.drop("target", "split", strict=False).to_numpy()
        line, first = f"{path.stem:>18}", None
        for name, way in ways.items():
            errors, seconds = errors_of(way, X, y)
            first = errors if first is None else first
            signs[name].append(sign(first, errors))
            line += f"{100 * errors.mean():>15.2f}{signs[name][-1]}{seconds:>8.2f}"
        print(line, flush=True)
    for name, found in signs.items():
        below, above = found.count("-"), found.count("+")
        print(f"{name}: significantly below {next(iter(ways))} on {below} sets, above on {above}")


if __name__ == "__main__":
    main()
