"""Names that users pass: what they may have meant."""

from __future__ import annotations

from collections.abc import Sequence


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """Return the names most similar to one, ignoring case.

    >>> nearest("Incom", ["age", "income"])
    ['income']
    """
    from difflib import get_close_matches  # needed only for mistakes

    lower = {other.lower(): other for other in known}
    found = get_close_matches(name.lower(), list(lower), n=3, cutoff=0.6)
    return [lower[match] for match in found]
