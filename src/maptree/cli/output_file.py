"""Files that a command may write over: its own, and no model, table or other work."""

from __future__ import annotations

from pathlib import Path

from maptree.cli.files import EXTENSIONS
from maptree.cli.refusal import Refusal
from maptree.model_file import FORMAT


def refuse_output(path: str, model: str, own: bytes | None = None) -> None:
    """Refuse to replace the model that is read, or a file that is not the command's own.

    Its own files begin with ``own``. Where they may begin with anything, model files and tables are
    refused; .txt may be either.
    """
    file = Path(path)
    if not file.is_file():
        return
    if file.samefile(model):
        raise Refusal(f"--output {path} is the model itself: name another file.")
    with open(file, "rb") as old:
        start = old.read(200).lstrip()
    if own is not None:
        if start and not start.startswith(own):
            raise Refusal(f"--output {path} is there and is no report: name another file.")
    elif FORMAT.encode() in start:
        raise Refusal(f"--output {path} is there and is a model: name another file.")
    elif start and file.suffix.lower() in set(EXTENSIONS) - {".txt"}:
        raise Refusal(f"--output {path} is there and is a table: name another file.")
