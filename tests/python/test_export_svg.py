"""`Tree.to_svg`: what the picture holds, where its cards are, and text that cannot break out."""

import pickle
import xml.etree.ElementTree as ElementTree

import numpy as np
import polars as pl
import pytest
from trees import AGE, WORDS, every_type, gallery, patients, random_tree, stump

from certree import OptimalSurvivalTree, OptimalTreeRegressor, _core
from certree.drawing.contents import COLOURS, Curve, Spread, contents, renamed
from certree.drawing.layout import layout
from certree.schema import Column
from certree.tree import Tree

SVG = "{http://www.w3.org/2000/svg}"


def read(picture):
    """The picture, read by a parser that refuses whatever is not XML."""
    return ElementTree.fromstring(picture.encode())


def cards(picture):
    return [group for group in read(picture).iter(f"{SVG}g") if group.get("role") == "listitem"]


def texts(picture):
    return [element.text for element in read(picture).iter(f"{SVG}text")]


def grown(depth, n_classes=3):
    """A tree with all leaves at one depth."""
    parts = []

    def add(left_depth):
        index = len(parts)
        value = [float((index * 7 + k * 5) % 11 + 1) for k in range(n_classes)]
        parts.append((None, value.index(max(value)), 100, value, 0.1))
        if left_depth:
            left, right = add(left_depth - 1), add(left_depth - 1)
            parts[index] = ((0, index + 0.123456789, left, right), *parts[index][1:])
        return index

    add(depth)
    return Tree(_core.Tree(parts), [AGE], np.arange(n_classes))


def test_every_node_has_a_card_with_its_words():
    picture = patients().to_svg()
    assert len(cards(picture)) == 5
    for expected in WORDS:
        assert expected in texts(picture)
    titles = [card.find(f"{SVG}title").text for card in cards(picture)]
    assert titles[0] == "All rows: next, is age <= 38.5? 10 rows, no: 70.0%, yes: 30.0%."
    assert titles[-1] == "If age > 38.5 and sex = female: yes. 3 rows, no: 0%, yes: 100%."
    assert [card.get("aria-label") for card in cards(picture)] == titles


@pytest.mark.parametrize("depth", [0, 1, 3, 5, 6])
def test_cards_do_not_overlap_and_lie_within(depth):
    drawing = layout(grown(depth))
    assert sum(card.content.colour is not None for card in drawing.cards) == 2**depth
    boxes = np.array([(card.x, card.y) for card in drawing.cards])
    apart = np.abs(boxes[:, None] - boxes[None]) + 1e-9
    clear = (apart[..., 0] >= drawing.card_width) | (apart[..., 1] >= drawing.card_height)
    assert (clear | np.eye(len(boxes), dtype=bool)).all()
    assert (boxes >= 0).all()
    assert boxes[:, 0].max() + drawing.card_width <= drawing.width
    assert boxes[:, 1].max() + drawing.card_height <= drawing.height


def test_a_wide_tree_grows_to_the_right():
    assert layout(grown(2)).downwards and not layout(grown(6)).downwards
    assert layout(grown(6)).width < 1600


def test_max_depth_folds_what_is_below():
    tree = grown(4)
    picture = tree.to_svg(max_depth=1)
    assert len(cards(picture)) == 3
    assert any("8 leaves" in each for each in texts(picture))
    assert tree.to_svg(max_depth=4) == tree.to_svg()
    for wrong in (-1, True):
        with pytest.raises(ValueError, match="max_depth"):
            tree.to_svg(max_depth=wrong)


def test_names_and_labels_are_shown_instead():
    tree = patients()
    by_name = tree.to_svg(names={"age": "Age in years"}, labels={"yes": "Ill"})
    assert {"Age in years", "sex", "Ill", "no"} <= set(texts(by_name))
    in_order = tree.to_svg(names=["a", "b", "c"], labels=["well", "ill"])
    assert {"a", "b", "well", "ill"} <= set(texts(in_order))
    assert renamed(tree) is tree
    with pytest.raises(ValueError, match="no column 'agee'"):
        tree.to_svg(names={"agee": "Age"})
    with pytest.raises(ValueError, match="labels has 1 texts, but the tree has 2 labels"):
        tree.to_svg(labels=["well"])
    with pytest.raises(TypeError, match="not one text"):
        tree.to_svg(labels="ab")


NASTY = [
    "<script>alert(1)</script>",
    "</style><script>x</script>",
    '" onload="alert(1)',
    "]]>",
    "&amp;",
    "a\nb",
    "\0\x1b[2J",
    "\u202egnorw",
    "عمر المريض",
    "漢字" * 100,
    "x" * 200,
    "",
]


