"""What a tree may be required to keep to, besides its limits on size."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf
from typing import Any, cast

from certree.scalars import shown

#: The rates that groups are compared by, in words.
RATES = {
    "selection": "selection rates",
    "true_positive": "true positive rates",
    "false_positive": "false positive rates",
    "error": "error rates",
}


class _Grouped:
    """What all constraints on groups have."""

    sensitive: Any
    max_difference: float | None
    min_ratio: float | None

    def __post_init__(self) -> None:
        if isinstance(self.sensitive, list):
            object.__setattr__(self, "sensitive", tuple(self.sensitive))

    def __repr__(self) -> str:
        """What is given, without what is as always."""
        given = [
            repr(value) if at < 1 + (each.name == "sensitive") else f"{each.name}={value!r}"
            for at, each in enumerate(fields(cast(Any, self)))
            if (value := getattr(self, each.name)) != each.default
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    @property
    def columns(self) -> tuple[Any, ...]:
        """The sensitive columns."""
        return self.sensitive if isinstance(self.sensitive, tuple) else (self.sensitive,)


@dataclass(frozen=True, repr=False)
class DemographicParity(_Grouped):
    """All groups get a label about equally often.

    The share of rows that are given ``label`` differs between any two groups by at most
    ``max_difference``; or, with ``min_ratio``, it is at least so many times that of any other group
    (0.8 is the four-fifths rule). ``against="rest"`` compares each group with all other rows in
    place of each other group; of a group and all others, neither rate is then below ``min_ratio``
    times the other.

    ``sensitive`` names a column of X, by its name or by its number from 0; each value of it is a
    group. A list of columns has a group for each combination of values. The tree does not split on
    these columns unless ``use_as_feature=True``, and prediction then does not need them (an array
    keeps its shape, and what it has there is not looked at).

    If ``label`` is None, it is the ``positive_label`` of a classifier of two classes (by default
    ``classes_[1]``); for :class:`certree.OptimalCostTree` and :class:`certree.OptimalPolicyTree` it
    is each label in turn.

    Examples
    --------
    >>> import polars as pl
    >>> from certree import DemographicParity, OptimalTreeClassifier
    >>> frame = pl.DataFrame({
    ...     "sex": ["f", "f", "f", "f", "m", "m", "m", "m"],
    ...     "score": [1, 2, 3, 4, 3, 4, 5, 6],
    ...     "hired": [False, False, False, True, False, True, True, True],
    ... })
    >>> parity = DemographicParity("sex", max_difference=0.25)
    >>> model = OptimalTreeClassifier(max_depth=2, constraints=(parity,)).fit(frame, "hired")
    >>> print(model.certificate_.constraints[0])
    demographic parity by 'sex': the difference is 0.25, and at most 0.25 is allowed
    """

    sensitive: Any
    max_difference: float | None = None
    use_as_feature: bool = False
    label: Any = None
    min_ratio: float | None = None
    against: str = "each"

    words = "demographic parity"
    rate = "selection"


@dataclass(frozen=True, repr=False)
class EqualOpportunity(_Grouped):
    """Rows that the label is right for get it about equally often in all groups.

    As :class:`DemographicParity`, but only rows whose true label is ``label`` count: of the
    positive class, say, the true positive rates of any two groups differ by at most
    ``max_difference``. With :class:`certree.OptimalCostTree`, the rows count for which no label
    costs less.
    """

    sensitive: Any
    max_difference: float | None = None
    use_as_feature: bool = False
    label: Any = None
    min_ratio: float | None = None
    against: str = "each"

    words = "equality of opportunity"
    rate = "true_positive"


@dataclass(frozen=True, repr=False)
class EqualRates(_Grouped):
    """A rate is about the same in all groups.

    As :class:`DemographicParity`, but of any rate: "selection" (of all rows, those that get the
    label), "true_positive" (of the rows whose label it is), "false_positive" (of the other rows) or
    "error" (of all rows, those whose label is wrong). The rates of true and of false positives
    together are equalized odds.

    Examples
    --------
    >>> import polars as pl
    >>> from certree import EqualRates, OptimalTreeClassifier
    >>> frame = pl.DataFrame({
    ...     "group": ["a", "a", "b", "b", "c", "c"],
    ...     "score": [1, 2, 1, 3, 2, 3],
    ...     "good": [False, True, True, True, False, True],
    ... })
    >>> same = EqualRates("error", "group", max_difference=0.5)
    >>> model = OptimalTreeClassifier(max_depth=2, constraints=(same,)).fit(frame, "good")
    >>> print(model.certificate_.constraints[0])
    equal error rates by 'group': the difference is 0.5, and at most 0.5 is allowed
    """

    rate: str
    sensitive: Any
    max_difference: float | None = None
    use_as_feature: bool = False
    label: Any = None
    min_ratio: float | None = None
    against: str = "each"

    @property
    def words(self) -> str:
        return f"equal {RATES[self.rate]}"


@dataclass(frozen=True)
class Capacity:
    """At most the share ``max_fraction`` of the row weight is given the label, and at least
    ``min_fraction``.

    Examples
    --------
    >>> from certree import Capacity, OptimalTreeClassifier
    >>> X, y = [[1], [2], [3], [4]], [0, 1, 1, 1]
    >>> model = OptimalTreeClassifier(constraints=(Capacity(1, max_fraction=0.5),)).fit(X, y)
    >>> model.predict(X).tolist()
    [0, 0, 1, 1]
    """

    label: Any
    max_fraction: float | None = None
    min_fraction: float | None = None


@dataclass(frozen=True)
class FalsePositiveRate:
    """At most this share of the rows of the negative class is given the positive one."""

    max_rate: float


@dataclass(frozen=True, eq=False)
class SumLimit:
    """The sum of a column over the training rows that get a label stays within bounds.

    ``values`` names a column of X, by its name or by its number from 0, or holds a number for each
    row, which may be below zero. Row weight counts: a row of weight 2 counts twice. A column is no
    feature unless ``use_as_feature=True``.

    A budget is a sum of prices with ``at_most``, a quota a sum of ones in a group with
    ``at_least``. A precision of at least p is a sum of at least 0 of the numbers 1 − p (of rows of
    the positive class) and −p (of all others).

    If ``label`` is None, it is the ``positive_label`` of a classifier of two classes.

    Examples
    --------
    >>> import polars as pl
    >>> from certree import OptimalTreeClassifier, SumLimit
    >>> frame = pl.DataFrame({
    ...     "age": [1, 2, 3, 4, 5, 6],
    ...     "price": [10, 20, 10, 30, 10, 40],
    ...     "treat": [False, False, True, True, True, True],
    ... })
    >>> budget = SumLimit("price", at_most=60)
    >>> model = OptimalTreeClassifier(max_depth=2, constraints=(budget,)).fit(frame, "treat")
    >>> print(model.certificate_.constraints[0])
    sum of 'price' over rows that get True: it is 50, and at most 60 is allowed
    """

    values: Any
    label: Any = None
    at_most: float | None = None
    at_least: float | None = None
    use_as_feature: bool = False

    def __repr__(self) -> str:
        parts = [repr(self.values) if self.is_column else "<numbers by row>"]
        parts += [
            f"{name}={getattr(self, name)!r}"
            for name in ("label", "at_most", "at_least")
            if getattr(self, name) is not None
        ]
        return f"SumLimit({', '.join(parts)})"

    @property
    def is_column(self) -> bool:
        return isinstance(self.values, (str, int))


#: What ``constraints`` may hold.
Constraint = (
    DemographicParity | EqualOpportunity | EqualRates | Capacity | FalsePositiveRate | SumLimit
)

#: Those on groups.
GroupConstraint = DemographicParity | EqualOpportunity | EqualRates


#: How the error begins that says that no tree keeps to all of them.
NO_TREE = "no tree within these limits meets the constraints"


@dataclass(frozen=True)
class Met:
    """A constraint that a tree meets, and by how much."""

    constraint: Constraint
    #: The largest value allowed, or the least where there is no such, and the value of the tree on
    #: the training rows.
    limit: float
    attained: float
    #: The least value allowed, and the largest one.
    bounds: tuple[float, float] = (-inf, inf)
    #: What is limited.
    what: str = ""

    @property
    def allowed(self) -> str:
        """The bounds in words."""
        least, most = self.bounds
        if most == inf:
            return f"at least {least:g}"
        return f"at most {most:g}" if least == -inf else f"from {least:g} to {most:g}"

    def __str__(self) -> str:
        verb = "are" if self.allowed.startswith("from") else "is"
        return f"{self.what} {self.attained:.6g}, and {self.allowed} {verb} allowed"


def of_groups(constraint: GroupConstraint) -> str:
    """What a constraint on groups limits, in words."""
    names = constraint.columns
    by = " and ".join(repr(name) if isinstance(name, str) else f"column {name}" for name in names)
    what = f"{constraint.words} by {by}"
    if constraint.label is not None:
        what += f" for {shown(constraint.label)}"
    if constraint.against == "rest":
        what += ", each group against all others"
    return f"{what}: the {'ratio' if constraint.max_difference is None else 'difference'} is"
