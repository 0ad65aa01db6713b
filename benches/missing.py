"""What missing values cost: fits with a share of the values missing, beside fits without.

    python benches/missing.py DATA_FOLDER [--depths 3,4] [--share 0.1] [--sets magic,compas-binary]
    [--kinds binary,continuous] [--limit 60] [--leaf-penalty 0.0]

DATA_FOLDER has `binary/*.parquet` and `continuous/*.parquet`: columns `target`, features, and maybe
`split`, of which the training rows are taken. Values go missing at random, by a fixed seed. One
thread; seconds are CPU time of `fit`, the less of two where a fit takes less than a second. A fit
that is not proved within the limit counts as the limit, with a `>` before the ratio or, where
neither is proved, none. Sets that take less than 0.05 s do not count in the mean. "Filled" is the
table whose gaps are filled with 0 or false: as noisy as the one with gaps, but without missing
values.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl

from certree import OptimalTreeClassifier
from continuous import LEAST, read

SEED = 5


def with_gaps(X: pl.DataFrame, share: float) -> pl.DataFrame:
    rng = np.random.default_rng(SEED)
    gone = {name: pl.Series(rng.random(X.height) < share) for name in X.columns}
    return X.with_columns(
        pl.when(gone[name]).then(None).otherwise(pl.col(name)).alias(name) for name in X.columns
    )


def filled(gaps: pl.DataFrame) -> pl.DataFrame:
    of = {name: False if dtype == pl.Boolean else 0 for name, dtype in gaps.schema.items()}
    return gaps.with_columns(pl.col(name).fill_null(value) for name, value in of.items())


def seconds_of(
    X: pl.DataFrame, y: np.ndarray, depth: int, options: argparse.Namespace
) -> tuple[float, OptimalTreeClassifier]:
    model = OptimalTreeClassifier(
        leaf_penalty=options.leaf_penalty, max_depth=depth, time_limit=options.limit
    )
    times: list[float] = []
    while not times or (len(times) < 2 and times[0] < 1):
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        times.append(time.process_time() - start)
    return min(times), model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--depths", default="3,4", help="comma-separated")
    parser.add_argument("--kinds", default="binary,continuous", help="comma-separated folders")
    parser.add_argument("--sets", help="comma-separated names of files, instead of all")
    parser.add_argument("--share", type=float, default=0.1, help="of values that go missing")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each fit")
    parser.add_argument("--leaf-penalty", type=float, default=0.0)
    options = parser.parse_args()
    folders = [options.folder / kind for kind in options.kinds.split(",")]
    paths = [path for folder in folders for path in folder.glob("*.parquet")]
    if options.sets:
        paths = [path for path in paths if path.stem in options.sets.split(",")]
    columns = ("data", "depth", "rows", "points", "with gaps", "seconds", "filled", "with gaps")
    print("{:>20} {:>5} {:>7} {:>7} {:>9} {:>9} {:>9} {:>9}   ratio".format(*columns))
    ratios, of_noise = [], []
    for path in sorted(paths):
        X, y = read(path)
        gaps = with_gaps(X, options.share)
        for depth in map(int, options.depths.split(",")):
            whole, of_whole = seconds_of(X, y, depth, options)
            noisy, _ = seconds_of(filled(gaps), y, depth, options)
            lost, of_lost = seconds_of(gaps, y, depth, options)
            proved = [model.status_ == "optimal" for model in (of_whole, of_lost)]
            ratio = f"{lost / whole:.2f}" if proved[0] else "-"
            if proved == [True, True] and max(whole, lost) >= LEAST:
                ratios.append(lost / whole)
                of_noise.append(noisy / whole)
            points = [model.certificate_.n_points for model in (of_whole, of_lost)]
            print(
                f"{path.stem:>20} {depth:>5} {X.height:>7} {points[0]:>7} {points[1]:>9} "
                f"{whole:>9.3f} {noisy:>9.3f} {lost:>9.3f} {'' if proved[1] else '>'}{ratio:>7}",
                flush=True,
            )
    if ratios:
        mean, noise = (np.exp(np.mean(np.log(of))) for of in (ratios, of_noise))
        print(f"geometric mean of {len(ratios)} ratios: {mean:.2f}; the most is {max(ratios):.2f}")
        print(f"of tables whose gaps are filled: {noise:.2f}")


if __name__ == "__main__":
    main()
