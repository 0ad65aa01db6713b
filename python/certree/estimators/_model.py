"""What a fitted estimator is asked: where rows go, what columns are worth, and why not another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from certree import ingest, notebook
from certree.certificate import Certificate
from certree.estimators import _why_not
from certree.fitted import Fitted
from certree.options import Status
from certree.tree import Tree

if TYPE_CHECKING:
    import polars as pl


class FittedModel(BaseEstimator):
    """The part of a tree estimator that reads what ``fit`` left behind."""

    tree_: Tree
    certificate_: Certificate
    objective_: float
    lower_bound_: float
    gap_: float
    status_: Status
    n_features_in_: int

    _fitted: Fitted

    def apply(self, X: Any) -> NDArray[np.uint32]:
        """The leaf that each row ends in, as an index into ``tree_.nodes``."""
        return self._fitted_tree(X).apply(X)

    def decision_path(self, X: Any) -> Any:
        """A sparse indicator matrix (rows × nodes): the nodes that each row passes."""
        return self._fitted_tree(X).decision_path(X)

    def honest(self, X: Any, y: Any, confidence: float = 0.95) -> pl.DataFrame:
        """What the leaves hold on rows that the search never saw, with intervals that hold for all
        leaves at once: see :meth:`Tree.honest`."""
        return self._fitted_tree(X).honest(X, y, confidence)

    def why_not(
        self, column: str, X: Any, *data: Any, threshold: Any = None, **fit_params: Any
    ) -> _why_not.WhyNot:
        """Why the tree does not begin with another column, or another split: what no tree that
        does can be better than.

        The search is repeated for the trees that begin so, within the limits of this model and of
        its run, such as ``time_limit``; where it is stopped, the bound holds nevertheless.

        Parameters
        ----------
        column : str
            The column of the first split.
        X, *data, **fit_params
            The data of the fit, as they were given to it.
        threshold : default=None
            The first split itself: ``column <= threshold``; of a category one value, or a list of
            values that go together. It need not be one of the searched cuts. Without it, any split
            on the column.

        Returns
        -------
        WhyNot
            With ``lower_bound``, ``worse_by``, the best such ``tree``, and ``statement()``.

        Examples
        --------
        >>> from certree import OptimalTreeClassifier
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> model = OptimalTreeClassifier(max_depth=2).fit(X, y)
        >>> found = model.why_not("sepal length (cm)", X, y)
        >>> round(found.lower_bound, 3), round(found.worse_by, 3)
        (0.1, 0.03)
        """
        check_is_fitted(self)
        return _why_not.why_not(self, column, threshold, X, data, fit_params)

    def get_depth(self) -> int:
        """The depth of the tree; a single leaf has depth 0."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much the training loss rises if the splits on a column are answered at random, as
        shares of all columns'.

        At random means: each split on the column sends a row left with the share of the training
        weight that it sent left. A row on its own side goes on by its own answers; one that is on
        the other side is spread over the leaves there as the training weight is. The rise is
        computed exactly from what the nodes hold. A column whose split gains nothing by itself, but
        without which the splits below it are of no use, has its part; a column that the tree does
        not use has 0. All are zero for a tree that knows no more than a single leaf.

        Where nodes hold answers that do not tell what other rows would lose by them (rates,
        quantiles, hazards, class shares, answers of a task of your own), the rise is that of making
        the splits on the column leaves.
        """
        from certree.estimators import _importances

        check_is_fitted(self)
        return _importances.importances(self)

    def _held_out_loss(self, X: Any, *data: Any, **more: Any) -> float:
        """The loss of the fitted tree on these rows, which have the arguments of ``fit``: what the
        objective has besides ``leaf_penalty``. On the training rows it is the same number."""
        raise NotImplementedError

    def _recalled(self, **given: Any) -> dict[str, Any]:
        """The arguments of a score. One that is None is read from the column of X that ``fit`` was
        given by name, if it was: so scikit-learn's tools can score with X alone."""
        check_is_fitted(self)
        return self._fitted.recalled(given)

    def _fitted_tree(self, X: Any) -> Tree:
        """The tree, once X is known to be something it can read."""
        check_is_fitted(self)
        if self._fitted.missing == "refuse":
            # scikit-learn promises an error for a missing value anywhere in an array, not just
            # where the tree looks.
            ingest.refuse_missing_in_arrays(X)
        return self.tree_

    def _repr_html_inner(self) -> str:
        """The parameters, as scikit-learn shows them, and the tree."""
        return str(super()._repr_html_inner()) + notebook.of_model(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += notebook.of_model(self)
        return bundle
