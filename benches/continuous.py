"""All cuts of continuous features: accuracy, beside pycontree in the same run.

    pip install pycontree==1.0.8
    python benches/continuous.py DATA_FOLDER [--depths 2,3] [--sets magic,eeg] [--limit 300]
    [--without-peer] [--min-leaf-rows 5]
    python benches/continuous.py --made [--depths 2,3] ...

DATA_FOLDER has `continuous/*.parquet`: columns `target`, features, and `split`, of which the
training rows are taken. With --made, tables of three to eight classes are made here in its place.
One thread, no leaf penalty. Seconds are CPU time of `fit`, which other load on the machine hardly
moves. Errors are counted from predictions on the training rows, so that a disagreement shows;
`accuracy` is to be held against published optima. A fit that is not proved optimal within the limit
counts as the limit. Sets that take the peer less than 0.05 s do not count in the means.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from certree import OptimalTreeClassifier

LEAST = 0.05

#: Rows, columns and classes of the tables that are made.
MADE = ((1500, 27, 7), (5400, 10, 5), (3000, 16, 4), (10_000, 14, 4), (2000, 20, 8), (6000, 12, 3))


def read(path: Path) -> tuple[pl.DataFrame, np.ndarray]:
    frame = pl.read_parquet(path)
    if "split" in frame.columns:
        frame = frame.filter(pl.col("split") == "train").drop("split")
    _, y = np.unique(frame["target"].to_numpy(), return_inverse=True)
    return frame.drop("target"), y


def made(rows: int, columns: int, classes: int) -> tuple[pl.DataFrame, np.ndarray]:
    """A table whose columns are half informative, and of which every third has ties."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        rows,
        columns,
        n_informative=columns // 2,
        n_redundant=columns // 6,
        n_classes=classes,
        n_clusters_per_class=1,
        flip_y=0.05,
        random_state=rows,
    )
    X[:, ::3] = X[:, ::3].round(1)
    return pl.DataFrame(X), y


def certree(
    X: pl.DataFrame, y: np.ndarray, depth: int, limit: float, min_leaf_rows: int = 1
) -> tuple[float, OptimalTreeClassifier]:
    model = OptimalTreeClassifier(
        leaf_penalty=0.0, max_depth=depth, time_limit=limit, min_samples_leaf=min_leaf_rows
    )
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    return time.process_time() - start, model


def pycontree(X: pl.DataFrame, y: np.ndarray, depth: int, limit: float) -> tuple[float, int]:
    from pycontree import ConTree

    values = np.ascontiguousarray(X.to_numpy().astype(np.float64))
    model = ConTree(max_depth=depth, time_limit=limit)
    start = time.process_time()
    model.fit(values, y.astype(np.int32))
    seconds = time.process_time() - start
    return seconds, int((np.asarray(model.predict(values)) != y).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--made", action="store_true", help="tables of many classes, made here")
    parser.add_argument("--depths", default="2,3", help="comma-separated")
    parser.add_argument("--sets", help="comma-separated names of files, instead of all")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for each fit")
    parser.add_argument("--without-peer", action="store_true", help="certree alone")
    parser.add_argument(
        "--min-leaf-rows",
        type=int,
        default=1,
        help="of certree's leaves; pycontree has no such limit",
    )
    options = parser.parse_args()
    if options.made == (options.folder is not None):
        parser.error("give a folder, or --made")
    tables: dict[str, Callable[[], tuple[pl.DataFrame, np.ndarray]]] = {}
    if options.made:
        for rows, columns, classes in MADE:
            tables[f"{rows}x{columns}, {classes}"] = partial(made, rows, columns, classes)
    else:
        for path in sorted((options.folder / "continuous").glob("*.parquet")):
            tables[path.stem] = partial(read, path)
    if options.sets:
        tables = {name: tables[name] for name in tables if name in options.sets.split(",")}
    print(
        f"{'data':>11} {'depth':>5} {'rows':>6} {'cuts':>6} {'pycontree':>9} {'certree':>8} "
        f"{'ratio':>7} {'errors: pycontree':>17} {'certree':>7} {'accuracy':>8} {'status':>10} "
        f"{'calls':>6} {'MB':>6}"
    )
    for depth in map(int, options.depths.split(",")):
        ratios = []
        for name, table in tables.items():
            X, y = table()
            mine, model = certree(X, y, depth, options.limit, options.min_leaf_rows)
            c = model.certificate_
            errors = int((model.predict(X) != y).sum())
            # Whoever is stopped by the limit, by its own clock, counts as the limit.
            mine_counted = mine if c.status == "optimal" else options.limit
            peer = their = ratio = "-"
            if not options.without_peer:
                seconds, their = pycontree(X, y, depth, options.limit)
                peer, ratio = f"{seconds:.3f}", f"{seconds / mine_counted:.1f}x"
                if seconds >= LEAST:
                    ratios.append(seconds / mine_counted)
            print(
                f"{name:>11} {depth:>5} {len(X):>6} {c.n_cuts:>6} {peer:>9} {mine:>8.3f} "
                f"{ratio:>7} {their:>17} {errors:>7} {100 * (1 - errors / len(X)):>7.2f}% "
                f"{c.status:>10} {c.kernel_calls:>6} {c.peak_bytes / 1e6:>6.1f}",
                flush=True,
            )
        if ratios:
            mean = float(np.exp(np.mean(np.log(ratios))))
            print(
                f"depth {depth}: {mean:.1f}x in the geometric mean over {len(ratios)} sets, least "
                f"{min(ratios):.1f}x\n"
            )


if __name__ == "__main__":
    main()
