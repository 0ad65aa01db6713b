"""The least change of a row, against all rows of a grid."""

import datetime
import itertools
import os

import numpy as np
import polars as pl
import pytest

from certree import OptimalTreeClassifier, OptimalTreeRegressor, Tree

CASES = int(os.environ.get("CERTREE_CASES", "15"))

LEVELS = ["low", "mid", "high"]
DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(days=k) for k in range(6)]
VALUES = {
    "n": [0, 1, 2, 3, None],
    "site": ["a", "b", "c", None],
    "grade": LEVELS,
    "on": [True, False],
    "day": DAYS,
}
ENUM = pl.Enum(LEVELS)


def table(rows):
    frame = pl.DataFrame(rows, schema=list(VALUES), orient="row", infer_schema_length=None)
    return frame.with_columns(pl.col("grade").cast(ENUM), pl.col("n").cast(pl.Int64))


def size(before, after):
    """Columns changed, and how far."""
    changed, far = 0, 0.0
    for name, a, b in zip(VALUES, before, after):
        if a == b:
            continue
        changed += 1
        step = 1.0
        if a is not None and b is not None and name in ("n", "day"):
            step = abs(b - a) if name == "n" else abs((b - a).days)
        far += step
    return changed, far


@pytest.mark.parametrize("seed", range(CASES))
def test_no_row_of_a_grid_is_nearer(seed):
    rng = np.random.default_rng(seed)
    everything = list(itertools.product(*VALUES.values()))
    rows = [everything[k] for k in rng.integers(0, len(everything), 40)]
    y = rng.integers(0, 3, 40)
    own = {} if seed % 2 else {"missing": "own_branch"}
    model = OptimalTreeClassifier(max_depth=3, leaf_penalty=0.001, thresholds="all", **own)
    tree = model.fit(table(rows), y).tree_
    immutable = [name for name in VALUES if rng.random() < 0.2]
    grid = table(everything)
    answers = tree.predict(grid).tolist()
    for k in rng.integers(0, len(everything), 4):
        row = dict(zip(VALUES, everything[k]))
        fixed = [list(VALUES).index(name) for name in immutable]
        for wanted in (None, 0, 1):
            if wanted == answers[k] or (wanted is not None and wanted not in answers):
                continue
            others = [
                size(everything[k], other)
                for other, answer in zip(everything, answers)
                if (answer != answers[k] if wanted is None else answer == wanted)
                and all(other[at] == everything[k][at] for at in fixed)
            ]
            found = tree.counterfactual(table([everything[k]]), wanted, immutable)
            if found is None:
                assert not others
                continue
            assert (len(found.changes), found.size) == pytest.approx(min(others))
            assert not set(found.changes) & set(immutable)
            new = {**row, **{name: to for name, (_, to) in found.changes.items()}}
            assert tree.apply(table([tuple(new.values())])).tolist() == [found.leaf]
            assert found.answer == tree.nodes[found.leaf].label
            assert all(found.changes[name][0] == row[name] for name in found.changes)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_floats_go_just_beyond_the_threshold(dtype):
    x = np.array([0.1, 0.2, 0.3, 0.4], dtype=dtype)
    tree = OptimalTreeClassifier(max_depth=1).fit(x[:, None], [0, 0, 1, 1]).tree_
    cut = tree.nodes[0].split.test
    for value in x:
        found = tree.counterfactual(np.array([value]))
        (name, (old, new)), *_ = found.changes.items()
        assert tree.predict(np.array([[new]], dtype=dtype))[0] == found.answer
        assert old == value and found.size == pytest.approx(abs(cut - value), abs=1e-6)
        assert "x0" in str(found) and name == "x0"


