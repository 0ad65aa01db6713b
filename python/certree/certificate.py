"""What was proved about a fitted tree."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import polars as pl

from certree import notebook
from certree.constraints import Met
from certree.options import Status

#: What each status means, as the end of a sentence.
ENDINGS = {
    "optimal": "the search is complete",
    "optimal_given_guess": "the search is complete, given the guess of a reference",
    "gap_limit": "the search stopped because the gap was within its limit",
    "time_limit": "the search stopped at its time limit",
    "memory_limit": "the search stopped at its memory limit",
    "interrupted": "the search was interrupted",
    "rounding_limit": "the search is complete, but numbers are too far apart to be told apart any better",
}


@dataclass(frozen=True)
class Certificate:
    """The objective of the tree found, a lower bound that no tree can beat, and what they speak of.

    The bound holds for every tree within the limits of ``max_depth``, ``max_leaf_nodes`` and
    ``min_samples_leaf`` that splits at the cuts in ``cuts``, measured on the training rows. It says
    nothing about other cuts or other rows.
    """

    status: Status
    #: Loss plus ``leaf_penalty`` for each leaf.
    objective: float
    #: No tree has a lower objective.
    lower_bound: float
    n_leaves: int
    #: What the loss is, in words.
    loss: str
    leaf_penalty: float
    max_depth: int | None
    max_leaf_nodes: int | None
    min_samples_leaf: int
    #: Where the cuts came from, in words.
    thresholds: str
    #: How many different splits each column offered.
    cuts: dict[str, int] = field(repr=False)
    n_rows: int
    #: Groups of rows that no cut can tell apart.
    n_points: int
    time_limit: float | None
    memory_limit: int | None
    gap_limit: float
    #: Seconds, nodes, kernel calls and bytes that the search took.
    seconds: float
    nodes: int
    kernel_calls: int
    peak_bytes: int
    threads: int
    #: (seconds, objective, lower bound) as the search went on.
    curve: list[tuple[float, float, float]] = field(repr=False)
    #: What the tree was required to keep to, and what it attains.
    constraints: list[Met] = field(default_factory=list)
    #: The reference that lower bounds were guessed from, in words. All bounds here are proved
    #: nevertheless.
    reference: str | None = None
    #: What was taken for granted then, as a sentence's part; None where the search with the guess
    #: is not complete.
    guessed: str | None = None

    @property
    def gap(self) -> float:
        """How far the tree can be from the best: objective − lower bound."""
        return self.objective - self.lower_bound

    @property
    def guarantee(self) -> float | None:
        """What the guess of a reference can have cost: no tree has an objective that is lower by
        more. None where nothing was guessed.

        It is the distance to the proved lower bound, and no more than what the reference loses
        beyond the best label, or the mean, of each group of rows that the cuts cannot tell apart.
        """
        return None if self.reference is None else self.gap

    @property
    def n_cuts(self) -> int:
        return sum(self.cuts.values())

    def statement(self) -> str:
        """The certificate as plain sentences."""
        searched = (
            f"Searched: all decision trees {self._shape()}, with splits at {self._cuts()}, "
            f"fitted to {_count(self.n_rows, 'row')}."
        )
        measure = (
            f"Objective: {self.loss} on those rows plus {self.leaf_penalty:g} for each leaf. "
            f"This tree has {_count(self.n_leaves, 'leaf', 'leaves')} and an objective of "
            f"{_number(self.objective)}."
        )
        keeping = " that meets the constraints" if self.constraints else ""
        kept = [f"Constraint: {met}." for met in self.constraints]
        if self.status == "optimal" and self.gap <= 1e-12 * max(1.0, abs(self.objective)):
            proof = f"Proved: no such tree{keeping} has a lower objective."
        else:
            proof = (
                f"Proved: no such tree{keeping} has an objective below {_number(self.lower_bound)}, so this one "
                f"is at most {_number(self.gap)} from the best."
            )
        if self.guessed is not None and self.status != "optimal":
            proof = (
                f"Guessed: {self.guessed}. If that is so, none has a lower objective.\n{proof}"
            )
        end = ENDINGS.get(self.status, self.status)
        work = f"Status: {self.status} ({end}), after {self.seconds:.3g} s."
        return "\n".join([searched, measure, *kept, proof, work])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values, for JSON."""
        derived = {"gap": self.gap, "guarantee": self.guarantee}
        return {**asdict(self), **derived, "curve": [list(moment) for moment in self.curve]}

    def after(self, before: Certificate) -> Certificate:
        """This certificate of a search that went on, with what `before` counted and proved added."""
        lower_bound = min(max(before.lower_bound, self.lower_bound), self.objective)
        moments = [
            (before.seconds + seconds, min(upper, before.objective), max(lower, before.lower_bound))
            for seconds, upper, lower in self.curve
        ]
        return replace(
            self,
            lower_bound=lower_bound,
            guessed=self.guessed or before.guessed,
            seconds=before.seconds + self.seconds,
            nodes=before.nodes + self.nodes,
            kernel_calls=before.kernel_calls + self.kernel_calls,
            peak_bytes=max(before.peak_bytes, self.peak_bytes),
            curve=[*before.curve, *moments],
        )

    def to_polars(self) -> pl.DataFrame:
        """The anytime curve: objective and lower bound by second."""
        schema = {"seconds": pl.Float64, "objective": pl.Float64, "lower_bound": pl.Float64}
        return pl.DataFrame(self.curve, schema=schema, orient="row")

    def __str__(self) -> str:
        return self.statement()

    def _repr_html_(self) -> str:
        """For notebooks: the statement, the gap, and the anytime curve."""
        return notebook.of_certificate(self)

    def _shape(self) -> str:
        limits = [
            "of any depth" if self.max_depth is None else f"of depth at most {self.max_depth}"
        ]
        if self.max_leaf_nodes is not None:
            limits.append(f"with at most {_count(self.max_leaf_nodes, 'leaf', 'leaves')}")
        if self.min_samples_leaf > 1:
            limits.append(f"with at least {self.min_samples_leaf:,} rows in each leaf")
        return " ".join(limits) if len(limits) == 1 else ", ".join(limits)

    def _cuts(self) -> str:
        return (
            f"any of {_count(self.n_cuts, 'cut')} of {_count(len(self.cuts), 'column')} "
            f"({self.thresholds})"
        )


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"1 {one}" if n == 1 else f"{n:,} {many or one + 's'}"


def _number(x: float) -> str:
    return f"{x:.6g}"
