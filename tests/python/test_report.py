"""`certree.report`: one file that loads nothing, with right numbers, whose names stay text."""

import re
import shutil
import subprocess
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import brier_score_loss, confusion_matrix, r2_score, roc_auc_score
from test_notebook import Tags

import certree
from certree import (
    Capacity,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
)
from certree.drawing.palette import DARK_CSS, LIGHT_CSS
from certree.reporting import held_out
from certree.measures import Counts, area

DATA = load_breast_cancer()
X = pl.DataFrame(DATA.data, schema=DATA.feature_names.tolist())
Y = DATA.target_names[DATA.target]
RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def model():
    return OptimalTreeClassifier(max_depth=3, thresholds=6).fit(X[:400], Y[:400])


def read(path):
    html = path.read_text(encoding="utf-8")
    tags = Tags(html)
    names = dict(tags.attributes)
    # Nothing is loaded: no address but those of this page, and the name of SVG.
    assert "src" not in names and not {"iframe", "object", "link"} & set(tags.seen)
    assert all(value.startswith("#") for name, value in tags.attributes if name == "href")
    assert set(re.findall(r"https?://[^\s\"'<]+", html)) <= {"http://www.w3.org/2000/svg"}
    ids = [value for name, value in tags.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    return html


def rows_of(html):
    """By the first cell of each row of a table, the others."""
    found = {}
    for row in re.findall(r"<tr>(.*?)</tr>", html):
        cells = re.findall(r"<td[^>]*>(.*?)</td>", row)
        if cells:
            found.setdefault(cells[0], cells[1:])
    return found


def first_number(text):
    return float(text.split(" ")[0])


def test_measures_are_those_of_scikit_learn(model, tmp_path):
    front = certree.frontier(OptimalTreeClassifier(max_depth=2, thresholds=3), X, Y)
    rough = np.where(X["mean texture"][400:] > 18, "rough", "smooth")
    path = certree.report(
        model, X[400:], Y[400:], sensitive=rough, path=tmp_path / "r.html", frontier=front
    )
    html = read(path)
    found = rows_of(html)
    answers, true = model.predict(X[400:]), Y[400:]
    shares = model.predict_proba(X[400:])[:, 1]
    matrix = confusion_matrix(true, answers)
    wanted = {
        "accuracy": (answers == true).mean(),
        "sensitivity": matrix[1, 1] / matrix[1].sum(),
        "specificity": matrix[0, 0] / matrix[0].sum(),
        "PPV": matrix[1, 1] / matrix[:, 1].sum(),
        "NPV": matrix[0, 0] / matrix[:, 0].sum(),
        "AUC": roc_auc_score(true == "malignant", shares),
        "Brier score": brier_score_loss(true == "malignant", shares),
    }
    for name, value in wanted.items():
        assert first_number(found[name][0]) == pytest.approx(value, rel=1e-3), name
        low, high = map(float, re.findall(r"\((\S+) to (\S+)\)", found[name][0])[0])
        assert low <= value <= high
    assert found["benign"] == [str(matrix[0, 0]), str(matrix[0, 1]), str(matrix[0].sum())]
    own = rough == "rough"
    assert found["rough"][0] == str(own.sum())
    assert first_number(found["rough"][1]) == pytest.approx(
        (answers[own] == "malignant").mean(), rel=1e-3
    )
    kind = own & (true == "malignant")
    wanted = (answers[kind] == "malignant").mean()
    assert first_number(found["rough"][2]) == pytest.approx(wanted, rel=1e-3)
    for section in (
        "tree",
        "certificate",
        "held-out",
        "groups",
        "frontier",
        "data",
        "methods",
        "versions",
    ):
        assert f'<section id="{section}">' in html
    assert "proved to have the lowest objective" in html


def test_bootstrap_intervals_are_those_of_drawn_rows():
    leaves, classes = RNG.integers(0, 4, 300), RNG.integers(0, 2, 300)
    scores = np.array([0.1, 0.7, 0.4, 0.7])
    counts = Counts(leaves, classes, (4, 2))
    found = counts.estimate(lambda rows: area(rows, scores, 1))
    assert found.value == pytest.approx(roc_auc_score(classes, scores[leaves]))
    drawn = []
    for _ in range(500):
        rows = RNG.integers(0, 300, 300)
        drawn.append(roc_auc_score(classes[rows], scores[leaves[rows]]))
    assert [found.low, found.high] == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.02)


