"""`OptimalTree` with tasks of the user's own: against every tree there is, and all that may go
wrong."""

import ctypes
import pickle

import numba
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy
from brute import least_objective, table, tree_objective
from sklearn.base import clone

from certree import OptimalTree, OptimalTreeRegressor, Tree


class Spread:
    """Σ over columns of Σ y² − (Σ y)² / n, from n, Σ y and Σ y²: squared error."""

    def leaf_cost(self, sums):
        n, y, squares = sums.T
        return squares - y * y / n

    def answer(self, sums):
        return sums[1] / sums[0]


class Errors:
    """Rows that are not of the most frequent class."""

    rounding = 0.0

    def leaf_cost(self, sums):
        return sums.sum(axis=1) - sums.max(axis=1)

    def answer(self, sums):
        return "abc"[int(sums.argmax())]


class Product:
    """Σ a · Σ b, which is no loss that anybody knows."""

    def leaf_cost(self, sums):
        return sums[:, 0] * sums[:, 1]

    def answer(self, sums):
        return sums


class Exponential:
    """−log likelihood of exponential times: below zero where times are short."""

    def leaf_cost(self, sums):
        n, times = sums.T
        return n * np.log(times / n) + n

    def least(self, statistics):
        return np.log(statistics[:, 1]) + 1

    def answer(self, sums):
        return sums[0] / sums[1]


@numba.cfunc("void(CPointer(float64), int64, int64, CPointer(float64))")
def compiled(sums, n_leaves, width, costs):
    for k in range(n_leaves):
        n, y, squares = sums[k], sums[n_leaves + k], sums[2 * n_leaves + k]
        costs[k] = squares - y * y / n


class Compiled(Spread):
    def __init__(self, leaf_cost=compiled):
        self.leaf_cost = leaf_cost


def statistics(kind, rng, n):
    if kind is Errors:
        return np.eye(3, dtype=int)[rng.integers(0, 3, n)]
    if kind is Product:
        return rng.integers(0, 5, (n, 2)) if rng.random() < 0.5 else rng.random((n, 2))
    if kind is Exponential:
        return np.column_stack([np.ones(n), rng.exponential(0.3, n) + 0.01])
    y = rng.integers(0, 4, n) if rng.random() < 0.5 else np.round(rng.random(n), 2)
    return np.column_stack([np.ones(n), y, y * y])


@pytest.mark.parametrize("kind", [Spread, Errors, Product, Exponential, Compiled])
@pytest.mark.parametrize("seed", range(25))
def test_no_tree_is_better(kind, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    X, S = table(rng, n, int(rng.integers(1, 4))), statistics(kind, rng, n)
    weights = [
        None, rng.integers(1, 4, n), rng.choice([0.5, 1.0, 0.1], n), rng.random(n) + 0.1
    ][seed % 4]
    w = np.ones(n) if weights is None else weights
    task, penalty = kind(), float(rng.choice([0.0, 0.01, 0.1]))
    most = int(rng.integers(2, 6)) if rng.random() < 0.3 else None
    least_rows = int(rng.integers(1, 4))
    model = OptimalTree(
        task,
        max_depth=2,
        leaf_penalty=penalty,
        max_leaf_nodes=most,
        min_samples_leaf=least_rows,
        n_jobs=1 + seed % 2,
    ).fit(X, S, weights)

    def cost(rows):
        sums = (S[rows] * w[rows, None]).sum(axis=0)
        return float(
            kind.leaf_cost(task, sums[None])[0]
        ) if kind is not Compiled else float(Spread().leaf_cost(sums[None])[0])

    total = float(w.sum())
    best = least_objective(X, cost, 2, penalty * total, least_rows, most or 10**9) / total
    assert model.objective_ == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert model.status_ == "optimal" and model.lower_bound_ <= model.objective_ + 1e-12
    own = tree_objective(model.apply(X), cost, penalty * total) / total
    assert own == pytest.approx(best, rel=1e-9, abs=1e-9)
    for leaf in np.unique(model.apply(X)):
        rows = model.apply(X) == leaf
        expected = np.asarray(task.answer((S[rows] * w[rows, None]).sum(axis=0)))
        given = model.predict(X)[rows][0]
        if expected.dtype.kind in "US":
            assert given == expected
        else:
            assert np.allclose(given, expected, rtol=1e-9, atol=1e-9)


def pointers():
    kinds = [
        ctypes.POINTER(ctypes.c_double),
        ctypes.c_int64,
        ctypes.c_int64,
        ctypes.POINTER(ctypes.c_double),
    ]
    by_ctypes = ctypes.CFUNCTYPE(None, *kinds)(compiled.address)
    signature = "void (const double *sums, int64_t n_leaves, int64_t width, double *costs)"
    return [
        compiled, compiled.ctypes, by_ctypes, scipy.LowLevelCallable(by_ctypes, signature=signature)
    ]


def many(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 12)) < 0.4
    y = np.round(X[:, 0] * 2 + X[:, 1] * X[:, 2] + rng.random(n), 3)
    return X, y, np.column_stack([np.ones(n), y, y * y])


