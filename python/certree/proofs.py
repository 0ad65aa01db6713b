"""Proofs that others can check: an instance of the problem, and why no tree of it is better."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import Any

from sklearn.utils.validation import check_is_fitted

from certree import _core
from certree.estimators import OptimalCostTree, OptimalTreeClassifier, _groups


@dataclass(frozen=True)
class Proof:
    """What :func:`prove` wrote."""

    #: The files.
    instance: Path
    proof: Path
    #: Of the instance, in hexadecimal: who has both the table and this can ask for the rest.
    sha256: str
    #: No tree costs less, in the instance's units.
    bound: int
    #: Steps of the proof, which a checker takes.
    lemmas: int
    #: Steps of the search that found it.
    looks: int
    n_bytes: int

    def how_to_check(self) -> str:
        """The command that checks it."""
        return f"certree-check {self.instance} {self.proof}"


def prove(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    instance: str | PathLike[str],
    proof: str | PathLike[str],
) -> Proof:
    """Write down why no tree is better than that of a fitted model, for programs that check it.

    The instance is the problem as text: each training point with its answers to all questions and
    what it costs under each label. The proof has the tree, and what a checker needs to see that no
    tree of the instance costs less. ``certree-check``, a program of a few hundred lines that shares
    no code with certree, and ``python -m certree.check_proof`` read both. Of a search that was
    stopped its lower bound is proved.

    It is for losses that add up over rows by label (errors, costs of classes, of rows), with
    ``leaf_penalty`` and ``max_depth``, and for at most 4,096 cuts; anything else is an error.
    ``time_limit`` of the model holds for the proof, too.

    Parameters
    ----------
    model : estimator
        A fitted one.
    X, y, sample_weight :
        The data of the fit, as they were given to it.
    instance, proof : path
        The files to write, such as ``tree.ctd`` and ``tree.ctp``.

    Returns
    -------
    Proof

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import certree
    >>> from certree.check_proof import check
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = certree.OptimalTreeClassifier(max_depth=3).fit(X, y)
    >>> folder = Path(tempfile.mkdtemp())
    >>> proof = certree.prove(model, X, y, instance=folder / "d.ctd", proof=folder / "p.ctp")
    >>> print(check(proof.instance.read_bytes(), proof.proof.read_bytes()).kind)
    VERIFIED
    """
    check_is_fitted(model)
    model._fitted.check_parameters(model)
    if not isinstance(model, (OptimalTreeClassifier, OptimalCostTree)):
        raise ValueError(
            f"proofs are for OptimalTreeClassifier and OptimalCostTree, not {type(model).__name__}"
        )
    if model.status_ == "optimal_given_guess":
        raise ValueError(
            "the tree is the best if the guess of its reference is right, which no proof shows: "
            "certify() it first"
        )
    if model.missing == "own_branch":
        raise ValueError('there is no proof with missing="own_branch"; use missing="learn"')
    with model._budget(monotonic()) as left:
        with left.patient():
            known = getattr(model, "guesser_", model.thresholds)
            posed = model._pose_in_order((X, y, sample_weight), known)
        model._fitted.check_data(posed.problem.digest, True)
        tree = _groups.to_core(model.tree_._core, posed.cuts)
        lower = None if model.status_ == "optimal" else model.lower_bound_
        about, limits = json.dumps(_about(model)), model._limits(left)
        text, steps, bound, lemmas, looks = _core.prove(
            posed.problem, tree, about, limits, lower
        )
    written = text.encode()
    Path(instance).write_bytes(written)
    Path(proof).write_bytes(steps)
    sha256 = hashlib.sha256(written).hexdigest()
    return Proof(Path(instance), Path(proof), sha256, bound, lemmas, looks, len(steps))


def _about(model: Any) -> dict[str, Any]:
    """What the instance says of the model, for whoever compares it with a table."""
    return {
        "classes": [str(name) for name in getattr(model, "classes_", [])],
        "loss": model.certificate_.loss,
        "leaf_penalty": model.certificate_.leaf_penalty,
    }