def test_every_kind_of_tree_has_a_report(tmp_path):
    n = 300
    age, town = RNG.integers(18, 90, n), RNG.random(n) < 0.5
    people = pl.DataFrame({"age": age, "town": town})
    y = age * 2.0 + RNG.normal(size=n)
    fitted = OptimalTreeRegressor(max_depth=2).fit(people, y)
    html = read(certree.report(fitted, people, y, "town", tmp_path / "r.html"))
    assert first_number(rows_of(html)["y"][0]) == pytest.approx(
        r2_score(y, fitted.predict(people)), rel=1e-3
    )

    both = np.column_stack([y, town])
    several = OptimalTreeRegressor(max_depth=2).fit(people, both)
    read(certree.report(several, people, both, path=tmp_path / "r.html"))

    rewards = np.column_stack([RNG.normal(size=n), town + RNG.normal(size=n)])
    policy = OptimalPolicyTree(max_depth=1).fit(people, rewards=rewards)
    html = read(certree.report(policy, people, rewards, path=tmp_path / "r.html"))
    chosen = rewards[np.arange(n), policy.predict(people).astype(int)].mean()
    assert first_number(rows_of(html)["the tree"][0]) == pytest.approx(chosen, rel=1e-3)

    costs = pl.DataFrame(np.abs(rewards), schema=["wait", "operate"])
    fitted = OptimalCostTree(max_depth=1).fit(people, costs)
    assert "always operate" in read(certree.report(fitted, people, costs, path=tmp_path / "r.html"))

    times, events = RNG.exponential(1 + town, n), RNG.random(n) < 0.7
    survival = OptimalSurvivalTree(max_depth=1).fit(people, time=times, event=events)
    html = read(certree.report(survival, people, (times, events), path=tmp_path / "r.html"))
    wanted = survival.score(people, times, events)
    assert first_number(rows_of(html)["concordance (Harrell)"][0]) == pytest.approx(
        wanted, rel=1e-3
    )

    answers = np.column_stack([town, age > 50]).astype(int)
    targets = OptimalTreeClassifier(max_depth=1).fit(people, answers)
    read(certree.report(targets, people, answers, path=tmp_path / "r.html"))


def test_constraints_classes_and_columns_are_shown(tmp_path):
    frame = pl.DataFrame({"size": [1, 2, 3, 4, 5, 6] * 5, "kind": ["a", "b", "c"] * 10})
    labels = ["low", "low", "mid", "mid", "high", "high"] * 5
    fitted = OptimalTreeClassifier(max_depth=2, constraints=(Capacity("high", 0.5),)).fit(
        frame, labels
    )
    frame = frame.with_columns(pl.Series("truth", labels))
    html = read(certree.report(fitted, frame, "truth", "kind", tmp_path / "r.html"))
    assert "capacity of &#x27;high&#x27;" in html and "class, against all others" in html
    assert "a, b, c" in html


def test_a_large_tree_and_many_rows_are_reported(tmp_path):
    n = 20_000
    frame = pl.DataFrame(RNG.normal(size=(n, 3)), schema=["a", "b", "c"])
    y = (RNG.random(n) < 0.5).astype(int)
    fitted = OptimalTreeClassifier(
        max_depth=6, leaf_penalty=0, thresholds=2, min_samples_leaf=10, time_limit=2
    )
    with warnings.catch_warnings():
        # The limit may end the search.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted.fit(frame, y)
    read(certree.report(fitted, frame, y, path=tmp_path / "r.html"))


NASTY = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><b>x",
    "' onclick='alert(1)",
    "a\nb",
    "\u202egnorw",
    "x" * 200,
]


@pytest.mark.parametrize("name", NASTY)
def test_no_text_breaks_out(name, tmp_path):
    frame = pl.DataFrame({name: [name, "other"] * 10, "b": range(20)})
    fitted = OptimalTreeClassifier(max_depth=1).fit(frame, [name, "b"] * 10)
    path = certree.report(
        fitted, frame, [name, "b"] * 10, sensitive=[name] * 20, path=tmp_path / "r.html"
    )
    tags = Tags(read(path))
    assert tags.seen.count("script") == 1 and "img" not in tags.seen
    assert not [key for key, _ in tags.attributes if key.startswith("on")]


