"""The command line: what it prints, what it writes, and one line for everything that goes wrong."""

import json
import re
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from certree import (
    FeatureCost,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    __version__,
    cli,
    near_optimal,
)
from certree.cli.fit import ESTIMATORS
from certree.tree import Tree

PEOPLE = """\
id,age,sex,smoker,born,weight,ill
1,22,male,true,1999-03-05,1.5,no
2,38,female,false,1983-01-02,1.0,yes
3,26,female,true,1995-07-30,1.0,yes
4,35,female,true,1986-11-11,2.0,yes
5,54,male,false,1967-02-28,1.0,no
6,2,male,true,2019-12-31,1.0,no
7,27,female,false,1994-05-06,1.0,no
8,58,male,true,1963-10-10,0.5,yes
"""


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A folder with people.csv and people.parquet, and the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    pl.read_csv("people.csv", try_parse_dates=True).write_parquet("people.parquet")
    return tmp_path


def run(line: str) -> int:
    return cli.main(line.split())


def refused(line, capsys):
    """What a line that ends with an error prints of it, and nothing else."""
    try:
        code = run(line)
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    return err


def test_fit_prints_the_tree_and_the_certificate(people, capsys):
    assert run("fit people.csv --target ill --drop id weight --max-depth 2") == 0
    out, err = capsys.readouterr()
    frame = pl.read_csv("people.csv", try_parse_dates=True).drop("id", "weight")
    model = OptimalTreeClassifier(max_depth=2).fit(frame, "ill")
    seconds = model.certificate_.statement().rpartition(", after")[0]
    assert out.startswith(f"{model.tree_.to_text()}\n{seconds}")
    assert "Proved: no such tree has a lower objective." in out


def test_csv_and_parquet_give_the_same_tree(people, capsys):
    for ending in ("csv", "parquet"):
        assert (
            run(f"fit people.{ending} --target ill --drop id --weight weight --model {ending}.json")
            == 0
        )
    trees = [Tree.from_json((people / f"{name}.json").read_text()) for name in ("csv", "parquet")]
    assert trees[0] == trees[1]
    assert "8 rows of weight 9  no: 50.0%, yes: 50.0%" in capsys.readouterr().out


def test_every_option_reaches_the_estimator(people, monkeypatch):
    seen = {}

    class Spy(OptimalTreeClassifier):
        def fit(self, X, y, sample_weight=None, *, start=None):
            seen.update(self.get_params(), y=y, sample_weight=sample_weight, X=X)
            return super().fit(X, y, sample_weight, start=start)

    monkeypatch.setitem(ESTIMATORS, "classification", Spy)
    line = (
        "fit people.csv --target ill --weight weight --drop id born --objective balanced_accuracy "
        "--leaf-penalty 0.02 --max-depth none --max-leaf-nodes 3 --min-samples-leaf 2 --thresholds "
        "3 --time-limit none --gap-limit 0.001 --n-jobs 2 --quiet"
    )
    assert run(line) == 0
    expected = {
        "objective": "balanced_accuracy",
        "leaf_penalty": 0.02,
        "max_depth": None,
        "max_leaf_nodes": 3,
        "min_samples_leaf": 2,
        "thresholds": 3,
        "time_limit": None,
        "gap_limit": 0.001,
        "n_jobs": 2,
        "verbose": False,
        "y": "ill",
        "sample_weight": "weight",
    }
    assert {name: seen[name] for name in expected} == expected
    assert seen["X"].columns == ["age", "sex", "smoker", "weight", "ill"]


