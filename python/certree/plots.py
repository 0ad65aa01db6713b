"""Curves with matplotlib, of what is found out on the way to a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from certree.certificate import Certificate
from certree.conditions import plain
from certree.drawing.axes import given_or_new
from certree.drawing.palette import LIGHT
from certree.notebook import words

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_frontier(frame: pl.DataFrame, ax: Axes | None = None) -> Axes:
    """What :func:`frontier` answered, as a curve: each dot is a tree that no other one is better
    than on both axes.

    It needs matplotlib (``pip install 'certree[plot]'``).

    Parameters
    ----------
    frame : polars.DataFrame
        What :func:`frontier` answered.
    ax : matplotlib Axes or None, default=None
        Where to draw; without it on a new figure.

    Returns
    -------
    matplotlib Axes
    """
    if not {"tree", "status"} <= set(frame.columns[2:]):
        raise ValueError("plot_frontier() takes the frame that frontier() answers")
    ax = given_or_new(ax)
    y, x = frame.columns[:2]
    ordered = frame.sort(x)
    style: Any = {"color": LIGHT[0], "linewidth": 1.5}
    if frame.columns[2] == "tree":
        # Of three axes, two make no staircase.
        ax.step(ordered[x].to_list(), ordered[y].to_list(), where="post", **style)
    proved = np.array([status == "optimal" for status in ordered["status"].to_list()], dtype=bool)
    for kept, filled, name in ((proved, True, "optimal"), (~proved, False, "not proved")):
        if kept.any():
            ax.plot(
                ordered[x].to_numpy()[kept],
                ordered[y].to_numpy()[kept],
                "o",
                color=LIGHT[0],
                markerfacecolor=LIGHT[0] if filled else "white",
                label=name,
            )
    if not proved.all():
        ax.legend(frameon=False)
    _finish(ax, words(x), words(y))
    return ax


def plot_anytime(
    certificates: Any, ax: Axes | None = None, *, log_time: bool = False
) -> Axes:
    """The objective and the lower bound of a search by second; between them is the gap.

    It needs matplotlib (``pip install 'certree[plot]'``).

    Parameters
    ----------
    certificates : Certificate, fitted estimator, or a mapping of names to these
        What is drawn; of a mapping all, with their names.
    ax : matplotlib Axes or None, default=None
        Where to draw; without it on a new figure.
    log_time : bool, default=False
        Draw seconds on a logarithmic scale.

    Returns
    -------
    matplotlib Axes
    """
    named = certificates if isinstance(certificates, Mapping) else {"": certificates}
    if not named:
        raise ValueError("plot_anytime() needs at least one certificate")
    read = {name: _certificate(each) for name, each in named.items()}
    ax = given_or_new(ax)
    for at, (name, each) in enumerate(read.items()):
        colour = LIGHT[at % len(LIGHT)]
        moments = [*each.curve, (max(each.seconds, each.curve[-1][0]), *each.curve[-1][1:])]
        seconds, upper, lower = (np.array(values) for values in zip(*moments))
        before = f"{plain(str(name))}: " if str(name) else ""
        style: Any = {"where": "post", "color": colour, "linewidth": 1.5}
        ax.step(seconds, upper, label=f"{before}objective", **style)
        ax.step(seconds, lower, label=f"{before}lower bound", linestyle="--", **style)
        ax.fill_between(seconds, lower, upper, step="post", color=colour, alpha=0.12, linewidth=0)
    if log_time:
        ax.set_xscale("log")
    else:
        # Short times have many digits, of which more would overlap.
        ax.locator_params(axis="x", nbins=5)
    ax.legend(frameon=False)
    _finish(ax, "seconds", "objective")
    return ax


def plot_importances(model: Any, ax: Axes | None = None, *, max_columns: int = 20) -> Axes:
    """How much each column matters to a fitted model (``feature_importances_``), as bars.

    It needs matplotlib (``pip install 'certree[plot]'``).

    Parameters
    ----------
    model : fitted estimator
    ax : matplotlib Axes or None, default=None
        Where to draw; without it on a new figure.
    max_columns : int, default=20
        The most columns that are shown: those that matter most, and none that does not.

    Returns
    -------
    matplotlib Axes
    """
    if not max_columns >= 1:
        raise ValueError(f"max_columns={max_columns!r} must be at least 1")
    importances = np.asarray(model.feature_importances_)
    largest = np.argsort(-importances, kind="stable")[:max_columns]
    order = [k for k in largest.tolist() if importances[k] > 0]
    names = [plain(model.tree_.columns[k].name) for k in order]
    ax = given_or_new(ax, height=1.0 + 0.3 * max(len(order), 1))
    # By number, because two columns may be shown by one name.
    ax.barh(range(len(order)), importances[order], color=LIGHT[0])
    ax.set_yticks(range(len(order)), names)
    for tick in ax.get_yticklabels():
        # Names with dollars are names, not formulas.
        tick.set_parse_math(False)
    ax.invert_yaxis()
    _finish(ax, "importance", "")
    return ax


def plot_path(search: Any, ax: Axes | None = None) -> Axes:
    """The mean score of every size on rows that were left out, by depth, with a standard error on
    each side; the chosen size has a ring.

    It needs matplotlib (``pip install 'certree[plot]'``).

    Parameters
    ----------
    search : OptimalTreeCV
        A fitted one.
    ax : matplotlib Axes or None, default=None
        Where to draw; without it on a new figure.

    Returns
    -------
    matplotlib Axes
    """
    frame = getattr(search, "path_", None)
    if not isinstance(frame, pl.DataFrame):
        raise TypeError(f"plot_path() takes a fitted OptimalTreeCV, not {type(search).__name__}")
    ax = given_or_new(ax)
    known = frame.drop_nulls("mean_score")
    depths = known["depth"].unique(maintain_order=True).to_list()
    for at, depth in enumerate(depths):
        rows = known.filter(pl.col("depth") == depth)
        leaves = rows["leaves"].to_numpy() + 0.08 * (at - (len(depths) - 1) / 2)
        ax.errorbar(
            leaves,
            rows["mean_score"].to_numpy(),
            yerr=rows["standard_error"].fill_null(0).to_numpy(),
            fmt="o-",
            color=LIGHT[at % len(LIGHT)],
            linewidth=1.2,
            elinewidth=0.8,
            markersize=4,
            label=f"depth {depth}",
        )
        chosen = rows["chosen"].to_numpy()
        ring: Any = {"s": 130, "facecolors": "none", "edgecolors": "#555555", "zorder": 3}
        ax.scatter(leaves[chosen], rows["mean_score"].to_numpy()[chosen], **ring)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(frameon=False)
    _finish(ax, "leaves", "mean score of left-out rows")
    return ax


def _certificate(given: Any) -> Certificate:
    found = getattr(given, "certificate_", given)
    if not isinstance(found, Certificate):
        raise TypeError(
            f"plot_anytime() takes certificates or fitted estimators, not {type(given).__name__}"
        )
    if not found.curve:
        raise ValueError("the certificate has no curve: the search ended before its first moment")
    return found


def _finish(ax: Axes, x_label: str, y_label: str) -> None:
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
