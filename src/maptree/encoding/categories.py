"""Which categories of a column get a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.encoding.value_text import category_text
from maptree.tables.values import Category, Values

# Text is taken for an identifier if it has more different values than this, and more than one for
# every two rows: a test of a value would be about a row or two.
_FEW = 10
# So many values of an identifier are looked at to see whether they read as numbers.
_SOME = 100


@dataclass(frozen=True)
class Chosen:
    """The categories to test for, and what was seen."""

    categories: tuple[Category, ...]  # in order
    n_seen: int
    n_rows: int
    note: str = ""
    identifier: bool = False


def choose_categories(values: Values, weights: NDArray[np.int64] | None, most: int) -> Chosen:
    """Choose the categories to test for, in a column without missing values.

    Of two, one: the second in order, as in no and yes. Of more than ``most``, the most frequent;
    of equally frequent ones the first in order.
    """
    counts = np.bincount(values.data, weights, minlength=len(values.categories))
    seen = np.flatnonzero(counts)
    n_seen, n_rows = len(seen), int(counts.sum())
    if n_seen > max(_FEW, n_rows / 2):
        note = _about_numbers(values.categories[:_SOME])
        return Chosen((), n_seen, n_rows, note, identifier=True)
    notes = []
    if n_seen > most:
        notes.append(f"{most:,} of {n_seen:,} categories, the most frequent")
        least = np.partition(counts[seen], n_seen - most)[n_seen - most]
        seen = seen[counts[seen] >= least]  # more than so many if several are as frequent
    pairs = [(-int(counts[i]), values.categories[int(i)]) for i in seen]
    pairs.sort(key=lambda pair: (pair[0], _order(pair[1])))
    categories = sorted((category for _, category in pairs[:most]), key=_order)
    if n_seen > 1 and (about := _about_numbers(categories)):
        notes.append(about)
    if n_seen == 2 and most > 1:
        notes.append(f"the other value is {category_text(categories.pop(0))}")
    return Chosen(tuple(categories), n_seen, n_rows, "; ".join(notes))


def _order(category: Category) -> tuple[bool, Any]:
    """Order numbers before text, which cannot be compared with them."""
    return isinstance(category, str), category


def _about_numbers(categories: Sequence[Category]) -> str:
    """Return a note if text reads as numbers, or all of it but a word that may mean missing.

    >>> _about_numbers(["1.5", "2", "?"])
    'text that reads as numbers but for ?: convert it for thresholds, ? to missing if it means that'
    """
    words = [c for c in categories if not isinstance(c, str) or not _reads_as_number(c)]
    if not words:
        return "text that reads as numbers: convert it for thresholds"
    if len(words) > 1 or len(categories) < 3:
        return ""
    word = category_text(words[0])
    return (
        f"text that reads as numbers but for {word}: convert it for thresholds, {word} to missing "
        "if it means that"
    )


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
