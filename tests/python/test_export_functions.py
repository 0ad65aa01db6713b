"""`Tree.to_c`, `Tree.to_javascript` and `Tree.to_rust`, compiled and run on rows of every type,
answer what `predict` does."""

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from running import C_FLAGS, RUNS, Case, agree, needs, run
from test_export_sklearn import routing, with_gaps
from trees import (
    AGE,
    check_golden,
    columns_of,
    every_type,
    gallery,
    patients,
    random_tree,
    splits_of,
    stump,
)

from certree import OptimalCostTree, OptimalTreeClassifier, OptimalTreeRegressor, _core
from certree.schema import Column
from certree.tree import Tree

FRAME = every_type(120, seed=3)
OTHERS = with_gaps(every_type(120, seed=4), 4)
TEXTS = ["string", "categorical", "enum"]
UNSEEN = OTHERS.with_columns(
    pl.when(pl.Series(np.arange(120) % 7 == at))
    .then(pl.lit("strange"))
    .otherwise(pl.col(name).cast(pl.String))
    .alias(name)
    for at, name in enumerate(TEXTS)
)
languages = pytest.mark.parametrize("language", RUNS)


@languages
def test_each_test_of_each_type_sends_rows_as_predict_does(language, tmp_path):
    cases = []
    for name in FRAME.columns:
        columns = columns_of(FRAME.select(name))
        for at, test in enumerate(splits_of(FRAME, columns[0])[:5]):
            tree = stump(columns, 0, test)
            frames = [FRAME, OTHERS, UNSEEN]
            cases.append(Case(tree, ["label", "leaf", "proba"][at % 3], frames[at % 3]))
            strict = tree._with(missing_unseen="refuse", unseen="refuse")
            cases.append(Case(strict, "label", UNSEEN))
    agree(language, cases, tmp_path)


@languages
def test_random_trees_answer_what_predict_does(language, tmp_path):
    cases = []
    for seed in (1, 2, 5):
        tree = random_tree(FRAME, depth=6, seed=seed)
        ways = [tree, routing(tree, seed)]
        ways += [way._with(missing_unseen="refuse", unseen="refuse") for way in ways]
        frames = [FRAME, OTHERS, UNSEEN]
        cases += [Case(way, out, UNSEEN) for way in ways for out in ("label", "leaf", "proba")]
        cases += [Case(way, "leaf", frame) for way in ways[:2] for frame in frames[:2]]
    agree(language, cases, tmp_path)


@languages
def test_numbers_costs_and_several_targets(language, tmp_path):
    rng = np.random.default_rng(1)
    X = pl.DataFrame(rng.integers(0, 6, (60, 2)), schema=["a", "b"])
    y = rng.normal(size=(60, 2))
    words = pl.DataFrame({"p": ["x", "y"] * 30, "q": [0, 1, 2] * 20})
    alike = pl.DataFrame({"a b": ["x", "y"] * 30, "a-b": ["u", "v", "w"] * 20})
    trees = [
        OptimalTreeRegressor(max_depth=3, leaf_penalty=0.0).fit(X, y[:, 0]).tree_,
        OptimalTreeRegressor(max_depth=2, leaf_penalty=0.0).fit(X, y).tree_,
        OptimalCostTree(max_depth=2, leaf_penalty=0.0).fit(X, rng.random((60, 3))).tree_,
    ]
    targets = [
        OptimalTreeClassifier(max_depth=2, leaf_penalty=0.0).fit(X, each).tree_
        for each in (words, alike)
    ]
    cases = [Case(tree, output, X) for tree in trees for output in ("label", "leaf")]
    cases += [Case(tree, output, X) for tree in targets for output in ("label", "leaf", "proba")]
    agree(language, cases, tmp_path)
    for tree in trees[1:]:
        with pytest.raises(ValueError, match="no class shares"):
            getattr(tree, f"to_{language}")("proba")


