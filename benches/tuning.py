"""What it costs to choose a size by cross-validation. `held_out.py` tells what the choice is worth.

    python benches/tuning.py DATA_FOLDER [--sets german-credit,compas] [--depth 4] [--folds 5]
        [--penalties 20] [--thresholds 100] [--no-grid]

DATA_FOLDER has `binary/*.parquet` and `continuous/*.parquet`: columns `target` and features. For
each set: CPU seconds of one fit of the largest size, of `OptimalTreeCV` (all depths and sizes), and
of `GridSearchCV` over so many penalties at each depth, with the ratio of the last two. One thread.
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
from sklearn.model_selection import GridSearchCV, StratifiedKFold

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


if __name__ == "__main__":
    main()
