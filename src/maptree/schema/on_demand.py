"""Sequences whose items are made when they are looked at.

A column may have a million thresholds, of which a tree tests ten: none of them is an object before
it is needed. Such a sequence is equal to a tuple of the same items.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from operator import eq
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item", covariant=True)

# Items made at a time, where all are looked at.
_BLOCK = 1 << 12
# Longer sequences are shown by their number of items.
_SHOWN = 32


class OnDemand(Sequence[Item]):
    """A sequence that makes its items, in blocks where several are asked for."""

    @abstractmethod
    def _block(self, start: int, stop: int) -> list[Item]:
        """Make the items from ``start`` to before ``stop``."""

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                return tuple(self._block(start, max(start, stop)))
            return tuple(self[i] for i in range(start, stop, step))
        i = range(len(self))[index]
        return self._block(i, i + 1)[0]

    def __iter__(self) -> Iterator[Item]:
        for start in range(0, len(self), _BLOCK):
            yield from self._block(start, min(start + _BLOCK, len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (tuple, OnDemand)):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self)) if len(self) <= _SHOWN else f"<{len(self):,} of them>"


class WholeNumbers(OnDemand[int]):
    """Whole numbers from 0 on in an array.

    >>> levels = WholeNumbers(np.array([1, 0, 1], np.int8))
    >>> levels, levels == (1, 0, 1)
    ((1, 0, 1), True)
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.array.setflags(write=False)
        # How many there are of each.
        self.sizes: tuple[int, ...] = tuple(np.bincount(array).tolist())

    def __len__(self) -> int:
        return len(self.array)

    def _block(self, start: int, stop: int) -> list[int]:
        found: list[int] = self.array[start:stop].tolist()
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.array, dtype=dtype, copy=copy)


def sizes_of(numbers: Sequence[int]) -> tuple[int, ...]:
    """Return how many of some whole numbers are 0, 1, and so on."""
    if isinstance(numbers, WholeNumbers):
        return numbers.sizes
    return tuple(np.bincount(np.asarray(numbers)).tolist())
