"""What a search tells while it works: to a callback, and as a line on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

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


def pulse(callback: Callback | None, verbose: bool, held: Held) -> Pulse:
    """A function that the core calls now and then. It answers False where the search should end."""
    show = _Line() if verbose else None

    def beat(*values: float) -> object:
        if held.noted:
            return False
        if callback is None and show is None:
            return None
        progress = Progress(*values)  # type: ignore[arg-type]
        if show:
            show(progress)
        return callback(progress) if callback else None

    return beat


class _Line:
    """A line on stderr: written over twice a second on a terminal, one below the other every ten
    seconds in a log."""

    def __init__(self) -> None:
        terminal = sys.stderr.isatty()
        self.end, self.pause = ("\r", 0.5) if terminal else ("\n", 10.0)
        self.last = -self.pause

    def __call__(self, now: Progress) -> None:
        if now.seconds - self.last < self.pause:
            return
        self.last = now.seconds
        print(line(now), end=self.end, file=sys.stderr, flush=True)


def finish(now: Progress, status: str, route: str) -> None:
    """The last line, which stays."""
    print(f"{line(now)}  {status} ({route})", file=sys.stderr, flush=True)


def line(now: Progress) -> str:
    speed = now.nodes / now.seconds if now.seconds > 0 else 0.0
    return (
        f"{now.seconds:8.1f} s  objective {now.objective:.6f}  lower bound {now.lower_bound:.6f}  "
        f"gap {now.gap:.6f}  {speed:,.0f} nodes/s"
    )
