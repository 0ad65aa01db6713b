"""Scores by what was optimised: on training rows they are the objective, on others they are by
hand, and scikit-learn's tools can use them with every estimator."""

import warnings

import numpy as np
import polars as pl
import pytest
import sklearn
from sklearn.linear_model import LinearRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from certree import (
    DemographicParity,
    FeatureCost,
    OptimalCostTree,
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    ThresholdBinarizer,
    scorers,
)

pytestmark = pytest.mark.usefixtures("one_thread")

N = 90
RNG = np.random.default_rng(4)
X = pl.DataFrame(
    {
        "a": RNG.integers(0, 8, N),
        "b": RNG.integers(0, 6, N),
        "job": RNG.choice(["clerk", "cook", "smith"], N),
    }
)
NUMBERS = X["a"].to_numpy() + 2.0 * (X["job"] == "cook").to_numpy() + RNG.normal(size=N).round(2)
TWO = np.where(NUMBERS > 4, "yes", "no")
THREE = np.digitize(NUMBERS, [2.5, 5.0])
COSTS = np.abs(NUMBERS[:, None] - np.array([1.0, 4.0, 7.0])).round(2)
WEIGHTS = RNG.integers(0, 4, N) + 0.5
TIMES, EVENTS = np.abs(NUMBERS).round() + 1, RNG.random(N) < 0.7
YEARS = RNG.uniform(0.5, 3.0, N)
COUNTS = RNG.poisson(YEARS * np.abs(NUMBERS) / 4)


class Spread:
    """Squared error, as a task of one's own."""

    def leaf_cost(self, sums):
        n, y, squares = sums.T
        return squares - y * y / n

    def answer(self, sums):
        return float(sums[1] / sums[0])

    def row_costs(self, statistics, answers):
        return (statistics[:, 1] - answers) ** 2


STATISTICS = np.column_stack([np.ones(N), NUMBERS, NUMBERS**2])
MODELS = {
    "accuracy": (OptimalTreeClassifier(), (THREE,), {}),
    "balanced": (OptimalTreeClassifier("balanced_accuracy"), (THREE,), {}),
    "class weights": (OptimalTreeClassifier(class_weight={0: 2.5, 2: 0.5}), (THREE,), {}),
    "balanced weights": (OptimalTreeClassifier(class_weight="balanced"), (TWO,), {}),
    "costs": (
        OptimalTreeClassifier(cost_matrix=[[0, 1, 2.5], [3, 0, 1], [1, 4, 0]], leaf_penalty=0.02),
        (THREE,),
        {},
    ),
    "feature costs": (
        OptimalTreeClassifier(
            feature_costs={"a": FeatureCost(0.03, "g", 0.01), "b": FeatureCost(0.02, "g", 0.01)},
            class_weight={"yes": 2.0},
        ),
        (TWO,),
        {},
    ),
    "constraints": (
        OptimalTreeClassifier(constraints=(DemographicParity("s", 0.1),), leaf_penalty=0.0),
        (TWO,),
        {},
    ),
    "f1": (OptimalTreeClassifier("f1"), (TWO,), {}),
    "f1 of no": (OptimalTreeClassifier("f1", positive_label="no"), (TWO,), {}),
    "fbeta": (OptimalTreeClassifier("fbeta", beta=2.0, class_weight={"no": 3.0}), (TWO,), {}),
    "jaccard": (OptimalTreeClassifier("jaccard"), (TWO,), {}),
    "mcc": (OptimalTreeClassifier("mcc"), (TWO,), {}),
    "auc": (OptimalTreeClassifier("auc"), (TWO,), {}),
    "partial auc": (OptimalTreeClassifier("partial_auc", max_fpr=0.2), (TWO,), {}),
    "gini": (OptimalTreeClassifier("gini"), (THREE,), {}),
    "log loss": (OptimalTreeClassifier("log_loss", class_weight="balanced"), (THREE,), {}),
    "mdl": (OptimalTreeClassifier("mdl", class_weight={0: 2.0}), (THREE,), {}),
    "targets": (OptimalTreeClassifier(), (np.column_stack([THREE, NUMBERS > 3]),), {}),
    "squares": (OptimalTreeRegressor(), (NUMBERS,), {}),
    "squares of two": (OptimalTreeRegressor(), (np.column_stack([NUMBERS, 3 * COUNTS]),), {}),
    "poisson": (OptimalTreeRegressor("poisson"), (COUNTS,), {"exposure": YEARS}),
    "gamma": (OptimalTreeRegressor("gamma"), (np.abs(NUMBERS) + 0.1,), {}),
    "absolute": (OptimalTreeRegressor("absolute_error"), (NUMBERS,), {}),
    "quantile": (OptimalTreeRegressor("quantile", quantile=0.8), (NUMBERS,), {}),
    "costs by row": (OptimalCostTree(), (COSTS,), {}),
    "costs and tests": (OptimalCostTree(feature_costs={("a", "b"): 0.4}), (COSTS,), {}),
    "rewards": (OptimalPolicyTree(), (), {"rewards": -COSTS}),
    "policy": (
        OptimalPolicyTree("dm", maximize=False),
        (TWO, NUMBERS),
        {"predicted": COSTS[:, :2]},
    ),
    "survival": (OptimalSurvivalTree(), (TIMES, EVENTS), {}),
    "own": (OptimalTree(Spread()), (STATISTICS,), {}),
}


