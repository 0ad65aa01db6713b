"""A fit freezes its problem: certificates speak of it, and certify() goes on or says what
changed."""

import copy
import datetime
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier

from certree import (
    Capacity,
    DemographicParity,
    FeatureCost,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    ThresholdBinarizer,
    ThresholdGuesser,
    frontier,
)
from certree import _core
from certree.estimators import _base as estimators_base
from certree.fitted import OF_RUNS, Fitted, frozen

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(3)


def data(n=300, columns=5):
    rng = np.random.default_rng(n)
    X = rng.random((n, columns)).round(3)
    return X, (X[:, 0] + X[:, 1] * rng.random(n) > 0.8).astype(int)


def stopped(kind=OptimalTreeClassifier, *data_, **parameters):
    """A model whose search was stopped at once."""
    given = {"max_depth": 3, "thresholds": 6, "time_limit": 1e-9, **parameters}
    model = kind(**given).fit(*(data_ or data()))
    assert model.status_ == "time_limit"
    return model.set_params(time_limit=None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_depth", 4),
        ("max_depth", None),
        ("max_leaf_nodes", 3),
        ("min_samples_leaf", 2),
        ("leaf_penalty", 0.02),
        ("thresholds", 7),
        ("thresholds", {"x0": 3}),
        ("objective", "balanced_accuracy"),
        ("class_weight", {0: 2.0, 1: 1.0}),
        ("class_weight", "balanced"),
        ("cost_matrix", [[0, 1], [2, 0]]),
        ("cost_matrix", np.array([[0, 1], [1, 0]])),
        ("feature_costs", {"x0": 0.1}),
        ("constraints", (Capacity(1, 0.5),)),
        ("reference", "guess"),
        ("positive_label", 1),
        ("beta", 2.0),
    ],
)
def test_what_defines_the_problem_may_not_change(name, value):
    model = stopped().set_params(**{name: value})
    shown = str(model.certificate_)
    with pytest.raises(ValueError, match=f"^{name} was .* when the tree was fitted and is .* now"):
        model.certify()
    with pytest.raises(ValueError, match=f"^{name} was"):
        model.certify(*data())
    assert str(model.certificate_) == shown


def test_nor_after_a_proof():
    X, y = data()
    model = OptimalTreeClassifier(max_depth=2, thresholds=6).fit(X, y)
    assert model.status_ == "optimal"
    with pytest.raises(ValueError, match="max_depth was 2 when the tree was fitted and is 3 now"):
        model.set_params(max_depth=3).certify()
    assert "of depth at most 2" in str(model.certificate_)
    assert model.set_params(max_depth=2).certify() is model


def test_the_limits_of_a_run_may_change():
    X, y = data()
    best = OptimalTreeClassifier(max_depth=3, thresholds=6).fit(X, y)
    seen = []
    run = {
        "time_limit": 50.0,
        "memory_limit": 1e9,
        "gap_limit": 1e-9,
        "n_jobs": 2,
        "verbose": 0,
        "callback": seen.append,
    }
    assert set(run) == set(OF_RUNS)
    model = stopped().set_params(**run).certify()
    assert model.status_ == "optimal" and model.objective_ == best.objective_
    assert model.certificate_.time_limit == 50.0 and model.certificate_.threads == 2


def test_parameters_that_are_changed_in_place_are_found():
    X, y = data()
    weights, costs, cuts = {0: 1.0, 1: 2.0}, np.array([[0.0, 1.0], [3.0, 0.0]]), {"x0": [0.2, 0.7]}
    models = {
        "class_weight": stopped(class_weight=weights),
        "cost_matrix": stopped(cost_matrix=costs),
        "thresholds": stopped(
            OptimalTreeClassifier, pl.DataFrame(
                X, schema=[f"x{i}" for i in range(5)]
            ), y, thresholds=cuts
        ),
    }
    weights[1], costs[1, 0] = 3.0, 4.0
    cuts["x0"].append(0.9)
    for name, model in models.items():
        with pytest.raises(ValueError, match=f"^{name} was another .* and is another"):
            model.certify()


