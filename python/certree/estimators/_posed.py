"""A problem that is posed: what the search takes, and what shows its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core, ingest
from certree.certificate import CutsReference
from certree.constraints import Met
from certree.generalization import REFUSED, Losses
from certree.tree import Tree


@dataclass(frozen=True)
class Posed:
    """A problem that is ready to be solved, and what shows its answer."""

    problem: _core.Problem
    training: ingest.Training
    cuts: Sequence[ingest.Cuts]
    points: ingest.Points
    labels: NDArray[Any]
    #: The loss in words.
    loss: str
    #: The thresholds that were asked for: a guesser is fitted.
    thresholds: Any
    #: The reference that lower bounds are guessed from, in words, and its loss.
    reference: str | None = None
    reference_loss: float | None = None
    #: The reference that cuts are guessed from, if more is known of it than its name.
    cuts_reference: CutsReference | None = None
    #: Gives the tree whose nodes hold what the user is to see.
    show: Callable[[Tree], Tree] | None = None
    #: As above, from the leaf of each training row that weighs something.
    show_by_row: Callable[[Tree, NDArray[np.uint32]], Tree] | None = None
    #: Makes the constraints, their limits and values of what the core says that they attain.
    met: Callable[[list[float]], list[Met]] | None = None
    #: Attributes of the fitted estimator beside its tree.
    attributes: Mapping[str, Any] = field(default_factory=dict)
    #: The cost of a leaf, where the parameter of this name does not say it.
    leaf_penalty: float | None = None
    #: No tree of any shape has a lower loss, whatever the columns hold.
    least_loss: float = 0.0
    #: What the loss on one row is, so that something can be said of new rows.
    losses: Losses = REFUSED

    @property
    def cut_short(self) -> bool:
        """True if the time was over before the columns were read: the problem has no cuts."""
        return self.points.cut_short

    @property
    def digest(self) -> str | None:
        """Of the data; None where they were not read."""
        return None if self.cut_short else self.problem.digest
