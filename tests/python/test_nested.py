"""Nested cross-validation: what a choice of size is worth on rows that had no part in it."""

import pickle
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, cross_val_score

from certree import (
    OptimalCostTree,
    OptimalTreeClassifier,
    OptimalTreeCV,
    OptimalTreeRegressor,
    nested,
    scorers,
)

RNG = np.random.default_rng(3)
X = RNG.integers(0, 5, (120, 4))
Y = (X[:, 0] + X[:, 1] * X[:, 2] + RNG.integers(0, 4, 120) > 7).astype(int)


def classifier(**more):
    return OptimalTreeCV(OptimalTreeClassifier(max_depth=2, thresholds=3), cv=3, **more)


@pytest.mark.parametrize("scoring", [None, "accuracy", "balanced_accuracy"])
@pytest.mark.parametrize("rule", ["1se", "best"])
def test_scores_are_those_of_choosing_anew_in_each_fold(scoring, rule):
    search = classifier(scoring=scoring, rule=rule)
    found = nested(search, X, Y, cv=4)
    wanted = cross_val_score(search, X, Y, cv=4, scoring=scoring or scorers.objective)
    assert found.scores == pytest.approx(list(wanted), abs=0)
    assert found.mean == pytest.approx(wanted.mean())
    assert found.standard_error == pytest.approx(wanted.std(ddof=1) / 2)
    assert found.splits["rows"].to_list() == [30] * 4


def test_each_part_has_the_choice_of_the_other_rows():
    splitter = KFold(3, shuffle=True, random_state=1)
    found = nested(classifier(), X, Y, cv=splitter)
    promised = []
    for (train, test), row in zip(splitter.split(X), found.splits.iter_rows(named=True)):
        own = classifier().fit(X[train], Y[train])
        promised.append(own.best_score_)
        assert row["promised"] == own.best_score_
        assert row["score"] == -np.mean(own.predict(X[test]) != Y[test])
        assert row["leaves"] == own.tree_.n_leaves
        assert row["depth"] == own.path_.filter("chosen")["depth"].item()
        assert str(row["tree"]) == str(own.tree_)
        assert row["status"] == "optimal"
    assert found.optimism == pytest.approx(np.mean(promised) - found.mean)
    assert str(found) == found.statement() and "3 times" in found.statement()


def test_regression_weights_and_parameters_of_fit_are_divided_with_the_rows():
    weights = RNG.integers(1, 4, 120)
    search = OptimalTreeCV(OptimalTreeRegressor(max_depth=1, thresholds=3), cv=3)
    target = X[:, 0] + RNG.normal(size=120)
    found = nested(search, X, target, cv=KFold(2), sample_weight=weights)
    train, test = np.arange(60, 120), np.arange(60)
    own = OptimalTreeCV(OptimalTreeRegressor(max_depth=1, thresholds=3), cv=3)
    own.fit(X[train], target[train], sample_weight=weights[train])
    best, of = own.best_estimator_, {"sample_weight": weights[test]}
    assert found.scores[0] == scorers.objective(best, X[test], target[test], **of)
    assert found.scores[0] != scorers.objective(best, X[test], target[test])


def test_costs_in_a_frame():
    costs = RNG.random((120, 3))
    frame = pl.DataFrame(X, schema=list("abcd"))
    search = OptimalTreeCV(OptimalCostTree(max_depth=2, thresholds=2), cv=2)
    found = nested(search, frame, costs, cv=KFold(3))
    assert len(found.scores) == 3
    # The numbers of the labels as indices.
    own = OptimalTreeCV(OptimalCostTree(max_depth=2, thresholds=2), cv=2)
    own.fit(frame[40:], costs[40:])
    labels = own.predict(frame[:40])
    assert found.scores[0] == pytest.approx(-costs[np.arange(40), labels].mean())


def test_groups_stay_together_outside_and_inside():
    groups = np.repeat(np.arange(12), 10)
    search = OptimalTreeCV(
        OptimalTreeClassifier(max_depth=1, thresholds=3), cv=GroupKFold(3), rule="best"
    )
    found = nested(search, X, Y, cv=GroupKFold(4), groups=groups)
    for (train, test), row in zip(
        GroupKFold(4).split(X, Y, groups), found.splits.iter_rows(named=True)
    ):
        own = OptimalTreeCV(
            OptimalTreeClassifier(max_depth=1, thresholds=3), cv=GroupKFold(3), rule="best"
        ).fit(X[train], Y[train], groups=groups[train])
        assert not set(groups[train]) & set(groups[test])
        assert row["promised"] == own.best_score_


