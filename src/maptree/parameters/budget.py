"""The budget of a search: its limits, and the trees that it considers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from maptree.parameters import limits
from maptree.parameters.numbers import whole_number


@dataclass(frozen=True)
class Constraints:
    """Constraints on the trees that the search considers; the certificate is about these trees."""

    max_depth: int | None = None
    min_samples_leaf: int = 1


@dataclass(frozen=True)
class Budget:
    """Limits on all of ``fit``, and the constraints on trees; -1 and infinity mean none."""

    seconds: float
    expansions: int
    memory: int
    threads: int
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
    ) -> Self:
        """Check the parameters of a search that do not depend on the data."""
        return cls(
            seconds=limits.time_limit(time_limit),
            expansions=limits.max_expansions(max_expansions),
            memory=limits.memory_limit(memory_limit),
            threads=limits.n_threads(n_jobs),
            constraints=Constraints(
                None if max_depth is None else whole_number("max_depth", max_depth, least=0),
                whole_number("min_samples_leaf", min_samples_leaf, least=1),
            ),
        )
