"""Names of any length and with any characters as short, visible, single lines."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable

ELLIPSIS = "…"
# Joiners are invisible, too, but they affect how words and emoji look.
_JOINERS = "\u200c\u200d"
_RIGHT_TO_LEFT = {"R", "AL", "AN"}
# Text between these is laid out separately, whatever its direction.
_ISOLATE, _END = "\u2068", "\u2069"


def visible(text: str) -> str:
    r"""Return one line in which nothing is hidden: invisible characters become escapes.

    >>> visible("two\nlines"), visible("a\u202eb"), visible("caf\u00e9 \U0001f600")
    ('two lines', 'a\\u202eb', 'café 😀')
    """
    shown = []
    for char in " ".join(text.split()):
        hidden = unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn")
        shown.append(f"\\u{ord(char):04x}" if hidden and char not in _JOINERS else char)
    return "".join(shown)


def shorten(text: str, most: int) -> str:
    """Cut the middle out of text that is longer than ``most`` characters.

    >>> shorten("a very long name of a column", 16)
    'a very lon…olumn'
    """
    if len(text) <= most:
        return text
    tail = (most - 1) // 3
    return f"{text[: most - 1 - tail]}{ELLIPSIS}{text[len(text) - tail :]}"


def distinct(texts: Iterable[str], most: int) -> list[str]:
    """Return short visible texts, with a number where two would be equal.

    >>> distinct(["a" * 99 + "b" + "a" * 99, "a" * 199, "c"], 6)
    ['aaaa…a', 'aaaa…a (2)', 'c']
    """
    seen: dict[str, int] = {}
    shown = []
    for text in texts:
        short = shorten(visible(text), most)
        while short in seen:
            seen[short] += 1
            short = f"{short} ({seen[short]})"
        seen[short] = 1
        shown.append(short)
    return shown


def isolate(text: str) -> str:
    """Keep right-to-left text from reordering the text around it."""
    if any(unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for char in text):
        return f"{_ISOLATE}{text}{_END}"
    return text


def text_width(text: str) -> float:
    """Return the approximate width of text, in units of its size, in bold letters of a wide font.

    >>> round(text_width("age <= 45.5"), 2)
    6.95
    """
    return sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    if letter in " .,:;'|!()[]{}ijlt1fr\"":
        return 0.45
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.1
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    return 0.95 if letter in "mwMW@%…" else 0.8 if letter.isupper() else 0.7


def fit(head: str, tail: str, room: float, width: Callable[[str], float] = text_width) -> str:
    """Return head + tail, cut to fit the space: the head first, down to a third, then the tail.

    The head is the name of a column and the tail the rest of the test, which matters more.

    >>> fit("temperature", " <= 45.5", 14, width=len)
    'tempe… <= 45.5'
    >>> fit("temperature", " = very high", 14, width=len)
    'tem… = very h…'
    """
    if width(head + tail) <= room:
        return head + tail
    head = _cut(head, max(room - width(tail), room / 3), width)
    return head + _cut(tail, room - width(head), width)


def _cut(text: str, room: float, width: Callable[[str], float]) -> str:
    """Return the longest beginning that fits with an ellipsis, by bisection."""
    if width(text) <= room:
        return text
    low, high = 0, len(text)  # high characters do not fit; low do, or nothing does
    while high - low > 1:
        middle = (low + high) // 2
        short = text[:middle].rstrip() + ELLIPSIS
        low, high = (middle, high) if width(short) <= room else (low, middle)
    return text[:low].rstrip() + ELLIPSIS
