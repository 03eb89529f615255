"""Labels of Python objects become the class numbers that sorting them would give."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from maptree.tables.labels import read_labels

LABELS = {
    "text": ["no", "yes", "", "no way"],
    "many": [f"class {i}" for i in range(300)],
    "huge": [10**30, -(10**30), 10**30 + 1],
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
