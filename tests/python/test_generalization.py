"""What a certificate says of new rows: the count of trees, and that it holds."""

import itertools
import math
import os

import numpy as np
import polars as pl
import pytest

from certree import (
    OptimalCostTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    ThresholdGuesser,
)
from certree.generalization import Questions, divergence, inverse, log_counts

DRAWS = int(os.environ.get("CERTREE_CASES", "60"))


def shapes(questions, labels, depth, once):
    """All trees, by brute force: the number of leaves of each."""
    found = [1] * labels
    if depth:
        below = questions[1:] if once else questions
        children = shapes(below, labels, depth - 1, once)
        found += [a + b for _ in questions for a, b in itertools.product(children, children)]
    return found


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("questions, labels, depth", [(3, 2, 2), (2, 3, 2), (1, 2, 3), (2, 1, 3)])
def test_trees_are_counted(questions, labels, depth, once):
    sizes = shapes(list(range(questions)), labels, depth, once)
    counts = log_counts(questions, labels, 2**depth, depth, once)
    for leaves in range(1, 2**depth + 1):
        assert round(math.exp(counts[leaves])) == sizes.count(leaves)


def test_many_leaves_are_counted_roughly():
    exact = log_counts(9, 2, 64, None, once=False)[64]
    more = log_counts(9, 2, 66, None, once=False)
    assert more[64] == exact < more[65] < more[66]


def test_the_inverse_is_where_the_divergence_is_reached():
    for q in (0.0, 0.2, 0.7, 1.0):
        for deviation in (1e-4, 0.05, 1.0):
            high, low = inverse(q, deviation, 1), inverse(q, deviation, -1)
            assert low <= q <= high
            assert high == 1 or divergence(q, high) == pytest.approx(deviation, rel=1e-6)
            assert low == 0 or divergence(q, low) == pytest.approx(deviation, rel=1e-6)


def test_the_issue_s_example_is_kept():
    # 5,000 rows, 31 cuts and 7 leaves: at most 0.058 above the training error.
    rng = np.random.default_rng(0)
    X = pl.DataFrame({f"c{k}": rng.random(5000) < 0.5 for k in range(31)})
    y = rng.random(5000) < 0.3
    model = OptimalTreeClassifier(max_depth=2, leaf_penalty=0).fit(X, y)
    found = model.certificate_.generalization()
    assert found.fixed_cuts and found.training_loss == pytest.approx(model.objective_)
    assert 0 < found.upper - found.training_loss < 0.058
    assert found.lower <= found.training_loss <= found.upper


@pytest.mark.parametrize("thresholds", ["all", {"x": [0.25, 0.5, 0.75], "z": [0.5]}])
def test_it_holds_for_draws_of_a_known_population(thresholds):
    """x, z uniform; y is x > 0.5 but for a tenth of the rows: the best tree has an error of 0.1."""
    rng = np.random.default_rng(1)
    model = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.01, thresholds=thresholds)
    grid = (np.arange(200) + 0.5) / 200
    fresh = pl.DataFrame({"x": np.repeat(grid, 200), "z": np.tile(grid, 200)})
    right = fresh["x"].to_numpy() > 0.5
    failed = 0
    for _ in range(DRAWS):
        X = pl.DataFrame({"x": rng.random(150), "z": rng.random(150)})
        y = (X["x"].to_numpy() > 0.5) ^ (rng.random(150) < 0.1)
        found = model.fit(X, y).certificate_.generalization(0.5)
        wrong = (model.predict(fresh) != right).mean()
        true = 0.1 + 0.8 * wrong
        failed += not (true <= found.upper and found.lower <= 0.1)
        assert found.fixed_cuts == isinstance(thresholds, dict)
    assert failed <= DRAWS // 2


def test_fewer_leaves_and_more_rows_say_more():
    rng = np.random.default_rng(2)
    x = rng.random(4000)
    y = (x > 0.4) ^ (rng.random(4000) < 0.2)
    wide = []
    for n in (500, 4000):
        model = OptimalTreeClassifier(max_depth=2).fit(x[:n, None], y[:n])
        found = model.certificate_.generalization()
        wide.append(found.upper - found.training_loss)
    assert wide[1] < wide[0]
    surer = model.certificate_.generalization(0.999)
    assert surer.upper > found.upper and surer.lower < found.lower
    assert "rows are independent" in str(found) and found.advantage == found.upper - found.lower


