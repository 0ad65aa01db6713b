"""Parquet files (column `target`, then Boolean features) as plain arrays that every environment can load."""

from dataclasses import dataclass
from pathlib import Path

import numpy
import polars


@dataclass(frozen=True)
class Table:
    name: str
    rows: int
    features: int
    path: Path
    labels: numpy.ndarray


def load_tables(data, names, folder):
    """Writes each set as arrays into `folder`: numpy is the one format that all environments share."""
    files = sorted(Path(data).glob("*.parquet"))
    if names:
        missing = set(names) - {file.stem for file in files}
        if missing:
            raise SystemExit(f"no such set in {data}: {', '.join(sorted(missing))}")
        files = [file for file in files if file.stem in names]
    if not files:
        raise SystemExit(f"no Parquet files in {data}")
    return [convert(file, Path(folder)) for file in files]


def convert(file, folder):
    frame = polars.read_parquet(file)
    features = frame.drop("target")
    other = [name for name, kind in features.schema.items() if kind != polars.Boolean]
    if other:
        raise SystemExit(f"{file.name}: {len(other)} columns are not Boolean, the first is {other[0]!r}")
    X = features.to_numpy().astype(bool)
    _, y = numpy.unique(frame["target"].to_numpy(), return_inverse=True)
    path = folder / f"{file.stem}.npz"
    numpy.savez(path, X=X, y=y.astype("int64"), names=numpy.array(features.columns))
    return Table(file.stem, X.shape[0], X.shape[1], path, y)


def objective(labels, predictions, leaves, leaf_penalty):
    """The objective as certree defines it, from what a solver predicts: no solver's own number is trusted."""
    errors = int((numpy.asarray(labels) != numpy.asarray(predictions)).sum())
    return errors, errors / len(labels) + leaf_penalty * leaves