@languages
def test_labels_of_every_type_and_trees_without_a_split(language, tmp_path):
    ages = pl.DataFrame({"age": [30, 40, None]})
    labels = [[3, -5], [True, False], [0.1 + 0.2, -5e-324], ["so 'called'", "two\nlines"]]
    labels += [["", "漢"], [2**53 + 1, -(2**63)]]
    cases = [Case(stump([AGE], 0, 38.5, each), "label", ages) for each in labels]
    leaf = Tree(_core.Tree([(None, 1, 3, [1.0, 2.0], 0.3)]), [AGE], ["no", "yes"])
    cases += [Case(leaf, output, ages) for output in ("label", "leaf", "proba")]
    numbers = [
        ((0, 38.5, 1, 2), 0, 5, [0.5], 0.4),
        (None, 0, 3, [np.inf], 0.0),
        (None, 0, 2, [-1e300], 0.0),
    ]
    cases.append(Case(Tree(_core.Tree(numbers), [AGE], ["y"], "regression"), "label", ages))
    agree(language, cases, tmp_path)


@languages
def test_infinite_large_and_32_bit_numbers(language, tmp_path):
    cases = []
    low, high = -np.finfo(np.float64).max, np.finfo(np.float64).max
    floats = Column("x", "number", "Float64", missing=True)
    for threshold in (-np.inf, low, -5e-324, 0.0, 0.1, float(np.float32(0.1)), high, np.inf):
        with np.errstate(over="ignore"):
            near = [float(np.nextafter(threshold, side)) for side in (-np.inf, np.inf)]
            single = np.array([threshold, *near], dtype=np.float32)
        frame = pl.DataFrame({"x": [threshold, *near, -np.inf, np.inf, np.nan, None]})
        cases.append(Case(stump([floats], 0, threshold), "label", frame))
        single = pl.DataFrame({"x": single})
        cases.append(Case(stump([Column("x", "number", "Float32")], 0, threshold), "label", single))
    for dtype, least, most in ((pl.Int64, -(2**63), 2**63 - 1), (pl.UInt64, 0, 2**64 - 1)):
        whole = [least, least + 1, 2**53, 2**53 + 1, most - 1, most, None]
        frame = pl.DataFrame({"x": pl.Series(whole, dtype=dtype)})
        column = Column("x", "number", str(dtype), missing=True)
        for test in (-(2**62), 2**53, 2**62, 2.0**53, 1e300, -1e300, np.inf, 2**63 - 1, -(2**63)):
            cases.append(Case(stump([column], 0, test), "label", frame))
    agree(language, cases, tmp_path)


HOSTILE = [
    "*/ int evil; /*",
    "// evil",
    "a\\",
    "??/",
    "??)",
    "\"; abort(); \"",
    "'",
    "`${evil}`",
    "</script><!--",
    "line\nbreak",
    "\r\u2028\x85",
    "\x1b[2J\x7f",
    "\u202eright to left",
    "größe",
    "Größe",
    "漢",
    "",
    " ",
    "int",
    "self",
    "this",
    "row",
    "answer",
    "linux",
    "NULL",
    "__proto__",
    "constructor",
    "2nd",
    "a b",
    "a-b",
    "a_b_2",
    "#include <evil.h>",
    "{x}",
    "%s",
    "```",
    "a" * 4000,
]


