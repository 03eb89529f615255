"""The user's cache directory, and files in it that are there whole or not at all."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from maptree import whole_file


def cache_folder() -> Path:
    """Return where maptree keeps what it has downloaded; it may not exist yet."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "maptree"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees a part of it, however many write it at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole_file.write_whole(path, content)
