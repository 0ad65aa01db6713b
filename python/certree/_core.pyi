from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from certree.options import Status

__all__ = [
    "Answer",
    "Points",
    "Table",
    "Tree",
    "__version__",
    "count_rows",
    "description_bits",
    "solve_classes",
    "solve_custom",
    "solve_impurity",
    "solve_limited",
    "solve_limited_metric",
    "solve_limited_rows",
    "solve_metric",
    "solve_rates",
    "solve_roc",
    "solve_rows",
    "solve_squares",
    "solve_targets",
    "sum_by_point",
]

__version__: str

_Test = bool | str | int | float
_Split = tuple[int, _Test, int, int]
_Node = tuple[_Split | None, int, int, list[float], float]
_Shape = tuple[int | None, int | None, int]
_Limits = tuple[float | None, int | None, float, int]
_Columns = Sequence[tuple[str, NDArray[np.float64] | list[str] | list[int] | list[float] | None]]
_Prices = tuple[Sequence[tuple[float, float, int | None]], Sequence[int | None]]
_Pulse = Callable[[float, float, float, int, int, int], object]

@final
class Tree:
    def __new__(cls, parts: Sequence[_Node]) -> Tree: ...
    def parts(self) -> list[_Node]: ...
    def apply(
        self, slots: Sequence[int], arrays: Sequence[NDArray[Any]], n_rows: int
    ) -> NDArray[np.uint32]: ...
    def __reduce__(self) -> tuple[Any, tuple[list[_Node]]]: ...

@final
class Table:
    def __new__(cls, arrays: Sequence[NDArray[Any]]) -> Table: ...
    def values(self, column: int) -> NDArray[Any]: ...
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
    ) -> tuple[Points, NDArray[np.int64]]: ...
    def locate(
        self, codes: Sequence[NDArray[np.uint32] | None], n_codes: Sequence[int]
    ) -> tuple[Points, NDArray[np.uint32]]: ...

@final
class Points:
    def __new__(
        cls, codes: Sequence[NDArray[np.uint32]], rows: NDArray[np.uint64]
    ) -> Points: ...
    @property
    def codes(self) -> list[NDArray[np.uint32]]: ...
    @property
    def rows(self) -> NDArray[np.uint64]: ...

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
    def seconds(self) -> float: ...
    @property
    def nodes(self) -> int: ...
    @property
    def kernel_calls(self) -> int: ...
    @property
    def peak_bytes(self) -> int: ...
    @property
    def curve(self) -> list[tuple[float, float, float]]: ...
    @property
    def is_open(self) -> bool: ...
    @property
    def is_of_nodes(self) -> bool: ...
    def go_on(self, limits: _Limits, pulse: _Pulse | None = None) -> Answer: ...
    def with_most_leaves(self, most: int, limits: _Limits, pulse: _Pulse | None = None) -> Answer: ...

