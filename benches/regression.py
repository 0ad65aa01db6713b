"""Regression: all cuts against what Quant-BnB publishes, few cuts beside pystreed in the same run,
and few cuts with a leaf penalty instead of a depth limit.

    pip install pystreed==1.4.0
    python benches/regression.py DATA_FOLDER [--limit 300]

DATA_FOLDER has `regression/*.parquet`: columns `target` or `target_*`, features, and `split` where
the source has one; of those the training rows are taken. One thread; no leaf penalty but in the
last table. Seconds are CPU time, which other load on the machine hardly moves; the share of the
squared error that is left is printed for both, so that a disagreement shows.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl

from certree import OptimalTreeRegressor, ThresholdBinarizer

#: (data, depth, seconds of Quant-BnB as published, seconds to reach)
ALL_CUTS = [
    ("concrete", 3, 125, 0.5),
    ("query1", 3, 34, 1),
    ("carbon", 3, 729, 5),
    ("grid", 3, 1293, 10),
    ("concrete", 4, None, 300),
]

#: (data, quantile cuts by column, depth)
FEW_CUTS = [
    ("concrete", 5, 3),
    ("concrete", 5, 4),
    ("query1", 15, 4),
    ("carbon", 10, 4),
    ("grid", 4, 3),
    ("enb-heat", 5, 5),
    ("enb-cool", 5, 5),
    ("real-estate", 5, 6),
    ("airfoil", 5, 5),
]


#: (data, quantile cuts by column, leaf penalty), without a depth limit
PENALISED = [
    ("concrete", 4, 0.01),
    ("query1", 15, 0.01),
    ("enb-cool", 5, 0.005),
    ("enb-heat", 4, 0.01),
    ("real-estate", 5, 0.01),
]


def read(folder: Path, name: str) -> tuple[pl.DataFrame, np.ndarray]:
    frame = pl.read_parquet(folder / "regression" / f"{name}.parquet")
    if "split" in frame.columns:
        frame = frame.filter(pl.col("split") == "train").drop("split")
    targets = [column for column in frame.columns if column.startswith("target")]
    return frame.drop(targets), frame.select(targets).to_numpy()


def certree(
    X: pl.DataFrame, y: np.ndarray, depth: int | None, limit: float, penalty: float = 0.0
) -> tuple[float, OptimalTreeRegressor]:
    model = OptimalTreeRegressor(leaf_penalty=penalty, max_depth=depth, time_limit=limit)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    return time.process_time() - start, model


def all_cuts(folder: Path, limit: float) -> None:
    print(
        f"{'data':>12} {'depth':>5} {'rows':>6} {'cuts':>6} {'published':>10} {'target':>7} "
        f"{'seconds':>8} {'status':>10} {'calls':>7} {'MB':>6} {'error left':>11}"
    )
    for name, depth, published, target in ALL_CUTS:
        X, y = read(folder, name)
        seconds, model = certree(X, y, depth, limit)
        c = model.certificate_
        print(
            f"{name:>12} {depth:>5} {len(X):>6} {c.n_cuts:>6} {published or '-':>10} {target:>7} "
            f"{seconds:>8.2f} {c.status:>10} {c.kernel_calls:>7} {c.peak_bytes / 1e6:>6.1f} "
            f"{c.objective:>11.8f}",
            flush=True,
        )


def pystreed(X: np.ndarray, y: np.ndarray, depth: int, limit: float) -> tuple[float, float, bool]:
    from pystreed import STreeDRegressor

    # No sparsity cost is known to be needed for exactness here; a penalty of zero is its own
    # setting.
    model = STreeDRegressor(
        max_depth=depth, max_num_nodes=2**depth - 1, time_limit=limit, cost_complexity=0.0
    )
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    left = ((y - np.asarray(model.predict(X)).ravel()) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    return seconds, float(left), bool(model.fit_result.is_optimal())


def few_cuts(folder: Path, limit: float) -> None:
    print(
        f"{'data':>12} {'depth':>5} {'rows':>6} {'columns':>7} {'pystreed':>9} {'certree':>8} "
        f"{'ratio':>7} {'error left: pystreed':>21} {'certree':>11}"
    )
    for name, cuts, depth in FEW_CUTS:
        X, y = read(folder, name)
        # pystreed takes one target: of several the first.
        y = np.ascontiguousarray(y[:, 0])
        binary = ThresholdBinarizer(thresholds=cuts).fit_transform(X)
        binary = pl.DataFrame(binary)
        mine, model = certree(binary, y, depth, limit)
        matrix = binary.to_numpy().astype("int32")
        peer, left, optimal = pystreed(matrix, y, depth, limit)
        proof = "" if optimal else " (not proved)"
        print(
            f"{name:>12} {depth:>5} {len(y):>6} {matrix.shape[1]:>7} {peer:>9.3f} {mine:>8.3f} "
            f"{peer / mine:>6.1f}x {left:>21.10f} {model.objective_:>11.10f}{proof}",
            flush=True,
        )


def penalised(folder: Path, limit: float) -> None:
    print(
        f"{'data':>12} {'penalty':>7} {'rows':>6} {'columns':>7} {'seconds':>8} {'status':>10} "
        f"{'nodes':>8} {'calls':>8} {'leaves':>6} {'objective':>12}"
    )
    for name, cuts, penalty in PENALISED:
        X, y = read(folder, name)
        binary = pl.DataFrame(ThresholdBinarizer(thresholds=cuts).fit_transform(X))
        seconds, model = certree(binary, y, None, limit, penalty)
        c = model.certificate_
        print(
            f"{name:>12} {penalty:>7} {len(y):>6} {binary.width:>7} {seconds:>8.2f} {c.status:>10} "
            f"{c.nodes:>8} {c.kernel_calls:>8} {model.tree_.n_leaves:>6} {c.objective:>12.9f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for each fit")
    options = parser.parse_args()
    few_cuts(options.folder, options.limit)
    print()
    all_cuts(options.folder, options.limit)
    print()
    penalised(options.folder, options.limit)


if __name__ == "__main__":
    main()
