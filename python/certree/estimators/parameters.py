"""What each parameter may be: one table, checked at the start of every fit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from certree import feature_costs, path_rules
from certree.ingest import categories, orders
from certree.options import Missing
from certree.scalars import BEYOND, is_integer, is_number, shown
from certree.schema import MissingUnseen, Unseen


@dataclass(frozen=True)
class Rule:
    """A predicate, and what it asks for in words."""

    holds: Callable[[Any], bool]
    allowed: str


def check(estimator: Any, rules: Mapping[str, Rule]) -> None:
    """One ValueError for the first parameter that breaks its rule."""
    for name, rule in rules.items():
        value = getattr(estimator, name)
        if is_integer(value) and abs(value) >= BEYOND:
            raise ValueError(
                f"{name}={shown(value)} is not valid: it must lie between -10**300 and 10**300"
            )
        if not rule.holds(value):
            raise ValueError(f"{name}={shown(value)} is not valid: it must be {rule.allowed}")


def one_of(*choices: str) -> Rule:
    return Rule(
        lambda value: isinstance(value, str) and value in choices,
        f"one of {', '.join(map(repr, choices))}",
    )


def integer(least: int) -> Rule:
    return Rule(
        lambda value: is_integer(value) and value >= least, f"an integer of at least {least}"
    )


def at_least_zero() -> Rule:
    return Rule(lambda value: is_number(value) and value >= 0, "a finite number of at least 0")


def positive(what: str) -> Rule:
    return Rule(lambda value: is_number(value) and value > 0, f"a positive number of {what}")


def or_none(rule: Rule) -> Rule:
    return Rule(lambda value: value is None or rule.holds(value), f"{rule.allowed}, or None")


#: Between all values that are neighbours.
EVERY = ("all", "midpoints")


def _thresholds_hold(value: Any) -> bool:
    if hasattr(value, "thresholds_"):
        return True
    if isinstance(value, Mapping):
        return all(isinstance(k, str) and _column_holds(v) for k, v in value.items())
    return value in EVERY if isinstance(value, str) else is_integer(value) and value >= 1


def _column_holds(value: Any) -> bool:
    if isinstance(value, str):
        return value in EVERY
    if isinstance(value, Iterable):
        return True
    return is_integer(value) and 1 <= value < BEYOND


def is_guesser(value: Any) -> bool:
    """Whether this is a ThresholdGuesser, fitted or not."""
    return getattr(value, "guesses", False) is True


THRESHOLDS = Rule(
    _thresholds_hold,
    "'all', 'midpoints', a number of quantiles per column (at least 1), a dict of column names to "
    "one of these or to a list of thresholds, or a fitted ThresholdBinarizer",
)

#: Of estimators whose target a reference can be fitted to.
GUESSES = Rule(
    lambda value: (
        is_guesser(value)
        or (isinstance(value, str) and value == "guess")
        or THRESHOLDS.holds(value)
    ),
    f"'guess', {THRESHOLDS.allowed}, or a ThresholdGuesser",
)

#: Of estimators whose rows may pay for what they are asked.
FEATURE_COSTS = or_none(
    Rule(
        feature_costs.holds,
        "a dict of column names, or tuples of the names of columns that one test measures, to "
        "costs: numbers, prices by row (the name of a column of X, a number for each row, or a "
        "dict of values to prices) or FeatureCost(...) objects",
    )
)

#: More than any machine has; each of them takes memory.
MOST_THREADS = 4096

#: Of estimators that fit models inside.
RANDOM_STATE = Rule(
    lambda value: (
        value is None
        or isinstance(value, np.random.RandomState)
        or (is_integer(value) and 0 <= value < 2**32)
    ),
    "an integer from 0 to 2**32 - 1, a numpy.random.RandomState, or None",
)

#: Far above any loss, and small enough that its products with losses are finite.
MOST_PENALTY = 1e200

#: The limits on trees among the parameters, and what the core calls them.
LIMITS = {
    "max_depth": "max_depth",
    "max_leaf_nodes": "max_leaves",
    "min_samples_leaf": "min_leaf_rows",
}

#: Parameters that every kind of tree has.
COMMON = {
    "leaf_penalty": Rule(
        lambda value: is_number(value) and 0 <= value <= MOST_PENALTY,
        "a finite number of at least 0 and at most 1e200",
    ),
    "max_depth": or_none(integer(0)),
    "max_leaf_nodes": or_none(integer(1)),
    "min_samples_leaf": integer(1),
    "path_rules": Rule(
        path_rules.holds,
        "a list or tuple of rules: MostColumns(...), After(...), Apart(...), FirstColumn(...)",
    ),
    "thresholds": THRESHOLDS,
    "missing": one_of(*get_args(Missing)),
    "missing_unseen": one_of(*get_args(MissingUnseen)),
    "orders": or_none(
        Rule(orders.holds, "a dict of column names to lists of strings, each of them once")
    ),
    "categories": Rule(
        categories.check_asked,
        "'subsets', 'values', or a dict of column names to one of these",
    ),
    "max_categories": or_none(integer(2)),
    "unseen": one_of(*get_args(Unseen)),
    "time_limit": or_none(positive("seconds")),
    "memory_limit": or_none(positive("bytes")),
    "gap_limit": at_least_zero(),
    "n_jobs": or_none(
        Rule(
            lambda value: is_integer(value) and value != 0 and value <= MOST_THREADS,
            f"a number of threads (at most {MOST_THREADS:,}), or -1 for all",
        )
    ),
    "verbose": Rule(
        lambda value: isinstance(value, (bool, np.bool_)) or (is_integer(value) and value >= 0),
        "True or False, or 2 for what decided the search, too",
    ),
    "callback": or_none(Rule(callable, "callable with one Progress")),
}


def threads(n_jobs: int | None) -> int:
    """Threads from scikit-learn's convention: -1 is all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    if n_jobs > 0:
        return int(n_jobs)
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return max(1, cores + 1 + int(n_jobs))