def solve_classes(
    columns: _Columns,
    points: Points,
    weights: NDArray[np.float64],
    costs: Sequence[float],
    class_weights: Sequence[float],
    balanced: bool,
    prices: _Prices | None,
    leaf_penalty: float,
    shape: _Shape,
    limits: _Limits,
    pulse: _Pulse | None = None,
    regrets: NDArray[np.float64] | None = None,
) -> Answer: ...
def solve_metric(
    columns: _Columns,
    points: Points,
    weights: NDArray[np.float64],
    class_weights: Sequence[float],
    balanced: bool,
    metric: str,
    beta: float,
    positive: int,
    leaf_penalty: float,
    shape: _Shape,
    limits: _Limits,
    pulse: _Pulse | None = None,
) -> Answer: ...
def solve_impurity(
    columns: _Columns,
    points: Points,
    weights: NDArray[np.float64],
    class_weights: Sequence[float],
    balanced: bool,
    impurity: str,
    n_cuts: int,
    leaf_penalty: float,
    shape: _Shape,
    limits: _Limits,
    pulse: _Pulse | None = None,
) -> Answer: ...
def description_bits(
    weights: NDArray[np.float64], n_classes: int, n_cuts: int
) -> tuple[float, float]: ...
def solve_rates(
    columns: _Columns,
    points: Points,
    deviance: str,
    targets: NDArray[np.float64],
    exposures: NDArray[np.float64] | None,
    weights: NDArray[np.float64] | None,
    point_of: NDArray[np.uint32],
    leaf_penalty: float,
    shape: _Shape,
    limits: _Limits,
    pulse: _Pulse | None = None,
) -> Answer: ...
def solve_targets(
    columns: _Columns,
    points: Points,
    n_classes: Sequence[int],
    weights: NDArray[np.float64],
    leaf_penalty: float,
    shape: _Shape,
    limits: _Limits,
    pulse: _Pulse | None = None,
) -> Answer: ...
def solve_custom(
    columns: _Columns,
    points: Points,
    task: tuple[Any, int | None, Sequence[float], bool, bool, float | None],
    stats: NDArray[np.int64],
    normalizer: float,
    leaf_penalty: float,
    shape: _Shape,
    limits: _Limits,
    pulse: _Pulse | None = None,
) -> Answer: ...
def solve_rows(
    columns: _Columns,
    points: Points,
    costs: NDArray[np.float64],
    n_labels: int,
    error: float,
    normalizer: float,
    weights: Sequence[float],
    prices: _Prices | None,
    leaf_penalty: float,
    shape: _Shape,
    limits: _Limits,
    pulse: _Pulse | None = None,
    regrets: NDArray[np.float64] | None = None,
) -> Answer: ...
def solve_squares(
    columns: _Columns,
    points: Points,
    targets: NDArray[np.float64],
    point_of: NDArray[np.uint32],
    weights: NDArray[np.int64] | None,
    leaf_penalty: float,
    shape: _Shape,
    limits: _Limits,
    pulse: _Pulse | None = None,
    regrets: NDArray[np.float64] | None = None,
    given: NDArray[np.float64] | None = None,
) -> Answer: ...
def count_rows(
    nodes: NDArray[np.uint32], n_nodes: int, kept: NDArray[np.bool_] | None = None
) -> list[int]: ...
def sum_by_point(
    point_of: NDArray[np.uint32],
    n_points: int,
    values: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]: ...
def solve_limited(
    columns: _Columns,
    points: Points,
    weights: NDArray[np.float64],
    costs: Sequence[float],
    class_weights: Sequence[float],
    leaf_penalty: float,
    class_of: Sequence[int],
    limited: Sequence[tuple[str, int, Sequence[int], Sequence[int], float]],
    shape: _Shape,
    limits: _Limits,
    pulse: _Pulse | None = None,
) -> tuple[Answer, list[float]]: ...
def solve_limited_metric(
    columns: _Columns,
    points: Points,
    weights: NDArray[np.float64],
    class_weights: Sequence[float],
    class_of: Sequence[int],
    metric: str,
    beta: float,
    positive: int,
    leaf_penalty: float,
    limited: Sequence[tuple[str, int, Sequence[int], Sequence[int], float]],
    shape: _Shape,
    limits: _Limits,
    pulse: _Pulse | None = None,
) -> tuple[Answer, list[float]]: ...
def solve_limited_rows(
    columns: _Columns,
    points: Points,
    costs: NDArray[np.float64],
    n_labels: int,
    error: float,
    normalizer: float,
    weights: NDArray[np.float64],
    n_groups: int,
    leaf_penalty: float,
    limited: Sequence[tuple[str, int, Sequence[int], Sequence[int], float]],
    shape: _Shape,
    limits: _Limits,
    pulse: _Pulse | None = None,
) -> tuple[Answer, list[float]]: ...
def solve_roc(
    columns: _Columns,
    points: Points,
    weights: NDArray[np.float64],
    max_fpr: float,
    first_is_positive: bool,
    leaf_penalty: float,
    shape: _Shape,
    limits: _Limits,
    pulse: _Pulse | None = None,
) -> Answer: ...
