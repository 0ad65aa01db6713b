"""What a tree may be required to keep to, besides its limits on size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from certree.scalars import shown


@dataclass(frozen=True)
class DemographicParity:
    """Both groups get a label about equally often.

    The share of rows that are given ``label`` differs between the two groups by at most
    ``max_difference``. ``sensitive`` names a column of X with two values. The tree does not split
    on it unless ``use_as_feature=True``, and prediction then does not need it.

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

    sensitive: str
    max_difference: float
    use_as_feature: bool = False
    label: Any = None

    words = "demographic parity"


@dataclass(frozen=True)
class EqualOpportunity:
    """Rows that the label is right for get it about equally often in both groups.

    As :class:`DemographicParity`, but only rows whose true label is ``label`` count: of the
    positive class, say, the true positive rates of the two groups differ by at most
    ``max_difference``. With :class:`certree.OptimalCostTree`, the rows count for which no label
    costs less.
    """

    sensitive: str
    max_difference: float
    use_as_feature: bool = False
    label: Any = None

    words = "equality of opportunity"


@dataclass(frozen=True)
class Capacity:
    """At most this share of the row weight is given the label.

    Examples
    --------
    >>> from certree import Capacity, OptimalTreeClassifier
    >>> X, y = [[1], [2], [3], [4]], [0, 1, 1, 1]
    >>> model = OptimalTreeClassifier(constraints=(Capacity(1, max_fraction=0.5),)).fit(X, y)
    >>> model.predict(X).tolist()
    [0, 0, 1, 1]
    """

    label: Any
    max_fraction: float


@dataclass(frozen=True)
class FalsePositiveRate:
    """At most this share of the rows of the negative class is given the positive one."""

    max_rate: float


#: What ``constraints`` may hold.
Constraint = DemographicParity | EqualOpportunity | Capacity | FalsePositiveRate


#: How the error begins that says that no tree keeps to all of them.
NO_TREE = "no tree within these limits meets the constraints"


@dataclass(frozen=True)
class Met:
    """A constraint that a tree meets, and by how much."""

    constraint: Constraint
    #: The largest value allowed, and the value of the tree on the training rows.
    limit: float
    attained: float

    def __str__(self) -> str:
        if isinstance(self.constraint, Capacity):
            what, value = f"capacity of {shown(self.constraint.label)}", "share"
        elif isinstance(self.constraint, FalsePositiveRate):
            what, value = "false positives", "rate"
        else:
            what, value = f"{self.constraint.words} by {self.constraint.sensitive!r}", "difference"
            if self.constraint.label is not None:
                what += f" for {shown(self.constraint.label)}"
        return f"{what}: the {value} is {self.attained:.6g}, and at most {self.limit:g} is allowed"
