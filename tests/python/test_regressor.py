"""`OptimalTreeRegressor` from outside: what it optimizes, what it shows, and what it refuses."""

import itertools
import json
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeRegressor

from certree import OptimalTreeRegressor, ThresholdBinarizer, Tree, cli


def table(n=60, seed=0, n_outputs=1):
    rng = np.random.default_rng(seed)
    X = pl.DataFrame(
        {"a": rng.integers(0, 6, n), "b": rng.random(n) < 0.4, "c": rng.choice(["x", "y", "z"], n)}
    )
    Y = rng.normal(size=(n, n_outputs))
    Y[:, 0] += X["a"].to_numpy() + 3 * X["b"].to_numpy()
    Y[:, -1] -= 2.0 * (X["c"] == "y").to_numpy()
    return X, Y if n_outputs > 1 else Y[:, 0]


def squared_error(rows, weights):
    """Exactly."""
    total = sum(weights)
    loss = Fraction(0)
    for column in zip(*rows):
        mean = sum(w * y for w, y in zip(weights, column)) / total
        loss += sum(w * (y - mean) ** 2 for w, y in zip(weights, column))
    return loss


def best_stump(X, Y, weights, penalty):
    """The least objective of a leaf or a stump, over every cut there is, in exact arithmetic."""
    Y = [[Fraction(y) for y in row] for row in np.reshape(Y, (len(X), -1)).tolist()]
    weights = [Fraction(w) for w in weights.tolist()]
    root = squared_error(Y, weights)
    best = 1 + penalty
    for column in X.get_columns():
        if column.dtype == pl.String:
            sides = [(column == value).to_list() for value in column.unique()]
        else:
            values = column.cast(pl.Int64)
            sides = [(values <= cut).to_list() for cut in values.unique().sort()[:-1]]
        for side in sides:
            loss = Fraction(0)
            for take in (True, False):
                picked = [i for i, s in enumerate(side) if s == take]
                if picked:
                    loss += squared_error([Y[i] for i in picked], [weights[i] for i in picked])
            best = min(best, float(loss / root) + 2 * penalty)
    return best


@pytest.mark.parametrize("seed", range(40))
def test_no_stump_is_better(seed):
    rng = np.random.default_rng(seed)
    X, y = table(int(rng.integers(3, 40)), seed, n_outputs=1 + seed % 3)
    if seed % 4 == 0:
        y = y + 1e9
    weights = rng.choice([0.5, 1.0, 0.1, np.pi], len(X)) if seed % 2 else np.ones(len(X))
    model = OptimalTreeRegressor(max_depth=1, leaf_penalty=0.02).fit(X, y, weights)
    assert model.objective_ == pytest.approx(best_stump(X, y, weights, 0.02), rel=1e-13)
    assert model.status_ == "optimal" and model.lower_bound_ <= model.objective_
    # Sums of long targets are rounded to a grid of 2⁻⁶¹, and products with weights that are no
    # short decimals by some steps of a float. Both are charged, relative to the range of the
    # targets squared, which is up to a hundred times their variance here.
    assert model.gap_ <= (1e-12 if seed % 2 else 1e-15)


def test_every_tree_of_depth_two_is_beaten():
    X, y = table(25, 3)
    X = X.select("a", "b")
    model = OptimalTreeRegressor(max_depth=2, leaf_penalty=0.0).fit(X, y)
    tests = [(X["a"] <= cut).to_numpy() for cut in range(5)] + [X["b"].to_numpy()]

    def error(where):
        return ((y[where] - y[where].mean()) ** 2).sum() if where.any() else 0.0

    best = np.inf
    for top, left, right in itertools.product(tests, repeat=3):
        cells = [top & left, top & ~left, ~top & right, ~top & ~right]
        best = min(best, sum(map(error, cells)))
    assert model.objective_ == pytest.approx(best / error(y == y), rel=1e-12)
    assert 1 - model.score(X, y) == pytest.approx(model.objective_, rel=1e-12)


