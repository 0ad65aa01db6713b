"""What a fit may still take: time and memory, from reading on.

Whoever reads, cuts or groups rows asks here, without being handed a limit, because the way there
leads through many functions. A budget holds for the thread that opened it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from time import monotonic, thread_time

#: What libraries load when they are first used, and allocators keep, is no part of a limit: so
#: many bytes are not counted.
SPARE = 8 << 20

#: Reading is not cut short before it has taken so many seconds of processor time, because a table
#: that is read so soon is worth more than a limit that is kept to the last moment.
GRACE = 0.05

_CURRENT: ContextVar[Budget | None] = ContextVar("certree_budget", default=None)


class OutOfTime(Exception):
    """The time of a fit is over before there is anything to search."""


class Budget:
    """The limits of one fit, within ``with Budget(...)``. ``started``: when it began, in monotonic
    seconds."""

    def __init__(
        self, time_limit: float | None, memory_limit: float | None, started: float | None = None
    ) -> None:
        self.time_limit = time_limit
        self.started = monotonic() if started is None else started
        self._cpu = thread_time()
        self.memory_limit = memory_limit
        # Asked for only where it matters, because it takes a file to read.
        self._before = 0 if memory_limit is None else _resident()
        self._token: Token[Budget | None] | None = None

    def __enter__(self) -> Budget:
        self._token = _CURRENT.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _CURRENT.reset(self._token)

    @contextmanager
    def patient(self) -> Iterator[None]:
        """Within, there is any amount of time, which counts nevertheless."""
        limit, self.time_limit = self.time_limit, None
        try:
            yield
        finally:
            self.time_limit = limit

    def bytes_held(self) -> int:
        """By how much the memory of the process has grown, but for what is not counted; 0 without a
        limit."""
        return max(self._grown() - SPARE, 0)

    def _grown(self) -> int:
        return 0 if self.memory_limit is None else _resident() - self._before

    def bytes_left(self) -> int | None:
        if self.memory_limit is None:
            return None
        return max(int(min(self.memory_limit, 2**62)) + SPARE - self._grown(), 0)

    def seconds_left(self, share: float = 1.0) -> float | None:
        """Until this share of the time is over."""
        if self.time_limit is None:
            return None
        return max(self.started + share * self.time_limit - monotonic(), 0.0)

    def reading_left(self, share: float = 1.0) -> float | None:
        """Until reading is cut short."""
        left = self.seconds_left(share)
        return None if left is None else max(left, GRACE - (thread_time() - self._cpu), 0.0)


def bytes_left() -> int | None:
    """What may still be held; None for any amount."""
    current = _CURRENT.get()
    return None if current is None else current.bytes_left()


def reading_left(share: float = 1.0) -> float | None:
    """How many seconds reading and guessing may still take, or a part of them that ends at this
    share of the time of the fit; None for any time."""
    current = _CURRENT.get()
    return None if current is None else current.reading_left(share)


def is_over(share: float = 1.0) -> bool:
    """True once this share of the time is over, and reading is to be cut short."""
    return reading_left(share) == 0.0


def require(n_bytes: float, what: str) -> None:
    """A ValueError unless so many bytes more may be held. ``what`` names what they are for."""
    left = bytes_left()
    if left is not None and n_bytes > left:
        raise ValueError(
            f"{what} takes {in_words(n_bytes)}, but memory_limit leaves {in_words(left)} for it: "
            "raise it, or give fewer rows, columns or distinct values"
        )


def in_words(n_bytes: float) -> str:
    size, unit = float(n_bytes), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if size >= 1000.0:
            size, unit = size / 1000.0, larger
    return f"{size:.0f} bytes" if unit == "bytes" else f"{size:.1f} {unit}"


def _resident() -> int:
    """Bytes of memory that the process holds, where the system tells: else the most that it has
    held, or 0."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        pass
    try:
        import resource
        import sys
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
