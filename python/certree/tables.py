"""Tables in files, for the command line: CSV and Parquet, told by the file's ending.

A path is the name of one file and nothing else: no pattern, no folder of parts, no address, and no
``~``. Polars knows all of these, so it gets absolute paths and is told to leave them alone.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from certree.ingest import engine
from certree.ingest.sources import check_unique
from certree.schema import Column

ENDINGS = ".csv, .parquet"

#: How people write dates, most of them in one of these ways.
_DATES = ("%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y")
_MOMENTS = ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S%#z")


def read(path: Path, columns: Sequence[Column] = ()) -> pl.DataFrame | pl.LazyFrame:
    """The table. Parquet is read as it is needed; CSV once, its types found from all of its rows.

    Categories among ``columns`` are read as text even where every value looks like a number.
    """
    if not path.exists():
        raise FileNotFoundError(2, "there is no such file", str(path))
    kind = ending(path)
    if path.is_dir():
        raise IsADirectoryError(21, "is a folder, not a table", str(path))
    try:
        if kind == ".parquet":
            table = pl.scan_parquet(path.absolute(), glob=False, hive_partitioning=False)
            engine.schema(table)
            return table
        return _read_csv(path, [column.name for column in columns if column.kind == "category"])
    except (pl.exceptions.PolarsError, engine.Damaged) as error:
        raise ValueError(f"{path} is not a {kind} table: {engine.first_line(error)}") from None


def _read_csv(path: Path, categories: Iterable[str]) -> pl.DataFrame:
    header = pl.read_csv(
        path.absolute(), glob=False, has_header=False, n_rows=1, infer_schema_length=0
    ).row(0)
    names = ["" if name is None else str(name) for name in header]
    # Polars would rename them.
    check_unique(names)
    text = dict.fromkeys([name for name in categories if name in set(names)], pl.String)
    try:
        return pl.read_csv(
            path.absolute(),
            glob=False,
            infer_schema_length=None,
            try_parse_dates=True,
            schema_overrides=text,
        )
    except pl.exceptions.ComputeError:
        # A value that only looks like one of its column's type, such as a date in another form.
        frame = pl.read_csv(path.absolute(), glob=False, infer_schema_length=0)
        return frame.with_columns(
            _with_type(series) for series in frame.get_columns() if series.name not in text
        )


def _with_type(series: pl.Series) -> pl.Series:
    """A column of text in the type that polars finds for it alone; as text, if it then fails."""
    alone = series.alias("column").to_frame().write_csv(quote_style="non_numeric").encode()
    try:
        found = pl.read_csv(io.BytesIO(alone), infer_schema_length=None, try_parse_dates=True)
    except pl.exceptions.ComputeError:
        return series
    return found.to_series().alias(series.name) if found.height == len(series) else series


def odd_dates(frame: pl.DataFrame | pl.LazyFrame) -> list[str]:
    """A sentence for each column of text that is mostly dates: with a value that is none."""
    if isinstance(frame, pl.LazyFrame):
        return []
    notes = []
    for series in frame.get_columns():
        if series.dtype != pl.String:
            continue
        known = engine.unnamed(series).drop_nulls()
        for form in (*_DATES, *_MOMENTS):
            # A column of words shows it in its first values.
            if known.head(100).str.to_datetime(form, strict=False).null_count() > 50:
                continue
            odd = known.filter(known.str.to_datetime(form, strict=False).is_null())
            if 0 < len(odd) * 2 < len(known):
                notes.append(
                    f"column {series.name!r} is read as text, since {len(odd):,} of its "
                    f"{len(known):,} values are no dates like the others, such as {odd[0]!r}"
                )
                break
    return notes


def write(frame: pl.DataFrame, path: Path) -> None:
    if ending(path) == ".parquet":
        frame.write_parquet(path.absolute())
    else:
        frame.write_csv(path.absolute())


def ending(path: Path) -> str:
    found = path.suffix.lower()
    if found not in (".csv", ".parquet"):
        raise ValueError(f"{path}: the name of a table must end in one of {ENDINGS}")
    return found
