"""Atomic file writing: a file appears complete, or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing; it appears under its name only if the block ends without an error.

    Until then an existing file stays as it is, and nobody ever sees a partial file, even if several
    processes write it at once or the machine stops midway.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder, "note.txt")) as file:
    ...         _ = file.write(b"done")
    ...     Path(folder, "note.txt").read_bytes()
    b'done'
    """
    place = Path(os.path.realpath(path))  # follow links, so that they stay links
    mode = _mode_of(place)
    # A short name of its own: the file's name may already have the maximum length.
    unfinished = place.parent / f".maptree-{secrets.token_hex(8)}.tmp"
    try:
        with open(unfinished, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            unfinished.chmod(mode)
        unfinished.replace(place)
    except BaseException as error:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        if isinstance(error, OSError) and error.filename in (None, str(unfinished)):
            error.filename = str(path)  # the name that the user knows
            error.filename2 = None
        raise
    _sync_folder(place.parent)


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file as ``whole_file`` does."""
    with whole_file(path) as file:
        file.write(content)


def _mode_of(place: Path) -> int | None:
    """Return the permissions of the file to replace; refuse anything but a regular file."""
    try:
        found = place.stat()
    except FileNotFoundError:
        if not place.parent.is_dir():
            raise FileNotFoundError(
                errno.ENOENT, "The folder does not exist: create it first", str(place.parent)
            ) from None
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "This is a folder: name a file in it", str(place))
    if not stat.S_ISREG(found.st_mode):
        # Replacing a device or a pipe with a file would break it for everybody else.
        raise OSError(errno.EINVAL, "This is not a regular file: name another", str(place))
    return stat.S_IMODE(found.st_mode)


def _sync_folder(folder: Path) -> None:
    """Flush the folder's entry to disk, too, where the system supports that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
