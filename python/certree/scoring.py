"""A saved tree that scores rows with numpy alone.

A service that only predicts loads neither polars nor scikit-learn. What a :class:`Scorer` answers
is what ``Tree.predict`` answers to the last bit: the core routes its rows, too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from certree import _core
from certree.answers import Answers
from certree.export.to_json import MOST_BYTES, from_json
from certree.moments import in_unit, time_unit
from certree.schema import Column, Sets, is_threshold
from certree.unseen import Strange, lacking, refuse_missing, report

Mask = NDArray[np.bool_]


class Scorer:
    """A tree that was saved as JSON, to score rows.

    Rows are a mapping from the names of columns to their values, of equal lengths: numpy arrays,
    lists, or columns of a pandas frame (``dict(frame)``); or a structured array. Other columns are
    ignored. None, NaN, ``NaT`` and masked values are missing, and go where the tree sends them.

    Parameters
    ----------
    document : str or bytes
        What ``tree.to_json()`` answered, or what ``certree fit --model`` wrote.

    Attributes
    ----------
    columns : tuple of str
        The names of the columns that the tree reads.
    labels : numpy.ndarray
        The possible answers, in the order of ``predict_proba``; of a tree that answers numbers, or
        several targets, the names of these.

    Examples
    --------
    >>> from certree import OptimalTreeClassifier
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [20, 30, 50, 60], "ill": ["no", "no", "yes", "yes"]})
    >>> document = OptimalTreeClassifier(max_depth=1).fit(people, "ill").tree_.to_json()

    Where it is used:

    >>> from certree.scoring import Scorer
    >>> scorer = Scorer(document)
    >>> scorer.predict({"age": [25, None, 61.5]}).tolist()
    ['no', 'no', 'yes']
    """

    columns: tuple[str, ...]
    labels: NDArray[Any]

    def __init__(self, document: str | bytes) -> None:
        found = from_json(document)
        self.labels = found.labels
        self._core = _core.Tree(found.parts)
        self._missing_unseen = found.missing_unseen
        self._unseen = found.unseen
        chosen = [label for _, label, *_ in found.parts]
        values = [value for *_, value, _ in found.parts]
        self._answers = Answers(found.task, found.labels, found.classes, chosen, values)
        questions = [_Question.of(split, found.columns) for split, *_ in found.parts]
        asked = list(dict.fromkeys(each for each in questions if each is not None))
        place = {question: at for at, question in enumerate(asked)}
        self._questions = asked
        self._reads = [0 if each is None else place[each] for each in questions]
        self._columns = {each.column.name: each.column for each in asked}
        self.columns = tuple(self._columns)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scorer:
        """The tree in a file."""
        # A file that is no tree may be larger than memory.
        with Path(path).open("rb") as file:
            return cls(file.read(MOST_BYTES + 1))

    def predict(self, rows: Any) -> NDArray[Any]:
        """The answer for each row: in the dtype of the labels; of a tree that answers numbers the
        number, or rows × numbers if there are several; of several targets rows × targets."""
        return self._answers.predictions[self.apply(rows)]

    def predict_proba(self, rows: Any) -> Any:
        """The share of each class among the training rows (by weight) of the leaf a row ends in; of
        several targets a list with such an array for each."""
        shares = self._answers.shares
        leaves = self.apply(rows)
        return [each[leaves] for each in shares] if isinstance(shares, list) else shares[leaves]

    def predict_value(self, rows: Any) -> NDArray[np.float64]:
        """What the leaf each row ends in holds, rows × labels: row weights by class, mean costs or
        rewards, or numbers."""
        return self._answers.values[self.apply(rows)]

    def apply(self, rows: Any) -> NDArray[np.uint32]:
        """The id of the leaf that each row ends in."""
        given = _by_name(rows)
        if absent := [name for name in self._columns if name not in given]:
            raise lacking(absent, len(self._columns))
        read = {name: _read(column, given[name]) for name, column in self._columns.items()}
        n_rows = _n_rows(given, read)
        if self._missing_unseen == "refuse":
            refuse_missing([(self._columns[name], own.missing) for name, own in read.items()])
        report([own.strange for own in read.values() if own.strange], self._unseen)
        slots = [question.slot(read[question.column.name]) for question in self._questions]
        arrays, missing = [values for values, _ in slots], [gone for _, gone in slots]
        return self._core.apply(self._reads, arrays, n_rows, missing)


class _Question(NamedTuple):
    """What is read of a column: its values (True), whether they are one value or in which set, or
    whether they are missing (None)."""

    column: Column
    asked: str | Sets | bool | None

    @classmethod
    def of(cls, split: Any, columns: Sequence[Column]) -> _Question | None:
        if split is None:
            return None
        index, test, *_ = split
        test = Sets(*map(tuple, test)) if isinstance(test, tuple) else test
        by_value = is_threshold(test) or isinstance(test, bool)
        return cls(columns[index], True if by_value else test)

    def slot(self, read: _Values) -> tuple[NDArray[Any], Mask | None]:
        """The array that the router reads, and which of its values are masked."""
        values, missing, strange = read
        if self.asked is None:
            return missing, None
        if isinstance(self.asked, Sets):
            left, right = (np.isin(values, self._codes(side)) for side in self.asked)
            return right, missing | ~(left | right)
        if isinstance(self.asked, str):
            return values == self._codes((self.asked,))[0], missing
        if self.column.kind == "ordered":
            return np.maximum(values, 0).astype(np.uint32), missing | (values < 0)
        return values, missing

    def _codes(self, values: Sequence[str]) -> list[int]:
        places = {value: at for at, value in enumerate(self.column.values)}
        return [places[value] for value in values]


class _Values(NamedTuple):
    """A column's values: numbers, Booleans, moments in the fitted unit, or the places of values
    among those of training, which are -1 for others. Where they are missing, any."""

    values: NDArray[Any]
    missing: Mask
    strange: Strange | None = None


def _by_name(rows: Any) -> Mapping[str, Any]:
    if isinstance(rows, Mapping):
        return rows
    if isinstance(rows, np.ndarray) and rows.dtype.names is not None:
        return {name: rows[name] for name in rows.dtype.names}
    raise TypeError(
        f"rows are a {type(rows).__name__}, but must be a mapping from the names of columns to "
        "their values, such as {'age': [38, 51]}, or a structured array"
    )


def _n_rows(given: Mapping[str, Any], read: Mapping[str, _Values]) -> int:
    """How many rows there are, also where a tree of one leaf reads no column."""
    lengths = {name: len(own.values) for name, own in read.items()}
    if not lengths:
        lengths = {name: len(values) for name, values in given.items()}
    if not lengths:
        raise ValueError("there are no columns, so that nothing says how many rows there are")
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        raise ValueError(f"columns must have equally many values, but {told}")
    return next(iter(lengths.values()))


def _read(column: Column, given: Any) -> _Values:
    if isinstance(given, (str, bytes)) or np.ndim(given) != 1:
        raise ValueError(f"column {column.name!r} must hold a value for each row, in a list")
    masked = np.ma.getmaskarray(given) if isinstance(given, np.ma.MaskedArray) else None
    # Lists as objects, so that numpy makes no strings of numbers beside None.
    array = np.asarray(given) if hasattr(given, "__array__") else _objects(given)
    if array.dtype.kind == "O":
        gone = np.fromiter(map(_is_missing, array), dtype=bool, count=len(array))
    elif array.dtype.kind in "fMm":
        gone = np.isnan(array) if array.dtype.kind == "f" else np.isnat(array)
    else:
        gone = np.zeros(len(array), dtype=bool)
    missing = gone if masked is None else gone | masked
    return _READERS[column.kind](column, array, missing)


def _objects(given: Any) -> NDArray[Any]:
    found = np.empty(len(given), dtype=object)
    found[:] = list(given)
    return found


def _is_missing(value: Any) -> bool:
    """None, and whatever is not itself: NaN, NaT, and pandas' NA, which does not know."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return True


