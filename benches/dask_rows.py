"""Rows in Parquet files, fitted through Dask workers on this machine.

    pip install certree[dask]
    python benches/dask_rows.py SCRATCH_FOLDER [--rows 10000000] [--files 64] [--workers 2]
        [--floats] [--check]

Writes the files to the scratch folder, and removes them. Without --floats, 20 Boolean columns and
depth 3; with it, 10 columns of floats, each cut at 256 quantiles, and depth 2. Printed are seconds
of the clock, CPU seconds of all processes, and the most memory that a worker held. --check fits
10^6 of the rows in memory and through the workers, and compares the certificates.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl


def part(rng: np.random.Generator, n: int, floats: bool) -> pl.DataFrame:
    if floats:
        X = rng.normal(size=(n, 10))
        hit = (X[:, 0] > 0.3) ^ (X[:, 1] * X[:, 2] > 0.1)
    else:
        # Twelve columns that vary by themselves, and eight that follow from them.
        X = rng.random((n, 12)) < np.linspace(0.1, 0.6, 12)
        X = np.column_stack([X, X[:, :8] ^ (X[:, 4:12] & X[:, :8])])
        hit = X[:, 0] ^ (X[:, 3] & X[:, 7]) | X[:, 11]
    frame = pl.DataFrame({f"x{k}": X[:, k] for k in range(X.shape[1])})
    return frame.with_columns(y=pl.Series(hit ^ (rng.random(n) < 0.1)))


def used() -> tuple[float, int]:
    """CPU seconds of this process, and the most bytes that it held."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime, own.ru_maxrss * 1024


def fit(client: Any, paths: Any, given: dict[str, Any]) -> Any:
    from certree.dask import DaskOptimalTreeClassifier

    before = client.run(used)
    own, began = time.process_time(), time.perf_counter()
    model = DaskOptimalTreeClassifier(client=client, **given).fit(paths, "y")
    seconds, own = time.perf_counter() - began, time.process_time() - own
    after = client.run(used)
    cpu = own + sum(after[key][0] - before[key][0] for key in after)
    most = max(after[key][1] for key in after) / 1e9
    certificate = model.certificate_
    print(
        f"{certificate.n_rows:,} rows in {certificate.n_partitions} files, "
        f"{certificate.n_points:,} points: {seconds:.1f} s, {cpu:.1f} CPU s "
        f"({own:.1f} of the client), at most {most:.2f} GB in a worker; "
        f"objective {model.objective_:.9f}, {model.status_}",
        flush=True,
    )
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scratch", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--files", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--floats", action="store_true")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    from distributed import Client, LocalCluster

    from certree import OptimalTreeClassifier

    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    given: dict[str, Any] = {"max_depth": 3, "time_limit": 600.0}
    if asked.floats:
        given.update(max_depth=2, thresholds=256)
    folder = Path(tempfile.mkdtemp(dir=asked.scratch))
    try:
        rng = np.random.default_rng(0)
        for at in range(asked.files):
            frame = part(rng, asked.rows // asked.files, asked.floats)
            frame.write_parquet(folder / f"{at:03}.parquet")
        where = {"host": "127.0.0.1", "dashboard_address": ":0", "memory_limit": "2GB"}
        with LocalCluster(n_workers=asked.workers, threads_per_worker=1, **where) as cluster:
            with Client(cluster) as client:
                fit(client, [str(folder / "000.parquet")], given)  # what is loaded only once
                fit(client, str(folder / "*.parquet"), given)
                if asked.check:
                    few = max(1, asked.files * 1_000_000 // asked.rows)
                    paths = [str(folder / f"{at:03}.parquet") for at in range(few)]
                    model = fit(client, paths, given)
                    whole = pl.concat([pl.read_parquet(path) for path in paths])
                    wanted = OptimalTreeClassifier(**given).fit(whole, "y")
                    names = ("objective", "lower_bound", "status", "cuts", "n_points", "n_rows")
                    one, two = model.certificate_, wanted.certificate_
                    alike = all(getattr(one, name) == getattr(two, name) for name in names)
                    print(f"the fit in memory is the same: {alike and model.tree_ == wanted.tree_}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
