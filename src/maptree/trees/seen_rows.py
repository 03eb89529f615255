"""Which rows a tree was fitted to: a digest of all, and a sample by which others are recognised.

The sample holds the least hashes of the distinct rows (a bottom-k sketch). Which rows these are
depends on nothing but their values, so a row of another table whose hash is at most the largest of
the sample was a training row exactly if its hash is in the sample. Of a table with few distinct
rows the sample holds all of them, and every row can be checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maptree.tables.row_hashes import Hashes, RowHashes, mixed

SAMPLE = 1024  # hashes, of 48 bits each
_LEVEL = 0.95


@dataclass(frozen=True)
class Overlap:
    """How many rows of a table a tree was fitted to.

    Attributes
    ----------
    rows : int
        Rows of the table.
    checked, equal : int
        Rows that could be checked, and those of them that are equal to a training row, in all
        columns with a test and in the class.
    low, high : float
        A 95% interval for the number of equal rows among all; both are ``equal`` if every row was
        checked.
    by_chance : float
        How many rows of another table of this size are expected to be equal to a training row,
        judging by how many training rows are equal to another one.
    same : bool
        Whether the table has the training rows, as often as in training, and no others.
    unknown : str
        Why no row could be checked; empty if some were.
    """

    rows: int
    checked: int = 0
    equal: int = 0
    low: float = 0.0
    high: float = 0.0
    by_chance: float = 0.0
    same: bool = False
    unknown: str = ""

    @property
    def exact(self) -> bool:
        """Whether every row was checked."""
        return self.checked == self.rows

    @property
    def estimate(self) -> int:
        """How many of all rows are equal to a training row: counted or estimated."""
        if not self.checked:
            return 0
        share = self.equal / self.checked
        return round(min(max(share * self.rows, self.low), self.high))

    @property
    def repeats(self) -> bool:
        """Whether equal rows may be others with the same values."""
        return self.by_chance >= 1


@dataclass(frozen=True)
class SeenRows:
    """What a tree remembers of the rows that it was fitted to; no values.

    Attributes
    ----------
    digest : str
        Of all rows in any order, 32 hexadecimal digits.
    hashes : tuple of int
        The least hashes of the distinct rows, ascending.
    rows, repeated : int
        Number of training rows with these hashes, and how many of them are equal to another one.
    """

    digest: str
    hashes: tuple[int, ...]
    rows: int
    repeated: int

    @classmethod
    def of(
        cls,
        table: RowHashes,
        codes: NDArray[Any],
        weights: NDArray[np.int64] | None = None,
    ) -> Self | None:
        """Summarise rows, each as often as its weight; None if there was no time for it."""
        total = _Digest()
        least, counts = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
        for rows, hashes in table.blocks(codes):
            times = np.ones(len(hashes), np.int64) if weights is None else weights[rows]
            if weights is not None:
                hashes, times = hashes[times > 0], times[times > 0]
            total.add(hashes, times)
            if len(least) == SAMPLE:
                small = hashes <= least[-1]
                if not small.any():
                    continue
                hashes, times = hashes[small], times[small]
            least, place = np.unique(np.concatenate([least, hashes]), return_inverse=True)
            counts = np.bincount(place, np.concatenate([counts, times])).astype(np.int64)
            least, counts = least[:SAMPLE], counts[:SAMPLE]
        if not table.complete:
            return None
        return cls(
            digest=str(total),
            hashes=tuple(least.tolist()),
            rows=int(counts.sum()),
            repeated=int(counts[counts > 1].sum()),
        )

    @cached_property
    def _hashes(self) -> Hashes:
        return np.array(self.hashes, dtype=np.uint64)

    def overlap(self, table: RowHashes, codes: NDArray[np.intp], n_training: int) -> Overlap:
        """Compare the rows of a table with the training rows; -1 is an unknown class."""
        total, whole = _Digest(), self.rows == n_training
        checked = equal = 0
        found: list[Hashes] = []
        for _, hashes in table.blocks(codes):
            total.add(hashes, np.ones(len(hashes), np.int64))
            can = hashes <= (np.uint64((1 << 64) - 1) if whole else self._hashes[-1])
            known = np.isin(hashes, self._hashes)
            checked += int(can.sum())
            equal += int(known.sum())
            found.append(np.unique(hashes[can]))
        n_rows = len(codes)
        share = self.repeated / self.rows
        if not checked:
            return Overlap(n_rows, unknown="the model recognises too few of its training rows")
        low = high = float(equal)
        if checked < n_rows:
            # Equal rows are checked together, or not at all: what counts are distinct rows.
            distinct = np.unique(np.concatenate(found))
            n, k = len(distinct), int(np.isin(distinct, self._hashes).sum())
            from scipy.special import betaincinv

            tail = (1 - _LEVEL) / 2
            low = n_rows * float(betaincinv(k, n - k + 1, tail)) if k else 0.0
            high = n_rows * float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else float(n_rows)
        return Overlap(
            rows=n_rows,
            checked=checked,
            equal=equal,
            low=low,
            high=high,
            by_chance=share * n_rows,
            same=n_rows == n_training and str(total) == self.digest,
        )


class _Digest:
    """Sums of hashes, which do not depend on the order of rows."""

    def __init__(self) -> None:
        self._sums = np.zeros(2, dtype=np.uint64)

    def add(self, hashes: Hashes, times: NDArray[np.int64]) -> None:
        weights = times.view(np.uint64)
        for i, terms in enumerate((mixed(hashes), mixed(~hashes))):
            self._sums[i : i + 1] += (terms * weights).sum(dtype=np.uint64)

    def __str__(self) -> str:
        return "".join(f"{value:016x}" for value in self._sums.tolist())