def test_never_worse_than_a_greedy_tree():
    for seed in range(5):
        X, y = table(300, seed)
        numbers = X.select("a", pl.col("b").cast(int), pl.col("c") == "y").cast(pl.Float64)
        greedy = DecisionTreeRegressor(max_depth=3).fit(numbers, y)
        model = OptimalTreeRegressor(max_depth=3, leaf_penalty=0.0).fit(numbers, y)
        assert model.score(numbers, y) >= greedy.score(numbers, y) - 1e-12


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_all_cuts_of_numbers_are_those_of_boolean_columns(n_outputs):
    """Two searches: one over intervals of cuts, one over questions."""
    rng = np.random.default_rng(n_outputs)
    X = pl.DataFrame(np.round(rng.random((90, 4)), 3), schema=["a", "b", "c", "d"])
    Y = rng.normal(size=(90, n_outputs)) + np.sin(9 * X["a"].to_numpy())[:, None]
    weights = rng.random(90) + 0.5
    for penalty, depth in ((0.0, 2), (0.005, 3)):
        model = OptimalTreeRegressor(leaf_penalty=penalty, max_depth=depth)
        numbers = clone(model).fit(X, Y, weights)
        questions = clone(model).fit(ThresholdBinarizer().fit_transform(X), Y, weights)
        assert numbers.status_ == questions.status_ == "optimal"
        assert numbers.objective_ == pytest.approx(questions.objective_, rel=1e-13)


def test_a_large_mean_takes_nothing_from_a_small_spread():
    X, y = table(80, 1)
    y = np.round(y * 1024) / 1024
    near = OptimalTreeRegressor(max_depth=3).fit(X, y)
    far = OptimalTreeRegressor(max_depth=3).fit(X, y + 1e9)
    assert far.objective_ == near.objective_ and far.lower_bound_ == near.lower_bound_
    assert [node.split for node in far.tree_.nodes] == [node.split for node in near.tree_.nodes]
    assert np.allclose(far.predict(X) - 1e9, near.predict(X), rtol=0, atol=1.2e-7)


def test_leaves_predict_the_mean_of_their_rows():
    X, y = table(200, 2)
    weights = np.random.default_rng(0).random(200)
    model = OptimalTreeRegressor(max_depth=2).fit(X, y, weights)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        mean = sum(Fraction(w) * Fraction(v) for w, v in zip(weights[rows], y[rows]))
        mean /= sum(map(Fraction, weights[rows]))
        assert model.predict(X)[rows] == pytest.approx(float(mean), rel=1e-15)


def test_weights_are_repeated_rows():
    X, y = table(50, 4)
    weights = np.random.default_rng(1).integers(0, 4, 50)
    rows = np.repeat(np.arange(50), weights)
    weighted = OptimalTreeRegressor(max_depth=2).fit(X, y, weights)
    repeated = OptimalTreeRegressor(max_depth=2).fit(X[rows], y[rows])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-14)
    assert (weighted.predict(X) == pytest.approx(repeated.predict(X), rel=1e-14))


def test_targets_may_be_named_columns():
    X, Y = table(60, 5, n_outputs=2)
    frame = X.with_columns(pl.Series("u", Y[:, 0]), pl.Series("v", Y[:, 1]), w=pl.lit(2.0))
    by_name = OptimalTreeRegressor(max_depth=2).fit(frame, ["u", "v"], sample_weight="w")
    assert by_name.target_names_ == ["u", "v"] and by_name.n_outputs_ == 2
    assert by_name.feature_names_in_.tolist() == ["a", "b", "c"]
    given = frame.select("u", "v")
    for y in (given, given.to_pandas(), given.to_arrow(), given.lazy()):
        model = OptimalTreeRegressor(max_depth=2).fit(X, y)
        assert model.target_names_ == ["u", "v"] and model.tree_ == by_name.tree_
    assert by_name.predict(X).shape == (60, 2)
    assert by_name.score(X, Y) == pytest.approx(r2_score(Y, by_name.predict(X)))
    lazy = OptimalTreeRegressor(max_depth=2).fit(frame.lazy(), ["u", "v"], sample_weight="w")
    assert lazy.tree_ == by_name.tree_
    one = OptimalTreeRegressor(max_depth=2).fit(frame.drop("v", "w"), "u")
    assert one.target_names_ == ["u"] and one.predict(frame).shape == (60,)
    assert one.score(frame.drop("v", "w"), "u") == pytest.approx(r2_score(Y[:, 0], one.predict(X)))


