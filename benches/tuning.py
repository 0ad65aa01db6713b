"""What it costs to choose a size by cross-validation, and what the choice is worth.

    python benches/tuning.py DATA_FOLDER [--sets german-credit,compas] [--depth 4] [--folds 5]
        [--penalties 20] [--thresholds 100] [--no-grid]

DATA_FOLDER has `binary/*.parquet` and `continuous/*.parquet`: columns `target` and features. For
each set: CPU seconds of one fit of the largest size, of `OptimalTreeCV` (all depths and sizes), and
of `GridSearchCV` over so many penalties at each depth, with the ratio of the last two; then the
error on held-out rows (5 × 2 folds, a fixed seed) of the trees that both rules choose, and of CART
whose `ccp_alpha` is chosen by the folds of the training rows. One thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from certree import OptimalTreeClassifier, OptimalTreeCV

SEED = 3
SETS = "german-credit,compas,diabetes,magic"


def read(folder: Path, name: str) -> tuple[pl.DataFrame, np.ndarray]:
    for kind in ("binary", "continuous"):
        path = folder / kind / f"{name}.parquet"
        if path.exists():
            frame = pl.read_parquet(path)
            return frame.drop("target"), frame["target"].to_numpy()
    raise SystemExit(f"{folder} has neither binary/{name}.parquet nor continuous/{name}.parquet")


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = run()
    return time.process_time() - start, found


def cart(X: np.ndarray, y: np.ndarray, folds: Any) -> Any:
    """CART as its users tune it: the whole tree, pruned by a penalty that the folds choose."""
    alphas = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X, y).ccp_alphas
    grid = np.unique(np.quantile(np.maximum(alphas, 0), np.linspace(0, 1, 20)))
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"ccp_alpha": grid}, cv=folds)
    return search.fit(X, y)


def held_out(X: pl.DataFrame, y: np.ndarray, model: Any, folds: Any) -> dict[str, np.ndarray]:
    """Errors by repetition, of each way to choose."""
    found: dict[str, list[float]] = {"1se": [], "best": [], "cart": []}
    numbers = X.to_numpy()
    outer = RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=SEED)
    for train, test in outer.split(numbers, y):
        for rule in ("1se", "best"):
            search = OptimalTreeCV(model, cv=folds, rule=rule).fit(X[train], y[train])
            found[rule].append(float((search.predict(X[test]) != y[test]).mean()))
        pruned = cart(numbers[train], y[train], folds)
        found["cart"].append(float((pruned.predict(numbers[test]) != y[test]).mean()))
    return {name: np.array(errors) for name, errors in found.items()}


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("folder", type=Path)
    options.add_argument("--sets", default=SETS)
    options.add_argument("--depth", type=int, default=4)
    options.add_argument("--folds", type=int, default=5)
    options.add_argument("--penalties", type=int, default=20)
    options.add_argument("--thresholds", type=int, default=100)
    options.add_argument("--no-grid", action="store_true")
    options.add_argument("--no-held-out", action="store_true")
    given = options.parse_args()
    warnings.simplefilter("ignore")
    print("set: CPU s of one fit, all sizes by folds (× one fit), grid (× all sizes)")
    for name in given.sets.split(","):
        X, y = read(given.folder, name)
        folds = StratifiedKFold(given.folds, shuffle=True, random_state=SEED)
        model = OptimalTreeClassifier(
            max_depth=given.depth, leaf_penalty=0.0, thresholds=given.thresholds, time_limit=None
        )
        one, _ = timed(lambda: model.fit(X, y))
        whole, search = timed(lambda: OptimalTreeCV(model, cv=folds).fit(X, y))
        line = f"{name}: {one:.3f} s, {whole:.3f} s ({whole / one:.1f}×)"
        if not given.no_grid:
            penalties = np.geomspace(0.001, 0.1, given.penalties)
            grid = {"leaf_penalty": penalties, "max_depth": list(range(1, given.depth + 1))}
            spent, _ = timed(lambda: GridSearchCV(model, grid, cv=folds).fit(X, y))
            line += f", {spent:.3f} s ({spent / whole:.1f}×)"
        print(line, flush=True)
        if not given.no_held_out:
            errors = held_out(X, y, model, folds)
            told = [f"{way} {own.mean():.4f} ± {own.std():.4f}" for way, own in errors.items()]
            print(f"    held out: {', '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
