"""The command ``certree``: fit, predict, show and demo, on CSV and Parquet files."""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, get_args

import polars as pl
from sklearn.exceptions import ConvergenceWarning

from certree import __version__, demo, tables
from certree.conditions import printable
from certree.estimators import OptimalCostTree, OptimalTreeClassifier, OptimalTreeRegressor
from certree.export.to_json import MOST_BYTES, to_json
from certree.ingest import engine
from certree.ingest.categories import Asked
from certree.options import Missing
from certree.schema import MissingUnseen, Unseen
from certree.tree import Tree

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
        options.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough, as in `certree show model.json | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, TypeError, OSError, pl.exceptions.PolarsError) as error:
        return misused(one_line(error))
    except BaseException as error:
        # Polars panics over some damaged files, with an exception that is no Exception.
        if not engine.is_panic(error):
            raise
        return misused(f"polars panics, a file may be damaged: {engine.first_line(error)}")
    return 0


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

    def command(name: str, run: Callable[[argparse.Namespace], None], text: str) -> Any:
        # Options that are not given stay absent, so that the estimator's defaults hold.
        added = commands.add_parser(
            name, help=text, description=text, argument_default=argparse.SUPPRESS
        )
        added.set_defaults(run=run)
        return added

    add_fit(
        command("fit", fit, "Find the best tree for a table and print it with its certificate.")
    )
    add_predict(command("predict", predict, "Predict each row of a table with a saved tree."))
    show_ = command("show", show, "Print a saved tree.")
    show_.add_argument("model", type=Path, help="a tree that `certree fit --model` wrote")
    command("demo", demo_, "Find the best tree for a small data set that comes with scikit-learn.")
    return top


def add_fit(fit: argparse.ArgumentParser) -> None:
    fit.add_argument("data", type=Path, help=f"the training table ({tables.ENDINGS})")
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
    fit.add_argument("--quiet", action="store_true", help="show no progress")

    search = fit.add_argument_group(
        "search",
        "Defaults are those of OptimalTreeClassifier, OptimalTreeRegressor and OptimalCostTree.",
    )
    search.add_argument(
        "--objective", help="accuracy or balanced_accuracy; of regression squared_error"
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
        "--categories",
        choices=get_args(Asked),
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


#: Parameters of the gradient boosting of a guess, by option.
BOOSTING = {"guess_trees": "n_estimators", "guess_depth": "max_depth"}


def guesses(given: dict[str, Any], task: str, n_targets: int) -> dict[str, Any]:
    """The parameters in place of the words "guess" where options say more of the guess."""
    cuts, bounds = given.get("thresholds") == "guess", given.get("reference") == "guess"
    boosting = {name: given[option] for option, name in BOOSTING.items() if option in given}
    for option in (*BOOSTING, "guess_tolerance"):
        shown = f"--{option.replace('_', '-')}"
        if option in given and not (cuts or bounds and option in BOOSTING):
            words = "--thresholds guess"
            if option in BOOSTING:
                words += " or --reference guess"
            raise ValueError(f"{shown} is for {words}")
        if option in BOOSTING and given.get(option, 1) < 1:
            raise ValueError(f"{shown}={given[option]} is not valid: it must be at least 1")
    if not boosting and "guess_tolerance" not in given:
        return {}
    # Imports scikit-learn's ensembles.
    from certree.guess import ThresholdGuesser, references

    model = (
        references.regression(n_targets, **boosting)
        if task == "regression"
        else references.classification(**boosting)
    )
    if not cuts:
        return {"reference": model}
    guesser = ThresholdGuesser(
        model,
        tolerance=given.get("guess_tolerance", 0.0),
        class_weight="balanced" if given.get("objective") == "balanced_accuracy" else None,
        random_state=given.get("random_state", 0),
    )
    # A reference that is guessed, too, is then the one that the cuts are from.
    return {"thresholds": guesser}


def add_predict(predict: argparse.ArgumentParser) -> None:
    predict.add_argument("model", type=Path, help="a tree that `certree fit --model` wrote")
    predict.add_argument("data", type=Path, help=f"the table to predict ({tables.ENDINGS})")
    predict.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help=f"write here ({tables.ENDINGS}), not to the terminal",
    )
    predict.add_argument(
        "--proba", action="store_true", help="also the share of each class in the row's leaf"
    )


def or_none(read: Callable[[str], Any]) -> Callable[[str], Any]:
    def read_or_none(text: str) -> Any:
        return None if text.lower() == "none" else read(text)

    # argparse names the type in its errors.
    read_or_none.__name__ = f"{read.__name__} (or none)"
    return read_or_none


def an_order(text: str) -> tuple[str, list[str]]:
    """A column, and its values in order."""
    column, equals, levels = text.partition("=")
    if not (column and equals and levels):
        raise argparse.ArgumentTypeError(f"{text!r} is not COLUMN=LEVEL,...")
    return column, levels.split(",")


def int_or_text(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


def fit(options: argparse.Namespace) -> None:
    given = vars(options)
    quiet = given.get("quiet", False)
    frame = tables.read(options.data)
    columns = list(engine.schema(frame)) if isinstance(frame, pl.LazyFrame) else frame.columns
    for note in tables.odd_dates(frame):
        print(f"certree: note: {printable(note)}", file=sys.stderr)
    drop = given.get("drop", [])
    goal = "target" if "target" in given else "costs"
    named = given[goal]
    task = "costs" if goal == "costs" else options.task
    if task == "classification" and len(named) > 1:
        raise ValueError(f"--target names {len(named)} columns; several are for --task regression")
    if goal == "costs" and options.task == "regression":
        raise ValueError("--costs are of labels: with --task regression, name the --target")
    weight = [given["weight"]] if "weight" in given else []
    for option, names in [(goal, named), ("weight", weight)]:
        for name in names:
            check_column(f"--{option}", name, columns, options.data)
            if name in drop:
                raise ValueError(f"--drop names {name!r}, which is the --{option} column")
    for name in drop:
        check_column("--drop", name, columns, options.data)
    for name in weight:
        if name in named:
            raise ValueError(f"--weight and --{goal} both name {name!r}")
    if goal == "costs" and "objective" in given:
        raise ValueError("--objective is for --target: with --costs it is the mean cost")

    # Before the search, so that no one waits for a tree that cannot be kept.
    if "model" in given and not options.model.absolute().parent.is_dir():
        raise FileNotFoundError(2, "there is no such folder", str(options.model.parent))

    dropped = set(drop)
    kept = [name for name in columns if name not in dropped]
    search = {name: given[name] for name in SEARCH if name in given}
    if "orders" in given:
        search["orders"] = dict(given["orders"])
    search.update(guesses(given, task, len(named)))
    estimators: dict[str, Any] = {
        "classification": OptimalTreeClassifier,
        "regression": OptimalTreeRegressor,
        "costs": OptimalCostTree,
    }
    model = estimators[task](**search, verbose=not quiet)
    interrupt = None
    with warnings.catch_warnings():
        # The certificate says it, too.
        warnings.simplefilter("ignore", ConvergenceWarning)
        goals = named[0] if task == "classification" else named
        try:
            model.fit(frame.select(engine.columns(kept)), goals, sample_weight=given.get("weight"))
        except KeyboardInterrupt as error:
            # Before the search there is no tree to show.
            if not hasattr(model, "tree_"):
                raise
            interrupt = error
    if not quiet and sys.stderr.isatty():
        print(end="\r\033[K", file=sys.stderr)
    if "model" in given:
        save(model, options.model)
    print(model.tree_.to_text())
    print(printable(str(model.certificate_)), flush=True)
    if interrupt is not None:
        raise interrupt


def check_column(option: str, name: str, columns: Sequence[str], path: Path) -> None:
    if name not in columns:
        shown = ", ".join(map(repr, columns[:20])) + (", …" if len(columns) > 20 else "")
        raise ValueError(f"{option}: {path} has no column {name!r}; its columns are {shown}")


def save(model: Any, path: Path) -> None:
    certificate = model.certificate_
    about = {
        "status": certificate.status,
        "objective": certificate.objective,
        "lower_bound": certificate.lower_bound,
        "statement": certificate.statement(),
    }
    path.write_text(to_json(model.tree_, certificate=about), encoding="utf-8")


def load(path: Path) -> Tree:
    try:
        # A file that is no tree may be larger than memory.
        with path.open("rb") as file:
            return Tree.from_json(file.read(MOST_BYTES + 1))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def predict(options: argparse.Namespace) -> None:
    given = vars(options)
    tree = load(options.model)
    used = sorted({node.split.column_index for node in tree.nodes if node.split})
    frame = tables.read(options.data, [tree.columns[place] for place in used])
    answers = tree.predict(frame)
    if answers.ndim == 1:
        if answers.dtype.kind in "SO":
            answers = [v.decode() if isinstance(v, bytes) else v for v in answers.tolist()]
        out = pl.DataFrame({"prediction": answers})
    else:
        out = pl.DataFrame(answers, schema=[f"prediction of {name}" for name in tree.labels])
    if given.get("proba", False):
        shares = tree.predict_proba(frame)
        out = out.with_columns(
            pl.Series(f"probability of {label}", shares[:, k])
            for k, label in enumerate(tree.labels.tolist())
        )
    if "output" in given:
        tables.write(out, options.output)
    else:
        text = out.write_csv()
        sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def show(options: argparse.Namespace) -> None:
    tree = load(options.model)
    print(tree.to_text(), end="")
    about = json.loads(options.model.read_bytes()).get("certificate")
    if isinstance(about, dict) and isinstance(about.get("statement"), str):
        print(f"\nWhen it was fitted:\n{printable(about['statement'])}")


def demo_(options: argparse.Namespace) -> None:
    print(demo.run())


if __name__ == "__main__":
    raise SystemExit(main())
