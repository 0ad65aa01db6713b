"""Columns of any kind as Boolean columns whose names say what they ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from certree import conditions, ingest
from certree.estimators import parameters
from certree.ingest.midpoints import n_below_all, rounded_down
from certree.options import Thresholds
from certree.schema import Column


class ThresholdBinarizer(TransformerMixin, BaseEstimator):
    """Ask each column of numbers or dates whether it is at most each of its thresholds, and each
    column of strings or categories whether it is each of its values. Boolean columns stay as they
    are.

    A column of numbers or dates that are all equal has no output. A column with missing values is
    also asked whether its value is missing; to all other questions such a value answers no. A
    fitted binarizer can also be given to an estimator as its ``thresholds``: the tree then keeps
    the original columns.

    Parameters
    ----------
    thresholds : "all", "midpoints", int or dict, default="all"
        Cuts between all neighbouring values, so many quantiles for each column, or a dict that says
        for some columns by name which thresholds they have: a list, an int, "all" or "midpoints"
        (the others have all cuts). Of the thresholds between two values, the one with the fewest
        digits is taken, nearest to the midpoint; "midpoints" are exact midpoints. The list of a
        category holds the values that are asked for; an empty one leaves a column out, and
        ``[True]`` keeps a Boolean. ``None`` in a list asks whether the value is
        missing, as any list does that is not empty, if a value is.

    Attributes
    ----------
    thresholds_ : dict
        The thresholds of each column of numbers or dates, ascending; dates as integers in their
        physical unit. Of categories and Booleans only what a list has restricted. The last one is
        None where it is asked whether a value is missing.
    columns_ : list of certree.schema.Column
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        The names of the columns, if X came with names.

    Examples
    --------
    >>> import polars as pl
    >>> from certree import ThresholdBinarizer
    >>> frame = pl.DataFrame({"age": [20, 30, 40], "sex": ["female", "male", "male"]})
    >>> binarizer = ThresholdBinarizer().set_output(transform="polars")
    >>> binarizer.fit_transform(frame).columns
    ['age <= 25', 'age <= 35', 'sex = female', 'sex = male']
    """

    _rules = {
        "thresholds": parameters.Rule(
            lambda value: not hasattr(value, "thresholds_") and parameters.THRESHOLDS.holds(value),
            parameters.THRESHOLDS.allowed.replace(", or a fitted ThresholdBinarizer", ""),
        )
    }

    def __init__(self, thresholds: Thresholds = "all") -> None:
        self.thresholds = thresholds

    def fit(self, X: Any, y: Any = None) -> ThresholdBinarizer:
        """Choose the thresholds and values of each column. ``y`` is not looked at."""
        parameters.check(self, self._rules)
        training = ingest.read_features(X)
        cuts = ingest.make_cuts(training.frame, training.columns, self.thresholds)
        self.columns_ = [each.column for each in cuts]
        self.thresholds_ = {
            each.column.name: each.asked for each in cuts if each.asked is not None
        }
        self.n_features_in_ = len(cuts)
        if training.named:
            self.feature_names_in_ = np.array([c.name for c in self.columns_], dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def transform(self, X: Any) -> NDArray[np.bool_]:
        """A Boolean matrix with one column for each question; a frame after
        ``set_output(transform="polars")`` or ``"pandas"``."""
        check_is_fitted(self)
        slots: list[ingest.Slot] = []
        for index, column in enumerate(self.columns_):
            tests = self._tests(column)
            has_places = column.kind not in ("boolean", "category")
            if has_places and any(test is not None for test in tests):
                slots.append((index, True))
                tests = [test for test in tests if test is None]
            slots += [(index, test) for test in tests]
        found = ingest.slot_arrays(X, self.columns_, slots)
        out = np.empty((found.n_rows, len(self._questions())), dtype=bool, order="F")
        at = 0
        for (index, asked), values, missing in zip(slots, found.arrays, found.missing):
            column, first = self.columns_[index], at
            if asked is not True or column.kind == "boolean":
                out[:, at] = values
                at += 1
            else:
                places = [test for test in self._tests(column) if test is not None]
                n_false = n_below_all(places, values.dtype)
                out[:, at : at + n_false] = False
                at += n_false
                for bound in rounded_down(places[n_false:], values.dtype):
                    np.less_equal(values, bound, out=out[:, at])
                    at += 1
            if missing is not None:
                out[missing, first:at] = False
        return out

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The question each output column answers: ``age <= 38.5``, ``sex = female``.

        ``input_features`` is there for scikit-learn: names for columns that came without.
        """
        check_is_fitted(self)
        names = [column.name for column in self.columns_]
        if input_features is None:
            return np.array(self._questions(), dtype=object)
        given = list(input_features)
        if hasattr(self, "feature_names_in_") and given != names:
            raise ValueError("input_features is not equal to feature_names_in_")
        if len(given) != len(names):
            raise ValueError(
                f"input_features should have length equal to number of features ({len(names)}), "
                f"got {len(given)}"
            )
        return np.array(self._questions(given), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _questions(self, names: list[str] | None = None) -> list[str]:
        found = []
        for index, column in enumerate(self.columns_):
            name = column.name if names is None else names[index]
            shown = type(column)(name, column.kind, column.dtype, column.values)
            tests = self._tests(column)
            found += [
                name if test is True else conditions.question(shown, test)
                for test in tests
            ]
        return found

    def _tests(self, column: Column) -> Sequence[conditions.Test]:
        """What is asked of a column."""
        every = [True] if column.kind == "boolean" else [*column.values]
        every += [None] * column.missing
        asked = self.thresholds_.get(column.name, every)
        if column.kind == "ordered":
            return [test if test is None else column.values.index(test) for test in asked]
        return asked