def test_options_of_a_guess_reach_the_reference(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": rng.integers(0, 40, 120), "b": rng.normal(size=120).round(2)})
    frame = frame.with_columns(y=frame["a"] > 20, z=frame["b"] * 2 + frame["a"])
    frame = frame.with_columns(up=pl.col("y").cast(int), down=1 - pl.col("y").cast(int))
    frame.write_csv("rows.csv")
    models = []
    for task, made in list(ESTIMATORS.items()):
        spy = lambda made=made, **given: models.append(made(**given)) or models[-1]  # noqa: E731
        monkeypatch.setitem(ESTIMATORS, task, spy)
    more = "--guess-trees 5 --guess-depth 3 --random-state 4 --max-depth 2 --quiet"
    labels, costs = "fit rows.csv --drop z up down", "fit rows.csv --drop y z"
    for line in (
        f"{labels} --target y --thresholds guess --reference guess --guess-tolerance 0.05 {more}",
        f"fit rows.csv --drop y up down --target z --task regression --thresholds guess {more}",
        f"{costs} --costs up down --thresholds guess --guess-tolerance none {more}",
    ):
        assert run(line) == 0
        guesser = models[-1].guesser_
        own = guesser.reference
        assert (own.n_estimators, own.max_depth, own.learning_rate) == (5, 3, 0.1)
        assert guesser.random_state == 4 and models[-1].random_state == 4
        assert "Reference: a GradientBoosting" in capsys.readouterr().out
    assert [model.guesser_.tolerance for model in models] == [0.05, 0.0, None]
    assert models[0].certificate_.reference == "a GradientBoostingClassifier"
    assert run(f"{labels} --target y --reference guess {more}") == 0
    assert models[-1].reference.n_estimators == 5 and models[-1].thresholds == "all"
    balanced = f"{labels} --target y --objective balanced_accuracy --thresholds guess {more}"
    assert run(balanced) == 0 and models[-1].guesser_.class_weight == "balanced"


def test_options_that_are_not_given_keep_the_estimators_defaults(people, monkeypatch):
    seen = {}
    spy = lambda **given: seen.update(given) or OptimalTreeClassifier(**given)  # noqa: E731
    monkeypatch.setitem(ESTIMATORS, "classification", spy)
    assert run("fit people.csv --target ill") == 0
    assert list(seen) == ["verbose"]


def test_a_saved_model_predicts_and_shows_itself(people, capsys):
    assert run("fit people.csv --target ill --drop id weight --model model.json") == 0
    fitted = capsys.readouterr().out
    assert run("show model.json") == 0
    tree, statement = fitted.split("\n\n")
    assert capsys.readouterr().out == f"{tree}\n\nWhen it was fitted:\n{statement}"

    assert run("predict model.json people.parquet") == 0
    printed = capsys.readouterr().out
    model = Tree.from_json((people / "model.json").read_text())
    labels = model.predict(pl.read_parquet("people.parquet")).tolist()
    assert printed.splitlines() == ["prediction", *labels]

    for name in ("out.csv", "out.parquet"):
        assert run(f"predict model.json people.csv --proba --output {name}") == 0
        out = pl.read_csv(name) if name.endswith("csv") else pl.read_parquet(name)
        assert out.columns == ["prediction", "probability of no", "probability of yes"]
        assert out["prediction"].to_list() == labels
    assert capsys.readouterr().out == ""


def test_categories_that_look_like_numbers_stay_text(people, capsys):
    (people / "codes.csv").write_text("code,y\n1,a\n1,a\n2,b\nx,b\n")
    (people / "more.csv").write_text("code\n1\n2\n")
    assert run("fit codes.csv --target y --model model.json") == 0
    capsys.readouterr()
    assert run("predict model.json more.csv") == 0
    assert capsys.readouterr().out == "prediction\na\nb\n"


def test_a_stopped_search_is_told_by_the_certificate_alone(people, capsys, recwarn):
    assert run("fit people.csv --target ill --time-limit 1e-9") == 0
    assert "Status: " in capsys.readouterr().out
    assert not recwarn.list


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "the following arguments are required: command (see certree --help)"),
        ("grow people.csv", "argument command: invalid choice: 'grow'"),
        (
            "fit people.csv",
            "one of the arguments --target --costs is required (see certree fit --help)",
        ),
        ("fit nothing.csv --target ill", "nothing.csv: there is no such file"),
        ("fit . --target ill", ".: the name of a table must end in one of .csv, .parquet"),
        ("fit people.txt --target ill", "people.txt: the name of a table must end in"),
        ("fit empty.csv --target ill", "empty.csv is not a .csv table: empty CSV"),
        ("fit broken.parquet --target ill", "broken.parquet is not a .parquet table: "),
        (
            "fit people.csv --target sick",
            "--target: people.csv has no column 'sick'; its columns are 'id', ",
        ),
        ("fit people.csv --target ill --drop shoe", "--drop: people.csv has no column 'shoe'"),
        (
            "fit people.csv --target ill --drop ill",
            "--drop names 'ill', which is the --target column",
        ),
        ("fit people.csv --target ill --weight ill", "--weight and --target both name 'ill'"),
        (
            "fit people.csv --target ill --max-depth deep",
            "argument --max-depth: invalid int (or none) value",
        ),
        ("fit people.csv --target ill --max-depth -1", "max_depth=-1 is not valid"),
        ("fit people.csv --target ill --objective luck", "objective='luck' is not valid"),
        ("fit people.csv --target ill --thresholds some", "thresholds='some' is not valid"),
        (
            "fit people.csv --target ill --model no/such/model.json",
            "no/such: there is no such folder",
        ),
        (
            "fit people.csv --target ill --guess-trees 3",
            "--guess-trees is for --thresholds guess or --reference guess",
        ),
        (
            "fit people.csv --target ill --reference guess --guess-tolerance 0.1",
            "--guess-tolerance is for --thresholds guess",
        ),
        (
            "fit people.csv --target ill --thresholds guess --guess-depth 0",
            "--guess-depth=0 is not valid: it must be at least 1",
        ),
        ("fit people.csv --target ill --random-state -1", "random_state=-1 is not valid"),
        ("fit gaps.csv --target y --missing refuse", "'x'"),
        (
            "fit twice.csv --target y",
            "column names must be unique, but these repeat: 'x' (2 times)",
        ),
        ("show people.csv", "people.csv: not a JSON document"),
        ("show nothing.json", "nothing.json: No such file or directory"),
        (
            "predict other.json people.csv",
            "other.json: not a tree that certree can read: format must be",
        ),
        ("predict model.json gaps.csv", "'age'"),
        (
            "predict model.json people.csv --output out.xlsx",
            "out.xlsx: the name of a table must end in",
        ),
    ],
)
def test_errors_are_one_line_and_exit_code_2(people, capsys, line, message):
    (people / "people.txt").write_text(PEOPLE)
    (people / "empty.csv").write_text("")
    (people / "gaps.csv").write_text("x,y\n1,a\n,b\n")
    (people / "twice.csv").write_text("x,x,y\n1,2,a\n2,1,b\n")
    (people / "broken.parquet").write_text("not parquet")
    (people / "other.json").write_text("{}")
    assert run("fit people.csv --target ill --drop id born --model model.json") == 0
    capsys.readouterr()
    err = refused(line, capsys)
    assert err.startswith("certree: error: ") and err.count("\n") == 1
    assert message in err


