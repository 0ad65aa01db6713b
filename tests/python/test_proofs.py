"""Proofs: both checkers verify those of many kinds of tables, and notice what is not true."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from brute import cases

import certree
from certree import OptimalCostTree, OptimalTreeClassifier, OptimalTreeRegressor, check_proof, cli

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def rust(tmp_path_factory):
    """The checker in Rust: its exit code and what it prints, of two files as bytes."""
    if shutil.which("cargo") is None:
        pytest.skip("the checker is built with cargo")
    target = ROOT / "target" / "checker"
    build = ["cargo", "build", "--quiet", "--locked", "--package", "certree-check"]
    subprocess.run([*build, "--target-dir", target], cwd=ROOT, check=True)
    folder = tmp_path_factory.mktemp("files")
    instance_path, proof_path = folder / "d.ctd", folder / "p.ctp"

    def check(instance: bytes, proof: bytes) -> tuple[int, str]:
        instance_path.write_bytes(instance)
        proof_path.write_bytes(proof)
        program = [target / "debug" / "certree-check", instance_path, proof_path]
        ran = subprocess.run(program, capture_output=True, text=True, timeout=60)
        assert not ran.stderr
        return ran.returncode, ran.stdout

    return check


def in_python(instance: bytes, proof: bytes) -> tuple[int, str]:
    verdict = check_proof.check(instance, proof)
    codes = {"VERIFIED": 0, "VERIFIED UP TO": 3, "NOT VERIFIED": 1}
    return codes[verdict.kind], f"{verdict.kind}: {verdict.why}\n"


def prove(model, *data, folder):
    paths = {"instance": folder / "d.ctd", "proof": folder / "p.ctp"}
    proof = certree.prove(model, *data, **paths)
    return proof, proof.instance.read_bytes(), proof.proof.read_bytes()


def table(seed: int) -> tuple[pl.DataFrame, pl.Series, np.ndarray]:
    random = np.random.default_rng(seed)
    n = int(random.integers(3, 40))
    some = random.random(n) < 0.2
    frame = pl.DataFrame({
        "number": random.integers(0, 6, n) / 4,
        "flag": random.random(n) < 0.4,
        "site": random.choice(["a", "b", "c", "d"], n),
        "day": [date(2020, 1, 1) + timedelta(int(day)) for day in random.integers(0, 5, n)],
        "gone": random.integers(0, 3, n).astype(float),
    }).with_columns(gone=pl.when(pl.Series(some)).then(None).otherwise(pl.col("gone")))
    kinds = random.integers(1, 4)
    target = (frame["number"].to_numpy() * 4 + frame["flag"].to_numpy()).astype(int) % (kinds + 1)
    noise = random.integers(0, kinds + 1, n)
    return frame, pl.Series("y", np.where(random.random(n) < 0.3, noise, target)), random.integers(
        1, 4, n
    ) / 2


def parameters(seed: int) -> dict:
    random = np.random.default_rng(seed + 10**6)
    return {
        "max_depth": random.choice([1, 2, 3, 3, 4, None]),
        "leaf_penalty": float(random.choice([0.03, 0.04, 0.05])),
        "class_weight": random.choice([None, "balanced"]),
        "objective": str(random.choice(["accuracy", "balanced_accuracy"])),
        "min_samples_leaf": int(random.choice([1, 1, 2, 3, 5])),
        "max_leaf_nodes": random.choice([None, None, 3, 4, 5, 6, 7, 9]),
    }


@pytest.mark.parametrize("seed", cases(14))
def test_both_checkers_verify_the_proof_and_the_script_finds_the_table(seed, tmp_path, rust):
    X, y, weight = table(seed)
    model = OptimalTreeClassifier(**parameters(seed)).fit(X, y, sample_weight=weight)
    proof, instance, steps = prove(model, X, y, weight, folder=tmp_path)
    code, said = in_python(instance, steps)
    assert code == 0, said
    assert rust(instance, steps) == (code, said)
    assert f"(objective {model.objective_:.9f})" in said
    assert f"; {proof.lemmas} lemmas" in said and proof.n_bytes == len(steps)
    X.with_columns(y, weight=weight).write_parquet(tmp_path / "t.parquet")
    arguments = [tmp_path / "t.parquet", "y", tmp_path / "d.ctd", tmp_path / "p.ctp", "weight"]
    script = [sys.executable, ROOT / "docs" / "check_table.py", *arguments]
    ran = subprocess.run(script, capture_output=True, text=True) if seed % 4 == 0 else None
    if ran:
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert f"objective of {model.objective_:.9f}" in ran.stdout


def targets(seed: int, y: pl.Series) -> np.ndarray:
    """Whole numbers, real ones, or such that are far from 0; of one target or two."""
    random = np.random.default_rng(seed + 10**5)
    noise = [0, random.integers(0, 9, len(y)) / 7, random.normal(1e6, 1, len(y))]
    numbers = y.to_numpy() + noise[seed % 3]
    return np.stack([numbers, 1e-3 * random.random(len(y))], 1) if seed % 4 == 3 else numbers


@pytest.mark.parametrize("seed", cases(16))
def test_squared_errors_are_verified_and_the_script_finds_the_table(seed, tmp_path, rust):
    X, y, weight = table(seed)
    y = targets(seed, y)
    limits = {**parameters(seed), "leaf_penalty": float([0, 0.01, 0.05][seed % 3])}
    del limits["class_weight"], limits["objective"]
    limits["max_depth"] = limits["max_depth"] or 3
    model = OptimalTreeRegressor(**limits).fit(X, y, sample_weight=weight)
    proof, instance, steps = prove(model, X, y, weight, folder=tmp_path)
    code, said = in_python(instance, steps)
    assert code == 0, said
    assert rust(instance, steps) == (code, said)
    assert f"(objective {model.objective_:.9f})" in said and "costs are rounded" in said
    columns = dict(zip(["y", "z"], np.atleast_2d(y.T)))
    X.with_columns(**columns, weight=weight).write_parquet(tmp_path / "t.parquet")
    names = ",".join(columns)
    script = [sys.executable, ROOT / "docs" / "check_table.py", tmp_path / "t.parquet", names]
    for damage, code in [("", 0), ("slack", 1), ("sum", 1)] if seed % 4 == 3 else [("", 0)]:
        text = instance.decode()
        if damage == "slack":
            text = re.sub(r"\nslack \d+\n", "\nslack 0\n", text)
        elif damage == "sum":
            text = re.sub(r"(\npoint [01]+ (?:\d+ )*\d+) -?\d+ ", r"\1 77 ", text, count=1)
        (tmp_path / "d.ctd").write_text(text)
        files = [tmp_path / "d.ctd", tmp_path / "p.ctp", "weight"]
        ran = subprocess.run([*script, *files], capture_output=True, text=True)
        assert ran.returncode == code, ran.stdout + ran.stderr
        assert damage or f"objective of the tree is {model.objective_:.9f}" in ran.stdout


def test_answers_of_levels_have_proofs(tmp_path, rust):
    X, y, _ = table(4)
    model = OptimalTreeRegressor("absolute_error", max_depth=3).fit(X, y)
    _, instance, steps = prove(model, X, y, folder=tmp_path)
    assert in_python(instance, steps)[0] == rust(instance, steps)[0] == 0


def small(folder, task=OptimalTreeClassifier, **limits):
    random = np.random.default_rng(4)
    X, y = random.random((60, 6)) < 0.5, random.random(60) < 0.5
    model = task(max_depth=None, leaf_penalty=0.02, **limits).fit(X, y)
    return prove(model, X, y, folder=folder)


@pytest.mark.parametrize(
    "limits",
    [{}, {"max_leaf_nodes": 8, "min_samples_leaf": 2}, {"task": OptimalTreeRegressor}],
)
def test_both_checkers_say_the_same_of_damaged_proofs(limits, tmp_path, rust):
    proof, instance, steps = small(tmp_path, **limits)
    assert len(steps.partition(b"\nend\n")[2]) > 4
    random = np.random.default_rng(0)
    ways = [steps[:at] for at in range(0, len(steps), 7)]
    for at in range(len(steps)):
        for byte in random.integers(0, 256, 1):
            ways.append(steps[:at] + bytes([byte]) + steps[at + 1 :])
    for damaged in ways:
        verdict = check_proof.check(instance, damaged)
        code, said = in_python(instance, damaged)
        assert rust(instance, damaged)[0] == code, damaged
        if code != 1:
            assert verdict.bound <= proof.bound <= verdict.cost
            assert rust(instance, damaged)[1].partition("UP TO")[0] == said.partition("UP TO")[0]


@pytest.mark.parametrize("task", [OptimalTreeClassifier, OptimalTreeRegressor])
def test_both_checkers_say_the_same_of_damaged_instances(task, tmp_path, rust):
    _, instance, steps = small(tmp_path, task)
    random = np.random.default_rng(1)
    others = [-1, 0, 1, 127, 2**31, 2**57, 2**62, -(2**62), 2**63 - 1, -(2**63), 2**63]
    numbers = list(re.finditer(rb"(?<= )-?\d+(?=[ \n])", instance))
    ways = [b"_", b" ", b"e", b"-", b".", b"inf", b"\n"]
    for _ in cases(150):
        place = numbers[random.integers(len(numbers) if random.random() < 0.5 else 30)]
        near = [int(place[0]) + 1, int(place[0]) - 1, *others]
        number = str(near[random.integers(len(near))]).encode()
        if random.random() < 0.2:
            number = place[0][:1] + ways[random.integers(len(ways))] + place[0][1:]
        damaged = instance[: place.start()] + number + instance[place.end() :]
        digest = check_proof.digest(damaged).encode()
        proof = re.sub(rb"\ninstance \w+", b"\ninstance " + digest, steps, count=1)
        assert in_python(damaged, proof)[0] == rust(damaged, proof)[0], damaged


def test_what_is_not_true_has_no_proof(tmp_path, rust):
    proof, instance, steps = small(tmp_path)
    worse = re.sub(rb"\ntree [^\n]*\n", b"\ntree -\n", steps, count=1)
    assert in_python(instance, worse)[0] == rust(instance, worse)[0] == 3
    higher = worse.replace(b"bound %d\n" % proof.bound, b"bound %d\n" % (proof.bound + 1))
    assert in_python(instance, higher)[0] == rust(instance, higher)[0] == 1
    assert "lemma" in in_python(instance, higher)[1]
    other = instance.replace(b"leaf ", b"leaf 1", 1)
    assert "another instance" in in_python(other, steps)[1]
    assert "another instance" in rust(other, steps)[1]


@pytest.mark.parametrize(
    "damaged",
    [b"", b"\n", b"certree instance 1\nend\n", b"\xff" * 1000, b"certree proof 1\n" * 1000],
)
def test_other_files_are_refused(damaged, tmp_path, rust):
    _, instance, steps = small(tmp_path)
    for files in [(damaged, steps), (instance, damaged), (damaged, damaged)]:
        assert in_python(*files)[0] == rust(*files)[0] == 1


def test_costs_of_rows_and_of_classes_have_proofs(tmp_path, rust):
    X, y, weight = table(5)
    costs = np.random.default_rng(5).integers(0, 9, (len(X), 3)) / 4
    model = OptimalCostTree(max_depth=3, leaf_penalty=0.02).fit(X, costs)
    _, instance, steps = prove(model, X, costs, folder=tmp_path)
    assert in_python(instance, steps)[0] == rust(instance, steps)[0] == 0
    labels = sorted(set(y.to_list()))
    cost = 1 + np.arange(len(labels) ** 2).reshape(len(labels), -1) % 3 - np.eye(len(labels))
    model = OptimalTreeClassifier(max_depth=3, cost_matrix=cost).fit(X, y)
    _, instance, steps = prove(model, X, y, folder=tmp_path)
    assert in_python(instance, steps)[0] == rust(instance, steps)[0] == 0


def test_the_lower_bound_of_a_stopped_search_is_proved(tmp_path, rust):
    random = np.random.default_rng(1)
    X, y = random.random((200, 20)) < 0.5, random.random(200) < 0.5
    model = OptimalTreeClassifier(leaf_penalty=0.01).fit(X, y)
    # Whether a limit comes before the end of a search this small depends on the machine.
    model.status_, model.lower_bound_ = "gap_limit", model.lower_bound_ - 0.1
    _, instance, steps = prove(model, X, y, folder=tmp_path)
    code, said = in_python(instance, steps)
    assert code == rust(instance, steps)[0] == 3
    bound = re.search(r"every tree at least (\d+)", said)
    units = re.search(rb"\nunits (\S+)\n", instance)
    assert int(bound[1]) / float(units[1]) >= model.lower_bound_ - 1e-9


def test_what_has_no_proof_says_so(tmp_path):
    X, y, _ = table(2)
    y = (y > 0).cast(int)
    for model in [
        OptimalTreeClassifier(max_depth=2, constraints=[certree.FalsePositiveRate(0.5)]),
        OptimalTreeClassifier(max_depth=2, objective="f1", leaf_penalty=0.01),
        OptimalTreeClassifier(max_depth=2, objective="mcc"),
        OptimalTreeRegressor("poisson", max_depth=2),
    ]:
        with pytest.raises(ValueError, match="proofs (are|with .*) for"):
            prove(model.fit(X, y), X, y, folder=tmp_path)
    model = OptimalTreeClassifier(max_depth=2, missing="own_branch").fit(X, y)
    with pytest.raises(ValueError, match="own_branch"):
        prove(model, X, y, folder=tmp_path)
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    with pytest.raises(ValueError, match="not the rows"):
        prove(model, X, y.reverse().alias("y") if y[0] != y[-1] else 1 - y, folder=tmp_path)
    wide = np.arange(17_000.0)[:, None]
    model = OptimalTreeClassifier(max_depth=1).fit(wide, np.arange(17_000) % 2)
    with pytest.raises(ValueError, match="16384 at most"):
        prove(model, wide, np.arange(17_000) % 2, folder=tmp_path)
    many = OptimalTreeClassifier(max_depth=None, leaf_penalty=0.4, max_leaf_nodes=65)
    with pytest.raises(ValueError, match="max_leaf_nodes=64 at most"):
        few = wide[:100], np.arange(100) % 2
        prove(many.fit(*few), *few, folder=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_limit_that_the_depth_or_the_points_keep_anyway_is_no_line(tmp_path):
    X = np.arange(12.0)[:, None]
    for depth, leaves, said in [(2, 4, False), (2, 3, True), (None, 12, False), (None, 11, True)]:
        model = OptimalTreeClassifier(max_depth=depth, leaf_penalty=0.1, max_leaf_nodes=leaves)
        _, instance, _ = prove(model.fit(X, X[:, 0] % 2), X, X[:, 0] % 2, folder=tmp_path)
        assert (b"\nleaves %d\n" % leaves in instance) is said


def test_a_time_limit_ends_the_proof(tmp_path):
    random = np.random.default_rng(3)
    X, y = random.random((3000, 40)) < 0.5, random.random(3000) < 0.5
    model = OptimalTreeClassifier(
        max_depth=6, leaf_penalty=0, time_limit=0.3, memory_limit=10**9
    )
    with pytest.warns(UserWarning):
        model.fit(X, y)
    with pytest.raises(ValueError, match="raise time_limit"):
        model.lower_bound_ = model.objective_
        prove(model, X, y, folder=tmp_path)


def test_the_command_line_writes_a_proof(tmp_path, monkeypatch, capsys, rust):
    monkeypatch.chdir(tmp_path)
    X, y, _ = table(9)
    X.with_columns(y).write_csv("t.csv")
    command = "fit t.csv --target y --max-depth 3 --instance d.ctd --proof p.ctp"
    assert cli.main(command.split()) == 0
    assert "Proof: certree-check d.ctd p.ctp" in capsys.readouterr().out
    assert rust(Path("d.ctd").read_bytes(), Path("p.ctp").read_bytes())[0] == 0
    program = [sys.executable, "-m", "certree.check_proof", "d.ctd", "p.ctp"]
    ran = subprocess.run(program, capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stdout.startswith("VERIFIED: ")
    assert cli.main("fit t.csv --target y --max-depth 3 --proof p.ctp".split()) == 2
    assert "belong together" in capsys.readouterr().err


def test_the_command_line_proves_a_saved_tree(tmp_path, monkeypatch, capsys, rust):
    monkeypatch.chdir(tmp_path)
    X, y, weight = table(9)
    X.with_columns(y, weight=weight).write_parquet("t.parquet")
    limits = "--max-depth 3 --min-samples-leaf 2 --max-leaf-nodes 5"
    fit = f"fit t.parquet --target y --weight weight {limits} --model m.json --quiet"
    assert cli.main(fit.split()) == 0
    assert cli.main("export-instance t.parquet --model m.json -o d.ctd".split()) == 0
    exported = Path("d.ctd").read_bytes()
    sha256 = hashlib.sha256(exported).hexdigest()
    assert sha256 in capsys.readouterr().out
    assert cli.main("prove m.json t.parquet -o p.ctp --instance d.ctd".split()) == 0
    said = capsys.readouterr().out
    assert "certree-check d.ctd p.ctp" in said and sha256 in said
    assert Path("d.ctd").read_bytes() == exported
    assert rust(exported, Path("p.ctp").read_bytes())[0] == 0
    # Beside the output, if no instance is named.
    assert cli.main("prove m.json t.parquet -o q.ctp".split()) == 0
    assert Path("q.ctd").read_bytes() == exported
    X.with_columns(y.reverse(), weight=weight).write_parquet("other.parquet")
    capsys.readouterr()
    for command in ("prove m.json other.parquet -o r.ctp", "prove m.json t.parquet -o p.ctp"):
        Path("p.ctd").write_text("another one")
        assert cli.main(command.split()) == 2
    said = capsys.readouterr().err
    assert "not the rows" in said and "another problem" in said
    document = json.loads(Path("m.json").read_text())
    Path("n.json").write_text(json.dumps({**document, "fit": {"task": "classification"}}))
    assert cli.main("prove n.json t.parquet -o r.ctp".split()) == 2
    assert "damaged" in capsys.readouterr().err
    del document["fit"]
    Path("n.json").write_text(json.dumps(document))
    assert cli.main("prove n.json t.parquet -o r.ctp".split()) == 2
    assert "how it was fitted" in capsys.readouterr().err


def test_certify_writes_a_proof_and_the_certificate_names_it(tmp_path, rust):
    X, y, _ = table(3)
    files = {"instance": tmp_path / "d.ctd", "proof": tmp_path / "p.ctp"}
    model = OptimalTreeClassifier(max_depth=3).fit(X, y)
    assert model.certificate_.proof is None
    with pytest.raises(ValueError, match="belong together"):
        model.certify(X, y, proof=tmp_path / "p.ctp")
    assert model.certify(X, y, **files) is model
    instance, steps = (path.read_bytes() for path in files.values())
    assert rust(instance, steps)[0] == in_python(instance, steps)[0] == 0
    named = model.certificate_.proof
    assert named.sha256 == hashlib.sha256(instance).hexdigest()
    assert named.how_to_check in str(model.certificate_.statement())
    page = certree.report(model, path=tmp_path / "report.html")
    assert named.sha256 in page.read_text()


@pytest.mark.parametrize("seed", cases(6))
@pytest.mark.parametrize("objective", ["f1", "fbeta", "jaccard"])
def test_ratios_are_proved_at_that_of_the_tree(seed, objective, tmp_path, rust):
    X, y, _ = table(seed + 100)
    y = (y > 0).cast(int)
    if y.n_unique() < 2:
        return
    weight = np.random.default_rng(seed).integers(1, 4, len(y)).astype(float)
    model = OptimalTreeClassifier(
        max_depth=2,
        objective=objective,
        beta=0.7,
        leaf_penalty=0,
        positive_label=seed % 2,
        min_samples_leaf=1 + seed // 2 % 3,
        max_leaf_nodes=None if seed % 3 else 3,
    ).fit(X, y, sample_weight=weight)
    proof, instance, steps = prove(model, X, y, weight, folder=tmp_path)
    code, said = in_python(instance, steps)
    assert code == rust(instance, steps)[0] == 0, said
    about = dict(
        pair
        for line in instance.decode().splitlines()
        if line.startswith("about ")
        for pair in json.loads(line[6:]).items()
    )
    over, under = about["ratio"]
    assert over / under == pytest.approx(model.objective_, abs=1e-12)
    # A tree with a smaller ratio would cost less, and one with a larger one more.
    X.with_columns(y.alias("y"), weight=weight).write_parquet(tmp_path / "t.parquet")
    arguments = [tmp_path / "t.parquet", "y", tmp_path / "d.ctd", tmp_path / "p.ctp", "weight"]
    script = [sys.executable, ROOT / "docs" / "check_table.py", *arguments]
    if seed == 0:
        ran = subprocess.run(script, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert f"= {model.objective_:.9f}" in ran.stdout


def by_hand(limit: str, points: list[str], tree: str, bound: int) -> tuple[bytes, bytes]:
    """An instance of one question, whose points cost 0 under the label of their answer, and else 9,
    and a proof in one lemma."""
    head = "certree instance 1\ndepth 1\nleaf 1\noffset 0\nunits 1\nslack 0\nlabels 2\n"
    limits = [limit] if limit else []
    body = [f"questions 1\npoints {len(points)}", *limits, "question {}", *points, "end\n"]
    instance = (head + "\n".join(body)).encode()
    digest = check_proof.digest(instance)
    proof = f"certree proof 1\ninstance {digest}\ntree {tree}\nbound {bound}\nlemmas 1\nend\n"
    return instance, proof.encode()


@pytest.mark.parametrize(
    ("limit", "rows", "tree", "bound", "code"),
    [
        ("", ["", ""], "0 - -", 2, 0),
        ("rows 3", ["3 ", "4 "], "0 - -", 2, 0),
        ("rows 3", ["3 ", "2 "], "-", 10, 0),
        ("rows 3", ["3 ", "2 "], "0 - -", 2, 1),
        ("rows 3", ["3 ", "4 "], "-", 10, 1),
        ("rows 9", ["3 ", "4 "], "-", 10, 0),
        # A tree of one leaf may have fewer rows; but not what has none, or none that are counted.
        ("rows 3", ["0 ", "4 "], "-", 1, 1),
        ("rows 3", ["", "4 "], "-", 1, 1),
        ("", ["3 ", "4 "], "-", 1, 1),
        ("rows 0", ["3 ", "4 "], "-", 1, 1),
        ("rows -3", ["3 ", "4 "], "-", 1, 1),
        ("rows 3\nrows 3", ["3 ", "4 "], "0 - -", 2, 1),
        ("rows 3", [f"{2**57} ", "4 "], "-", 1, 1),
        ("leaves 2", ["", ""], "0 - -", 2, 0),
        ("leaves 1", ["", ""], "0 - -", 2, 1),
        ("leaves 1", ["", ""], "-", 10, 0),
        ("leaves 1\nleaves 2", ["", ""], "-", 10, 1),
        ("leaves 0", ["", ""], "-", 10, 1),
        ("leaves 65", ["", ""], "-", 2, 1),
        ("leaves 1\nrows 3", ["2 ", "4 "], "-", 10, 0),
        ("rows 3\nleaves 2", ["3 ", "4 "], "0 - -", 2, 0),
        ("rows 3", [f"{2**57 - 4} ", "4 "], "0 - -", 2, 0),
    ],
)
def test_limits_on_leaves_and_their_rows_are_kept(limit, rows, tree, bound, code, rust):
    points = [f"point 0 {rows[0]}0 9", f"point 1 {rows[1]}9 0"]
    files = by_hand(limit, points, tree, bound)
    assert in_python(*files)[0] == rust(*files)[0] == code, in_python(*files)
    for other in ("rows 3", "leaves 2"):
        late = by_hand(limit, [points[0], f"{other}\n{points[1]}"], tree, bound)
        assert in_python(*late)[0] == rust(*late)[0] == 1


def test_sums_over_many_labels_do_not_overflow(rust):
    costs = " ".join(["0"] + [str(2**56)] * 63)
    head = "certree instance 1\ndepth 1\nleaf 0\noffset 0\nunits 1\nslack 0\nlabels 64\n"
    points = f"point 0 {costs}\npoint 1 {costs}\n"
    instance = f"{head}questions 1\npoints 2\nquestion {{}}\n{points}end\n"
    digest = check_proof.digest(instance.encode())
    proof = f"certree proof 1\ninstance {digest}\ntree -\nbound 0\nlemmas 1\nend\n"
    files = instance.encode(), proof.encode()
    assert in_python(*files)[0] == rust(*files)[0] == 1
    assert "too large" in in_python(*files)[1] and "too large" in rust(*files)[1]


@pytest.mark.parametrize(
    ("squares", "first", "second", "code"),
    [
        ("0", "1 2 4", "1 -2 4", 0),
        ("3", "2 2 9", "3 -2 9", 0),
        ("0 0", "1 2 3 13", "1 -2 3 13", 0),
        ("0", "0 2 4", "1 -2 4", 1),
        ("0", "-1 2 4", "1 -2 4", 1),
        ("0", "1 2 3", "1 -2 4", 1),
        ("0", "1 2 -4", "1 -2 4", 1),
        ("0", "1 2", "1 -2 4", 1),
        ("0", "1 2 2 8", "1 -2 4", 1),
        ("", "1 2 4", "1 -2 4", 1),
        ("-1", "1 2 4", "1 -2 4", 1),
        ("128", "1 2 4", "1 -2 4", 1),
        ("127", "1 2 4", "1 -2 4", 0),
        ("0 0", "1 2 4", "1 -2 4", 1),
        (" ".join(["0"] * 65), "1 " + "0 " * 65 + "0", "1 " + "0 " * 65 + "0", 1),
        (" ".join(["0"] * 64), "1 " + "0 " * 64 + "0", "1 " + "0 " * 64 + "0", 0),
        ("0", f"1 2 {2**57}", "1 -2 4", 1),
        ("0", f"1 2 {2**63}", "1 -2 4", 1),
        ("127", f"1 {2**63 - 1} 4", "1 -2 4", 1),
        ("127", f"1 {-(2**63)} 4", "1 -2 4", 1),
        ("127", f"1 {2**61} 4", f"1 {-(2**61)} 4", 0),
        ("127", f"1 {2**62} 4", f"1 {-(2**62)} 4", 1),
        ("127", f"{2**62} 4 4", "1 -2 4", 1),
        ("127", f"{2**61} 1 4", f"1 {2**60} 4", 1),
        ("0", f"1 {2**29} {2**58 + 1}", "1 0 0", 1),
        ("0", f"1 {2**28} {2**56}", f"1 {-(2**28)} {2**56}", 0),
        ("0", f"{2**40} {2**20} {2**50}", f"{2**40} {-(2**20)} {2**50}", 0),
        ("127 127", f"1 {2**62 - 1} {2**62 - 1} 4", "1 -1 -1 4", 1),
    ],
)
def test_squares_out_of_range_are_refused(squares, first, second, code, rust):
    head = "certree instance 1\ndepth 3\nleaf 1\noffset 0\nunits 1\nslack 0\n"
    points = f"question {{}}\npoint 0 {first}\npoint 1 {second}\n"
    points = f"squares {squares}\nquestions 1\npoints 2\n{points}"
    instance = f"{head}{points}end\n"
    digest = check_proof.digest(instance.encode())
    proof = f"certree proof 1\ninstance {digest}\ntree -\nbound 1\nlemmas 99\nend\n"
    files = instance.encode(), proof.encode()
    # Each tree has a leaf, so that nothing is wrong but numbers.
    assert [in_python(*files)[0] == 1, rust(*files)[0] == 1] == [code == 1] * 2
    assert in_python(*files)[0] == rust(*files)[0]
