"""`Tree.to_json` and back: exact, and a `ValueError` for every document that is no tree."""

import copy
import json
import random
import re
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from trees import check_golden, every_type, gallery, patients, random_tree

from certree import OptimalTreeClassifier, _core
from certree.export import to_json
from certree.answers import label_array
from certree.schema import Column
from certree.tree import Tree


@pytest.mark.parametrize(("name", "tree"), [("patients", patients()), ("gallery", gallery())])
def test_json_is_as_in_the_golden_file(name, tree):
    check_golden(f"{name}.json", tree.to_json())


@pytest.mark.parametrize("seed", range(20))
def test_a_tree_comes_back_exactly(seed):
    tree = random_tree(every_type(seed=seed), depth=5, seed=seed)
    for text in (tree.to_json(), tree.to_json(indent=None), tree.to_json().encode()):
        again = Tree.from_json(text)
        assert again == tree and again._core.parts() == tree._core.parts()
    assert "\n" not in tree.to_json(indent=None)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "später"]),
        np.array(["no", "yes"], dtype=object),
        np.array([1, True + 1], dtype=object),
        np.array([2**62 + 1, 2**62 + 2]),
        np.array([2**64 - 1, 0], dtype=np.uint64),
        np.array([-1, 1], dtype=np.int8),
        np.array([0.1, 1e300]),
        np.array([0.1, 0.2], dtype=np.float32),
        np.array([False, True]),
    ],
)
def test_labels_keep_their_values_and_type(labels):
    again = Tree.from_json(patients(labels).to_json()).labels
    assert again.tolist() == labels.tolist()
    assert again.dtype.kind == labels.dtype.kind
    assert again.dtype == labels.dtype or labels.dtype.kind == "U"


def test_labels_that_json_does_not_have_are_told():
    for labels in (
        np.array([1j, 2]),
        np.array(["2021-03-05", "2021-03-06"], dtype="datetime64[D]"),
    ):
        with pytest.raises(ValueError, match="cannot be written as JSON"):
            patients(labels).to_json()


def test_integers_beyond_two_to_53_are_written_as_digits():
    leaf = (None, 0, 1, [1.0], 0.0)
    tree = Tree(
        _core.Tree([((0, 2**53 + 1, 1, 2), 0, 2, [2.0], 0.0), leaf, leaf]),
        [Column("id", "number", "Int64")],
        ["x"],
    )
    split = json.loads(tree.to_json())["nodes"][0]["split"]
    assert split["at_most"] == "9007199254740993"
    assert Tree.from_json(tree.to_json()).nodes[0].split.test == 2**53 + 1


def test_members_that_are_not_known_are_ignored():
    document = json.loads(patients().to_json())
    document["certificate"] = {"status": "optimal"}
    document["nodes"][0]["comment"] = "the root"
    assert Tree.from_json(json.dumps(document)) == patients()


def chain(depth: int) -> Tree:
    """Every test has a leaf on its left and the next test on its right."""
    parts = []
    for k in range(depth):
        parts.append(((0, float(k), 2 * k + 1, 2 * k + 2), 0, 1, [1.0], 0.0))
        parts.append((None, 0, 1, [1.0], 0.0))
    parts.append((None, 0, 1, [1.0], 0.0))
    return Tree(_core.Tree(parts), [Column("x", "number", "Float64")], ["only"])


def test_the_deepest_tree_needs_no_stack_and_a_deeper_one_is_refused():
    deepest = chain(to_json.MOST_DEPTH)
    text = deepest.to_json()
    assert Tree.from_json(text).depth == to_json.MOST_DEPTH
    assert deepest.rules()[-1].conditions == ("x > 999",)
    with pytest.raises(ValueError, match="nodes is too deep: .* a depth of at most 1,000"):
        chain(to_json.MOST_DEPTH + 1).to_json()
    # As a reader meets it: the last leaf is a test.
    document = json.loads(text)
    n = len(document["nodes"])
    document["nodes"][-1]["split"] = {"column": 0, "at_most": 0.0, "left": n, "right": n + 1}
    document["nodes"] += [{"label": 0, "rows": 1, "value": [1.0], "loss": 0.0}] * 2
    with pytest.raises(ValueError, match="nodes is too deep"):
        Tree.from_json(json.dumps(document))


