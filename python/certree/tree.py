"""The fitted tree, to read, to predict with and to take elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certree import _core, conditions
from certree.answers import Answers
from certree.conditions import Test
from certree.difference import Difference, difference
from certree.export import (
    encode,
    from_sklearn,
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
from certree.ingest import Slot, slot_arrays
from certree.schema import (
    NUMBERS,
    Column,
    MissingUnseen,
    Sets,
    Side,
    Task,
    Unseen,
    is_threshold,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from onnx import ModelProto
    from scipy.sparse import csr_matrix

    from certree.export.from_sklearn import Read as ReadModel
    from certree.export.to_json import Read as ReadDocument

Curves = Mapping[int, tuple[NDArray[np.float64], NDArray[np.float64]]]
"""By leaf, times and what share of its rows is without an event then."""


@dataclass(frozen=True)
class Split:
    """A test on one column. ``test`` is a threshold (``x <= t`` goes left; of a declared order, the
    place of the last level that does), a string ("is value": other values go left), ``Sets`` (the
    values that go left, and those that go right; all others go with missing ones), ``True`` ("is
    true": false goes left) or ``None`` ("is missing": values that are there go left); ``left`` and
    ``right`` are node ids. ``missing`` is where missing values go; ``None`` if the column had none
    in training, or none of them can get here."""

    column: Column
    column_index: int
    test: Test
    left: int
    right: int
    missing: Side | None = None

    @property
    def words(self) -> conditions.Words:
        """What holds on the left and on the right: ``<= 38.5`` and ``> 38.5``."""
        return conditions.words(self.column, self.test, self.missing)

    @property
    def slot(self) -> Slot:
        asks_itself = not (is_threshold(self.test) or isinstance(self.test, bool))
        return self.column_index, self.test if asks_itself else True


@dataclass(frozen=True)
class Node:
    """One node. ``label`` is the best single answer for its rows, ``value`` the row weight by class
    (or, as the tree's task is, the mean cost or reward of each label, the numbers that are the
    answer, the row weight by class of each target in turn, or summed statistics), and ``loss`` what
    its rows would add to the tree's loss if it were a leaf: of costs and rewards, what is beyond
    the best label of each point. Of numbers ``label`` is the number, or a tuple of several; of
    several targets it is a tuple of labels."""

    id: int
    depth: int
    label: Any
    rows: int
    value: tuple[float, ...]
    loss: float
    split: Split | None = None

    @property
    def is_leaf(self) -> bool:
        return self.split is None

    @property
    def column(self) -> str | None:
        """The name of the column that is tested."""
        return self.split.column.name if self.split else None

    @property
    def test(self) -> str | None:
        """The test in words: ``age <= 38.5``, ``age <= 38.5 or missing``, ``sex = female``,
        ``smoker is true``, ``age is missing``."""
        if self.split is None:
            return None
        return conditions.question(self.split.column, self.split.test, self.split.missing)

    @property
    def left(self) -> int | None:
        return self.split.left if self.split else None

    @property
    def right(self) -> int | None:
        return self.split.right if self.split else None


@dataclass(frozen=True)
class Rule:
    """One leaf as a rule: all conditions hold, so the answer is ``label``."""

    leaf: int
    conditions: tuple[str, ...]
    label: Any
    rows: int
    value: tuple[float, ...]

    def __str__(self) -> str:
        when = f"if {' and '.join(self.conditions)} then " if self.conditions else ""
        rows = "1 row" if self.rows == 1 else f"{self.rows} rows"
        return f"{when}{conditions.plain(str(self.label))} ({rows})"


class Tree:
    """A read-only decision tree over the columns it was fitted on.

    Estimators make it (``model.tree_``), and :meth:`from_json` reads it back from a file.

    >>> from certree import _core
    >>> from certree.schema import NUMBERS, Column, Task
    >>> leaf = lambda label, rows, value: (None, label, rows, value, 0.0)
    >>> split = ((0, 38.5, 1, 2), 0, 5, [3.0, 2.0], 0.4)
    >>> core = _core.Tree([split, leaf(0, 3, [3.0, 0.0]), leaf(1, 2, [0.0, 2.0])])
    >>> tree = Tree(core, [Column("age", "number", "Int64")], ["no", "yes"])
    >>> tree
    Tree(2 leaves, depth 1, columns used: age)
    >>> print(tree)
    5 rows  no: 60.0%, yes: 40.0%
    ├── age <= 38.5 → no   3 rows  no:   100%, yes:     0%
    └── age > 38.5  → yes  2 rows  no:     0%, yes:   100%
    >>> tree.nodes[0].test
    'age <= 38.5'
    >>> for rule in tree.rules():
    ...     print(rule)
    if age <= 38.5 then no (3 rows)
    if age > 38.5 then yes (2 rows)
    """

    def __init__(
        self,
        core: _core.Tree,
        columns: Sequence[Column],
        labels: ArrayLike,
        task: Task = "classification",
        classes: Sequence[ArrayLike] = (),
        curves: Curves | None = None,
        missing_unseen: MissingUnseen = "larger",
        unseen: Unseen = "warn",
    ) -> None:
        self._core = core
        self._task = task
        self._missing_unseen = missing_unseen
        self._unseen = unseen
        self._columns = tuple(columns)
        self._classes = tuple(np.array(each) for each in classes)
        self._labels = np.array(labels)
        self._labels.setflags(write=False)
        self._curves = dict(curves or {})

    @property
    def columns(self) -> tuple[Column, ...]:
        """Every column the tree was fitted on, used or not."""
        return self._columns

    @property
    def task(self) -> Task:
        """What the tree answers: ``"classification"``, ``"costs"`` or ``"rewards"``,
        ``"regression"`` (means), ``"rates"``, ``"quantiles"``, ``"survival"`` (hazard ratios),
        ``"targets"`` (a label for each of several targets), or of a task of the user's own
        ``"numbers"`` or ``"labels"``."""
        return self._task

    @property
    def missing_unseen(self) -> MissingUnseen:
        """Where a missing value goes that a split asks for, if its column had none in training: the
        way of the ``"larger"`` child, left if both are as large, or ``"refuse"``."""
        return self._missing_unseen

    @property
    def unseen(self) -> Unseen:
        """What prediction does with a value that was not there in training, of a category or a
        declared order that a split asks for: it warns (``"warn"``), or it is an error
        (``"refuse"``)."""
        return self._unseen

    @property
    def classes(self) -> tuple[NDArray[Any], ...]:
        """Of a tree for several targets, the labels of each; ``labels`` are then the names of the
        targets."""
        return self._classes

    @property
    def curves(self) -> Curves:
        """Of a survival tree that was fitted in this process or unpickled, by leaf: times of
        events, and the share of rows that have had none up to then. Empty for other trees, and for
        one that was read from JSON."""
        return self._curves

    @property
    def labels(self) -> NDArray[Any]:
        """The possible answers, in the order of ``value`` and of ``predict_proba``; of a tree that
        answers numbers, or several targets, the names of these."""
        return self._labels

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes: the root first, each left subtree before its right one."""
        parts = self._core.parts()
        labels = self._labels.tolist()
        depths = [0] * len(parts)
        nodes = []
        for index, (split, label, rows, value, loss) in enumerate(parts):
            depth = depths[index]
            view = None
            if split is not None:
                column, test, left, right, missing = split
                test = Sets(*map(tuple, test)) if isinstance(test, tuple) else test
                depths[left] = depths[right] = depth + 1
                view = Split(self._columns[column], column, test, left, right, missing)
            if self._task in NUMBERS:
                answer = value[0] if len(value) == 1 else tuple(value)
            elif self._task == "targets":
                chosen = self._answers.chosen_by_target(value)
                answer = tuple(own.tolist()[k] for own, k in zip(self._classes, chosen))
            else:
                answer = labels[label]
            nodes.append(Node(index, depth, answer, rows, tuple(value), loss, view))
        return tuple(nodes)

    @property
    def leaves(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.is_leaf)

    @property
    def n_leaves(self) -> int:
        return len(self.leaves)

    @property
    def depth(self) -> int:
        """The depth of the deepest leaf; 0 for a single leaf."""
        return max(node.depth for node in self.nodes)

    def path(self, node: int) -> list[int]:
        """The ids of the nodes from the root to this one, which is the last of them."""
        found = [node]
        while found[-1] != 0:
            found.append(self._parents[found[-1]])
        return found[::-1]

    def apply(self, X: Any) -> NDArray[np.uint32]:
        """The id of the leaf that each row ends in."""
        return self._route(X, self._unseen)

    def _route(self, X: Any, unseen: Unseen | None) -> NDArray[np.uint32]:
        """As above, without a word about values that were not there in training if ``unseen`` is
        None."""
        slots: dict[Slot, int] = {}
        reads = []
        for node in self.nodes:
            reads.append(slots.setdefault(node.split.slot, len(slots)) if node.split else 0)
        found = slot_arrays(X, self._columns, list(slots), self._missing_unseen, unseen)
        return self._core.apply(reads, found.arrays, found.n_rows, found.missing)

    def way_of_missing(self, split: Split) -> Side:
        """Where a split sends missing values that are not refused."""
        if split.missing is not None:
            return split.missing
        return "right" if self.nodes[split.left].rows < self.nodes[split.right].rows else "left"

    def refuses_missing(self, column: Column) -> bool:
        """Whether no row is scored whose value of this column is missing, if a split tests it."""
        return self._missing_unseen == "refuse" and not column.missing

    def refuses_unseen(self, column: Column) -> bool:
        """Whether no row is scored whose value of this column was not there in training, if a split
        tests it."""
        return self._unseen == "refuse" and column.kind in ("category", "ordered")

    def _with(self, **changed: Any) -> Tree:
        """This tree but for some of its parts."""
        return Tree(**{**self._parts(), **changed})

    def _parts(self) -> dict[str, Any]:
        return {
            "core": self._core,
            "columns": self._columns,
            "labels": self._labels,
            "task": self._task,
            "classes": self._classes,
            "curves": self._curves,
            "missing_unseen": self._missing_unseen,
            "unseen": self._unseen,
        }

    def predict(self, X: Any) -> NDArray[Any]:
        """The answer for each row: in the dtype of the labels; of a tree that answers numbers the
        number, or rows × numbers if there are several; of several targets rows × targets."""
        return self._answers.predictions[self.apply(X)]

    def predict_proba(self, X: Any) -> Any:
        """The share of each class among the training rows (by weight) of the leaf a row ends in; of
        several targets a list with such an array for each."""
        shares = self._answers.shares
        leaves = self.apply(X)
        if isinstance(shares, list):
            return [each[leaves] for each in shares]
        return shares[leaves]

    def predict_value(self, X: Any) -> NDArray[np.float64]:
        """The ``value`` of the leaf each row ends in, rows × labels."""
        return self._answers.values[self.apply(X)]

    def decision_path(self, X: Any) -> csr_matrix:
        """A sparse 0/1 matrix (rows × nodes): the nodes that each row passes."""
        from scipy.sparse import csr_matrix

        leaves = self.apply(X)
        lengths = np.array([node.depth + 1 for node in self.nodes])[leaves]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        # All rows at once go up from their leaves, until each has come to the root.
        indices = np.empty(ends[-1], dtype=np.int64)
        rows, nodes = np.arange(len(leaves)), leaves.astype(np.int64)
        parents = np.array(self._parents)
        for step in range(1, int(lengths.max(initial=0)) + 1):
            indices[ends[rows + 1] - step] = nodes
            going = nodes != 0
            rows, nodes = rows[going], parents[nodes[going]]
        shape = (len(leaves), len(self.nodes))
        return csr_matrix((np.ones(len(indices), dtype=np.int64), indices, ends), shape=shape)

    def rules(self) -> list[Rule]:
        """One rule for each leaf, from left to right. A later threshold on the same side of a
        column replaces an earlier, looser one."""
        rules = []
        for leaf in self.leaves:
            told = _told(self.nodes, self.path(leaf.id))
            rules.append(Rule(leaf.id, told, leaf.label, leaf.rows, leaf.value))
        return rules

    def diff(self, old: Tree, X: Any = None) -> Difference:
        """Which rows this tree answers differently from another one, such as last year's.

        Columns are matched by name. The comparison is of all rows that there could be, not of a
        sample: each entry says by its conditions which rows it is about.

        Parameters
        ----------
        old : Tree
        X : frame or array, default=None
            Rows to count: of how many the answer differs.

        Returns
        -------
        Difference

        Examples
        --------
        >>> from certree import OptimalTreeClassifier
        >>> import polars as pl
        >>> people = pl.DataFrame({"age": [20, 30, 50, 60], "ill": ["no", "no", "yes", "yes"]})
        >>> old = OptimalTreeClassifier(max_depth=1).fit(people, "ill").tree_
        >>> more = pl.DataFrame({"age": [20, 30, 42, 60], "ill": ["no", "yes", "yes", "yes"]})
        >>> new = OptimalTreeClassifier(max_depth=1).fit(more, "ill").tree_
        >>> print(new.diff(old, people))
        1 of 4 rows (25.0%) are answered differently:
          age > 25 and <= 40: no → yes (1 row)
        Only the old tree asks: age <= 40
        Only the new tree asks: age <= 25
        """
        return difference(old, self, X)

    def drift(self, X: Any) -> pl.DataFrame:
        """How the rows of a new table spread over the leaves, beside those of training: whether the
        tree still meets the people that it was made for.

        Parameters
        ----------
        X : frame or array

        Returns
        -------
        polars.DataFrame
            A row for each leaf, from left to right: ``leaf``, ``rule``, ``label``, ``trained_rows``
            and ``rows``, their shares ``trained_share`` and ``share``, and ``psi``, whose sum is
            the population stability index: that of two samples of one population is near the
            number of leaves less one, times 1/n + 1/m for n and m rows; more than 0.2 is by custom
            called a shift. Where a leaf has no rows, half a row stands in for its share.

        Examples
        --------
        >>> from certree import OptimalTreeClassifier
        >>> import polars as pl
        >>> people = pl.DataFrame({"age": [20, 30, 50, 60], "ill": ["no", "no", "yes", "yes"]})
        >>> tree = OptimalTreeClassifier(max_depth=1).fit(people, "ill").tree_
        >>> now = tree.drift(pl.DataFrame({"age": [22, 41, 55, 70]}))
        >>> now["rule"].to_list(), now["share"].to_list(), round(now["psi"].sum(), 3)
        (['age <= 40', 'age > 40'], [0.25, 0.75], 0.275)
        """
        from certree.drift import drift

        return drift(self, X)

    def to_text(self) -> str:
        """The tree for people: every branch with its own condition, every leaf with what it holds.
        """
        return to_text.to_text(self)

    def to_json(self, indent: int | None = 2) -> str:
        """The tree as a JSON document (docs/tree-json.md) that :meth:`from_json` reads back
        exactly.

        ``indent=None`` puts all of it on one line.
        """
        return to_json.to_json(self, indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Tree:
        """The tree that :meth:`to_json` wrote. Anything else is a ``ValueError`` that says what is
        wrong."""
        return cls._of(to_json.from_json(text))

    @classmethod
    def from_sklearn(cls, model: Any, columns: Sequence[str] | None = None) -> Tree:
        """A fitted decision tree of scikit-learn's as a certree ``Tree``, to compare, draw and
        export it.

        It sends every row of numbers the way that ``model`` does, which rounds values to 32-bit
        floats before it compares them: thresholds become the middles between two of these. Missing
        values go where ``model`` sends them, and are refused where it refuses them. Nodes
        are numbered from the left, as in all trees here; scikit-learn has another order where
        ``max_leaf_nodes`` limits the tree.

        Parameters
        ----------
        model : DecisionTreeClassifier, DecisionTreeRegressor or one of ExtraTrees'
            Also one of the ``estimators_`` of a forest.
        columns : sequence of str, default=None
            Names of the columns; without them those that ``model`` knows, or ``x0``, ``x1``, ...

        Returns
        -------
        Tree

        Examples
        --------
        >>> from certree import Tree
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> cart = DecisionTreeClassifier(max_leaf_nodes=3, random_state=3).fit(X, y)
        >>> names = ["sepal length", "sepal width", "length", "width"]
        >>> print(Tree.from_sklearn(cart, names))
        150 rows  0: 33.3%, 1: 33.3%, 2: 33.3%
        ├── width <= 0.80000004 → 0  50 rows  0:   100%, 1:     0%, 2:     0%
        └── width > 0.80000004
            ├── width <= 1.75   → 1  54 rows  0:     0%, 1:  90.7%, 2:   9.3%
            └── width > 1.75    → 2  46 rows  0:     0%, 1:   2.2%, 2:  97.8%
        """
        return cls._of(from_sklearn.from_sklearn(model, columns))

    @classmethod
    def _of(cls, read: ReadDocument | ReadModel) -> Tree:
        """What a reader has found, as a tree."""
        return cls(
            _core.Tree(read.parts),
            read.columns,
            read.labels,
            read.task,
            read.classes,
            missing_unseen=read.missing_unseen,
            unseen=read.unseen,
        )

    def to_dot(self) -> str:
        """The tree in Graphviz's language: ``dot -Tsvg tree.dot -o tree.svg`` draws it."""
        return to_dot.to_dot(self)

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
        return to_svg.to_svg(self, names, labels, max_depth)

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
        return to_matplotlib.plot(self, ax, names, labels, max_depth)

    def to_polars(self, output: Literal["label", "leaf", "proba"] = "label") -> pl.Expr:
        """The tree as a polars expression, to score a frame lazily.

        ``output`` is ``"label"`` (a column ``label``; a struct of several numbers or targets),
        ``"leaf"`` (node ids, as :meth:`apply` gives them) or ``"proba"`` (a struct with the share
        of each class, or of several targets a struct of these). The frame has the columns, and the
        types, that the tree was fitted on. Nulls and NaN go where :meth:`predict` sends them; where
        it refuses them (``missing_unseen="refuse"``) the row scores null.
        """
        return to_polars.to_polars(self, output)

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
        return to_sql.to_sql(self, output, dialect)

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
        return to_python.to_python(self, output, name)

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
        return to_c.to_c(self, output, name)

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
        return to_rust.to_rust(self, output, name)

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
        return to_javascript.to_javascript(self, output, name, module)

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
        return to_sklearn.to_sklearn(self, output)

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
        return to_onnx.to_onnx(self, missing)

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
        return to_pmml.to_pmml(self, target)

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
        return encode.encode(self, X)

    @property
    def encoded_names(self) -> list[str]:
        """The names of the columns of :meth:`encode`."""
        return encode.names(self)

    @cached_property
    def _parents(self) -> list[int]:
        """The parent of each node; the root's is itself."""
        parents = [0] * len(self.nodes)
        for node in self.nodes:
            if node.split:
                parents[node.split.left] = parents[node.split.right] = node.id
        return parents

    @cached_property
    def _answers(self) -> Answers:
        parts = self._core.parts()
        chosen = [label for _, label, *_ in parts]
        values = [value for *_, value, _ in parts]
        return Answers(self._task, self._labels, self._classes, chosen, values)

    def target_shares(self, node: Node) -> list[tuple[float, ...]]:
        """The share of each class at a node, of each of several targets."""
        return self._answers.target_shares(node.value)

    def shares(self, node: Node) -> tuple[float, ...]:
        """The share of each class at a node. Rows that weigh nothing count for the node's label."""
        return self._answers.class_shares(node.value, self._answers.chosen[node.id])

    def __repr__(self) -> str:
        used = dict.fromkeys(node.column for node in self.nodes if node.column is not None)
        leaves = "1 leaf" if self.n_leaves == 1 else f"{self.n_leaves} leaves"
        names = ", ".join(map(conditions.plain, used)) or "none"
        return f"Tree({leaves}, depth {self.depth}, columns used: {names})"

    def __str__(self) -> str:
        return self.to_text().removesuffix("\n")

    def _repr_html_(self) -> str:
        """For notebooks: the picture of :meth:`to_svg`, folded where it has more than 64 leaves."""
        from certree import notebook

        return notebook.of_tree(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return (
            self._columns == other._columns
            and self._task == other._task
            and self._missing_unseen == other._missing_unseen
            and self._unseen == other._unseen
            and _same_type(self._labels.dtype, other._labels.dtype)
            and np.array_equal(self._labels, other._labels)
            and len(self._classes) == len(other._classes)
            and all(map(np.array_equal, self._classes, other._classes))
            and self.nodes == other.nodes
        )

    def __hash__(self) -> int:
        return hash((self._columns, self.nodes))

    def __reduce__(self) -> tuple[Any, ...]:
        return Tree, tuple(self._parts().values())


def _same_type(a: np.dtype[Any], b: np.dtype[Any]) -> bool:
    """Strings are one type, however wide numpy keeps them."""
    return a == b or (a.kind in "UT" and b.kind in "UT") or (a.kind == b.kind == "S")


def _told(nodes: Sequence[Node], path: Sequence[int]) -> tuple[str, ...]:
    """The conditions along a path, each column's loosest ones left out."""
    splits = [(nodes[at].split, child) for at, child in zip(path, path[1:])]
    steps = [(split, child == split.left) for split, child in splits if split is not None]
    # A missing value comes here only if every split on its column sends it this way.
    known = {
        split.column_index
        for split, goes_left in steps
        if split.missing == ("right" if goes_left else "left")
    }
    tested = {split.column_index for split, _ in steps if split.test is not None}
    told: dict[tuple[int, Any, bool], tuple[Any, str]] = {}
    for split, goes_left in steps:
        index, test = split.column_index, split.test
        if test is None and goes_left and index in tested:
            # Another condition on the column says it, too.
            continue
        missing = None if index in known else split.missing
        side = conditions.words(split.column, test, missing)[0 if goes_left else 1]
        text = f"{conditions.plain(split.column.name)} {side}"
        if isinstance(test, Sets):
            # Values that a split above sent elsewhere are not told here.
            told[index, Sets, True] = (None, text)
            continue
        if not is_threshold(test):
            told.setdefault((index, test, goes_left), (None, text))
            continue
        key = (index, True, goes_left)
        looser = told.get(key)
        if looser is None or (test < looser[0] if goes_left else test > looser[0]):
            told[key] = (test, text)
    return tuple(text for _, text in told.values())
