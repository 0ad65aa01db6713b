"""How many trees are nearly as good as the best one, and how long it takes to know.

    python benches/near.py DATA [--sets compas-binary vote ...] [--depth 4] [--penalty 0.01]
        [--within 0.1] [--peer PYTHON]

DATA is a folder with binary/*.parquet, each with a column `target` and Boolean features. PYTHON is
an interpreter that has arborenum 0.2.6; without it certree runs alone. Both have one thread, and
seconds are of the processor. arborenum lets leaves answer any label, and counts penalties in whole
rows, so that leaf_answers="any" is what it is compared with, and penalties are rounded to rows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import certree

PEER = """
import contextlib, io, json, sys, time
import numpy as np
from arborenum import ArborEnum
given = json.loads(sys.argv[1])
table = np.load(given["file"])
X, y = table[:, 1:].astype(float), table[:, 0].astype(np.int32)
import pandas as pd
X = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
model = ArborEnum()
begin = time.process_time()
with contextlib.redirect_stdout(io.StringIO()):
    model.fit(X, y, proxy_mode="continuous", lambda_reg=given["penalty"],
              depth_budget=given["depth"], rashomon_mult=given["within"],
              lookahead_k=given["depth"] - 1, max_number_thresholds_per_feature=None,
              key_mode="hash")
    n = int(model.count_trees())
seconds = time.process_time() - begin
print("PEER " + json.dumps([n, seconds, float(model.get_min_objective())]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="*", default=["compas-binary", "coupon-bar7", "vote"])
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--penalty", type=float, default=0.01)
    parser.add_argument("--within", type=float, default=0.1)
    parser.add_argument("--peer")
    parser.add_argument("--limit", type=float, default=300)
    given = parser.parse_args()
    print(f"depth {given.depth}, penalty about {given.penalty}, within {given.within:.0%}")
    heads = ("set", "trees", "nodes", "splits", "fit s", "trees s", "arborenum", "s", "ratio")
    print(f"{heads[0]:16} {heads[1]:>22}" + "".join(f"{head:>10}" for head in heads[2:]))
    for name in given.sets:
        one(given, name)


def one(given: argparse.Namespace, name: str) -> None:
    table = pl.read_parquet(given.data / "binary" / f"{name}.parquet")
    y = table["target"].to_physical().to_numpy().astype(int)
    y = (y > y.min()).astype(int) if len(np.unique(y)) == 2 else y
    X = table.drop("target")
    penalty = max(1, round(given.penalty * len(y))) / len(y)
    begin = time.process_time()
    model = certree.OptimalTreeClassifier(max_depth=given.depth, leaf_penalty=penalty)
    model.fit(X, y)
    fitted = time.process_time()
    # arborenum rounds the bound to whole rows; half a row more, because penalties are no decimals.
    least = round(model.objective_ * len(y))
    beyond = (round(least * (1 + given.within)) - least + 0.5) / len(y)
    found = certree.near_optimal(model, X, y, beyond=beyond, leaf_answers="any")
    own = time.process_time() - fitted
    line = f"{name:16} {found.n_trees:>22,}" + "".join(f"{n:>10,}" for n in found.size)
    line += f"{fitted - begin:>10.2f}{own:>10.3f}"
    if given.peer:
        line += peer(given, X, y, penalty, own)
    print(line, flush=True)


def peer(
    given: argparse.Namespace, X: pl.DataFrame, y: np.ndarray, penalty: float, own: float
) -> str:
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file, np.column_stack([y, X.cast(pl.Int8).to_numpy()]))
        file.flush()
        asked = {"file": file.name, "penalty": penalty}
        asked |= {"depth": given.depth, "within": given.within}
        command = [given.peer, "-c", PEER, json.dumps(asked)]
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=given.limit)
        except subprocess.TimeoutExpired:
            return f"{'stopped':>10}{given.limit:>10.1f}{'':>10}"
    told = [line for line in ran.stdout.splitlines() if line.startswith("PEER ")]
    if not told:
        print(ran.stderr[-500:], file=sys.stderr)
        return f"{'failed':>10}"
    n, seconds, _ = json.loads(told[0][5:])
    return f"{n:>10,}{seconds:>10.2f}{seconds / own:>10.1f}"


if __name__ == "__main__":
    main()
