"""The certificate of a search: what was searched, and what was proved of the tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from certree import _core, ingest
from certree.certificate import Certificate
from certree.estimators import _notes, _searched, parameters
from certree.estimators._posed import Posed
from certree.fitted import Fitted
from certree.tree import Tree


def certificate(
    estimator: Any,
    answer: _core.Answer,
    posed: Posed,
    fitted: Fitted,
    tree: Tree,
    larger: Certificate | None = None,
) -> Certificate:
    """What the search proved of this tree. It is made of what was fitted; of the estimator only the
    limits of this run are read, and how it says what was guessed. ``larger``: of the same problem
    with more leaves, which says the same of the columns."""
    found = Certificate(
        status=answer.status,
        route=answer.route,
        objective=answer.objective,
        lower_bound=answer.lower_bound,
        n_leaves=tree.n_leaves,
        loss=posed.loss,
        leaf_penalty=fitted.leaf_penalty if posed.leaf_penalty is None else posed.leaf_penalty,
        max_depth=fitted.max_depth,
        max_leaf_nodes=fitted.max_leaf_nodes,
        min_samples_leaf=fitted.min_samples_leaf,
        thresholds=_thresholds_in_words(posed.thresholds),
        cuts={each.column.name: n_splits(each, fitted.missing) for each in posed.cuts},
        missing=[each.column.name for each in posed.cuts if each.missing],
        own_branch=fitted.missing == "own_branch",
        sets=[each.column.name for each in posed.cuts if each.way.sets],
        n_rows=posed.points.n_rows,
        n_points=posed.points.n_points,
        n_partitions=posed.training.n_partitions,
        time_limit=estimator.time_limit,
        memory_limit=estimator.memory_limit,
        gap_limit=float(estimator.gap_limit),
        seconds=answer.seconds,
        nodes=answer.nodes,
        kernel_calls=answer.kernel_calls,
        peak_bytes=answer.peak_bytes,
        bounds=answer.bounds,
        threads=parameters.threads(estimator.n_jobs),
        # The search rounds its bounds down; the last moment is what was certified.
        curve=[*answer.curve[:-1], (answer.seconds, answer.objective, answer.lower_bound)],
        constraints=posed.met(answer.attained) if posed.met else [],
        path_rules=posed.problem.path_rules,
        notes=_notes.of(posed) if larger is None else larger.notes,
        reference=posed.reference,
        # The guess says something of this tree only once the search with it is complete.
        guessed=(
            estimator._guessed[posed.problem.guessed_by].format(posed.reference)
            if answer.status == "optimal_given_guess" and posed.problem.guessed_by
            else None
        ),
        guessed_by=posed.problem.guessed_by,
        reference_loss=posed.reference_loss,
        cuts_reference=posed.cuts_reference,
        searched=(
            _searched.searched(posed.cuts, posed.thresholds, posed.losses)
            if larger is None
            else larger.searched
        ),
    )
    return _of_a_leaf(found, posed) if posed.cut_short else found


def n_splits(cuts: ingest.Cuts, missing: str) -> int:
    """How many different splits a column offers."""
    if missing == "own_branch" and cuts.missing:
        return cuts.n_known + 1
    return cuts.count


def _of_a_leaf(certificate: Certificate, posed: Posed) -> Certificate:
    """The certificate of the best single leaf, where the time was over before the columns were
    read: of all other trees only that they cannot lose less than nothing at all."""
    bound = min(posed.least_loss + certificate.leaf_penalty, certificate.objective)
    last = (certificate.seconds, certificate.objective, bound)
    return replace(certificate, status="time_limit", lower_bound=bound, curve=[last])


def _thresholds_in_words(thresholds: Any) -> str:
    """Where the cuts came from, for the certificate."""
    if isinstance(thresholds, str):
        which = "midpoints" if thresholds == "midpoints" else "cuts"
        return f"all {which} between neighbouring values"
    if isinstance(thresholds, Mapping):
        return "thresholds given by the user where named, else all cuts"
    if parameters.is_guesser(thresholds):
        return (
            f"guessed from a {type(thresholds.reference_).__name__}: the proof speaks of these "
            "cuts only"
        )
    if hasattr(thresholds, "thresholds_"):
        return "the thresholds of a fitted binarizer"
    return f"at most {thresholds} quantiles for each column of numbers or dates"
