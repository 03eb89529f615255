"""Words for binary tests and for the conditions along a path."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_OPPOSITE = {"=": "!=", "!=": "=", "<=": ">", ">": "<=", "<": ">=", ">=": "<"}
_COMPARISON = re.compile(r" (=|!=|<=|>=|<|>) ")


def number_text(value: float) -> str:
    """Write a number so that reading it gives the same number, without a needless ".0".

    >>> number_text(45.5), number_text(60.0)
    ('45.5', '60')
    """
    return repr(float(value)).removesuffix(".0")


def yes_and_no(name: str) -> tuple[str, str]:
    """Say that a 0/1 column holds, and that it does not.

    A name that is itself a comparison needs no "= 1" after it:

    >>> yes_and_no("member")
    ('member = 1', 'member = 0')
    >>> yes_and_no("colour = red")
    ('colour = red', 'colour != red')
    """
    parts = _COMPARISON.split(name)
    if len(parts) != 3:
        return f"{name} = 1", f"{name} = 0"
    subject, sign, value = parts
    return name, f"{subject} {_OPPOSITE[sign]} {value}"


@dataclass(frozen=True)
class TestWords:
    """What the tests of a tree ask, for putting them into words.

    A threshold of NaN is the test "is 1" of a 0/1 column.

    >>> words = TestWords(["age", "member"], np.array([0, 0, 1]), np.array([45.5, 60, np.nan]))
    >>> words.condition([(0, False), (2, True), (1, True)])
    '45.5 < age <= 60 and member = 1'
    """

    __test__ = False  # not a test case, whatever pytest thinks of the name

    names: list[str]
    columns: NDArray[np.int32]
    thresholds: NDArray[np.float64]

    def condition(self, answers: Iterable[tuple[int, bool]]) -> str:
        """Put the answers along a path into words, those about one column merged."""
        above: dict[int, float] = {}
        at_most: dict[int, float] = {}
        said: dict[int, str] = {}  # by column, in the order in which the path meets them
        for test, answer in answers:
            column, threshold = int(self.columns[test]), float(self.thresholds[test])
            name = self.names[column]
            if np.isnan(threshold):
                said[column] = yes_and_no(name)[0 if answer else 1]
                continue
            if answer:
                at_most[column] = min(threshold, at_most.get(column, np.inf))
            else:
                above[column] = max(threshold, above.get(column, -np.inf))
            said[column] = _between(name, above.get(column), at_most.get(column))
        return " and ".join(said.values()) if said else "always"


def _between(name: str, above: float | None, at_most: float | None) -> str:
    if at_most is None:
        return name if above is None else f"{name} > {number_text(above)}"
    right = f"{name} <= {number_text(at_most)}"
    return right if above is None else f"{number_text(above)} < {right}"
