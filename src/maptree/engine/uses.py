"""Where trees may test the columns: ``first_columns`` and ``without_columns``, for the core."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from maptree.parameters.budget import Constraints
from maptree.schema.columns import Schema

# As the core numbers them.
_ANYWHERE, _BELOW_ROOT, _NOWHERE = 0, 1, 2


def uses_of_columns(
    schema: Schema, constraints: Constraints, ranked: Collection[int] = ()
) -> NDArray[np.uint8] | None:
    """Return the use of every column of the core; None if all are tested anywhere.

    Those are the packed answers, a column for every test, then the columns that are ``ranked``.

    >>> from maptree.schema.columns import Column
    >>> age = Column("age", "number", "int64", thresholds=(30, 40))
    >>> smoker = Column("smoker", "boolean", "bool", categories=(False, True))
    >>> schema = Schema((age, smoker))
    >>> uses_of_columns(schema, Constraints(first_columns=(1,)))
    array([1, 1, 0], dtype=uint8)
    >>> uses_of_columns(schema, Constraints(without_columns=(0,)), ranked={0})
    array([0, 2], dtype=uint8)
    """
    if not constraints.first_columns and not constraints.without_columns:
        return None
    uses = np.full(len(schema.columns), _ANYWHERE, dtype=np.uint8)
    if constraints.first_columns:
        uses[:] = _BELOW_ROOT
        uses[list(constraints.first_columns)] = _ANYWHERE
    uses[list(constraints.without_columns)] = _NOWHERE
    is_ranked = np.zeros(len(uses), dtype=bool)
    is_ranked[list(ranked)] = True
    n_tests = np.where(is_ranked, 0, np.diff(schema.first_tests))
    return np.concatenate([np.repeat(uses, n_tests), uses[is_ranked]])
