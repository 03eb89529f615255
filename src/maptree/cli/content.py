"""The bytes of a file in memory that Arrow owns.

Arrow reads ahead on threads of its own, and one of these may be the last to let go of the bytes,
even after an error was raised. If they were Python's, the thread would need the interpreter to
free them; and while the interpreter ends, Python kills such a thread and with it the process
("terminate called without an active exception"). So no object of Python's is handed to a reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

BLOCK = 1 << 20  # bytes copied at a time
_START = 1 << 16


def copied(parts: Iterable[bytes]) -> pa.Buffer:
    """Return a copy that Arrow owns.

    >>> copied([b"a,b", b"\\n"]).to_pybytes()
    b'a,b\\n'
    """
    sink = pa.BufferOutputStream()
    for part in parts:
        sink.write(part)
    return sink.getvalue()


def file_content(path: str, compressed: bool) -> pa.Buffer:
    """Return the bytes of a file, decompressed if it is."""
    if Path(path).is_file() and not compressed:
        with pa.OSFile(path) as file:
            return file.read_buffer()
    # Not read_buffer here: without a known size, that gives a buffer of Python's.
    with pa.input_stream(path, compression="detect") as stream:
        return copied(iter(lambda: stream.read(BLOCK), b""))


def start(content: pa.Buffer) -> bytes:
    """Return the first bytes, which hold a header of any usual length."""
    beginning: bytes = content.slice(0, min(_START, content.size)).to_pybytes()
    return beginning


def blocks(content: pa.Buffer) -> Iterator[bytes]:
    """Return the content part by part, so that no second copy of it is needed."""
    for first in range(0, content.size, BLOCK):
        yield content.slice(first, min(BLOCK, content.size - first)).to_pybytes()