def test_parameters_of_models_inside_are_looked_at():
    X, y = data()
    model = stopped(thresholds=ThresholdGuesser(), reference=RandomForestClassifier(random_state=0))
    model.reference.set_params(max_depth=2)
    with pytest.raises(ValueError, match="^reference__max_depth was None .* is 2 now"):
        model.certify()
    model.set_params(reference=RandomForestClassifier(random_state=0))
    with pytest.raises(ValueError, match="^reference was RandomForestClassifier"):
        model.certify()


def test_equal_values_are_no_change():
    X, y = data()
    frame = pl.DataFrame(X, schema=[f"x{i}" for i in range(5)])
    when = [datetime.date(2020, 1, day) for day in (1, 5)]
    days = pl.Series(RNG.integers(0, 9, 300)).cast(pl.Date)
    frame = frame.with_columns(day=days + pl.duration(days=18262))
    given = {
        "max_depth": 3,
        "class_weight": {0: 1.0, 1: 2.0},
        "cost_matrix": np.array([[0.0, 1.0], [3.0, 0.0]]),
        "thresholds": {"x0": [0.2, 0.7], "day": when},
        "feature_costs": {"x1": FeatureCost(0.1, group="a", discounted=0.05)},
    }
    model = stopped(OptimalTreeClassifier, frame, y, **given)
    assert model.set_params(**copy.deepcopy(given)).certify().status_ == "optimal"
    model = stopped(OptimalTreeClassifier, frame, y, **given)
    model.set_params(max_depth=np.int64(3), feature_costs=copy.deepcopy(given["feature_costs"]))
    assert model.certify().status_ == "optimal"


def test_frozen_values_are_equal_if_the_values_are():
    pairs = [
        (np.array([1.0, np.nan]), np.array([1.0, np.nan])),
        (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 2]})),
        (pl.Series([1, 2]), pl.Series([1, 2])),
        ({"a": [1, (2, 3)]}, {"a": [1, (2, 3)]}),
        (np.array(["a", None], dtype=object), np.array(["a", None], dtype=object)),
        (DemographicParity("x", 0.1), DemographicParity("x", 0.1)),
        (np.float64, np.float64),
        (np.float64(0.5), 0.5),
    ]
    for one, other in pairs:
        assert frozen(one) == frozen(other)
    different = [
        np.array([1, 2]), np.array([1, 2.0]), np.array([[1, 2]]), pl.Series([1, 3]),
        pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"b": [1, 2]}), [1, 2], {1: 2}, "1", 1, None,
        DemographicParity("x", 0.2), RandomForestClassifier(), RandomForestClassifier(), len,
        np.float64, np.float32, np.array(object(), dtype=object),
    ]  # fmt: skip
    for at, one in enumerate(different):
        for other in different[:at]:
            assert frozen(one) != frozen(other)


@pytest.mark.parametrize(
    "change",
    [
        lambda X, y, w: X.__setitem__(slice(None), X[::-1].copy()),
        lambda X, y, w: X.__imul__(2),
        lambda X, y, w: X.__setitem__((0, 0), X[0, 0] + 0.5),
        lambda X, y, w: y.__setitem__(0, y[0] + 1),
        lambda X, y, w: w.__setitem__(0, 5),
        lambda X, y, w: w.__imul__(2),
    ],
)
def test_data_that_are_changed_in_place_are_found(change):
    X, y = data()
    weights = np.ones(300)
    for kind, target in (
        (OptimalTreeClassifier, y.copy()),
        (OptimalTreeRegressor, y + 0.5),
        (OptimalCostTree, np.column_stack([y, 1.5 - y])),
    ):
        mine, w = X.copy(), weights.copy()
        model = stopped(kind, mine, target, w)
        tree, certificate = model.tree_, model.certificate_
        change(mine, target if target.ndim == 1 else target[:, 0], w)
        with pytest.raises(ValueError, match="training data have changed since the fit"):
            model.certify()
        assert model.tree_ is tree and model.certificate_ is certificate


