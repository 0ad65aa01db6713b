"""Dropping many cuts at once ends with what dropping one at a time promises."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from certree import ThresholdGuesser
from certree.guess.eliminate import Fitted, eliminate

pytestmark = pytest.mark.usefixtures("one_thread")


def one_by_one(fit, n_cuts, bar):
    """The simple version: after each refit, drop the least important cut until that goes too far."""
    kept = np.arange(n_cuts)
    fitted, n_fits = fit(kept), 1
    while len(kept) > 1:
        fewer = np.delete(kept, np.argsort(fitted.importance, kind="stable")[0])
        on_fewer = fit(fewer)
        n_fits += 1
        if on_fewer.score < bar:
            break
        kept, fitted = fewer, on_fewer
    return kept, fitted, n_fits


@st.composite
def worlds(draw):
    """A score and an importance for every set of cuts, by chance."""
    n = draw(st.integers(1, 8))
    seed = draw(st.integers(0, 2**32 - 1))
    levels = draw(st.integers(1, 4))

    def fit(cuts):
        rng = np.random.default_rng([seed, *cuts.tolist()])
        return Fitted(float(rng.integers(0, levels)), rng.integers(0, 4, len(cuts)).astype(float))

    return n, fit, draw(st.integers(0, 3))


@settings(max_examples=500, deadline=None)
@given(worlds())
def test_never_below_the_bar_and_never_one_too_many(world):
    n, fit, bar = world
    kept, fitted, n_fits = eliminate(fit, n, bar)
    assert 1 <= len(kept) <= n and (np.diff(kept) > 0).all() and n_fits <= 3 * n + 4
    assert fitted.score == fit(kept).score
    assert fitted.score >= bar or len(kept) == n
    used = kept[fitted.importance > 0]
    if len(used) > 1:
        # The least important one cannot go as well, alone or along with those not in use.
        weakest = used[np.argsort(fit(kept).importance[fitted.importance > 0], kind="stable")[0]]
        assert len(used) < len(kept) or fit(np.setdiff1d(kept, [weakest])).score < bar


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 200), st.data())
def test_what_is_needed_stays_and_little_else(n, data):
    """Where some cuts are needed and importance says which, both ways keep just these."""
    needed = data.draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=min(n, 20)))
    spare = data.draw(st.sets(st.integers(0, n - 1), max_size=n))

    def fit(cuts):
        have = set(cuts.tolist())
        importance = [2.0 + cut % 3 if cut in needed else float(cut in spare) for cut in cuts]
        return Fitted(float(needed <= have), np.array(importance))

    kept, fitted, n_fits = eliminate(fit, n, 1.0)
    assert set(kept.tolist()) == needed and fitted.score == 1.0
    assert set(one_by_one(fit, n, 1.0)[0].tolist()) == needed
    assert n_fits <= 4 * np.log2(n + 1) + 4


def test_many_cuts_take_few_fits():
    rng = np.random.default_rng(0)
    X = rng.random((2000, 6))
    y = (X[:, 0] + X[:, 1] + 0.2 * rng.standard_normal(2000) > 1).astype(int)
    reference = GradientBoostingClassifier(n_estimators=40, random_state=0)
    guesser = ThresholdGuesser(reference, tolerance=0.005).fit(X, y)
    assert guesser.n_found_ > 120 and guesser.n_fits_ < 20
    assert guesser.n_kept_ < guesser.n_found_ / 2
    assert guesser.score_ >= guesser.reference_score_ - 0.005


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.01, 0.1]), st.booleans(), st.booleans())
def test_scores_stay_within_the_tolerance(seed, tolerance, classify, weighted):
    rng = np.random.default_rng(seed)
    n = 80
    X = pl.DataFrame(
        {"a": rng.integers(0, 9, n), "b": rng.random(n), "c": rng.choice(list("uvw"), n)}
    )
    y = (X["a"].to_numpy() > 4) * 1.0 + (X["c"].to_numpy() == "u") + rng.random(n)
    y = y.round().astype(int) if classify else y
    weight = rng.integers(0, 3, n) if weighted else None
    kind = GradientBoostingClassifier if classify else GradientBoostingRegressor
    reference = kind(n_estimators=10, max_depth=2, random_state=0)
    guesser = ThresholdGuesser(reference, tolerance=tolerance).fit(X, y, weight)
    kept_all = guesser.n_kept_ == guesser.n_found_
    assert guesser.score_ >= guesser.reference_score_ - tolerance or kept_all
    # The score is that of the model which is kept, on the answers.
    target = np.searchsorted(guesser.classes_, y) if classify else y
    found = guesser.reference_.score(guesser.transform(X), target, sample_weight=weight)
    assert abs(found - guesser.score_) < 1e-12
    # What was found is enough for the reference itself.
    everything = ThresholdGuesser(reference, tolerance=None).fit(X, y, weight)
    assert everything.n_kept_ == everything.n_found_ == guesser.n_found_
