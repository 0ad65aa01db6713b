"""Rare values of a category that count as one: to the core they are the first of them, and in a
finished tree they are all named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from certree import _core, ingest


def to_user(tree: _core.Tree, cuts: Sequence[ingest.Cuts]) -> _core.Tree:
    """A tree whose tests name the values that stand for groups, as one that names them all."""
    return _with_tests(tree, cuts, _to_user)


def to_core(tree: _core.Tree, cuts: Sequence[ingest.Cuts]) -> _core.Tree:
    """The other way."""
    return _with_tests(tree, cuts, _to_core)


def _with_tests(
    tree: _core.Tree, cuts: Sequence[ingest.Cuts], change: Callable[[ingest.Cuts, Any], Any]
) -> _core.Tree:
    if all(each.way.groups is None for each in cuts):
        return tree
    parts = []
    for split, *rest in tree.parts():
        if split is not None:
            column, test, *others = split
            grouped = cuts[column].way.groups is not None
            split = (column, change(cuts[column], test) if grouped else test, *others)
        parts.append((split, *rest))
    return _core.Tree(parts)


def _to_user(cuts: ingest.Cuts, test: Any) -> Any:
    of = {group[0]: group for group in cuts.way.groups or ()}
    if isinstance(test, tuple):
        named = [{value for head in side for value in of[head]} for side in test]
        return tuple(tuple(v for v in cuts.column.values if v in side) for side in named)
    if isinstance(test, str) and len(of[test]) > 1:
        return tuple(value for value in cuts.column.values if value not in of[test]), of[test]
    return test


def _to_core(cuts: ingest.Cuts, test: Any) -> Any:
    if not isinstance(test, tuple):
        return test
    heads = set(cuts.heads)
    left, right = (tuple(value for value in side if value in heads) for side in test)
    return (left, right) if cuts.way.sets else right[0]
