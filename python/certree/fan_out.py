"""Fits that do not depend on each other: in threads of this process, or on the workers of a Dask
client."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sklearn.utils.parallel import Parallel, delayed


class FanOut:
    """Runs functions of the same data. ``n_jobs``: how many at once in threads, unless there is a
    ``client``."""

    def __init__(self, data: Any, n_jobs: int | None, client: Any) -> None:
        self.data = data
        self.n_jobs = n_jobs
        self.sent = None
        if client is not None:
            # Loaded here, because Dask is an optional extra.
            from certree.dask.fits import Sent

            self.sent = Sent(client, data)

    def run(self, function: Callable[..., Any], given: Sequence[tuple[Any, ...]]) -> list[Any]:
        """``function(data, *each)`` for each of ``given``, in their order."""
        if self.sent is not None:
            found: list[Any] = self.sent.run(function, given)
            return found
        run = delayed(function)
        return list(
            Parallel(n_jobs=self.n_jobs, prefer="threads")(run(self.data, *each) for each in given)
        )