def test_a_file_that_is_written_again_is_found(tmp_path):
    X, y = data()
    frame = pl.DataFrame(X, schema=[f"x{i}" for i in range(5)]).with_columns(y=y)
    path = tmp_path / "rows.parquet"
    frame.write_parquet(path)
    model = stopped(OptimalTreeClassifier, pl.scan_parquet(path), "y")
    frame.with_columns(y=1 - pl.col("y")).write_parquet(path)
    with pytest.raises(ValueError, match="or the files behind them"):
        model.certify()
    frame.write_parquet(path)
    assert model.certify().status_ == "optimal"


def cases():
    X, y = data()
    frame = pl.DataFrame(X, schema=[f"x{i}" for i in range(5)])
    frame = frame.with_columns(
        city=pl.Series(RNG.choice(["a", "b", "c"], 300)), old=pl.Series(y == 1)
    )
    weights = RNG.random(300)
    costs = RNG.random((300, 3))
    hard = RNG.integers(0, 3, 300)
    yield "classes", OptimalTreeClassifier, {}, (X, y)
    yield "frame", OptimalTreeClassifier, {"thresholds": "all"}, (frame, hard)
    yield "weights", OptimalTreeClassifier, {}, (X, y, weights)
    yield "balanced", OptimalTreeClassifier, {"objective": "balanced_accuracy"}, (X, y)
    yield "leaves", OptimalTreeClassifier, {"max_leaf_nodes": 4, "min_samples_leaf": 9}, (X, y)
    yield "reference", OptimalTreeClassifier, {"reference": "guess"}, (X, y)
    yield "guess", OptimalTreeClassifier, {"thresholds": "guess"}, (X, y)
    yield "feature costs", OptimalTreeClassifier, {"feature_costs": {"x0": 0.01}}, (frame, hard)
    yield "squares", OptimalTreeRegressor, {}, (X, X[:, 0] * RNG.random(300))
    yield "two targets", OptimalTreeRegressor, {"thresholds": "all"}, (X, X[:, :2] ** 2, weights)
    yield "costs", OptimalCostTree, {}, (frame, costs, weights)
    yield "feature_costs", OptimalCostTree, {"feature_costs": {("x0", "x1"): 0.01}}, (frame, costs)
    binarizer = ThresholdBinarizer(4).fit(X)
    yield "binarizer", OptimalTreeClassifier, {"thresholds": binarizer}, (X, y)


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case[0])
def test_a_pickled_model_goes_on_with_its_data(case):
    _, kind, parameters, given = case
    given_parameters = {"max_depth": 3, "thresholds": 6, "leaf_penalty": 0.001, **parameters}
    best = kind(**{**given_parameters, "reference": None}).fit(*given)
    model = stopped(kind, *given, **given_parameters)
    again = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match="pass them, as they were given to fit"):
        again.certify()
    # A part of the way, and then the rest: bounds never loosen.
    again.set_params(time_limit=1e-9).certify(*given)
    assert again.objective_ <= model.objective_ and again.lower_bound_ >= model.lower_bound_
    again = pickle.loads(pickle.dumps(again)).set_params(time_limit=None)
    assert again.certify(*given).status_ == "optimal"
    assert again.objective_ == pytest.approx(best.objective_, abs=1e-12)
    assert again.lower_bound_ >= model.lower_bound_ and again.lower_bound_ <= again.objective_
    assert (again.predict(given[0]).shape == best.predict(given[0]).shape)
    np.testing.assert_allclose(
        [node.loss for node in again.tree_.nodes][:1], [node.loss for node in best.tree_.nodes][:1]
    )
    # The model itself goes on as well, with the data or without them.
    assert model.certify(*given).objective_ == pytest.approx(best.objective_, abs=1e-12)
    assert again.certify(*given) is again


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case[0])
def test_other_rows_are_refused(case):
    _, kind, parameters, (X, *rest) = case
    model = stopped(kind, X, *rest, **parameters)
    again = pickle.loads(pickle.dumps(model))
    for other in (X[::-1], X[:-1]):
        short = [each[: len(other)] for each in rest]
        for each in (model, again):
            with pytest.raises(ValueError, match="not the rows that the tree was fitted to"):
                each.certify(other, *short)
    for each in (model, again):
        with pytest.raises(ValueError, match="not the rows that the tree was fitted to"):
            each.certify(X, rest[0][::-1], *rest[1:])


