"""The compiled search. The package's own modules wrap it; nothing here is public."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

def pack(X: NDArray[Any]) -> NDArray[np.uint8]:
    """Pack a 0/1 matrix: (columns, ceil(rows / 8)) bytes, row r at bit r % 8 of byte r // 8."""

class Dataset:
    def __init__(
        self,
        columns: NDArray[np.uint8],
        n_rows: int,
        labels: NDArray[np.int32],
        weights: NDArray[np.int64] | None,
        n_classes: int,
        fold_rows: bool = True,
        fold_columns: bool = True,
    ) -> None: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_classes(self) -> int: ...
    @property
    def n_distinct_rows(self) -> int: ...
    @property
    def n_distinct_columns(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def total_weight(self) -> int: ...

class Prior:
    def __init__(self, alpha: float, beta: float, rho: NDArray[np.float64]) -> None: ...

class Options:
    """Every shortcut of the search has a switch; Options() has all of them on."""

    fold_columns: bool
    fold_rows: bool
    compact: bool
    pair_expansion: bool
    prune: bool
    lazy_children: bool
    distinct_rows_bound: bool
    equivalent_rows_bound: bool
    structure_bound: bool
    gap_per_minority: bool
    free_solved: bool
    kernel: str
    max_depth: int
    min_samples_leaf: int

    def __init__(
        self,
        *,
        fold_columns: bool = True,
        fold_rows: bool = True,
        compact: bool = True,
        pair_expansion: bool = True,
        prune: bool = True,
        lazy_children: bool = True,
        distinct_rows_bound: bool = True,
        equivalent_rows_bound: bool = True,
        structure_bound: bool = True,
        gap_per_minority: bool = True,
        free_solved: bool = True,
        kernel: str = "auto",
        max_depth: int = -1,
        min_samples_leaf: int = 1,
    ) -> None: ...
    @staticmethod
    def paper(max_depth: int = -1, min_samples_leaf: int = 1) -> Options: ...

class Limits:
    def __init__(
        self,
        *,
        seconds: float = ...,
        max_expansions: int = -1,
        memory: int = -1,
        poll_seconds: float = 0.05,
    ) -> None: ...

class Progress:
    @property
    def seconds(self) -> float: ...
    @property
    def expansions(self) -> int: ...
    @property
    def subproblems(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float: ...
    @property
    def proved_depth(self) -> int: ...

class Result:
    @property
    def status(self) -> str: ...
    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float: ...
    @property
    def proved_depth(self) -> int: ...
    @property
    def expansions(self) -> int: ...
    @property
    def subproblems(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def peak_bytes(self) -> int: ...
    @property
    def trace(self) -> NDArray[np.float64]: ...
    @property
    def feature(self) -> NDArray[np.int32]: ...
    @property
    def left(self) -> NDArray[np.int32]: ...
    @property
    def right(self) -> NDArray[np.int32]: ...
    @property
    def counts(self) -> NDArray[np.int64]: ...

def search(
    dataset: Dataset,
    prior: Prior,
    options: Options,
    limits: Limits,
    on_progress: Callable[[Progress], object] | None = None,
) -> Result: ...
def kernels() -> list[str]: ...
