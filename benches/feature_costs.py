"""How long do feature costs take beside limits, metrics, policies and regression?

    python benches/feature_costs.py DATA [--only WORDS] [--depth 3] [--time-limit 60]

DATA has the folders `fairness`, `cost`, `policy`, `regression` and `survival`, each with a parquet
file for each data set. In `fairness` (`target` is the class) the columns cost .002 to .014 in turn,
under demographic parity within 1%, alone and with a capacity. In `cost` tests cost what the file
beside each set says, times a factor with which the dearest costs .02, and the objective is F1 of
the last class; sets of more classes take macro F1. In `policy` treatments are scored by
`teacher="dr"`, and the features cost .01 to .07 parts of the spread of outcomes in turn. In
`regression` and `survival` the columns cost .002 to .014 parts of the loss of a single leaf in
turn, with ten quantiles as cuts; a fit without costs stands before each. Each case is one fit on
one thread; times are CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from certree import (
    Capacity,
    DemographicParity,
    FeatureCost,
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
)

#: By data set, a column whose values are groups.
GROUPS = {
    "german-credit": "Gender=Male",
    "adult": "Sex=Male",
    "compas-recid": "sex:Male",
    "student-mat": "sex:M",
}


class Case(NamedTuple):
    name: str
    model: Any
    data: dict[str, Any]


def in_turn(columns: list[str], unit: float) -> dict[str, float]:
    return {name: round(unit * (1 + at % 7), 6) for at, name in enumerate(columns)}


def of_parity(data: Path, shape: dict[str, Any]) -> Iterator[Case]:
    for name, group in GROUPS.items():
        frame = pl.read_parquet(data / "fairness" / f"{name}.parquet")
        if group not in frame.columns:
            group = next(each for each in frame.columns if each.lower().startswith("sex"))
        X, y = frame.drop("target"), frame["target"]
        costs = in_turn([each for each in X.columns if each != group], 0.002)
        parity, capacity = DemographicParity(group, 0.01), Capacity(y.unique().sort()[1], 0.5)
        for words, limits in (("parity", (parity,)), ("parity and capacity", (parity, capacity))):
            model = OptimalTreeClassifier(constraints=limits, feature_costs=costs, **shape)
            yield Case(f"{words}: {name}", model, {"X": X, "y": y})


def of_metrics(data: Path, shape: dict[str, Any]) -> Iterator[Case]:
    for file in sorted((data / "cost").glob("*.costs.json")):
        given = json.loads(file.read_text())
        name = file.name.split(".")[0]
        frame = pl.read_parquet(file.with_name(f"{name}.parquet")).drop("split", strict=False)
        attributes = given["attributes"]
        factor = 0.02 / max(each["test_cost"] for each in attributes)
        costs = {}
        for each in attributes:
            full, discounted = (
                round(factor * each[key], 4) for key in ("test_cost", "discount_cost")
            )
            group = each["group"]
            test = FeatureCost(full, str(group), discounted) if group is not None else full
            costs[tuple(each["columns"])] = test
        X, y = frame.drop("target"), frame["target"]
        objective = "f1" if y.n_unique() == 2 else "f1_macro"
        model = OptimalTreeClassifier(objective, feature_costs=costs, **shape)
        yield Case(f"{objective}: {name}", model, {"X": X, "y": y})


def of_policies(data: Path, shape: dict[str, Any]) -> Iterator[Case]:
    for file in sorted((data / "policy").glob("*.parquet")):
        frame = pl.read_parquet(file).filter(pl.col("split") == "train")
        told = ("mu", "yhat", "cf_y", "k_opt")
        names = [each for each in frame.columns if each not in ("k", "y", "split")]
        features = frame.select(each for each in names if not each.startswith(told))
        predicted = frame.select(f"yhat_{k}" for k in frame["k"].unique().sort())
        costs = in_turn(features.columns, 0.01 * float(frame["y"].std() or 1.0))
        data_of = {"X": features, "treatment": frame["k"], "outcome": frame["y"]}
        data_of |= {"propensity": frame["mu"], "predicted": predicted.to_numpy()}
        model = OptimalPolicyTree(feature_costs=costs, **shape)
        yield Case(f"policy: {file.stem}", model, data_of)


def of_losses(data: Path, shape: dict[str, Any]) -> Iterator[Case]:
    shape = {**shape, "thresholds": 10}
    for file in sorted((data / "regression").glob("*.parquet")):
        frame = pl.read_parquet(file).drop("split", strict=False)
        targets = [each for each in frame.columns if each.startswith("target")]
        X, y = frame.drop(targets), frame[targets[0]]
        for objective in ("squared_error", "absolute_error"):
            levels = {"levels": 16} if objective == "absolute_error" else {}
            for words, costs in (("", None), (", paying", in_turn(X.columns, 0.002))):
                model = OptimalTreeRegressor(objective, feature_costs=costs, **levels, **shape)
                yield Case(f"{objective}: {file.stem}{words}", model, {"X": X, "y": y})
    for file in sorted((data / "survival").glob("*.parquet")):
        frame = pl.read_parquet(file).drop("split", strict=False)
        columns = [each for each in frame.columns if each not in ("time", "event")]
        for words, costs in (("", None), (", paying", in_turn(columns, 0.002))):
            model = OptimalSurvivalTree(feature_costs=costs, **shape)
            told = {"X": frame, "time": "time", "event": "event"}
            yield Case(f"survival: {file.stem}{words}", model, told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=60)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    shape = {"max_depth": given.depth, "leaf_penalty": 0.0, "time_limit": given.time_limit}
    print(f"{'case':36} {'seconds':>8} {'nodes':>8}  objective     bound  status")
    for kind in (of_parity, of_metrics, of_policies, of_losses):
        for case in kind(given.data, shape):
            if given.only not in case.name:
                continue
            started = time.process_time()
            model = case.model.fit(**case.data)
            seconds = time.process_time() - started
            work = model.certificate_.work
            print(
                f"{case.name:36} {seconds:8.2f} {work.nodes:8}  {model.objective_:9.5f} "
                f"{model.lower_bound_:9.5f}  {model.status_}",
                flush=True,
            )


if __name__ == "__main__":
    main()
