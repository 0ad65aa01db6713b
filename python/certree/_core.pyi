from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from certree.options import Route, Status

__all__ = [
    "ADDITIVE",
    "APART",
    "APART_FOR",
    "Additive",
    "Answer",
    "BOUNDS",
    "COMBINATIONS",
    "Classes",
    "Constraints",
    "Custom",
    "FeatureCosts",
    "Front",
    "Limits",
    "LinearLimit",
    "Listing",
    "Matrix",
    "Metric",
    "NearOptimal",
    "PathRule",
    "Points",
    "Problem",
    "RankingArea",
    "RowCosts",
    "Shape",
    "Share",
    "Squares",
    "Table",
    "Tree",
    "__version__",
    "count_rows",
    "description_bits",
    "exact_sums_by_point",
    "export_instance",
    "near_optimal",
    "prove",
    "shortest_decimals",
    "solve",
    "sum_by_point",
    "whole_front",
]

__version__: str

#: The parts of a problem that each goal can be combined with, and pairs of parts that no goal can
#: at once.
COMBINATIONS: dict[str, list[str]]
APART: list[tuple[str, str]]
APART_FOR: list[tuple[str, str, str]]

#: Every task whose costs add up over leaves, by its name: what a leaf costs, in plain words, and
#: the names of the columns that it takes.
ADDITIVE: dict[str, tuple[str, list[str]]]

#: Every bound by its name, and what it says in plain words.
BOUNDS: dict[str, str]

_Test = bool | str | int | float | tuple[tuple[str, ...], tuple[str, ...]] | None
_Side = Literal["left", "right"]
_Split = tuple[int, _Test, int, int, _Side | None] | tuple[int, _Test, int, int]
_Node = tuple[_Split | None, int, int, list[float], float]
_Kind = NDArray[np.float64] | list[str] | tuple[str, ...] | list[int] | list[float] | None
_Columns = Sequence[
    tuple[str, _Kind] | tuple[str, _Kind, bool] | tuple[str, _Kind, bool, int | None]
]
_Pulse = Callable[[float, float, float, int, int, int], object]

@final
class Tree:
    def __new__(cls, parts: Sequence[_Node]) -> Tree: ...
    def parts(self) -> list[_Node]: ...
    def apply(
        self,
        slots: Sequence[int],
        arrays: Sequence[NDArray[Any]],
        n_rows: int,
        missing: Sequence[NDArray[np.bool_] | None] | None = None,
    ) -> NDArray[np.uint32]: ...
    def __reduce__(self) -> tuple[Any, tuple[list[_Node]]]: ...

@final
class Table:
    def __new__(
        cls,
        arrays: Sequence[
            NDArray[Any] | tuple[NDArray[Any], NDArray[np.uint32], NDArray[np.uint64], int]
        ],
        bytes: int | None = None,
        seconds: float | None = None,
        missing: Sequence[NDArray[np.bool_] | None] | None = None,
    ) -> Table: ...
    @property
    def n_ranked(self) -> int: ...
    def values(self, column: int) -> NDArray[Any]: ...
    def has_missing(self, column: int) -> bool: ...
    def ranks(self, column: int) -> NDArray[np.uint32]: ...
    def amounts(
        self, column: int, weights: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64]: ...
    def group(
        self,
        codes: Sequence[NDArray[np.uint32] | None],
        n_codes: Sequence[int],
        classes: NDArray[np.uint32],
        n_classes: int,
        weights: NDArray[np.int64] | None = None,
        bytes: int | None = None,
        seconds: float | None = None,
    ) -> tuple[Points, NDArray[np.int64]] | None: ...
    def locate(
        self,
        codes: Sequence[NDArray[np.uint32] | None],
        n_codes: Sequence[int],
        bytes: int | None = None,
        seconds: float | None = None,
    ) -> tuple[Points, NDArray[np.uint32]] | None: ...

@final
class Points:
    def __new__(
        cls, codes: Sequence[NDArray[np.uint32]], rows: NDArray[np.uint64]
    ) -> Points: ...
    @property
    def codes(self) -> list[NDArray[np.uint32]]: ...
    @property
    def rows(self) -> NDArray[np.uint64]: ...
    @staticmethod
    def merged(
        parts: Sequence[Points], n_codes: Sequence[int], bytes: int | None = None
    ) -> tuple[Points, NDArray[np.uint32]]: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Points: ...
    def __reduce__(self) -> Any: ...

