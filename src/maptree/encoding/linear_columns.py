"""Columns of a table as numbers for a linear model: what a tree is compared with.

Numbers, dates and ordered categories are standardised, missing ones replaced by the mean; the
answers to tests of categories and of missing values are used as 0 and 1.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maptree.encoding.answering import Answers
from maptree.encoding.prepared_columns import PreparedColumn
from maptree.schema.columns import Schema

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_MEASURED = ("number", "date", "datetime", "time", "duration", "ordered")


@dataclass(frozen=True)
class Scale:
    """How a column of numbers is standardised, by its training rows."""

    low: float
    high: float
    mean: float
    deviation: float

    @classmethod
    def of(cls, numbers: NDArray[np.float64]) -> Scale:
        """Measure numbers; those that are not finite do not count."""
        finite = numbers[np.isfinite(numbers)]
        if len(finite) == 0:
            return cls(0.0, 0.0, 0.0, 1.0)
        # Relative to the largest: squares of large numbers would be infinite.
        unit = max(float(np.abs(finite).max()), 1e-300)
        mean = float((finite / unit).mean()) * unit
        deviation = float((finite / unit).std()) * unit
        return cls(float(finite.min()), float(finite.max()), mean, deviation or 1.0)

    def apply(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the numbers standardised, within those of the training rows; missing ones as 0."""
        inside = np.where(np.isnan(numbers), self.mean, numbers).clip(self.low, self.high)
        return (inside - self.mean) / self.deviation


class LinearColumns:
    """The columns with a test as numbers, standardised by the rows that it is made with.

    Columns of ``without`` are left out, as in a tree that may not test them.
    """

    def __init__(self, schema: Schema, training: Answers, without: Collection[int] = ()) -> None:
        self._schema = schema
        self._without = frozenset(without)
        self._scales: dict[int, Scale] = {}
        self.training = self._design(training, fit=True)

    def of(self, answers: Answers) -> csr_matrix:
        """Return other rows as numbers."""
        return self._design(answers, fit=False)

    def _design(self, answers: Answers, fit: bool) -> csr_matrix:
        from scipy.sparse import csc_matrix, csr_matrix, hstack

        parts: list[Any] = []
        for j, column in enumerate(self._schema.columns):
            if not column.tests or j in self._without:
                continue
            prepared = answers.column(j)
            if column.kind in _MEASURED:
                numbers = _floats(prepared)
                if fit:
                    self._scales[j] = Scale.of(numbers)
                parts.append(self._scales[j].apply(numbers))
                if column.has_missing:
                    parts.append(prepared.values.is_missing())
            else:
                parts += [prepared.answer(test) for test in range(len(column.tests))]
        if not parts:
            return csr_matrix((answers.n_rows, 1), dtype=np.float64)
        each = [csc_matrix(part.astype(np.float64)[:, np.newaxis]) for part in parts]
        return hstack(each, format="csr")


def _floats(column: PreparedColumn) -> NDArray[np.float64]:
    values = column.values
    numbers: NDArray[np.float64] = np.array(
        [np.nan if v is None else float(v) for v in values.data.tolist()]
        if values.data.dtype.kind == "O"
        else values.data,
        dtype=np.float64,
    )
    numbers[values.is_missing()] = np.nan
    return numbers
