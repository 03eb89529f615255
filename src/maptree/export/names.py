"""Names of columns as identifiers of C, unique and without clashes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_LONGEST = 40
# Keywords of C and C++, and what compilers and standard headers may define as macros.
_WORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl
    complex concept const consteval constexpr constinit continue decltype default delete do double
    dynamic_cast else enum errno explicit export extern false float for friend goto i386 if
    imaginary import inline int linux long module mutable namespace new noexcept not not_eq nullptr
    operator or or_eq private protected public register reinterpret_cast requires restrict return
    short signed sizeof static static_assert static_cast struct switch template this thread_local
    throw true try typedef typeid typename typeof union unix unsigned using virtual void volatile
    wchar_t while xor xor_eq NULL NAN INFINITY EOF
"""
_RESERVED = frozenset(_WORDS.split())
_MACRO = re.compile(r"(U?INT|PTRDIFF|SIG_ATOMIC|SIZE|WCHAR|WINT|DBL|FLT|LDBL)\d*_[A-Z0-9_]*")


def c_names(names: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """Return an identifier for each name; no two are the same, not even in another case.

    Nor is one among those ``taken``.

    >>> c_names(["age", "Größe (cm)", "int", "2nd", "", "age", "_x"])
    ['age', 'Grosse_cm', 'int_', 'x2nd', 'x', 'age_2', 'x_x']
    >>> c_names(["age", "Leaf"], taken=["leaf"])
    ['age', 'Leaf_2']
    """
    found: list[str] = []
    folded = {name.casefold() for name in taken}
    for name in names:
        first = _clean(name)
        unique, number = first, 1
        while unique.casefold() in folded:
            number += 1
            unique = f"{first}_{number}"
        folded.add(unique.casefold())
        found.append(unique)
    return found


def _clean(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore")
    cleaned = re.sub(r"[^0-9A-Za-z]+", "_", plain.decode()).rstrip("_")[:_LONGEST]
    if not cleaned or not cleaned[0].isalpha():
        cleaned = f"x{cleaned}"
    if cleaned in _RESERVED or _MACRO.fullmatch(cleaned):
        cleaned += "_"
    return cleaned
