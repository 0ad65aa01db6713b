"""Warnings that point at the user's line: the one that called certree, however deep the call went.

scikit-learn stands between where it wraps a method, as ``set_output`` does.
"""

from __future__ import annotations

import sys
import warnings

#: Modules whose lines are not the user's.
BETWEEN = ("certree", "sklearn", "joblib", "contextlib")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Show a warning at the line of the user's that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_between(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_between(module: str) -> bool:
    return module.partition(".")[0] in BETWEEN
