"""Bytes as a sequence of choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Choices:
    """Makes choices by bytes; after the last byte, the first choice every time."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    @property
    def done(self) -> bool:
        """Whether no bytes are left."""
        return self._at >= len(self._content)

    def below(self, n: int) -> int:
        """Choose a whole number below n, which is at most 65,536."""
        size = 1 if n <= 256 else 2
        part = self._content[self._at : self._at + size]
        self._at += size
        return int.from_bytes(part, "little") % n

    def one_of(self, items: Sequence[Item]) -> Item:
        """Choose one."""
        return items[self.below(len(items))]

    def maybe(self) -> bool:
        """Choose whether."""
        return self.below(2) == 1

    def take(self, n: int) -> bytes:
        """Take the next bytes, and zeros where there are none."""
        part = self._content[self._at : self._at + n]
        self._at += n
        return part.ljust(n, b"\0")
