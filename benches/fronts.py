"""Whole fronts of false negatives and false positives beside pystreed's search for one tree by F1.

    python benches/fronts.py DATA_FOLDER [DEPTH [NAME ...]]

`DATA_FOLDER` holds Parquet files with a Boolean column `target` and Boolean features. For each it
prints the trees on the front, CPU seconds with reading, search and recount of every tree, the nodes
that were searched, and CPU seconds of pystreed for one tree, if it is installed (at most five
minutes).
"""

import sys
from math import exp, log
from pathlib import Path
from time import monotonic, process_time

import numpy as np
import polars as pl

from certree import OptimalTreeClassifier, _core

MISSED, ALARMS = [0, 0, 1, 0], [0, 1, 0, 0]


def ours(X, y, depth):
    """Trees, seconds and nodes of one search, without Python's view of each tree."""
    started = process_time()
    model = OptimalTreeClassifier(max_depth=depth, leaf_penalty=0, time_limit=None)
    posed = model._pose_in_order((X, y, None))
    with model._budget(monotonic()) as left:
        limits = model._limits(left)
    front = _core.whole_front(posed.problem, [MISSED, ALARMS], 10**6, limits)
    return len(front.trees), process_time() - started, front.nodes


def theirs(X, y, depth):
    from pystreed import STreeDClassifier

    model = STreeDClassifier(
        "f1-score", max_depth=depth, max_num_nodes=2**depth - 1, time_limit=300
    )
    X = X.to_numpy().astype(int)
    started = process_time()
    model.fit(X, y.astype(int))
    return process_time() - started


def main():
    folder, depth = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3
    print(f"{'data':24}{'trees':>8}{'seconds':>10}{'nodes':>10}{'pystreed':>10}{'ratio':>8}")
    ratios = []
    for path in sorted(folder.glob("*.parquet")):
        if sys.argv[3:] and path.stem not in sys.argv[3:]:
            continue
        frame = pl.read_parquet(path)
        X, target = frame.drop("target"), frame["target"].to_numpy()
        y = target == np.unique(target)[-1]
        # The first run warms up.
        ours(X, y, 1)
        trees, seconds, nodes = ours(X, y, depth)
        line = f"{path.stem:24}{trees:8}{seconds:10.4f}{nodes:10}"
        try:
            other = theirs(X, y, depth)
            ratios.append(log(other / seconds))
            line += f"{other:10.4f}{other / seconds:8.1f}"
        except ImportError:
            pass
        print(line, flush=True)
    if ratios:
        print(f"geometric mean of the ratios: {exp(sum(ratios) / len(ratios)):.2f}")


if __name__ == "__main__":
    main()
