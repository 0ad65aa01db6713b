"""The command ``certree``: on CSV and Parquet files, and on saved trees."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import polars as pl

from certree import __version__, demo
from certree.cli import export, fit, near, predict, proofs, report
from certree.conditions import printable
from certree.ingest import engine

MISUSE = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Whatever the user can mend is one line on stderr and exit code 2."""
    # A terminal that lacks the characters that trees are drawn with shows others, not an error.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        options = parser().parse_args(arguments)
        code = options.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough, as in `certree show model.json | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, TypeError, OSError, ImportError, pl.exceptions.PolarsError) as error:
        return misused(one_line(error))
    except BaseException as error:
        # Polars panics over some damaged files, with an exception that is no Exception.
        if not engine.is_panic(error):
            raise
        return misused(f"polars panics, a file may be damaged: {engine.first_line(error)}")
    return int(code or 0)


def misused(problem: str) -> int:
    print(f"certree: error: {printable(problem)}", file=sys.stderr)
    return MISUSE


def one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, pl.exceptions.PolarsError):
        return engine.first_line(error)
    return " ".join(str(error).split()) or type(error).__name__


class Parser(argparse.ArgumentParser):
    """argparse, with errors of one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(MISUSE, f"certree: error: {printable(message)} (see {self.prog} --help)\n")


def parser() -> argparse.ArgumentParser:
    top = Parser(prog="certree", description="Provably optimal decision trees, with a certificate.")
    top.add_argument("--version", action="version", version=f"certree {__version__}")
    commands = top.add_subparsers(title="commands", metavar="command", required=True)

    def command(name: str, run: Callable[[argparse.Namespace], int | None], text: str) -> Any:
        # Options that are not given stay absent, so that the estimator's defaults hold.
        added = commands.add_parser(
            name, help=text, description=text, argument_default=argparse.SUPPRESS
        )
        added.set_defaults(run=run)
        return added

    fit.add_options(
        command("fit", fit.run, "Find the best tree for a table and print it with its certificate.")
    )
    predict.add_options(
        command("predict", predict.run, "Predict each row of a table with a saved tree.")
    )
    show = command("show", predict.show, "Print a saved tree.")
    show.add_argument("model", type=Path, help="a tree that `certree fit --model` wrote")
    export.add_options(
        command("export", export.run, "Write a saved tree as code, a picture or another format.")
    )
    report.add_report(
        command("report", report.report, "Write a page on a saved tree and how well it does.")
    )
    report.add_diff(command("diff", report.diff, "Say which rows two trees answer otherwise."))
    report.add_drift(
        command("drift", report.drift, "Say how a table spreads over the leaves of a saved tree.")
    )
    proofs.add_export_instance(
        command(
            "export-instance",
            proofs.export_instance,
            "Write the problem that a saved tree was fitted to, for programs that check proofs.",
        )
    )
    proofs.add_prove(
        command("prove", proofs.prove, "Write why no tree is better than a saved one.")
    )
    near.add_near(
        command("near", near.near, "Count and show the trees nearly as good as a saved one.")
    )
    command("demo", demo_, "Find the best tree for a small data set that comes with scikit-learn.")
    return top


def demo_(options: argparse.Namespace) -> None:
    print(demo.run())