def test_a_model_that_cannot_be_written_is_told_before_the_search(people, capsys, monkeypatch):
    monkeypatch.setitem(ESTIMATORS, "classification", None)
    assert run("fit people.csv --target ill --model missing/model.json") == 2


def test_the_saved_file_holds_what_was_proved(people):
    assert run("fit people.csv --target ill --model model.json") == 0
    about = json.loads((people / "model.json").read_text())["certificate"]
    assert about["status"] == "optimal" and about["lower_bound"] == about["objective"]


def test_near_counts_and_shows_the_trees_that_are_nearly_as_good(people, capsys):
    options = "--drop id weight --max-depth 2 --leaf-penalty 0.01"
    assert run(f"fit people.csv --target ill {options} --model model.json") == 0
    capsys.readouterr()
    assert run("near model.json people.csv --beyond 0.2 --show 2 --importances --output c.csv") == 0
    out = capsys.readouterr().out
    frame = pl.read_csv("people.csv", try_parse_dates=True).drop("id", "weight")
    model = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.01).fit(frame, "ill")
    found = near_optimal(model, frame, "ill", beyond=0.2)
    assert out.startswith(f"{found.statement()}\n\n1. objective ")
    for place, each in enumerate(islice(found, 2), start=1):
        assert f"\n{place}. objective {each.objective:.6g}, {each.tree.n_leaves} leaves\n" in out
        assert each.tree.to_text() in out
    assert "\n3. objective" not in out
    columns = found.columns()
    assert pl.read_csv("c.csv")["share"].to_list() == pytest.approx(columns["share"].to_list())
    for name, share in columns.select("column", "share").iter_rows():
        assert re.search(rf"^ *{share:.1%} .*  {name}$", out, re.MULTILINE)
    for name, least, mean, most, *_ in found.column_importances().iter_rows():
        assert f"\n{least:.3f} {mean:.3f} {most:.3f}  {name}\n" in out


