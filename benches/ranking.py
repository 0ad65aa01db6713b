"""Areas under ROC curves: two columns of numbers cut into equal parts, with a leaf penalty and no
depth limit.

    python benches/ranking.py DATA_FOLDER [--parts 7,12] [--limit 300]

DATA_FOLDER has `mixed/four-class.parquet`: a column `target` of two classes, and numbers `x1` and
`x2`. One thread. Seconds are CPU time of `fit`. The loss is computed again by scikit-learn from the
scores of the training rows.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.metrics import auc, roc_curve

from certree import OptimalTreeClassifier

#: (area under the curve up to this false positive rate, what is to be reached by parts of each
#: column)
AREAS = ((1.0, {7: 0.5, 12: 5.0}), (0.2, {7: 0.5, 12: 5.0}))
LEAF_PENALTY = 0.01


def fit(
    X: pl.DataFrame, y: np.ndarray, parts: int, most: float, limit: float
) -> tuple[float, OptimalTreeClassifier]:
    cuts = {
        name: np.linspace(X[name].min(), X[name].max(), parts + 1)[1:-1].tolist()
        for name in X.columns
    }
    objective = {"objective": "auc"} if most == 1 else {"objective": "partial_auc", "max_fpr": most}
    model = OptimalTreeClassifier(
        **objective, leaf_penalty=LEAF_PENALTY, max_depth=None, thresholds=cuts, time_limit=limit
    )
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    return time.process_time() - start, model


def recomputed(model: OptimalTreeClassifier, X: pl.DataFrame, y: np.ndarray, most: float) -> float:
    """1 − the mean height of the curve up to `most`, and the penalty of all leaves."""
    rates, heights, _ = roc_curve(y, model.predict_proba(X)[:, 1], drop_intermediate=False)
    at = np.unique([*rates[rates <= most], most])
    # Where the curve is vertical, its upper end counts.
    upper = [
        heights[rates == rate].max()
        if (rates == rate).any()
        else np.interp(rate, rates, heights)
        for rate in at
    ]
    lower = [
        heights[rates == rate].min()
        if (rates == rate).any()
        else np.interp(rate, rates, heights)
        for rate in at
    ]
    area = auc(np.repeat(at, 2), np.ravel(np.column_stack([lower, upper])))
    return 1 - area / most + LEAF_PENALTY * model.get_n_leaves()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parts", default="7,12", help="of each column, comma-separated")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for each fit")
    options = parser.parse_args()
    frame = pl.read_parquet(options.folder / "mixed" / "four-class.parquet")
    X, y = frame.select("x1", "x2"), np.unique(frame["target"].to_numpy(), return_inverse=True)[1]
    print(
        f"{'parts':>5} {'up to':>5} {'target':>7} {'seconds':>8} {'status':>10} {'leaves':>6} "
        f"{'nodes':>7} {'calls':>7} {'MB':>6} {'objective':>10} {'recomputed':>10}"
    )
    for parts in map(int, options.parts.split(",")):
        for most, targets in AREAS:
            seconds, model = fit(X, y, parts, most, options.limit)
            c = model.certificate_
            print(
                f"{parts:>5} {most:>5} {targets.get(parts, '-'):>7} {seconds:>8.3f} {c.status:>10} "
                f"{c.n_leaves:>6} {c.nodes:>7} {c.kernel_calls:>7} {c.peak_bytes / 1e6:>6.1f} "
                f"{c.objective:>10.6f} {recomputed(model, X, y, most):>10.6f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
