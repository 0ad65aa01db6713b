"""What notebooks show, and the line of progress there and on a terminal."""

import io
import pickle
import re
import sys
import types
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest
import sklearn
from trees import patients, stump

from certree import OptimalTreeClassifier, _core, frontier, notebook
from certree.progress import Progress, Shown
from certree.schema import Column
from certree.tree import Tree

X = pl.DataFrame({"a": [1, 2, 3, 4, 5, 6], "b": [3, 1, 2, 6, 5, 4]})
Y = ["no", "no", "yes", "no", "yes", "yes"]
VOID = {"rect", "path", "line", "circle", "br", "hr", "input", "meta", "link", "img"}


class Tags(HTMLParser):
    """All tags, each of which must be closed."""

    def __init__(self, html):
        super().__init__()
        self.open, self.seen, self.attributes = [], [], []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_printing_a_tree_shows_it():
    tree = patients()
    assert str(tree) + "\n" == tree.to_text()
    assert repr(tree) == "Tree(3 leaves, depth 2, columns used: age, sex)"
    assert Tags(tree._repr_html_()).seen.count("svg") == 1


def test_a_large_tree_is_folded():
    parts = []
    for k in range(200):
        parts += [((0, float(k), 2 * k + 1, 2 * k + 2), 0, 9, [1.0, 2.0], 0.1)]
        parts += [(None, 0, 1, [1.0, 0.0], 0.0)]
    parts.append((None, 1, 1, [0.0, 1.0], 0.0))
    tree = Tree(_core.Tree(parts), [Column("age", "number", "Int64")], ["no", "yes"])
    html = tree._repr_html_()
    assert "folded" in html
    # 63 leaves, and one card for all the others.
    assert html.count('"listitem"') == 127


def test_certificate_frontier_and_estimator_are_shown():
    model = OptimalTreeClassifier(max_depth=2).fit(X, Y)
    shown = model.certificate_._repr_html_()
    assert Tags(shown).seen.count("svg") == 1
    assert "<b>Proved:</b>" in shown and "<b>Gap:</b> 0" in shown

    both = model._repr_html_()
    assert "certree-picture" in both and "max_depth" in both
    assert model._repr_mimebundle_()["text/html"].count("certree-picture") >= 2
    assert "certree-picture" not in OptimalTreeClassifier()._repr_html_()
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()

    front = frontier(OptimalTreeClassifier(max_depth=2), X, Y)
    assert isinstance(front, pl.DataFrame)
    assert Tags(front._repr_html_()).seen.count("svg") == 1 + front.height
    # Another selection of columns is a table like any other.
    assert "certree" not in front.drop("tree")._repr_html_()
    assert pickle.loads(pickle.dumps(front.drop("tree"))).equals(front.drop("tree"))


def test_names_are_escaped():
    nasty = '</style><script>alert("1")</script>'
    columns = [Column(nasty, "category", "String", (nasty, "other"))]
    tree = stump(columns, 0, nasty, labels=np.array([nasty, "label"], dtype=object))
    model = OptimalTreeClassifier(max_depth=1).fit(pl.DataFrame({nasty: [1, 2]}), [nasty, "b"])
    for html in (tree._repr_html_(), model.certificate_._repr_html_(), notebook.of_model(model)):
        assert "script" not in Tags(html).seen


class Terminal(io.StringIO):
    def isatty(self):
        return True


def moments():
    return [Progress(float(k), 0.25, 0.1 * k, 10**k, 1, 1) for k in range(3)]


def test_a_terminal_has_one_line(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    shown = Shown(60.0)
    for now in moments():
        shown(now)
    shown.finish(moments()[-1], "optimal", "cut by cut")
    written = sys.stderr.getvalue()
    assert written.count("\n") == 1 and written.endswith("\n") and written.count("\r") == 3
    assert "at most 58 s left" in written and "optimal" in written.split("\r")[-1]
    lengths = [len(line.rstrip("\n")) for line in written.split("\r")]
    # A shorter line blanks the longer one before it.
    assert lengths == sorted(lengths)


def test_a_notebook_has_one_line(monkeypatch):
    displays, updates = [], []

    class Handle:
        def update(self, html):
            updates.append(html)

    def display(html, display_id):
        displays.append(html)
        return Handle()

    fake = types.ModuleType("IPython")
    fake.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    fake.display = types.ModuleType("IPython.display")
    fake.display.HTML, fake.display.display = str, display
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "IPython.display", fake.display)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    OptimalTreeClassifier(max_depth=2, verbose=True).fit(X, Y)
    assert sys.stderr.getvalue() == ""
    assert len(displays) == 1
    last = (displays + updates)[-1]
    assert re.search(r"objective 0\.\d+ .*lower bound .*gap .*optimal", last)
    Tags(last)


@pytest.mark.parametrize("shell", [None, types.SimpleNamespace()])
def test_without_a_kernel_there_is_no_notebook(monkeypatch, shell):
    fake = types.ModuleType("IPython")
    fake.get_ipython = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", fake)
    assert notebook.display() is None