@pytest.mark.parametrize(
    "given", ["--within 0.5", "--n 7 --alike once", "--n 2 --leaf-answers any"]
)
def test_near_takes_what_near_optimal_takes(people, capsys, given):
    fit = "fit people.csv --target ill --drop id --weight weight --max-depth 2 --model model.json"
    assert run(fit) == 0
    assert run(f"near model.json people.csv {given} --show 0") == 0
    frame = pl.read_csv("people.csv", try_parse_dates=True).drop("id")
    model = OptimalTreeClassifier(max_depth=2).fit(frame, "ill", "weight")
    words = given.replace("--", "").replace("-", "_").split()
    asked = {name: value for name, value in zip(words[::2], words[1::2])}
    for name, kind in (("within", float), ("n", int)):
        if name in asked:
            asked[name] = kind(asked[name])
    found = near_optimal(model, frame, "ill", "weight", **asked)
    assert f"\n{found.statement()}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("near model.json people.csv", "one of the arguments --within --beyond --n is required"),
        ("near model.json people.csv --n 0", "n=0"),
        ("near model.json people.csv --within 1 --show -1", "--show -1"),
        ("near model.json people.csv --n 3 --within 1", "not allowed with"),
        ("near model.json other.csv --n 3", "not the rows that the tree was fitted to"),
    ],
)
def test_near_tells_what_is_wrong(people, capsys, line, message):
    assert run("fit people.csv --target ill --drop id weight --max-depth 2 --model model.json") == 0
    (people / "other.csv").write_text(PEOPLE.replace("8,58", "8,57"))
    capsys.readouterr()
    err = refused(line, capsys)
    assert message in err and err.count("\n") == 1


def test_the_command_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "certree", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"certree {__version__}\n"


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit) as stop:
        run("--help")
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert all(command in out for command in ("fit", "predict", "show", "demo"))


def test_demo_proves_a_tree_and_compares_it_with_cart(capsys):
    assert run("demo") == 0
    out = capsys.readouterr().out
    assert "Proved: no such tree has a lower objective." in out
    wrong = [int(found) for found in re.findall(r": (\d+) (?:of 569 rows )?wrong", out)]
    assert len(wrong) == 2 and wrong[0] < wrong[1]


def test_paths_are_literal(people, capsys, monkeypatch):
    """Polars would expand patterns and the tilde, and look into folders."""
    (people / "g").mkdir()
    (people / "~").mkdir()
    other = PEOPLE.replace(",no", ",NO").replace(",yes", ",YES")
    for name in ("g/t1.csv", "g/ta.csv"):
        (people / name).write_text(other)
    for name in ("g/t[1].csv", "g/t*.csv", "g/t?.csv", "~/t.csv", "g/year=2020.csv"):
        (people / name).write_text(PEOPLE)
        pl.read_csv(people / name, glob=False).write_parquet(
            people / name.replace("csv", "parquet")
        )
    monkeypatch.setenv("HOME", str(people / "g"))
    (people / "g" / "t.csv").write_text(other)
    for name in ("g/t[1].csv", "g/t*.csv", "g/t?.csv", "~/t.csv", "g/year=2020.csv"):
        for path in (name, name.replace("csv", "parquet")):
            line = ["fit", path, "--target", "ill", "--drop", "id", "--max-depth", "1", "--quiet"]
            assert cli.main(line) == 0, capsys.readouterr().err
            out = capsys.readouterr().out
            assert "→ no" in out and "NO" not in out
    assert run("fit g/t[2].csv --target ill") == 2
    assert "g/t[2].csv: there is no such file" in capsys.readouterr().err
    (people / "folder.csv").mkdir()
    (people / "folder.parquet").mkdir()
    for name in ("folder.csv", "folder.parquet"):
        assert run(f"fit {name} --target ill") == 2
        assert f"{name}: is a folder, not a table" in capsys.readouterr().err


def test_output_paths_are_literal(people, capsys):
    assert run("fit people.csv --target ill --drop id --model m.json --quiet") == 0
    (people / "~").mkdir()
    for name in ("~/out.csv", "out[1].parquet"):
        assert run(f"predict m.json people.csv --output {name}") == 0
        assert (people / name).exists()


