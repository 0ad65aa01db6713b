"""Ctrl-C while a tree is searched and kept: it ends the search, and is raised once the tree is
kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any]


class Held:
    """Within ``with Held() as held:`` Ctrl-C is raised at once until ``held.search()``, because
    there is no tree to keep. From then on it is noted, and handled as it would have been at the
    end: mostly by a ``KeyboardInterrupt``. A second Ctrl-C is not held back.

    What is raised in a finalizer, Python prints and forgets. It is raised again here, so that no
    Ctrl-C is lost.

    Signals reach the main thread alone, so elsewhere nothing is held back. A handler that is not
    Python's, such as that of a process which ignores Ctrl-C, stays as it is.
    """

    def __init__(self) -> None:
        self._before: Handler | None = None
        self._searches = False
        self._noted = False
        #: True while an exception of the handler should be on its way.
        self._raised = False

    @property
    def noted(self) -> bool:
        """True once Ctrl-C was pressed, so that the search should end."""
        return self._noted

    def search(self) -> None:
        """From here on there is a tree to keep."""
        self._searches = True
        self._raise_again()

    def __enter__(self) -> Held:
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is threading.main_thread() and callable(before):
            self._before = before
            try:
                signal.signal(signal.SIGINT, self._note)
            except ValueError:
                # An interpreter beside the main one gets no signals.
                self._before = None
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._before is None:
            return
        signal.signal(signal.SIGINT, self._before)
        if self._noted:
            self._before(signal.SIGINT, None)
        elif kind is None:
            self._raise_again()

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._searches and not self._noted:
            self._noted = True
        elif self._before is not None:
            self._raised = True
            self._before(number, frame)
            # A handler that raises nothing has done its work.
            self._raised = False

    def _raise_again(self) -> None:
        if self._raised and self._before is not None:
            self._raised = False
            self._before(signal.SIGINT, None)