def test_wrong_arguments_are_told(model, tmp_path):
    path = tmp_path / "r.html"
    with pytest.raises(TypeError, match="or of a Tree, not of a str"):
        certree.report("model", path=path)
    with pytest.raises(ValueError, match="statement is for a Tree"):
        certree.report(model, path=path, statement="Searched: all.")
    with pytest.raises(ValueError, match="X_test, which is not given"):
        certree.report(model, y_test=Y, path=path)
    with pytest.raises(ValueError, match="y_test has 3 values, but X_test has 169 rows"):
        certree.report(model, X[400:], Y[:3], path=path)
    with pytest.raises(ValueError, match="label 'odd'"):
        certree.report(model, X[400:], ["odd"] * 169, path=path)
    with pytest.raises(ValueError, match="no column 'nowhere'"):
        certree.report(model, X[400:], "nowhere", path=path)
    with pytest.raises(ValueError, match="no rows"):
        certree.report(model, X[:0], path=path)
    with pytest.raises(Exception, match="not fitted"):
        certree.report(OptimalTreeClassifier(), path=path)
    assert not path.exists()


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("css", [LIGHT_CSS, DARK_CSS])
def test_text_stands_out(css):
    colours = dict(re.findall(r"--(\w+):(#\w+);", css))
    for ground in (colours["ground"], colours["card"]):
        # A leaf's text is upon its colour, at most a third of which is mixed in.
        mixed = [ground]
        for k in range(8):
            pairs = [
                (int(colours[f"k{k}"][i : i + 2], 16), int(ground[i : i + 2], 16))
                for i in (1, 3, 5)
            ]
            mixed.append("#" + "".join(f"{round(0.32 * a + 0.68 * b):02x}" for a, b in pairs))
        for below in mixed:
            for ink, least in (("ink", 4.5), ("muted", 4.5)):
                pair = sorted([luminance(colours[ink]), luminance(below)])
                assert (pair[1] + 0.05) / (pair[0] + 0.05) >= least


CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
CLICKS = """
const told = [];
window.onerror = function (message) { told.push("error: " + message); };
const get = function (id) { return document.getElementById(id); };
const hidden = function () { return document.querySelectorAll(".leaf[hidden]").length; };
told.push("hidden " + hidden() + " of " + document.querySelectorAll(".leaf").length);
document.querySelector("[data-leaf]").click();
told.push("shown " + document.querySelector(".leaf:not([hidden])").id);
get("fold").click();
told.push("open " + document.querySelectorAll("details[open]").length);
document.querySelector("summary").click();
told.push("open " + document.querySelectorAll("details[open]").length);
get("search").value = "MALIGNANT";
get("search").dispatchEvent(new Event("input"));
told.push(get("search-status").textContent);
const cards = Array.from(document.querySelectorAll("#picture [data-node]"));
const last = cards[cards.length - 1];
last.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
const open = document.querySelector(".leaf:not([hidden])").id;
told.push("shown " + open + " of card " + last.dataset.node);
document.body.setAttribute("data-told", told.join("; "));
"""


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_it_works_in_a_browser(model, tmp_path):
    path = certree.report(model, X[400:], Y[400:], path=tmp_path / "r.html")
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path}/browser",
    ]

    def opened(file, *more):
        options = [*command, *more, "--dump-dom", f"file://{file}"]
        return subprocess.run(options, capture_output=True, text=True, timeout=120)

    shown = opened(path, "--enable-logging=stderr")
    assert "CONSOLE" not in shown.stderr
    assert 'tabindex="0"' in shown.stdout, "the page's own script ran"
    # The page allows no script but its own, so this one needs a page without the rule.
    html = path.read_text(encoding="utf-8")
    rule = re.search(r"<meta http-equiv=[^>]*>", html).group()
    driven = tmp_path / "driven.html"
    driven.write_text(
        html.replace(rule, "").replace("</body>", f"<script>{CLICKS}</script></body>")
    )
    told = re.search(r'data-told="([^"]*)"', opened(driven).stdout).group(1).split("; ")
    leaves = [leaf.id for leaf in model.tree_.leaves]
    malignant = sum(leaf.label == "malignant" for leaf in model.tree_.leaves)
    assert told == [
        f"hidden {len(leaves)} of {len(leaves)}",
        f"shown leaf-{leaves[0]}",
        "open 0",
        "open 1",
        "1 line found" if malignant == 1 else f"{malignant} lines found",
        f"shown leaf-{leaves[-1]} of card {leaves[-1]}",
    ]
    # With the rule, a script that was smuggled in is not run.
    driven.write_text(html.replace("</body>", f"<script>{CLICKS}</script></body>"))
    assert "data-told=" not in opened(driven).stdout.split("<script>")[0]


def test_positive_class_is_the_users():
    fitted = OptimalTreeClassifier("f1", max_depth=1, positive_label="benign").fit(
        X[["mean radius"]], Y
    )
    rows = held_out.read(fitted.tree_, X[["mean radius"]], Y, None, fitted.positive_label)
    assert rows.positive == 0
    assert held_out.read(fitted.tree_, X[["mean radius"]], Y, None, None).positive == 1


def test_a_tree_alone_has_a_report(model, tmp_path):
    tree = certree.Tree.from_json(model.tree_.to_json())
    statement = model.certificate_.statement()
    path = tmp_path / "r.html"
    html = read(certree.report(tree, X[400:], Y[400:], path=path, statement=statement))
    assert "On held-out rows" in html and "<b>Searched:</b>" in html and "Tree: report" in html
    assert rows_of(html)["accuracy"] == rows_of(
        read(certree.report(model, X[400:], Y[400:], path=path))
    )["accuracy"]
    assert "certificate" not in read(certree.report(tree, path=path)).partition("<script")[0]
