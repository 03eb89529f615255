"""How a command ends that cannot do what was asked."""

from __future__ import annotations

# Exit codes; `maptree --help` and docs/command-line.md list them.
UNUSABLE = 1
USAGE = 2
NOT_INSTALLED = 3
FAULT = 4
INTERRUPTED = 130
BROKEN_PIPE = 141


class Refusal(Exception):  # noqa: N818 (what was asked is at fault)
    """A user's mistake: the message says what is wrong, where, and what to do."""

    def __init__(self, message: str, code: int = UNUSABLE) -> None:
        super().__init__(message)
        self.code = code
