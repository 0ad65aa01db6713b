"""What each node of a tree answers: labels, shares of classes, and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.schema import NUMBERS, Task


class Answers:
    """By node, what a tree answers for a row that ends there.

    ``values`` are what the nodes hold, as the task is, and ``chosen`` the place of each node's
    label among ``labels``. Of several targets ``classes`` are the labels of each, and ``labels``
    their names.
    """

    def __init__(
        self,
        task: Task,
        labels: NDArray[Any],
        classes: Sequence[NDArray[Any]],
        chosen: Sequence[int],
        values: Sequence[Sequence[float]],
    ) -> None:
        self.task = task
        self.labels = labels
        self.classes = tuple(classes)
        self.chosen = chosen
        self._values = values

    @cached_property
    def predictions(self) -> NDArray[Any]:
        """What is predicted, in the dtype of the labels: of several numbers nodes × numbers, and of
        several targets nodes × targets."""
        if self.task in NUMBERS:
            return self.values[:, 0] if self.values.shape[1] == 1 else self.values
        if self.task != "targets":
            return self.labels[self.chosen]
        chosen = np.array([self.chosen_by_target(value) for value in self._values])
        answers = [own[chosen[:, target]] for target, own in enumerate(self.classes)]
        alike = len({own.dtype.kind for own in self.classes}) == 1
        return np.column_stack(answers if alike else [own.astype(object) for own in answers])

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Nodes × labels."""
        return np.array(self._values)

    @cached_property
    def shares(self) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        """The shares of classes, nodes × classes; of several targets an array for each."""
        if self.task == "targets":
            by_node = [self.target_shares(value) for value in self._values]
            return [np.array(each) for each in zip(*by_node)]
        return np.array([self.class_shares(*pair) for pair in zip(self._values, self.chosen)])

    def class_shares(self, value: Sequence[float], chosen: int) -> tuple[float, ...]:
        """The share of each class at a node. Rows that weigh nothing count for the node's label."""
        if self.task != "classification":
            raise ValueError(
                f"this tree's nodes hold {self.task}, not class weights, so there are no class "
                "shares"
            )
        return _shares(value, chosen)

    def target_shares(self, value: Sequence[float]) -> list[tuple[float, ...]]:
        """The share of each class at a node, of each of several targets."""
        return list(map(_shares, self._by_target(value), self.chosen_by_target(value)))

    def chosen_by_target(self, value: Sequence[float]) -> list[int]:
        """The class that most weight has, of each target; the first among equals."""
        return [part.index(max(part)) for part in map(list, self._by_target(value))]

    def _by_target(self, value: Sequence[float]) -> list[Sequence[float]]:
        """The part of a node's weights that belongs to each target."""
        ends = np.cumsum([len(own) for own in self.classes]).tolist()
        return [value[start:end] for start, end in zip([0, *ends], ends)]


def _shares(value: Sequence[float], chosen: int) -> tuple[float, ...]:
    total = sum(value)
    if total > 0:
        return tuple(weight / total for weight in value)
    return tuple(float(k == chosen) for k in range(len(value)))


def label_array(values: Sequence[Any]) -> np.ndarray:
    """Labels as an array that gives them back. numpy's own types of text drop zero characters at
    the end."""
    if any(isinstance(v, (str, bytes)) and v[-1:] in ("\0", b"\0") for v in values):
        found = np.empty(len(values), dtype=object)
        found[:] = values
        return found
    return np.array(values)