@pytest.mark.parametrize(
    "odd",
    ["1999-02-30", "unknown", "30/02/1999", "1-2-1999", "12.5.3", "99999-01-01", "9" * 60],
)
def test_one_odd_date_makes_a_column_of_text_and_a_note(people, capsys, odd):
    (people / "odd.csv").write_text(PEOPLE.replace("1999-03-05", odd))
    assert run("fit odd.csv --target ill --drop id --quiet --model m.json") == 0
    tree = Tree.from_json((people / "m.json").read_text())
    kinds = {column.name: column.kind for column in tree.columns}
    assert kinds["born"] == "category" and kinds["age"] == "number" and kinds["smoker"] == "boolean"
    err = capsys.readouterr().err
    assert "certree: note: column 'born' is read as text" in err and repr(odd) in err
    assert run("predict m.json odd.csv") == 0


def test_a_number_too_long_for_any_type_is_text(people, capsys):
    (people / "long.csv").write_text(PEOPLE.replace("\n1,22", "\n1," + "9" * 60))
    assert run("fit long.csv --target ill --drop id --quiet") == 0


def test_a_panic_is_one_clear_error(people, capsys, monkeypatch):
    class PanicException(BaseException):
        pass

    def panics(*_, **__):
        raise PanicException("index out of bounds: the len is 0\nmore")

    with monkeypatch.context() as patched:
        patched.setattr(pl.LazyFrame, "collect_schema", panics)
        assert run("fit people.parquet --target ill") == 2
    err = capsys.readouterr().err
    assert err.count(
        "\n"
    ) == 1 and "people.parquet is not a .parquet table: polars cannot read" in err
    monkeypatch.setattr(pl.LazyFrame, "collect", panics)
    assert run("fit people.parquet --target ill") == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "panics: index out of bounds: the len is 0; a file" in err
    with pytest.raises(ValueError, match="may be damaged"):
        OptimalTreeClassifier().fit(pl.scan_parquet(people / "people.parquet"), "ill")


DAMAGED = Path(__file__).parents[1] / "fuzz" / "corpus" / "parquet" / "aborts.parquet"


def test_a_file_that_ends_the_process_which_reads_it_is_one_clear_error(people, capsys):
    """A page of it promises 2^61 values."""
    shutil.copy(DAMAGED, "aborts.parquet")
    error = "aborts.parquet is not a .parquet table: polars ends the process that reads it"
    assert run("fit aborts.parquet --target ill") == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and error in err
    # A tree that asks for other columns, which are whole, can predict it.
    assert run("fit people.csv --target ill --drop id born weight --quiet --model model.json") == 0
    assert run("predict model.json aborts.parquet --output out.csv") == 0
    tree = Tree.from_json((people / "model.json").read_text())
    wanted = tree.predict(pl.read_csv("people.csv").head(6)).tolist()
    assert pl.read_csv("out.csv").to_series().to_list() == wanted


def test_a_child_process_looks_for_modules_where_its_parent_does(people, capsys):
    """A polars.py in the current folder is not imported."""
    (people / "polars.py").write_text("raise SystemExit(7)")
    (people / "json.py").write_text("raise SystemExit(7)")
    assert run("fit people.parquet --target ill --drop id --quiet") == 0, capsys.readouterr().err