@final
class Answer:
    @property
    def tree(self) -> Tree: ...
    @property
    def objective(self) -> float: ...
    @property
    def lower_bound(self) -> float: ...
    @property
    def status(self) -> Status: ...
    @property
    def route(self) -> Route: ...
    @property
    def seconds(self) -> float: ...
    @property
    def nodes(self) -> int: ...
    @property
    def kernel_calls(self) -> int: ...
    @property
    def peak_bytes(self) -> int: ...
    @property
    def bounds(self) -> dict[str, int]: ...
    @property
    def curve(self) -> list[tuple[float, float, float]]: ...
    @property
    def is_open(self) -> bool: ...
    @property
    def is_of_nodes(self) -> bool: ...
    @property
    def attained(self) -> list[float]: ...
    @property
    def interrupt(self) -> BaseException | None: ...
    def to_bytes(self, most: int) -> bytes | None: ...
    def go_on(self, limits: Limits, pulse: _Pulse | None = None) -> Answer: ...
    def with_most_leaves(
        self, most: int, limits: Limits, pulse: _Pulse | None = None
    ) -> Answer: ...

@final
class Classes:
    def __new__(
        cls,
        weights: NDArray[np.float64],
        costs: Sequence[float],
        class_weights: Sequence[float],
        balanced: bool,
        leaf_penalty: float,
    ) -> Classes: ...

@final
class RowCosts:
    def __new__(
        cls,
        costs: NDArray[np.float64],
        weights: NDArray[np.float64],
        size: float,
        normalizer: float,
        leaf_penalty: float,
    ) -> RowCosts: ...

@final
class Squares:
    def __new__(
        cls,
        targets: NDArray[np.float64],
        point_of: NDArray[np.uint32],
        n_points: int,
        weights: NDArray[np.int64] | None,
        leaf_penalty: float,
        given: NDArray[np.float64] | None = None,
    ) -> Squares: ...

@final
class Metric:
    def __new__(
        cls,
        name: str,
        weights: NDArray[np.float64],
        class_weights: Sequence[float],
        balanced: bool,
        positive: int,
        leaf_penalty: float,
        beta: float = 1.0,
        n_sums: int = 0,
    ) -> Metric: ...

@final
class Matrix:
    def __new__(
        cls,
        metric: str | Callable[[NDArray[np.float64]], float],
        weights: NDArray[np.float64],
        class_weights: Sequence[float],
        balanced: bool,
        leaf_penalty: float,
    ) -> Matrix: ...

@final
class RankingArea:
    def __new__(
        cls,
        weights: NDArray[np.float64],
        positive: int,
        max_fpr: float,
        leaf_penalty: float,
    ) -> RankingArea: ...

@final
class Additive:
    def __new__(
        cls,
        task: str,
        columns: Mapping[str, NDArray[np.float64] | float | None],
        n_points: int,
        leaf_penalty: float,
        point_of: NDArray[np.uint32] | None = None,
        row_weights: NDArray[np.float64] | None = None,
    ) -> Additive: ...

@final
class Custom:
    def __new__(
        cls,
        task: tuple[Any, int | None, Sequence[float], bool, bool, float | None],
        stats: NDArray[np.int64],
        normalizer: float,
        leaf_penalty: float,
        row_weights: NDArray[np.float64] | None = None,
    ) -> Custom: ...

@final
class Shape:
    def __new__(cls, **limits: int | None) -> Shape: ...

@final
class Limits:
    def __new__(
        cls,
        time: float | None = None,
        memory: int | None = None,
        gap: float = 0.0,
        threads: int = 1,
        held: int = 0,
        all_sizes: bool = False,
    ) -> Limits: ...

@final
class Share:
    def __new__(cls, problem: Problem) -> Share: ...
    def cost(self, tree: Tree) -> int: ...
    def objective(self, cost: int) -> float: ...
    def begin_with(self, answer: Answer) -> None: ...
    def news(self, large: bool) -> bytes: ...
    def learn(self, news: bytes) -> None: ...
    def whole(self) -> tuple[bytes, bool] | None: ...
    def halves(self, part: bytes) -> tuple[bytes, bytes] | None: ...
    def joined(self, parts: Sequence[bytes]) -> bytes: ...
    def search(
        self,
        part: bytes,
        cutoff: int,
        slice: float | None,
        limits: Limits,
        pulse: Callable[[float, float, float, int, int, int], object] | None = None,
    ) -> tuple[
        int,
        tuple[Tree, int] | None,
        tuple[bytes, bool],
        tuple[int, int, int],
        dict[str, int],
        bool,
    ]: ...
    def conclude(
        self,
        tree: Tree,
        lower: int,
        limits: Limits,
        told: Any,
        ended: str | None = None,
        interrupt: BaseException | None = None,
    ) -> Answer: ...

@final
class LinearLimit:
    def __new__(
        cls,
        name: str,
        terms: Sequence[tuple[Sequence[tuple[int, int]], Sequence[int], float]],
        least: float,
        most: float,
        is_strict: bool = False,
    ) -> LinearLimit: ...

