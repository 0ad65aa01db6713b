"""Polars' engine, asked in one place: for columns by their literal names, and with its failures as
errors.

Polars reads a name such as ``^a.*$`` or ``*`` as a pattern; its engine panics over damaged files;
and its threads do not survive a fork, so that a forked child which asks it for anything waits for
ever. Whoever needs an expression of a column, a schema or the rows of a lazy frame calls the
functions here, because they know.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import polars as pl
import polars.selectors as cs

T = TypeVar("T")


def column(name: str) -> pl.Expr:
    """The column of exactly this name."""
    if name == "*" or (name.startswith("^") and name.endswith("$")):
        return cs.by_name(name).as_expr()
    return pl.col(name)


def columns(names: Iterable[str]) -> list[pl.Expr]:
    return [column(name) for name in names]


def unnamed(series: pl.Series) -> pl.Series:
    """The series under a name that is no pattern: many of its methods look for themselves by
    name."""
    return series.alias("values")


def collect(frame: pl.LazyFrame) -> pl.DataFrame:
    """The rows of a lazy frame."""
    return _reporting_panics(lambda: frame.collect(engine="streaming"))


def schema(frame: pl.LazyFrame) -> pl.Schema:
    """The names and types of a lazy frame's columns."""
    return _reporting_panics(frame.collect_schema)


class Damaged(ValueError):
    """Polars panicked."""


def _reporting_panics(read: Callable[[], T]) -> T:
    check_threads()
    try:
        return read()
    except BaseException as error:
        if is_panic(error):
            raise Damaged(
                f"polars cannot read this table, and panics: {first_line(error)}; a file that it "
                "comes from may be damaged"
            ) from None
        raise


def is_panic(error: BaseException) -> bool:
    """Whether Rust code panicked. The exception's class is not the same in every release of
    polars."""
    return type(error).__name__ == "PanicException"


def first_line(error: BaseException) -> str:
    """Polars explains at length; the cause comes first."""
    return str(error).strip().partition("\n")[0]


# ---- forks

_threads_are_gone = False
_had_threads = False


def check_threads() -> None:
    """A RuntimeError in a process where polars would wait for ever."""
    if _threads_are_gone:
        raise RuntimeError(
            "this process was forked after polars had started its threads, which a fork does not "
            "copy: polars would wait for them for ever. Start processes with multiprocessing's "
            "'spawn' or 'forkserver' method or with joblib's default one, or pass numbers as numpy "
            "arrays, for which polars' threads are not needed"
        )


def _runs() -> bool:
    """Whether polars' threads run in this process. Linux says so; elsewhere forks are rare, and
    nothing is known."""
    for path in glob.glob("/proc/self/task/*/comm"):
        try:
            with open(path, "rb") as file:
                name = file.read()
        except OSError:
            continue  # a thread that has just ended
        of_pool = name.startswith(b"polars-") and name[7:8].isdigit()
        if of_pool or name.startswith(b"async-executor"):
            return True
    return False


def _before_fork() -> None:
    global _had_threads
    _had_threads = _runs()


def _in_child() -> None:
    global _threads_are_gone
    _threads_are_gone = _threads_are_gone or _had_threads


def _watch(register: Any = getattr(os, "register_at_fork", None)) -> None:
    if register is not None:
        register(before=_before_fork, after_in_child=_in_child)


_watch()