def test_requirements_reach_the_estimator(people, capsys):
    line = "fit people.csv --target ill --drop id weight --max-depth 2 --quiet"
    options = "--parity sex=0.2 --opportunity sex=0.6 --capacity yes=0.5 --false-positive-rate 0.3"
    assert run(f"{line} {options}") == 0
    told = capsys.readouterr().out
    told_of = ("demographic parity by", "equality of opportunity by", "capacity of 'yes'", "0.3")
    for words in told_of:
        assert words in told
    sums, rates = "--sum-at-most age=900 --sum-at-least age=1", "--equal-rates error:sex=0.9"
    assert run(f"{line} {sums} {rates} --parity-ratio sex=0.1") == 0
    told = capsys.readouterr().out
    assert "sum of 'age' over rows that get 'yes'" in told and "at least 1 is allowed" in told
    assert "the ratio is" in told and "equal error rates by 'sex'" in told
    assert run(f"{line} --class-weight no=1 yes=3") == 0
    frame = pl.read_csv("people.csv", try_parse_dates=True).drop("id", "weight")
    model = OptimalTreeClassifier(max_depth=2, class_weight={"no": 1, "yes": 3}).fit(frame, "ill")
    assert f"an objective of {model.objective_:g}" in capsys.readouterr().out
    assert run(f"{line} --positive-label no --objective f1") == 0
    assert run("fit people.csv --target smoker --drop id --capacity true=0.5 --quiet") == 0
    assert "capacity of True" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options, message",
    [
        ("--capacity maybe=0.5", "--capacity names 'maybe'; the labels are 'no', 'yes'"),
        ("--equal-rates odds:sex=0.1", "--equal-rates: 'odds:sex' is not RATE:COLUMN of selection"),
        ("--positive-label x", "--positive-label names 'x'; the labels are"),
        ("--class-weight no=1 unknown=2", "--class-weight names 'unknown'"),
        ("--class-weight no", "--class-weight: 'no' is not NAME=NUMBER"),
        ("--held-out people.csv", "--held-out is for --report"),
        ("--report nowhere/r.html", "nowhere: there is no such folder"),
        ("--task regression --parity sex=0.1", "--parity is for --target with --task"),
    ],
)
def test_odd_requirements_are_one_line(people, capsys, options, message):
    assert run(f"fit people.csv --target ill {options}") == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_another_separator_and_other_words_for_missing(people, capsys, monkeypatch):
    text = PEOPLE.replace("22,", "NA,").replace("54,", "?,")
    (people / "odd.csv").write_text(text.replace(",", "\t"))
    (people / "usual.csv").write_text(text.replace("NA", "").replace("?", ""))
    line = "--target ill --drop id --max-depth 2 --quiet --model"
    odd = f"fit odd.csv {line} odd.json --null NA ? --separator"
    assert cli.main([*odd.split(), "\\t"]) == 0
    assert run(f"fit usual.csv {line} usual.json") == 0
    trees = [Tree.from_json((people / f"{name}.json").read_text()) for name in ("odd", "usual")]
    assert trees[0] == trees[1] and trees[0].columns[0].missing
    with open("usual.csv", "rb") as file:
        monkeypatch.setattr("sys.stdin", type("Piped", (), {"buffer": file}))
        assert run(f"fit - {line} piped.json") == 0
    assert Tree.from_json((people / "piped.json").read_text()) == trees[0]
    with pytest.raises(SystemExit):
        run("fit odd.csv --target ill --separator ;;")
    assert "is not one character" in capsys.readouterr().err


def test_a_proof_that_is_required_is_told_by_the_exit_code(people, capsys):
    rng = np.random.default_rng(0)
    X, y = rng.random((3000, 8)), rng.integers(0, 2, 3000)
    pl.DataFrame(X).with_columns(y=pl.Series(y)).write_parquet("noise.parquet")
    line = "fit noise.parquet --target y --max-depth 4 --time-limit 0.2 --quiet"
    assert run(f"{line} --require-proof") == 3
    assert run(line) == 0
    assert run("fit people.csv --target ill --require-proof --quiet") == 0
    # The reasons stay apart: this line is wrong.
    assert run("fit people.csv --target nobody --require-proof") == 2


def test_certificate_and_report_are_written(people, capsys):
    line = "fit people.csv --target ill --drop id --max-depth 2 --quiet"
    assert run(f"{line} --certificate-json c.json --report r.html --held-out people.parquet") == 0
    certificate = json.loads((people / "c.json").read_text())
    assert certificate["status"] == "optimal" and certificate["gap"] <= 1e-9
    assert "On held-out rows" in (people / "r.html").read_text(encoding="utf-8")


def test_a_saved_tree_is_exported(people, capsys):
    assert run("fit people.csv --target ill --drop id --max-depth 2 --quiet --model m.json") == 0
    tree = Tree.from_json((people / "m.json").read_text())
    capsys.readouterr()
    expected = {
        "--to text": tree.to_text(),
        "--to dot": tree.to_dot(),
        "--to svg": tree.to_svg(),
        "--to json": tree.to_json(),
        "--to sql --dialect postgres --answer proba": tree.to_sql("proba", "postgres"),
        "--to python --answer leaf": tree.to_python("leaf"),
        "--to c --answer proba": tree.to_c("proba"),
        "--to javascript": tree.to_javascript(),
        "--to rust": tree.to_rust(),
        "--to pmml": tree.to_pmml(),
    }
    for options, text in expected.items():
        assert run(f"export m.json {options}") == 0
        assert capsys.readouterr().out.strip() == text.strip()
        assert run(f"export m.json {options} --output out") == 0
        assert (people / "out").read_text(encoding="utf-8") == text
    for options, message in {
        "--to onnx": "say where with --output",
        "--to dot --dialect sqlite": "--dialect is for --to sql",
        "--to svg --answer leaf": "--answer is for --to sql, python, c, javascript, rust",
    }.items():
        assert run(f"export m.json {options}") == 2
        assert message in capsys.readouterr().err


