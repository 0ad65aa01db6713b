"""What a search tells while it works: to a callback, and as a line on the terminal or in a
notebook."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from certree import notebook
from certree.drawing.svg import text
from certree.interrupts import Held


@dataclass(frozen=True)
class Progress:
    """The state of a running search. A callback gets it and may return False (or numpy's) to stop
    the search, which then keeps the best tree so far."""

    seconds: float
    #: Of the best tree so far.
    objective: float
    #: No tree has a lower objective.
    lower_bound: float
    nodes: int
    kernel_calls: int
    peak_bytes: int

    @property
    def gap(self) -> float:
        return self.objective - self.lower_bound


Callback = Callable[[Progress], object]
Pulse = Callable[[float, float, float, int, int, int], object]


def pulse(callback: Callback | None, shown: Shown | None, held: Held) -> Pulse:
    """A function that the core calls now and then. It answers False where the search should end."""

    def beat(*values: float) -> object:
        if held.noted:
            return False
        if callback is None and shown is None:
            return None
        progress = Progress(*values)  # type: ignore[arg-type]
        if shown:
            shown(progress)
        return callback(progress) if callback else None

    return beat


class Shown:
    """A line of progress: below the running cell of a notebook, or on stderr, where it is written
    over twice a second on a terminal, and one comes below the other every ten seconds in a log."""

    def __init__(self, time_limit: float | None = None) -> None:
        #: Seconds that the search may take.
        self._time_limit = time_limit
        self._show = notebook.display()
        self._update: Callable[[str], None] | None = None
        self._over = sys.stderr.isatty() and self._show is None
        self._pause = 0.5 if self._over or self._show else 10.0
        self._last = -self._pause
        self._width = 0

    def __call__(self, now: Progress) -> None:
        if now.seconds - self._last < self._pause:
            return
        self._last = now.seconds
        self._write(line(now, self._time_limit), "\r")

    def finish(self, now: Progress, status: str, route: str, table: str | None = None) -> None:
        """The last line, which stays, and a table below it."""
        self._write(f"{line(now)}  {status} ({route})", "\n", table)
        if table is not None and self._show is None:
            print(table, file=sys.stderr, flush=True)

    def _write(self, words: str, end: str, table: str | None = None) -> None:
        if self._show is not None:
            below = "" if table is None else f"<pre>{text(table)}</pre>"
            html = notebook.within(f"<p>{text(words)}</p>{below}")
            if self._update is None:
                self._update = self._show(html)
            else:
                self._update(html)
        elif self._over:
            # What a longer line before left is blanked.
            padded = words.ljust(self._width)
            self._width = len(words)
            print(padded, end=end, file=sys.stderr, flush=True)
        else:
            print(words, file=sys.stderr, flush=True)


def shown(verbose: bool, time_limit: float | None) -> Shown | None:
    return Shown(time_limit) if verbose else None


def line(now: Progress, time_limit: float | None = None) -> str:
    speed = now.nodes / now.seconds if now.seconds > 0 else 0.0
    left = ""
    if time_limit is not None:
        left = f"  at most {max(time_limit - now.seconds, 0.0):,.0f} s left"
    return (
        f"{now.seconds:8.1f} s  objective {now.objective:.6f}  lower bound {now.lower_bound:.6f}  "
        f"gap {now.gap:.6f}  {speed:,.0f} nodes/s{left}"
    )
