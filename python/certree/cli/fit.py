"""``certree fit``: the best tree for a table."""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import polars as pl
from sklearn.exceptions import ConvergenceWarning

from certree import tables
from certree.cli import requirements
from certree.cli.common import (
    a_feature_cost,
    add_csv,
    an_order,
    check_column,
    csv_of,
    int_or_text,
    load,
    or_none,
    target_of,
)
from certree.cli.guesses import guesses
from certree.conditions import printable
from certree.estimators import OptimalCostTree, OptimalTreeClassifier, OptimalTreeRegressor
from certree.export.to_json import to_json
from certree.feature_costs import FeatureCost
from certree.ingest import engine
from certree.ingest.categories import Asked as AskedOfCategories
from certree.options import Missing
from certree.proofs import prove
from certree.schema import MissingUnseen, Unseen
from certree.tree import Tree


#: The exit code of a search that was to prove its tree and did not.
NOT_PROVED = 3


def add_options(fit: argparse.ArgumentParser) -> None:
    fit.add_argument("data", type=Path, help=f"the training table ({tables.SOURCES})")
    goal = fit.add_mutually_exclusive_group(required=True)
    goal.add_argument(
        "--target",
        nargs="+",
        action="extend",
        metavar="COLUMN",
        help="the column to predict; for regression also several",
    )
    goal.add_argument(
        "--costs",
        nargs="+",
        action="extend",
        metavar="COLUMN",
        help="columns with the cost of each label, to choose the label that costs least",
    )
    fit.add_argument(
        "--task",
        choices=("classification", "regression"),
        default="classification",
        help="what the target is: labels (the default), or numbers to predict by their mean",
    )
    fit.add_argument("--weight", metavar="COLUMN", help="a column of row weights")
    fit.add_argument(
        "--drop", nargs="+", action="extend", metavar="COLUMN", help="columns to leave out"
    )
    fit.add_argument("--model", type=Path, metavar="FILE", help="write the tree to this JSON file")
    fit.add_argument(
        "--certificate-json",
        type=Path,
        metavar="FILE",
        help="write all that was proved and counted to this JSON file",
    )
    fit.add_argument(
        "--report", type=Path, metavar="FILE", help="write a page about the tree to this HTML file"
    )
    fit.add_argument(
        "--proof",
        type=Path,
        metavar="FILE",
        help="write why no tree is better, for certree-check or python -m certree.check_proof",
    )
    fit.add_argument(
        "--instance", type=Path, metavar="FILE", help="write what the --proof speaks of"
    )
    fit.add_argument(
        "--held-out",
        type=Path,
        metavar="TABLE",
        help="rows that the report measures the tree on, with the target",
    )
    fit.add_argument(
        "--require-proof",
        action="store_true",
        help=f"leave with exit code {NOT_PROVED} where a limit stopped the proof",
    )
    fit.add_argument("--quiet", action="store_true", help="show no progress")
    add_csv(fit)
    requirements.add_options(fit)

    search = fit.add_argument_group(
        "search",
        "Defaults are those of OptimalTreeClassifier, OptimalTreeRegressor and OptimalCostTree.",
    )
    search.add_argument(
        "--objective",
        help="of labels accuracy (the default), balanced_accuracy, f1, f1_macro, mcc, auc or "
        "another one of OptimalTreeClassifier; of regression one of OptimalTreeRegressor",
    )
    search.add_argument(
        "--start",
        type=Path,
        metavar="MODEL",
        help="a tree to begin with, such as last year's, as --model wrote it: it saves time, and "
        "changes no proof",
    )
    search.add_argument("--leaf-penalty", type=float, metavar="X", help="what each leaf costs")
    search.add_argument("--max-depth", type=or_none(int), metavar="N", help="or none")
    search.add_argument("--max-leaf-nodes", type=or_none(int), metavar="N", help="or none")
    search.add_argument("--min-samples-leaf", type=int, metavar="N")
    search.add_argument(
        "--thresholds",
        type=int_or_text,
        metavar="N",
        help="all, midpoints (exact ones, not the shortest decimals), a number of quantiles for "
        "each column, or guess (those that gradient boosting uses)",
    )
    search.add_argument(
        "--missing",
        choices=get_args(Missing),
        help="missing values of features: route them, left or right at each split as is best (the "
        "default); own_branch asks whether they are missing before anything else of their column; "
        "refuse is an error",
    )
    search.add_argument(
        "--missing-unseen",
        choices=get_args(MissingUnseen),
        help="where a missing value goes if its column had none in training: the way of the larger "
        "child (the default), or nowhere, which is an error",
    )
    search.add_argument(
        "--order",
        action="append",
        type=an_order,
        dest="orders",
        metavar="COLUMN=LEVEL,...",
        help="the values of a text column in their order, such as grade=I,II,III: it is split "
        "between neighbours",
    )
    search.add_argument(
        "--feature-cost",
        action="append",
        type=a_feature_cost,
        dest="feature_costs",
        metavar="COLUMN=COST[,GROUP,DISCOUNTED]",
        help="what a row pays to be asked for a column, such as scan=0.03, or blood=0.05,lab,0.02 "
        "if it is cheaper after another column of the group lab; it is added to the loss. Costs "
        "that differ by row are the name of a column with the price of each row, scan=scan_price, "
        "or prices by value: 'test={\"positive\": 0.05, \"negative\": 0.01}'",
    )
    search.add_argument(
        "--categories",
        choices=get_args(AskedOfCategories),
        help="what is asked of other text columns: any subsets of their values, where these are "
        "not too many (the default), or single values",
    )
    search.add_argument(
        "--max-categories",
        type=int,
        metavar="N",
        help="of a text column with more values, the rarest ones count as one",
    )
    search.add_argument(
        "--unseen",
        choices=get_args(Unseen),
        help="what `certree predict` does with values of text columns that were not there in "
        "training: it warns (the default), or refuses them",
    )
    search.add_argument(
        "--reference",
        choices=("guess",),
        help="guess lower bounds from gradient boosting: faster, and the certificate says what "
        "that can cost",
    )
    search.add_argument(
        "--guess-trees",
        type=int,
        metavar="N",
        help="how many trees the gradient boosting of a guess has, for each class or target (50)",
    )
    search.add_argument(
        "--guess-depth", type=int, metavar="N", help="how deep these trees are (2)"
    )
    search.add_argument(
        "--guess-tolerance",
        type=or_none(float),
        metavar="X",
        help="how much worse the boosting's training score may get while --thresholds guess drops "
        "cuts (0); none keeps all",
    )
    search.add_argument(
        "--random-state", type=int, metavar="N", help="the seed of the gradient boosting (0)"
    )
    search.add_argument("--time-limit", type=or_none(float), metavar="SECONDS", help="or none")
    search.add_argument("--gap-limit", type=float, metavar="X", help="stop at this gap")
    search.add_argument("--n-jobs", type=int, metavar="N", help="threads; -1 for all cores")


