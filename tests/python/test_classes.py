"""Labels named beforehand: rows to fit may lack some of them."""

import pickle

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, cross_val_score

from certree import DemographicParity, OptimalTreeClassifier, scorers

pytestmark = pytest.mark.usefixtures("one_thread")

N = 60
RNG = np.random.default_rng(2)
X = pl.DataFrame({"a": RNG.integers(0, 9, N), "b": RNG.integers(0, 5, N), "s": RNG.random(N) < 0.5})
THREE = np.where(X["a"].to_numpy() > 5, "high", np.where(X["b"].to_numpy() > 2, "low", "mid"))
LACKING = np.where(THREE == "low", "mid", THREE)
ALL = ["mid", "low", "high"]

PARAMETERS = [
    {},
    {"objective": "balanced_accuracy"},
    {"class_weight": {"low": 2.0, "mid": 3.0}},
    {"class_weight": "balanced"},
    {"cost_matrix": [[0, 1, 2], [3, 0, 4], [5, 6, 0]]},
    {"objective": "gini"},
    {"objective": "log_loss", "class_weight": "balanced"},
    {"constraints": (DemographicParity("s", 0.2, label="mid"),), "class_weight": {"low": 2.0}},
    {"thresholds": "guess", "class_weight": {"low": 2.0, "mid": 3.0}},
    {"thresholds": "guess", "reference": "guess"},
    {"reference": RandomForestClassifier(3, max_depth=2, random_state=0)},
    {"feature_costs": {"a": 0.01}},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_a_class_that_no_row_has_changes_nothing_else(parameters):
    model = OptimalTreeClassifier(max_depth=2, classes=ALL, **parameters).fit(X, LACKING)
    assert model.classes_.tolist() == ["high", "low", "mid"] and model.n_classes_ == 3
    shares = model.predict_proba(X)
    assert shares.shape == (N, 3) and (shares[:, 1] == 0).all()
    # Labels that cost less for every row present are another matter.
    fewer = dict(parameters)
    if "cost_matrix" in fewer:
        fewer["cost_matrix"] = np.array(fewer["cost_matrix"])[[0, 2]][:, [0, 2]]
    if isinstance(fewer.get("class_weight"), dict):
        fewer["class_weight"] = {"mid": fewer["class_weight"].get("mid", 1.0)}
    alone = OptimalTreeClassifier(max_depth=2, **fewer).fit(X, LACKING)
    assert model.objective_ == pytest.approx(alone.objective_, abs=1e-12)
    assert set(model.predict(X)) <= {"high", "mid"}
    assert model.certify().status_ == "optimal" if "constraints" not in parameters else True


def test_all_classes_named_is_as_if_none_were():
    for parameters in PARAMETERS:
        named = OptimalTreeClassifier(max_depth=2, classes=np.array(ALL), **parameters).fit(
            X, THREE
        )
        free = OptimalTreeClassifier(max_depth=2, **parameters).fit(X, THREE)
        assert named.objective_ == free.objective_
        assert named.tree_.to_json() == free.tree_.to_json()


def test_streams_and_columns_by_name():
    frame = X.with_columns(y=pl.Series(LACKING))
    wanted = OptimalTreeClassifier(max_depth=2, classes=ALL).fit(X, LACKING)
    for table in (frame.lazy(), frame):
        model = OptimalTreeClassifier(max_depth=2, classes=ALL).fit(table, "y")
        assert model.tree_.to_json() == wanted.tree_.to_json()
        assert pickle.loads(pickle.dumps(model)).certify(table, "y").status_ == "optimal"


def test_folds_that_lack_a_class_can_be_fitted_and_scored():
    order = np.argsort(THREE, kind="stable")
    costs = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]])
    model = OptimalTreeClassifier(max_depth=2, cost_matrix=costs, classes=ALL)
    rows = X[order.tolist()]
    found = cross_val_score(model, rows, THREE[order], cv=KFold(3), scoring=scorers.objective)
    assert np.isfinite(found).all()
    with pytest.raises(ValueError, match="cost_matrix has the shape"):
        model.set_params(classes=None).fit(X, LACKING)


@pytest.mark.parametrize("objective", ["f1", "fbeta", "jaccard", "mcc", "auc"])
def test_objectives_of_two_classes_need_rows_of_both(objective):
    model = OptimalTreeClassifier(objective, classes=["no", "yes"])
    for label, lacking in (("yes", "negative"), ("no", "positive")):
        with pytest.raises(ValueError, match=f"no row of the {lacking} class|rows of both classes"):
            model.fit(X, [label] * N)


def test_several_targets():
    y = np.column_stack([LACKING, np.where(X["s"].to_numpy(), "on", "off")])
    model = OptimalTreeClassifier(max_depth=2, classes=[ALL, ["on", "off", "lost"]]).fit(X, y)
    assert [own.tolist() for own in model.classes_] == [
        ["high", "low", "mid"],
        ["lost", "off", "on"],
    ]
    alone = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert model.objective_ == alone.objective_ and (model.predict(X) == alone.predict(X)).all()
    assert [own.shape for own in model.predict_proba(X)] == [(N, 3), (N, 3)]
    with pytest.raises(ValueError, match="a list of 2 vectors"):
        OptimalTreeClassifier(classes=ALL).fit(X, y)


def test_other_types_of_labels():
    for labels, all_ in [
        (np.arange(N) % 2, [0, 1, 2]),
        (np.arange(N) % 2 == 0, np.array([True, False])),
        (pl.Series(LACKING).cast(pl.Categorical), pl.Series(ALL)),
        (np.array([b"x", b"y"])[np.arange(N) % 2], [b"x", b"y", b"z"]),
    ]:
        model = OptimalTreeClassifier(max_depth=1, classes=all_).fit(X, labels)
        assert sorted(model.classes_.tolist()) == sorted(set(list(all_)))
        assert set(model.predict(X).tolist()) <= set(list(all_))


def test_bad_classes():
    with pytest.raises(
        ValueError, match=r"y has the labels \['low'\], which classes= does not name"
    ):
        OptimalTreeClassifier(classes=["mid", "high"]).fit(X, THREE)
    with pytest.raises(ValueError, match="classes='mid' is not valid"):
        OptimalTreeClassifier(classes="mid").fit(X, THREE)
    with pytest.raises(ValueError, match="classes"):
        OptimalTreeClassifier(classes=["mid", None]).fit(X, THREE)