def test_a_policy_goes_on_with_its_rewards():
    X, _ = data()
    rewards = RNG.random((300, 3))
    best = OptimalPolicyTree(max_depth=3, thresholds=6).fit(X, rewards=rewards)
    model = OptimalPolicyTree(max_depth=3, thresholds=6, time_limit=1e-9).fit(X, rewards=rewards)
    model.set_params(time_limit=None)
    again = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match="not the rows"):
        again.certify(X, rewards=rewards[::-1])
    assert again.certify(X, rewards=rewards).objective_ == best.objective_
    np.testing.assert_allclose(again.predict_rewards(X), best.predict_rewards(X))
    assert model.certify().objective_ == best.objective_
    treatment, outcome = RNG.choice(["a", "b"], 300), RNG.random(300)
    seen = {"treatment": treatment, "outcome": outcome, "propensity": np.full(300, 0.5)}
    model = OptimalPolicyTree("ipw", max_depth=3, thresholds=6, time_limit=1e-9).fit(X, **seen)
    again = pickle.loads(pickle.dumps(model)).set_params(time_limit=None)
    assert again.certify(X, **seen).status_ == "optimal"
    assert model.set_params(time_limit=None).certify().objective_ == again.objective_


def test_another_process_goes_on(tmp_path):
    X, y = data()
    model = stopped()
    (tmp_path / "model").write_bytes(pickle.dumps(model))
    np.savez(tmp_path / "data.npz", X=X, y=y)
    script = (
        "import pickle, numpy as np\n"
        f"model = pickle.load(open({str(tmp_path / 'model')!r}, 'rb'))\n"
        f"data = np.load({str(tmp_path / 'data.npz')!r})\n"
        "print(model.certify(data['X'], data['y']).status_, repr(model.objective_))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == f"optimal {model.certify().objective_!r}\n", done.stderr


def open_search():
    """A model of noise whose search was stopped in the middle, and its rows."""
    rng = np.random.default_rng(11)
    X, y = rng.integers(0, 2, (600, 22)).astype(bool), rng.integers(0, 2, 600)
    whole = OptimalTreeClassifier(max_depth=5, n_jobs=1).fit(X, y).certificate_
    early, late = 0.0, 4 * whole.seconds
    for _ in range(30):
        limit = (early + late) / 2
        model = OptimalTreeClassifier(max_depth=5, time_limit=limit, n_jobs=1).fit(X, y)
        if model.status_ == "optimal":
            late = limit
        elif model.certificate_.nodes <= 10:
            early = limit
        else:
            return model.set_params(time_limit=None), (X, y)
    raise AssertionError("no search was stopped in the middle")


def test_a_pickled_search_goes_on_where_it_was():
    model, given = open_search()
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(model))))
    assert len(pickle.dumps(again)) < estimators_base.MOST_SAVED
    forgetful = pickle.loads(pickle.dumps(model))
    forgetful._saved_search = None
    model.certify()
    assert again.certify(*given).status_ == forgetful.certify(*given).status_ == "optimal"
    assert again.objective_ == model.objective_ == forgetful.objective_
    assert again.tree_ == model.tree_
    work = [(each.certificate_.nodes, each.certificate_.kernel_calls) for each in (model, again)]
    assert work[0] == work[1] and again.certificate_.nodes <= forgetful.certificate_.nodes


