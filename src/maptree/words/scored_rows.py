"""What is known about rows that a tree is scored on: were they used for fitting?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from maptree.trees.seen_rows import Overlap
from maptree.words.values import count

_SAMPLE = "(Models remember a sample of their training rows.)"
_FLATTERED = "Scores on rows used for fitting do not show how well the tree predicts others."


def rows_heading(overlap: Overlap) -> str:
    """Return a heading for scores, which claims no more than is known.

    >>> rows_heading(Overlap(200, checked=200))
    'On held-out rows'
    >>> rows_heading(Overlap(200, checked=200, equal=50, low=50, high=50))
    'On rows of which 50 of 200 were used for fitting'
    >>> rows_heading(Overlap(200, checked=20, equal=5, low=17, high=98))
    'On rows of which about 50 of 200 were used for fitting'
    """
    if overlap.same:
        return "On the rows it was fitted to"
    if not overlap.checked:
        return "On the rows given"
    if not overlap.equal:
        return "On held-out rows" if overlap.exact else "On rows that were probably held out"
    were, used = (
        ("are", "equal to training rows") if overlap.repeats else ("were", "used for fitting")
    )
    if overlap.equal == overlap.checked:
        return f"On rows that {were} {'' if overlap.exact else 'probably '}all {used}"
    about = "" if overlap.exact else "about "
    return f"On rows of which {about}{overlap.estimate:,} of {overlap.rows:,} {were} {used}"


def rows_sentences(overlap: Overlap, target: str = "the class") -> list[str]:
    """Return what is known about the rows in sentences; ``target`` is what the tree predicts.

    >>> rows_sentences(Overlap(200, unknown="the model file does not say"))
    ['It is not known whether the tree was fitted to these rows: the model file does not say.']
    >>> rows_sentences(Overlap(200, checked=200))
    ['None of the 200 rows is equal to a training row.']
    >>> rows_sentences(Overlap(2200, checked=2200, equal=2200, by_chance=2199.0))[0]
    'All 2,200 rows are equal to training rows in every column with a test and in the class.'
    """
    rows = count(overlap.rows, "row")
    if overlap.same:
        return [f"The tree was fitted to these {rows}. {_FLATTERED}"]
    if not overlap.checked:
        return [f"It is not known whether the tree was fitted to these rows: {overlap.unknown}."]
    if overlap.exact and not overlap.equal:
        return [f"None of the {rows} is equal to a training row."]
    sentences = [_counted(overlap, target) if overlap.exact else _estimated(overlap)]
    if overlap.equal and overlap.repeats:
        sentences.append(_repeated(overlap))
    elif overlap.equal:
        sentences.append(_FLATTERED)
    return sentences


def _repeated(overlap: Overlap) -> str:
    """Say why equal rows need not have been used for fitting."""
    expected = round(overlap.by_chance)
    held_out = (
        "nearly all" if expected >= overlap.rows else f"about {expected:,} of {overlap.rows:,}"
    )
    return (
        "This does not show that the tree was fitted to them: training rows repeat, and "
        f"{held_out} held-out rows would be equal to one, too."
    )


def _counted(overlap: Overlap, target: str) -> str:
    if overlap.equal == overlap.rows:
        return (
            f"All {count(overlap.rows, 'row')} are equal to training rows in every column with a "
            f"test and in {target}."
        )
    are = "is equal to a training row" if overlap.equal == 1 else "are equal to training rows"
    return (
        f"{overlap.equal:,} of {count(overlap.rows, 'row')} {are} in every column with a test and "
        f"in {target}."
    )


def _estimated(overlap: Overlap) -> str:
    checked = f"the {overlap.checked:,} rows" if overlap.checked > 1 else "the one row"
    if not overlap.equal:
        return (
            f"None of {checked} that can be checked is equal to a training row: with 95% "
            f"certainty, at most {overlap.high:,.0f} of {overlap.rows:,} are. {_SAMPLE}"
        )
    return (
        f"{overlap.equal:,} of {checked} that can be checked are equal to training rows: with 95% "
        f"certainty {overlap.low:,.0f} to {overlap.high:,.0f} of {overlap.rows:,}. {_SAMPLE}"
    )


def overlap_document(overlap: Overlap) -> dict[str, Any]:
    """Return the same for ``--json``."""
    known = "same table" if overlap.same else "exact" if overlap.exact else "estimate"
    return {
        "known": known if overlap.checked else "nothing",
        "summary": rows_heading(overlap),
        **asdict(overlap),
        "estimate": overlap.estimate,
    }
