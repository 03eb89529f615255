"""Users' mistakes: refusals with their exit codes, and suggestions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from maptree.parameters.names import nearest

# Exit codes; `maptree --help` lists them.
UNUSABLE = 1
USAGE = 2
NOT_INSTALLED = 3
FAULT = 4
BROKEN_PIPE = 141

_SHOWN = 12  # names in a list


def interrupted_code() -> int:
    """Return the exit code after a signal, as a shell would: 130 for Ctrl-C."""
    from maptree.engine import interrupts

    return 128 + interrupts.last


class Refusal(Exception):  # noqa: N818 (what was asked is at fault)
    """A user's mistake: the message says what is wrong, where, and what to do."""

    def __init__(self, message: str, code: int = UNUSABLE) -> None:
        super().__init__(message)
        self.code = code


def split_names(given: Iterable[str] | None, known: Sequence[str]) -> list[str]:
    """Return the names from an option that takes several, separated by commas or repeated.

    >>> split_names(["id,name", "first, last"], ["id", "name", "first, last"])
    ['id', 'name', 'first, last']
    """
    names: list[str] = []
    for part in given or ():
        names += [part] if part in known else [name.strip() for name in part.split(",")]
    return [name for name in names if name]


def refuse_unknown(names: Iterable[str], known: Sequence[str], where: str) -> None:
    """Refuse names of columns that do not exist, and suggest similar ones."""
    absent = [name for name in names if name not in known]
    if not absent:
        return
    raise Refusal(f"{where} has no column {listed(absent)}. {hint(absent, known)}")


def hint(absent: Sequence[str], known: Sequence[str]) -> str:
    """Suggest existing names for names that do not exist."""
    meant = [
        f"{match[0]!r} for {name!r}" if len(absent) > 1 else " or ".join(map(repr, match))
        for name in absent
        if (match := nearest(name, known))
    ]
    if meant:
        return f"Did you mean {', '.join(meant)}?"
    return f"Choose from {listed(known)}."


def listed(names: Sequence[str]) -> str:
    """List names, shortened if there are many."""
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN:,} more"


def refuse_absent(path: str) -> None:
    """Refuse a file that does not exist, and suggest similar ones."""
    file = Path(path)
    if path == "-":
        return
    if file.is_dir():
        raise Refusal(f"{file} is a folder: name a file in it.")
    if not file.exists():
        raise Refusal(f"There is no file {file}.{_neighbours(file)}")


def _neighbours(file: Path) -> str:
    try:
        others = [other.name for other in file.parent.iterdir() if other.is_file()]
    except OSError:
        return f" The folder {file.parent} does not exist, either."
    # Nearly all tables have an extension in common, which makes no two of them similar.
    stems: dict[str, list[str]] = {}
    for other in sorted(others):
        stems.setdefault(other.partition(".")[0], []).append(other)
    near = []
    for stem in nearest(file.name.partition(".")[0], list(stems)):
        same = [other for other in stems[stem] if Path(other).suffix == file.suffix]
        near += same or stems[stem]
    near = near[:3]
    return f" Did you mean {' or '.join(str(file.parent / name) for name in near)}?" if near else ""
