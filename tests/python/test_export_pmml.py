"""`Tree.to_pmml`, by an evaluator that reads nothing but the document: what PMML 4.4 says of tree
models, as far as the documents use it."""

import math
import operator
import re
import xml.etree.ElementTree as ET
from datetime import date, datetime, time

import numpy as np
import polars as pl
import pytest
from running import Case, expected
from test_export_functions import FRAME, HOSTILE, OTHERS, UNSEEN
from test_export_sklearn import routing, with_gaps
from trees import AGE, check_golden, columns_of, gallery, patients, random_tree, splits_of, stump

from certree import OptimalCostTree, OptimalTreeClassifier, OptimalTreeRegressor, _core
from certree.schema import Column, Sets
from certree.tree import Tree

DURATIONS = ["wait_ms", "wait_us", "wait_ns"]
SPACE = "{http://www.dmg.org/PMML-4_4}"


def moment(text):
    """As an integer of nanoseconds, because Python's moments have none."""
    whole, _, part = text.partition(".")
    since = datetime.fromisoformat(whole) - datetime(1970, 1, 1)
    return (since.days * 86400 + since.seconds) * 10**9 + int(part.ljust(9, "0") or 0)


#: By data type, how a value is read from text.
READ = {
    "double": float,
    "integer": int,
    "string": str,
    "boolean": {"true": True, "false": False}.__getitem__,
    "date": date.fromisoformat,
    "dateTime": moment,
    "time": time.fromisoformat,
}
COMPARE = {
    "equal": operator.eq,
    "notEqual": operator.ne,
    "lessThan": operator.lt,
    "lessOrEqual": operator.le,
    "greaterThan": operator.gt,
    "greaterOrEqual": operator.ge,
}


def tag(element):
    assert element.tag.startswith(SPACE)
    return element.tag.removeprefix(SPACE)


class Evaluator:
    def __init__(self, text):
        root = ET.fromstring(text)
        assert tag(root) == "PMML" and root.get("version") == "4.4"
        assert [tag(child) for child in root] == ["Header", "DataDictionary", "TreeModel"]
        dictionary = root[1]
        self.types = {field.get("name"): field.get("dataType") for field in dictionary}
        assert int(dictionary.get("numberOfFields")) == len(self.types) == len(dictionary)
        self.values = {
            field.get("name"): [value.get("value") for value in field] for field in dictionary
        }
        self.model = root[2]
        assert [tag(child) for child in self.model] == ["MiningSchema", "Output", "Node"]
        assert self.model.get("missingValueStrategy") == "defaultChild"
        schema = self.model[0]
        self.active = {f.get("name"): f for f in schema if f.get("usageType") == "active"}
        (self.target,) = (f.get("name") for f in schema if f.get("usageType") == "target")
        assert {*self.active, self.target} == set(self.types)
        outputs = [field.get("name") for field in self.model[1]]
        assert len({*outputs, *self.types}) == len(outputs) + len(self.types)

    def evaluate(self, row):
        """The outputs by name; None of a row that is invalid."""
        for name, field in self.active.items():
            missing = row[name] is None
            strange = self.types[name] == "string" and row[name] not in self.values[name]
            if missing and field.get("missingValueTreatment") == "returnInvalid":
                return None
            if not missing and strange and field.get("invalidValueTreatment") == "returnInvalid":
                return None
        node = self.model[2]
        assert self.holds(node[0], row) is True
        while children := [child for child in node if tag(child) == "Node"]:
            answers = [self.holds(child[0], row) for child in children]
            if None in answers:
                by_id = {child.get("id"): child for child in children}
                node = by_id[node.get("defaultChild")]
            else:
                # Each value that is there goes one way.
                assert sorted(answers) == [False, True]
                node = children[answers.index(True)]
        return self.outputs(node)

    def holds(self, predicate, row):
        """True, False, or None if it is unknown."""
        kind = tag(predicate)
        if kind == "True":
            return True
        if kind == "CompoundPredicate":
            answers = [self.holds(each, row) for each in predicate]
            if None in answers:
                return None
            return {"or": any, "and": all}[predicate.get("booleanOperator")](answers)
        value = row[predicate.get("field")]
        if kind == "SimpleSetPredicate":
            if value is None:
                return None
            (array,) = predicate
            listed = re.findall(r'"([^"\\]*)"(?: |$)', array.text)
            assert len(listed) == int(array.get("n")) and array.get("type") == "string"
            inside = predicate.get("booleanOperator")
            return (value in listed) == {"isIn": True, "isNotIn": False}[inside]
        assert kind == "SimplePredicate"
        asked = predicate.get("operator")
        if asked in ("isMissing", "isNotMissing"):
            return (value is None) == (asked == "isMissing")
        if value is None:
            return None
        read = READ[self.types[predicate.get("field")]]
        return COMPARE[asked](value, read(predicate.get("value")))

    def outputs(self, node):
        kept = {each.get("value"): each for each in node if tag(each) == "ScoreDistribution"}
        found = {}
        for field in self.model[1]:
            asked = field.get("feature")
            if asked == "predictedValue":
                found["label"] = READ[self.types[self.target]](node.get("score"))
            elif asked == "entityId":
                found["leaf"] = int(node.get("id"))
            else:
                assert asked == "probability"
                share = float(kept[field.get("value")].get("probability"))
                found.setdefault("proba", []).append(share)
        return found


