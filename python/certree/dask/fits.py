"""Many fits to the same data on the workers of a client: what is fitted travels once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from certree.dask import tasks

#: How often data are sent again after all workers that held them died.
ATTEMPTS = 3


class Sent:
    """Data that every worker holds."""

    def __init__(self, client: Any, data: Any) -> None:
        self.client = tasks.client_of(client)
        self.data = data
        self._future: Any = None

    def run(self, function: Callable[..., Any], given: Sequence[tuple[Any, ...]]) -> list[Any]:
        """``function(data, *each)`` for each of ``given``, in their order."""
        found: dict[int, Any] = {}
        for attempt in range(ATTEMPTS):
            left = [at for at in range(len(given)) if at not in found]
            try:
                self._run(function, [(at, given[at]) for at in left], found)
                break
            except tasks.Lost:
                if attempt == ATTEMPTS - 1:
                    raise
                self._future = None
        return [found[at] for at in range(len(given))]

    def _run(
        self,
        function: Callable[..., Any],
        given: Sequence[tuple[int, tuple[Any, ...]]],
        found: dict[int, Any],
    ) -> None:
        """Do what is left, and keep each result as it comes."""
        client = self.client
        if self._future is None:
            try:
                self._future = client.scatter([self.data], broadcast=True, hash=False)[0]
            except OSError as error:
                raise tasks.Lost(f"a worker died while data were sent to it ({error})") from None
        places = {
            tasks.submit(client, function, self._future, *each): at for at, each in given
        }
        for future, result in tasks.results(client, list(places)):
            found[places[future]] = result