SEARCH = (
    "objective",
    "leaf_penalty",
    "max_depth",
    "max_leaf_nodes",
    "min_samples_leaf",
    "thresholds",
    "missing",
    "missing_unseen",
    "categories",
    "max_categories",
    "unseen",
    "reference",
    "random_state",
    "time_limit",
    "gap_limit",
    "n_jobs",
)


ESTIMATORS: dict[str, Any] = {
    "classification": OptimalTreeClassifier,
    "regression": OptimalTreeRegressor,
    "costs": OptimalCostTree,
}

#: Options that name a file to write.
WRITTEN = ("model", "certificate_json", "report", "proof", "instance")


def run(options: argparse.Namespace) -> int:
    given = vars(options)
    frame = tables.read(options.data, csv_of(given))
    columns = list(engine.schema(frame)) if isinstance(frame, pl.LazyFrame) else frame.columns
    for note in tables.odd_dates(frame):
        print(f"certree: note: {printable(note)}", file=sys.stderr)
    asked = Asked.of(given, columns)
    # Before the search, so that no one waits for a tree that cannot be kept.
    for option in WRITTEN:
        if option in given and not given[option].absolute().parent.is_dir():
            raise FileNotFoundError(2, "there is no such folder", str(given[option].parent))
    held_out = _held_out(given, asked)
    start = load(given["start"]) if "start" in given else None
    if ("proof" in given) != ("instance" in given):
        raise ValueError("--proof and --instance belong together: the one speaks of the other")

    model = ESTIMATORS[asked.task](**_parameters(given, asked, frame))
    kept = frame.select(engine.columns(asked.kept))
    interrupt = _fit(model, kept, asked, start)
    if model.verbose and sys.stderr.isatty():
        print(end="\r\033[K", file=sys.stderr)
    if "model" in given:
        save(model, given["model"], asked)
    print(model.tree_.to_text())
    print(printable(str(model.certificate_)), flush=True)
    try:
        if "proof" in given and interrupt is None:
            files = {"instance": given["instance"], "proof": given["proof"]}
            written = prove(model, kept, asked.goal, asked.weight, **files)
            print(printable(f"Proof: {written.how_to_check()} (lemmas: {written.lemmas})"))
    finally:
        # After the proof, because they say where it is.
        _write(model, given, asked, held_out)
    if interrupt is not None:
        raise interrupt
    stopped = "require_proof" in given and model.status_ != "optimal"
    return NOT_PROVED if stopped else 0


