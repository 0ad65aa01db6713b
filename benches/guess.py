"""Guessed cuts and bounds: how long guessing and fitting take, and how well the trees do, beside
published figures.

    python benches/guess.py --data DIR [--peer gosdt --limit 60 --peer-folds 1]
    python benches/guess.py --data DIR --bad
    python benches/guess.py --data DIR --regression

`DIR` holds the four tables in `SETS` as Parquet files: a column `target`, then features. For each
and for each reference (gradient boosting of so many trees of such a depth): cuts guessed on the
training rows of a fold, then the best tree of depth 5 over them (`th`), and the best one if no tree
is better than the reference anywhere (`lb`); for the latter also the guarantee, and the seconds of
`certify()` beside those of the fit without a guess (`th`). What is printed are means over the
folds. McTavish et al., "Fast Sparse Decision Tree Optimization via Reference Ensembles" (AAAI
2022), give the figures beside them in tables 4 and 6: mean ± deviation over five folds of their
own. A figure is marked `<` where it is below the paper's mean by more than that deviation.

With `--peer`, certree and the peer also fit the answers to the guessed questions, side by side, as
`benches/peers.py` does it: same cuts, same objective; once without and once with the same reference
labels, which say nothing where they are of one class (the peer refuses those). With labels the two
may find different trees: theirs are different searches under the same guess. This interpreter needs
certree; the peer gets an environment of its own under `--envs`.

With `--bad` it is `spiral.parquet` and a reference that knows nothing of it, 40 stumps: what the
guess costs, and the guarantee that must cover it. With `--regression` every table of `DIR` has one
or several real targets, `target` or `target_0` and so on, and references are gradient boosting of
three strengths: what guessed bounds of squared errors save, what they cost, and the guarantee.
"""

import argparse
import json
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy
import polars
from peers import environments
from peers.report import mean as geometric_mean
from peers.run import run
from peers.settings import Case
from peers.solvers import SOLVERS
from peers.tables import save
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.model_selection import StratifiedKFold

from certree import OptimalTreeClassifier, OptimalTreeRegressor, ThresholdGuesser

DEPTH = 5
#: The leaf penalty, and by reference the paper's (seconds, training accuracy, test accuracy) with
#: guessed cuts, and with
#: guessed bounds too. None: out of time, so the accuracies are of what it had by then; or no figure
#: is given.
SETS = {
    "compas": (0.001, {
        (40, 1): (0.97, (0.684, 0.004), (0.677, 0.014), 1.115, (0.684, 0.004), (0.677, 0.014)),
        (30, 2): (17.688, (0.688, 0.003), (0.681, 0.013), 14.019, (0.688, 0.003), (0.681, 0.013)),
        (50, 2): (65.787, (0.688, 0.003), (0.681, 0.013), 47.026, (0.688, 0.003), (0.681, 0.013)),
        (20, 3): (34.807, (0.688, 0.003), (0.68, 0.014), 25.94, (0.688, 0.003), (0.681, 0.013)),
    }),
    "broward-general-2y": (0.005, {
        (40, 1): (1.659, (0.639, 0.004), (0.598, 0.015), 0.341, (0.638, 0.004), (0.603, 0.016)),
        (30, 2): (104.071, (0.646, 0.008), (0.594, 0.008), 73.397, (0.645, 0.006), (0.593, 0.009)),
        (50, 2): (None, (0.645, 0.011), (0.589, 0.004), None, (0.647, 0.006), (0.588, 0.006)),
        (20, 3): (None, (0.644, 0.007), (0.594, 0.017), None, (0.648, 0.009), (0.589, 0.011)),
    }),
    "coupon-takeaway": (0.001, {
        (40, 1): (8.8e-5, (0.738, 0.003), (0.736, 0.01), None, None, None),
        (30, 2): (12.398, (0.765, 0.02), (0.74, 0.016), 1.82, (0.751, 0.007), (0.738, 0.018)),
        (50, 2): (119.158, (0.777, 0.016), (0.744, 0.017), 45.672, (0.763, 0.01), (0.745, 0.025)),
        (20, 3): (350.801, (0.796, 0.007), (0.741, 0.01), 124.575, (0.765, 0.009), (0.746, 0.02)),
    }),
    "coupon-restaurant": (0.001, {
        (40, 1): (0.027, (0.765, 0.01), (0.764, 0.015), 0.003, (0.76, 0.007), (0.753, 0.018)),
        (30, 2): (45.988, (0.788, 0.006), (0.756, 0.021), 16.607, (0.774, 0.005), (0.757, 0.022)),
        (50, 2): (174.871, (0.792, 0.007), (0.757, 0.018), 97.332, (0.781, 0.007), (0.757, 0.025)),
        (20, 3): (169.309, (0.794, 0.007), (0.761, 0.015), 57.195, (0.777, 0.003), (0.762, 0.014)),
    }),
}  # fmt: skip


