"""What the training rows say of new ones, for every tree of the searched set at once.

The set is counted. One tree's mean loss on n independent rows strays from its true mean by a known
law, and by the sum over all trees (the union bound) none of them strays further than told here. So
it does not matter that the search chose the tree by these very rows.

**Cuts that do not depend on the rows.** Let k trees have so many leaves, and losses be in [0, 1]. A
tree's mean loss q over n rows is at most q where its true mean is p > q with a probability of at
most exp(-n kl(q, p)) (Hoeffding 1963, theorem 1). For k trees that is at most δ if
kl(q, p) = ln(k / δ) / n. So p, the inverse of kl, bounds the true mean of all of them.

**Cuts that the rows decide.** Think of m more rows, the ghosts, that nobody draws. If some tree has
a true mean of at least u, its mean over the ghosts is at least u - 1 / (2 √m) with a probability of
at least 1/2 (Cantelli: the variance is at most 1 / (4 m)). On all N = n + m rows a column has at
most N + 1 cuts that differ, so that k trees differ there, and given the N rows the n are drawn from
them without replacement, for which Hoeffding's bound holds, too (his theorem 4): a tree whose mean
over all N is p has a mean of at most q over the n with a probability of at most
exp(-n kl(q, p)). So with 2 k in place of k, and the mean over all N being
(n q + m (u - 1 / (2 √m))) / N, u bounds the true mean of all trees, whatever the rows made of their
cuts. Here m = 32 n.

**Every size at once.** Trees with L leaves get δ / (L (L + 1)), which adds up to δ over all L.

**Leaves that answer numbers.** Numbers in a range are rounded to a grid of n + 1 of them, which
changes the squared error of a row by no more than 1 / n of the range's square, once in training and
once in truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

GHOSTS = 32
"""For each row, so many that are thought of."""

MOST_COUNTED = 64
"""Leaves up to which trees are counted by their shapes; beyond, shapes are at most 4^(leaves - 1).
"""


@dataclass(frozen=True)
class Questions:
    """How many questions a column offers: so many that do not depend on the rows, and so many for
    each cut between values, if the rows decide where these are."""

    fixed: int
    per_cut: int = 0

    def count(self, n_rows: int) -> int:
        """On so many rows."""
        return self.fixed + self.per_cut * (n_rows + 1)


@dataclass(frozen=True)
class Losses:
    """What is known of a tree's loss on one row."""

    #: Why nothing is said; None where something is.
    refused: str | None
    #: How many labels a leaf can have; None where it answers a number.
    n_labels: int | None = None
    #: The least and the largest loss of a row; None where the user has to tell it.
    range: tuple[float, float] | None = None
    #: What the range is of, in words, and the least and the largest one in training.
    of: str = ""
    seen: tuple[float, float] | None = None
    #: The mean loss over rows is so many times the loss of the objective.
    scale: float = 1.0


REFUSED = Losses("its loss is not a mean over rows of losses that are bounded")


@dataclass(frozen=True)
class Searched:
    """The set of trees that was searched, as far as it can be counted."""

    questions: tuple[Questions, ...]
    losses: Losses
    #: Columns whose values are taken for all that there are.
    categories: tuple[str, ...]


@dataclass(frozen=True)
class Generalization:
    """What holds of new rows, with this confidence, if the training rows and the new ones are drawn
    independently from one population.

    All of it holds at once, for each tree of the searched set."""

    confidence: float
    #: The mean loss on the training rows.
    training_loss: float
    #: The true mean loss of this tree is at most this.
    upper: float
    #: No tree of the searched set has a true mean loss below this.
    lower: float
    n_leaves: int
    n_rows: int
    #: The natural logarithm of how many trees with so many leaves there are: with cuts that the
    #: rows decide, of how many differ on the rows and their ghosts.
    log_trees: float
    #: Whether no cut depends on the rows.
    fixed_cuts: bool
    #: What else is taken for granted, each as a sentence without its end.
    assumed: tuple[str, ...] = ()

    @property
    def advantage(self) -> float:
        """No tree of the searched set is truly better than this one by more."""
        return self.upper - self.lower

    def statement(self) -> str:
        """All of it as plain sentences."""
        which = "that do not depend on the rows" if self.fixed_cuts else "that the rows decide"
        told = [
            f"With confidence {self.confidence:g}, if rows are independent and new ones come from "
            f"the same population: the true mean loss of this tree is at most {self.upper:.4g} "
            f"(on the {self.n_rows:,} training rows {self.training_loss:.4g}), and no searched "
            f"tree is truly better by more than {self.advantage:.4g}.",
            f"Counted: e^{self.log_trees:.1f} trees with as many leaves, {self.n_leaves:,}, over "
            f"cuts {which}.",
            *(f"Taken for granted: {each}." for each in self.assumed),
        ]
        return "\n".join(told)

    def __str__(self) -> str:
        return self.statement()


