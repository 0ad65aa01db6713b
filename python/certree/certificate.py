"""What was proved about a fitted tree."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from certree import notebook
from certree.constraints import Met
from certree.generalization import Generalization, Searched, generalization
from certree.options import Route, Status
from certree.work import Work

#: What each status means, as the end of a sentence.
ENDINGS = {
    "optimal": "the search is complete",
    "optimal_given_guess": "the search is complete, given the guess of a reference",
    "gap_limit": "the search stopped because the gap was within its limit",
    "time_limit": "the search stopped at its time limit",
    "memory_limit": "the search stopped at its memory limit",
    "interrupted": "the search was interrupted",
    "rounding_limit": (
        "the search is complete, but numbers are too far apart to be told apart any better"
    ),
}

#: What each route does, in brackets behind its name.
ROUTES: dict[Route, str] = {
    "greedy separation": (
        "leaves cost nothing and nothing limits the tree, so there is nothing to search"
    ),
    "one split": "no tree has more than one, so that each cut is looked at once",
    "intervals of cuts": "neighbouring cuts of a column are bounded together",
    "cut by cut": "each cut is looked at by itself, the most promising first",
    "relaxations, then fronts": (
        "sums over rows bound the objective, then all trees that may be best are listed"
    ),
    "weighted errors": "sums of two kinds of errors bound the metric",
}


@dataclass(frozen=True)
class Copy:
    """A tree that answers each training row as a reference does. It was grown greedily, so that a
    smaller one may exist."""

    n_leaves: int
    depth: int
    #: Of its smallest leaf.
    least_rows: int


@dataclass(frozen=True)
class CutsReference:
    """The reference that the cuts were guessed from, as it is when it knows the answers to these
    cuts alone."""

    #: In words.
    name: str
    #: Its loss on the training rows, as the objective counts it.
    loss: float
    #: None where no tree over the cuts is known that answers as it does.
    copy: Copy | None


@dataclass(frozen=True)
class Written:
    """The files of a proof, and how to check it."""

    instance: str
    proof: str
    #: Of the file of the instance: it tells what the proof speaks of.
    sha256: str
    #: The command that checks the proof.
    how_to_check: str


@dataclass(frozen=True)
class Certificate:
    """The objective of the tree found, a lower bound that no tree can beat, and what they speak of.

    The bound holds for every tree within the limits of ``max_depth``, ``max_leaf_nodes`` and
    ``min_samples_leaf`` that keeps to ``constraints`` and ``path_rules`` and splits at the cuts in
    ``cuts``, measured on the training rows. It says nothing about other cuts or other rows.
    """

    status: Status
    #: How the problem was searched.
    route: Route
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
    #: Seconds, nodes, kernel calls and bytes that the search took; the bytes without those of
    #: parts of the problem, which it searches for good trees where no memory limit is set.
    seconds: float
    nodes: int
    kernel_calls: int
    peak_bytes: int
    threads: int
    #: (seconds, objective, lower bound) as the search went on.
    curve: list[tuple[float, float, float]] = field(repr=False)
    #: Columns with missing values; and whether their cuts may be asked only after the question
    #: whether the value is missing.
    missing: list[str] = field(default_factory=list, repr=False)
    own_branch: bool = field(default=False, repr=False)
    #: Categories of which any set of values was a cut.
    sets: list[str] = field(default_factory=list, repr=False)
    #: How often each bound decided, by its name: see ``work``.
    bounds: dict[str, int] = field(default_factory=dict, repr=False)
    #: What the tree was required to keep to, and what it attains.
    constraints: list[Met] = field(default_factory=list)
    #: What the columns of every path keep to, each rule as a sentence without its end.
    path_rules: list[str] = field(default_factory=list)
    #: Columns that cannot help or should not be there, each note as a sentence without its end.
    notes: list[str] = field(default_factory=list)
    #: How many partitions the rows lay in; None where they were one table.
    n_partitions: int | None = None
    #: The reference that lower bounds were guessed from, in words. All bounds here are proved
    #: nevertheless.
    reference: str | None = None
    #: What was taken for granted then, as a sentence's part; None where the search with the guess
    #: is not complete.
    guessed: str | None = None
    #: Where a tree was taken not to be better than the reference: in no "leaf", or at no "point",
    #: which is a group of rows that the cuts cannot tell apart.
    guessed_by: Literal["leaf", "point"] | None = None
    #: The loss of the reference on the training rows, as the objective counts it.
    reference_loss: float | None = None
    #: Where the cuts were guessed from a reference whose loss on these rows is known.
    cuts_reference: CutsReference | None = None
    #: The proof that was written for others to check, if one was.
    proof: Written | None = None
    #: The set of trees, to be counted: see ``generalization``.
    searched: Searched | None = field(default=None, repr=False)

    @property
    def training_loss(self) -> float:
        """The objective less what the leaves cost."""
        return self.objective - self.leaf_penalty * self.n_leaves

    @property
    def copy_objective(self) -> float | None:
        """The objective of a tree that answers as the reference of the cuts does: the loss of that
        reference, and ``leaf_penalty`` for each leaf of the smallest such tree that is known.

        The best tree over the guessed cuts is at least as good, if the limits allow a tree of that
        size (theorem 4.1 of McTavish et al., AAAI 2022); ``copy_is_allowed`` says whether they do.
        None where no such tree is known.
        """
        known = self.cuts_reference
        if known is None or known.copy is None:
            return None
        return known.loss + self.leaf_penalty * known.copy.n_leaves

    @property
    def copy_is_allowed(self) -> bool | None:
        """True if that tree is one of those that were searched; None where none is known."""
        copy = None if self.cuts_reference is None else self.cuts_reference.copy
        if copy is None:
            return None
        return (
            (self.max_depth is None or copy.depth <= self.max_depth)
            and (self.max_leaf_nodes is None or copy.n_leaves <= self.max_leaf_nodes)
            and (copy.n_leaves == 1 or copy.least_rows >= self.min_samples_leaf)
        )

    @property
    def gap(self) -> float:
        """How far the tree can be from the best: objective − lower bound."""
        return self.objective - self.lower_bound

    @property
    def guarantee(self) -> float | None:
        """The most by which any tree can be better than this one, although lower bounds were
        guessed. None where nothing was guessed.

        It is the distance from the objective to the proved lower bound. It is never more than the
        regret of the reference: the sum of its losses less the sum of the least losses that any
        tree has, over the groups of rows that the cuts cannot tell apart.
        """
        return None if self.reference is None else self.gap

    @property
    def work(self) -> Work:
        """What the search did, with how often each bound decided."""
        return Work(self.seconds, self.nodes, self.kernel_calls, self.peak_bytes, self.bounds)

    @property
    def n_cuts(self) -> int:
        return sum(self.cuts.values())

    @property
    def keeping(self) -> str:
        """What trees keep to beside their limits, as the end of "no such tree": empty if that is
        nothing."""
        kept = ["meets the constraints"] if self.constraints else []
        kept += ["keeps to the rules for paths"] if self.path_rules else []
        return f" that {' and '.join(kept)}" if kept else ""

    def _rows(self) -> str:
        rows = _count(self.n_rows, "row")
        if self.n_partitions is None:
            return rows
        partitions, points = _count(self.n_partitions, "partition"), _count(self.n_points, "point")
        return f"{rows} in {partitions}, merged to {points}"

    def statement(self) -> str:
        """The certificate as plain sentences."""
        searched = (
            f"Searched: all decision trees {self._shape()}, with splits at {self._cuts()}, "
            f"fitted to {self._rows()}."
        )
        measure = (
            f"Objective: {self.loss} on those rows plus {self.leaf_penalty:g} for each leaf. "
            f"This tree has {_count(self.n_leaves, 'leaf', 'leaves')} and an objective of "
            f"{_number(self.objective)}."
        )
        kept = [f"Constraint: {met}." for met in self.constraints]
        kept += [f"Rule for paths: {rule}." for rule in self.path_rules]
        if self.status == "optimal" and self.gap <= 1e-12 * max(1.0, abs(self.objective)):
            proof = f"Proved: no such tree{self.keeping} has a lower objective."
        else:
            proof = (
                f"Proved: no such tree{self.keeping} has an objective below "
                f"{_number(self.lower_bound)}, so this one is at most {_number(self.gap)} from the "
                "best."
            )
        if self.guessed is not None and self.status != "optimal":
            proof = (
                f"Guessed: {self.guessed}. If that is so, none has a lower objective.\n{proof}"
            )
        kept += [f"Reference: {words}." for words in self._references()]
        route = f"Route: {self.route} ({ROUTES[self.route]})."
        end = ENDINGS.get(self.status, self.status)
        work = f"Status: {self.status} ({end}), after {self.seconds:.3g} s."
        notes = [f"Note: {note}." for note in self.notes]
        files = []
        if self.proof is not None:
            files = [
                f"For others to check: {self.proof.how_to_check} (SHA-256 of the instance: "
                f"{self.proof.sha256})."
            ]
        return "\n".join([searched, *notes, measure, *kept, proof, *files, route, work])

    def generalization(
        self, confidence: float = 0.95, range: Sequence[float] | None = None
    ) -> Generalization:
        """What the training rows say of new ones: how much this tree can truly lose at most, and by
        how much another tree of the searched set can truly be better.

        It holds for all trees of the set at once, so that it does not matter that the search chose
        one of them by these rows; smaller trees are fewer, and get a better bound. Rows have to be
        independent: repeated measurements of a person, or a series in time, are not.

        The set is counted: by leaves and depth, the cuts of each column, and labels. Thresholds
        that were given as lists count as they are, if they were not chosen by these rows. Where the
        rows decide about cuts (all midpoints, quantiles, guesses), all cuts count that so many rows
        and 32 times as many more could have, which covers them however they were chosen.
        `docs/honest-numbers.md` has the proof.

        Parameters
        ----------
        confidence : float, default=0.95
            The probability that all of it holds, over draws of the training rows.
        range : (float, float), default=None
            The least and the largest cost that a row can have (``OptimalCostTree``), or target
            (squared errors), known before the rows were seen. Errors, and costs of classes, have
            their own.

        Returns
        -------
        Generalization
            With ``upper``, ``lower``, ``advantage`` and ``statement()``. A ValueError says why
            nothing can be said, as of weighted rows, or of losses that are no mean over rows.

        Examples
        --------
        >>> import numpy as np
        >>> from certree import OptimalTreeClassifier
        >>> rng = np.random.default_rng(0)
        >>> X = rng.random((5000, 3)) < 0.5
        >>> y = (X[:, 0] & X[:, 1]) ^ (rng.random(5000) < 0.1)
        >>> model = OptimalTreeClassifier(max_depth=2).fit(X, y)
        >>> found = model.certificate_.generalization()
        >>> round(found.training_loss, 3), round(found.upper, 3), round(found.advantage, 3)
        (0.097, 0.118, 0.049)
        """
        if self.searched is None:
            raise ValueError("nothing is known of the set of trees that this certificate is about")
        return generalization(self, self.searched, confidence, range)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values, for JSON."""
        derived = {
            "gap": self.gap,
            "guarantee": self.guarantee,
            "copy_objective": self.copy_objective,
            "copy_is_allowed": self.copy_is_allowed,
        }
        own = asdict(replace(self, searched=None))
        del own["searched"]
        return {**own, **derived, "curve": [list(moment) for moment in self.curve]}

    def to_json(self, indent: int | None = 2) -> str:
        """Everything as a JSON document, with null for numbers that are infinite or unknown."""
        return json.dumps(_plain(self.to_dict()), indent=indent, ensure_ascii=False) + "\n"

    def after(self, before: Certificate) -> Certificate:
        """This certificate of a search that went on, with what `before` counted and proved
        added."""
        lower_bound = min(max(before.lower_bound, self.lower_bound), self.objective)
        moments = [
            (before.seconds + seconds, min(upper, before.objective), max(lower, before.lower_bound))
            for seconds, upper, lower in self.curve
        ]
        return replace(
            self,
            lower_bound=lower_bound,
            guessed=self.guessed or before.guessed,
            guessed_by=self.guessed_by or before.guessed_by,
            seconds=before.seconds + self.seconds,
            nodes=before.nodes + self.nodes,
            kernel_calls=before.kernel_calls + self.kernel_calls,
            peak_bytes=max(before.peak_bytes, self.peak_bytes),
            bounds={
                name: before.bounds.get(name, 0) + times for name, times in self.bounds.items()
            },
            curve=[*before.curve, *moments],
        )

    def to_polars(self) -> pl.DataFrame:
        """The anytime curve: objective and lower bound by second."""
        schema = {"seconds": pl.Float64, "objective": pl.Float64, "lower_bound": pl.Float64}
        return pl.DataFrame(self.curve, schema=schema, orient="row")

    def __str__(self) -> str:
        return self.statement()

    def _references(self) -> list[str]:
        """Sentences, without their ends, about the references of a guess."""
        found = []
        cuts = self.cuts_reference
        own = self.reference, self.reference_loss
        is_one = cuts is not None and (cuts.name, cuts.loss) == own
        if self.reference is not None and self.reference_loss is not None:
            if self.status != "optimal" and not is_one:
                found.append(self._beside(self.reference, self.reference_loss))
        if cuts is not None:
            words = self._beside(f"{cuts.name} with the guessed cuts", cuts.loss)
            found.append(words + self._copy_in_words(cuts.copy))
        return found

    def _beside(self, name: str, loss: float) -> str:
        """A reference and its loss, beside that of the tree."""
        own = self.training_loss
        words = f"{name} has a loss of {_number(loss)} on those rows"
        close = 1e-12 * max(1.0, abs(loss))
        if own < loss - close:
            return f"{words}, and this tree, which is better than it already, {_number(own)}"
        if own <= loss + close:
            return f"{words}, and this tree just as much"
        return f"{words}, and this tree {_number(own)}"

    def _copy_in_words(self, copy: Copy | None) -> str:
        """The theorem about a tree that answers as the reference of the cuts does."""
        if copy is None or self.copy_objective is None:
            return ""
        size = f"{_count(copy.n_leaves, 'leaf', 'leaves')} and depth {copy.depth}"
        answers = f". A tree of {size} answers all rows as it does"
        bound = (
            f"an objective of at most {_number(self.copy_objective)} "
            "(theorem 4.1 of McTavish et al., 2022)"
        )
        if self.copy_is_allowed:
            return f"{answers}, so that the best one has {bound}"
        return f"{answers}, but is beyond the limits; without them, the best one has {bound}"

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
        gaps = ""
        if self.missing:
            columns = _count(len(self.missing), "column")
            gaps = f"; missing values, of {columns}, go left or right at each, or are asked for"
            if self.own_branch:
                gaps = f"; those of {columns} only after the question whether the value is missing"
        if self.sets:
            gaps = f"; any set of values of {_count(len(self.sets), 'column')}{gaps}"
        return (
            f"any of {_count(self.n_cuts, 'cut')} of {_count(len(self.cuts), 'column')} "
            f"({self.thresholds}{gaps})"
        )


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"1 {one}" if n == 1 else f"{n:,} {many or one + 's'}"


def _number(x: float) -> str:
    return f"{x:.6g}"


def _plain(value: Any) -> Any:
    """A value as JSON can hold it: numbers that are infinite or unknown as null, and what JSON has
    no type for as its text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (str, int, float)) else str(value)
