"""The problem that a tree was fitted to, frozen: ``certify()`` and the certificate read it, and
never what was set since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from certree.scalars import shown
from certree.schema import MissingUnseen, Unseen

#: Parameters of the run, which may change between a fit and ``certify()``. All others define the
#: problem.
OF_RUNS = ("time_limit", "memory_limit", "gap_limit", "n_jobs", "verbose", "callback")

#: Other machines, and what they do, which may change likewise; not all estimators have these.
OF_CLUSTERS = ("client", "search")


@dataclass(frozen=True)
class Fitted:
    """The problem that a tree was fitted to: the parameters that define it, and a digest of its
    data."""

    #: By name, as ``frozen`` makes them.
    parameters: tuple[tuple[str, Any], ...]
    #: Of the cuts, the groups of rows, their weights and targets, and of what columns cost and
    #: constraints count. None where the time was over before they were read.
    digest: str | None
    leaf_penalty: float
    max_depth: int | None
    max_leaf_nodes: int | None
    min_samples_leaf: int
    #: Whether missing values are refused in prediction: all of them, or those of columns that had
    #: none in training.
    missing: str
    missing_unseen: MissingUnseen
    #: What prediction does with other values that were not there in training.
    unseen: Unseen
    #: True if its loss adds up over rows, so that a search can go on from a tree.
    adds_up: bool = False
    #: By argument of ``fit``: the column of X that it named, or a tuple of several.
    named: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, model: Any, digest: str | None, named: Mapping[str, Any]) -> Fitted:
        """``named``: by argument of ``fit``, the columns of X that it named."""
        return cls(
            _defining(model),
            digest,
            float(model.leaf_penalty),
            model.max_depth,
            model.max_leaf_nodes,
            model.min_samples_leaf,
            model.missing,
            model.missing_unseen,
            model.unseen,
            named=tuple(named.items()),
        )

    def recalled(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """These arguments, and in place of those that are None the columns that ``fit`` was given
        by name."""
        named = dict(self.named)
        return {
            role: named.get(role) if value is None else value for role, value in given.items()
        }

    def with_most_leaves(self, most: int) -> Fitted:
        """This problem for smaller trees."""
        changed = {**dict(self.parameters), "max_leaf_nodes": most}
        return replace(self, parameters=tuple(changed.items()), max_leaf_nodes=most)

    def check_parameters(self, model: Any) -> None:
        """An error that names the first parameter which is not what it was."""
        now, then = dict(_defining(model)), dict(self.parameters)
        for name in [*then, *now]:
            if name not in now or name not in then or now[name] != then[name]:
                was = f"was {_shown(then[name])}" if name in then else "was not there"
                value = f"is {_shown(now[name])}" if name in now else "is gone"
                raise ValueError(
                    f"{name} {was} when the tree was fitted and {value} now, but certify() goes on "
                    "with the problem that was fitted: set it back, or fit again; only "
                    f"{', '.join(OF_RUNS[:-1])} and {OF_RUNS[-1]} may change"
                )

    def check_data(self, digest: str, given: bool) -> None:
        """An error if the rows are not those of the fit. ``given``: whether they were passed
        again."""
        if self.digest is None or digest == self.digest:
            return
        if given:
            raise ValueError(
                "these are not the rows that the tree was fitted to: features, targets or weights "
                "differ, so its certificate says nothing about them; pass the data of the fit, or "
                "fit again"
            )
        raise ValueError(
            "the training data have changed since the fit: the arrays or frames that fit() was "
            "given, or the files behind them, now hold other rows, which the certificate says "
            "nothing about; restore them, or fit again"
        )


def _defining(model: Any) -> tuple[tuple[str, Any], ...]:
    parameters = model.get_params(deep=True)
    of_run = {*OF_RUNS, *OF_CLUSTERS}
    return tuple((name, frozen(value)) for name, value in parameters.items() if name not in of_run)


def frozen(value: Any) -> Any:
    """A copy that is equal to another one if the values are: tables and lists by their content,
    models by their identity, because their parameters are looked at one by one, under their own
    names."""
    if value is None or isinstance(value, (bool, int, float, str, bytes, type)):
        return value
    if isinstance(value, Mapping):
        return _Known("mapping", tuple((frozen(key), frozen(each)) for key, each in value.items()))
    if isinstance(value, (list, tuple)):
        return _Known("list", tuple(frozen(each) for each in value))
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "__array__") and hasattr(value, "shape"):
        array = np.asarray(value)
        if array.ndim == 0:
            return _Same(value)
        names = tuple(map(str, getattr(value, "columns", ())))
        # Objects are compared as such, other values by their bytes: NaN is then equal to itself.
        of_objects = array.dtype == object
        content = frozen(array.tolist()) if of_objects else blake2b(array.tobytes()).hexdigest()
        return _Known("array", (array.shape, array.dtype.str, names, content))
    if type(value).__hash__ is not None and type(value).__eq__ is not object.__eq__:
        # A value, such as a constraint or a date.
        return value
    return _Same(value)


def columns_named(vectors: Mapping[str, Any], tables: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of X that arguments of ``fit`` name: a vector is named by a string, and a table
    by a list of strings. Arguments that hold values are left out."""
    found: dict[str, Any] = {
        role: value for role, value in vectors.items() if isinstance(value, str)
    }
    for role, value in tables.items():
        several = isinstance(value, (list, tuple)) and len(value) > 0
        if several and all(isinstance(name, str) for name in value):
            found[role] = tuple(value)
        elif isinstance(value, str):
            found[role] = value
    return found


@dataclass(frozen=True)
class _Known:
    kind: str
    content: Any


@dataclass(frozen=True, eq=False)
class _Same:
    """An object that is equal to itself alone."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _shown(value: Any) -> str:
    if isinstance(value, _Same):
        value = value.value
    if isinstance(value, _Known):
        return f"another {value.kind}"
    return shown(value)
