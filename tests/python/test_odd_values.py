"""Values that numpy or Python can hold and tables rarely do: masks, bytes, decimals; and messages
that fit in a line."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from certree import (
    Capacity,
    DemographicParity,
    OptimalCostTree,
    OptimalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    Tree,
)

X = np.array([[a, b] for a in (0, 1) for b in (0, 1)] * 5)
Y = X[:, 0] & X[:, 1]


def fit(X=X, y=Y, weights=None, **parameters):
    return OptimalTreeClassifier(max_depth=2, **parameters).fit(X, y, weights)


def masked(values):
    values = np.asarray(values)
    mask = np.zeros(values.shape, dtype=bool)
    mask[3] = True
    return np.ma.masked_array(values, mask)


@pytest.mark.parametrize("dtype", [np.int8, np.float64, bool, object, "U3", "datetime64[D]"])
def test_a_masked_feature_is_missing(dtype):
    given = np.arange(40).reshape(20, 2).astype("int64").astype(dtype)
    message = "column 'x0' has 1 value missing .null or NaN., column 'x1' has 1 value missing"
    for table in (masked(given), list(masked(given))):
        assert [column.missing for column in fit(table).tree_.columns] == [True, True]
        with pytest.raises(ValueError, match=message):
            fit(table, missing="refuse")
    model = fit(given)
    assert np.array_equal(model.predict(np.ma.masked_array(given)), model.predict(given))
    model = fit(given, missing="refuse")
    with pytest.raises(ValueError, match=message):
        model.predict(masked(given))


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.filterwarnings("ignore:Warning. converting a masked element")
def test_masked_targets_weights_and_costs_are_missing():
    for y in (masked(Y), masked(Y)[:, None], list(masked(Y)), masked(Y.astype("U1"))):
        with pytest.raises(ValueError, match="target 'y' has 1 value missing"):
            fit(y=y)
    with pytest.raises(ValueError, match="'sample_weight' has 1 value missing"):
        fit(weights=masked(np.ones(20)))
    for y in (masked(np.arange(20.0)), masked(np.ones((20, 2)))):
        with pytest.raises(ValueError, match="has 1 value missing"):
            OptimalTreeRegressor().fit(X, y)
    with pytest.raises(ValueError, match="column 0 has 1 value missing"):
        OptimalCostTree().fit(X, masked(np.ones((20, 2))))


def test_masked_tables_of_targets_statistics_costs_and_predictions_are_missing():
    class Nothing:
        def leaf_cost(self, sums):
            return 0.0 * sums[:, 0]

        def answer(self, sums):
            return 0.0

    mask = np.zeros((8, 2), dtype=bool)
    mask[3, 1] = True
    X, whole = np.arange(16.0).reshape(8, 2), np.arange(16).reshape(8, 2) % 2
    table = np.ma.masked_array(whole, mask=mask)
    numbers = np.ma.masked_array(X[:, 0], mask=mask[:, 1])
    fits = [
        lambda: OptimalTreeClassifier().fit(X, table),
        lambda: OptimalTree(Nothing()).fit(X, table.astype(float)),
        lambda: OptimalTree(Nothing()).fit(X, table),
        lambda: OptimalTreeRegressor(reference=numbers).fit(X, X[:, 0]),
        lambda: OptimalTreeClassifier(
            cost_matrix=np.ma.masked_array([[0, 1], [1, 0]], mask=[[0, 1], [0, 0]])
        ).fit(X, np.arange(8) % 2),
    ]
    for fit in fits:
        with pytest.raises(ValueError, match="missing|not finite|that are not"):
            fit()


def test_statistics_may_be_decimals_and_answers_may_end_with_a_zero_character():
    class Votes:
        def leaf_cost(self, sums):
            return sums.sum(axis=1) - sums.max(axis=1)

        def answer(self, sums):
            return "a\0" if sums[0] > sums[1] else "a"

    counts = np.array([[Decimal("0.5"), Decimal(0)], [Decimal(0), Decimal(2)]], dtype=object)
    model = OptimalTree(Votes(), max_depth=1, leaf_penalty=0).fit([[0], [1]], counts)
    assert model.predict([[0], [1]]).tolist() == ["a\0", "a"]
    again = Tree.from_json(model.tree_.to_json())
    assert again.predict(np.array([[0], [1]])).tolist() == ["a\0", "a"]


def test_labels_of_several_types_have_no_expression():
    class Mixed:
        def leaf_cost(self, sums):
            return sums.min(axis=1)

        def answer(self, sums):
            return "a" if sums[0] > sums[1] else 1

    model = OptimalTree(Mixed(), max_depth=1, leaf_penalty=0).fit([[0], [1]], [[1, 0], [0, 1]])
    assert model.predict([[0], [1]]).tolist() == ["a", 1]
    with pytest.raises(ValueError, match="labels of the types int, str cannot be one column"):
        model.tree_.to_polars()


def test_numbers_beyond_floats_are_one_error():
    for given in ([10**400, 0.5], [10**4500, 1], [2**64, 1], [-(2**63) - 1, 1]):
        with pytest.raises(ValueError, match="beyond|integers|regression|numbers"):
            OptimalTreeRegressor().fit([[0], [1]], given)
    with pytest.raises(ValueError, match="table of numbers"):
        OptimalCostTree().fit([[0], [1]], [[10**400, 1], [1, 0]])


@pytest.mark.parametrize(
    "labels", [[b"no", b"yes"], [b"a", b"a\0"], [b"\xc3\xbc", b"z"], ["a", "a\0"]]
)
def test_labels_come_back_as_they_were(labels):
    y = [labels[k] for k in Y]
    holders = [y, tuple(y), np.array(y, dtype=object), pd.Series(y, dtype=object)]
    if not any(label[-1:] in (b"\0", "\0") for label in labels):
        holders.append(np.array(y))
    for given in holders:
        model = fit(y=given)
        assert model.predict(X).tolist() == y and type(model.predict(X)[0]) in (
            type(y[0]), np.bytes_
        )
        assert model.classes_.tolist() == sorted(labels)
        again = type(model.tree_).from_json(model.tree_.to_json())
        assert again == model.tree_ and again.predict(X).tolist() == y
        assert model.tree_.to_text() and model.tree_.to_dot() and model.tree_.rules()


def test_bytes_are_text_or_named():
    model = fit(np.array([[b"u"], [b"v"]] * 10), [0, 1] * 10)
    assert model.predict(pl.DataFrame({"x0": ["u", "v"]})).tolist() == [0, 1]
    with pytest.raises(ValueError, match="column 'x0' holds bytes that are not UTF-8 text"):
        fit(np.array([[b"\xff"], [b"v"]] * 10), [0, 1] * 10)
    with pytest.raises(ValueError, match="column 'y' holds bytes that are not UTF-8 text"):
        fit(y=[b"\xff" if k else b"v" for k in Y])


def test_objects_of_decimal_are_decimals():
    third = Decimal(1) / 3
    given = np.array([[Decimal(int(a)), int(b) * third] for a, b in X], dtype=object)
    frame = pl.DataFrame({"x0": given[:, 0].tolist(), "x1": given[:, 1].tolist()})
    tree = fit(frame).tree_
    for table in (given, given.tolist(), pd.DataFrame(given, columns=["x0", "x1"])):
        assert fit(table).predict(table).tolist() == Y.tolist()
        assert fit(table).tree_.nodes[0].test == tree.nodes[0].test
    mixed = given.copy()
    mixed[0, 0], mixed[1, 1] = 0, 0.5
    assert fit(mixed).score(mixed, Y) == 1
    wide = [[Decimal("1e30")], [Decimal("1e-30")], [Decimal("0e500")], [Decimal(-3)]] * 5
    assert fit(wide, [1, 0, 0, 0] * 5).score(wide, [1, 0, 0, 0] * 5) == 1
    for odd, test in ((Decimal("NaN"), None), (Decimal("sNaN"), None), (Decimal("Infinity"), 1.0)):
        for other in (Decimal(1), 2.5):
            split = fit([[odd], [other]], [0, 1]).tree_.nodes[0].split
            assert split.test == (None if test is None else float(other))
    assert OptimalTreeRegressor().fit(X, [Decimal(int(k)) for k in Y]).score(X, Y) == 1
    assert fit(weights=[Decimal("0.5")] * 20).score(X, Y) == 1


def refused(call, *parts, error=ValueError):
    with pytest.raises(error) as found:
        call()
    message = str(found.value)
    assert all(part in message for part in parts), message
    assert len(message) < 600, message


def test_messages_advise_what_is_possible():
    refused(
        lambda: fit(constraints=(DemographicParity("x0", 0.1),)),
        "sensitive='x0' names a column, but X is an array without names; give its number",
    )
    frame = pl.DataFrame({"a": [1, 2, 3], "s": ["x", "x", "x"]})
    refused(
        lambda: fit(frame, [0, 1, 0], constraints=(DemographicParity("s", 0.1),)),
        "'s'",
        "has one value",
    )
    rows = [{"x0": 1, "x1": 0}] * 3
    refused(lambda: fit().predict(rows), "a list of dicts", "polars.DataFrame(X)", error=TypeError)
    refused(lambda: fit(rows, [0, 1, 0]), "a list of dicts", error=TypeError)
    refused(lambda: fit([{1, 2}, {3, 4}], [0, 1]), "no order", error=TypeError)
    refused(
        lambda: fit({"a": [1, 2]}, [0, 1]), "X is a dict", "polars.DataFrame(X)", error=TypeError
    )


@pytest.mark.parametrize("digits", [400, 5000])
def test_messages_do_not_repeat_hundreds_of_digits(digits):
    huge = 10**digits
    for name in ("leaf_penalty", "gap_limit", "time_limit", "n_jobs"):
        refused(lambda: fit(**{name: huge}), f"{name}=")
    for name in ("max_depth", "max_leaf_nodes", "min_samples_leaf", "thresholds"):
        refused(lambda: OptimalTreeClassifier(**{name: -huge}).fit(X, Y), f"{name}=")
    refused(lambda: fit(class_weight={0: huge}), "class_weight[0]=")
    refused(lambda: fit(constraints=(Capacity(1, huge),)), "max_fraction=")
    refused(lambda: OptimalTreeClassifier("accuracy" * 200).fit(X, Y), "objective='accuracy")


def test_any_number_of_quantiles_is_all_of_them():
    rng = np.random.default_rng(0)
    numbers, y = rng.normal(size=(40, 1)), rng.integers(0, 2, 40)
    every = OptimalTreeClassifier(max_depth=2).fit(numbers, y)
    for many in (1_000, 10**6 + 1, 10**12, 10**30):
        model = OptimalTreeClassifier(max_depth=2, thresholds=many).fit(numbers, y)
        assert model.certificate_.n_cuts == 39 and model.tree_ == every.tree_


def misaligned(values):
    """As arrays that came over a network may be: their numbers begin at any byte."""
    values = np.asarray(values)
    found = np.frombuffer(b"\0" + values.tobytes(), values.dtype, offset=1).reshape(values.shape)
    assert values.itemsize == 1 or not found.flags.aligned
    return found


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "bool", "float64", "float32"])
def test_numbers_may_begin_at_any_byte(dtype):
    given = X.astype(dtype)
    model = fit(given)
    other = fit(misaligned(given), misaligned(Y), misaligned(np.ones(len(Y))))
    assert other.tree_ == model.tree_
    assert (model.predict(misaligned(given)) == Y).all()
    numbers = OptimalTreeRegressor(max_depth=2).fit(given, Y * 2.5)
    again = OptimalTreeRegressor(max_depth=2).fit(misaligned(given), misaligned(Y * 2.5))
    assert again.tree_ == numbers.tree_
    costs = np.stack([Y, 1 - Y], axis=1) * 1.5
    priced = OptimalCostTree(max_depth=2).fit(given, costs)
    again = OptimalCostTree(max_depth=2).fit(misaligned(given), misaligned(costs))
    assert again.tree_ == priced.tree_


def test_sparse_numbers_may_begin_at_any_byte():
    sparse = pytest.importorskip("scipy.sparse").csr_matrix(X.astype(float))
    other = sparse.copy()
    other.data = misaligned(sparse.data)
    assert fit(other).tree_ == fit(sparse).tree_


@pytest.mark.parametrize("thresholds", [3, "all"])
@pytest.mark.parametrize("kind", ["few", "many"])
def test_numbers_near_the_largest_float_are_fitted_without_a_warning(kind, thresholds):
    # Warnings of numpy are errors in the tests: distances and squares of such numbers are none.
    rng = np.random.default_rng(0)
    most = np.finfo(float).max
    few, many = rng.choice([-most, most, -most / 2, 0, 5e-324], 120), rng.uniform(-1, 1, 120)
    column = {"few": few, "many": many * most}[kind]
    table = np.column_stack([column, column[::-1]])
    limits = {"max_depth": 2, "thresholds": thresholds}
    labels = rng.integers(0, 2, 120)
    for objective in ("accuracy", "balanced_accuracy", "gini", "f1", "auc"):
        model = OptimalTreeClassifier(objective, **limits).fit(table, labels)
        assert model.status_ == "optimal" and "Searched" in str(model.certificate_)
    assert OptimalCostTree(**limits).fit(table, rng.random((120, 3))).status_ == "optimal"
    model = OptimalTreeRegressor(**limits).fit(table, column)
    assert model.status_ == "optimal" and 0 <= model.objective_ <= 1
    assert "Searched" in str(model.certificate_)


@pytest.mark.parametrize("thresholds", [3, "guess"])
def test_costs_that_add_up_to_no_float_are_refused_in_one_sentence(thresholds):
    most = np.finfo(float).max
    message = "add up to more than a float holds; scale them down"
    costs = np.where(np.arange(60).reshape(20, 3) % 2 == 0, most, -most)
    for more in ({}, {"reference": "guess"}):
        with pytest.raises(ValueError, match=message):
            OptimalCostTree(max_depth=2, thresholds=thresholds, **more).fit(X, costs)
    for objective in ("absolute_error", "quantile"):
        with pytest.raises(ValueError, match=message):
            OptimalTreeRegressor(objective, max_depth=2).fit(X, costs[:, 0])