@dataclass(frozen=True)
class Limits:
    seconds: float
    memory: float


def main():
    arguments = parse()
    clock = time.process_time if arguments.clock == "cpu" else time.perf_counter
    if arguments.bad:
        return bad_reference(arguments, clock)
    if arguments.regression:
        return regression(arguments, clock)
    ratios = {"th": [], "lb": []}
    certified = []
    print(f"seconds are {arguments.clock} time; one thread; depth {DEPTH}; {arguments.folds} folds")
    for name in arguments.sets or SETS:
        penalty, paper = SETS[name]
        frame = polars.read_parquet(Path(arguments.data, f"{name}.parquet"))
        X, y = frame.drop("target"), frame["target"].to_numpy()
        print(f"\n## {name}: {X.height} rows, {X.width} columns, leaf penalty {penalty:g}\n")
        print_row("reference", HEAD)
        for reference in arguments.references or paper:
            folds = StratifiedKFold(
                arguments.folds, shuffle=True, random_state=arguments.seed
            ).split(X, y)
            found = []
            for fold, (train, test) in enumerate(folds):
                found.append(one_fold(X, y, train, test, reference, penalty, arguments, clock))
                if arguments.peer and fold < arguments.peer_folds:
                    for bounds, values in side_by_side(
                        name, X, y, train, found[-1], arguments
                    ).items():
                        ratios[bounds] += values
            print_figures(reference, found, paper[reference])
            certified += [(fold["lb"]["certify"], fold["th"]["fit"]) for fold in found]
    for bounds, of_kind in ratios.items():
        if of_kind:
            print(
                f"\n{arguments.peer} s / certree s on the same cuts, {bounds}, over the "
                f"{len(of_kind)} folds where the peer needs at least {arguments.threshold:g} s: "
                f"geometric mean {geometric_mean(of_kind):.0f}, least {min(of_kind):.1f}"
            )
    shares = [certify / fit for certify, fit in certified if fit >= SHORT]
    if shares:
        print(
            f"\ncertify() s / fit s without a guess, over the {len(shares)} folds where that takes "
            f"at least {SHORT:g} s: geometric mean {geometric_mean(shares):.2f}, most "
            f"{max(shares):.2f}"
        )


def one_fold(X, y, train, test, reference, penalty, arguments, clock):
    n_estimators, max_depth = reference
    boosting = GradientBoostingClassifier(
        n_estimators=n_estimators, max_depth=max_depth, random_state=0
    )
    guesser = ThresholdGuesser(boosting, tolerance=arguments.tolerance)
    start = clock()
    with warnings.catch_warnings():
        # References that predict one class for all rows.
        warnings.simplefilter("ignore", UserWarning)
        guesser.fit(X[train], y[train])
    guessed = clock() - start
    answers = guesser.transform(X[train]).astype("float32")
    labels = guesser.classes_[guesser.reference_.predict(answers)]
    found = {
        "guesser": guesser,
        "labels": labels,
        "penalty": penalty,
        "guess": guessed,
        "found": guesser.n_found_,
        "kept": guesser.n_kept_,
        "refits": guesser.n_fits_,
        "reference": guesser.reference_score_,
    }
    for bounds, given in (("th", None), ("lb", labels)):
        model = OptimalTreeClassifier(
            thresholds=guesser,
            reference=given,
            leaf_penalty=penalty,
            max_depth=DEPTH,
            time_limit=arguments.limit,
        )
        start = clock()
        model.fit(X[train], y[train])
        fitted = clock()
        found[bounds] = {
            "fit": fitted - start,
            "train": model.score(X[train], y[train]),
            "test": model.score(X[test], y[test]),
            "leaves": model.get_n_leaves(),
            "objective": model.objective_,
            "proved": model.status_ in ("optimal", "optimal_given_guess"),
            "guarantee": model.certificate_.guarantee or 0.0,
        }
        start = clock()
        model.certify()
        found[bounds]["certify"] = clock() - start
    cost = found["lb"]["objective"] - model.objective_
    assert cost <= found["lb"]["guarantee"] + 1e-12, "the guarantee does not hold"
    found["lb"]["cost"] = cost
    return found


