"""A PostgreSQL server of the tests' own, on a socket in a temporary folder, where one is
installed."""

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import polars as pl
import pytest

USER = "certree"

#: By polars type; moments of other units than microseconds are rounded to these.
TYPES = {
    pl.Boolean: "boolean",
    pl.Date: "date",
    pl.Duration: "interval",
    pl.Time: "time",
    pl.Float32: "real",
    pl.Float64: "double precision",
    pl.String: "text",
}


def _binaries():
    """The folder of initdb and pg_ctl, which Debian keeps off the PATH."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else Path("/usr/lib/postgresql").glob("*/bin")
    return max((each for each in folders if (each / "initdb").exists()), default=None)


def _has_account():
    """Whether there is the user that the server runs as where root starts it."""
    import pwd

    try:
        pwd.getpwnam("postgres")
    except KeyError:
        return False
    return True


@functools.cache
def connection():
    psycopg = pytest.importorskip("psycopg")
    binaries = _binaries()
    if binaries is None or os.getuid() == 0 and not _has_account():
        pytest.skip("PostgreSQL is not installed")
    folder = Path(tempfile.mkdtemp())
    # The server does not run as root.
    account = {}
    if os.getuid() == 0:
        account = {"user": "postgres"}
        shutil.chown(folder, "postgres")

    def run(program, *arguments):
        subprocess.run(
            [binaries / program, *arguments],
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            **account,
        )

    data = folder / "data"
    run("initdb", "-D", data, "-U", USER, "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync")
    options = f"-k {folder} -c listen_addresses='' -c fsync=off"
    run("pg_ctl", "-D", data, "-o", options, "-l", folder / "log", "-w", "start")

    def stop():
        run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    found = psycopg.connect(host=str(folder), user=USER, dbname="postgres", autocommit=True)
    found.execute("SET TimeZone = 'Asia/Tokyo'")
    return found


def _type(dtype):
    if isinstance(dtype, pl.Datetime):
        return "timestamptz" if dtype.time_zone else "timestamp"
    return "bigint" if dtype.is_integer() else TYPES[type(dtype)]


def run(frame, select):
    """What the expressions answer for each row of a frame, in its order."""
    server = connection()
    known = frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
    names = ['"' + name.replace('"', '""') + '"' for name in known.columns]
    defined = [f"{name} {_type(dtype)}" for name, dtype in zip(names, known.dtypes)]
    server.execute("DROP TABLE IF EXISTS known")
    server.execute(f"CREATE TEMP TABLE known (certree_row serial, {', '.join(defined)})")
    with server.cursor().copy(f"COPY known ({', '.join(names)}) FROM STDIN") as rows:
        for row in known.rows():
            rows.write_row(row)
    return server.execute(f"SELECT {select} FROM known ORDER BY certree_row").fetchall()
