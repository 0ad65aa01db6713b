"""The ways of a tree out of Python, as methods of :class:`certree.Tree`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from certree.export import (
    encode,
    to_c,
    to_dot,
    to_javascript,
    to_json,
    to_matplotlib,
    to_onnx,
    to_pmml,
    to_polars,
    to_python,
    to_rust,
    to_sklearn,
    to_sql,
    to_svg,
    to_text,
)
from certree.export.to_sql import Dialect
from certree.export.walk import Output

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from onnx import ModelProto

    from certree.tree import Tree


class Exports:
    """What a :class:`certree.Tree` can be written as: text, documents, code and pictures."""

    def to_text(self) -> str:
        """The tree for people: every branch with its own condition, every leaf with what it holds.
        """
        return to_text.to_text(_tree(self))

    def to_json(self, indent: int | None = 2) -> str:
        """The tree as a JSON document (docs/tree-json.md) that :meth:`from_json` reads back
        exactly.

        ``indent=None`` puts all of it on one line.
        """
        return to_json.to_json(_tree(self), indent)

    def to_dot(self) -> str:
        """The tree in Graphviz's language: ``dot -Tsvg tree.dot -o tree.svg`` draws it."""
        return to_dot.to_dot(_tree(self))

    def to_svg(
        self,
        names: Mapping[str, str] | Sequence[str] | None = None,
        labels: Mapping[Any, str] | Sequence[str] | None = None,
        max_depth: int | None = None,
    ) -> str:
        """The tree as a picture in SVG, which browsers, notebooks and documents show.

        Cards hold what their nodes do: rows and class shares, a mean with its spread, mean costs or
        rewards, or a survival curve. Leaves are coloured by answer, edges are as wide as the rows
        that go there, and a tooltip tells each rule with its exact thresholds (the picture rounds
        long ones to six digits). Colours are told apart by people who see them differently, and
        follow the reader's choice of light or dark.

        Parameters
        ----------
        names : mapping or sequence of str, default=None
            Other names for columns, by the column's name, or one for each column in their order.
        labels : mapping or sequence of str, default=None
            Other texts for the labels, by label or in their order; of a tree that answers numbers
            or several targets, for the names of these.
        max_depth : int or None, default=None
            Splits at this depth are drawn as one dashed card with what is below them in one.

        Returns
        -------
        str

        Examples
        --------
        >>> from certree import OptimalTreeClassifier
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> tree = OptimalTreeClassifier(max_depth=2).fit(X, y).tree_
        >>> picture = tree.to_svg(labels=["setosa", "versicolor", "virginica"])
        >>> picture[:4], picture.count('"listitem"')
        ('<svg', 5)
        """
        return to_svg.to_svg(_tree(self), names, labels, max_depth)

    def plot(
        self,
        ax: Axes | None = None,
        names: Mapping[str, str] | Sequence[str] | None = None,
        labels: Mapping[Any, str] | Sequence[str] | None = None,
        max_depth: int | None = None,
    ) -> Axes:
        """The picture of :meth:`to_svg` on matplotlib's axes, in light colours.

        It needs matplotlib (``pip install 'certree[plot]'``).

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; without it on a new figure, as large as the tree.
        names, labels, max_depth
            As for :meth:`to_svg`.

        Returns
        -------
        matplotlib Axes
        """
        return to_matplotlib.plot(_tree(self), ax, names, labels, max_depth)

    def to_polars(self, output: Literal["label", "leaf", "proba"] = "label") -> pl.Expr:
        """The tree as a polars expression, to score a frame lazily.

        ``output`` is ``"label"`` (a column ``label``; a struct of several numbers or targets),
        ``"leaf"`` (node ids, as :meth:`apply` gives them) or ``"proba"`` (a struct with the share
        of each class, or of several targets a struct of these). The frame has the columns, and the
        types, that the tree was fitted on. Nulls and NaN go where :meth:`predict` sends them; where
        it refuses them (``missing_unseen="refuse"``) the row scores null.
        """
        return to_polars.to_polars(_tree(self), output)

    def to_sql(self, output: Output = "label", dialect: Dialect = "duckdb") -> str:
        """The tree as SQL: what to write after SELECT, to score a table where it is.

        NULLs, and floats that are not a number, go where :meth:`predict` sends missing values;
        where it refuses them (``missing_unseen="refuse"``) the row scores NULL. Values of
        categories that were not there in training go as in :meth:`predict`, or score NULL if it
        refuses them (``unseen="refuse"``). Names are quoted, so that they are those of the training
        columns to the letter.

        Parameters
        ----------
        output : {"label", "proba", "leaf"}, default="label"
            A column ``label`` (``label_<name>`` for each of several numbers or targets), a column
            ``proba_<label>`` for each class with its share, or a column ``leaf`` with the ids that
            :meth:`apply` gives.
        dialect : {"duckdb", "postgres", "sqlite", "snowflake", "bigquery", "spark"}
            In SQLite, which has no dates, these are texts such as ``2021-03-05`` and
            ``2021-03-05 12:00:00.25``, in UTC where the column had a time zone.

        Returns
        -------
        str

        Examples
        --------
        >>> from certree import OptimalTreeClassifier
        >>> import polars as pl
        >>> people = pl.DataFrame({"age": [20, 30, 50, 60], "ill": ["no", "no", "yes", "yes"]})
        >>> print(OptimalTreeClassifier(max_depth=1).fit(people, "ill").tree_.to_sql())
        CASE WHEN ("age" <= 40.0 OR "age" IS NULL) THEN
          'no'
        ELSE
          'yes'
        END AS "label"
        """
        return to_sql.to_sql(_tree(self), output, dialect)

    def to_python(self, output: Output = "label", name: str = "predict") -> str:
        """The tree as the source of a Python function that imports nothing: it takes a mapping from
        columns to values, such as a ``dict``. None, and what differs from itself, is a missing
        value and goes where :meth:`predict` sends it; where it refuses it
        (``missing_unseen="refuse"``) the answer is None.

        Parameters
        ----------
        output : {"label", "proba", "leaf"}, default="label"
            Several numbers or targets, and shares of classes, are a tuple.
        name : str, default="predict"
            Of the function.

        Returns
        -------
        str

        Examples
        --------
        >>> from certree import OptimalTreeClassifier
        >>> import polars as pl
        >>> people = pl.DataFrame({"age": [20, 30, 50, 60], "ill": ["no", "no", "yes", "yes"]})
        >>> code = OptimalTreeClassifier(max_depth=1).fit(people, "ill").tree_.to_python()
        >>> names = {}
        >>> exec(code, names)
        >>> names["predict"]({"age": 41})
        'yes'
        """
        return to_python.to_python(_tree(self), output, name)

    def to_c(self, output: Output = "label", name: str = "predict") -> str:
        """The tree as the source of a function in C99, which needs the standard library alone.

        It takes a pointer to a ``struct`` with a member for each column that the tree tests, named
        like it in small letters, digits and underscores; the comment at the head says which is
        which. Missing values are NAN in numbers, negative in Booleans, and NULL of all others,
        which are pointers: texts in UTF-8, dates as 64-bit integers (days since 1970, or the unit
        of their type, in UTC where the column had a time zone), and integers with thresholds beyond
        2^53. The function returns 1 and writes its answer, or returns 0 of a row that
        :meth:`predict` refuses.

        Parameters
        ----------
        output : {"label", "proba", "leaf"}, default="label"
            What is answered; several numbers or targets are members of a ``struct``, and shares of
            classes an array.
        name : str, default="predict"
            Of the function; those of the structures begin with it.

        Returns
        -------
        str

        Examples
        --------
        >>> from certree import OptimalTreeClassifier
        >>> import polars as pl
        >>> people = pl.DataFrame({"age": [20, 30, 50, 60], "ill": ["no", "no", "yes", "yes"]})
        >>> code = OptimalTreeClassifier(max_depth=1).fit(people, "ill").tree_.to_c()
        >>> print(code[code.index("{", code.index(");")) :])
        {
            if (isnan(row->age) || row->age <= 40.0) {
                *answer = "no";
                return 1;
            } else {
                *answer = "yes";
                return 1;
            }
        }
        <BLANKLINE>
        """
        return to_c.to_c(_tree(self), output, name)

    def to_rust(self, output: Output = "label", name: str = "predict") -> str:
        """The tree as the source of a function in Rust (edition 2021), which needs the standard
        library alone and no ``unsafe``.

        It takes a reference to a ``struct`` with a field for each column that the tree tests, named
        like it in small letters, digits and underscores, beside a comment with the column's name.
        Fields are options, where None is a missing value: of ``f64`` (NaN is missing, too),
        ``bool``, ``&str``, and for dates ``i64`` (days since 1970, or the unit of their type, in
        UTC where the column had a time zone); of ``i64`` or ``u64`` for integers with thresholds
        beyond 2^53. The answer is an option, too: None of a row that :meth:`predict` refuses.

        Parameters
        ----------
        output : {"label", "proba", "leaf"}, default="label"
            What is answered; several numbers or targets are fields of a ``struct``, and shares of
            classes an array.
        name : str, default="predict"
            Of the function; those of the structures begin with it, in camel case.

        Returns
        -------
        str

        Examples
        --------
        >>> from certree import OptimalTreeClassifier
        >>> import polars as pl
        >>> people = pl.DataFrame({"age": [20, 30, 50, 60], "ill": ["no", "no", "yes", "yes"]})
        >>> code = OptimalTreeClassifier(max_depth=1).fit(people, "ill").tree_.to_rust()
        >>> print(code[code.index("pub fn") :])
        pub fn predict(row: &PredictRow) -> Option<&'static str> {
            let x0 = row.age.filter(|value| !value.is_nan());
            if x0.map_or(true, |value| value <= 40.0) {
                Some("no")
            } else {
                Some("yes")
            }
        }
        <BLANKLINE>
        """
        return to_rust.to_rust(_tree(self), output, name)

    def to_javascript(
        self, output: Output = "label", name: str = "predict", module: bool = True
    ) -> str:
        """The tree as the source of a JavaScript function that imports nothing.

        It takes an object with the columns that the tree tests. Null, undefined, NaN and an invalid
        Date are missing values; a column that is not there, or a value of another type, is a
        TypeError. Integers may be BigInts, which are exact. Dates are a Date, or a number or BigInt
        of days since 1970, or of the unit of their type, in UTC where the column had a time zone; a
        Date counts as UTC, and has the milliseconds alone. The answer is null of a row that
        :meth:`predict` refuses.

        Parameters
        ----------
        output : {"label", "proba", "leaf"}, default="label"
            What is answered; several numbers or targets, and shares of classes, are an array.
            Integers beyond 2^53 are BigInts.
        name : str, default="predict"
            Of the function.
        module : bool, default=True
            Whether the function is exported, so that the source is a module; a script, as browsers
            and embedded engines run, has none.

        Returns
        -------
        str

        Examples
        --------
        >>> from certree import OptimalTreeClassifier
        >>> import polars as pl
        >>> people = pl.DataFrame({"age": [20, 30, 50, 60], "ill": ["no", "no", "yes", "yes"]})
        >>> code = OptimalTreeClassifier(max_depth=1).fit(people, "ill").tree_.to_javascript()
        >>> print(code[code.index("  const x0") :])
          const x0 = read("age", "number", "bigint", "boolean");
          if (x0 === null || x0 <= 40.0) {
            return "no";
          } else {
            return "yes";
          }
        }
        <BLANKLINE>
        """
        return to_javascript.to_javascript(_tree(self), output, name, module)

    def to_sklearn(self, output: Literal["proba", "label"] = "proba") -> Any:
        """The tree as a fitted ``DecisionTreeClassifier`` or ``DecisionTreeRegressor``, for
        ``plot_tree``, ``export_text`` and whatever else reads scikit-learn's trees.

        Its rows are those of :meth:`encode`, on which ``predict``, ``predict_proba`` and ``apply``
        answer what this tree does. A tree that answers costs, rewards or labels of a task of the
        user's own has no class shares; nor does one say by its shares what it answers that was
        fitted with class weights, costs or constraints. Both are a ``ValueError`` that says so,
        and ``output="label"`` makes a tree whose shares are 1 for the label and 0 for others.

        Impurities are Gini's, and mean squared errors. Nodes of trees that answer numbers know no
        weights, so that rows count once each, and their impurities are NaN where nodes do not know
        them: of other losses than squared errors, and if rows have several weights, if rows that
        are equal in all columns have several answers, or if all leaves answer the same.

        Parameters
        ----------
        output : {"proba", "label"}, default="proba"
            What a node's ``value`` holds; trees that answer numbers hold these either way.

        Returns
        -------
        DecisionTreeClassifier or DecisionTreeRegressor

        Warns
        -----
        UserWarning
            Where thresholds of one column are the same as 32-bit floats, or beyond them: only the
            matrix of :meth:`encode` tells their rows apart.

        Examples
        --------
        >>> from certree import OptimalTreeClassifier
        >>> from sklearn.tree import export_text
        >>> import polars as pl
        >>> people = pl.DataFrame({"age": [20, 30, 50, 60], "ill": ["no", "no", "yes", "yes"]})
        >>> tree = OptimalTreeClassifier(max_depth=1).fit(people, "ill").tree_
        >>> twin = tree.to_sklearn()
        >>> twin.predict(tree.encode(people))
        array(['no', 'no', 'yes', 'yes'], dtype=object)
        >>> print(export_text(twin, feature_names=tree.encoded_names))
        |--- age <= 40.00
        |   |--- class: no
        |--- age >  40.00
        |   |--- class: yes
        <BLANKLINE>
        """
        return to_sklearn.to_sklearn(_tree(self), output)

    def to_onnx(self, missing: str = "") -> ModelProto:
        """The tree as an ONNX model, which answers exactly what :meth:`predict` does.

        It has an input for each column that the tree tests, named like it, of any number of rows:
        strings for a category, 64-bit integers for a date (days since 1970, or the unit of its
        type) and for integers with thresholds beyond 2^53, and 64-bit floats for all other numbers
        and for Booleans (0 and 1). NaN is a missing number or Boolean, -2^63 (numpy's "not a time")
        a missing date, and ``missing`` a missing string, unless it was a value in training. A model
        cannot refuse missing values: those that the tree refuses go the way of the larger child.

        Outputs are ``leaf`` (node ids), ``label`` (``label_<name>`` for each of several numbers or
        targets) and of classes ``proba``, rows × classes (``proba_<name>`` for each target).

        It needs onnx (``pip install 'certree[onnx]'``); onnxruntime runs the model.

        Parameters
        ----------
        missing : str, default=""
            The string that stands for a missing value of a category.

        Returns
        -------
        onnx.ModelProto

        Examples
        --------
        >>> from certree import OptimalTreeClassifier
        >>> import numpy as np
        >>> import onnxruntime
        >>> import polars as pl
        >>> people = pl.DataFrame({"age": [20, 30, 50, 60], "ill": ["no", "no", "yes", "yes"]})
        >>> model = OptimalTreeClassifier(max_depth=1).fit(people, "ill").tree_.to_onnx()
        >>> session = onnxruntime.InferenceSession(model.SerializeToString())
        >>> leaf, label, proba = session.run(None, {"age": np.array([25.0, 61.0])})
        >>> label.tolist(), proba.tolist()
        (['no', 'yes'], [[1.0, 0.0], [0.0, 1.0]])
        """
        return to_onnx.to_onnx(_tree(self), missing)

    def to_pmml(self, target: str = "label") -> str:
        """The tree as a PMML document of version 4.4, for evaluators of other languages and for
        databases.

        It reads the columns that the tree tests: numbers and Booleans, strings, and dates as
        ``date`` and ``dateTime``, in UTC where the column had a time zone. Missing values go where
        :meth:`predict` sends them (``defaultChild``), as do values of categories that were not
        there in training; where it refuses them, the document does (``returnInvalid``).

        Outputs are ``predicted_<target>``, ``leaf`` (node ids) and of classes ``proba_<label>``.
        Several numbers or targets, labels of several types, infinite numbers and characters that
        XML lacks are a ``ValueError``.

        Parameters
        ----------
        target : str, default="label"
            The name of the field that is predicted.

        Returns
        -------
        str

        Examples
        --------
        >>> from certree import OptimalTreeClassifier
        >>> import polars as pl
        >>> people = pl.DataFrame({"age": [20, 30, 50, 60], "ill": ["no", "no", "yes", "yes"]})
        >>> document = OptimalTreeClassifier(max_depth=1).fit(people, "ill").tree_.to_pmml()
        >>> print(document[document.index("<Node") : document.index(" <Score")])
        <Node id="0" defaultChild="1">
        <True/>
         <Node id="1" score="no" recordCount="2.0">
         <SimplePredicate field="age" operator="lessOrEqual" value="40.0"/>
        <BLANKLINE>
        """
        return to_pmml.to_pmml(_tree(self), target)

    def encode(self, X: Any) -> NDArray[np.float32]:
        """The rows as the matrix that :meth:`to_sklearn`'s tree reads: a column for each number,
        date (as a number in its unit since 1970) and Boolean (0 or 1) that the tree tests, and one
        with 0 and 1 for each value of a category that it asks for, and for each column of which it
        asks whether it is missing; ``encoded_names`` names them.

        Numbers are the 32-bit floats nearest to them that are on their side of every threshold,
        and missing values NaN. A tree of a single leaf has one column of zeros.

        Examples
        --------
        >>> from certree import OptimalTreeClassifier
        >>> import polars as pl
        >>> people = pl.DataFrame({"sex": ["f", "m", "f"], "ill": ["no", "yes", "no"]})
        >>> tree = OptimalTreeClassifier(max_depth=1).fit(people, "ill").tree_
        >>> tree.encoded_names
        ['sex = f']
        >>> tree.encode(people).tolist()
        [[1.0], [0.0], [1.0]]
        """
        return encode.encode(_tree(self), X)

    @property
    def encoded_names(self) -> list[str]:
        """The names of the columns of :meth:`encode`."""
        return encode.names(_tree(self))


def _tree(exports: Exports) -> Tree:
    """Only a tree has them."""
    return cast("Tree", exports)
