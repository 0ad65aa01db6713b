"""Parquet files as plain arrays that every environment can load. `benches/peers.py` says what they hold."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy
import polars


# How many cuts a number's column gets where a peer takes Boolean features only.
REGRESSION_CUTS = 5


@dataclass(frozen=True)
class Table:
    name: str
    rows: int
    features: int
    path: Path
    # What the tasks read: `y`, the class, treatment or target of each row; for survival `time` and `event`; for policies `outcome`, `propensity` and
    # `predicted`; for fairness `sensitive`; for guessed bounds `reference`, the labels that a model predicts; for test
    # costs `cost-<level>` by class and label, the `test_of` each column, and for each test `prices` (full,
    # discounted) and its `group`, -1 if it has none.
    arrays: dict


def load_tables(data, names, folder):
    """Writes each set as arrays into `folder`: numpy is the one format that all environments share."""
    files = sorted(Path(data).glob("*.parquet"))
    if names:
        missing = set(names) - {file.stem for file in files}
        if missing:
            raise SystemExit(f"no such set in {data}: {', '.join(sorted(missing))}")
        files = [file for file in files if file.stem in names]
    if not files:
        raise SystemExit(f"no Parquet files in {data}")
    return [convert(file, Path(folder)) for file in files]


def convert(file, folder):
    frame = polars.read_parquet(file)
    several = [column for column in frame.columns if column.startswith("target_")]
    # No peer takes several targets: of these the first.
    frame = frame.drop(several[1:]).rename({column: "target" for column in several[:1]})
    if {"time", "event"} <= set(frame.columns):
        return convert_survival(frame, file.stem, folder)
    if "target" not in frame.columns:
        return convert_policy(frame, file.stem, folder)
    costs = file.with_name(f"{file.stem}.costs.json")
    if "split" in frame.columns and not costs.exists():
        frame = frame.filter(polars.col("split") == "train")
    features = frame.drop("target", "split", strict=False)
    if frame["target"].dtype.is_float():
        return convert_regression(features, frame["target"], file.stem, folder)
    if features.columns and all(kind.is_numeric() for kind in features.dtypes):
        # No sums of these: each row's value is only compared.
        return save(file.stem, features.columns, folder, X=features.to_numpy().astype("float64"), y=codes(frame["target"]))
    other = [name for name, kind in features.schema.items() if kind != polars.Boolean]
    if other:
        raise SystemExit(f"{file.name}: {len(other)} columns are not Boolean, the first is {other[0]!r}")
    group = sensitive_column(file)
    arrays = read_costs(costs, features.columns) if costs.exists() else {}
    if group is not None:
        arrays["sensitive"] = features[group].to_numpy().astype("int64")
        features = features.drop(group)
    X = features.to_numpy().astype(bool)
    return save(file.stem, features.columns, folder, X=X, y=codes(frame["target"]), **arrays)


def codes(target):
    _, y = numpy.unique(target.to_numpy(), return_inverse=True)
    return y.astype("int64")


def convert_regression(features, target, name, folder):
    """Boolean columns as they are, and a few cuts between quantiles of each other one: the same columns for everybody."""
    columns = {}
    for column in features.iter_columns():
        if column.dtype == polars.String:
            tests = {f"{column.name} = {value}": column == value for value in column.unique().sort()}
        elif column.dtype == polars.Boolean:
            tests = {column.name: column}
        else:
            quantiles = numpy.quantile(column, numpy.arange(1, REGRESSION_CUTS + 1) / (REGRESSION_CUTS + 1))
            tests = {f"{column.name} > {cut:.17g}": column > cut for cut in numpy.unique(quantiles)}
        columns.update(tests)
    X = numpy.column_stack([answers.to_numpy() for answers in columns.values()])
    return save(name, list(columns), folder, X=X, y=target.to_numpy().astype("float64"))


def read_costs(file, columns):
    with open(file) as text:
        given = json.load(text)
    attributes = given["attributes"]
    test_of = {column: test for test, one in enumerate(attributes) for column in one["columns"]}
    groups = sorted({one["group"] for one in attributes} - {None})
    return {
        **{f"cost-{level}": numpy.array(given["misclassification_cost"][level]) for level in given["levels"]},
        "test_of": numpy.array([test_of[column] for column in columns]),
        "prices": numpy.array([[one["test_cost"], one["discount_cost"]] for one in attributes]),
        "group": numpy.array([-1 if one["group"] is None else groups.index(one["group"]) for one in attributes]),
    }


def sensitive_column(file):
    """What `manifest.json`, beside the file or one folder up, calls the sensitive column of the set."""
    for folder in (file.parent, file.parent.parent):
        if (folder / "manifest.json").exists():
            with open(folder / "manifest.json") as manifest:
                for entry in json.load(manifest)["files"]:
                    # Other folders have sets of the same name.
                    same = (folder / entry["file"]).resolve() == file.resolve()
                    if same and "sensitive" in entry:
                        return entry["sensitive"]
    return None


def convert_survival(frame, name, folder):
    """The `time` that each row was observed, whether an `event` ended it, and Boolean features."""
    features = frame.drop("time", "event", "split", strict=False)
    event = frame["event"].to_numpy().astype("float64")
    time = frame["time"].to_numpy().astype("float64")
    X = features.to_numpy().astype(bool)
    return save(name, features.columns, folder, X=X, y=event, time=time, event=event)


def convert_policy(frame, name, folder):
    """The treatment `k`, its outcome `y` and propensity `mu`, predictions `yhat_<k>`, and Boolean features."""
    frame = frame.filter(polars.col("split") == "train")
    columns = [column for column, kind in frame.schema.items() if kind == polars.Boolean]
    predicted = [f"yhat_{k}" for k in range(frame["k"].n_unique())]
    arrays = {
        "X": frame.select(columns).to_numpy().astype(bool),
        "y": frame["k"].to_numpy().astype("int64"),
        "outcome": frame["y"].to_numpy().astype("float64"),
        "propensity": frame["mu"].to_numpy().astype("float64"),
        "predicted": frame.select(predicted).to_numpy().astype("float64"),
    }
    return save(name, columns, folder, **arrays)


def save(name, columns, folder, **arrays):
    path = folder / f"{name}.npz"
    numpy.savez(path, names=numpy.array(columns), **arrays)
    rows, features = arrays["X"].shape
    return Table(name, rows, features, path, arrays)
