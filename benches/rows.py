"""Ten million rows × 20 Boolean columns: from a Parquet file to a certified tree of depth 3.

    python benches/rows.py [--rows 10000000]

Two tables: "skewed", whose columns are true from 2% to 50% of the time and hang together as those
of real data do, and "independent", of fair coins, where nearly all 2^20 combinations occur, which
is the most that 20 columns can ask of a search. Each fit runs in a process of its own, whose peak
memory is the whole cost. Targets: less than 10 s and 4 GB. Work (nodes, kernel calls) is printed
beside seconds.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

COLUMNS = 20
SECONDS, GIGABYTES = 10.0, 4.0


def write(path: Path, n_rows: int, kind: str) -> None:
    """Write a table whose class is a tree of depth 3 with a tenth of the labels flipped."""
    rng = np.random.default_rng(7)
    if kind == "independent":
        data = {f"b{i}": rng.random(n_rows) < 0.5 for i in range(COLUMNS)}
    else:
        risk = rng.random(n_rows)
        shares = np.linspace(0.02, 0.5, COLUMNS)
        data = {
            f"b{i}": np.where(rng.random(n_rows) < 0.5, risk, rng.random(n_rows)) < share
            for i, share in enumerate(shares)
        }
    a, b, c, d = (data[f"b{i}"] for i in (19, 11, 7, 15))
    label = np.where(a, np.where(b, ~c, d), c & ~d) ^ (rng.random(n_rows) < 0.1)
    pl.DataFrame(data).with_columns(y=pl.Series(label)).write_parquet(path)


def fit(path: Path, lazy: bool) -> dict[str, object]:
    """Read and fit, in a fresh process."""
    start = time.perf_counter()
    from certree import OptimalTreeClassifier

    imported = time.perf_counter()
    X = pl.scan_parquet(path) if lazy else pl.read_parquet(path)
    model = OptimalTreeClassifier(max_depth=3, leaf_penalty=0.001).fit(X, "y")
    end = time.perf_counter()
    certificate = model.certificate_
    return {
        "points": certificate.n_points,
        "import": round(imported - start, 2),
        "data": round(end - imported - certificate.seconds, 2),
        "search": round(certificate.seconds, 2),
        "total": round(end - start, 2),
        "GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        "nodes": certificate.nodes,
        "kernel calls": certificate.kernel_calls,
        "objective": round(certificate.objective, 6),
        "status": certificate.status,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--fit", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--lazy", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit:
        print(json.dumps(fit(options.fit, options.lazy)))
        return
    met = True
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("skewed", "independent"):
            path = Path(folder) / f"{kind}.parquet"
            write(path, options.rows, kind)
            for flags in ([], ["--lazy"]):
                command = [sys.executable, __file__, "--fit", str(path), *flags]
                found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
                met &= found["total"] < SECONDS and found["GB"] < GIGABYTES
                how = "scan_parquet" if flags else "read_parquet"
                print(f"{kind}, {how}:", ", ".join(f"{k} {v}" for k, v in found.items()))
            path.unlink()
    print("targets met" if met else f"targets missed: {SECONDS} s, {GIGABYTES} GB")
    sys.exit(not met)


if __name__ == "__main__":
    main()