def test_any_vector_is_a_target():
    X, y = table(40, 6)
    y = np.round(y, 3)
    expected = OptimalTreeRegressor(max_depth=2).fit(X, y)
    for given in (
        y.tolist(),
        y[:, None],
        y[:, None].tolist(),
        pl.Series(y),
        pd.Series(y),
        pd.DataFrame({"y": y}),
        pa.array(y),
        y.astype(object),
    ):
        model = OptimalTreeRegressor(max_depth=2).fit(X, given)
        assert model.tree_ == expected.tree_ and model.target_names_ == ["y"]
        assert model.predict(X).shape == (40,)
    assert OptimalTreeRegressor(max_depth=0).fit(X, pl.Series("rent", y)).target_names_ == ["rent"]
    whole = OptimalTreeRegressor(max_depth=1).fit(X, np.arange(40))
    assert whole.predict(X).dtype == np.float64


def test_outputs_are_added_as_they_are():
    X, Y = table(80, 7, n_outputs=2)
    Y[:, 1] *= 1e-9
    both = OptimalTreeRegressor(max_depth=2).fit(X, Y)
    first = OptimalTreeRegressor(max_depth=2).fit(X, Y[:, 0])
    assert [node.split for node in both.tree_.nodes] == [node.split for node in first.tree_.nodes]


def test_constant_targets_have_a_loss_of_zero():
    X, _ = table(20)
    model = OptimalTreeRegressor(leaf_penalty=0.03).fit(X, np.full(20, 1e6))
    assert model.get_n_leaves() == 1 and model.status_ == "optimal"
    assert model.objective_ == pytest.approx(0.03, abs=1e-15) == model.lower_bound_
    assert (model.predict(X) == 1e6).all()


def test_the_certificate_says_what_the_loss_is():
    X, Y = table(30, 8, n_outputs=2)
    text = str(OptimalTreeRegressor(max_depth=1).fit(X, Y).certificate_)
    assert "squared error of 2 targets as a share of that of a single leaf" in text
    assert "Proved: no such tree has a lower objective." in text


@pytest.mark.parametrize("n_outputs", [1, 2, 6])
def test_exports_answer_as_predict_does(n_outputs, tmp_path):
    X, Y = table(100, 9, n_outputs)
    model = OptimalTreeRegressor(max_depth=3, leaf_penalty=0.001).fit(X, Y)
    tree = model.tree_
    assert tree.task == "regression"
    again = Tree.from_json(tree.to_json())
    assert again == tree and np.array_equal(again.predict(X), model.predict(X))
    assert pickle.loads(pickle.dumps(tree)) == tree
    scored = X.lazy().select(tree.to_polars()).collect()["label"]
    if n_outputs == 1:
        assert np.array_equal(scored.to_numpy(), model.predict(X))
    else:
        assert np.array_equal(scored.struct.unnest().to_numpy(), model.predict(X))
    assert len(tree.to_dot()) > 0 and len(tree.to_text()) > 0
    with pytest.raises(ValueError, match="no class shares"):
        tree.predict_proba(X)
    changed = json.loads(tree.to_json())
    changed["nodes"][0]["label"] = 1
    with pytest.raises(ValueError, match=r"nodes\[0\].label is 1"):
        Tree.from_json(json.dumps(changed))


def test_texts_show_means():
    X = pl.DataFrame({"size": [1, 2, 3, 4]})
    model = OptimalTreeRegressor(max_depth=1).fit(X, [1.0, 2.0, 10.0, 11.0])
    assert model.tree_.to_text() == (
        "4 rows  mean y: 6\n├── size <= 2 → 1.5   2 rows\n└── size > 2  → 10.5  2 rows\n"
    )
    assert str(model.tree_.rules()[0]) == "if size <= 2 then 1.5 (2 rows)"
    assert model.tree_.nodes[1].label == 1.5 and model.tree_.nodes[0].loss == pytest.approx(1.0)
    leaf = OptimalTreeRegressor(max_depth=0).fit(X, np.eye(4)).tree_
    assert leaf.nodes[0].label == (0.25,) * 4
    assert "always → y0: 0.25, y1: 0.25, y2: 0.25, y3: 0.25" in leaf.to_text()


