"""Proofs that others can check: the problem of a model as a text, and why no tree of it is
better."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from shlex import quote
from time import monotonic
from types import MappingProxyType
from typing import Any

import numpy as np

from certree import _core
from certree.budget import Budget
from certree.certificate import Written
from certree.estimators import _groups, _ratio, _start
from certree.estimators._posed import Posed
from certree.tree import Tree

#: A file to write.
File = str | PathLike[str]


@dataclass(frozen=True)
class Proof:
    """What :func:`prove` wrote."""

    #: The files.
    instance: Path
    proof: Path
    #: Of the instance, in hexadecimal: who has both the table and this can ask for the rest.
    sha256: str
    #: No tree costs less, in the instance's units.
    bound: int
    #: Steps of the proof, which a checker takes.
    lemmas: int
    #: Steps of the search that found it.
    looks: int
    n_bytes: int

    def how_to_check(self) -> str:
        """The command that checks it."""
        return f"certree-check {quote(str(self.instance))} {quote(str(self.proof))}"


@dataclass(frozen=True)
class Saved:
    """A tree that was saved with what was proved of it."""

    tree: Tree
    #: No objective is lower; None if no tree is better than this one.
    lower_bound: float | None
    #: Of the data that it was fitted to.
    digest: str | None


def write(model: Any, data: tuple[Any, Any, Any], instance: File, proof: File) -> Proof:
    """Prove the tree of a fitted model, and note in its certificate where."""
    model._fitted.check_parameters(model)
    if model.status_ == "optimal_given_guess":
        raise ValueError(
            "the tree is the best if the guess of its reference is right, which no proof shows: "
            "certify() it first"
        )
    _check(model)

    def prove(posed: Posed, left: Budget) -> tuple[Any, ...]:
        model._fitted.check_data(posed.problem.digest, True)
        tree = _groups.to_core(model.tree_._core, posed.cuts)
        lower = None if model.status_ == "optimal" else model.lower_bound_
        more: dict[str, Any] = {}
        if getattr(model, "objective", None) in _ratio.NAMES:
            additive, more = _ratio.at_the_tree(model)
            posed = additive._pose_in_order(data, posed.thresholds)
        about, limits = _about(model, posed, more), model._limits(left)
        return _core.prove(posed.problem, tree, about, limits, lower)

    made = _written(_posed(model, data, prove), Path(instance), Path(proof))
    files = str(made.instance), str(made.proof)
    note = Written(*files, made.sha256, made.how_to_check())
    model.certificate_ = replace(model.certificate_, proof=note)
    return made


def write_saved(
    model: Any, data: tuple[Any, Any, Any], saved: Saved, instance: File, proof: File
) -> Proof:
    """Prove a tree that was saved: ``model`` has its parameters, and is not fitted. The file of the
    instance is there already, and has to be this problem."""
    _check(model)

    def prove(posed: Posed, left: Budget) -> tuple[Any, ...]:
        _check_data(posed, saved)
        start = _start.incumbent(saved.tree, posed, model.missing)
        if start is None:
            raise ValueError("the saved tree is no tree of this problem: fit it again")
        about, limits = _about(model, posed), model._limits(left)
        return _core.prove(posed.problem, start[0], about, limits, saved.lower_bound)

    found = _posed(model, data, prove)
    if Path(instance).exists() and Path(instance).read_bytes() != found[0].encode():
        raise ValueError(
            f"{instance} is there already, and is the instance of another problem: name another "
            "file"
        )
    return _written(found, Path(instance), Path(proof))


def export(model: Any, data: tuple[Any, Any, Any], saved: Saved, instance: File) -> str:
    """Write the problem that a saved tree was fitted to, and give the SHA-256 of the file."""
    _check(model)

    def text(posed: Posed, left: Budget) -> str:
        _check_data(posed, saved)
        return _core.export_instance(posed.problem, _about(model, posed), model._limits(left))

    written: bytes = _posed(model, data, text).encode()
    Path(instance).write_bytes(written)
    return hashlib.sha256(written).hexdigest()


def _check(model: Any) -> None:
    if not model._has_proofs:
        raise ValueError(
            "proofs are for OptimalTreeClassifier, OptimalTreeRegressor and OptimalCostTree, not "
            f"{type(model).__name__}"
        )
    if model.missing == "own_branch":
        raise ValueError('there is no proof with missing="own_branch"; use missing="learn"')


def _posed(model: Any, data: tuple[Any, Any, Any], use: Callable[[Posed, Budget], Any]) -> Any:
    """What ``use`` makes of the problem of these data, within the model's limits."""
    if isinstance(data, tuple):
        data = model._data_again(*data)
    with model._budget(monotonic()) as left:
        with left.patient():
            posed = model._pose_in_order(data, getattr(model, "guesser_", model.thresholds))
        return use(posed, left)


def _check_data(posed: Posed, saved: Saved) -> None:
    if saved.digest is not None and posed.digest != saved.digest:
        raise ValueError(
            "these are not the rows that the tree was fitted to: features, targets or weights "
            "differ, so that nothing was proved about them"
        )


def _about(model: Any, posed: Posed, more: Mapping[str, Any] = MappingProxyType({})) -> str:
    """What the instance says of the model, for whoever compares it with a table, in JSON."""
    about: dict[str, Any] = {"loss": posed.loss, "leaf_penalty": float(model.leaf_penalty), **more}
    names = [str(name) for name in posed.labels]
    if getattr(model, "objective", None) == "squared_error":
        unit = posed.training.unit
        about["target_names"] = names
        in_one = 1 if unit is None else np.ldexp(unit.denominator, unit.shift or 0)
        about["weight_units"] = float(in_one)
    else:
        about["classes"] = names
    return json.dumps(about)


def _written(found: tuple[Any, ...], instance: Path, proof: Path) -> Proof:
    text, steps, bound, lemmas, looks = found
    written = text.encode()
    instance.write_bytes(written)
    proof.write_bytes(steps)
    sha256 = hashlib.sha256(written).hexdigest()
    return Proof(instance, proof, sha256, bound, lemmas, looks, len(steps))