def table(name):
    return X.with_columns(s=pl.Series(np.arange(N) % 2 == 0)) if name == "constraints" else X


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["even", "weights"])
@pytest.mark.parametrize("name", list(MODELS))
def test_on_training_rows_it_is_the_objective_without_the_penalty(name, weights):
    model, data, more = MODELS[name]
    model = sklearn.clone(model).set_params(max_depth=2)
    model.fit(table(name), *data, **more, sample_weight=weights)
    own = model.certificate_
    score = scorers.objective(
        model, table(name), *data[:1], sample_weight=weights, **keyword(data, more)
    )
    wanted = model.objective_ - own.leaf_penalty * own.n_leaves
    if name == "mdl":
        # The bits of the splits: there is one fewer than there are leaves.
        wanted += float(own.loss.split("less ")[1].split(" ")[0])
    assert -score == pytest.approx(wanted, rel=1e-5 if name == "mdl" else 1e-9, abs=1e-12)


def keyword(data, more):
    names = {id(NUMBERS): "outcome", id(EVENTS): "event"}
    return {**more, **{names[id(value)]: value for value in data[1:]}}


def test_on_other_rows_metrics_are_those_of_scikit_learn():
    old, new = np.arange(N) < 60, np.arange(N) >= 60
    rows = X.filter(pl.Series(old))
    others, y = X.filter(pl.Series(new)), TWO[new]

    def both(objective, **parameters):
        model = OptimalTreeClassifier(objective, max_depth=2, **parameters).fit(rows, TWO[old])
        return model, 1.0 + scorers.objective(model, others, y)

    model, found = both("f1")
    assert found == pytest.approx(f1_score(y, model.predict(others), pos_label="yes"))
    model, found = both("balanced_accuracy")
    assert found == pytest.approx(balanced_accuracy_score(y, model.predict(others)))
    model, found = both("auc")
    scores = model.predict_proba(others)[:, 1]
    assert found == pytest.approx(roc_auc_score(y, scores))
    model, found = both("log_loss")
    assert 1.0 - found == pytest.approx(log_loss(y, model.predict_proba(others)))
    # McClish's correction undone: the mean height of the curve.
    most = 0.3
    model, found = both("partial_auc", max_fpr=most)
    standard = roc_auc_score(y, model.predict_proba(others)[:, 1], max_fpr=most)
    least = most**2 / 2
    assert found * most == pytest.approx(least + (2 * standard - 1) * (most - least))


