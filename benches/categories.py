"""What sets of values bring and cost, beside single values, one-hot CART and LightGBM.

    python benches/categories.py DATA_FOLDER [--depths 3,4] [--sets car,tic-tac-toe] [--folds 5]
        [--limit 60] [--max-categories 8] [--always]
    python benches/categories.py --random [--tasks two,three,five,number,costs] [--values 3,6,8]
        [--columns 8] [--rows 5000] [--depths 2,3,4] [--leaves 6] [--limit 120]

DATA_FOLDER has `mixed/*.parquet`: columns `target` and features, of which some are text. For each
set and depth: how many questions there are, CPU seconds of `fit` and nodes with sets of values and
with single values, the training error of both, and the errors on held-out folds (a fixed seed) of
both, of CART over one column for each value, and of LightGBM with categories. One thread. With
`--always` every column of text is asked for sets, however many its values are.

`--random` fits pure noise to columns of so many values, all of them with sets: it is what the
limits in `python/certree/ingest/categories.py` are from. Its tasks are two, three and five classes,
a number, and costs by row of three labels.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from certree import OptimalCostTree, OptimalTreeClassifier, OptimalTreeRegressor
from continuous import read

SEED = 7
TreeEstimator = OptimalCostTree | OptimalTreeClassifier | OptimalTreeRegressor

#: Of the tasks of `--random` that are classes: how many.
CLASSES = {"two": 2, "three": 3, "five": 5}
SETS = "car,coupon-restaurant,coupon-takeaway,tic-tac-toe"


def text_columns(X: pl.DataFrame) -> list[str]:
    return [name for name in X.columns if X[name].dtype == pl.String]


def fitted(
    X: pl.DataFrame,
    y: np.ndarray,
    depth: int,
    limit: float,
    model: TreeEstimator | None = None,
    **given: Any,
) -> tuple[float, TreeEstimator]:
    model = OptimalTreeClassifier() if model is None else model
    model.set_params(
        max_depth=depth, leaf_penalty=0.0, time_limit=limit, unseen="warn", **given
    )
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    return time.process_time() - start, model


def one_hot(train: pl.DataFrame, test: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    text = text_columns(train)
    others = [name for name in train.columns if name not in text]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    encoder.fit(train.select(text).to_numpy())

    def matrix(frame: pl.DataFrame) -> np.ndarray:
        columns = [frame[name].to_numpy() for name in others]
        return np.column_stack([encoder.transform(frame.select(text).to_numpy()), *columns])

    return matrix(train), matrix(test)


def lightgbm(train: pl.DataFrame, y: np.ndarray, test: pl.DataFrame) -> np.ndarray:
    from lightgbm import LGBMClassifier

    text = text_columns(train)
    places = {n: {v: i for i, v in enumerate(train[n].unique().sort())} for n in text}

    def numbers(frame: pl.DataFrame) -> np.ndarray:
        columns = [
            frame[n].replace_strict(places[n], default=-1).to_numpy()
            if n in places
            else frame[n].to_numpy()
            for n in frame.columns
        ]
        return np.column_stack(columns).astype(np.float64)

    where = [train.columns.index(name) for name in text]
    model = LGBMClassifier(n_jobs=1, verbose=-1, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(numbers(train), y, categorical_feature=where)
        return np.asarray(model.predict(numbers(test)))


def held_out(
    X: pl.DataFrame, y: np.ndarray, depth: int, options: argparse.Namespace
) -> list[float]:
    """The mean error on the folds, of each method."""

    def tree(**given: Any) -> Callable[..., np.ndarray]:
        def predicted(train: pl.DataFrame, y: np.ndarray, test: pl.DataFrame) -> np.ndarray:
            model = fitted(train, y, depth, options.limit, **given)[1]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return model.predict(test)

        return predicted

    def cart(train: pl.DataFrame, y: np.ndarray, test: pl.DataFrame) -> np.ndarray:
        known, new = one_hot(train, test)
        model = DecisionTreeClassifier(max_depth=depth, random_state=SEED)
        return model.fit(known, y).predict(new)

    methods = [tree(categories="values"), tree(**of_sets(X, options)), cart, lightgbm]
    errors: list[list[float]] = [[] for _ in methods]
    for train, test in StratifiedKFold(options.folds, shuffle=True, random_state=SEED).split(X, y):
        for method, own in zip(methods, errors):
            own.append(float((method(X[train], y[train], X[test]) != y[test]).mean()))
    return [float(np.mean(own)) for own in errors]


def of_sets(X: pl.DataFrame, options: argparse.Namespace) -> dict[str, Any]:
    given: dict[str, Any] = {"max_categories": options.max_categories}
    if options.always:
        given["categories"] = {name: "subsets" for name in text_columns(X)}
    return given


def on_files(options: argparse.Namespace) -> None:
    fitted_head = "{:>18} {:>5} {:>9} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7}"
    names = ("data", "depth", "questions", "seconds", "nodes", "single s", "nodes", "error")
    others = " ".join(f"{name:>7}" for name in ("single", "sets", "CART", "LGBM"))
    print(fitted_head.format(*names, "single"), "| held out", others)
    for path in sorted((options.folder / "mixed").glob("*.parquet")):
        if path.stem not in options.sets.split(","):
            continue
        X, y = read(path)
        for depth in map(int, options.depths.split(",")):
            seconds, sets = fitted(X, y, depth, options.limit, **of_sets(X, options))
            single_seconds, single = fitted(X, y, depth, options.limit, categories="values")
            errors = [float((model.predict(X) != y).mean()) for model in (sets, single)]
            if options.max_categories is None and sets.status_ == "optimal":
                assert errors[0] <= errors[1] + 1e-12, "sets hold all single values"
            others = " ".join(f"{error:>7.4f}" for error in held_out(X, y, depth, options))
            mark = "" if sets.status_ == "optimal" else ">"
            print(
                f"{path.stem:>18} {depth:>5} {sets.certificate_.n_cuts:>9} {mark}{seconds:>8.2f} "
                f"{sets.certificate_.nodes:>8} {single_seconds:>8.2f} "
                f"{single.certificate_.nodes:>8} {errors[0]:>7.4f} {errors[1]:>7.4f} |          "
                f"{others}",
                flush=True,
            )


def noise(task: str, rows: int, rng: np.random.Generator) -> tuple[TreeEstimator, np.ndarray]:
    """An estimator without its parameters, and what it is fitted to."""
    match task:
        case "number":
            return OptimalTreeRegressor(), rng.normal(size=rows)
        case "costs":
            return OptimalCostTree(), rng.integers(0, 100, (rows, 3)).astype(np.float64)
    return OptimalTreeClassifier(), rng.integers(0, CLASSES[task], rows)


def on_noise(options: argparse.Namespace) -> None:
    print("  task values columns  rows depth questions  seconds    looks    nodes status")
    for task, depth, n_values in itertools.product(
        options.tasks.split(","),
        map(int, options.depths.split(",")),
        map(int, options.values.split(",")),
    ):
        rng = np.random.default_rng(SEED)
        columns = {
            f"c{at}": rng.integers(0, n_values, options.rows).astype(str)
            for at in range(options.columns)
        }
        X = pl.DataFrame(columns)
        model, y = noise(task, options.rows, rng)
        always = {name: "subsets" for name in X.columns}
        seconds, model = fitted(
            X, y, depth, options.limit, model, categories=always, max_leaf_nodes=options.leaves
        )
        known = model.certificate_
        print(
            f"{task:>6} {n_values:>6} {options.columns:>7} {options.rows:>5} {depth:>5} "
            f"{known.n_cuts:>9} {seconds:>8.2f} {known.kernel_calls:>8} {known.nodes:>8} "
            f"{model.status_}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--random", action="store_true", help="noise in place of files")
    parser.add_argument("--depths", default="3,4", help="comma-separated")
    parser.add_argument("--sets", default=SETS, help="comma-separated names of files")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each fit")
    parser.add_argument("--max-categories", type=int)
    parser.add_argument("--always", action="store_true", help="sets of every column of text")
    parser.add_argument("--tasks", default="two,three,five,number,costs", help="comma-separated")
    parser.add_argument("--leaves", type=int, help="the most leaves of noise")
    parser.add_argument("--values", default="3,6,8", help="comma-separated, of each column")
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--rows", type=int, default=5000)
    options = parser.parse_args()
    if options.random:
        on_noise(options)
    elif options.folder is None:
        parser.error("DATA_FOLDER is needed, or --random")
    else:
        on_files(options)


if __name__ == "__main__":
    main()
