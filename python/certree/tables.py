"""Tables in files, for the command line: CSV and Parquet, told by the file's ending.

A path is the name of one file and nothing else: no pattern, no folder of parts, no address, and no
``~``. Polars knows all of these, so it gets absolute paths and is told to leave them alone.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from certree.ingest import engine
from certree.ingest.sources import check_unique
from certree.schema import Column

ENDINGS = ".csv, .parquet"

#: The path of what is piped in, as CSV.
STDIN = Path("-")

SOURCES = f"{ENDINGS}; - is CSV from standard input"


@dataclass(frozen=True)
class Csv:
    """How a CSV file is written. An empty value is missing, whatever ``nulls`` says."""

    separator: str = ","
    nulls: tuple[str, ...] = ()

    def options(self) -> dict[str, Any]:
        """As polars takes them."""
        found: dict[str, Any] = {"glob": False, "separator": self.separator}
        return {**found, "null_values": ["", *self.nulls]} if self.nulls else found

#: How people write dates, most of them in one of these ways.
_DATES = ("%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y")
_MOMENTS = ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S%#z")


#: Kinds of columns whose values are text.
TEXT = ("category", "ordered")


def read(
    path: Path, csv: Csv, columns: Sequence[Column] | None = None
) -> pl.DataFrame | pl.LazyFrame:
    """The table. Parquet is read as it is needed; CSV once, its types found from all of its rows.

    ``columns`` are those that will be read, if these are not all. Categories among them are read as
    text even where every value looks like a number.
    """
    categories = [column.name for column in columns or () if column.kind in TEXT]
    if path == STDIN:
        return _csv(io.BytesIO(sys.stdin.buffer.read()), "standard input", csv, categories)
    if not path.exists():
        raise FileNotFoundError(2, "there is no such file", str(path))
    kind = ending(path)
    if path.is_dir():
        raise IsADirectoryError(21, "is a folder, not a table", str(path))
    try:
        if kind == ".parquet":
            _check_parquet(path, None if columns is None else [column.name for column in columns])
            table = pl.scan_parquet(path.absolute(), glob=False, hive_partitioning=False)
            engine.schema(table)
            return table
    except (pl.exceptions.PolarsError, engine.Damaged) as error:
        raise ValueError(f"{path} is not a {kind} table: {engine.first_line(error)}") from None
    return _csv(path.absolute(), str(path), csv, categories)


def _csv(
    source: Path | io.BytesIO, shown: str, csv: Csv, categories: Iterable[str]
) -> pl.DataFrame:
    try:
        return _read_csv(source, csv, categories)
    except (pl.exceptions.PolarsError, engine.Damaged) as error:
        raise ValueError(f"{shown} is not a .csv table: {engine.first_line(error)}") from None


#: A program that decodes columns of a Parquet file, all of them or those that are named, and throws
#: the values away. It writes no core file of gigabytes where it dies, and does not import certree,
#: because that would take ten times as long. Modules are found where this process finds them, and
#: never in the current folder.
_DECODE = """
import sys
path, wanted, *sys.path = sys.argv[1:]
import json
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except ImportError:
    pass
import polars
import polars.selectors
problem = None
try:
    table = polars.scan_parquet(path, glob=False, hive_partitioning=False)
    names = json.loads(wanted)
    chosen = polars.all()
    if names is not None:
        chosen = polars.selectors.by_name(*names, require_all=False)
    table.select(chosen.null_count()).collect(engine="streaming")
except KeyboardInterrupt:
    raise
except BaseException as error:
    problem = str(error)
print(json.dumps(problem))
"""


def _check_parquet(path: Path, names: Sequence[str] | None) -> None:
    """A ValueError over a file that polars cannot decode, found out in a child process.

    Some damaged files make polars end its process, because they promise more values than any
    memory holds, and no Python code can catch that. The promise may stand inside of a compressed
    page, so that it is not enough to look at the file's footer: whoever finds it has decoded the
    file. The child takes a third of a second, beside three for certree itself, and the time to
    decode the columns once more.
    """
    if not sys.executable:
        # Python runs inside of another program, and knows no way to start itself.
        return
    command = [sys.executable, "-c", _DECODE, str(path.absolute()), json.dumps(names), *sys.path]
    child = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if child.returncode != 0:
        raise ValueError(
            f"{path} is not a .parquet table: polars ends the process that reads it "
            f"(exit code {child.returncode}), so the file must be damaged"
        )
    problem = json.loads(child.stdout)
    if problem is not None:
        problem = problem.strip().partition("\n")[0]
        raise ValueError(f"{path} is not a .parquet table: {problem}")


def _read_csv(
    source: Path | io.BytesIO, csv: Csv, categories: Iterable[str]
) -> pl.DataFrame:
    def read(**options: Any) -> pl.DataFrame:
        if isinstance(source, io.BytesIO):
            source.seek(0)
        return pl.read_csv(source, **csv.options(), **options)

    header = read(has_header=False, n_rows=1, infer_schema_length=0).row(0)
    names = ["" if name is None else str(name) for name in header]
    # Polars would rename them.
    check_unique(names)
    text = dict.fromkeys([name for name in categories if name in set(names)], pl.String)
    try:
        return read(infer_schema_length=None, try_parse_dates=True, schema_overrides=text)
    except pl.exceptions.ComputeError:
        # A value that only looks like one of its column's type, such as a date in another form.
        frame = read(infer_schema_length=0)
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
