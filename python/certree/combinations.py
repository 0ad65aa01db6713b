"""Which parameters go together: the one table that every refusal reads.

What a goal can be combined with is the core's table (``_core.COMBINATIONS``, ``_core.APART`` and
``_core.APART_FOR``);
what a classifier's other parameters need is added here. ``docs/combinations.md`` prints it all.
"""

from __future__ import annotations

from typing import Any

from certree import _core

#: The words for goals where they are printed.
GOALS = {
    "Classes": "errors or costs by class: `accuracy`, `balanced_accuracy`, `f1_micro`",
    "Metric": "metrics of two classes: `f1`, `fbeta`, `jaccard`, `mcc`",
    "Matrix": "`f1_macro`, `f1_weighted`, `mcc` of more classes, functions of the confusion matrix",
    "RankingArea": "`auc`, `partial_auc`",
    "RowCosts": "costs or rewards by row: `OptimalCostTree`, `OptimalPolicyTree`",
    "Squares": "`squared_error`: `OptimalTreeRegressor`",
    "Additive": "`gini`, `log_loss`, `mdl`; `poisson`, `gamma`, `absolute_error`, `quantile`, "
    "`OptimalSurvivalTree`; several targets of a classifier, without `class_weight`",
    "Custom": "`OptimalTree`",
}

#: Goals that take the other parameters of a classifier.
PARAMETERS = {
    "cost_matrix": ("Classes",),
    "class_weight": ("Classes", "Metric", "Matrix", "Additive"),
}

#: The core's parts of a problem, and what they are called where something cannot be combined with
#: them.
_PARTS = {
    "constraints": "constraints",
    "feature_costs": "feature_costs",
    "path_rules": "path_rules",
    "reference": "reference=",
    "missing": "missing='own_branch'",
}


def check(model: Any, goal: str, named: str) -> None:
    """One error for the first thing that does not go together. ``named``: what the goal is called
    in it."""
    given = [name for name in (*_PARTS, *PARAMETERS) if _is_given(model, name)]
    for first, second in _core.APART:
        if first in given and second in given:
            raise ValueError(_apart(first, second))
    for name in given:
        if goal not in takers(name):
            raise ValueError(_refused(name, goal, named))
    for only, first, second in _core.APART_FOR:
        if goal == only and first in given and second in given:
            raise ValueError(
                f"{second} and {first} together cannot be combined with {named}: leave one of "
                "them out"
            )


def takers(name: str) -> list[str]:
    """The goals that a parameter can be combined with."""
    if name in PARAMETERS:
        return list(PARAMETERS[name])
    return [goal for goal, parts in _core.COMBINATIONS.items() if name in parts]


def table() -> str:
    """Everything here as the tables of ``docs/combinations.md``."""
    names = [*_PARTS, *PARAMETERS]
    head = ["goal", *map(_shown, names)]
    rows = [
        [words, *("yes" if goal in takers(name) else "–" for name in names)]
        for goal, words in GOALS.items()
    ]
    apart = [[_shown(first), _shown(second)] for first, second in _core.APART]
    apart += [
        [_shown(first), f"{_shown(second)}, of {GOALS[goal]}"]
        for goal, first, second in _core.APART_FOR
    ]
    return f"{_markdown(head, rows)}\n\n{_markdown(['never together', 'with'], apart)}"


def _shown(name: str) -> str:
    return "`missing=\"own_branch\"`" if name == "missing" else f"`{name}`"


def _markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _is_given(model: Any, name: str) -> bool:
    value = getattr(model, name, None)
    if name == "missing":
        return isinstance(value, str) and value == "own_branch"
    # No constraints, costs and rules may be written as an empty tuple or dict.
    may_be_empty = name in ("constraints", "feature_costs", "path_rules")
    return bool(value) if may_be_empty else value is not None


def _apart(first: str, second: str) -> str:
    if second == "reference" and first == "constraints":
        return _no_sum("the choice of labels under constraints")
    first = _PARTS[first] if first == "missing" else first
    return f"{first} cannot be combined with {_PARTS[second]}: leave one of them out"


def _refused(name: str, goal: str, named: str) -> str:
    if name == "reference":
        return _no_sum(named)
    if goal == "RankingArea" and name not in ("feature_costs", "missing"):
        none = () if name == "constraints" else None
        return (
            f"{name} cannot be combined with {named}, which ranks rows instead of labelling them; "
            f"leave it at {none!r}"
        )
    if name == "cost_matrix":
        return f"{named} has no costs: leave cost_matrix out, or take class_weight"
    name = _PARTS[name] if name == "missing" else name
    return f"{name} cannot be combined with {named}: leave one of them out"


def _no_sum(what: str) -> str:
    return (
        f"reference= guesses lower bounds of losses that add up over rows, which {what} does not: "
        "leave it at None"
    )