def _numbers(column: Column, array: NDArray[Any], missing: Mask) -> _Values:
    kind = array.dtype.kind
    if kind == "b":
        return _Values(array.astype(np.uint8), missing)
    if kind in "iu":
        return _Values(np.ascontiguousarray(array), missing)
    if kind == "f" and array.dtype.itemsize <= 8:
        wide = array if array.dtype.itemsize >= 4 else array.astype(np.float32)
        return _Values(np.ascontiguousarray(np.where(missing, 0, wide)), missing)
    if kind != "O":
        _unfit(column, array.dtype, "numbers")
    known = [0 if gone else value for value, gone in zip(array.tolist(), missing)]
    for value in known:
        if not isinstance(value, (bool, int, float, Decimal, np.number, np.bool_)):
            _unfit(column, repr(value), "numbers")
    if all(isinstance(value, (bool, int, np.integer, np.bool_)) for value in known):
        least, most = min(known, default=0), max(known, default=0)
        if -(2**63) <= least and most < 2**64 and (least >= 0 or most < 2**63):
            return _Values(np.array(known, dtype=np.uint64 if most >= 2**63 else int), missing)
    return _Values(np.array([float(value) for value in known]), missing)


def _booleans(column: Column, array: NDArray[Any], missing: Mask) -> _Values:
    if array.dtype.kind == "b":
        return _Values(np.ascontiguousarray(array), missing)
    values, *_ = _numbers(column, array, missing)
    bad = int(((values != 0) & (values != 1) & ~missing).sum())
    if bad:
        raise ValueError(
            f"column {column.name!r} was Boolean when the tree was fitted, but has {bad} values "
            "here that are neither 0 nor 1"
        )
    return _Values(values == 1, missing)


