"""Labels of Python objects become the class numbers that sorting them would give."""

from __future__ import annotations

import datetime as dt
import sys
from decimal import Decimal

import numpy as np
import pytest

from maptree.tables.labels import read_labels

LABELS = {
    "text": ["no", "yes", "", "no way"],
    "many": [f"class {i}" for i in range(300)],
    "huge": [10**30, -(10**30), 10**30 + 1],
    "decimals": [Decimal(i) / 8 for i in range(-20, 300)],  # of -1 and -2 the hash is one
    "equal decimals": [Decimal("1.0"), Decimal("1.00"), Decimal("-0"), Decimal(0)],
    "one hash": [i * sys.hash_info.modulus for i in range(5, 400)],
    "dates": [dt.date(2020, 1, day) for day in (3, 1, 2)],
}


@pytest.mark.parametrize("name", LABELS)
def test_objects_are_numbered_in_their_order(name: str) -> None:
    some = LABELS[name]
    y = np.empty(2000, dtype=object)
    y[:] = [some[i] for i in np.random.default_rng(0).integers(len(some), size=len(y))]
    classes, codes = read_labels(y, len(y))
    assert classes.tolist() == sorted(set(y))
    assert classes[codes].tolist() == y.tolist()
    assert codes.dtype == (np.int32 if len(some) > 256 else np.uint8)


class Counted(Decimal):
    """A Decimal that counts how often it is compared."""

    comparisons = 0
    __hash__ = Decimal.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return Decimal.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        Counted.comparisons += 1
        return Decimal.__ne__(self, other)

    def __lt__(self, other: Decimal) -> bool:
        Counted.comparisons += 1
        return Decimal.__lt__(self, other)


def test_labels_of_one_hash_are_not_compared_each_with_each() -> None:
    """Hashes of numbers are public: 60,000 such labels took a minute."""
    n = 2000
    y = np.empty(n, dtype=object)
    y[:] = [Counted(i * sys.hash_info.modulus) for i in range(n)]
    assert len(set(map(hash, y))) == 1
    Counted.comparisons = 0
    classes, codes = read_labels(y, n)
    assert len(classes) == n
    assert codes.tolist() == list(range(n))
    assert Counted.comparisons < 20 * n  # each with each: n / 2 for each


@pytest.mark.parametrize("hole", [None, float("nan"), np.datetime64("NaT")])
def test_a_word_for_a_missing_label_hides_none(hole: object) -> None:
    """The text "nan" is a label, what comes after it may still be missing."""
    y = np.array(["nan", "yes", hole, "no"], dtype=object)
    with pytest.raises(ValueError, match="missing label at row 2"):
        read_labels(y, 4)
    assert read_labels(np.array(["nan", "yes"], dtype=object), 2)[0].tolist() == ["nan", "yes"]


def test_labels_without_an_order() -> None:
    y = np.array([1j, 2j, object()], dtype=object)
    with pytest.raises(TypeError, match=r"mixed types|put in order"):
        read_labels(y, 3)
