"""Each way in which a problem can be searched is met by a fit, and its certificate names it."""

from typing import get_args

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from certree import (
    Capacity,
    FeatureCost,
    OptimalCostTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    options,
)
from certree.certificate import ROUTES

RNG = np.random.default_rng(0)
X = RNG.random((300, 2))
TARGETS = X[:, 0] + RNG.random(300)
CLASSES = (TARGETS > 1).astype(int)
FEW = {"max_depth": 2, "thresholds": 4}

FITS = [
    ("greedy separation", OptimalTreeClassifier(leaf_penalty=0, max_depth=None), CLASSES),
    ("one split", OptimalTreeRegressor(max_depth=1), TARGETS),
    ("intervals of cuts", OptimalTreeRegressor(max_depth=2), TARGETS),
    (
        "intervals of cuts",
        OptimalTreeRegressor(max_depth=2, min_samples_leaf=20, max_leaf_nodes=3),
        TARGETS,
    ),
    ("cut by cut", OptimalTreeClassifier(**FEW), CLASSES),
    (
        "cut by cut",
        OptimalCostTree(**FEW, feature_costs={"x0": FeatureCost(0.1)}),
        RNG.random((300, 2)),
    ),
    (
        "relaxations, then fronts",
        OptimalTreeClassifier(**FEW, constraints=(Capacity(1, 0.3),)),
        CLASSES,
    ),
    ("relaxations, then fronts", OptimalTreeClassifier("auc", **FEW), CLASSES),
    ("weighted errors", OptimalTreeClassifier("f1", **FEW), CLASSES),
]


@pytest.mark.parametrize(("route", "model", "y"), FITS)
def test_the_certificate_names_the_route(route, model, y, capsys):
    model.set_params(verbose=True).fit(X, y)
    certificate = model.certificate_
    assert certificate.route == route and certificate.status == "optimal"
    assert f"\nRoute: {route} ({ROUTES[route]}).\n" in certificate.statement()
    assert certificate.to_dict()["route"] == route
    assert capsys.readouterr().err.endswith(f"optimal ({route})\n")


def test_every_route_is_met():
    assert {route for route, *_ in FITS} == set(get_args(options.Route)) == set(ROUTES)


def test_a_fit_that_goes_on_names_the_route_that_it_takes_then():
    model = OptimalTreeRegressor(max_depth=2, reference="guess").fit(X, TARGETS)
    assert model.certificate_.route == "intervals of cuts"
    assert model.certify().certificate_.route == "intervals of cuts"
    with pytest.warns(ConvergenceWarning, match="time limit"):
        stopped = OptimalTreeClassifier(max_depth=3, thresholds=9, time_limit=1e-9).fit(X, CLASSES)
    assert stopped.certificate_.route == "cut by cut"
    assert stopped.set_params(time_limit=None).certify().certificate_.route == "cut by cut"
