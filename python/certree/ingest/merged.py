"""Rows that lie elsewhere, of which only points came here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from certree.ingest.cuts import Cuts
from certree.ingest.points import Points
from certree.ingest.training import Training
from certree.unseen import listed


@dataclass(frozen=True)
class Merged(Training):
    """Rows in partitions, whose features were cut and grouped where they are."""

    n_parts: int
    #: How many rows a finished tree sends to each of its nodes, which asks all partitions again.
    count_leaves: Callable[[Any], Sequence[int]]
    cuts: list[Cuts] = field(default_factory=list)
    #: Without weights by class.
    points: Points | None = None
    #: Rows that are alike are one entry. By entry: its point, and its weight, in units and as it
    #: was given.
    point_of: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.uint32))
    units: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    weights: np.ndarray = field(default_factory=lambda: np.empty(0))
    #: By entry: its class; or its targets, which have names.
    classes: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.uint32))
    targets: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    target_names: list[Any] = field(default_factory=list)
    #: Of costs or rewards by row: arrays whose sum is that of each point, points × columns, which
    #: are the labels, the sizes of all numbers of a row, and the weight; the first has the sums
    #: rounded once.
    sums: list[np.ndarray] = field(default_factory=list)
    #: The least and the largest number of any row.
    seen: tuple[float, float] = (0.0, 0.0)

    @property
    def n_partitions(self) -> int:
        return self.n_parts

    def cut_and_group(self) -> tuple[list[Cuts], Points]:
        """The cuts and points, with what each weighs by class."""
        assert self.points is not None
        by_class = np.zeros((self.points.n_points, len(self.labels)))
        # One entry for each point and class, so that nothing is added up here.
        by_class[self.point_of, self.classes] = self.weights
        return self.cuts, replace(self.points, weights=by_class)

    def refuse_missing(self) -> None:
        """A ValueError that names the columns with missing values."""
        names = [column.name for column in self.columns if column.missing]
        raise ValueError(
            f"features must be complete where missing='refuse', but values of {listed(names)} are "
            "missing in some partition; fill the gaps, drop them, or route them with "
            "missing='route'"
        )