@pytest.mark.parametrize("name", NASTY)
def test_no_text_breaks_out(name):
    columns = [Column(name, "category", "String", (name, "other"))]
    tree = stump(columns, 0, name, labels=np.array([name, "label"], dtype=object))
    for picture in (tree.to_svg(), patients().to_svg(names=[name] * 3, labels=[name] * 2)):
        tags = {element.tag.removeprefix(SVG) for element in read(picture).iter()}
        assert tags <= {"svg", "title", "style", "rect", "text", "path", "g", "line", "circle"}
        attributes = {key for element in read(picture).iter() for key in element.keys()}
        assert not any(key.startswith("on") or "href" in key for key in attributes)


@pytest.mark.parametrize("seed", range(5))
def test_trees_on_every_type_are_drawn(seed):
    tree = random_tree(every_type(), depth=5, seed=seed)
    assert len(cards(tree.to_svg())) == len(tree.nodes)
    assert len(cards(gallery().to_svg())) == len(gallery().nodes)


def test_half_a_character_becomes_a_mark():
    assert "\\ud800" in patients().to_svg(names={"age": "\ud800"})


def test_labels_beyond_the_colours_share_one():
    tree = grown(2, n_classes=12)
    assert any(f"{12 - COLOURS} others" == each for each in texts(tree.to_svg()))
    for content in contents(tree):
        assert sum(share for share, _ in content.gauge.parts) == pytest.approx(1)


def test_the_spread_is_the_standard_deviation():
    rng = np.random.default_rng(0)
    X = pl.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)})
    y = X["a"].to_numpy() * 3.0 + rng.normal(size=200)
    model = OptimalTreeRegressor(max_depth=2).fit(X, y)
    gauges = {content.node: content.gauge for content in contents(model.tree_)}
    assert all(isinstance(gauge, Spread) for gauge in gauges.values())
    leaves = model.apply(X)
    wanted = {leaf: y[leaves == leaf].std() for leaf in np.unique(leaves).tolist()}
    first = min(wanted)
    for leaf, deviation in wanted.items():
        scale = (gauges[leaf].high - gauges[leaf].low) / (gauges[first].high - gauges[first].low)
        assert scale == pytest.approx(deviation / wanted[first])


@pytest.mark.parametrize(("a", "weights"), [([1, 2, 3, 4], [1, 2, 3, 4]), ([1, 1, 3, 4], None)])
def test_a_spread_that_is_not_known_is_not_drawn(a, weights):
    X, y = pl.DataFrame({"a": a}), [1.0, 2.0, 5.0, 9.0]
    tree = OptimalTreeRegressor(max_depth=1).fit(X, y, sample_weight=weights).tree_
    assert all(content.gauge.low == content.gauge.high for content in contents(tree))


def test_survival_curves_are_drawn_and_kept_by_pickle():
    X = pl.DataFrame({"a": [1, 2, 3, 4, 5, 6, 7, 8]})
    model = OptimalSurvivalTree(max_depth=1, leaf_penalty=0).fit(
        X, time=[9, 8, 9, 7, 1, 2, 1, 2], event=[1, 0, 1, 1, 1, 1, 1, 1]
    )
    leaves = [content for content in contents(model.tree_) if content.colour is not None]
    assert all(isinstance(content.gauge, Curve) for content in leaves)
    again = pickle.loads(pickle.dumps(model.tree_))
    assert again.to_svg() == model.tree_.to_svg()
    assert again == model.tree_
    assert not Tree.from_json(model.tree_.to_json()).curves


def test_costs_and_several_targets_are_drawn():
    value = [3.0, 1.0, 2.0]
    split = ((0, 38.5, 1, 2), 0, 5, value, 0.4)
    parts = [split, (None, 1, 3, value, 0.0), (None, 0, 2, [0.0, 2.0, -1.0], 0.0)]
    for task in ("costs", "rewards", "labels"):
        tree = Tree(_core.Tree(parts), [AGE], ["wait", "drug", "operate"], task)
        assert len(cards(tree.to_svg())) == 3
        assert "drug" in texts(tree.to_svg())
    for task in ("regression", "rates", "quantiles", "survival", "numbers"):
        several = Tree(_core.Tree(parts), [AGE], ["y", "z", "w"], task)
        assert any("y: 3" in each for each in texts(several.to_svg()))
    targets = Tree(_core.Tree(parts), [AGE], ["one", "two"], "targets", [["a"], ["b", "c"]])
    assert any("one: a" in each for each in texts(targets.to_svg()))
