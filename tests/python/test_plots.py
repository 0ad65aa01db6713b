"""What is drawn with matplotlib, which these tests need, except the one that takes it away."""

import builtins

import numpy as np
import polars as pl
import pytest
from trees import WORDS, every_type, patients, random_tree

from certree import (
    OptimalTreeClassifier,
    _core,
    frontier,
    plot_anytime,
    plot_frontier,
    plot_importances,
)
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
    assert set(WORDS) <= texts(ax)
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


X = pl.DataFrame({"a": [1, 2, 3, 4, 5, 6], "$b$": [3, 1, 2, 6, 5, 4], "c": [1, 1, 1, 1, 1, 2]})
Y = ["no", "no", "yes", "no", "yes", "yes"]


def test_a_frontier_has_a_dot_for_each_tree(plt):
    front = frontier(OptimalTreeClassifier(max_depth=2), X, Y)
    ax = plot_frontier(front)
    dots = next(line for line in ax.lines if line.get_marker() == "o")
    assert sorted(dots.get_xdata().tolist()) == sorted(front["leaves"].to_list())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("leaves", "loss") and ax.get_legend() is None
    some = front.with_columns(
        pl.Series("status", ["time_limit"] + ["optimal"] * (front.height - 1))
    )
    names = {each.get_text() for each in plot_frontier(some).get_legend().get_texts()}
    assert names == {"optimal", "not proved"}
    with pytest.raises(ValueError, match=r"frontier\(\) answers"):
        plot_frontier(X)


def test_the_anytime_curve_ends_where_the_search_did(plt):
    model = OptimalTreeClassifier(max_depth=2).fit(X, Y)
    ax = plot_anytime(model)
    ends = [line.get_ydata()[-1] for line in ax.lines]
    assert ends == [model.objective_, model.lower_bound_]
    _, given = plt.subplots()
    assert plot_anytime({"one": model, "two": model.certificate_}, given, log_time=True) is given
    names = [each.get_text() for each in given.get_legend().get_texts()]
    assert names == ["one: objective", "one: lower bound", "two: objective", "two: lower bound"]
    with pytest.raises(TypeError, match="not str"):
        plot_anytime("model")
    with pytest.raises(ValueError, match="at least one"):
        plot_anytime({})


def test_importances_are_bars_with_names(plt):
    model = OptimalTreeClassifier(max_depth=2, leaf_penalty=0).fit(X, Y)
    ax = plot_importances(model)
    values = sorted((v for v in model.feature_importances_ if v > 0), reverse=True)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(values)
    ax.get_figure().canvas.draw()
    assert {each.get_text() for each in ax.get_yticklabels()} <= set(X.columns)
    assert len(plot_importances(model, max_columns=1).patches) == 1
    with pytest.raises(ValueError, match="max_columns=0"):
        plot_importances(model, max_columns=0)
    leaf = OptimalTreeClassifier(max_depth=0).fit(X, Y)
    assert not plot_importances(leaf).patches


def test_without_matplotlib_the_error_says_how_to_get_it(monkeypatch):
    load = builtins.__import__

    def missing(name, *rest, **more):
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}", name="matplotlib")
        return load(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'certree\[plot\]'"):
        patients().plot()
