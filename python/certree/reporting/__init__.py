"""A report of a fitted model: one file of HTML that loads nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.utils.validation import check_is_fitted

from certree.export.to_sql import Dialect
from certree.reporting import held_out, page, sections


def report(
    model: Any,
    X_test: Any = None,
    y_test: Any = None,
    sensitive: Any = None,
    path: str | os.PathLike[str] = "report.html",
    *,
    frontier: pl.DataFrame | None = None,
    dialect: Dialect = "duckdb",
) -> Path:
    """Write a report of a fitted model: one HTML file that needs no network.

    It has the tree as a picture and as rules to fold and search; of each leaf its rule, its rows,
    the shares of classes with intervals, and its condition in SQL; the certificate in plain words;
    on held-out rows measures with bootstrap intervals; the data; a paragraph on methods for a
    paper; and versions. It can be printed.

    Parameters
    ----------
    model : a fitted estimator of certree
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
    if not (hasattr(model, "get_params") and hasattr(type(model), "certify")):
        raise TypeError(f"a report is of a fitted estimator of certree, not {type(model).__name__}")
    check_is_fitted(model)
    if X_test is None and (y_test is not None or sensitive is not None):
        raise ValueError("y_test and sensitive speak of the rows of X_test, which is not given")
    text = _html(model, X_test, y_test, sensitive, frontier, dialect)
    written = Path(path)
    written.write_text(text, encoding="utf-8")
    return written


def _html(
    model: Any,
    X_test: Any,
    y_test: Any,
    sensitive: Any,
    frontier: pl.DataFrame | None,
    dialect: str,
) -> str:
    certificate = model.certificate_
    rows = None if X_test is None else held_out.read(model, X_test, y_test, sensitive)
    counts = None
    if rows is not None:
        ids, found = np.unique(rows.leaves, return_counts=True)
        counts = dict(zip(ids.tolist(), found.tolist()))
    parts = [
        ("tree", "The tree", sections.tree_section(model.tree_, counts, dialect)),
        ("certificate", "The certificate", sections.certificate_section(certificate)),
    ]
    if rows is not None:
        parts += held_out.sections(model, rows)
    if certificate.constraints:
        parts.append(("constraints", "Constraints", sections.constraints_section(certificate)))
    if frontier is not None:
        parts.append(("frontier", "The frontier", sections.frontier_section(frontier)))
    parts += [
        ("data", "The data", sections.data_section(model)),
        ("methods", "Methods", sections.methods_section(model)),
        ("versions", "Versions", sections.versions_section(model)),
    ]
    return page.page(f"{type(model).__name__}: report", parts)
