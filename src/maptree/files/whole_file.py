"""Files that are there whole or not at all."""

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
    """Open a file to be written; it takes its place only when the block ends without an error.

    Until then an older file stays as it is, and nobody ever sees a part of the new one, however
    many write it at once, even if the machine stops in the middle.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder, "note.txt")) as file:
    ...         _ = file.write(b"done")
    ...     Path(folder, "note.txt").read_bytes()
    b'done'
    """
    place = Path(os.path.realpath(path))  # through links, which stay
    mode = _mode_of(place)
    # Its own name and not one made of the file's, which may be as long as names can be.
    unfinished = place.parent / f".maptree-{secrets.token_hex(8)}.tmp"
    try:
        with open(unfinished, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            unfinished.chmod(mode)
        unfinished.replace(place)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise
    _sync_folder(place.parent)


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file as ``whole_file`` does."""
    with whole_file(path) as file:
        file.write(content)


def _mode_of(place: Path) -> int | None:
    """Return the permissions of a file that is to be replaced; refuse what is no plain file."""
    try:
        found = place.stat()
    except FileNotFoundError:
        if not place.parent.is_dir():
            raise FileNotFoundError(
                errno.ENOENT, "The folder is not there: make it first", str(place.parent)
            ) from None
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "This is a folder: name a file in it", str(place))
    if not stat.S_ISREG(found.st_mode):
        # Replacing a device or a pipe by a file would take it from everybody else.
        raise OSError(errno.EINVAL, "This is no plain file: name another", str(place))
    return stat.S_IMODE(found.st_mode)


def _sync_folder(folder: Path) -> None:
    """Have the folder's entry on the disk, too, where the system offers that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
