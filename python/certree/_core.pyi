from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Answer", "Tree", "__version__", "solve_classes", "solve_rows"]

__version__: str

_Test = bool | str | int | float
_Split = tuple[int, _Test, int, int]
_Node = tuple[_Split | None, int, int, list[float], float]
_Shape = tuple[int | None, int | None, int]
_Limits = tuple[float | None, int | None, float, int]
_Columns = Sequence[tuple[str, list[str] | list[int] | list[float] | None]]
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
class Answer:
    @property
    def tree(self) -> Tree: ...
    @property
    def objective(self) -> float: ...
    @property
    def lower_bound(self) -> float: ...
    @property
    def status(self) -> str: ...
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

def solve_classes(
    columns: _Columns,
    codes: Sequence[NDArray[np.uint32]],
    rows: NDArray[np.uint64],
    weights: NDArray[np.float64],
    costs: Sequence[float],
    class_weights: Sequence[float],
    balanced: bool,
    leaf_penalty: float,
    shape: _Shape,
    limits: _Limits,
    pulse: _Pulse | None = None,
) -> Answer: ...
def solve_rows(
    columns: _Columns,
    codes: Sequence[NDArray[np.uint32]],
    rows: NDArray[np.uint64],
    costs: NDArray[np.float64],
    n_labels: int,
    normalizer: float,
    leaf_penalty: float,
    shape: _Shape,
    limits: _Limits,
    pulse: _Pulse | None = None,
) -> Answer: ...
