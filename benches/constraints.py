"""How long do several limits at once take?

    python benches/constraints.py DATA [--only WORDS] [--time-limit 60] [--json FILE]

DATA is a folder with a parquet file for each data set, whose column `target` is the class. The
groups of a case are the values of a sensitive column, which is made of Boolean columns: the first
of them that is true names the group. Each case is one fit on one thread, in this process.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from certree import Capacity, DemographicParity, EqualOpportunity, EqualRates
from certree import OptimalTreeClassifier as Classifier


@dataclass(frozen=True)
class Case:
    name: str
    data: str
    #: Boolean columns that make the sensitive one: groups beside that of all others.
    groups: tuple[str, ...]
    constraints: tuple[Any, ...]
    max_depth: int = 3


def within(share: float) -> tuple[Any, ...]:
    return (DemographicParity("group", share),)


ODDS = (EqualRates("true_positive", "group", 0.01), EqualRates("false_positive", "group", 0.01))
THREE = (
    DemographicParity("group", 0.01), EqualOpportunity("group", 0.01), Capacity(1, max_fraction=0.5)
)

CASES = [
    Case("equalized odds 1%", "german-credit", ("Gender=Male",), ODDS),
    Case("parity, opportunity, capacity", "german-credit", ("Gender=Male",), THREE),
    Case("one limit, depth 4", "german-credit", ("Gender=Male",), within(0.01), 4),
    Case("one limit, depth 4", "adult", ("Sex=Male",), within(0.01), 4),
    Case("three groups 5%", "german-credit", ("Age (years)<26", "Married"), within(0.05)),
    Case("three groups 5%", "adult", ("Age<25", "Age>=60"), within(0.05)),
    Case("three groups 5%", "compas-recid", ("age<25", "age>45"), within(0.05)),
    Case("three groups 5%", "ricci", ("Oral<70", "Written<70"), within(0.05)),
    Case("three groups 5%", "student-mat", ("age>=18", "sex:M"), within(0.05)),
]


def table(case: Case, folder: Path) -> pl.DataFrame:
    frame = pl.read_parquet(folder / f"{case.data}.parquet")
    group = pl.lit("others")
    for name in reversed(case.groups):
        group = pl.when(pl.col(name)).then(pl.lit(name)).otherwise(group)
    return frame.with_columns(group=group).drop(case.groups)


def run(case: Case, folder: Path, time_limit: float) -> dict[str, Any]:
    frame = table(case, folder)
    model = Classifier(
        max_depth=case.max_depth,
        leaf_penalty=0,
        constraints=case.constraints,
        time_limit=time_limit,
    )
    begin, cpu = time.monotonic(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(frame, "target")
        except ValueError as error:
            return {"case": case.name, "data": case.data, "error": str(error)[:80]}
    return {
        "case": case.name,
        "data": case.data,
        "seconds": round(time.monotonic() - begin, 3),
        "cpu": round(time.process_time() - cpu, 3),
        "status": model.status_,
        "objective": model.objective_,
        "lower_bound": model.lower_bound_,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = []
    for case in CASES:
        if options.only in f"{case.data}: {case.name}":
            found.append(run(case, options.data, options.time_limit))
            print(*(f"{key}={value}" for key, value in found[-1].items()), flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