def test_costs_of_columns_decide_which_depth_is_chosen():
    rng = np.random.default_rng(1)
    scans = pl.DataFrame({"age": rng.integers(0, 9, 200), "scan": rng.integers(0, 2, 200)})
    ill = (scans["age"].to_numpy() > 4) ^ (scans["scan"].to_numpy() == 1) & (rng.random(200) < 0.4)
    costs = pl.DataFrame({"well": ill * 1.0, "ill": ~ill * 1.0})
    model = OptimalCostTree(leaf_penalty=0.0, feature_costs={"scan": 0.5})
    search = GridSearchCV(model, {"feature_costs": [{}, {"scan": 0.5}]}, cv=3)
    search.set_params(param_grid={"max_depth": [0, 1, 2]}, scoring=scorers.objective)
    fitted = search.fit(scans, costs).best_estimator_
    assert fitted.feature_costs_paid(scans).max() == 0.0
    mean = -np.mean(fitted._paid(scans, costs, None)[0])
    assert fitted.score(scans, costs) == pytest.approx(mean)
    dear = OptimalCostTree(leaf_penalty=0.0, max_depth=1, feature_costs={"age": 0.1})
    dear.fit(scans, costs)
    paid = dear.feature_costs_paid(scans).mean()
    assert paid == pytest.approx(0.1)
    assert scorers.objective(dear, scans, costs) == pytest.approx(dear.score(scans, costs) - paid)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "targets"])
def test_every_estimator_in_cross_validation(name):
    """Without metadata routing: y as one vector or table, or columns of X by name."""
    model, data, more = MODELS[name]
    model = sklearn.clone(model).set_params(max_depth=1)
    params, rows, y = {}, table(name), data[0] if data else None
    if name == "rewards":
        y = -COSTS
    if name == "policy":
        predicted = {f"p{k}": COSTS[:, k] for k in range(2)}
        rows = rows.with_columns(t=pl.Series(TWO), o=NUMBERS, **predicted)
        y, params = None, {"treatment": "t", "outcome": "o", "predicted": ["p0", "p1"]}
    if name == "survival":
        y = pl.DataFrame({"time": TIMES, "event": EVENTS})
    if name == "poisson":
        rows, params = rows.with_columns(years=YEARS), {"exposure": "years"}
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        folds = KFold(3, shuffle=True, random_state=0)
        for scoring in (scorers.objective, None):
            if scoring is None and name == "own":
                continue
            found = cross_val_score(model, rows, y, cv=folds, params=params, scoring=scoring)
            assert len(found) == 3 and not np.isnan(found).any()


