"""A warning names the line of the user's that led to it, not one of certree's or scikit-learn's."""

import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.tree import DecisionTreeClassifier

from certree import (
    MostColumns,
    OptimalTreeClassifier,
    OptimalTreeCV,
    OptimalTreeRegressor,
    frontier,
    nested,
    path,
    stability,
)
from certree.scoring import Scorer

#: What it measures depends on what else the machine does.
pytestmark = pytest.mark.alone

SITES = pl.DataFrame({"site": ["a", "b", "a", "b"]})
BY_SITE = OptimalTreeClassifier(max_depth=1, leaf_penalty=0).fit(SITES, [0, 1, 0, 1])
ELSEWHERE = pl.DataFrame({"site": ["c"]})
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(3000, 8)), RNG.integers(0, 2, 3000)
AT_ONCE = OptimalTreeClassifier(max_depth=6, leaf_penalty=0, time_limit=0.05)
DEEP = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)
NARROW = OptimalTreeClassifier(max_depth=3, leaf_penalty=0, path_rules=[MostColumns(1)])
CALLS = {
    "predict": lambda: BY_SITE.predict(ELSEWHERE),
    "predict of the tree": lambda: BY_SITE.tree_.predict(ELSEWHERE),
    "score": lambda: BY_SITE.score(ELSEWHERE, [0]),
    "a scorer": lambda: Scorer(BY_SITE.tree_.to_json()).predict(ELSEWHERE.to_dict()),
    "a fit": lambda: AT_ONCE.fit(X, Y),
    "a fit of numbers": lambda: OptimalTreeRegressor(max_depth=6, time_limit=0.05).fit(X, Y),
    "certify": lambda: AT_ONCE.fit(X, Y).certify(),
    "a start": lambda: NARROW.set_params(time_limit=None).fit(X[:50], Y[:50], start=DEEP),
    "a frontier": lambda: frontier(AT_ONCE, X, Y, time_limit=0.1),
    "a whole frontier": lambda: frontier(
        AT_ONCE, X, Y, axes=("false_negatives", "false_positives"), time_limit=0.1
    ),
    "a path": lambda: path(AT_ONCE, X, Y, max_depths=[3]),
    "resamples": lambda: stability(AT_ONCE, X, Y, refits=99, time_limit=0.2),
    "nested cross-validation": lambda: nested(
        OptimalTreeCV(AT_ONCE, cv=2, max_depths=[3]), X, Y, cv=2
    ),
    "cross-validation": lambda: OptimalTreeCV(AT_ONCE, cv=2, max_depths=[3]).fit(X, Y),
}


@pytest.mark.parametrize("call", CALLS)
def test_warnings_point_at_the_users_line(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CALLS[call]()
    assert caught
    for each in caught:
        assert each.filename == __file__, str(each.message)