def _strings(column: Column, array: NDArray[Any], missing: Mask) -> _Values:
    if array.dtype.kind not in "OUST":
        _unfit(column, array.dtype, "strings")
    places = {value: at for at, value in enumerate(column.values)}
    codes = np.full(len(array), -1)
    strange: dict[str, int] = {}
    for row, (value, gone) in enumerate(zip(array.tolist(), missing)):
        if gone:
            continue
        text = value.decode() if isinstance(value, bytes) else value
        if not isinstance(text, str):
            _unfit(column, repr(value), "strings")
        codes[row] = places.get(text, -1)
        if codes[row] < 0:
            strange[text] = strange.get(text, 0) + 1
    if not strange:
        return _Values(codes, missing)
    return _Values(codes, missing, Strange(column, sorted(strange), sum(strange.values())))


def _moments(column: Column, array: NDArray[Any], missing: Mask) -> _Values:
    """Dates, durations and times of day."""
    unit, zoned = time_unit(column.dtype), "time_zone='" in column.dtype
    if array.dtype.kind == {"date": "M", "duration": "m"}.get(column.kind):
        if zoned:
            _unfit(column, "a time without a zone", "datetimes that have a tzinfo")
        given = np.datetime_data(array.dtype)[0]
        if given not in ("ns", "us", "ms"):
            given = "ms" if given in ("s", "m", "h") else "day"
            array = array.astype(f"{array.dtype.kind}8[{'D' if given == 'day' else given}]")
        counts = np.where(missing, 0, array.astype(np.int64))
        return _Values(in_unit(counts, given, unit), missing)
    kind, wanted = _TIMED[column.kind]
    if array.dtype.kind != "O":
        _unfit(column, array.dtype, wanted)
    micros, nanos = np.zeros((2, len(array)), dtype=np.int64)
    for row, (value, gone) in enumerate(zip(array.tolist(), missing)):
        if gone:
            continue
        if not isinstance(value, kind):
            _unfit(column, repr(value), wanted)
        aware = isinstance(value, (datetime, time)) and value.tzinfo is not None
        if aware != zoned:
            what = "datetimes that have a tzinfo" if zoned else f"{wanted} without a time zone"
            _unfit(column, repr(value), what)
        micros[row] = _microseconds(value)  # type: ignore[arg-type]
        # Only those of pandas have them.
        nanos[row] = getattr(value, "nanosecond", getattr(value, "nanoseconds", 0))
    if unit == "ns":
        return _Values(in_unit(micros, "us", unit) + nanos, missing)
    # Rounded up, as by `in_unit`.
    return _Values(in_unit(micros + (nanos > 0), "us", unit), missing)


#: By kind of column, what its values are in Python, and in words.
_TIMED: Mapping[str, tuple[type, str]] = {
    "date": (date, "dates"),
    "duration": (timedelta, "durations"),
    "time": (time, "times of day"),
}


def _microseconds(moment: date | timedelta | time) -> int:
    """Since 1970, or since midnight; of a duration how many it is."""
    if isinstance(moment, timedelta):
        return moment // timedelta(microseconds=1)
    if isinstance(moment, time):
        return (datetime.combine(date.min, moment) - datetime.min) // timedelta(microseconds=1)
    if not isinstance(moment, datetime):
        return (moment.toordinal() - date(1970, 1, 1).toordinal()) * 86_400_000_000
    start = datetime(1970, 1, 1, tzinfo=None if moment.tzinfo is None else timezone.utc)
    return (moment - start) // timedelta(microseconds=1)


def _unfit(column: Column, given: Any, wanted: str) -> NoReturn:
    raise ValueError(
        f"column {column.name!r} was {column.dtype} when the tree was fitted, and must hold "
        f"{wanted}, but here it is {given}"
    )


_READERS: Mapping[str, Callable[[Column, NDArray[Any], Mask], _Values]] = {
    "number": _numbers,
    "boolean": _booleans,
    "category": _strings,
    "ordered": _strings,
    "date": _moments,
    "duration": _moments,
    "time": _moments,
}
