"""Standard output and standard error, which may be closed, full, or a pipe that nobody reads.

What cannot be written to standard output is a fault of the command: ``OutputLost``. It is no
OSError: typer and rich would end the program where they see one, each in its own way. What cannot
be written to standard error is dropped: there is nowhere left to say so.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

from maptree.files.controls import shown_lines


class OutputLost(Exception):  # noqa: N818
    """Standard output cannot be written."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(cause.strerror or str(cause))
        self.reader_gone = isinstance(cause, BrokenPipeError)


class _Guarded:
    """A stream, or None if the program was started without it."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def write(self, text: str) -> int:
        try:
            if self._stream is None:
                raise OSError(errno.EBADF, "it is closed")
            return self._stream.write(text)
        except OSError as error:
            self._lose(error)
        return len(text)

    def flush(self) -> None:
        try:
            if self._stream is not None:
                self._stream.flush()
        except OSError as error:
            self._lose(error)

    def _lose(self, error: OSError) -> None:
        # Python flushes again when it exits, and would fail again.
        with contextlib.suppress(OSError, ValueError, AttributeError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, cast(TextIO, self._stream).fileno())
            os.close(nowhere)


class _Results(_Guarded):
    """Once something was lost, all that follows is."""

    _lost: OSError | None = None

    def write(self, text: str) -> int:
        if self._lost is not None:
            raise OutputLost(self._lost)
        return super().write(text)

    def flush(self) -> None:
        if self._lost is not None:
            raise OutputLost(self._lost)
        super().flush()

    def _lose(self, error: OSError) -> None:
        self._lost = error
        super()._lose(error)
        raise OutputLost(error) from None


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Guard both streams, and forget which files an earlier command wrote."""
    before = sys.stdout, sys.stderr
    _written.clear()
    sys.stdout = cast(TextIO, _Results(before[0]))
    sys.stderr = cast(TextIO, _Guarded(before[1]))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class _Shown:
    """Standard output on a terminal, for data: control characters are escaped."""

    def write(self, text: str) -> int:
        return sys.stdout.write(shown_lines(text))


def data_output() -> TextIO:
    """Return where to write data: unchanged into a pipe or a file, escaped on a terminal."""
    return cast(TextIO, _Shown()) if sys.stdout.isatty() else sys.stdout


_written: list[str] = []


def written(path: str) -> None:
    """Remember a file that is complete, for messages about what happens later."""
    if path not in _written:
        _written.append(path)


def what_was_written() -> str:
    """Return a sentence about the files that are complete; empty if there are none."""
    return "".join(f" {path} was written." for path in _written)
