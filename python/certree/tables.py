"""Tables in files, for the command line: CSV and Parquet, told by the file's ending."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from certree.ingest.sources import check_unique
from certree.schema import Column

ENDINGS = ".csv, .parquet"


def read(path: Path, columns: Sequence[Column] = ()) -> pl.DataFrame | pl.LazyFrame:
    """The table. Parquet is read as it is needed; CSV once, its types found from all of its rows.

    Categories among ``columns`` are read as text even where every value looks like a number.
    """
    if not path.exists():
        raise FileNotFoundError(2, "there is no such file", str(path))
    kind = ending(path)
    try:
        if kind == ".parquet":
            table = pl.scan_parquet(path)
            table.collect_schema()
            return table
        header = pl.read_csv(path, has_header=False, n_rows=1, infer_schema_length=0).row(0)
        # Polars would rename them.
        check_unique(map(str, header))
        text = [c.name for c in columns if c.kind == "category" and c.name in header]
        return pl.read_csv(
            path,
            infer_schema_length=None,
            try_parse_dates=True,
            schema_overrides=dict.fromkeys(text, pl.String),
        )
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{path} is not a {kind} table: {first_line(error)}") from None


def first_line(error: pl.exceptions.PolarsError) -> str:
    """Polars explains at length; what went wrong comes first."""
    return str(error).strip().partition("\n")[0]


def write(frame: pl.DataFrame, path: Path) -> None:
    if ending(path) == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path)


def ending(path: Path) -> str:
    found = path.suffix.lower()
    if found not in (".csv", ".parquet"):
        raise ValueError(f"{path}: the name of a table must end in one of {ENDINGS}")
    return found