def test_scales_decide_between_columns():
    X = pl.DataFrame({"a": [0, 0, 100, 100], "b": [0, 1, 0, 1]})
    tree = OptimalTreeClassifier(leaf_penalty=0).fit(X, [0, 0, 0, 1]).tree_
    row = {"a": 100, "b": 1}
    assert list(tree.counterfactual(row).changes) == ["b"]
    assert list(tree.counterfactual(row, scales={"a": 1000}).changes) == ["a"]
    assert list(tree.counterfactual(row, immutable="b").changes) == ["a"]
    assert tree.counterfactual(row, immutable=["a", "b"]) is None
    both = tree.counterfactual({"a": 0, "b": 0})
    assert both.changes == {"a": (0, 51), "b": (0, 1)} and both.answer == 1


def test_moments_keep_their_time_zone():
    when = pl.datetime_range(
        datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 4), "1d", eager=True
    ).dt.replace_time_zone("Europe/Paris")
    X = pl.DataFrame({"when": when})
    tree = OptimalTreeClassifier(max_depth=1).fit(X, [0, 0, 1, 1]).tree_
    found = tree.counterfactual(X[:1])
    new = found.changes["when"][1]
    assert tree.predict(pl.DataFrame({"when": [new]}))[0] == 1
    assert 1 < found.size <= 2 and new.tzinfo is not None


def test_numbers_and_trees_read_from_json_have_changes():
    X = np.arange(6.0)[:, None]
    tree = OptimalTreeRegressor(max_depth=1).fit(X, X[:, 0]).tree_
    found = Tree.from_json(tree.to_json()).counterfactual([0.0], answer=4.0)
    assert found.answer == 4.0
    assert OptimalTreeRegressor(max_depth=0).fit(X, X[:, 0]).tree_.counterfactual([1.0]) is None


def test_bad_input_is_refused():
    tree = OptimalTreeClassifier(max_depth=1).fit([[0.0], [1.0]], [0, 1]).tree_
    for given, why in [
        ({"answer": 7}, "answer=7"),
        ({"answer": 0}, "already"),
        ({"immutable": ["age"]}, "immutable names"),
        ({"scales": {"x0": 0}}, "above 0"),
        ({"scales": {"x0": float("nan")}}, "above 0"),
    ]:
        with pytest.raises(ValueError, match=why):
            tree.counterfactual([0.0], **given)
    with pytest.raises(ValueError, match="there are 2"):
        tree.counterfactual(np.zeros((2, 1)))
    with pytest.raises(ValueError, match="has 2 values"):
        tree.counterfactual([0.0, 1.0])


def test_durations_and_times_of_day_change_to_the_nearest():
    hour = datetime.timedelta(hours=1)
    X = pl.DataFrame(
        {
            "waited": [k * hour for k in range(-4, 4)],
            "at": [datetime.time(k, 30) for k in range(8)],
        }
    )
    for y in ([0] * 5 + [1] * 3, [0, 0, 1, 1, 0, 0, 1, 1], [1, 0, 0, 1, 0, 1, 1, 0]):
        tree = OptimalTreeClassifier(max_depth=3, leaf_penalty=0).fit(X, y).tree_
        for row in X.to_dicts():
            found = tree.counterfactual(row)
            changed = {**row, **{name: new for name, (_, new) in found.changes.items()}}
            assert tree.predict(pl.DataFrame([changed], schema=X.schema))[0] == found.answer
            assert found.answer != tree.predict(pl.DataFrame([row], schema=X.schema))[0]
            # No more than to take over another row.
            own = tree.predict(pl.DataFrame([row], schema=X.schema))[0]
            others = [r for r, label in zip(X.to_dicts(), tree.predict(X)) if label != own]
            assert found.size <= min(_days_between(row, other) for other in others)


def _days_between(row, other):
    midnight = datetime.date(2020, 1, 1)
    waited = abs(row["waited"] - other["waited"])
    combined = [datetime.datetime.combine(midnight, each["at"]) for each in (row, other)]
    return (waited + abs(combined[0] - combined[1])) / datetime.timedelta(days=1)