def beside(estimator, X, y, reference, clock):
    """A fit with the reference, and the proof after it: what is known of both, in words."""
    start = clock()
    model = estimator.set_params(reference=reference).fit(X, y)
    fitted = clock() - start
    guessed, leaves = model.certificate_, model.get_n_leaves()
    calls = guessed.kernel_calls
    start = clock()
    model.certify()
    certified = clock() - start
    cost = guessed.objective - model.objective_
    assert cost <= guessed.guarantee + 1e-12, "the guarantee does not hold"
    return (
        f"{fitted:8.3f} s {calls:6} looks  objective {guessed.objective:.4f} of {leaves:2} leaves, "
        f"{guessed.status}; best {model.objective_:.4f} of {model.get_n_leaves():2}, "
        f"{model.status_} after {certified:.3f} s more: cost {cost:.4f}, guarantee "
        f"{guessed.guarantee:.4f}"
    )


def bad_reference(arguments, clock):
    frame = polars.read_parquet(Path(arguments.data, "spiral.parquet"))
    X, y = frame.drop("target"), frame["target"].to_numpy()
    stumps = GradientBoostingClassifier(n_estimators=40, max_depth=1, random_state=0)
    for depth in (2, 3, 4, 5):
        for penalty in (0.1, 0.05, 0.02, 0.01, 0.001):
            model = OptimalTreeClassifier(
                max_depth=depth, leaf_penalty=penalty, time_limit=arguments.limit
            )
            print(
                f"depth {depth}, penalty {penalty:<5g} {beside(model, X, y, stumps, clock)}",
                flush=True,
            )


def regression(arguments, clock):
    for path in sorted(Path(arguments.data).glob("*.parquet")):
        if arguments.sets and path.stem not in arguments.sets:
            continue
        frame = polars.read_parquet(path)
        targets = [name for name in frame.columns if name == "target" or name.startswith("target_")]
        X, y = frame.drop(targets), frame.select(targets).to_numpy()
        values = X.with_columns(polars.col(polars.String).rank("dense")).to_numpy().astype(float)
        for depth, penalty in ((3, 0.01), (4, 0.005)):
            parameters = {
                "max_depth": depth, "leaf_penalty": penalty, "time_limit": arguments.limit
            }
            start = clock()
            best = OptimalTreeRegressor(**parameters).fit(X, y)
            seconds, looks = clock() - start, best.certificate_.kernel_calls
            print(
                f"\n{path.stem}: {X.height} rows, {X.width} columns, depth {depth}, penalty "
                f"{penalty:g}"
            )
            print(f"  no reference {seconds:8.3f} s {looks:6} looks, {best.status_}", flush=True)
            if best.status_ != "optimal":
                continue
            for trees, levels in ((50, 2), (40, 1), (5, 1)):
                boosting = GradientBoostingRegressor(
                    n_estimators=trees, max_depth=levels, random_state=0
                )
                predicted = [
                    boosting.fit(values, y[:, k]).predict(values) for k in range(y.shape[1])
                ]
                given = numpy.column_stack(predicted)
                model = OptimalTreeRegressor(**parameters)
                print(
                    f"  {trees:2} x {levels}      {beside(model, X, y, given, clock)}", flush=True
                )


#: Fits that take less are mostly Python.
SHORT = 0.01
HEAD = (
    "bounds", "guess s (most)", "refits", "cuts", "kept", "fit s (most)", "complete", "paper s",
    "leaves", "reference", "train", "paper", "test", "paper", "cost", "guarantee", "certify s",
)  # fmt: skip
WIDTHS = (6, 14, 6, 5, 5, 15, 8, 10, 6, 9, 15, 13, 15, 13, 6, 9, 9)


def print_row(label, cells):
    line = "  ".join(str(cell).ljust(width) for cell, width in zip(cells, WIDTHS))
    print(f"{label:<10} {line}".rstrip(), flush=True)


def print_figures(reference, found, paper):
    for bounds, (seconds, train, test) in (("th", paper[:3]), ("lb", paper[3:])):

        def of(key):
            kind = found[0][bounds]
            return numpy.array(
                [float((fold[bounds] if key in kind else fold)[key]) for fold in found]
            )

        def accuracy(key, published):
            mean = of(key).mean()
            mark = "<" if published and mean < published[0] - published[1] - 5e-4 else ""
            return f"{mean:.3f} ± {of(key).std():.3f} {mark}"

        def published(pair):
            return "-" if pair is None else f"{pair[0]:.3f} ± {pair[1]:.3f}"

        guessed = bounds == "lb"
        unsolved = "-" if train is None else "not solved"
        print_row(
            f"{reference[0]} × {reference[1]}",
            (
                bounds,
                f"{of('guess').mean():.2f} ({of('guess').max():.2f})",
                f"{of('refits').mean():.0f}",
                f"{of('found').mean():.0f}",
                f"{of('kept').mean():.0f}",
                f"{of('fit').mean():.3f} ({of('fit').max():.3f})",
                f"{of('proved').sum():.0f}/{len(found)}",
                unsolved if seconds is None else f"{seconds:g}",
                f"{of('leaves').mean():.1f}",
                f"{of('reference').mean():.3f}",
                accuracy("train", train),
                published(train),
                accuracy("test", test),
                published(test),
                f"{of('cost').mean():.4f}" if guessed else "",
                f"{of('guarantee').mean():.4f}" if guessed else "",
                f"{of('certify').mean():.3f}" if guessed else "",
            ),
        )


