"""What is drawn with matplotlib, which these tests need, except the one that takes it away."""

import builtins

import numpy as np
import pytest
from trees import every_type, patients, random_tree

from certree import _core
from certree.schema import Column
from certree.tree import Tree


@pytest.fixture
def plt():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as found

    yield found
    found.close("all")


def texts(ax):
    return {each.get_text() for each in ax.texts}


def test_the_plot_says_what_the_svg_says(plt):
    ax = patients().plot()
    expected = {"age", "sex", "no", "yes", "≤ 38.5", "> 38.5", "is not female", "= female", "10 rows"}
    assert expected <= texts(ax)
    ax.get_figure().canvas.draw()


def test_it_draws_on_given_axes_with_given_texts(plt):
    _, (left, right) = plt.subplots(1, 2)
    assert patients().plot(ax=right, names={"age": "Age $x$"}, labels=["well", "ill"]) is right
    assert {"Age $x$", "well"} <= texts(right) and not left.texts
    # Dollars are no formula, so that drawing does not fail over them either.
    patients().plot(ax=left, names={"age": "$\\frac{$"}, max_depth=1)
    left.get_figure().canvas.draw()


def test_every_gauge_is_drawn(plt):
    value = [3.0, 1.0, 2.0]
    split = ((0, 38.5, 1, 2), 0, 5, value, 1.0)
    parts = [split, (None, 1, 3, value, 0.0), (None, 0, 2, [0.0, 2.0, -1.0], 0.0)]
    age = [Column("age", "number", "Int64")]
    for task in ("costs", "rewards", "labels", "regression"):
        Tree(_core.Tree(parts), age, ["wait", "drug", "operate"], task).plot()
    one = [(*part[:3], part[3][:1], part[4]) for part in parts]
    curves = {leaf: (np.array([1.0, 2.0]), np.array([0.5, 0.2])) for leaf in (1, 2)}
    Tree(_core.Tree(one), age, ["y"], "regression").plot()
    ax = Tree(_core.Tree(one), age, ["hazard ratio"], "survival", curves=curves).plot()
    assert len(ax.lines) == 4
    for seed in range(3):
        random_tree(every_type(), depth=5, seed=seed).plot()


def test_without_matplotlib_the_error_says_how_to_get_it(monkeypatch):
    load = builtins.__import__

    def missing(name, *rest, **more):
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}", name="matplotlib")
        return load(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'certree\[plot\]'"):
        patients().plot()
