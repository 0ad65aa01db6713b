"""A report of a fitted model: one file of HTML that loads nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.utils.validation import check_is_fitted

from certree import notebook
from certree.export.to_sql import Dialect
from certree.reporting import held_out, page, sections
from certree.tree import Tree


def report(
    model: Any,
    X_test: Any = None,
    y_test: Any = None,
    sensitive: Any = None,
    path: str | os.PathLike[str] = "report.html",
    *,
    frontier: pl.DataFrame | None = None,
    dialect: Dialect = "duckdb",
    statement: str | None = None,
) -> Path:
    """Write a report of a fitted model, or of a tree: one HTML file that needs no network.

    It has the tree as a picture and as rules to fold and search; of each leaf its rule, its rows,
    the shares of classes with intervals, and its condition in SQL; the certificate in plain words;
    on held-out rows measures with bootstrap intervals; the data; a paragraph on methods for a
    paper; and versions. It can be printed.

    Parameters
    ----------
    model : a fitted estimator of certree, or a Tree
        A tree alone, such as one that was read from JSON, knows neither its certificate nor the
        parameters that it was fitted with.
    X_test : frame or array, default=None
        Rows that the model was not fitted to.
    y_test : default=None
        What is true of them: labels, numbers, or the name of a column of ``X_test``. For
        ``OptimalCostTree`` and ``OptimalPolicyTree`` the cost or reward of each label, rows ×
        labels; for ``OptimalSurvivalTree`` a pair of times and events.
    sensitive : vector or str, default=None
        The group of each row of ``X_test``, or the name of its column: rates are shown by group.
    path : str or path, default="report.html"
        The file to write.
    frontier : polars.DataFrame, default=None
        What :func:`frontier` answered, to be shown, too.
    dialect : str, default="duckdb"
        Of the conditions in SQL, as for :meth:`Tree.to_sql`.
    statement : str, default=None
        Of a tree alone, what was proved when it was fitted: ``certificate_.statement()``.

    Returns
    -------
    pathlib.Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> import certree
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = certree.OptimalTreeClassifier(max_depth=2, thresholds=8).fit(X[:400], y[:400])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = certree.report(model, X[400:], y[400:], path=f"{folder}/report.html")
    ...     file.name, "On held-out rows" in file.read_text(encoding="utf-8")
    ('report.html', True)
    """
    if isinstance(model, Tree):
        tree, name, positive_label = model, "Tree", None
    elif hasattr(model, "get_params") and hasattr(type(model), "certify"):
        check_is_fitted(model)
        tree, name = model.tree_, type(model).__name__
        positive_label = getattr(model, "positive_label", None)
        if statement is not None:
            raise ValueError("statement is for a Tree: an estimator has its own certificate")
    else:
        raise TypeError(
            "a report is of a fitted estimator of certree, or of a Tree, not of a "
            f"{type(model).__name__}"
        )
    if X_test is None and (y_test is not None or sensitive is not None):
        raise ValueError("y_test and sensitive speak of the rows of X_test, which is not given")
    rows = None
    if X_test is not None:
        rows = held_out.read(tree, X_test, y_test, sensitive, positive_label)
    parts = [_of_tree(tree, rows, dialect)]
    if tree is model:
        if statement is not None:
            parts.append(("certificate", "The certificate", notebook.sentences(statement)))
        parts += [] if rows is None else held_out.sections(tree, rows)
        parts += _of_frontier(frontier)
        parts.append(("data", "The data", sections.columns_section(tree)))
        parts.append(("versions", "Versions", sections.software()))
    else:
        parts.append(
            ("certificate", "The certificate", sections.certificate_section(model.certificate_))
        )
        parts += [] if rows is None else held_out.sections(tree, rows)
        parts += _of_model(model, frontier)
    written = Path(path)
    written.write_text(page.page(f"{name}: report", parts), encoding="utf-8")
    return written


#: A section: its id, its title, and its HTML.
Section = tuple[str, str, str]


def _of_tree(tree: Tree, rows: held_out.HeldOut | None, dialect: str) -> Section:
    counts = None
    if rows is not None:
        ids, found = np.unique(rows.leaves, return_counts=True)
        counts = dict(zip(ids.tolist(), found.tolist()))
    return "tree", "The tree", sections.tree_section(tree, counts, dialect)


def _of_frontier(frontier: pl.DataFrame | None) -> list[Section]:
    if frontier is None:
        return []
    return [("frontier", "The frontier", sections.frontier_section(frontier))]


def _of_model(model: Any, frontier: pl.DataFrame | None) -> list[Section]:
    """What only a fitted model knows."""
    certificate = model.certificate_
    parts = []
    if certificate.constraints:
        parts.append(("constraints", "Constraints", sections.constraints_section(certificate)))
    parts += _of_frontier(frontier)
    versions = sections.software() + sections.parameters(model)
    return [
        *parts,
        ("data", "The data", sections.data_section(model)),
        ("methods", "Methods", sections.methods_section(model)),
        ("versions", "Versions", versions),
    ]
