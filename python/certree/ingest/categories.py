"""What is asked of categories: single values, or any set of them; and which rare values are one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from certree.schema import Column
from certree.unseen import listed

Asked = Literal["subsets", "values"]

#: Of one column of sets: as many values, with missing ones, as the core takes.
MOST_VALUES = 20

#: As many questions as all columns may have together before sets of values are left out, by the
#: depth of the tree: nodes and pairs of questions multiply from level to level.
MOST_QUESTIONS = {1: 1 << 16, 2: 4096, 3: 1024}
MOST_QUESTIONS_DEEPER = 256


@dataclass(frozen=True)
class Categories:
    """What a model asks of its categories."""

    #: For all columns, or by name.
    asked: Asked | Mapping[str, Asked] = "subsets"
    #: The rarest values of a column with more are one.
    most: int | None = None
    #: How deep trees may be; None: as deep as they like.
    depth: int | None = None

    def check(self, columns: Sequence[Column]) -> None:
        """An error for what names no category."""
        if isinstance(self.asked, str):
            return
        kinds = {column.name: column for column in columns}
        if unknown := [name for name in self.asked if name not in kinds]:
            raise ValueError(
                f"categories names {listed(unknown)}, which X does not have; its columns are "
                f"{listed(list(kinds))}"
            )
        for name in self.asked:
            if kinds[name].kind != "category":
                raise ValueError(
                    f"categories names column {name!r}, but it is {kinds[name].dtype}, and no "
                    "category"
                )


#: Single values alone, for transformers.
VALUES = Categories("values")


@dataclass(frozen=True)
class Way:
    """How one category is asked."""

    #: Any set of values, or single ones.
    sets: bool = False
    #: The values that have one code, by code; None: each has its own.
    groups: tuple[tuple[str, ...], ...] | None = None
    #: For the certificate, each a sentence without its end.
    notes: tuple[str, ...] = ()


def ways(
    columns: Sequence[Column],
    every: Sequence[bool],
    others: int,
    categories: Categories,
    amounts: Callable[[int], np.ndarray],
) -> list[Way]:
    """How each column is asked. ``every``: whether it is a category all of whose values may be
    asked for; ``others``: how many questions all other columns have; ``amounts``: the weight of
    each value of a category."""
    categories.check(columns)
    groups = [
        _groups(column, categories.most, lambda index=index: amounts(index)) if free else None
        for index, (column, free) in enumerate(zip(columns, every))
    ]
    sizes = [
        len(column.values if own is None else own) + column.missing
        for column, own in zip(columns, groups)
    ]
    chosen, notes = _chosen(columns, every, sizes, others, categories)
    return [
        Way(index in chosen, own, (*_group_notes(column, own), *notes.get(index, ())))
        for index, (column, own) in enumerate(zip(columns, groups))
    ]


def n_sets(n_codes: int) -> int:
    """How many ways there are to part so many values, of which missing ones may be one."""
    return (1 << max(n_codes - 1, 0)) - 1


def _groups(
    column: Column, most: int | None, amounts: Callable[[], np.ndarray]
) -> tuple[tuple[str, ...], ...] | None:
    """The values by code, in their order: the rarest are one where there are more than ``most``."""
    if most is None or len(column.values) <= most:
        return None
    weights = amounts()[: len(column.values)]
    # The heaviest first; the first value among equals.
    order = np.argsort(-weights, kind="stable")
    rare = set(order[most - 1 :].tolist())
    kept = [(value,) for at, value in enumerate(column.values) if at not in rare]
    return (*kept, tuple(value for at, value in enumerate(column.values) if at in rare))


def _group_notes(column: Column, groups: tuple[tuple[str, ...], ...] | None) -> tuple[str, ...]:
    if groups is None:
        return ()
    rare = groups[-1]
    return (
        f"the {len(rare)} rarest of the {len(column.values)} values of {column.name!r} count as "
        f"one: {listed(rare)}",
    )


def _chosen(
    columns: Sequence[Column],
    every: Sequence[bool],
    sizes: Sequence[int],
    others: int,
    categories: Categories,
) -> tuple[set[int], dict[int, tuple[str, ...]]]:
    """The columns that are asked for sets, and notes of those that cannot be."""
    asked = categories.asked
    chosen: set[int] = set()
    open_: list[int] = []
    for index, (column, free, size) in enumerate(zip(columns, every, sizes)):
        own = asked if isinstance(asked, str) else asked.get(column.name)
        # Every way to part three values splits off one of them.
        if not free or own == "values" or size <= 3:
            continue
        if own == "subsets" and not isinstance(asked, str):
            if size > MOST_VALUES:
                raise ValueError(
                    f"categories={{{column.name!r}: 'subsets'}} asks for every set of {size} "
                    f"values, missing ones counted, but at most {MOST_VALUES} can be: set "
                    f"max_categories={MOST_VALUES - column.missing}, or ask for single values"
                )
            chosen.add(index)
        else:
            open_.append(index)
    depth = categories.depth
    most = MOST_QUESTIONS_DEEPER if depth is None else MOST_QUESTIONS.get(
        max(depth, 1), MOST_QUESTIONS_DEEPER
    )
    of_values = {
        index: sizes[index] if not columns[index].missing else 2 * sizes[index] - 1
        for index in open_
    }
    total = others + sum(n_sets(sizes[index]) for index in chosen) + sum(of_values.values())
    notes: dict[int, tuple[str, ...]] = {}
    # The smallest first, because they take least of what there is.
    for index in sorted(open_, key=lambda index: sizes[index]):
        more = n_sets(sizes[index]) - of_values[index]
        if total + more <= most and sizes[index] <= MOST_VALUES:
            chosen.add(index)
            total += more
        else:
            notes[index] = (_left_out(columns[index], sizes[index], most, depth),)
    return chosen, notes


def _left_out(column: Column, size: int, most: int, depth: int | None) -> str:
    at = "without a max_depth" if depth is None else f"at depth {depth}"
    # Thousands of values have a number of sets that nobody can read, nor Python write down.
    sets = f"{n_sets(size):,}" if size <= 40 else f"2^{size - 1:,}"
    words = (
        f"{column.name!r} is asked for single values and not for sets of them, because its "
        f"{size:,} values have {sets} sets and all columns together may have {most:,} questions "
        f"{at}: set max_categories to group its rare values"
    )
    if size <= MOST_VALUES:
        words += f", or categories={{{column.name!r}: 'subsets'}} to search them all the same"
    return words


def codes_of_groups(column: Column, groups: Sequence[Sequence[str]]) -> np.ndarray:
    """The code of each value."""
    code = {value: at for at, group in enumerate(groups) for value in group}
    return np.array([code[value] for value in column.values], dtype=np.uint32)


def check_asked(value: Any) -> bool:
    """Whether a parameter says what is asked of categories."""
    if isinstance(value, Mapping):
        return all(
            isinstance(name, str) and isinstance(each, str) and each in ("subsets", "values")
            for name, each in value.items()
        )
    return isinstance(value, str) and value in ("subsets", "values")
