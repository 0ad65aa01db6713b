"""One hard search on the workers of a client.

The trees of a problem are divided by their first question. Cut by cut, a part is the questions
whose numbers leave the same rest. Over intervals of cuts, it is some of the root's open intervals,
with all that is known of them. A worker searches a part for some seconds and gives back what it has
proved: a bound on all trees of the part, what is left of it, and a better tree if it found one. It
keeps what it knows of nodes for the next part. Where fewer parts are open than there are workers,
each open part is divided in two, and both keep its bound.

Cut by cut, what a worker has proved of nodes holds for all, because the same rows come up below
different first questions. So it tells that, too, and each worker hears with its next part what the
others have told since. Without it two workers do most of the work twice.

The coordinator alone knows the best tree, and the bound of each part. So the least of these bounds
is one of all trees at every moment: a worker that dies takes nothing along but what it was at.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock
from typing import Any
from uuid import uuid4

from certree import _core
from certree.dask import tasks

#: Seconds that a part is searched at a time: at first, and at most. Soon after a start better trees
#: are found, which others should know; and whoever hears late what is proved proves it again.
FIRST_SLICE = 0.2
LONGEST_SLICE = 2.0

#: With more workers than this they tell each other only of nodes that take more than one look. All
#: that is told goes through the coordinator to each of them, and most nodes take one look.
MOST_WHO_TELL_ALL = 16

#: How many parts there are at first for each worker.
PARTS = 4

#: Bytes of news that are kept for workers who come later.
MOST_NEWS = 256 << 20

#: One process searches alone for so many seconds first: easy problems are solved then, and hard
#: ones have a good tree to begin with.
ALONE = 0.5

#: The route whose parts are numbers of questions.
CUT_BY_CUT = "cut by cut"

#: Seconds between two looks at the clock, at workers, and at whoever watches.
LOOK = 0.2

#: So many deaths of workers without any result in between end a search.
MOST_DEATHS = 20


@dataclass
class Part:
    """The trees that begin with some of the questions."""

    #: As the core reads and writes it.
    which: bytes
    #: None of them costs less.
    lower: int
    slice: float = FIRST_SLICE
    #: The worker that had it last, and whether it has it now.
    worker: str | None = None
    is_taken: bool = False
    #: Whether all its cuts were looked at without the limits on leaves. It goes on when this is so
    #: of all parts, which are joined then.
    waits: bool = False
    #: Whether it was found to be a single question.
    is_one: bool = False


@dataclass
class Told:
    """The work of all workers added up, with the fields that the core reads: seconds of the
    search, nodes, kernel calls, and the most bytes of any worker."""

    seconds: float = 0.0
    nodes: int = 0
    kernel_calls: int = 0
    peak_bytes: int = 0
    bounds: dict[str, int] = field(default_factory=dict)
    curve: list[tuple[float, float, float]] = field(default_factory=list)

    def add(self, work: tuple[int, int, int], bounds: dict[str, int]) -> None:
        self.nodes += work[0]
        self.kernel_calls += work[1]
        self.peak_bytes = max(self.peak_bytes, work[2])
        for name, times in bounds.items():
            self.bounds[name] = self.bounds.get(name, 0) + times


@dataclass(frozen=True)
class Limits:
    """Of the whole search, but for memory, which is that of each worker."""

    seconds: float | None
    memory: int | None
    gap: float
    threads: int


class News:
    """Bounds of nodes that workers have sent, as bytes. Where they become too many, the oldest are
    dropped."""

    def __init__(self) -> None:
        #: What was told, and by whom, beginning with number ``n_dropped``.
        self._told: deque[tuple[bytes, str | None]] = deque()
        self._n_dropped = 0
        self._n_bytes = 0

    @property
    def n_told(self) -> int:
        return self._n_dropped + len(self._told)

    def add(self, told: bytes, worker: str | None) -> None:
        self._told.append((told, worker))
        self._n_bytes += len(told)
        while self._n_bytes > MOST_NEWS:
            self._n_bytes -= len(self._told.popleft()[0])
            self._n_dropped += 1

    def since(self, first: int, worker: str) -> list[bytes]:
        """The news with this number and later ones, without those that the worker sent itself."""
        later = islice(self._told, max(first - self._n_dropped, 0), None)
        return [told for told, who in later if who != worker]


class Search:
    """The coordinator of a search."""

    def __init__(self, client: Any, problem: _core.Problem, limits: Limits, pulse: Any) -> None:
        self.client, self.limits, self.pulse = client, limits, pulse
        self.share = _core.Share(problem)
        self.problem = problem
        self.started = time.monotonic()
        self.told = Told()
        self.token = uuid4().hex
        self.parts: list[Part] = []
        self.running: dict[Any, tuple[Part, str]] = {}
        self.deaths = 0
        #: Whether a worker has no memory left for what it would have to keep.
        self.is_full = False
        self.alone_since: float | None = None
        #: Whether a worker goes on with a part that it had before, because what it knows of nodes
        #: is worth more than the order.
        self.goes_on_with_own = False
        #: Workers that hold the problem, and how much of the news they have heard. Whoever dies
        #: comes back under another address.
        self.knowing: dict[str, int] = {}
        self.news = News()
        self.bytes_of_problem = b""
        self.tree: Any = None
        self.upper = 0

    def run(self, known: Any) -> _core.Answer:
        """Search, first here for a moment, and then on the workers."""
        first = _core.Limits(
            ALONE if self.limits.seconds is None else min(ALONE, self.limits.seconds),
            self.limits.memory,
            self.limits.gap,
            self.limits.threads,
        )
        answer = _core.solve(self.problem, first, self.pulse, known)
        self.told.add((answer.nodes, answer.kernel_calls, answer.peak_bytes), answer.bounds)
        self.told.curve = list(answer.curve)
        if answer.status != "time_limit" or self._seconds_left() == 0.0:
            return answer
        self.tree, self.upper = answer.tree, self.share.cost(answer.tree)
        self.share.begin_with(answer)
        whole, waits = self.share.whole()
        self.parts = [Part(whole, 0, waits=waits)]
        self.goes_on_with_own = answer.route == CUT_BY_CUT
        self.news.add(self.share.news(self._tells_large_only()), None)
        self.bytes_of_problem = self.problem.to_bytes()
        self._divide(PARTS * max(len(tasks.workers_of(self.client)), 1))
        ended = None
        try:
            while self.lower() < self.upper and ended is None:
                self._hand_out()
                self._take_in()
                ended = self._ended()
        finally:
            tasks.cancel(self.client, list(self.running))
        self.told.seconds = time.monotonic() - self.started
        nothing = _core.Limits(None, None, 0.0, 1)
        return self.share.conclude(self.tree, self.lower(), nothing, self.told, ended)

    def lower(self) -> int:
        """No tree costs less."""
        return min([self.upper, *(part.lower for part in self.parts)])

    def _seconds_left(self) -> float | None:
        if self.limits.seconds is None:
            return None
        return max(self.started + self.limits.seconds - time.monotonic(), 0.0)

    def _ended(self) -> str | None:
        """What ends the search now, if anything does."""
        upper, lower = self.share.objective(self.upper), self.share.objective(self.lower())
        seconds = time.monotonic() - self.started
        told = self.told
        if not told.curve or told.curve[-1][1:] != (upper, lower):
            told.curve.append((seconds, upper, lower))
        work = (told.nodes, told.kernel_calls, told.peak_bytes)
        go_on = self.pulse(seconds, upper, lower, *work)
        if go_on is not None and not go_on:
            return "interrupted"
        if self.lower() < self.upper and upper - lower <= self.limits.gap:
            return "gap_limit"
        if self.is_full and self.lower() < self.upper:
            return "memory_limit"
        return "time_limit" if self._seconds_left() == 0.0 else None

    def _open(self) -> list[Part]:
        """Parts that are to be searched and that no worker has, the least bound first."""
        is_free = [not (part.is_taken or part.waits) for part in self.parts]
        free = [part for part, free in zip(self.parts, is_free) if free and part.lower < self.upper]
        return sorted(free, key=lambda part: part.lower)

    def _divide(self, wanted: int) -> None:
        """Divide parts that no worker has until there are so many open ones."""
        while True:
            free = self._open()
            n_open = len(free) + len(self.running)
            larger = [part for part in free if not part.is_one]
            if n_open >= wanted or not larger:
                return
            for part in larger[: wanted - n_open]:
                halves = self.share.halves(part.which)
                if halves is None:
                    part.is_one = True
                    continue
                self.parts.remove(part)
                for half in halves:
                    self.parts.append(Part(half, part.lower, part.slice, part.worker))

    def _join(self) -> None:
        """Where all parts wait, begin with what comes next."""
        left = [part for part in self.parts if part.lower < self.upper]
        if left and all(part.waits for part in left):
            whole = self.share.joined([part.which for part in left])
            self.parts = [Part(whole, min(part.lower for part in left))]

    def _hand_out(self) -> None:
        """Give each worker that has nothing to do a part."""
        workers = tasks.workers_of(self.client)
        busy = {worker for _, worker in self.running.values()}
        idle = [worker for worker in workers if worker not in busy]
        if not idle:
            return
        self._join()
        if len(self._open()) < len(idle):
            self._divide(len(workers) + len(idle))
        for worker in idle:
            free = self._open()
            if not free:
                return
            own = [part for part in free if part.worker == worker and self.goes_on_with_own]
            self._submit((own or free)[0], worker)

    def _submit(self, part: Part, worker: str) -> None:
        left = self._seconds_left()
        limits = (left, self.limits.memory, self.limits.threads)
        heard = self.knowing.get(worker)
        problem = self.bytes_of_problem if heard is None else None
        news = self.news.since(heard or 0, worker)
        # Whoever turns out not to hold the problem is forgotten, and hears all of it again.
        self.knowing[worker] = self.news.n_told
        tells = self._tells_large_only()
        asked = (part.which, self.upper, part.slice)
        given = (self.token, problem, news, tells, asked, limits)
        pinned = {"workers": [worker], "allow_other_workers": False}
        future = tasks.submit(self.client, _search_part, *given, **pinned)
        part.is_taken, part.worker = True, worker
        self.running[future] = part, worker

    def _tells_large_only(self) -> bool:
        return len(tasks.workers_of(self.client)) > MOST_WHO_TELL_ALL

    def _take_in(self) -> None:
        """Wait a moment, and learn from what has ended."""
        from distributed import CancelledError, KilledWorker

        if self.running:
            tasks.wait_for_any(list(self.running), LOOK)
        else:
            time.sleep(0.05)
        workers = set(tasks.workers_of(self.client))
        self._look_at(workers)
        for future, (part, worker) in list(self.running.items()):
            if future.status == "pending" and worker in workers:
                continue
            del self.running[future]
            part.is_taken = False
            if future.status != "finished":
                self._lost(future)
                continue
            try:
                found = tasks.fetched(self.client, future, worker)
            except (tasks.Lost, CancelledError, KilledWorker):
                # No other worker may do the task again, and this one is gone.
                self._lost(future)
            else:
                self._learn(part, worker, found)

    def _look_at(self, workers: set[str]) -> None:
        """A WorkerError where there has been no worker for long."""
        now = time.monotonic()
        self.alone_since = None if workers else self.alone_since or now
        if self.alone_since is not None and now - self.alone_since > tasks.NO_WORKERS:
            raise tasks.WorkerError("there has been no Dask worker for a minute: start some")

    def _learn(self, part: Part, worker: str, found: Any) -> None:
        if found is None:
            # It has had another problem since.
            self.knowing.pop(worker, None)
            return
        (lower, better, (part.which, part.waits), work, bounds, is_full), news = found
        self.is_full |= is_full
        part.is_one = False
        self.news.add(news, worker)
        self.deaths = 0
        part.lower = max(part.lower, lower)
        part.slice = min(2 * part.slice, LONGEST_SLICE)
        self.told.add(work, bounds)
        if better is not None and better[1] < self.upper:
            self.tree, self.upper = better
        if part.lower >= self.upper:
            self.parts.remove(part)

    def _lost(self, future: Any) -> None:
        """A part whose worker died is still open; an error of its own ends the search."""
        from distributed import KilledWorker

        self.deaths += 1
        if future.status == "error":
            if not isinstance(future.exception(timeout=tasks.NO_WORKERS), KilledWorker):
                raise tasks.failure(future)
        if self.deaths > MOST_DEATHS:
            raise tasks.WorkerError(
                f"{self.deaths} tasks were lost with their workers and none was done; mostly that "
                "is for want of memory: set memory_limit below what a worker has"
            )
        tasks.cancel(self.client, [future])


#: The problem that this worker searched last, with what it knows of it.
_HELD: dict[str, _core.Share] = {}
_LOCK = Lock()


def _search_part(
    token: str,
    problem: bytes | None,
    news: list[bytes],
    tells_large_only: bool,
    asked: tuple[bytes, int, float],
    limits: tuple[float | None, int | None, int],
) -> Any:
    with _LOCK:
        share = _HELD.get(token)
        if share is None:
            if problem is None:
                return None
            _HELD.clear()
            share = _HELD[token] = _core.Share(_core.Problem.from_bytes(problem))
        for told in news:
            share.learn(told)
        seconds, memory, threads = limits
        given = _core.Limits(seconds, memory, 0.0, threads)
        found = share.search(*asked, given, tasks.is_wanted())
        return found, share.news(tells_large_only)
