"""The rows of a table of partitions, merged to points by the workers.

Each pass reads partitions where they are and sends on what is small: which values there are, what
they weigh, and the points. Workers keep partitions that they have ranked as long as there is room.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np

from certree.dask import tasks
from certree.dask.tables import Table, lot, scan
from certree.partitions import reading
from certree.partitions.reading import Partition, Question
from certree.tree import Tree

#: The share of a worker's memory that ranked partitions may take between passes.
KEPT = 0.25

#: Where nobody limits a worker's memory.
KEPT_BYTES = 1 << 30


@dataclass(frozen=True)
class Rows:
    """A table, and who asks its partitions."""

    client: Any
    table: Table
    question: Question
    token: str

    @classmethod
    def of(cls, client: Any, table: Table, question: Question) -> Rows:
        return cls(client, table, question, uuid4().hex)

    def map(self, function: Any, *given: Any) -> list[Any]:
        """A future for each partition: ``function(ranked partition, *given)``."""
        table, futures = self.table, []
        # One task holds what all others read, because cuts may be many.
        shared = tasks.submit(self.client, _together, *given)
        for at, where in enumerate(table.names):
            key = f"{self.token}-{at}"
            lots = (where, table.X[at], table.y[at], table.sample_weight[at])
            task = (_of_partition, function, key, self.question, *lots, shared)
            futures.append(tasks.submit(self.client, *task))
        return futures

    def merged(self, merge: Any, lots: list[Any], *given: Any) -> Any:
        return tasks.result(self.client, tasks.merged(self.client, merge, lots, *given))

    def count_leaves(self, tree: Tree) -> list[int]:
        """How many rows that weigh something the tree sends to each of its nodes."""
        table = self.table
        futures = [
            tasks.submit(self.client, _count_leaves, tree, *lots)
            for lots in zip(table.names, table.X, table.sample_weight)
        ]
        found = np.zeros(len(tree.nodes), dtype=np.int64)
        for _, each in tasks.results(self.client, futures):
            found += each
        return [int(count) for count in found]


class _Kept:
    """Partitions that this worker has ranked, the last ones as long as there is room."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: OrderedDict[str, tuple[Partition, int]] = OrderedDict()

    def get(self, key: str) -> Partition | None:
        with self._lock:
            found = self._held.get(key)
            if found is not None:
                self._held.move_to_end(key)
            return None if found is None else found[0]

    def put(self, key: str, partition: Partition) -> None:
        # Ranks take four bytes at most, and values eight.
        n_columns = len(partition.columns) + len(partition.keys)
        n_bytes = 4 * partition.n_rows * n_columns
        n_bytes += sum(values.nbytes for values in partition.values.values())
        n_bytes += 0 if partition.by_row is None else partition.by_row.nbytes
        with self._lock:
            most = _room()
            if n_bytes > most:
                return
            self._held[key] = partition, n_bytes
            while sum(size for _, size in self._held.values()) > most:
                self._held.popitem(last=False)


def _room() -> int:
    from distributed import get_worker

    try:
        limit = get_worker().memory_manager.memory_limit
    except (ValueError, AttributeError):
        limit = None
    return KEPT_BYTES if not limit else int(KEPT * limit)


_KEPT = _Kept()


def _together(*given: Any) -> tuple[Any, ...]:
    return given


def _of_partition(
    function: Any,
    key: str,
    question: Question,
    where: str,
    X: Any,
    y: Any,
    sample_weight: Any,
    given: tuple[Any, ...],
) -> Any:
    partition = _KEPT.get(key)
    if partition is None:
        partition = reading.read(lot(where, X, y, sample_weight), question)
        _KEPT.put(key, partition)
    return function(partition, *given)


def _count_leaves(tree: Tree, where: str, X: Any, sample_weight: Any) -> np.ndarray:
    """By node: the rows of a partition that weigh something and end there."""
    return reading.count_leaves(tree, lot(where, scan(X), None, sample_weight))