@languages
def test_no_name_label_or_value_breaks_out(language, tmp_path):
    """All names at once, so that none may be taken for another one."""
    columns = [Column(name, "category", "String", (name, "other")) for name in HOSTILE]
    parts = []
    for at in range(len(HOSTILE)):
        split = (at, HOSTILE[at], 2 * at + 1, 2 * at + 2)
        parts += [(split, 0, 100 - at, [1.0] * len(HOSTILE), 0.1), (None, at, 1, [1.0] * 36, 0.1)]
    parts.append((None, 0, 1, [1.0] * len(HOSTILE), 0.1))
    tree = Tree(_core.Tree(parts), columns, np.array(HOSTILE, dtype=object), unseen="refuse")
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {name: np.where(rng.random(400) < 0.03, "other", name).tolist() for name in HOSTILE}
    )
    frame = with_gaps(frame, 1).vstack(frame)
    cases = [Case(tree, output, frame) for output in ("label", "leaf", "proba")]
    targets = Tree(
        _core.Tree([(None, 0, 1, [1.0] * 72, 0.1)]),
        columns,
        np.array(HOSTILE, dtype=object),
        "targets",
        [np.array([name, "other"], dtype=object) for name in HOSTILE],
    )
    cases += [Case(targets, output, frame[:2]) for output in ("label", "proba")]
    agree(language, cases, tmp_path)
    for case in cases:
        code = getattr(tree, f"to_{language}")(case.output)
        assert code.isascii() and all(c.isprintable() or c == "\n" for c in code)


def test_c_and_rust_say_which_member_is_which_column():
    for code, pattern in (
        (gallery().to_c(), r"^ \* (\w+): (\"(?:[^\"\\]|\\.)*\"), "),
        (gallery().to_rust(), r"^    // (\".*\"), .*\n    pub (\w+): "),
    ):
        pairs = [tuple(sorted(pair)) for pair in re.findall(pattern, code, re.MULTILINE)]
        told = {own: json.loads(name) for name, own in pairs}
        assert list(told.values()) == [column.name for column in gallery().columns]
        assert list(told) == [
            "income",
            "body_mass_index",
            "id",
            "smoker",
            "so_called_class",
            "grosse",
            "born",
            "seen",
        ]


def test_golden_functions():
    tree = gallery()._with(missing_unseen="refuse", unseen="refuse")
    check_golden("gallery.c", tree.to_c())
    check_golden("gallery.mjs", tree.to_javascript("proba", "score"))
    check_golden("gallery.rs", gallery().to_rust("leaf"))
    check_golden("gallery.py.txt", gallery().to_python())


def test_javascript_reads_what_people_have(tmp_path):
    node = needs("node")

    def evaluated(tree, *rows):
        calls = [f"(() => {{ try {{ return f({row}) }} catch (e) {{ return e.message }} }})()"
                 for row in rows]
        script = tmp_path / "script.cjs"
        code = tree.to_javascript(name="f", module=False)
        script.write_text(f"{code}\nconsole.log(JSON.stringify([{', '.join(calls)}]))\n")
        return json.loads(run([node, str(script)]))

    found = evaluated(
        patients(),
        '{age: 50, sex: "female"}',
        '{age: 50n, sex: "male", other: 1}',
        "{age: undefined, sex: null}",
        "{age: NaN, sex: undefined}",
        "{age: 50}",
        '{age: "50", sex: "male"}',
        "{age: 50, sex: 3}",
        "JSON.parse('{\"age\": 50, \"sex\": \"female\"}')",
    )
    assert found == [
        "yes",
        "no",
        "no",
        "no",
        'the row has no column "sex"',
        'column "age" cannot be a string',
        'column "sex" cannot be a number',
        "yes",
    ]
    proto = stump([Column("constructor", "number", "Float64")], 0, 1.0)
    assert evaluated(proto, "{}", "{constructor: 3}") == [
        'the row has no column "constructor"', "yes"
    ]
    day = stump([Column("day", "date", "Date")], 0, 18691)
    moments = ["2021-03-05", "2021-03-05T00:00:00.001Z", "2021-03-06", "nonsense"]
    dates = [f'{{day: new Date("{moment}")}}' for moment in moments]
    assert evaluated(day, *dates, "{day: 18692n}") == ["no", "yes", "yes", "no", "yes"]
    for unit, per_ms in (("ms", 1), ("us", 10**3), ("ns", 10**6)):
        column = Column("t", "date", f"Datetime(time_unit='{unit}', time_zone='Asia/Tokyo')")
        tree = stump([column], 0, 1614945600250 * per_ms)
        times = ["12:00:00.250Z", "12:00:00.251Z", "21:00:00.250+09:00"]
        rows = [f'{{t: new Date("2021-03-05T{time}")}}' for time in times]
        whole = [f"{{t: {1614945600250 * per_ms + more}n}}" for more in (0, 1)]
        assert evaluated(tree, *rows, *whole) == ["no", "yes", "no", "no", "yes"]