@pytest.mark.parametrize("which", range(4))
def test_compiled_functions_agree_with_numpy(which):
    X, y, S = many()
    model = OptimalTree(Compiled(pointers()[which]), max_depth=3, leaf_penalty=1e-3).fit(X, S)
    numpy = OptimalTree(Spread(), max_depth=3, leaf_penalty=1e-3).fit(X, S)
    assert model.objective_ == pytest.approx(numpy.objective_, rel=1e-9)
    assert model.status_ == numpy.status_ == "optimal"
    squares = OptimalTreeRegressor(max_depth=3, leaf_penalty=1e-3 / y.var()).fit(X, y)
    assert model.objective_ == pytest.approx(squares.objective_ * y.var(), rel=1e-9)
    assert np.allclose(model.predict(X), squares.predict(X))


def test_integers_stay_integers():
    seen = set()

    class Watching(Errors):
        def leaf_cost(self, sums):
            assert sums.shape[1] == 3 and sums.sum(axis=1).min() > 0
            seen.add(sums.dtype)
            return super().leaf_cost(sums)

    X, S = many(200)[0], np.eye(3, dtype=np.int8)[np.random.default_rng(0).integers(0, 3, 200)]
    OptimalTree(Watching(), max_depth=2).fit(X, S, np.arange(200) % 3)
    assert seen == {np.dtype(np.int64)}
    seen.clear()
    OptimalTree(Watching(), max_depth=2).fit(X, S, np.arange(200) % 3 / 2)
    assert seen == {np.dtype(np.float64)}
    big = np.array([[2**58], [1], [2**58 - 2]])
    model = OptimalTree(Product2(), max_depth=1, leaf_penalty=0.0).fit([[0], [1], [1]], big)
    assert model.predict([[0], [1]]).tolist() == [2**59 - 1] * 2


class Product2:
    def leaf_cost(self, sums):
        return np.minimum(sums[:, 0], 1) * 0

    def answer(self, sums):
        return int(sums[0])


def test_batches_are_large():
    sizes = []

    class Watching(Spread):
        def leaf_cost(self, sums):
            sizes.append(len(sums))
            return super().leaf_cost(sums)

    _, _, S = many(2000)
    OptimalTree(Watching(), max_depth=2, leaf_penalty=0.0).fit(
        np.random.default_rng(1).random((2000, 64)) < 0.5, S
    )
    assert max(sizes) >= 4096


def test_every_container_gives_the_same_tree():
    X, _, S = many(300)
    frame = pl.DataFrame(X)
    stats = pl.DataFrame(S, schema=["n", "y", "squares"])
    model = OptimalTree(Spread(), max_depth=2).fit(frame, S)
    both = pl.concat([frame, stats], how="horizontal")
    for x, s in [
        (frame, stats),
        (frame, stats.to_pandas()),
        (frame, stats.to_arrow()),
        (frame, stats.lazy()),
        (frame, S.tolist()),
        (both, stats.columns),
        (both.lazy(), stats.columns),
    ]:
        again = clone(model).fit(x, s)
        assert again.tree_ == model.tree_ and again.objective_ == model.objective_
    assert again.statistic_names_ == [
        "n", "y", "squares"
    ] and model.statistic_names_ == ["s0", "s1", "s2"]
    one = OptimalTree(Product2(), max_depth=1).fit(frame, pd.Series(np.ones(300, dtype=int)))
    assert one.predict(frame).tolist() == [300] * 300