def test_paths_and_indicators_of_a_chain_take_linear_space():
    tracemalloc.start()
    tree = chain(20_000)
    X = np.arange(0.0, 20_000.0, 1_000.0)[:, None]
    passed = tree.decision_path(X)
    assert passed.sum(axis=1).ravel().tolist()[0] == [k + 2 for k in range(0, 20_000, 1_000)]
    assert tree.path(39_999)[:3] == [0, 2, 4] and len(tree.path(39_999)) == 20_001
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6


@pytest.mark.parametrize(
    "text, message",
    [
        (b'{"format": "' + b"x" * to_json.MOST_BYTES + b'"}', "too large: it has more than 64 MiB"),
        (
            b"[" + b"1," * to_json.MOST_VALUES + b"1]",
            "too large: it has more than 4,194,304 values",
        ),
        (b"[" * 100_000 + b"]" * 100_000, "not a JSON document"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "not a JSON document"),
    ],
    ids=["bytes", "values", "nested arrays", "nested objects"],
)
@pytest.mark.alone
def test_documents_too_large_to_read_are_refused_at_once(text, message):
    began = time.monotonic()
    with pytest.raises(ValueError, match=f"not a JSON document: .*|{message}") as error:
        Tree.from_json(text)
    assert message in str(error.value)
    assert time.monotonic() - began < 10


def test_too_many_nodes_are_refused_before_they_are_read():
    document = json.loads(chain(1).to_json())
    document["nodes"] = [{}] * (to_json.MOST_NODES + 1)
    with pytest.raises(ValueError, match="nodes is too large: .* at most 100,000 nodes"):
        Tree.from_json(json.dumps(document))


def test_labels_come_back_whatever_they_end_with():
    for labels in (["a\0", "a"], ["\0", ""], [b"a\0", b"a"], [b"\xff", b"no"], ["x", "y\0z"]):
        parts = [((0, 0.5, 1, 2), 0, 2, [1.0, 1.0], 1.0)]
        parts += [(None, k, 1, [1.0 - k, float(k)], 0.0) for k in range(2)]
        tree = Tree(_core.Tree(parts), [Column("x", "number", "Float64")], label_array(labels))
        back = Tree.from_json(tree.to_json())
        assert back.labels.tolist() == labels and back == tree
        assert back.predict([[0.0], [1.0]]).tolist() == labels


def test_a_test_without_columns_and_huge_values_are_named_in_a_line():
    text = changed(chain(1), ["columns"], [])
    with pytest.raises(ValueError, match=r"nodes\[0\].split is a test, but there are no columns"):
        Tree.from_json(text)
    for path, value in ((["nodes", 1, "rows"], -(10**300)), (["labels", "dtype"], "x" * 9_999)):
        with pytest.raises(ValueError) as error:
            Tree.from_json(changed(chain(1), path, value))
        assert len(str(error.value)) < 400


def changed(tree: Tree, path: list, value) -> str:
    """The document of a tree, with one place changed (or removed, for the value `...`)."""
    document = json.loads(tree.to_json())
    at = document
    for step in path[:-1]:
        at = at[step]
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return json.dumps(document)


