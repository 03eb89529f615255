"""Names of columns that users write, and those that they meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from maptree.cli.refusal import Refusal

_SHOWN = 12


def split_names(given: Iterable[str] | None, known: Sequence[str]) -> list[str]:
    """Return the names of an option that takes several, with commas or again and again.

    >>> split_names(["id,name", "first, last"], ["id", "name", "first, last"])
    ['id', 'name', 'first, last']
    """
    names: list[str] = []
    for part in given or ():
        names += [part] if part in known else [name.strip() for name in part.split(",")]
    return [name for name in names if name]


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """Return the names that are most like one, whatever the case.

    >>> nearest("Incom", ["age", "income"])
    ['income']
    """
    lower = {other.lower(): other for other in known}
    found = get_close_matches(name.lower(), list(lower), n=3, cutoff=0.6)
    return [lower[match] for match in found]


def refuse_unknown(names: Iterable[str], known: Sequence[str], where: str) -> None:
    """Refuse names of columns that are not there, with those that may have been meant."""
    lacking = [name for name in names if name not in known]
    if not lacking:
        return
    raise Refusal(f"{where} has no column {listed(lacking)}. {hint(lacking, known)}")


def hint(lacking: Sequence[str], known: Sequence[str]) -> str:
    """Say what may have been meant by names that are not there."""
    meant = [
        f"{match[0]!r} for {name!r}" if len(lacking) > 1 else " or ".join(map(repr, match))
        for name in lacking
        if (match := nearest(name, known))
    ]
    if meant:
        return f"Did you mean {', '.join(meant)}?"
    return f"There are: {listed(known)}."


def listed(names: Sequence[str]) -> str:
    """List names, not too many."""
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN:,} more"
