"""The budget of a search: its limits, and the trees that it considers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from maptree.parameters import limits
from maptree.parameters.numbers import whole_number

# The core has seven bits for the leaves on one side of a split.
MOST_LEAVES = 128


@dataclass(frozen=True)
class Constraints:
    """Constraints on the trees that the search considers; the certificate is about these trees."""

    max_depth: int | None = None
    min_samples_leaf: int = 1
    max_leaf_nodes: int | None = None
    # Positions of columns: if a tree has a test, its first is of one of these (none: of any)...
    first_columns: tuple[int, ...] = ()
    without_columns: tuple[int, ...] = ()  # ...and no test is of these.


def read_max_leaf_nodes(value: object) -> int | None:
    """Return how many leaves a tree may have; None: any number.

    >>> read_max_leaf_nodes(8)
    8
    """
    if value is None:
        return None
    remedy = f"pass 1 to {MOST_LEAVES}, or None for trees of any size"
    return whole_number("max_leaf_nodes", value, 1, MOST_LEAVES, remedy)


@dataclass(frozen=True)
class Budget:
    """Limits on all of ``fit``, and the constraints on trees; -1 and infinity mean none."""

    seconds: float
    expansions: int
    memory: int
    threads: int
    patience: float
    constraints: Constraints

    @classmethod
    def read(
        cls,
        *,
        time_limit: object,
        max_expansions: object,
        memory_limit: object,
        max_depth: object,
        min_samples_leaf: object,
        n_jobs: object,
        max_leaf_nodes: object = None,
        patience: object = None,
    ) -> Self:
        """Check the parameters of a search that do not depend on the data."""
        return cls(
            seconds=limits.time_limit(time_limit),
            expansions=limits.max_expansions(max_expansions),
            memory=limits.memory_limit(memory_limit),
            threads=limits.n_threads(n_jobs),
            patience=limits.patience(patience),
            constraints=Constraints(
                None if max_depth is None else whole_number("max_depth", max_depth, least=0),
                whole_number("min_samples_leaf", min_samples_leaf, least=1),
                read_max_leaf_nodes(max_leaf_nodes),
            ),
        )
