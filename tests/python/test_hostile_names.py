"""Columns, categories and labels with names that mean something to polars, to a terminal or to a
file format."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from certree import (
    DemographicParity,
    OptimalCostTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    ThresholdBinarizer,
    ThresholdGuesser,
    cli,
)
from certree.tree import Tree

#: Each is beside columns that it would match, if it were a pattern.
NAMES = [
    "^a.*$",
    "*",
    "^.*$",
    "^b$",
    "^(a$",
    "",
    " ",
    "a b",
    'so "called"',
    "it's",
    "line\nbreak",
    "tab\tand\rreturn",
    "\x1b[2J\x1b]0;title\x07",
    "nul\0inside",
    "‮right to left",
    "größe 大小 🌳",
    "e\u0301",
    "cs.all()",
    "pl.col('a')",
    "value",
    "amount",
    "rows",
    "key0",
    "y_",
    "sample_weight",
    "literal",
    "len",
    "a,b;c",
    "{a}",
    "\\N \\l <b>",
    "a" * 5_000,
]
ORDINARY = ["a", "ab", "b"]


def table(name: str, n: int = 60, seed: int = 0) -> pl.DataFrame:
    """The named column decides the target `y`; the others are noise that a pattern might find."""
    rng = np.random.default_rng(seed)
    good = rng.integers(0, 50, n)
    noise = {other: rng.integers(0, 50, n) for other in ORDINARY if other != name}
    return pl.DataFrame({**noise, name: good, "target": good > 24})


def containers(frame: pl.DataFrame) -> dict:
    arrays = {name: frame[name].to_numpy() for name in frame.columns}
    found = {"polars": frame, "lazy": frame.lazy(), "pandas": pd.DataFrame(arrays)}
    if not any("\0" in name for name in arrays):  # which Arrow cannot export
        found["arrow"] = pa.table(arrays)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_way_in_and_out_takes_the_column_itself(name):
    frame = table(name)
    X, y = frame.drop("target"), frame["target"].to_numpy()
    for X_in in containers(frame).values():
        model = OptimalTreeClassifier(max_depth=2).fit(X_in, "target")
        tree = model.tree_
        assert [column.name for column in tree.columns] == X.columns
        assert tree.nodes[0].column == name and tree.n_leaves == 2
        for X_out in containers(frame).values():
            assert np.array_equal(model.predict(X_out), y)
    assert np.array_equal(model.predict(X.select(pl.all().reverse()).reverse()), y)
    for output in ("label", "leaf", "proba"):
        scored = frame.lazy().select(tree.to_polars(output)).collect().to_series()
        wanted = {"label": y, "leaf": tree.apply(X)}.get(output)
        assert wanted is None or np.array_equal(scored.to_numpy(), wanted)
    assert Tree.from_json(tree.to_json()) == tree
    with pytest.raises(pl.exceptions.ColumnNotFoundError):
        frame.lazy().drop(pl.selectors.by_name(name)).select(tree.to_polars()).collect()


@pytest.mark.parametrize("name", NAMES)
def test_target_and_weights_by_hostile_names(name):
    frame = table("good").rename({"target": name}) if name not in ORDINARY else table("good")
    rng = np.random.default_rng(1)
    for frame in (frame, frame.lazy()):
        model = OptimalTreeClassifier(max_depth=1).fit(frame, name)
        assert model.tree_.nodes[0].column == "good" and model.n_features_in_ == 4
    weighted = table("good").with_columns(pl.Series(name, rng.integers(0, 5, 60).astype(float)))
    trees = []
    for X in (weighted, weighted.lazy()):
        trees.append(OptimalTreeClassifier(max_depth=1).fit(X, "target", name).tree_)
    beside = weighted.drop("target", pl.selectors.by_name(name))
    trees.append(
        OptimalTreeClassifier(max_depth=1)
        .fit(beside, weighted["target"], weighted[name].to_numpy())
        .tree_
    )
    assert trees[0] == trees[1] == trees[2]


@pytest.mark.parametrize("name", ["^a.*$", "*", "", "line\nbreak"])
def test_other_estimators_and_transformers(name):
    frame = table(name)
    X = frame.drop("target")
    y = frame["target"].to_numpy()
    for X_in in (X, X.lazy()):
        assert OptimalTreeRegressor(max_depth=1).fit(X_in, y.astype(float)).score(X, y) == 1
        costs = np.column_stack([y, ~y]).astype(float)
        assert OptimalCostTree(max_depth=1).fit(X_in, costs).tree_.nodes[0].column == name
        questions = ThresholdBinarizer(2).fit(X_in)
        assert questions.transform(X).shape == (60, 8)
        assert questions.columns_[-1].name == name
    guesser = ThresholdGuesser().fit(X, y)
    assert guesser.thresholds_[name]
    groups = X.with_columns(pl.Series(name, np.arange(60) % 2 == 0))
    limited = OptimalTreeClassifier(max_depth=1, constraints=(DemographicParity(name, 0.2),))
    assert limited.fit(groups, y).certificate_.constraints


def harmless(text: str) -> bool:
    return all(character == "\n" or character.isprintable() for character in text)


@pytest.mark.parametrize("name", NAMES)
def test_printed_text_commands_no_terminal(name):
    evil = "\x1b[31m" + name
    frame = pl.DataFrame({name: [evil, "b"] * 5, "t": [1.0, 2.0] * 5})
    labels = [evil + "\x9b1m", "no\u202e"] * 5
    model = OptimalTreeClassifier(max_depth=1, missing_unseen="refuse").fit(frame, labels)
    tree = model.tree_
    shown = [tree.to_text(), repr(tree), tree.to_dot(), *map(str, tree.rules())]
    shown += [node.test for node in tree.nodes if node.test]
    shown += [str(model.certificate_)]
    assert all(map(harmless, shown))
    for wrong in (
        frame.drop(pl.selectors.by_name(name)), frame.with_columns(pl.Series(name, [None] * 10))
    ):
        with pytest.raises(ValueError) as error:
            model.predict(wrong)
        assert harmless(str(error.value)), str(error.value)


def test_show_escapes_what_a_model_says(tmp_path, capsys):
    model = OptimalTreeClassifier(max_depth=1).fit(table("\x1b[2J"), "target")
    document = json.loads(model.tree_.to_json())
    document["certificate"] = {"statement": "Proved.\x1b]0;gone\x07\x9b31m\u202e"}
    path = tmp_path / "m.json"
    path.write_text(json.dumps(document))
    assert cli.main(["show", str(path)]) == 0
    assert harmless(capsys.readouterr().out)
    path.write_text('{"format": "\x1b[2J"}')
    assert cli.main(["show", str(path)]) == 2
    assert cli.main(["show", str(tmp_path / "\x1b[2J.json")]) == 2
    assert cli.main(["predict", str(path), "\x1b[2J.csv"]) == 2
    with pytest.raises(SystemExit):
        cli.main(["fit", "--task", "\x1b[2J"])
    assert harmless(capsys.readouterr().err)


@pytest.mark.parametrize("name", [n for n in NAMES if "\0" not in n and "\r" not in n])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_command_line(name, ending, tmp_path, capsys):
    data, model, out = (str(tmp_path / f) for f in (f"t.{ending}", "m.json", "p.parquet"))
    frame = table(name).with_columns(pl.lit(1.0).alias("w"), pl.lit(3).alias("^dropped.*$"))
    getattr(frame, f"write_{ending}")(data)
    line = ["fit", data, "--target", "target", "--weight", "w", "--drop", "^dropped.*$"]
    assert cli.main([*line, "--max-depth", "1", "--model", model, "--quiet"]) == 0
    assert harmless(capsys.readouterr().out)
    assert cli.main(["predict", model, data, "--output", out]) == 0
    assert pl.read_parquet(out)["prediction"].to_list() == frame["target"].to_list()


words = st.text(min_size=0, max_size=8) | st.sampled_from(["^", "$", "^a", ".*$", "*", "^*$", "\0"])
names = st.lists(words, min_size=1, max_size=3).map("".join).filter(
    lambda text: not any("\ud800" <= c <= "\udfff" for c in text)
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(names, min_size=2, max_size=4, unique=True),
    st.lists(names, min_size=2, max_size=3, unique=True),
)
def test_any_names_and_labels(columns, labels):
    rng = np.random.default_rng(len(columns))
    codes = rng.integers(0, len(labels), 24)
    codes[: len(labels)] = np.arange(len(labels))
    frame = pl.DataFrame({name: rng.integers(0, 9, 24) for name in columns[:-1]})
    frame = frame.with_columns(pl.Series(columns[-1], [labels[code] for code in codes]))
    y = [labels[code] for code in codes]
    trees = []
    for X in (
        frame, frame.clone(), pd.DataFrame({name: frame[name].to_list() for name in columns})
    ):
        trees.append(OptimalTreeClassifier(max_depth=2, leaf_penalty=0.001).fit(X, y))
    tree = trees[0].tree_
    assert tree == trees[1].tree_ == trees[2].tree_
    assert trees[0].predict(frame.lazy()).tolist() == y
    assert frame.lazy().select(tree.to_polars()).collect().to_series().to_list() == y
    again = Tree.from_json(tree.to_json())
    assert again == tree and again.predict(frame).tolist() == y
    assert harmless(tree.to_text()) and harmless(tree.to_dot()) and harmless(repr(tree))


# ---- forks


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="forks are watched on Linux")
def test_a_forked_child_fits_or_says_why_not(tmp_path):
    script = tmp_path / "forks.py"
    script.write_text(FORKS)
    found = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)], capture_output=True, text=True, timeout=120
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.split() == ["weights", "0", "arrays", "0", "strings", "3", "lazy", "3"]


FORKS = """
import os, signal
import numpy as np, polars as pl
from certree import OptimalTreeClassifier

X = pl.DataFrame({"a": [1, 2, 3, 4] * 9, "s": list("uvwx") * 9, "y": [0, 1] * 18})
OptimalTreeClassifier(max_depth=1).fit(X.lazy(), "y")
A, y, w, lazy = X["a"].to_numpy()[:, None], X["y"].to_numpy(), np.linspace(0.1, 2, 36), X.lazy()
tasks = {
    "weights": lambda: OptimalTreeClassifier(max_depth=1).fit(A, y, sample_weight=w).predict(A),
    "arrays": lambda: OptimalTreeClassifier(max_depth=1).fit(A, y).predict(A),
    "strings": lambda: OptimalTreeClassifier(max_depth=1).fit(X, "y"),
    "lazy": lambda: OptimalTreeClassifier(max_depth=1).fit(lazy, "y"),
}
for name, task in tasks.items():
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            task()
        except RuntimeError as error:
            os._exit(3 if "forked after polars had started" in str(error) else 4)
        os._exit(0)
    print(name, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
