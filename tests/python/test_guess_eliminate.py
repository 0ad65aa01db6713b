"""Dropping many cuts at once ends with what dropping one at a time promises."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from certree import ThresholdGuesser
from certree.guess.eliminate import SHARE, Fitted, eliminate

pytestmark = pytest.mark.usefixtures("one_thread")


def one_by_one(fit, n_cuts, best, tolerance):
    """The simple version: after each refit, drop the least important cut until that goes too
    far."""
    kept = np.arange(n_cuts)
    fitted, n_fits = fit(kept), 1
    while len(kept) > 1:
        best = max(best, fitted.score)
        fewer = np.delete(kept, np.argsort(fitted.importance, kind="stable")[0])
        on_fewer = fit(fewer)
        n_fits += 1
        if on_fewer.score < best - tolerance:
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

    return n, fit, draw(st.integers(0, 3)), draw(st.integers(0, 2))


@settings(max_examples=500, deadline=None)
@given(worlds())
def test_never_below_the_tolerance_and_never_one_too_many(world):
    n, fit, best, tolerance = world
    scores = []

    def watched(cuts):
        scores.append((len(cuts), fit(cuts).score))
        return fit(cuts)

    kept, fitted, n_fits = eliminate(watched, n, best, tolerance)
    assert 1 <= len(kept) <= n and (np.diff(kept) > 0).all()
    assert n_fits == len(scores) <= 2 * n + 1
    assert fitted.score == fit(kept).score
    # Each accepted step has fewer cuts than the one before, so the best score of all steps can be
    # told.
    best = max(best, scores[0][1])
    left = n
    for size, score in scores[1:]:
        if size < left and score >= best - tolerance:
            best, left = max(best, score), size
    assert left == len(kept)
    assert fitted.score >= best - tolerance or len(kept) == n
    used = kept[fitted.importance > 0]
    if 1 < len(used) == len(kept):
        weakest = used[np.argsort(fitted.importance, kind="stable")[0]]
        assert fit(np.setdiff1d(kept, [weakest])).score < best - tolerance


@settings(max_examples=500, deadline=None)
@given(worlds())
def test_few_cuts_are_dropped_one_by_one(world):
    """With fewer than 32 cuts, all of them in use, a step drops one."""
    n, random, best, tolerance = world

    def fit(cuts):
        return random(cuts)._replace(importance=1 + random(cuts).importance)

    kept, fitted, n_fits = eliminate(fit, n, best, tolerance)
    simple = one_by_one(fit, n, best, tolerance)
    assert (kept.tolist(), fitted.score, n_fits) == (simple[0].tolist(), simple[1].score, simple[2])


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 300), st.data())
def test_what_is_needed_stays_and_little_else(n, data):
    """Where some cuts are needed and importance says which, both ways keep just these."""
    needed = data.draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=min(n, 20)))
    spare = data.draw(st.sets(st.integers(0, n - 1), max_size=n))

    def fit(cuts):
        have = set(cuts.tolist())
        importance = [2.0 + cut % 3 if cut in needed else float(cut in spare) for cut in cuts]
        return Fitted(float(needed <= have), np.array(importance))

    kept, fitted, n_fits = eliminate(fit, n, 1.0, 0.0)
    assert set(kept.tolist()) == needed and fitted.score == 1.0
    simple = one_by_one(fit, n, 1.0, 0.0)
    assert set(simple[0].tolist()) == needed and n_fits <= simple[2] + 1
    assert n_fits <= 2 * SHARE + SHARE * np.log(n)


def test_many_cuts_take_few_fits():
    rng = np.random.default_rng(0)
    X = rng.random((2000, 6))
    y = (X[:, 0] + X[:, 1] + 0.2 * rng.standard_normal(2000) > 1).astype(int)
    reference = GradientBoostingClassifier(n_estimators=40, random_state=0)
    guesser = ThresholdGuesser(reference, tolerance=0.02).fit(X, y)
    assert guesser.n_found_ > 120 and guesser.n_kept_ < guesser.n_found_ / 2
    assert guesser.n_fits_ < (guesser.n_found_ - guesser.n_kept_) / 2
    assert guesser.score_ >= guesser.reference_score_ - 0.02


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
