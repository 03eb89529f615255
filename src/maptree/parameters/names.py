"""Names that users pass: what they may have meant."""

from __future__ import annotations

from collections.abc import Sequence


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """Return the names most similar to one, ignoring case.

    >>> columns = ["age", "income", "dep_delay"]
    >>> nearest("Incom", columns), nearest("delay", columns), nearest("target", columns)
    (['income'], ['dep_delay'], [])
    >>> nearest("denied", ["deny", "dmi"])
    ['deny']
    """
    from difflib import get_close_matches  # needed only for mistakes

    given, lower = name.lower(), {other.lower(): other for other in known}
    # In names of three letters, one letter makes a larger difference.
    close = get_close_matches(given, list(lower), n=3, cutoff=0.66 if len(given) <= 3 else 0.75)
    part = [other for other in lower if _is_part(given, other) or _is_part(other, given)]
    if not close and not part:  # denied for deny
        part = [other for other in lower if len(given) > 3 and other[:3] == given[:3]]
    return [lower[other] for other in dict.fromkeys([*close, *part])][:3]


def _is_part(short: str, long: str) -> bool:
    most = len(short) >= 3 and 2 * len(short) > len(long)
    return most and (long.startswith(short) or long.endswith(short))
