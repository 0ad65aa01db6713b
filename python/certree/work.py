"""What a search did, and which bounds decided it."""

from __future__ import annotations

from dataclasses import dataclass

from certree import _core


@dataclass(frozen=True)
class Work:
    """What a search did: ``certificate_.work``."""

    seconds: float
    nodes: int
    kernel_calls: int
    #: The most that the search held at once, without what it took to look for good trees beside it
    #: (only where no memory limit is set).
    peak_bytes: int
    #: How often each bound decided: by its name, on how many nodes, splits, cuts or values it
    #: was the reason that they were dropped or closed. Every bound is there, also those that did
    #: not decide at all.
    bounds: dict[str, int]

    def table(self) -> str:
        """The bounds that decided, the most frequent first, with what each says."""
        decided = sorted(
            ((times, name) for name, times in self.bounds.items() if times > 0),
            key=lambda row: (-row[0], row[1]),
        )
        size = (
            f"{self.nodes:,} nodes, {self.kernel_calls:,} kernel calls, {self.peak_bytes:,} bytes"
        )
        if not decided:
            return f"{size}; no bound decided"
        rows = [(f"{times:,}", name, _core.BOUNDS[name]) for times, name in decided]
        width, names = (max(len(row[at]) for row in rows) for at in (0, 1))
        width = max(width, len("decided"))
        head = f"{'decided':>{width}}  {'bound':<{names}}  because"
        lines = [f"{times:>{width}}  {name:<{names}}  {words}" for times, name, words in rows]
        return "\n".join([size, head, *lines])