def test_threads_change_nothing_and_results_can_be_pickled():
    one, two = (nested(classifier(), X, Y, cv=4, n_jobs=n) for n in (1, 2))
    assert one.scores == two.scores
    again = pickle.loads(pickle.dumps(one))
    assert again.statement() == one.statement()
    assert str(again.splits["tree"][0]) == str(one.splits["tree"][0])


def test_searches_that_a_limit_stops_warn_once_and_leave_filters_alone():
    rng = np.random.default_rng(0)
    noise, coins = rng.normal(size=(2000, 8)), rng.integers(0, 2, 2000)
    deep = OptimalTreeClassifier(max_depth=6, time_limit=0.05)
    search = OptimalTreeCV(deep, cv=2, max_depths=[5])
    before = list(warnings.filters)
    with pytest.warns(ConvergenceWarning, match="searches were stopped by a limit") as caught:
        nested(search, noise, coins, cv=2, n_jobs=2)
    assert len(caught) == 1
    assert warnings.filters == before


def test_a_single_part():
    found = nested(classifier(), X, Y, cv=ShuffleSplit(1, random_state=0))
    assert np.isnan(found.standard_error)
    assert "once without" in found.statement() and "nan" not in found.statement()


def test_a_time_limit_that_ends_before_the_first_tree():
    with pytest.raises(ValueError, match="before any part had its tree: raise it"):
        nested(classifier(), X, Y, time_limit=1e-9)


def test_a_time_limit_that_ends_after_some_parts(monkeypatch):
    from certree import nested_folds
    from certree.tuning import OutOfTime

    fit, seen = OptimalTreeCV._fit, []

    def limited(self, *args):
        seen.append(self.time_limit)
        if len(seen) > 2:
            raise OutOfTime("over")
        return fit(self, *args)

    monkeypatch.setattr(nested_folds.OptimalTreeCV, "_fit", limited)
    with pytest.warns(ConvergenceWarning, match="after 2 of 4 parts"):
        found = nested(classifier(), X, Y, cv=4, time_limit=4000)
    assert len(found.scores) == 2
    # What is left is shared by the parts that follow.
    assert [limit / seen[3] for limit in seen] == pytest.approx([1 / 4, 1 / 3, 1 / 2, 1], rel=0.2)


def test_parts_keep_their_numbers_where_one_before_them_had_no_time(monkeypatch):
    from certree import nested_folds
    from certree.tuning import OutOfTime

    fit, seen = OptimalTreeCV._fit, []

    def all_but_the_second(self, *args):
        seen.append(self)
        if len(seen) == 2:
            raise OutOfTime("over")
        return fit(self, *args)

    monkeypatch.setattr(nested_folds.OptimalTreeCV, "_fit", all_but_the_second)
    with pytest.warns(ConvergenceWarning, match="after 3 of 4 parts"):
        found = nested(classifier(), X, Y, cv=4)
    assert found.splits["split"].to_list() == [0, 2, 3]


def test_the_limit_of_the_search_itself_is_kept():
    found = nested(classifier(time_limit=3600), X, Y, cv=2)
    assert len(found.scores) == 2


@pytest.mark.parametrize(
    ("search", "more", "error", "told"),
    [
        (OptimalTreeClassifier(), {}, TypeError, "an OptimalTreeCV is needed, not OptimalTreeCl"),
        (classifier(), {"time_limit": -1}, ValueError, "time_limit"),
        (classifier(), {"cv": 1}, ValueError, "n_splits"),
        (
            OptimalTreeCV(OptimalTreeClassifier(), cv=[([0, 1], [2])]),
            {},
            ValueError,
            "must be a number or a splitter",
        ),
        (classifier(client=object()), {}, ValueError, "give it to nested"),
    ],
)
def test_what_is_wrong_is_said(search, more, error, told):
    with pytest.raises(error, match=told):
        nested(search, X, Y, **more)