ROOT = ["nodes", 0, "split"]
SEX_SPLIT = ["nodes", 2, "split"]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "other", 'format must be "certree.tree"'),
        (["format"], ..., 'format must be "certree.tree"'),
        (["version"], 4, "version is 4, but this certree reads versions 1 to 3 only"),
        (["version"], True, "version must be an integer"),
        (["missing_unseen"], ..., "missing_unseen must be one of larger, refuse"),
        (["columns", 0, "missing"], 1, "columns[0].missing must be true or false"),
        ([*ROOT, "missing"], "up", "nodes[0].split.missing must be one of left, right"),
        ([*ROOT, "missing"], "left", "nodes[0].split.missing is told, but the column has no"),
        (["version"], ..., "the document has no 'version'"),
        (["task"], "guessing", "task must be one of classification, costs, rewards"),
        (["columns"], {}, "columns must be an array"),
        (["columns", 0, "kind"], "real", "columns[0].kind is 'real'"),
        (["columns", 1, "name"], "age", "columns[1].name is 'age', as an earlier column's is"),
        (["columns", 1, "values"], ["male", 3], "columns[1].values[1] must be a string"),
        (["labels", "values"], [], "labels.values must hold at least one label"),
        (["labels", "values"], ["no", "no"], "labels.values holds a label twice"),
        (["labels", "values"], ["no", 1], "labels.values[1] is no value of type str"),
        (["labels", "dtype"], "datetime64[D]", "labels.dtype is 'datetime64[D]'"),
        (["nodes"], [], "nodes must hold at least one node"),
        (["nodes", 1, "label"], 2, "nodes[1].label is 2, but must be from 0 to 1"),
        (["nodes", 1, "label"], False, "nodes[1].label must be an integer"),
        (["nodes", 1, "rows"], -1, "nodes[1].rows is -1"),
        (["nodes", 1, "rows"], 2**64, "nodes[1].rows is 18446744073709551616"),
        (["nodes", 1, "value"], [1.0], "nodes[1].value must hold 2 numbers, one for each label"),
        (["nodes", 1, "value"], [1.0, "2"], "nodes[1].value[1] must be a finite number"),
        (["nodes", 1, "value"], [1.0, -2.0], "nodes[1].value must hold weights"),
        (["nodes", 1, "value"], [1e308, 1e308], "nodes[1].value must hold weights"),
        (["nodes", 1, "loss"], ..., "nodes[1] has no 'loss'"),
        ([*ROOT, "column"], 3, "nodes[0].split.column is 3, but must be from 0 to 2"),
        ([*ROOT, "left"], 0, "nodes[1] is not where its parent says"),
        ([*ROOT, "right"], 1, "nodes[2] is not where its parent says"),
        ([*ROOT, "right"], 9, "nodes[2] is not where its parent says"),
        ([*ROOT, "left"], -1, "nodes[0].split.left is -1"),
        (
            [*ROOT, "is"],
            "x",
            "nodes[0].split on a number column must have 'at_most' and no other test",
        ),
        ([*ROOT, "at_most"], "many", "nodes[0].split.at_most must be a finite number"),
        ([*ROOT, "at_most"], 2**63, "nodes[0].split.at_most is 9223372036854775808"),
        ([*ROOT, "at_most"], str(2**63), "nodes[0].split.at_most is 9223372036854775808"),
        (
            [*SEX_SPLIT, "is"],
            "other",
            "nodes[2].split.is is 'other', which is no value of column 'sex'",
        ),
        ([*SEX_SPLIT, "column"], 2, "nodes[2].split on a boolean column must have 'is_true'"),
        (SEX_SPLIT, None, "nodes[2].split must be an object"),
        (SEX_SPLIT, ..., "nodes[3] is not where its parent says"),
        (["nodes", 4], ..., "nodes has 4 nodes, but node 4 is a child"),
    ],
)
def test_what_is_wrong_is_told(path, value, message):
    with pytest.raises(ValueError) as caught:
        Tree.from_json(changed(patients(), path, value))
    assert str(caught.value).startswith(f"not a tree that certree can read: {message}")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["columns", 6, "dtype"], "Time", "columns[6].dtype is 'Time', which is no type of dates"),
        (["nodes", 18, "split", "at_most"], 0.5, "nodes[18].split.at_most must be an integer"),
        (["nodes", 18, "split", "at_most"], 2**31, "nodes[18].split.at_most is 2147483648"),
    ],
)
def test_what_is_wrong_with_dates_is_told(path, value, message):
    with pytest.raises(ValueError) as caught:
        Tree.from_json(changed(gallery(), path, value))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "3", "{}", '"tree"', "{", "\0", "[" * 100_000, b"\xff\xfe\xfa", None, 3.5]
    + [
        patients().to_json().replace("38.5", number)
        for number in ("NaN", "-Infinity", "1e999", "9" * 5000)
    ],
)
def test_no_text_is_more_than_a_value_error(text):
    with pytest.raises(ValueError):
        Tree.from_json(text)