def test_names_and_tables_give_what_values_give():
    outcome = np.where(TWO == "yes", NUMBERS, -NUMBERS)
    frame = X.with_columns(t=pl.Series(TWO), o=outcome, mu=np.full(N, 0.4), w=WEIGHTS)
    model = OptimalPolicyTree(max_depth=1, n_folds=2, outcome_model=LinearRegression())
    named = sklearn.clone(model).fit(frame, "t", "o", "mu", sample_weight="w")
    given = sklearn.clone(model).fit(X, TWO, outcome, np.full(N, 0.4), sample_weight=WEIGHTS)
    assert named.objective_ == given.objective_
    want = given.score(X, TWO, outcome, np.full(N, 0.4))
    assert named.score(frame) == want == scorers.objective(named, frame)
    in_one = pl.DataFrame({"treatment": TWO, "outcome": outcome, "propensity": np.full(N, 0.4)})
    for y in (in_one, in_one.to_pandas(), in_one.to_arrow(), in_one.to_numpy(structured=True)):
        table_given = sklearn.clone(model).fit(X, y, sample_weight=WEIGHTS)
        assert table_given.objective_ == given.objective_
        assert table_given.score(X, y) == want
    weighted = scorers.Objective(sample_weight="w")
    assert weighted(named, frame) == pytest.approx(
        given.score(X, TWO, outcome, np.full(N, 0.4), sample_weight=WEIGHTS)
    )
    frame = frame.drop("w", "mu").with_columns(v0=COSTS[:, 0], v1=COSTS[:, 1])
    direct = OptimalPolicyTree("dm", max_depth=1).fit(frame, "t", "o", predicted=["v0", "v1"])
    assert direct.score(frame) == direct.score(X, TWO, outcome, predicted=COSTS[:, :2])
    costs = OptimalCostTree(max_depth=1).fit(frame, ["v0", "v1"])
    assert costs.score(frame) == costs.score(frame, frame.select("v0", "v1"))
    survival = OptimalSurvivalTree(max_depth=1)
    seen = X.with_columns(time=TIMES, event=EVENTS)
    want = sklearn.clone(survival).fit(X, TIMES, EVENTS)
    found = sklearn.clone(survival).fit(seen, "time", "event")
    assert found.score(seen) == want.score(X, TIMES, EVENTS)
    pairs = np.array(list(zip(EVENTS, TIMES)), dtype=[("cens", bool), ("until", float)])
    for y in (seen.select("time", "event"), seen.select("event", "time").to_pandas(), pairs):
        again = sklearn.clone(survival).fit(X, y)
        assert (again.objective_, again.score(X, y)) == (
            want.objective_,
            want.score(X, TIMES, EVENTS),
        )
    rates = OptimalTreeRegressor("poisson", max_depth=1)
    years = X.with_columns(years=YEARS)
    found = rates.fit(years, COUNTS, exposure="years").score(years, COUNTS)
    assert found == rates.fit(X, COUNTS, exposure=YEARS).score(X, COUNTS, exposure=YEARS)


def test_a_classifier_reads_its_labels_by_name_too():
    frame = X.with_columns(y=pl.Series(TWO), w=WEIGHTS)
    model = OptimalTreeClassifier("f1", max_depth=1).fit(frame, "y", sample_weight="w")
    assert model.score(frame) == model.score(frame, "y") == model.score(frame, TWO)
    assert model.score(frame, sample_weight="w") == model.score(frame, TWO, WEIGHTS)
    assert scorers.objective(model, frame) == scorers.objective(model, X, TWO)
    folds = KFold(3, shuffle=True, random_state=0)
    for scoring in (None, scorers.objective):
        named = cross_val_score(model, frame, params={"y": "y"}, cv=folds, scoring=scoring)
        given = cross_val_score(model, frame.drop("y"), TWO, cv=folds, scoring=scoring)
        assert named.tolist() == given.tolist()


def test_a_score_that_lacks_something_says_how():
    policy = OptimalPolicyTree("ipw", max_depth=1)
    with pytest.raises(ValueError, match="give y as a table with the columns 'treatment'"):
        cross_val_score(policy, X, TWO, params={"outcome": NUMBERS}, cv=3, error_score="raise")
    policy.fit(X.with_columns(t=pl.Series(TWO), o=NUMBERS), "t", "o", np.full(N, 0.5))
    with pytest.raises(ValueError, match="fit was given propensity by value"):
        policy.score(X.with_columns(t=pl.Series(TWO), o=NUMBERS))
    survival = OptimalSurvivalTree(max_depth=1)
    with pytest.raises(ValueError, match="one table with the columns 'time' and 'event'"):
        cross_val_score(survival, X, TIMES, params={"event": EVENTS}, cv=3, error_score="raise")
    with pytest.raises(ValueError, match="y as a table with the columns 'time' and 'event'"):
        survival.fit(X, TIMES, EVENTS).score(X)
    with pytest.raises(ValueError, match=r"has the columns \['when'\], but may have 'treatment'"):
        strange = pl.DataFrame({"treatment": TWO, "outcome": NUMBERS, "when": TIMES})
        OptimalPolicyTree().fit(X, strange)
    rates = OptimalTreeRegressor("poisson", max_depth=1).fit(X, COUNTS, exposure=YEARS)
    with pytest.raises(ValueError, match="the tree was fitted with exposure="):
        rates.score(X, COUNTS)
    with pytest.raises(ValueError, match="row_costs"):
        task = type("Task", (), {"leaf_cost": Spread.leaf_cost, "answer": Spread.answer})()
        scorers.objective(OptimalTree(task, max_depth=1).fit(X, STATISTICS), X, STATISTICS)
    with pytest.raises(TypeError, match="LinearRegression is no estimator of certree"):
        scorers.objective(LinearRegression(), X, NUMBERS)