@pytest.mark.parametrize("kind", [Spread, Errors, Product])
def test_exports(kind):
    rng = np.random.default_rng(3)
    X = pl.DataFrame(table(rng, 60, 3), schema=["a", "b", "c"])
    model = OptimalTree(kind(), max_depth=2, leaf_penalty=0.0).fit(X, statistics(kind, rng, 60))
    tree = model.tree_
    assert Tree.from_json(tree.to_json()) == tree == pickle.loads(pickle.dumps(tree))
    assert tree.task == ("labels" if kind is Errors else "numbers")
    found = X.select(tree.to_polars())["label"]
    expected = model.predict(X)
    if kind is Product:
        found = found.struct.unnest().to_numpy()
    assert np.array_equal(found if kind is Product else found.to_numpy(), expected)
    assert "→" in tree.to_text() and "digraph" in tree.to_dot() and len(
        tree.rules()
    ) == tree.n_leaves
    assert str(tree.rules()[0].label) in str(tree.rules()[0])
    with pytest.raises(ValueError, match="no class shares"):
        tree.predict_proba(X)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert "leaf costs of" in model.certificate_.statement()


def test_certify_goes_on():
    X, _, S = many(4000)
    X = np.hstack([X, np.random.default_rng(1).random((4000, 30)) < 0.5])
    with pytest.warns(Warning, match="before the tree was proved"):
        model = OptimalTree(Spread(), max_depth=4, leaf_penalty=1e-3, time_limit=1e-9).fit(X, S)
    model.set_params(time_limit=60.0, max_depth=4).certify()
    assert model.status_ == "optimal"
    assert model.objective_ == pytest.approx(
        OptimalTree(Compiled(), max_depth=4, leaf_penalty=1e-3).fit(X, S).objective_
    )


# What may go wrong


def fit(task, S=None, X=None, **parameters):
    X = many(300)[0] if X is None else X
    return OptimalTree(
        task, **{"max_depth": 3, **parameters}
    ).fit(X, many(300)[2] if S is None else S)


def bad(leaf_cost, **more):
    return type("Bad", (Spread,), {"leaf_cost": leaf_cost, "answer": lambda self, s: 0.5, **more})()


class Odd(Exception):
    pass


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("after", [0, 1, 3])
def test_an_exception_reaches_the_caller_as_it_is(after, threads):
    calls = []

    def leaf_cost(self, sums):
        calls.append(1)
        if len(calls) > after:
            raise Odd("so it is")
        return Spread.leaf_cost(self, sums)

    with pytest.raises(Odd, match="^so it is$"):
        fit(bad(leaf_cost), n_jobs=threads)
    assert len(calls) <= after + threads


def test_an_exception_while_it_goes_on_does_too():
    X, _, S = many(4000)
    X = np.hstack([X, np.random.default_rng(1).random((4000, 30)) < 0.5])
    task = bad(Spread.leaf_cost)
    with pytest.warns(Warning, match="before the tree was proved"):
        model = OptimalTree(task, max_depth=5, leaf_penalty=0.0, time_limit=0.02).fit(X, S)

    def broken(sums):
        raise Odd("later")

    task.leaf_cost = broken
    with pytest.raises(Odd, match="later"):
        model.certify()


@pytest.mark.parametrize(
    ("leaf_cost", "message"),
    [
        (
            lambda self, s: s[:, 0] * np.nan,
            "contract: `leaf_cost` gives a finite number for each leaf, and not NaN for one with "
            "the sums",
        ),
        (lambda self, s: np.full(len(s), np.inf), "and not inf"),
        (
            lambda self, s: np.where(s[:, 0] < 50, np.nan, Spread.leaf_cost(self, s)),
            "finite number for each leaf, and not NaN",
        ),
        (lambda self, s: s[:-1, 0], "gives one number for each leaf, an array of the shape"),
        (lambda self, s: s, "gives one number for each leaf"),
        (lambda self, s: None, "gives one number for each leaf"),
        (lambda self, s: ["a"] * len(s), "gives one number for each leaf"),
        (lambda self, s: 1.0, "gives one number for each leaf"),
        (lambda self, s: -s[:, 0], "contract: the loss of .*at least 0"),
        (lambda self, s: Spread.leaf_cost(self, s) - 3.0, "contract: .*at least 0"),
        # It falls with the size of a leaf.
        (
            lambda self, s: 1e3 - s[:, 0],
            "contract: .*at most that of all rows|contract: dividing a leaf never raises",
        ),
        (lambda self, s: np.sqrt(s[:, 0]), "contract: dividing a leaf never raises its cost"),
        (
            lambda self, s: np.where(s[:, 0] < 40, 2.0, 1.0) * Spread.leaf_cost(self, s),
            "contract: dividing a leaf never raises its cost",
        ),
    ],
)
def test_a_task_that_breaks_its_contract(leaf_cost, message):
    for threads in (1, 2):
        with pytest.raises(ValueError, match=message) as error:
            fit(bad(leaf_cost), n_jobs=threads, leaf_penalty=0.0)
        assert "defect in certree" not in str(error.value)