@dataclass(frozen=True)
class Asked:
    """What a table is asked for: its task, the columns of the goal and of weights, and those that
    are read."""

    task: str
    named: list[str]
    weight: str | None
    kept: list[str]

    @classmethod
    def of(cls, given: dict[str, Any], columns: list[str]) -> Asked:
        drop, path = given.get("drop", []), given["data"]
        goal = "target" if "target" in given else "costs"
        named = given[goal]
        task = "costs" if goal == "costs" else given["task"]
        if task == "classification" and len(named) > 1:
            raise ValueError(
                f"--target names {len(named)} columns; several are for --task regression"
            )
        if goal == "costs" and given["task"] == "regression":
            raise ValueError("--costs are of labels: with --task regression, name the --target")
        weight = [given["weight"]] if "weight" in given else []
        for option, names in [(goal, named), ("weight", weight)]:
            for name in names:
                check_column(f"--{option}", name, columns, path)
                if name in drop:
                    raise ValueError(f"--drop names {name!r}, which is the --{option} column")
        for name in drop:
            check_column("--drop", name, columns, path)
        for name in weight:
            if name in named:
                raise ValueError(f"--weight and --{goal} both name {name!r}")
        if goal == "costs" and "objective" in given:
            raise ValueError("--objective is for --target: with --costs it is the mean cost")
        for option in requirements.OPTIONS:
            if option in given and task != "classification":
                shown = f"--{option.replace('_', '-')}"
                raise ValueError(f"{shown} is for --target with --task classification")
        dropped = set(drop)
        kept = [name for name in columns if name not in dropped]
        return cls(task, named, given.get("weight"), kept)

    @property
    def goal(self) -> str | list[str]:
        """As ``fit`` takes it."""
        return self.named[0] if self.task == "classification" else self.named


def _parameters(
    given: dict[str, Any], asked: Asked, frame: pl.DataFrame | pl.LazyFrame
) -> dict[str, Any]:
    found = {name: given[name] for name in SEARCH if name in given}
    if "orders" in given:
        found["orders"] = dict(given["orders"])
    if "feature_costs" in given:
        found["feature_costs"] = _each_once(given["feature_costs"])
    found.update(guesses(given, asked.task, len(asked.named)))
    if asked.task == "classification":
        found.update(
            requirements.parameters(given, frame.select(engine.columns(asked.named)))
        )
    return {**found, "verbose": not given.get("quiet", False)}


def _each_once(costs: list[tuple[str, FeatureCost]]) -> dict[str, FeatureCost]:
    names = [name for name, _ in costs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"--feature-cost names {name!r} twice")
    return dict(costs)


def _fit(
    model: Any, frame: pl.DataFrame | pl.LazyFrame, asked: Asked, start: Tree | None
) -> BaseException | None:
    """The interrupt that ended the search, if one did and there is a tree."""
    with warnings.catch_warnings():
        # The certificate says it, too.
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model.fit(frame, asked.goal, sample_weight=asked.weight, start=start)
        except KeyboardInterrupt as error:
            # Before the search there is no tree to show.
            if not hasattr(model, "tree_"):
                raise
            return error
    return None


def _held_out(given: dict[str, Any], asked: Asked) -> pl.DataFrame | None:
    if "held_out" not in given:
        return None
    if "report" not in given:
        raise ValueError("--held-out is for --report")
    frame = tables.read(given["held_out"], csv_of(given))
    known = list(engine.schema(frame)) if isinstance(frame, pl.LazyFrame) else frame.columns
    for name in asked.named:
        check_column("--held-out", name, known, given["held_out"])
    return engine.collect(frame.lazy())


def _write(
    model: Any, given: dict[str, Any], asked: Asked, held_out: pl.DataFrame | None
) -> None:
    if "certificate_json" in given:
        given["certificate_json"].write_text(model.certificate_.to_json(), encoding="utf-8")
    if "report" in given:
        # Loads what draws.
        from certree.reporting import report

        truth = None if held_out is None else target_of(held_out, asked.named)
        report(model, held_out, truth, path=given["report"])


def save(model: Any, path: Path, asked: Asked) -> None:
    """Write the tree with what was proved of it, and with what it was fitted to, if that can be
    posed again from a table alone: `certree prove` does."""
    certificate = model.certificate_
    more: dict[str, Any] = {
        "certificate": {
            "status": certificate.status,
            "objective": certificate.objective,
            "lower_bound": certificate.lower_bound,
            "statement": certificate.statement(),
        }
    }
    if not _has_no_proof(model):
        run = ("verbose", "callback")
        parameters = {name: value for name, value in model.get_params().items() if name not in run}
        more["fit"] = {
            "task": asked.task,
            "goal": asked.named,
            "weight": asked.weight,
            "columns": asked.kept,
            "digest": model._fitted.digest,
            "parameters": parameters,
        }
    path.write_text(to_json(model.tree_, **more), encoding="utf-8")


def _has_no_proof(model: Any) -> bool:
    """Whether a model guesses, or has constraints or feature costs, which a saved file does not
    hold and no proof knows."""
    guesses = model._is_to_guess() or getattr(model, "reference", None) is not None
    beside = (getattr(model, name, None) for name in ("constraints", "feature_costs"))
    return bool(guesses or any(beside))