def test_labels_that_the_fit_did_not_have():
    model = OptimalTreeClassifier(max_depth=1).fit(X, TWO)
    y = np.where(np.arange(N) < 9, "maybe", model.predict(X))
    assert scorers.objective(model, X, y) == pytest.approx(-0.1)
    model.set_params(objective="f1").fit(X, TWO)
    with pytest.raises(ValueError, match="'maybe'.*classes="):
        scorers.objective(model, X, y)


def test_pipelines_and_searches():
    binary = make_pipeline(ThresholdBinarizer(4), OptimalTreeClassifier("f1", max_depth=1))
    binary.fit(X, TWO)
    own = scorers.objective(binary[-1], binary[0].transform(X), TWO)
    assert scorers.objective(binary, X, TWO) == own
    search = GridSearchCV(OptimalTreeClassifier("f1"), {"max_depth": [0, 1]}, cv=3)
    search.set_params(scoring=scorers.objective)
    assert np.isfinite(cross_val_score(search, X, TWO, scoring=scorers.objective, cv=2)).all()


def test_weights_of_a_search_reach_the_score():
    search = GridSearchCV(
        OptimalTreeClassifier("f1"), {"max_depth": [1]}, cv=[(np.arange(60), np.arange(60, N))]
    )
    search.set_params(scoring=scorers.objective).fit(X, TWO, sample_weight=WEIGHTS)
    model = OptimalTreeClassifier("f1", max_depth=1).fit(X[:60], TWO[:60], WEIGHTS[:60])
    want = scorers.objective(model, X[60:], TWO[60:], sample_weight=WEIGHTS[60:])
    assert search.best_score_ == want != scorers.objective(model, X[60:], TWO[60:])
    named = X.with_columns(w=WEIGHTS)
    found = cross_val_score(
        OptimalTreeClassifier("f1", max_depth=1),
        named,
        TWO,
        cv=[(np.arange(60), np.arange(60, N))],
        scoring=scorers.Objective(sample_weight="w"),
        params={"sample_weight": "w"},
    )
    assert found.tolist() == [want]


def test_metadata_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = scorers.Objective().set_score_request(sample_weight=True, exposure=True)
        model = OptimalTreeRegressor("poisson", max_depth=1)
        model.set_fit_request(sample_weight=True, exposure=True)
        params = {"sample_weight": WEIGHTS, "exposure": YEARS}
        routed = cross_val_score(model, X, COUNTS, params=params, scoring=scorer, cv=KFold(3))
        policy = OptimalPolicyTree("ipw", max_depth=1)
        policy.set_fit_request(outcome=True, propensity=True)
        policy.set_score_request(outcome=True, propensity=True)
        params = {"outcome": NUMBERS, "propensity": np.full(N, 0.5)}
        values = cross_val_score(policy, X, TWO, params=params, cv=KFold(3))
    for (train, test), found, value in zip(KFold(3).split(X), routed, values):
        rows = X[train.tolist()]
        model.fit(rows, COUNTS[train], WEIGHTS[train], YEARS[train])
        others = X[test.tolist()]
        more = {"sample_weight": WEIGHTS[test], "exposure": YEARS[test]}
        assert scorers.objective(model, others, COUNTS[test], **more) == found
        half = np.full(len(train), 0.5)
        policy.fit(rows, TWO[train], NUMBERS[train], half)
        assert policy.score(others, TWO[test], NUMBERS[test], half[: len(test)]) == value