def rows_of(tree, frame):
    """The tested columns as an evaluator gets them, who reads texts of moments in UTC."""
    found = {}
    for name in {node.split.column.name: None for node in tree.nodes if node.split}:
        series = frame[name]
        if isinstance(series.dtype, pl.Datetime):
            factor = {"ms": 10**6, "us": 10**3, "ns": 1}[series.dtype.time_unit]
            values = [v if v is None else v * factor for v in series.to_physical().to_list()]
        elif series.dtype in (pl.Categorical, pl.String) or isinstance(series.dtype, pl.Enum):
            values = series.cast(pl.String).to_list()
        else:
            values = [None if v != v else v for v in series.to_list()]
        found[name] = values
    columns = list(found.values())
    return [dict(zip(found, row)) for row in zip(*columns)] if columns else [{}] * frame.height


def agree(tree, frame, outputs=("label", "leaf", "proba")):
    evaluator = Evaluator(tree.to_pmml())
    answers = [evaluator.evaluate(row) for row in rows_of(tree, frame)]
    for output in outputs:
        found = [None if answer is None else answer[output] for answer in answers]
        assert repr(found) == repr(expected(Case(tree, output, frame)))


@pytest.mark.parametrize("name", [name for name in FRAME.columns if name not in DURATIONS])
def test_each_test_of_each_type_sends_rows_as_predict_does(name):
    columns = columns_of(FRAME.select(name))
    for test in splits_of(FRAME, columns[0])[:8]:
        tree = stump(columns, 0, test)
        for way in (tree, tree._with(missing_unseen="refuse", unseen="refuse")):
            agree(way, UNSEEN, ["label"])
        agree(tree, FRAME, ["leaf"])


@pytest.mark.parametrize("seed", [1, 2, 4, 5, 6])
def test_random_trees_answer_what_predict_does(seed):
    tree = random_tree(FRAME.drop(DURATIONS), depth=6, seed=seed)
    for way in (tree, routing(tree, seed)):
        agree(way, UNSEEN)
        agree(way, OTHERS)
        agree(way._with(missing_unseen="refuse", unseen="refuse"), UNSEEN)


def test_pmml_has_no_durations():
    columns = columns_of(FRAME.select("wait_us"))
    with pytest.raises(ValueError, match="'wait_us' is a Duration.*PMML has no type of durations"):
        stump(columns, 0, 10**6).to_pmml()


def test_numbers_costs_and_labels_of_every_type():
    rng = np.random.default_rng(1)
    X = pl.DataFrame(rng.integers(0, 6, (60, 2)), schema=["a", "b"])
    y = rng.normal(size=(60, 2))
    model = OptimalTreeRegressor(max_depth=3, leaf_penalty=0.0)
    agree(model.fit(X, y[:, 0]).tree_, X, ["label", "leaf"])
    costs = OptimalCostTree(max_depth=2, leaf_penalty=0.0).fit(X, rng.random((60, 3))).tree_
    agree(costs, X, ["label", "leaf"])
    words = pl.DataFrame({"p": ["x", "y"] * 30, "q": [0, 1, 2] * 20})
    targets = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.0).fit(X, words).tree_
    for several in (model.fit(X, y).tree_, targets):
        with pytest.raises(ValueError, match="but a tree of PMML has one target"):
            several.to_pmml()
    ages = pl.DataFrame({"age": [30, 40, None]})
    for labels in ([3, -5], [True, False], [0.1 + 0.2, -5e-324], ["so 'called'", "two\nlines"]):
        agree(stump([AGE], 0, 38.5, labels), ages)
    agree(Tree(_core.Tree([(None, 1, 3, [1.0, 2.0], 0.3)]), [AGE], ["no", "yes"]), ages)
    # What a leaf answers need not be the class of the largest share.
    parts = [((0, 38.5, 1, 2), 0, 5, [3.0, 2.0], 0.4), (None, 1, 3, [3.0, 0.0], 0.0)]
    agree(Tree(_core.Tree([*parts, (None, 0, 2, [0.0, 0.0], 0.0)]), [AGE], ["no", "yes"]), ages)


