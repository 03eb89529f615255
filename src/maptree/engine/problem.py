"""What is searched or sampled: a table of answers with its outcome, and the prior."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from maptree import _core
from maptree.engine.ordered_columns import OrderedColumns
from maptree.parameters.outcomes import STEPS
from maptree.parameters.prior import Prior
from maptree.trees.outcomes import Amounts, Numbers
from maptree.trees.tree import Tree

if TYPE_CHECKING:
    from maptree.tables.labels import Codes


@dataclass(frozen=True)
class Problem:
    """The answers to the tests, packed or as ranks, the outcome, weights, and the prior."""

    table: _core.PackedTable  # empty once the dataset was made
    codes: Codes
    weights: NDArray[np.int64] | None
    prior: Prior
    # One per test; None: all the same, or those of `ordered`.
    test_weights: NDArray[np.uint32] | None
    ordered: OrderedColumns | None = None  # empty once the dataset was made
    # Where trees may test each column of the core; None: anywhere.
    uses: NDArray[np.uint8] | None = None
    amounts: Amounts | None = None  # None: classes

    @property
    def constant(self) -> float:
        """What the table adds to the cost of every tree, which the core leaves out."""
        return 0.0 if self.amounts is None else self.amounts.constant

    @property
    def n_bytes(self) -> int:
        """Memory held outside the core while it works."""
        amounts = None if self.amounts is None else self.amounts.of_rows
        optional = (self.weights, self.test_weights, self.uses, amounts)
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
            len(self.prior.rho) if self.amounts is None else 1,
            fold_columns=fold_columns,
            memory_limit=memory_limit,
            seconds=deadline - time.perf_counter(),
            test_weights=test_weights,
            ordered=ordered,
            uses=self.uses,
            amounts=None if self.amounts is None else self.amounts.of_rows,
        )

    def settled(self, dataset: _core.Dataset, limits: _core.Limits) -> Problem:
        """Return the problem with a prior that is known.

        Where the noise of numbers is to come from the table, it is that within the leaves of a tree
        that is grown greedily (docs/design/outcomes.md).
        """
        amounts = self.amounts
        if amounts is None or amounts.wanted is None:
            return self
        grown = _core.search(dataset, self.core_prior(), _core.Options(improve=False), limits)
        tree = self.tree(grown.feature, grown.left, grown.right, grown.counts)
        return replace(self, amounts=amounts.with_noise(Numbers.noise_within(tree)))

    def core_prior(self) -> _core.Prior:
        """Return the prior as the core takes it."""
        of_trees = self.prior.alpha, self.prior.beta
        if self.amounts is None:
            return _core.Prior(*of_trees, self.prior.rho)
        outcome = self.amounts.outcome
        if isinstance(outcome, Numbers):
            leaf = outcome.prior
            return _core.Prior.of_numbers(*of_trees, leaf.kappa, leaf.nu, leaf.noise, STEPS)
        shape, rate = outcome.prior.shape, outcome.prior_exposure
        return _core.Prior.of_counts(*of_trees, shape, rate, outcome.units)

    def tree(
        self,
        feature: NDArray[np.int32],
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        counts: NDArray[np.int64],
    ) -> Tree:
        """Return a tree of the core; of numbers and counts the sums follow the number of rows."""
        if self.amounts is not None:
            return Tree(feature, left, right, counts[:, :1], counts[:, 1:])
        counts.setflags(write=False)
        return Tree(feature, left, right, counts)
