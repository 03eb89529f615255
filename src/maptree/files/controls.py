"""Control characters in text from files: what a terminal would obey, it is only shown.

One rule for everything that is written:

- text for people, and data on a terminal: ``shown`` and ``shown_lines`` escape them;
- JSON: ``json_escaped`` escapes those that JSON itself does not (DEL, C1, unpaired surrogates);
- data in a file or a pipe: unchanged, because another program reads it.
"""

from __future__ import annotations

import re
from unicodedata import category

_CONTROLS = re.compile("[\x7f-\x9f\ud800-\udfff]")


def shown(text: object) -> str:
    r"""Escape all characters that cannot be printed.

    >>> print(shown("caf\u00e9\x1b[2J\x9b"))
    café\x1b[2J\x9b
    """
    return "".join(
        c if c.isprintable() or category(c) == "Zs" else c.encode("unicode_escape").decode()
        for c in str(text)
    )


def shown_lines(text: str) -> str:
    r"""Escape them, but keep tabs and the ends of lines.

    >>> shown_lines("a\tb\r\n\x1b")
    'a\tb\\r\n\\x1b'
    """
    return "\n".join("\t".join(map(shown, line.split("\t"))) for line in text.split("\n"))


def json_escaped(text: str) -> str:
    r"""Escape them in JSON text, where they can only be inside strings.

    >>> print(json_escaped('{"a": "\x9b2J"}'))
    {"a": "\u009b2J"}
    """
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