@pytest.mark.parametrize(
    "y, words",
    [
        ([1.0, float("nan"), 2.0], "target 'y' has 1 value missing"),
        ([1.0, float("inf"), 2.0], "target 'y' has 1 value infinite"),
        ([1.0, None, 2.0], "target 'y' has 1 value missing"),
        (pl.Series("rent", ["a", "b", "c"]), "target 'rent' has the type String"),
        (np.array(["1", "2", "3"]), "has the type String"),
        (np.array([1j, 2, 3]), "Complex data not supported"),
        ([1.0, 2.0], "inconsistent numbers of samples"),
        (np.zeros((3, 0)), "y has no columns"),
        (np.zeros((3, 1, 1)), "one or two dimensions"),
        ([[1.0], [1.0, 2.0], [3.0]], "rows of different lengths"),
        (None, "requires y to be passed, but the target y is None"),
        ("nothing", "'nothing' is not a column of X"),
        (["a", "a"], "must be unique"),
        (pl.DataFrame({"u": [1, 2, 3], "v": ["x", "y", "z"]}), "target 'v' has the type String"),
    ],
)
def test_bad_targets_are_named(y, words):
    X = pl.DataFrame({"a": [1, 2, 3], "b": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match=words):
        OptimalTreeRegressor().fit(X, y)


def test_bad_parameters_are_named():
    X, y = table(10)
    with pytest.raises(ValueError, match="objective='absolute' is not valid"):
        OptimalTreeRegressor("absolute").fit(X, y)
    with pytest.raises(ValueError, match="leaf_penalty=-1"):
        OptimalTreeRegressor(leaf_penalty=-1).fit(X, y)
    with pytest.raises(NotFittedError):
        OptimalTreeRegressor().predict(X)


def test_limits_and_threads():
    X, y = table(200, 10)
    model = OptimalTreeRegressor(max_depth=None, max_leaf_nodes=5, min_samples_leaf=7).fit(X, y)
    assert model.get_n_leaves() <= 5
    assert min(node.rows for node in model.tree_.leaves) >= 7
    two = clone(model).set_params(n_jobs=2).fit(X, y)
    assert two.objective_ == model.objective_
    seen = []

    def twice(moment):
        seen.append(moment)
        return len(seen) < 2

    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="interrupted"):
        OptimalTreeRegressor(max_depth=5, callback=twice).fit(rng.random((500, 6)), rng.random(500))
    assert len(seen) == 2 and all(moment.gap >= 0 for moment in seen)


def test_no_bound_is_negative():
    """The means of single rows are rounded, and that may not show in a bound."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(400, 5)), rng.normal(size=400) * 7 + 152
    seen = []

    def once(moment):
        seen.append(moment.lower_bound)
        return False

    model = OptimalTreeRegressor(max_depth=6, leaf_penalty=0.0, callback=once)
    with pytest.warns(UserWarning, match="interrupted"):
        model.fit(X, y)
    bounds = [*seen, *(lower for _, _, lower in model.certificate_.curve)]
    assert min(bounds) >= 0 and model.lower_bound_ >= 0


def test_cross_validation():
    X, y = table(150, 11)
    numbers = X.select(pl.col("a", "b").cast(pl.Float64)).to_numpy()
    assert cross_val_score(OptimalTreeRegressor(max_depth=3), numbers, y, cv=3).mean() > 0.5


def test_importances_add_up():
    X, y = table(150, 12)
    shares = OptimalTreeRegressor(max_depth=3).fit(X, y).feature_importances_
    assert shares.sum() == pytest.approx(1.0) and shares[0] > shares[2]


def test_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, Y = table(40, 13, n_outputs=2)
    X.with_columns(u=pl.Series(Y[:, 0]), v=pl.Series(Y[:, 1])).write_csv("t.csv")
    fit = "fit t.csv --task regression --max-depth 2 --quiet --model m.json --target"
    assert cli.main([*fit.split(), "u", "v"]) == 0
    assert "mean u: " in capsys.readouterr().out
    assert cli.main("predict m.json t.csv".split()) == 0
    assert capsys.readouterr().out.splitlines()[0] == "prediction of u,prediction of v"
    assert cli.main([*fit.split(), "u", "--drop", "v"]) == 0
    capsys.readouterr()
    assert cli.main("predict m.json t.csv".split()) == 0
    assert capsys.readouterr().out.splitlines()[0] == "prediction"
    assert cli.main("fit t.csv --target u v".split()) == 2
    assert "several are for --task regression" in capsys.readouterr().err


def test_certify_shows_the_tree_that_it_found():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 6)), rng.normal(size=300)
    with pytest.warns(ConvergenceWarning):
        model = OptimalTreeRegressor(leaf_penalty=0.0, max_depth=3, time_limit=1e-9).fit(X, y)
    first = model.get_n_leaves()
    model.set_params(time_limit=None).certify()
    assert model.status_ == "optimal" and model.get_n_leaves() > first
    left = ((y - model.predict(X)) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert left == pytest.approx(model.objective_)
