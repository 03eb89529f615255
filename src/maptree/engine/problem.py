"""What is searched or sampled: a table of answers with labels, and the prior."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from maptree import _core
from maptree.engine.ordered_columns import OrderedColumns
from maptree.parameters.prior import Prior

if TYPE_CHECKING:
    from maptree.tables.labels import Codes


@dataclass(frozen=True)
class Problem:
    """The answers to the tests, packed or as ranks, class numbers, weights, and the prior."""

    table: _core.PackedTable  # empty once the dataset was made
    codes: Codes
    weights: NDArray[np.int64] | None
    prior: Prior
    # One per test; None: all the same, or those of `ordered`.
    test_weights: NDArray[np.uint32] | None
    ordered: OrderedColumns | None = None  # empty once the dataset was made
    # Where trees may test each column of the core; None: anywhere.
    uses: NDArray[np.uint8] | None = None

    @property
    def n_bytes(self) -> int:
        """Memory held outside the core while it works."""
        optional = (self.weights, self.test_weights, self.uses)
        held = sum(0 if array is None else array.nbytes for array in optional)
        schema = 0 if self.ordered is None else self.ordered.n_bytes_of_schema
        return self.codes.nbytes + held + self.prior.rho.nbytes + schema

    @property
    def n_bytes_of_ordered(self) -> int:
        """Memory held until the dataset is made."""
        return 0 if self.ordered is None else self.ordered.n_bytes

    def dataset(
        self, deadline: float, *, fold_columns: bool = True, memory_limit: int = -1
    ) -> _core.Dataset:
        """Hand the table to the core; not complete after ``deadline`` of ``time.perf_counter``."""
        ordered, test_weights = (
            ((), self.test_weights) if self.ordered is None else self.ordered.take()
        )
        return _core.Dataset(
            self.table,
            self.codes,
            self.weights,
            len(self.prior.rho),
            fold_columns=fold_columns,
            memory_limit=memory_limit,
            seconds=deadline - time.perf_counter(),
            test_weights=test_weights,
            ordered=ordered,
            uses=self.uses,
        )

    def core_prior(self) -> _core.Prior:
        """Return the prior as the core takes it."""
        return _core.Prior(self.prior.alpha, self.prior.beta, self.prior.rho)