def generalization(
    certificate: Any, searched: Searched, confidence: float, given: Sequence[float] | None
) -> Generalization:
    """What the certificate of a search over this set says of new rows."""
    check_confidence(confidence)
    losses = searched.losses
    if losses.refused is not None:
        raise ValueError(f"nothing can be said of new rows here: {losses.refused}")
    low, high = _range(losses, given)
    numbers = losses.n_labels is None
    width = (high - low) ** 2 if numbers else high - low
    base = 0.0 if numbers else low
    n = certificate.n_rows
    fixed = not any(each.per_cut for each in searched.questions)
    n_questions = sum(each.count((GHOSTS + 1) * n) for each in searched.questions)
    n_labels = n + 1 if losses.n_labels is None else losses.n_labels
    # Half of what may fail is for the upper bounds, and half for the lower ones.
    risk = (1.0 - confidence) / 2
    most = _most_leaves(certificate)
    depth = certificate.max_depth
    counted = log_counts(
        n_questions, n_labels, max(min(most, MOST_COUNTED), certificate.n_leaves), depth, fixed
    )

    def share(loss: float) -> float:
        """A mean loss in [0, 1]."""
        return min(max((loss * losses.scale - base) / width, 0.0), 1.0) if width > 0 else 0.0

    def deviation(leaves: int, log_trees: float) -> float:
        return (log_trees + math.log(leaves * (leaves + 1) / risk)) / n

    own, slack = counted[certificate.n_leaves], 1.0 / n if numbers else 0.0
    law = _of_new_rows if fixed else _of_ghosts
    mean = share(certificate.training_loss)
    upper = law(min(mean + slack, 1.0), deviation(certificate.n_leaves, own), n, 1) + slack
    lowest = 1.0
    sizes = {leaves: counted[leaves] for leaves in range(1, min(most, MOST_COUNTED) + 1)}
    if most > MOST_COUNTED:
        # Larger trees have a lower loss and are more, so that the largest stand for them.
        sizes[most] = _roughly(n_questions, n_labels, most)
    for leaves, log_trees in sizes.items():
        if log_trees == -math.inf:
            continue
        least = share(certificate.lower_bound - certificate.leaf_penalty * leaves)
        bound = law(max(least - slack, 0.0), deviation(leaves, log_trees), n, -1)
        lowest = min(lowest, bound - slack)
    upper, lowest = min(upper, 1.0), max(min(lowest, upper), 0.0)
    return Generalization(
        confidence,
        base + width * mean,
        base + width * upper,
        base + width * lowest,
        certificate.n_leaves,
        n,
        own,
        fixed,
        _assumed(searched, certificate, fixed),
    )


def check_confidence(confidence: Any) -> None:
    """A ValueError unless it is a number between 0 and 1."""
    is_number = isinstance(confidence, (int, float)) and not isinstance(confidence, bool)
    if not is_number or not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r} is not valid: it must be between 0 and 1")


def _range(losses: Losses, given: Sequence[float] | None) -> tuple[float, float]:
    if given is None:
        if losses.range is None:
            raise ValueError(
                f"range=(least, largest) is needed, of {losses.of}: it must be known before the "
                "rows were seen, because without one a single new row can weigh any amount"
            )
        return losses.range
    if losses.range is not None:
        raise ValueError(f"range is known here, it is {losses.range}: leave it out")
    try:
        low, high = map(float, given)
    except (TypeError, ValueError):
        raise ValueError(f"range={given!r} is not valid: it must be two numbers") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"range={given!r} is not valid: it must be two numbers that ascend")
    if losses.seen is not None and not (low <= losses.seen[0] and losses.seen[1] <= high):
        raise ValueError(
            f"range={given!r} is not that of {losses.of}: in training there are {losses.seen[0]:g} "
            f"to {losses.seen[1]:g}"
        )
    return low, high


