"""``certree near``: all trees that are nearly as good as a saved one."""

from __future__ import annotations

import argparse
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from certree import tables
from certree.cli.common import add_csv, or_none
from certree.cli.proofs import posed_again
from certree.conditions import printable
from certree.near import CAP, NearOptimal, near_optimal

#: Importances are those of so many trees that are drawn, where there are too many to look at all.
DRAWN = 1000


def add_near(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", type=Path, help="a tree that `certree fit --model` wrote")
    command.add_argument("data", type=Path, help=f"the training table ({tables.SOURCES})")
    near = command.add_argument_group("which trees (one of these)").add_mutually_exclusive_group(
        required=True
    )
    near.add_argument(
        "--within", type=float, metavar="SHARE", help="0.05: at most 5%% above the least objective"
    )
    near.add_argument(
        "--beyond", type=float, metavar="NUMBER", help="at most so much above the least objective"
    )
    near.add_argument(
        "--n", type=int, metavar="COUNT", help="so many, and all that are as good as the last one"
    )
    command.add_argument(
        "--show", type=int, default=3, metavar="COUNT", help="how many trees are printed (3)"
    )
    command.add_argument(
        "--alike",
        choices=["each", "once"],
        help="questions that part the rows of a node alike make a tree each, or one tree (each)",
    )
    command.add_argument(
        "--leaf-answers",
        choices=["best", "any"],
        help="leaves have the best answer for their rows, or any label (best)",
    )
    command.add_argument(
        "--importances",
        action="store_true",
        default=False,
        help="print between what limits the importance of each column is: over all trees if there "
        f"are at most {CAP:,}, or over {DRAWN:,} that are drawn",
    )
    command.add_argument("--time-limit", type=or_none(float), metavar="SECONDS")
    command.add_argument("--memory-limit", type=or_none(int), metavar="BYTES")
    command.add_argument(
        "--output", type=Path, metavar="FILE", help=f"write a table of columns ({tables.ENDINGS})"
    )
    add_csv(command)


def near(options: argparse.Namespace) -> None:
    given = vars(options)
    if options.show < 0:
        raise ValueError(f"--show {options.show} is no number of trees: give 0 or more")
    problem = posed_again(options)
    limits = ("time_limit", "memory_limit")
    model = problem.model.set_params(**{name: given[name] for name in limits if name in given})
    # The saved tree is where the search begins, so that it has to prove it only.
    X, y, weight = problem.data
    model.fit(X, y, sample_weight=weight, start=problem.saved.tree)
    model._fitted.check_data(problem.saved.digest or model._fitted.digest, True)
    asked = ("within", "beyond", "n", "alike", "leaf_answers")
    more: dict[str, Any] = {name: given[name] for name in asked if name in given}
    found = near_optimal(model, X, y, weight, **more)
    print(printable(found.statement()))
    _print_trees(found, options.show)
    if found.is_complete:
        columns = found.columns()
        _print_columns(columns)
        if "output" in given:
            tables.write(columns, options.output)
    elif "output" in given:
        raise ValueError("--output needs all trees, but a limit ended the search: raise it")
    if options.importances:
        _print_importances(found)


def _print_trees(found: NearOptimal, n: int) -> None:
    for place, each in enumerate(islice(found, n), start=1):
        print(f"\n{place}. objective {each.objective:.6g}, {each.tree.n_leaves} leaves")
        sys.stdout.write(each.tree.to_text())


def _print_columns(columns: pl.DataFrame) -> None:
    print("\nshare of the trees that ask for a column, and the best objective without it:")
    for name, share, _, _, without in columns.iter_rows():
        told = "none within the bound" if without is None else f"{without:.6g}"
        print(f"{share:7.1%}  {told}  {printable(name)}")


def _print_importances(found: NearOptimal) -> None:
    is_small = found.is_complete and found.n_trees <= CAP
    values = found.column_importances(sample=None if is_small else DRAWN, random_state=0)
    over = "all trees" if is_small else f"{DRAWN:,} trees that were drawn"
    print(f"\nleast, mean and most importance of a column over {over}:")
    for name, least, mean, most, *_ in values.iter_rows():
        print(f"{least:.3f} {mean:.3f} {most:.3f}  {printable(name)}")
