"""What the columns of every path from the root to a leaf keep to.

To add a rule: give it a class here and a line in ``_core_rule``, and a variant of ``PathRule`` in
``rust/posed/path_rules.rs``, which says what it means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from certree import _core
from certree.scalars import is_integer, shown

#: A column by its name, or by its number among the features, from 0.
Name = str | int

#: The core's counters hold this, and no table has as many columns.
_MOST = 2**32 - 1


@dataclass(frozen=True)
class MostColumns:
    """A path asks for at most so many different columns; each as often as it likes.

    Examples
    --------
    Every answer is explained by two columns alone, whichever they are:

    >>> import polars as pl
    >>> from certree import MostColumns, OptimalTreeClassifier
    >>> X = pl.DataFrame({"a": [0, 0, 0, 0, 1, 1, 1, 1], "b": [0, 0, 1, 1] * 2, "c": [0, 1] * 4})
    >>> y = [0, 0, 0, 1, 1, 1, 1, 0]
    >>> model = OptimalTreeClassifier(leaf_penalty=0, path_rules=[MostColumns(2)]).fit(X, y)
    >>> model.objective_, OptimalTreeClassifier(leaf_penalty=0).fit(X, y).objective_
    (0.25, 0.0)
    """

    most: int


@dataclass(frozen=True, init=False, repr=False)
class After:
    """A column is asked only below splits on all of some others.

    Examples
    --------
    Nobody is sent to the scan before blood was taken:

    >>> import polars as pl
    >>> from certree import After, OptimalTreeClassifier
    >>> X = pl.DataFrame({"blood": [3, 3, 9, 9, 9, 9], "scan": [1, 2, 1, 2, 1, 2]})
    >>> y = ["well", "well", "well", "ill", "well", "ill"]
    >>> rule = After("scan", "blood")
    >>> model = OptimalTreeClassifier(leaf_penalty=0, path_rules=[rule]).fit(X, y)
    >>> print(model.tree_.to_text())
    6 rows  ill: 33.3%, well: 66.7%
    ├── blood <= 6    → well  2 rows  ill:     0%, well:   100%
    └── blood > 6
        ├── scan <= 1 → well  2 rows  ill:     0%, well:   100%
        └── scan > 1  → ill   2 rows  ill:   100%, well:     0%
    <BLANKLINE>
    """

    column: Name
    above: tuple[Name, ...]

    def __init__(self, column: Name, *above: Name) -> None:
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "above", above)

    def __repr__(self) -> str:
        return f"After({', '.join(map(repr, (self.column, *self.above)))})"


@dataclass(frozen=True, init=False, repr=False)
class Apart:
    """Columns of different groups do not meet on a path: interaction constraints.

    The columns of a path that are in some group are all in one group. Groups may overlap. Columns
    of no group may meet all others. Where they name all columns, the ``interaction_constraints`` of
    XGBoost and LightGBM, such as ``[["age", "dose"], ["city"]]``, are ``Apart(["age", "dose"],
    ["city"])``. They differ where columns are left out: those meet no other one in XGBoost, as if
    each were a group of its own, and are not asked at all in LightGBM.

    Examples
    --------
    >>> import polars as pl
    >>> from certree import Apart, OptimalTreeClassifier
    >>> X = pl.DataFrame({"age": [1, 1, 2, 2], "city": [1, 2, 1, 2]})
    >>> rule = Apart(["age"], ["city"])
    >>> model = OptimalTreeClassifier(leaf_penalty=0, path_rules=[rule]).fit(X, [0, 0, 0, 1])
    >>> print(model.certificate_.path_rules[0])
    no path asks for columns of several of the groups ['age'], ['city']
    >>> model.objective_
    0.25
    """

    groups: tuple[tuple[Name, ...], ...]

    def __init__(self, *groups: Sequence[Name]) -> None:
        whole = (tuple(group) if isinstance(group, list) else group for group in groups)
        object.__setattr__(self, "groups", tuple(whole))

    def __repr__(self) -> str:
        groups = (list(group) if isinstance(group, tuple) else group for group in self.groups)
        return f"Apart({', '.join(map(repr, groups))})"


@dataclass(frozen=True)
class FirstColumn:
    """The first split of the tree is on this column; a single leaf is allowed, too."""

    column: Name


#: What ``path_rules`` may hold.
PathRule = MostColumns | After | Apart | FirstColumn


def holds(value: Any) -> bool:
    """Whether this has the form of rules: what they are is checked once columns are known."""
    return isinstance(value, (list, tuple)) and all(isinstance(rule, PathRule) for rule in value)


def read(given: Sequence[PathRule], names: Sequence[str]) -> list[_core.PathRule]:
    """The rules as the core takes them. ``names``: of all feature columns."""
    return [_core_rule(rule, names) for rule in given]


def _core_rule(rule: PathRule, names: Sequence[str]) -> _core.PathRule:
    def place(name: Any) -> int:
        return _place(name, names, rule)

    if isinstance(rule, MostColumns):
        if not is_integer(rule.most) or rule.most < 0:
            raise ValueError(
                f"path_rules holds {shown(rule)}, but the most columns of a path are an integer of "
                "at least 1"
            )
        return _core.PathRule.most_columns(min(int(rule.most), _MOST))
    if isinstance(rule, After):
        return _core.PathRule.after(place(rule.column), [place(name) for name in rule.above])
    if isinstance(rule, FirstColumn):
        return _core.PathRule.first_column(place(rule.column))
    for group in rule.groups:
        if not isinstance(group, tuple):
            raise ValueError(
                f"path_rules holds {shown(rule)}, but each group of columns is a list, such as in "
                "Apart(['a', 'b'], ['c'])"
            )
    return _core.PathRule.apart([[place(name) for name in group] for group in rule.groups])


def _place(name: Any, names: Sequence[str], rule: PathRule) -> int:
    """The number of a column."""
    if isinstance(name, str) and name in names:
        return names.index(name)
    if is_integer(name) and 0 <= name < len(names):
        return int(name)
    what = shown(name)
    if not isinstance(name, str) and not is_integer(name):
        raise ValueError(
            f"path_rules holds {shown(rule)}, but {what} is no column: give its name, or its "
            "number from 0"
        )
    there = _listed(names) if isinstance(name, str) else f"{len(names)}, numbered from 0"
    raise ValueError(
        f"path_rules holds {shown(rule)}, but {what} is no feature column: there are {there}"
    )


def _listed(names: Sequence[str], most: int = 10) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
