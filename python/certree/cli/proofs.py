"""``certree export-instance`` and ``certree prove``: a saved tree, for programs that check it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from certree import tables
from certree.cli.common import add_csv, check_column, csv_of, load
from certree.cli.fit import ESTIMATORS
from certree.conditions import printable
from certree.estimators import _proof
from certree.ingest import engine


def add_export_instance(command: argparse.ArgumentParser) -> None:
    command.add_argument("data", type=Path, help=f"the training table ({tables.SOURCES})")
    command.add_argument(
        "--model", type=Path, required=True, help="a tree that `certree fit --model` wrote"
    )
    command.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="such as tree.ctd"
    )
    add_csv(command)


def add_prove(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", type=Path, help="a tree that `certree fit --model` wrote")
    command.add_argument("data", type=Path, help=f"the training table ({tables.SOURCES})")
    command.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="such as tree.ctp"
    )
    command.add_argument(
        "--instance",
        type=Path,
        metavar="FILE",
        help="what the proof speaks of: written, unless it is there already (the output, with the "
        "ending .ctd)",
    )
    add_csv(command)


class Problem(NamedTuple):
    """The problem of a saved tree: the table of its fit, which is read again, and an estimator."""

    #: An estimator that is not fitted.
    model: Any
    data: tuple[Any, Any, Any]
    saved: _proof.Saved


def export_instance(options: argparse.Namespace) -> None:
    problem = posed_again(options)
    sha256 = _proof.export(problem.model, problem.data, problem.saved, options.output)
    print(printable(f"Instance: {options.output} (SHA-256: {sha256})"))


def prove(options: argparse.Namespace) -> None:
    instance = vars(options).get("instance", options.output.with_suffix(".ctd"))
    written = _proof.write_saved(*posed_again(options), instance, options.output)
    print(printable(f"Proof: {written.how_to_check()} (lemmas: {written.lemmas})"))
    print(f"SHA-256 of the instance: {written.sha256}")


def posed_again(options: argparse.Namespace) -> Problem:
    """The problem that the saved tree ``options.model`` answers, posed again with the rows of the
    table ``options.data``."""
    tree = load(options.model)
    document = json.loads(options.model.read_bytes())
    fit, certificate = document.get("fit"), document.get("certificate")
    if not isinstance(fit, dict) or not isinstance(certificate, dict):
        raise ValueError(
            f"{options.model} does not say how it was fitted: guessed cuts and bounds, and "
            "constraints, cannot be posed again from a table; use `certree fit --proof`"
        )
    frame = tables.read(options.data, csv_of(vars(options)))
    known = frame.columns if isinstance(frame, pl.DataFrame) else list(engine.schema(frame))
    try:
        task, goal, weight, columns = (fit[name] for name in ("task", "goal", "weight", "columns"))
        model = ESTIMATORS[task](**fit["parameters"])
        bound = None if certificate["status"] == "optimal" else float(certificate["lower_bound"])
        saved = _proof.Saved(tree, bound, fit["digest"])
        for name in [*columns, *goal, *([] if weight is None else [weight])]:
            check_column("model", name, known, options.data)
        kept = frame.select(engine.columns(columns))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{options.model} does not say how it was fitted: its member 'fit' is damaged ({error})"
        ) from None
    data = kept, goal[0] if task == "classification" else goal, weight
    return Problem(model, data, saved)