def _most_leaves(certificate: Any) -> int:
    """No tree of the searched set has more."""
    limits = [max(certificate.n_rows // max(certificate.min_samples_leaf, 1), 1)]
    if certificate.max_depth is not None:
        limits.append(2 ** min(certificate.max_depth, 64))
    if certificate.max_leaf_nodes is not None:
        limits.append(certificate.max_leaf_nodes)
    return max(min(limits), certificate.n_leaves)


def log_counts(
    n_questions: int, n_labels: int, most: int, depth: int | None, once: bool
) -> list[float]:
    """The logarithm of how many trees with so many leaves there are, at the place of that number.

    ``once``: a path asks no question twice, because the second time a child would have no rows.

    >>> [round(math.exp(each)) for each in log_counts(3, 2, 3, None, once=False)[1:]]
    [2, 12, 144]
    """
    exact = min(most, MOST_COUNTED)
    levels = exact - 1 if depth is None else min(depth, exact - 1)
    # At the deepest level there are only leaves.
    counts = [0] * (exact + 1)
    counts[1] = n_labels
    for level in range(levels - 1, -1, -1):
        choices = max(n_questions - level, 0) if once else n_questions
        above = [0] * (exact + 1)
        above[1] = n_labels
        for leaves in range(2, exact + 1):
            pairs = sum(counts[left] * counts[leaves - left] for left in range(1, leaves))
            above[leaves] = choices * pairs
        counts = above
    found = [math.log(count) if count else -math.inf for count in counts]
    found += [_roughly(n_questions, n_labels, leaves) for leaves in range(exact + 1, most + 1)]
    return found


def _roughly(n_questions: int, n_labels: int, leaves: int) -> float:
    """The logarithm of at least as many trees as there are: a shape has one of 4^(leaves - 1)."""
    if n_questions == 0 and leaves > 1:
        return -math.inf
    splits = leaves - 1
    return splits * math.log(4 * max(n_questions, 1)) + leaves * math.log(n_labels)


def divergence(q: float, p: float) -> float:
    """kl(q, p) of two shares."""
    found = 0.0
    if q > 0:
        found += q * math.log(q / p) if p > 0 else math.inf
    if q < 1:
        found += (1 - q) * math.log((1 - q) / (1 - p)) if p < 1 else math.inf
    return found


def inverse(q: float, deviation: float, side: int) -> float:
    """The share furthest above (1) or below (-1) q whose divergence from it is no more.

    >>> round(inverse(0.1, 0.01, 1), 4), round(inverse(0.1, 0.01, -1), 4)
    (0.1477, 0.0629)
    """
    near, far = q, 1.0 if side > 0 else 0.0
    for _ in range(100):
        middle = (near + far) / 2
        near, far = (middle, far) if divergence(q, middle) <= deviation else (near, middle)
    return far


def _of_new_rows(q: float, deviation: float, n: int, side: int) -> float:
    """The true mean at the furthest, of trees with cuts that do not depend on the rows."""
    return inverse(q, deviation, side)


def _of_ghosts(q: float, deviation: float, n: int, side: int) -> float:
    """The true mean at the furthest, of trees with cuts that the rows decide."""
    over_all = inverse(q, deviation + math.log(2) / n, side)
    return over_all + (over_all - q) / GHOSTS + side / (2 * math.sqrt(GHOSTS * n))


def _assumed(searched: Searched, certificate: Any, fixed: bool) -> tuple[str, ...]:
    found = []
    if searched.losses.n_labels is not None:
        found.append("the labels that there are were known before the rows were seen")
    if searched.categories:
        names = ", ".join(searched.categories[:5])
        more = len(searched.categories) - 5
        names += f" and {more} more" if more > 0 else ""
        found.append(
            f"the values of {names}, and whether they are asked for one by one or as sets, were "
            "known before the rows were seen"
        )
    whole = not certificate.missing or len(certificate.missing) < len(certificate.cuts)
    if whole and certificate.cuts:
        found.append("columns without a missing value in training never have one")
    if fixed and "given by the user" in certificate.thresholds:
        found.append("the thresholds that were given were not chosen by these rows")
    return tuple(found)