@final
class Constraints:
    def __new__(
        cls,
        limits: Sequence[LinearLimit],
        class_of: Sequence[int] | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> Constraints: ...

@final
class FeatureCosts:
    def __new__(
        cls,
        tests: Sequence[tuple[tuple[float, int | None], tuple[float, int | None], int | None]],
        test_of: Sequence[int | None],
        sums: NDArray[np.float64] | None = None,
    ) -> FeatureCosts: ...

@final
class PathRule:
    @staticmethod
    def most_columns(most: int) -> PathRule: ...
    @staticmethod
    def after(column: int, above: Sequence[int]) -> PathRule: ...
    @staticmethod
    def apart(groups: Sequence[Sequence[int]]) -> PathRule: ...
    @staticmethod
    def first_column(column: int) -> PathRule: ...

@final
class Front:
    @property
    def trees(self) -> list[tuple[Tree, list[float], bool]]: ...
    @property
    def open(self) -> list[list[float]]: ...
    @property
    def status(self) -> Status: ...
    @property
    def seconds(self) -> float: ...
    @property
    def nodes(self) -> int: ...
    @property
    def kernel_calls(self) -> int: ...
    @property
    def peak_bytes(self) -> int: ...
    @property
    def interrupt(self) -> BaseException | None: ...

@final
class Problem:
    def __new__(
        cls,
        columns: _Columns,
        points: Points,
        goal: (
            Classes
            | RowCosts
            | Squares
            | Metric
            | Matrix
            | RankingArea
            | Additive
            | Custom
        ),
        shape: Shape,
        constraints: Constraints | None = None,
        feature_costs: FeatureCosts | None = None,
        regrets: NDArray[np.float64] | None = None,
        path_rules: Sequence[PathRule] = ...,
    ) -> Problem: ...
    def leaves(self, tree: Tree) -> NDArray[np.uint32]: ...
    @property
    def path_rules(self) -> list[str]: ...
    @property
    def digest(self) -> str: ...
    @property
    def guessed_by(self) -> Literal["leaf", "point"] | None: ...
    def start(self, tree: Tree) -> tuple[Tree, float] | None: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Problem: ...

def solve(
    problem: Problem,
    limits: Limits,
    pulse: _Pulse | None = None,
    incumbent: tuple[Tree, float] | None = None,
    saved: bytes | None = None,
) -> Answer: ...
def export_instance(problem: Problem, about: str, limits: Limits) -> str: ...
def prove(
    problem: Problem,
    tree: Tree,
    about: str,
    limits: Limits,
    lower_bound: float | None = None,
    pulse: _Pulse | None = None,
) -> tuple[str, bytes, int, int, int]: ...
@final
class NearOptimal:
    @property
    def status(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @property
    def interrupt(self) -> BaseException | None: ...
    @property
    def is_complete(self) -> bool: ...
    @property
    def bound(self) -> float: ...
    @property
    def size(self) -> tuple[int, int]: ...
    @property
    def rounding(self) -> float: ...
    @property
    def asked(self) -> list[bool]: ...
    def count(self, limits: Limits, without: int | None = None) -> tuple[bytes, bool]: ...
    def by_objective(self, most: int, limits: Limits) -> list[tuple[float, bytes]] | None: ...
    def listing(self) -> Listing: ...
    def sample(self, n: int, seed: int, limits: Limits) -> list[tuple[Tree, float]]: ...
    def sparsest(self) -> tuple[Tree, float] | None: ...
    def least_without(self, column: int) -> float | None: ...

@final
class Listing:
    def __iter__(self) -> Listing: ...
    def __next__(self) -> tuple[Tree, float]: ...

def near_optimal(
    problem: Problem,
    tree: Tree,
    limits: Limits,
    within: float | None = None,
    beyond: float | None = None,
    n: int | None = None,
    any_answer: bool = False,
    alike_once: bool = False,
    pulse: _Pulse | None = None,
) -> NearOptimal: ...
def whole_front(
    problem: Problem,
    axes: Sequence[str | Sequence[int]],
    most: int,
    limits: Limits,
    pulse: _Pulse | None = None,
) -> Front: ...
def count_rows(
    nodes: NDArray[np.uint32], n_nodes: int, kept: NDArray[np.bool_] | None = None
) -> list[int]: ...
def shortest_decimals(
    low: NDArray[np.float64], high: NDArray[np.float64], middle: NDArray[np.float64]
) -> NDArray[np.float64]: ...
def sum_by_point(
    point_of: NDArray[np.uint32],
    n_points: int,
    values: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]: ...
def exact_sums_by_point(
    point_of: NDArray[np.uint32],
    n_points: int,
    values: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
) -> list[NDArray[np.float64]]: ...
def description_bits(
    weights: NDArray[np.float64], n_classes: int, n_cuts: int
) -> tuple[float, float]: ...
