"""Proofs that others can check: an instance of the problem, and why no tree of it is better."""

from __future__ import annotations

from os import PathLike
from typing import Any

from sklearn.utils.validation import check_is_fitted

from certree.estimators._proof import Proof, write

__all__ = ["Proof", "prove"]


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
    what it costs under each label, or its weight, sum and squares. The proof has the tree, and what
    a checker needs to see that no tree of the instance costs less. ``certree-check``, a small
    program that shares no code with certree, and ``python -m certree.check_proof`` read both. Of a
    search that was stopped its lower bound is proved.

    It is for losses that add up over rows by label (errors, costs of classes, of rows) and for
    squared errors, with ``leaf_penalty``, ``max_depth``, ``min_samples_leaf``, and
    ``max_leaf_nodes`` up to 64; for F-beta and Jaccard without a penalty, at the ratio of the tree;
    and for at most 16,384 cuts.
    Anything else is an error.
    ``time_limit`` of the model holds for the proof, too. The model's ``certificate_`` says
    afterwards where the proof is, and how to check it.

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
    return write(model, (X, y, sample_weight), instance, proof)
