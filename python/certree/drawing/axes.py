"""Axes of matplotlib, which is imported when it is used, because it is not needed for anything
else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def pyplot() -> Any:
    """``matplotlib.pyplot``, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as found
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "plots need matplotlib: pip install 'certree[plot]' (Tree.to_svg() draws a tree"
            " without it)",
            name=error.name,
        ) from error
    return found


def given_or_new(ax: Axes | None, width: float = 6.0, height: float = 4.0) -> Axes:
    """The axes that were given, or new ones on a figure of this size in inches."""
    plt = pyplot()
    if ax is not None:
        return ax
    made: Axes
    _, made = plt.subplots(figsize=(width, height), layout="constrained")
    return made