JUNK = [
    None,
    True,
    0,
    1,
    -1,
    2**53,
    2**64,
    0.5,
    1e308,
    "",
    "age",
    "\ud800",
    "1" * 30,
    [],
    {},
    [0],
    [[]],
]


def places(value, path=()):
    yield path
    if isinstance(value, dict):
        value = value.items()
    elif isinstance(value, list):
        value = enumerate(value)
    else:
        return
    for step, item in value:
        yield from places(item, (*path, step))


def mutate(document, rng: random.Random):
    """Replace, remove, double or exchange a few places."""
    for _ in range(rng.randrange(1, 4)):
        everywhere = [path for path in places(document) if path]
        if not everywhere:
            return document
        *path, last = rng.choice(everywhere)
        at = document
        for step in path:
            at = at[step]
        match rng.randrange(4):
            case 0:
                at[last] = copy.deepcopy(rng.choice(JUNK))
            case 1:
                del at[last]
            case 2 if isinstance(at, list):
                at.insert(last, copy.deepcopy(at[last]))
            case _:
                other = rng.choice(list(at)) if isinstance(at, dict) else rng.randrange(len(at))
                at[last], at[other] = at[other], at[last]
    return document


@pytest.mark.parametrize("seed", range(4))
def test_mutated_documents_are_trees_or_value_errors(seed):
    rng = random.Random(seed)
    document = json.loads(random_tree(every_type(50), depth=3, seed=seed).to_json())
    read = 0
    for _ in range(500):
        text = json.dumps(mutate(copy.deepcopy(document), rng))
        try:
            tree = Tree.from_json(text)
        except ValueError:
            continue
        # What is accepted can be used: read, printed, written and read again.
        read += 1
        assert Tree.from_json(tree.to_json()) == tree
        assert tree.rules() and tree.to_text() and tree.to_dot() and repr(tree)
        tree.to_polars("leaf")
    assert 0 < read < 500


@pytest.mark.parametrize("seed", range(4))
def test_mutated_text_is_a_tree_or_a_value_error(seed):
    rng = random.Random(seed)
    text = patients().to_json()
    for _ in range(500):
        at = rng.randrange(len(text))
        new = rng.choice(["", "9", "-", '"', "{", "]", ",", "e", "\\", "\0", "é"])
        try:
            tree = Tree.from_json(text[:at] + new + text[at + rng.randrange(3) :])
        except ValueError:
            continue
        assert tree.n_leaves == 3


def test_the_example_in_the_documentation_is_a_tree():
    page = (Path(__file__).parents[2] / "docs" / "tree-json.md").read_text(encoding="utf-8")
    example = re.search(r"```json\n(.*?)```", page, re.DOTALL)[1]
    assert Tree.from_json(example).to_json() == example


def test_labels_of_several_types_come_back():
    labels = np.array([10**300, "9007199254740993", 2**53 + 1, "c", True], dtype=object)
    numbers = np.repeat(np.arange(len(labels)), 4)
    model = OptimalTreeClassifier(max_depth=3, leaf_penalty=0).fit(numbers[:, None], numbers)
    core, columns = model.tree_._core, model.tree_.columns
    tree = Tree(core, columns, labels)
    again = Tree.from_json(tree.to_json())
    assert again == tree
    assert [type(label) for label in again.labels] == [type(label) for label in labels]