def test_a_search_that_cannot_be_read_is_searched_again(monkeypatch):
    model, given = open_search()
    for damage in (b"", b"of another version", None):
        again = pickle.loads(pickle.dumps(model))
        saved = again._saved_search
        again._saved_search = saved[: len(saved) // 2] if damage is None else damage
        assert again.certify(*given).status_ == "optimal"
    # What is too large stays behind, but for the tree and its bound.
    monkeypatch.setattr(estimators_base, "MOST_SAVED", 0)
    again = pickle.loads(pickle.dumps(model))
    assert len(again._saved_search) < 10_000
    assert again.certify(*given).objective_ == model.certify().objective_


def test_problems_are_bytes():
    X, y = data()
    model = OptimalTreeClassifier(max_depth=2, thresholds=6)
    problem = model._pose((X, y, None)).problem
    again = _core.Problem.from_bytes(problem.to_bytes())
    assert again.digest == problem.digest and again.to_bytes() == problem.to_bytes()
    one, other = (_core.solve(each, _core.Limits()) for each in (problem, again))
    assert one.tree.parts() == other.tree.parts() and one.objective == other.objective
    damaged = bytearray(problem.to_bytes())
    damaged[len(damaged) // 2] ^= 4
    for wrong in (b"", bytes(damaged), one.tree.parts().__repr__().encode()):
        with pytest.raises(ValueError, match=r"damaged|not a problem of certree"):
            _core.Problem.from_bytes(wrong)


def test_metrics_are_fitted_again():
    X, y = data()
    model = stopped(OptimalTreeClassifier, X, y, objective="f1")
    for given in ((), (X, y)):
        with pytest.raises(ValueError, match="losses that add up"):
            model.certify(*given)


def test_a_guess_that_was_not_searched_to_the_end_is_not_in_the_certificate():
    X, y = data(400)
    stopped_early = stopped(OptimalTreeClassifier, X, y, reference="guess")
    assert "Guessed" not in str(stopped_early.certificate_)
    assert stopped_early.certificate_.reference is not None
    model = OptimalTreeClassifier(max_depth=3, thresholds=6, reference=1 - y).fit(X, y)
    if model.status_ == "optimal_given_guess":
        assert "Guessed" in str(model.certificate_)


def test_smaller_trees_of_a_frontier_say_what_they_are():
    X, y = data()
    front = frontier(OptimalTreeClassifier(max_depth=3, thresholds=6), X, y)
    assert front["leaves"].is_sorted(descending=True) and len(front) > 2


def test_a_fit_that_fails_leaves_the_last_one_whole():
    X, y = data()
    model = stopped(thresholds="guess")
    before = dict(vars(model))
    with pytest.raises(ValueError):
        model.fit(X, y[:-1])
    assert vars(model) == before
    assert model.certify().status_ == "optimal"


def test_what_was_fitted_cannot_be_changed():
    model = stopped()
    assert isinstance(model._fitted, Fitted)
    with pytest.raises(AttributeError):
        model._fitted.max_depth = 4


def test_a_callback_that_sets_parameters_changes_nothing_of_what_is_fitted():
    X, y = data(1500, 10)
    seen = []

    def callback(progress):
        seen.append(progress)
        model.set_params(max_depth=9, leaf_penalty=0.5)
        return False

    model = OptimalTreeClassifier(
        max_depth=6, thresholds=15, leaf_penalty=1e-4, time_limit=None, callback=callback
    )
    model.fit(X, RNG.integers(0, 2, 1500))
    assert seen and model.certificate_.max_depth == 6 and model.certificate_.leaf_penalty == 1e-4
    with pytest.raises(ValueError, match="^leaf_penalty was 0.0001 .* is 0.5 now"):
        model.certify()


def test_data_that_a_callback_changes_under_the_search_are_found():
    rng = np.random.default_rng(0)
    X, y = rng.random((1500, 10)), rng.integers(0, 2, 1500)

    def callback(progress):
        X[:] = 2 * X
        return False

    model = OptimalTreeClassifier(
        max_depth=6, thresholds=15, leaf_penalty=1e-4, time_limit=None, callback=callback
    )
    with pytest.raises(ValueError, match="training data have changed"):
        model.fit(X, y)
    assert not hasattr(model, "tree_")
