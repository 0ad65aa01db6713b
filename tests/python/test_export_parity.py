"""Fitted trees of every column type: all forms answer as `predict` does on every training row."""

import random

import pytest
from trees import every_type

from certree import OptimalTreeClassifier
from certree.tree import Tree

FRAME = every_type(40)


@pytest.mark.parametrize("name", FRAME.columns)
def test_every_form_answers_as_predict_does(name):
    frame = FRAME.select(name)
    rng = random.Random(name)
    y = rng.choices(["a", "b", "c"], k=frame.height)
    model = OptimalTreeClassifier(max_depth=3, max_leaf_nodes=4, leaf_penalty=0.0).fit(frame, y)
    tree = model.tree_
    assert tree.n_leaves > 1
    expected = model.predict(frame).tolist()
    again = Tree.from_json(tree.to_json())
    assert again == tree
    assert again.predict(frame).tolist() == expected
    lazy = frame.lazy().select(tree.to_polars())
    assert lazy.collect()["label"].to_list() == expected
    proba = frame.select(tree.to_polars("proba")).unnest("proba").to_numpy()
    assert proba.tolist() == model.predict_proba(frame).tolist()
    leaves = frame.select(tree.to_polars("leaf"))["leaf"]
    assert leaves.to_list() == model.apply(frame).tolist()
    # Each row's leaf is the one leaf of the text and of the rules that its class weights belong to.
    for rule in tree.rules():
        assert rule.rows == (leaves == rule.leaf).sum()
