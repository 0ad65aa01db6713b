"""The fitted tree, to read, to predict with and to take elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certree import _core, conditions
from certree.answers import Answers
from certree.difference import Difference, difference
from certree.export import from_sklearn, to_json
from certree.exports import Exports
from certree.ingest import Slot, slot_arrays
from certree.nodes import Node, Rule, Split
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
    from scipy.sparse import csr_matrix

    from certree.counterfactuals import Counterfactual
    from certree.export.from_sklearn import Read as ReadModel
    from certree.export.to_json import Read as ReadDocument

Curves = Mapping[int, tuple[NDArray[np.float64], NDArray[np.float64]]]
"""By leaf, times and what share of its rows is without an event then."""


class Tree(Exports):
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

    def honest(self, X: Any, y: Any, confidence: float = 0.95) -> pl.DataFrame:
        """What the leaves hold on rows that the search never saw, with intervals that hold for all
        leaves at once.

        What leaves hold in training flatters, because the search chose them for it. On new rows
        shares have Clopper and Pearson's interval, which holds for any number of rows; means have
        Student's, which is exact for normal values, and good where a leaf has many rows. All of
        them hold together with this confidence: leaves are independent (Šidák), and what one leaf
        holds shares its risk (Bonferroni).

        Parameters
        ----------
        X : frame or array
            Rows that had no part in the fit, nor in the choice of its parameters; independent ones.
        y : vector, table, str or list of str
            Their labels or numbers, or the name of their column in X. Of costs and rewards the
            table, rows × labels, or the names of its columns.
        confidence : float, default=0.95

        Returns
        -------
        polars.DataFrame
            A row for each leaf and what it holds: ``leaf``, ``rule`` and ``label``; ``of``, the
            class, target or label that the numbers are about; ``trained_rows`` and ``trained``,
            which it has of training; ``rows``, ``value``, ``low`` and ``high`` of the new ones. A
            leaf without rows has no value; its share may be any, from 0 to 1, and its mean, too.
            Labels that the tree does not know count as rows of none of its classes.

        Examples
        --------
        >>> from certree import OptimalTreeClassifier
        >>> from sklearn.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> tree = OptimalTreeClassifier(max_depth=1, thresholds=8).fit(X[:300], y[:300]).tree_
        >>> found = tree.honest(X[300:], y[300:]).filter(of="1")
        >>> for share in ("trained", "value", "low", "high"):
        ...     print(share, found[share].round(3).to_list())
        trained [0.875, 0.053]
        value [0.979, 0.244]
        low [0.941, 0.146]
        high [0.995, 0.366]
        """
        from certree.honest import honest

        return honest(self, X, y, confidence)

    def counterfactual(
        self,
        row: Any,
        answer: Any = None,
        immutable: Iterable[str] = (),
        scales: Mapping[str, float] | None = None,
    ) -> Counterfactual | None:
        """The least change of a row that gives it another answer.

        The least is that of fewest columns, and of these the smallest in sum. It is found among all
        rows that there could be, not in a sample, so that there is no smaller one.

        Parameters
        ----------
        row : mapping, table of one row, or vector
            The values by column name, or in the order of the columns.
        answer : default=None
            The answer it is to have; without it any other one.
        immutable : sequence of str, default=()
            Columns that stay as they are, such as age.
        scales : mapping of str to float, default=None
            By column, what counts as much as another category does: differences of numbers, or days
            between dates, are divided by it. Without it, by 1.

        Returns
        -------
        Counterfactual or None
            With ``changes`` (by column the value there is, and the nearest one that would do) and
            ``conditions``; None where no row that keeps to ``immutable`` has such an answer.

        Examples
        --------
        >>> import polars as pl
        >>> from certree import OptimalTreeClassifier
        >>> people = pl.DataFrame({"income": [10, 20, 30, 40], "owns": [False, True, False, True]})
        >>> tree = OptimalTreeClassifier().fit(people, ["no", "yes", "no", "yes"]).tree_
        >>> found = tree.counterfactual({"income": 10, "owns": False})
        >>> print(found)
        yes if owns is true (is False)
        >>> found.changes
        {'owns': (False, True)}
        """
        from certree.counterfactuals import counterfactual

        return counterfactual(self, row, answer, immutable, scales)

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
