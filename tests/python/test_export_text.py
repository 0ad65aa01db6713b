"""`Tree.to_text`: golden files, and that the text says where every row goes."""

import numpy as np
import pytest
from trees import AGE, check_golden, every_type, gallery, patients, random_tree

from certree import _core
from certree.node_words import percent
from certree.tree import Tree


@pytest.mark.parametrize(("name", "tree"), [("patients", patients()), ("gallery", gallery())])
def test_text_is_as_in_the_golden_file(name, tree):
    check_golden(f"{name}.txt", tree.to_text())


def test_a_single_leaf_says_always():
    tree = Tree(_core.Tree([(None, 1, 4, [1.0, 3.0], 0.25)]), [AGE], ["no", "yes"])
    assert tree.to_text() == "4 rows  no: 25.0%, yes: 75.0%\n└── always → yes\n"


def test_weights_that_are_not_rows_are_told():
    tree = Tree(_core.Tree([(None, 1, 4, [1.5, 3.0], 0.25)]), [AGE], ["no", "yes"])
    assert tree.to_text().startswith("4 rows of weight 4.5  no: 33.3%, yes: 66.7%\n")


def test_many_classes_show_the_largest_and_the_rest():
    labels = np.arange(50)
    value = [0.0] * 40 + [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 55.0]
    tree = Tree(_core.Tree([(None, 49, 100, value, 0.45)]), [AGE], labels)
    assert "49: 55.0%, 48: 9.0%, 47: 8.0%, 46: 7.0%, other: 21.0%\n" in tree.to_text()


def test_shares_only_round_to_nothing_or_all_when_they_are():
    assert percent(0.0) == "0%" and percent(1.0) == "100%"
    assert percent(1e-9) == "<0.1%" and percent(1 - 1e-9) == ">99.9%"
    assert percent(0.0005) == "0.1%" and percent(0.9994) == "99.9%"


def test_every_node_but_the_root_has_a_line():
    tree = random_tree(every_type(), depth=6, seed=2)
    lines = tree.to_text().splitlines()
    assert len(lines) == len(tree.nodes)
    assert sum("→" in line for line in lines) == tree.n_leaves
