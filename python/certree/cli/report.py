"""``certree report``, ``certree diff`` and ``certree drift``: what becomes of a saved tree."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from certree import tables
from certree.cli.common import about, add_csv, check_column, csv_of, load, target_of
from certree.conditions import printable
from certree.ingest import engine

#: Of a table in the terminal: a rule is cut beyond it.
WIDEST = 120


def add_report(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", type=Path, help="a tree that `certree fit --model` wrote")
    command.add_argument(
        "--data", type=Path, help=f"a table that it was not fitted to ({tables.ENDINGS})"
    )
    command.add_argument(
        "--target",
        nargs="+",
        metavar="COLUMN",
        help="the columns of --data that say what is true: as `certree fit` was given them",
    )
    command.add_argument(
        "--sensitive", metavar="COLUMN", help="a column of --data: rates are shown by group"
    )
    command.add_argument("--output", type=Path, default=Path("report.html"), metavar="FILE")
    add_csv(command)


def report(options: argparse.Namespace) -> None:
    # Loads what draws.
    from certree.reporting import report as write

    given = vars(options)
    tree = load(options.model)
    if "data" not in given:
        for option in ("target", "sensitive"):
            if option in given:
                raise ValueError(f"--{option} names a column of --data, which is not given")
        written = write(tree, path=options.output, statement=about(options.model))
    else:
        frame = engine.collect(tables.read(options.data, csv_of(given)).lazy())
        named = [("--target", name) for name in given.get("target", [])]
        if "sensitive" in given:
            named.append(("--sensitive", options.sensitive))
        for option, name in named:
            check_column(option, name, frame.columns, options.data)
        truth = target_of(frame, options.target) if "target" in given else None
        groups = frame[options.sensitive] if "sensitive" in given else None
        written = write(
            tree, frame, truth, groups, options.output, statement=about(options.model)
        )
    print(f"wrote {printable(str(written))}")


def add_diff(command: argparse.ArgumentParser) -> None:
    command.add_argument("old", type=Path, help="a tree that `certree fit --model` wrote")
    command.add_argument("new", type=Path, help="another one")
    command.add_argument(
        "--data", type=Path, help=f"rows to count those that change ({tables.SOURCES})"
    )
    add_csv(command)


def diff(options: argparse.Namespace) -> None:
    given = vars(options)
    old, new = load(options.old), load(options.new)
    rows = tables.read(options.data, csv_of(given)) if "data" in given else None
    print(printable(str(new.diff(old, rows))))


def add_drift(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", type=Path, help="a tree that `certree fit --model` wrote")
    command.add_argument("data", type=Path, help=f"the rows of now ({tables.SOURCES})")
    command.add_argument(
        "--output", type=Path, metavar="FILE", help=f"write a table here ({tables.ENDINGS})"
    )
    add_csv(command)


def drift(options: argparse.Namespace) -> None:
    given = vars(options)
    found = load(options.model).drift(tables.read(options.data, csv_of(given)))
    if "output" in given:
        tables.write(found, options.output)
        return
    for rule, label, before, now in found.select(
        "rule", "label", "trained_share", "share"
    ).iter_rows():
        told = rule if len(rule) <= WIDEST else f"{rule[: WIDEST - 1]}…"
        sys.stdout.write(f"{before:7.1%} → {now:6.1%}  {printable(told)}: {printable(label)}\n")
    print(f"population stability index: {found['psi'].sum():.4f}")