def test_guessed_cuts_count_as_all_cuts():
    rng = np.random.default_rng(3)
    X = pl.DataFrame({"a": rng.random(300), "b": rng.random(300)})
    y = X["a"].to_numpy() > 0.3
    free = OptimalTreeClassifier(max_depth=2).fit(X, y)
    guessed = OptimalTreeClassifier(max_depth=2, thresholds=ThresholdGuesser()).fit(X, y)
    few = OptimalTreeClassifier(max_depth=2, thresholds=3).fit(X, y)
    counted = {each.certificate_.generalization().log_trees for each in (free, guessed)}
    assert len(counted) == 1 and not guessed.certificate_.generalization().fixed_cuts
    assert few.certificate_.searched.questions == free.certificate_.searched.questions


def test_columns_offer_questions_as_they_are_asked():
    X = pl.DataFrame(
        {
            "yes": [True, False, None, True],
            "kind": ["a", "b", "c", "a"],
            "size": pl.Series(["s", "m", "l", "s"], dtype=pl.Enum(["s", "m", "l"])),
            "n": [1.0, 2.0, None, 4.0],
            "m": [1, 2, 3, 4],
        }
    )
    thresholds = {"n": [1.5, 2.5], "m": "all"}
    model = OptimalTreeClassifier(max_depth=1, thresholds=thresholds).fit(X, [0, 1, 0, 1])
    found = model.certificate_.searched.questions
    assert found == (
        Questions(3),
        Questions(3),
        Questions(2),
        Questions(5),
        Questions(0, 1),
    )
    said = str(model.certificate_.generalization())
    assert "the values of kind" in said and "never have one" in said


def test_costs_and_squares_need_a_range():
    rng = np.random.default_rng(4)
    x = rng.random(400)
    costs = np.column_stack([x, 1 - x])
    tree = OptimalCostTree(max_depth=1).fit(x[:, None], costs).certificate_
    with pytest.raises(ValueError, match="range=.* is needed"):
        tree.generalization()
    found = tree.generalization(range=(0, 2))
    assert found.training_loss < found.upper <= 2 and found.lower >= 0
    with pytest.raises(ValueError, match="in training there are"):
        tree.generalization(range=(0, 0.5))
    for bad in ((1, 0), (0,), "ab", (0, np.inf), 3):
        with pytest.raises(ValueError, match="is not valid"):
            tree.generalization(range=bad)
    y = 3 + (x > 0.5) + rng.random(400)
    squares = OptimalTreeRegressor(max_depth=1).fit(x[:, None], y).certificate_
    found = squares.generalization(range=(2, 6))
    residual = OptimalTreeRegressor(max_depth=1).fit(x[:, None], y).predict(x[:, None]) - y
    assert found.training_loss == pytest.approx((residual**2).mean())
    assert found.training_loss < found.upper <= 16
    errors = OptimalTreeClassifier(max_depth=1).fit(x[:, None], x > 0.5).certificate_
    with pytest.raises(ValueError, match="leave it out"):
        errors.generalization(range=(0, 1))


def test_what_cannot_be_said_is_refused():
    x = np.arange(40.0)[:, None]
    y = np.arange(40) % 3 == 0
    weights = np.ones(40)
    weights[0] = 2
    fits = [
        (OptimalTreeClassifier().fit(x, y, weights), "weights"),
        (OptimalTreeClassifier(class_weight="balanced").fit(x, y), "class weights"),
        (OptimalTreeClassifier("f1").fit(x, y), "not a mean"),
        (OptimalTreeClassifier("gini").fit(x, y), "not a mean"),
        (OptimalTreeClassifier(feature_costs={"x0": 1}).fit(x, y), "feature_costs"),
        (OptimalTreeRegressor().fit(x, np.column_stack([x, x])), "several targets"),
        (OptimalTreeRegressor("absolute_error").fit(x, x[:, 0]), "not a mean"),
    ]
    for model, why in fits:
        with pytest.raises(ValueError, match=why):
            model.certificate_.generalization()
    model = OptimalTreeClassifier().fit(x, y)
    for confidence in (0, 1, math.nan, "0.9", True, -1, None):
        with pytest.raises(ValueError, match="confidence="):
            model.certificate_.generalization(confidence)


def test_one_row_says_nothing_and_says_so():
    found = OptimalTreeClassifier().fit([[1.0]], [0]).certificate_.generalization()
    assert found.upper == 1
    two = OptimalTreeClassifier(max_depth=None).fit([[1.0], [2.0]], [0, 1])
    assert two.certificate_.generalization().upper == 1