def test_report_of_a_saved_tree(people, capsys):
    run("fit people.csv --target ill --drop id weight --max-depth 2 --model m.json --quiet")
    capsys.readouterr()
    assert run("report m.json") == 0
    assert capsys.readouterr().out == "wrote report.html\n"
    assert "<b>Searched:</b>" in Path("report.html").read_text()
    assert run("report m.json --data people.csv --target ill --sensitive sex --output r.html") == 0
    html = Path("r.html").read_text()
    assert "On held-out rows" in html and "By group" in html
    capsys.readouterr()
    for line, told in (
        ("report m.json --target ill", "--target names a column of --data, which is not given"),
        ("report m.json --data people.csv --target ell", "has no column 'ell'"),
        ("report m.json --data people.csv --target age", "has the label 22"),
        ("report people.csv", "not a JSON document"),
    ):
        assert run(line) == 2
        assert told in capsys.readouterr().err


def test_two_trees_and_how_rows_spread(people, capsys):
    for depth in (1, 2):
        line = f"fit people.csv --target ill --drop id weight --max-depth {depth} --quiet"
        run(f"{line} --model {depth}.json")
    old, new = (Tree.from_json(Path(f"{depth}.json").read_text()) for depth in (1, 2))
    frame = pl.read_csv("people.csv", try_parse_dates=True)
    capsys.readouterr()
    assert run("diff 1.json 2.json --data people.csv") == 0
    assert capsys.readouterr().out == f"{new.diff(old, frame)}\n"
    assert run("diff 1.json 1.json") == 0
    assert capsys.readouterr().out == "The two trees answer every row alike.\n"
    assert run("drift 2.json people.csv --output drift.csv") == 0
    assert pl.read_csv("drift.csv")["rows"].to_list() == new.drift(frame)["rows"].to_list()
    assert run("drift 2.json people.csv") == 0
    out = capsys.readouterr().out
    assert out.endswith("population stability index: 0.0000\n") and out.count("→") == new.n_leaves


def test_fit_begins_with_a_saved_tree(people, capsys):
    fit = "fit people.csv --target ill --drop id weight --quiet --max-depth 2"
    assert run(f"{fit} --model old.json") == 0
    first = capsys.readouterr().out
    assert run(f"{fit} --start old.json") == 0
    old = Tree.from_json(Path("old.json").read_text())
    tree, used = old.to_text(), old.nodes[0].column
    assert tree in first and tree in capsys.readouterr().out
    assert run(f"{fit} --drop {used} --start old.json") == 2
    assert "which X does not have" in capsys.readouterr().err
    assert run(f"{fit} --start people.csv") == 2
    assert "not a JSON document" in capsys.readouterr().err


def test_feature_costs_are_options(people, capsys):
    line = "fit people.csv --target weight --task regression --drop id --max-depth 2"
    costs = "--feature-cost sex=0.01"
    costs += "".join(f" --feature-cost {name}=0.2,asked,0.1" for name in ("age", "born"))
    assert run(f"{line} {costs} --model paid.json") == 0
    out, _ = capsys.readouterr()
    assert "squared error as a share of that of a single leaf, feature costs included," in out
    frame = pl.read_csv("people.csv", try_parse_dates=True).drop("id")
    told = {name: FeatureCost(0.2, "asked", 0.1) for name in ("age", "born")} | {"sex": 0.01}
    model = OptimalTreeRegressor(max_depth=2, feature_costs=told).fit(frame, "weight")
    assert model.tree_.to_text() in out
    assert "fit" not in json.loads(Path("paid.json").read_text())
    for wrong, said in [
        ("sex", "is not COLUMN=COST"),
        ("sex=much", "names the column 'much' of prices, which X does not have"),
        ("sex=", "is not COLUMN=COST"),
        ('sex={"f"}', "is not COLUMN=COST"),
        ("sex=1,lab", "is not COLUMN=COST"),
        ("sex=-1", "must be finite numbers of at least 0"),
        ("six=1", "which is no feature column"),
        ("sex=1 --feature-cost sex=2", "names 'sex' twice"),
        ("sex=1,lab,2", "above its cost"),
    ]:
        assert said in refused(f"{line} --feature-cost {wrong}", capsys)