def test_large_and_32_bit_numbers():
    low, high = -np.finfo(np.float64).max, np.finfo(np.float64).max
    for threshold in (low, -5e-324, 0.0, 0.1, float(np.float32(0.1)), high):
        with np.errstate(over="ignore"):
            near = [float(np.nextafter(threshold, side)) for side in (-np.inf, np.inf)]
            single = np.array([threshold, *near], dtype=np.float32)
        frame = pl.DataFrame({"x": [threshold, *near, -np.inf, np.inf, np.nan, None]})
        agree(stump([Column("x", "number", "Float64", missing=True)], 0, threshold), frame)
        single = pl.DataFrame({"x": single})
        agree(stump([Column("x", "number", "Float32")], 0, threshold), single)
    for dtype, least, most in ((pl.Int64, -(2**63), 2**63 - 1), (pl.UInt64, 0, 2**64 - 1)):
        whole = [least, least + 1, 2**53, 2**53 + 1, most - 1, most, None]
        frame = pl.DataFrame({"x": pl.Series(whole, dtype=dtype)})
        column = Column("x", "number", str(dtype), missing=True)
        for test in (-(2**62), 2**53, 2**62, 1e300, -1e300, 2**63 - 1, -(2**63)):
            agree(stump([column], 0, test), frame)


XML = [name for name in HOSTILE if name and "\x1b" not in name]
XML += ['"/><evil a="', "]]>", "<!--", "&lt;", "\t\r\n", "'\"", "a" * 5000]


def test_no_name_label_or_value_breaks_out():
    columns = [Column(name, "category", "String", (name, "other")) for name in XML]
    parts = []
    for at in range(len(XML)):
        split = (at, XML[at], 2 * at + 1, 2 * at + 2)
        parts += [(split, 0, 100 - at, [1.0] * len(XML), 0.1)]
        parts += [(None, at, 1, [1.0] * len(XML), 0.1)]
    parts.append((None, 0, 1, [1.0] * len(XML), 0.1))
    tree = Tree(_core.Tree(parts), columns, np.array(XML, dtype=object), unseen="refuse")
    rng = np.random.default_rng(0)
    drawn = {name: np.where(rng.random(300) < 0.03, "other", name).tolist() for name in XML}
    frame = pl.DataFrame(drawn)
    agree(tree, with_gaps(frame, 1).vstack(frame))
    text = tree.to_pmml()
    assert text.isascii() and all(c.isprintable() or c == "\n" for c in text)
    values = ("plain", "two words", *XML)
    column = Column("site", "category", "String", values)
    rows = pl.DataFrame({"site": [*values, "unseen", None]})
    for at in range(1, len(values) - 1):
        agree(stump([column], 0, Sets(values[:at], values[at:-1])), rows)


def test_what_pmml_cannot_say_is_refused():
    def refused(tree, match, *given):
        with pytest.raises(ValueError, match=match):
            tree.to_pmml(*given)

    refused(stump([AGE], 0, 38.5, [b"a", b"b"]), "labels of type bytes cannot be written in PMML")
    mixed = stump([AGE], 0, 38.5, np.array([1, "b"], dtype=object))
    refused(mixed, "the labels are of several types")
    for text in ("\x1b[2J", "nul\0", "\ud800", "\uffff"):
        labels = np.array([text, "b"], dtype=object)
        refused(stump([AGE], 0, 38.5, labels), "holds a character that XML cannot")
    floats = Column("x", "number", "Float64")
    refused(stump([floats], 0, math.inf), "the number inf cannot be written in PMML")
    days = Column("day", "date", "Date")
    refused(stump([days], 0, 10**7), "column 'day' is compared with a moment that has no four")
    for name in ("label", "leaf", "predicted_label", "proba_no", ""):
        tree = stump([Column(name, "number", "Float64")], 0, 1.0)
        refused(tree, "cannot be a field of a PMML document whose target is 'label'; rename it")
        if name == "label":
            assert Evaluator(tree.to_pmml("answer")).target == "answer"
    refused(patients(), "target='leaf' is the name of an output, too", "leaf")


def test_the_document_says_what_its_fields_are():
    evaluator = Evaluator(gallery().to_pmml())
    assert list(evaluator.types.values()) == [
        "double",
        "double",
        "integer",
        "boolean",
        "string",
        "string",
        "date",
        "dateTime",
        "string",
    ]
    check_golden("gallery.pmml", gallery().to_pmml())
    assert 'value="2021-03-05T12:00:00.250"' in gallery().to_pmml()