@languages
def test_deep_trees(language, tmp_path):
    columns = [Column(f"x{at}", "number", "Float64") for at in range(125)]

    def chain(depth):
        parts = [
            part
            for at in range(depth)
            for part in (
                ((at, 0.0, 2 * at + 1, 2 * at + 2), 0, 9, [1.0, 0.0], 0.0),
                (None, 0, 3, [1.0, 0.0], 0.0),
            )
        ]
        return Tree(_core.Tree([*parts, (None, 1, 3, [0.0, 1.0], 0.0)]), columns, ["no", "yes"])

    values = {column.name: [1.0, 1.0, float(at < 119)] for at, column in enumerate(columns)}
    agree(language, [Case(chain(120), "leaf", pl.DataFrame(values))], tmp_path)
    with pytest.raises(ValueError, match="no code of more than 120 blocks .* tree is 121 deep"):
        getattr(chain(121), f"to_{language}")()


@languages
def test_errors_say_what_is_wrong(language):
    def write(tree, *given):
        return getattr(tree, f"to_{language}")(*given)

    with pytest.raises(ValueError, match="output='labels' must be one of label, leaf, proba"):
        write(patients(), "labels")
    for name in ("a b", "", "if", "größe", "2nd", "return", "x;y"):
        with pytest.raises(ValueError, match="cannot be the name of a function in"):
            write(patients(), "label", name)
    with pytest.raises(ValueError, match="labels of type bytes cannot be written in"):
        write(stump([AGE], 0, 38.5, [b"a", b"b"]))
    large = stump([AGE], 0, 38.5, np.array([1, 2**64 - 1], dtype=np.uint64))
    mixed = stump([AGE], 0, 38.5, np.array([1, "b"], dtype=object))
    if language == "javascript":
        assert f"return {2**64 - 1}n;" in write(large) and 'return "b";' in write(mixed)
        return
    with pytest.raises(ValueError, match="beyond 64-bit integers"):
        write(large)
    with pytest.raises(ValueError, match="the labels are of several types"):
        write(mixed)
    with pytest.raises(ValueError, match="cannot be written in UTF-8"):
        write(stump([AGE], 0, 38.5, np.array(["a", "\ud800"], dtype=object)))


def test_c_has_no_zero_characters_nor_long_texts():
    with pytest.raises(ValueError, match="ends a text in C"):
        stump([AGE], 0, 38.5, np.array(["a", "b\0c"], dtype=object)).to_c()
    with pytest.raises(ValueError, match="a text of 5,000 bytes, which begins with 'aaaa"):
        stump([AGE], 0, 38.5, np.array(["a" * 5000, "b"], dtype=object)).to_c()


@pytest.mark.parametrize("standard", ["c99", "c11", "gnu17"])
def test_c_compiles_without_a_warning(standard, tmp_path):
    flags = [standard if flag == "c99" else flag for flag in C_FLAGS]
    flags = [flag.replace("c99", standard) for flag in flags]
    more = ["-Wmissing-prototypes", "-Wshadow", "-Wconversion", "-Wcast-qual", "-Wundef"]
    codes = [gallery().to_c("proba", "a"), gallery()._with(unseen="refuse").to_c("leaf", "b")]
    asks = replace(AGE, missing=True)
    codes.append(stump([asks], 0, None).to_c("label", "c"))
    (tmp_path / "a.c").write_text("\n".join(codes))
    run([needs("gcc"), *flags, *more, "-O2", "-c", "a.c"], cwd=tmp_path)
