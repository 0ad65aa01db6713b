"""The warning of a search that was stopped: what is known of its tree, and what would bring this
very problem nearer to its proof."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from certree import ingest
from certree.certificate import ENDINGS
from certree.estimators import parameters
from certree.scalars import shown
from certree.schema import TIMED

if TYPE_CHECKING:
    from certree.estimators._posed import Posed

#: A column with more cuts than this is worth cutting less finely.
MANY_CUTS = 32

#: Trees of at most this depth are the quick ones.
QUICK_DEPTH = 3

#: The share of rows that have a value of their own in a column that looks like an identifier, and
#: the fewest rows of which that can be said.
OWN_VALUES, FEWEST_ROWS = 0.95, 30

#: Whole numbers that floats hold are names if they are so near to each other, in the mean.
NUMBERED = 20

#: Objectives whose lower bounds can be guessed, where an estimator has several.
GUESSED = ("accuracy", "balanced_accuracy", "squared_error")

#: The most columns that are named.
MOST_NAMES = 3


def text(model: Any, posed: Posed, adds_up: bool) -> str:
    """The warning. ``adds_up``: True if ``certify`` can go on."""
    reached = "the table was read" if posed.cut_short else "the tree was proved optimal"
    known = (
        f"{ENDINGS[model.status_]} before {reached}: its objective is "
        f"{model.objective_:.6g}, no tree is below {model.lower_bound_:.6g} (gap {model.gap_:.3g})"
    )
    found = [
        # Of a table that was not read nobody knows the cuts.
        *([] if posed.cut_short else _identifiers(posed)),
        *_limits(model, adds_up),
        *([] if posed.cut_short else _cuts(model, posed)),
        *_guesses(model, posed, adds_up),
        *_depth(model),
        *_threads(model),
    ]
    return f"{known}. What may help: {'; '.join(found)}" if found else known


def _limits(model: Any, adds_up: bool) -> list[str]:
    limit = {"time_limit": "time_limit", "memory_limit": "memory_limit"}.get(model.status_)
    found = [] if limit is None else [f"a larger {limit} (it was {shown(getattr(model, limit))})"]
    if limit == "memory_limit" and model.memory_limit is None:
        found = ["more memory"]
    if adds_up:
        found.append("certify(), which goes on from here")
    return found


def identifiers(cuts: Sequence[ingest.Cuts], n_rows: int) -> list[ingest.Cuts]:
    """Columns in which nearly each row has a value of its own, and which are no measurements:
    categories and whole numbers."""
    if n_rows < FEWEST_ROWS:
        return []
    return [each for each in cuts if _is_name(each, OWN_VALUES * (n_rows - 1))]


def _is_name(cuts: ingest.Cuts, least: float) -> bool:
    if cuts.column.kind == "category":
        n_asked = len(cuts.column.values) if cuts.places is None else len(cuts.places)
        return n_asked * (2 if cuts.missing else 1) >= least
    if cuts.count < least:
        return False
    if cuts.column.kind != "number" or cuts.places is None:
        return False
    if cuts.column.dtype.lstrip("U").startswith("Int"):
        return True
    # Floats whose thresholds are whole may be measurements that lie far apart, and rows that were
    # numbered in turn do not.
    places = np.asarray(cuts.places, dtype=np.float64)
    # Halves, because a distance may be more than the largest float.
    half = places.max() / 2 - places.min() / 2
    return bool((places == np.rint(places)).all()) and half < NUMBERED / 2 * len(places)


def _identifiers(posed: Posed) -> list[str]:
    found = identifiers(posed.cuts, posed.points.n_rows)
    if not found:
        return []
    names = listed([repr(each.column.name) for each in found])
    looks = "looks like an identifier" if len(found) == 1 else "look like identifiers"
    return [f"leave out {names}, which {looks}, with a value for nearly each row"]


def _cuts(model: Any, posed: Posed) -> list[str]:
    """Fewer cuts of columns that have many; those that look like identifiers are named already."""
    if parameters.is_guesser(posed.thresholds):
        return []
    named = {each.column.name for each in identifiers(posed.cuts, posed.points.n_rows)}
    many = sorted(
        (each for each in posed.cuts if each.count > MANY_CUTS and each.column.name not in named),
        key=lambda each: -each.count,
    )
    ordered = [each for each in many if each.column.kind in ("number", *TIMED, "ordered")]
    of_sets = any(each.way.sets for each in many)
    if not many:
        return []
    total = sum(each.count for each in posed.cuts)
    names = listed([f"{each.column.name!r} {each.count:,}" for each in many])
    ways = [f"thresholds={MANY_CUTS // 2} for as many quantiles of each column"] if ordered else []
    if of_sets:
        ways.append("categories='values'")
    elif not ordered:
        ways.append("thresholds={column: [values that may be asked for]}")
    if _takes_guesses(model):
        ways.append("thresholds='guess' for those that gradient boosting finds useful")
    return [f"fewer of the {total:,} cuts ({names}): {' or '.join(ways)}"]


def _takes_guesses(model: Any) -> bool:
    return model._rules["thresholds"] is parameters.GUESSES and model.tree_.task != "targets"


def _guesses(model: Any, posed: Posed, adds_up: bool) -> list[str]:
    fits = getattr(model, "objective", GUESSED[0]) in GUESSED and model.tree_.task != "targets"
    beside = getattr(model, "constraints", ()) or getattr(model, "feature_costs", None)
    if not (hasattr(model, "reference") and fits and adds_up) or beside:
        return []
    return ["reference='guess', which guesses lower bounds"] if posed.reference is None else []


def _depth(model: Any) -> list[str]:
    depth, leaves = model.max_depth, model.max_leaf_nodes
    if depth is None:
        return ["a max_depth"] if leaves is None or leaves > 2**QUICK_DEPTH else []
    if depth <= QUICK_DEPTH:
        return []
    return [f"a smaller max_depth (it is {depth})"]


def _threads(model: Any) -> list[str]:
    cores = parameters.threads(-1)
    used = parameters.threads(model.n_jobs)
    if model.status_ == "memory_limit" or used >= cores or (os.cpu_count() or 1) < 2:
        return []
    return [f"n_jobs=-1 (there are {cores} cores, and {used} of them searched)"]


def listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")
