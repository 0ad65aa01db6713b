"""Proofs: how long they are, and what they take to find and to check.

    python benches/proofs.py DATA [--checker target/release/certree-check] [--depths 2 3]
        [--min-samples-leaf 10] [--max-leaf-nodes 8] [--regression]

DATA is a folder of Parquet files whose column ``target`` is to be predicted, or with --regression
whose columns ``target...`` are; a column ``split`` is left out. CPU seconds are of the
fit, of ``certree.prove`` (which reads the table again), and of the checker in Rust.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
import time
import warnings
import zlib
from pathlib import Path

import polars as pl

import certree

#: Depth limits and penalties.
PROBLEMS = ((3, 0.0), (4, 0.0), (4, 0.005), (None, 0.02), (None, 0.01))
OF_SQUARES = ((2, 0.0), (2, 0.01), (3, 0.0), (3, 0.01))


def checked(program: Path, instance: Path, proof: Path) -> tuple[float, str]:
    """The CPU seconds of a check, and its verdict."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    ran = subprocess.run([program, instance, proof], capture_output=True, text=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return seconds, ran.stdout.partition(":")[0]


def line(path: Path, depth: int | None, penalty: float, options: argparse.Namespace) -> str | None:
    table = pl.read_parquet(path)
    targets = [name for name in table.columns if name.startswith("target")]
    X, y = table.drop([*targets, "split"], strict=False), table.select(targets)
    task = certree.OptimalTreeRegressor if options.regression else certree.OptimalTreeClassifier
    y = y.to_series() if len(targets) == 1 else y
    model = task(
        max_depth=depth,
        leaf_penalty=penalty,
        min_samples_leaf=options.min_samples_leaf,
        max_leaf_nodes=options.max_leaf_nodes,
        time_limit=options.seconds,
        n_jobs=1,
    )
    started = time.process_time()
    model.fit(X, y)
    fitted = time.process_time() - started
    if model.status_ != "optimal":
        return None
    with tempfile.TemporaryDirectory() as folder:
        files = {"instance": Path(folder) / "d.ctd", "proof": Path(folder) / "p.ctp"}
        started = time.process_time()
        try:
            proof = certree.prove(model, X, y, **files)
        except ValueError as error:
            return f"{path.stem:20} {depth!s:>4} {penalty:6} {error}"
        proved = time.process_time() - started
        steps = proof.proof.read_bytes()
        seconds, verdict = checked(options.checker, proof.instance, proof.proof)
    return (
        f"{path.stem:20} {depth!s:>4} {penalty:6} {model.certificate_.kernel_calls:8} "
        f"{proof.looks:8} {proof.lemmas:8} {len(steps):8} {len(zlib.compress(steps, 9)):7} "
        f"{len(zlib.compress(steps, 9)) / proof.lemmas:6.2f} {fitted:7.2f} {proved:7.2f} "
        f"{seconds:7.2f} {verdict}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--checker", type=Path, default=Path("target/release/certree-check"))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--min-samples-leaf", type=int, default=1)
    parser.add_argument("--max-leaf-nodes", type=int)
    parser.add_argument("--regression", action="store_true")
    parser.add_argument(
        "--depths", type=int, nargs="+", help="only these, without a leaf penalty: all cuts need it"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    problems = OF_SQUARES if options.regression else PROBLEMS
    problems = [(depth, 0.0) for depth in options.depths] if options.depths else problems
    print(
        f"{'':20} {'depth':>4} {'λ':>5} {'searched':>8} {'prover':>8} {'lemmas':>8} {'bytes':>8} "
        f"{'zlib':>7} {'each':>6} {'fit s':>7} {'prove s':>7} {'check s':>7}"
    )
    for path in sorted(options.data.glob(f"*{options.only}*.parquet")):
        for depth, penalty in problems:
            found = line(path, depth, penalty, options)
            if found:
                print(found, flush=True)


if __name__ == "__main__":
    main()