def side_by_side(name, X, y, train, fold, arguments):
    """By bounds: the peer's seconds over certree's on the answers to the guessed questions, if the
    peer needs long enough."""
    answers = fold["guesser"].transform(X[train])
    _, labels = numpy.unique(y[train], return_inverse=True)
    _, reference = numpy.unique(numpy.append(fold["labels"], numpy.unique(y)), return_inverse=True)
    given = {"th": {}, "lb": {"reference": reference[: len(labels)].astype("int64")}}
    if len(numpy.unique(fold["labels"])) == 1:
        del given["lb"]
    case = Case("guess", name, DEPTH, fold["penalty"])
    limits = Limits(arguments.limit, arguments.memory)
    ratios = {}
    for bounds, more in given.items():
        records = {}
        with tempfile.TemporaryDirectory() as folder:
            questions = [f"q{i}" for i in range(answers.shape[1])]
            table = save(name, questions, Path(folder), X=answers, y=labels.astype("int64"), **more)
            for solver in (SOLVERS[arguments.peer], SOLVERS["certree"]):
                python = environments.python_for(
                    solver, arguments.envs, arguments.python, sys.executable
                )
                records[solver.name] = run(solver, python, case, table, limits)
        ratios[bounds] = compare(name, bounds, table, records, arguments)
    return ratios


def compare(name, bounds, table, records, arguments):
    peer, own = records[arguments.peer], records["certree"]
    key = "cpu_seconds" if arguments.clock == "cpu" else "seconds"
    # A peer that was stopped has taken at least this long. Of one that had to be killed, processor
    # time is unknown.
    theirs = peer[key]
    counts = theirs is not None and own["outcome"] == "optimal" and peer["outcome"] != "error"
    ratio = theirs / own[key] if counts else None
    line = {
        "set": name,
        "bounds": bounds,
        "rows": table.rows,
        "questions": table.features,
        "peer": [peer["outcome"], theirs and round(theirs, 4), peer["objective"]],
        "certree": [own["outcome"], round(own[key] or 0.0, 4), own["objective"]],
        "ratio": ratio and round(ratio, 1),
    }
    print("  " + json.dumps(line), flush=True)
    if "message" in peer:
        print(peer["message"][-500:], file=sys.stderr)
    if bounds == "th" and peer["outcome"] == own["outcome"] == "optimal":
        if abs(peer["objective"] - own["objective"]) > 1e-9:
            print("  !!! the proved objectives differ", flush=True)
    return [ratio] if ratio is not None and theirs >= arguments.threshold else []


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = lambda text: [name for name in text.split(",") if name]  # noqa: E731
    pairs = lambda text: [tuple(map(int, pair.split("x"))) for pair in names(text)]  # noqa: E731
    parser.add_argument("--data", required=True, help="folder of Parquet files")
    parser.add_argument(
        "--sets",
        type=names,
        help=f"of {', '.join(SETS)}, or, with --regression, of the files; default: all",
    )
    parser.add_argument(
        "--bad", action="store_true", help="a bad reference on spiral.parquet, and nothing else"
    )
    parser.add_argument(
        "--regression", action="store_true", help="squared errors, and nothing else"
    )
    parser.add_argument(
        "--references", type=pairs, help="such as 40x1,20x3; default: the paper's four"
    )
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    parser.add_argument("--tolerance", type=float, default=0.0, help="of the elimination")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--peer", choices=[name for name in SOLVERS if name.startswith("gosdt")])
    parser.add_argument("--peer-folds", type=int, default=1, help="so many of the folds")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one fit")
    parser.add_argument(
        "--memory", type=float, default=8e9, help="bytes for one process of the peer's comparison"
    )
    parser.add_argument(
        "--threshold",
        type=float,
        default=0.05,
        help="seconds a peer must need to count in the mean",
    )
    parser.add_argument(
        "--envs", default=environments.default_folder(), help="folder for the peer's environment"
    )
    parser.add_argument(
        "--python", action="append", default=[], help="an interpreter that the peer may use"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