def broken(kind, n, phase):
    """Costs that dividing a leaf may raise."""

    def cost(sums):
        m, y = sums.T
        base = y * (m * 4 - y) / m
        wave = np.abs(np.sin(m * 7.3 + y * 1.7 + phase)) * m
        return [
            base + 0.3 * np.sqrt(m),
            base * np.where(m < n / 3, 1.5, 1.0),
            wave * m / n,
            base + np.where(m == 2, 0.5, 0.0),
            wave,
            base + 0.02 * np.minimum(m, 3) * (m < n),
        ][kind]

    return cost


@pytest.mark.parametrize("kind", range(6))
def test_a_broken_contract_is_refused_or_does_no_harm(kind):
    refusals = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 25))
        X, S = table(rng, n, 3), np.column_stack([np.ones(n), rng.integers(0, 5, n)])
        cost = broken(kind, n, rng.random())
        try:
            model = fit(bad(lambda self, s: cost(s)), S, X, max_depth=2)
        except ValueError as error:
            assert "the task breaks its contract" in str(error)
            refusals += 1
            continue
        best = least_objective(X, lambda rows: float(cost(S[rows].sum(0)[None])[0]), 2, 0.01 * n)
        assert model.objective_ == pytest.approx(best / n, abs=1e-9)
    assert refusals > 0


def test_least_and_rounding_and_answers_are_checked():
    S = many(300)[2]
    with pytest.raises(ValueError, match="least gives one finite number for each row"):
        fit(bad(Spread.leaf_cost, least=lambda self, s: s))
    with pytest.raises(ValueError, match="least gives one finite number for each row"):
        fit(bad(Spread.leaf_cost, least=lambda self, s: s[:, 0] * np.nan))
    with pytest.raises(ValueError, match="contract: .*at least 0"):
        fit(bad(Spread.leaf_cost, least=lambda self, s: s[:, 0] * 100))
    with pytest.raises(ValueError, match="rounding is a finite number of at least 0, and not -1"):
        fit(bad(Spread.leaf_cost, rounding=-1))
    with pytest.raises(ValueError, match="answer gives finite numbers, and not .*nan"):
        fit(bad(Spread.leaf_cost, answer=lambda self, s: np.nan))
    with pytest.raises(ValueError, match="equally many numbers"):
        fit(bad(Spread.leaf_cost, answer=lambda self, s: s[: 1 + (s[0] == 300)]))
    with pytest.raises(ValueError, match="answer gives a label or numbers"):
        fit(bad(Spread.leaf_cost, answer=lambda self, s: ["a", "b"]))
    with pytest.raises(
        ValueError, match="task=None is not valid: it must be an object with leaf_cost and answer"
    ):
        fit(None)
    with pytest.raises(Odd):
        fit(bad(Spread.leaf_cost, answer=lambda self, s: (_ for _ in ()).throw(Odd())))
    fit(bad(Spread.leaf_cost, least=lambda self, s: s[:, 0] * 0), S)


def test_statistics_are_checked():
    for S, message in [
        (None, "statistics are missing"),
        (np.ones((3, 2)), "X has 300 rows, statistics has 3"),
        (np.ones((300, 2, 2)), "rows × statistics, but their shape is"),
        (np.ones((300, 0)), "no columns"),
        ([[1], [2, 3]], "different lengths"),
        (np.full((300, 1), np.nan), "'s0' has 300 values that are not"),
        (np.full((300, 1), "a"), "must be numbers, but column 's0'"),
        (np.full((300, 1), 2**55), "statistics overflow"),
        (np.full((300, 1), 1e307), "statistics overflow"),
        (np.full((300, 1), 2**63, dtype=np.uint64), "statistics overflow"),
        ("nothing", "names a column, but X is an array without names"),
    ]:
        with pytest.raises(ValueError, match=message):
            OptimalTree(Spread()).fit(many(300)[0], S)


def test_compiled_functions_of_another_type_are_refused():
    @numba.cfunc("float64(float64)")
    def other(x):
        return x

    kinds = [ctypes.c_double, ctypes.c_double]
    for function in [
        other,
        other.ctypes,
        ctypes.CFUNCTYPE(None, *kinds)(other.address),
        scipy.LowLevelCallable(other.ctypes),
    ]:
        with pytest.raises(ValueError, match="a compiled leaf_cost must be 'void .const double"):
            fit(Compiled(function))
