"""`Tree.to_polars` scores every row as `predict` does, lazily, for every column type."""

import numpy as np
import polars as pl
import pytest
from trees import (
    AGE,
    columns_of,
    every_type,
    leaves_by_hand,
    patients,
    random_tree,
    splits_of,
    stump,
)

from certree import _core
from certree.schema import Column
from certree.tree import Tree


def scored(tree: Tree, frame: pl.DataFrame, output: str) -> pl.Series:
    return frame.lazy().select(tree.to_polars(output)).collect().to_series()


def test_every_test_of_every_column_scores_exactly():
    frame = every_type(80)
    columns = columns_of(frame)
    for index, column in enumerate(columns):
        for test in splits_of(frame, column):
            tree = stump(columns, index, test)
            found = scored(tree, frame, "leaf").to_list()
            assert found == leaves_by_hand(tree, frame), (column, test)


@pytest.mark.parametrize("seed", range(20))
def test_whole_trees_score_as_they_route(seed):
    frame = every_type(seed=seed)
    tree = random_tree(frame, depth=5, seed=seed)
    leaves = leaves_by_hand(tree, frame)
    assert scored(tree, frame, "leaf").to_list() == leaves
    assert scored(tree, frame, "label").to_list() == [tree.nodes[leaf].label for leaf in leaves]
    shares = [tree.shares(tree.nodes[leaf]) for leaf in leaves]
    proba = scored(tree, frame, "proba").struct.unnest()
    assert proba.columns == ["a", "b", "c"] and proba.rows() == shares
    streamed = frame.lazy().select(tree.to_polars()).collect(engine="streaming").to_series()
    assert streamed.to_list() == scored(tree, frame, "label").to_list()


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        (np.array(["no", "yes"]), pl.String),
        (np.array(["no", "yes"], dtype=object), pl.String),
        (np.array([0, 1]), pl.Int64),
        (np.array([2**60 + 1, 2**60 + 2]), pl.Int64),
        (np.array([0, 1], dtype=np.uint8), pl.UInt8),
        (np.array([0.5, 1.5], dtype=np.float32), pl.Float32),
        (np.array([False, True]), pl.Boolean),
    ],
)
def test_labels_keep_their_type(labels, dtype):
    frame = pl.DataFrame({"age": [30, 50], "sex": ["male", "female"], "smoker": [True, False]})
    found = scored(patients(labels), frame, "label")
    assert found.dtype == dtype and found.name == "label"
    assert found.to_list() == labels.tolist()


def test_columns_may_be_wider_or_narrower_than_at_the_fit():
    tree = patients()
    for dtype in (pl.Int8, pl.UInt64, pl.Float32, pl.Float64, pl.Decimal(10, 1)):
        ages = pl.Series("age", [38, 39]).cast(dtype)
        frame = pl.DataFrame({"age": ages, "sex": ["female"] * 2, "smoker": [True] * 2})
        assert scored(tree, frame, "leaf").to_list() == [1, 4], dtype


def test_values_seen_first_when_scoring_equal_none():
    frame = pl.DataFrame({"age": 50, "sex": pl.Series(["other"], dtype=pl.Enum(["other"]))})
    assert scored(patients(), frame, "leaf").to_list() == [3]


def test_a_row_without_a_tested_value_goes_the_larger_way_or_scores_null():
    ages = [30.0, None, float("nan"), 50.0]
    frame = pl.DataFrame({"age": ages, "sex": ["male", "male", "male", None]})
    assert scored(patients(), frame, "leaf").to_list() == [1, 1, 1, 4]
    for output in ("leaf", "label"):
        strict = patients()._with(missing_unseen="refuse")
        assert scored(strict, frame, output).is_null().to_list() == [False, True, True, True]


def test_a_single_leaf_scores_every_row():
    tree = Tree(_core.Tree([(None, 1, 4, [1.0, 3.0], 0.25)]), [AGE], ["no", "yes"])
    for n in (0, 1, 3):
        frame = pl.DataFrame({"age": pl.Series([1] * n, dtype=pl.Int64)})
        assert scored(tree, frame, "label").to_list() == ["yes"] * n
        assert scored(tree, frame, "leaf").to_list() == [0] * n
        assert scored(tree, frame, "proba").to_list() == [{"no": 0.25, "yes": 0.75}] * n


def test_it_stays_lazy_and_reads_only_what_is_tested(tmp_path):
    path = tmp_path / "rows.parquet"
    frame = pl.DataFrame({"age": [30, 50], "sex": ["male", "female"], "unused": [0.0, 1.0]})
    frame.write_parquet(path)
    query = pl.scan_parquet(path).select(patients().to_polars())
    assert "PROJECT 2/3 COLUMNS" in query.explain()
    assert query.collect().to_series().to_list() == ["no", "yes"]


def test_an_unknown_output_is_told():
    with pytest.raises(ValueError, match="output='score' must be one of label, leaf, proba"):
        patients().to_polars("score")


@pytest.mark.parametrize("dtype", ["Int64", "UInt64"])
@pytest.mark.parametrize("threshold", [1e30, -1e30, 2.0**63, -(2.0**63), 1e300])
def test_thresholds_beyond_the_columns_type_send_all_rows_one_way(dtype, threshold):
    """Only a document holds such: the fuzzer found it."""
    parts = [((0, threshold, 1, 2), 0, 2, [1.0], 0.0)] + [(None, 0, 1, [1.0], 0.0)] * 2
    tree = Tree(_core.Tree(parts), [Column("x", "number", dtype)], np.array(["only"]))
    ends = {"Int64": (-(2**63), 2**63 - 1), "UInt64": (0, 2**64 - 1)}[dtype]
    frame = pl.DataFrame({"x": pl.Series([ends[0], 7, ends[1]], dtype=getattr(pl, dtype))})
    wanted = [1 if value <= threshold else 2 for value in frame["x"]]
    assert frame.select(tree.to_polars("leaf")).to_series().to_list() == wanted
    assert tree.apply(frame).tolist() == wanted


@pytest.mark.parametrize("labels", [(1, 2**64), (2**64, 1), (-1, 2**63), (2**63, 0), (5, 2**127)])
def test_labels_are_integers_of_any_size_in_any_order(labels):
    tree = stump([AGE], 0, 38.5, labels=np.array(labels, dtype=object))
    ages = pl.DataFrame({"age": [20.0, 50.0]})
    assert scored(tree, ages, "label").to_list() == list(labels)


def test_labels_beyond_all_integers_of_polars_are_an_error():
    tree = stump([AGE], 0, 38.5, labels=np.array([1, 2**128], dtype=object))
    with pytest.raises(ValueError, match="polars has no integer as large as the label 3402"):
        tree.to_polars()
