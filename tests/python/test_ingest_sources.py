"""Every container and every column type is read as the same values."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from certree import ingest
from certree.ingest import sources
from certree.schema import Column

FRAME = pl.DataFrame(
    {
        "flag": [True, False, True],
        "int": pl.Series([1, 2, 2**62], dtype=pl.Int64),
        "float": [0.5, -1.5, 2.0],
        "text": ["a", "b", "a"],
        "cat": pl.Series(["u", "v", "w"], dtype=pl.Categorical),
        "enum": pl.Series(["low", "high", "low"], dtype=pl.Enum(["low", "high"])),
        "day": [dt.date(2020, 1, 1), dt.date(1960, 5, 1), dt.date(2020, 1, 3)],
        "time": pl.Series([0, 10**15, -5]).cast(pl.Datetime("us")),
        "zoned": pl.Series([0, 10**15, -5]).cast(pl.Datetime("us", "Europe/Berlin")),
    }
)
KINDS = ["boolean", "number", "number", *["category"] * 3, *["date"] * 3]
COLUMNS = [Column(n, k, str(t)) for (n, t), k in zip(FRAME.schema.items(), KINDS, strict=True)]
SLOTS = [
    (0, True),
    (1, True),
    (2, True),
    (3, "a"),
    (4, "v"),
    (5, "high"),
    (6, True),
    (7, True),
    (8, True),
]
WANTED = [
    [True, False, True],
    [1, 2, 2**62],
    [0.5, -1.5, 2.0],
    [True, False, True],
    [False, True, False],
    [False, True, False],
    [18262, -3532, 18264],
    [0, 10**15, -5],
    [0, 10**15, -5],
]

CONTAINERS = {
    "polars": FRAME,
    "lazy": FRAME.lazy(),
    "chunks": pl.concat([FRAME[:1], FRAME[1:]], rechunk=False),
    "reordered": FRAME.select(reversed(FRAME.columns)),
    "more columns": FRAME.with_columns(other=pl.lit(None)),
    "arrow": FRAME.to_arrow(),
    "arrow capsule": FRAME.to_arrow().to_reader(),
    "pandas": FRAME.to_pandas(),
    "pandas objects": FRAME.to_pandas().astype({"text": object, "flag": object}),
    "pandas nullable": FRAME.to_pandas().astype(
        {"int": "Int64", "float": "Float64", "flag": "boolean", "text": "string"}
    ),
    "pandas arrow": FRAME.to_arrow().to_pandas(types_mapper=pd.ArrowDtype),
    "pandas index": FRAME.to_pandas().set_index(pd.Index([5, 5, 7])),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_container_has_the_same_values(name):
    arrays, missing, n_rows = ingest.slot_arrays(CONTAINERS[name], COLUMNS, SLOTS)
    assert missing == [None] * len(SLOTS)
    assert n_rows == 3
    for array, wanted in zip(arrays, WANTED, strict=True):
        assert array.ndim == 1 and array.flags.c_contiguous and array.dtype != object
        assert array.tolist() == wanted


@pytest.mark.parametrize(
    "dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", ">f8", ">i4"]
)
def test_numbers_keep_their_type(dtype):
    array = np.array([[1, 2], [3, 4]], dtype=dtype)
    columns = [Column("x0", "number", "?"), Column("x1", "number", "?")]
    (found,), _, n_rows = ingest.slot_arrays(array, columns, [(1, True)])
    assert n_rows == 2 and found.tolist() == [2, 4]
    assert found.dtype == np.dtype(dtype).newbyteorder("=")


def test_one_chunk_of_polars_is_not_copied():
    column = Column("float", "number", "Float64")
    frame = pl.DataFrame({"float": np.arange(1e6), "other": True})
    (found,), *_ = ingest.slot_arrays(frame, [column], [(0, True)])
    assert np.shares_memory(found, frame["float"].to_numpy())


def test_a_lazy_frame_is_asked_only_for_what_the_tree_tests():
    read = []

    def look(column: pl.Series) -> pl.Series:
        read.append(column.name)
        return column

    frame = FRAME.lazy().with_columns(
        pl.col(name).map_batches(look, return_dtype=FRAME.schema[name], is_elementwise=True)
        for name in ("int", "float")
    )
    arrays, _, n_rows = ingest.slot_arrays(frame, COLUMNS, [(2, True)])
    assert n_rows == 3 and arrays[0].tolist() == WANTED[2] and set(read) == {"float"}
    assert ingest.slot_arrays(frame, COLUMNS, []) == ([], [], 3)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("fitted", ["ms", "us", "ns"])
def test_datetimes_compare_as_instants_in_any_unit(unit, fitted):
    ticks = {"ms": 10**3, "us": 10**6, "ns": 10**9}
    raw = [-(10**9) - 1, -1, 0, 1, 999, 1000, 1001, 10**12 + 1]
    given = pl.DataFrame({"t": pl.Series(raw).cast(pl.Datetime(unit))})
    column = Column("t", "date", str(pl.Datetime(fitted)))
    (found,), *_ = ingest.slot_arrays(given, [column], [(0, True)])
    for threshold in (-(10**6), -1, 0, 1, 10**6):
        instants = [value * ticks[fitted] <= threshold * ticks[unit] for value in raw]
        assert (found <= threshold).tolist() == instants


def test_datetimes_beyond_a_finer_unit_stay_on_their_side():
    given = pl.DataFrame({"t": pl.Series([-(2**62), 2**62]).cast(pl.Datetime("ms"))})
    (found,), *_ = ingest.slot_arrays(
        given, [Column("t", "date", str(pl.Datetime("ns")))], [(0, True)]
    )
    assert (found <= 0).tolist() == [True, False]


def test_dates_and_datetimes_compare_as_midnights():
    noon = pl.DataFrame({"d": [dt.datetime(1970, 1, 2, 12), dt.datetime(1970, 1, 2)]})
    (found,), *_ = ingest.slot_arrays(noon, [Column("d", "date", "Date")], [(0, True)])
    assert found.tolist() == [2, 1]
    (found,), *_ = ingest.slot_arrays(
        noon.with_columns(pl.col("d").dt.date()),
        [Column("d", "date", str(pl.Datetime("us")))],
        [(0, True)],
    )
    assert found.tolist() == [86_400_000_000] * 2


def test_values_that_were_never_seen_are_no_value():
    frame = pl.DataFrame({"e": pl.Series(["new"], dtype=pl.Enum(["new"]))})
    for X in (frame, frame.cast(pl.String), frame.cast(pl.Categorical)):
        (found,), *_ = ingest.slot_arrays(
            X, [Column("e", "category", "Enum", ("old",))], [(0, "old")]
        )
        assert found.tolist() == [False]


def test_booleans_and_numbers_stand_in_for_each_other():
    column = Column("b", "boolean", "Boolean")
    (found,), *_ = ingest.slot_arrays(pl.DataFrame({"b": [0, 1]}), [column], [(0, True)])
    assert found.tolist() == [False, True]
    with pytest.raises(
        ValueError, match="column 'b' was Boolean .* has 2 values here that are neither"
    ):
        ingest.slot_arrays(pl.DataFrame({"b": [0, 2, 3]}), [column], [(0, True)])
    number = Column("b", "number", "Int64")
    (found,), *_ = ingest.slot_arrays(pl.DataFrame({"b": [False, True]}), [number], [(0, True)])
    assert found.tolist() == [0, 1] and found.dtype == np.uint8


def test_decimals_and_half_floats_are_numbers():
    frame = pl.DataFrame({"x": pl.Series(["1.5", "2.25"]).cast(pl.Decimal(10, 2))})
    (found,), *_ = ingest.slot_arrays(frame, [Column("x", "number", "?")], [(0, True)])
    assert found.tolist() == [1.5, 2.25]
    half = np.array([[1.5], [2.0]], dtype=np.float16)
    (found,), *_ = ingest.slot_arrays(half, [Column("x0", "number", "?")], [(0, True)])
    assert found.dtype == np.float32 and found.tolist() == [1.5, 2.0]


def test_columns_without_names_are_numbered():
    for X in (
        [[1, "a"], [2, "b"]],
        np.array([[1, "a"], [2, "b"]], dtype=object),
        pd.DataFrame([[1, "a"], [2, "b"]]),
    ):
        source = sources.read(X)
        assert source.names == ["x0", "x1"] and not source.named and source.height == 2
        assert source.lazy().collect().rows() == [(1, "a"), (2, "b")]


def test_lists_mix_integers_and_floats_into_floats():
    frame = sources.read([[1, True, None], [2.5, False, "b"]]).lazy().collect()
    assert frame.dtypes == [pl.Float64, pl.Boolean, pl.String]
    assert frame.rows() == [(1.0, True, None), (2.5, False, "b")]


def test_pandas_categories_of_numbers_are_their_text():
    frame = pd.DataFrame({"c": pd.Categorical([1, 2, None])})
    assert sources.read(frame).lazy().collect()["c"].to_list() == ["1", "2", None]


def test_numpy_dates_are_dates():
    array = np.array([["2020-01-01"], ["2020-01-02"]], dtype="datetime64[D]")
    assert sources.read(array).lazy().collect().dtypes == [pl.Date]
    assert sources.read(array.astype("datetime64[s]")).lazy().collect().dtypes == [
        pl.Datetime("ms")
    ]
