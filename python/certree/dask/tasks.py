"""Tasks on the workers of a Dask client, which end together: with all results, or with one error.

Nothing here waits without an end: where no task has ended for so long and no worker is there to
take one, that is an error. Whatever ends the wait, Ctrl-C among it, also cancels what is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from certree._core import __version__

#: Seconds without any worker before a fit gives up.
NO_WORKERS = 60.0

#: Seconds between two looks at the workers.
LOOK = 2.0

#: So many results become one in a merge.
FAN_IN = 4


class WorkerError(RuntimeError):
    """Workers died, or none was there, before a task was done."""


class Lost(WorkerError):
    """What a task needed is gone, with the workers that held it."""


def client_of(client: Any) -> Any:
    """The client that was given, or the one that is current; a ValueError if there is none that is
    open."""
    from distributed import get_client

    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise ValueError(
                "there is no Dask client: start one, such as dask.distributed.Client(), or pass "
                "client="
            ) from None
    if not hasattr(client, "submit"):
        raise ValueError(
            f"client must be a dask.distributed.Client, but is a {type(client).__name__}"
        )
    if client.status != "running":
        raise ValueError(
            f"the Dask client is {client.status}: connect a new one to the cluster, and pass it as "
            "client="
        )
    if client.asynchronous:
        raise ValueError(
            "an asynchronous Dask client cannot be waited for here; use one without "
            "asynchronous=True"
        )
    return client


def run(function: Callable[..., Any], version: str, *given: Any) -> Any:
    """What a task does on a worker, if the worker has this version of certree."""
    if version != __version__:
        raise ValueError(
            f"certree has version {__version__} on a worker but {version} at the client: install "
            "the same version everywhere"
        )
    return function(*given)


def submit(client: Any, function: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """A future of the function's result. It is done again if its worker dies."""
    return client.submit(run, function, __version__, *given, pure=False, **options)


def merged(client: Any, merge: Callable[..., Any], parts: Sequence[Any], *given: Any) -> Any:
    """A future of all parts merged as a tree: ``merge(list of parts, *given)``."""
    parts = list(parts)
    while len(parts) > 1:
        parts = [
            submit(client, merge, parts[start : start + FAN_IN], *given)
            for start in range(0, len(parts), FAN_IN)
        ]
    return parts[0]


def result(client: Any, future: Any) -> Any:
    """The result of one future."""
    return next(iter(results(client, [future])))[1]


def results(
    client: Any, futures: Sequence[Any], patience: float = NO_WORKERS
) -> Iterator[tuple[Any, Any]]:
    """Each future with its result, as they come. The first error cancels all others, and is raised
    as it was on the worker."""
    left, alone_since = list(futures), None
    try:
        while left:
            wait_for_any(left, LOOK)
            done = [future for future in left if future.status != "pending"]
            for future in done:
                try:
                    found = _result(client, future)
                except _DoneAgain:
                    continue
                left.remove(future)
                yield future, found
            if done or workers_of(client):
                alone_since = None
                continue
            alone_since = time.monotonic() if alone_since is None else alone_since
            if time.monotonic() - alone_since > patience:
                raise WorkerError(
                    f"there has been no Dask worker for {patience:g} s, so that nothing goes on: "
                    "look at the workers' logs, and start some"
                )
    finally:
        if left:
            cancel(client, left)


def wait_for_any(futures: Sequence[Any], seconds: float) -> None:
    """Wait until one of them has ended in any way, or for so long."""
    from distributed import CancelledError, wait
    from distributed import TimeoutError as Late

    try:
        wait(list(futures), timeout=seconds, return_when="FIRST_COMPLETED")
    except (Late, CancelledError):
        # Their status says what became of them.
        pass


def cancel(client: Any, futures: Sequence[Any]) -> None:
    """End tasks that nobody waits for any more."""
    if client.status == "running":
        client.cancel(list(futures), force=True)


def is_wanted() -> Callable[..., bool]:
    """On a worker: asked now and then, whether anybody still waits for the task that runs now. A
    thread cannot be ended, and nobody tells it that its task was cancelled."""
    from distributed import get_worker

    worker = get_worker()
    key, known = worker.get_current_task(), worker.state.tasks

    def ask(*_progress: Any) -> bool:
        task = known.get(key)
        return task is not None and task.state != "cancelled"

    return ask


def workers_of(client: Any) -> list[str]:
    """The addresses of all workers; a WorkerError if the cluster itself is gone."""
    try:
        if client.status == "running":
            return sorted(client.nthreads())
    except OSError:
        pass
    raise WorkerError(
        f"the Dask client is {client.status} before all tasks were done: the scheduler is gone, or "
        "the client was closed; connect a new one"
    )


def _result(client: Any, future: Any) -> Any:
    if future.status == "cancelled":
        raise Lost("a Dask task was cancelled before it was done, or what it needed is gone")
    if future.status == "error":
        raise failure(future)
    return fetched(client, future)


class _DoneAgain(Lost):
    """The worker that held a result died, and another one does the task again."""


def fetched(client: Any, future: Any, worker: str | None = None) -> Any:
    """The result of a task that has ended; a ``Lost`` where the worker that held it died before,
    so that the task waits again, or waits for ever if no other than ``worker`` may do it."""
    from distributed import TimeoutError as Late

    patience = LOOK
    while True:
        try:
            return future.result(timeout=patience)
        except Late:
            is_gone = worker is not None and worker not in workers_of(client)
            if future.status == "pending" or is_gone:
                raise _DoneAgain(
                    "a Dask worker died before the result of its task was fetched"
                ) from None
            # A large one takes longer.
            patience *= 2
            if patience > NO_WORKERS:
                raise


def failure(future: Any) -> BaseException:
    """What ended a task, as it is told."""
    from distributed import KilledWorker

    error: BaseException = future.exception(timeout=NO_WORKERS)
    if isinstance(error, KilledWorker):
        return WorkerError(
            f"Dask workers died over and over while they did the same task ({error}); mostly that "
            "is for want of memory: make partitions smaller, or give workers more"
        )
    if isinstance(error, MemoryError):
        return WorkerError(
            "a Dask worker ran out of memory: make partitions smaller, or give workers more"
        )
    return error
