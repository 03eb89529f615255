"""A web server on loopback that answers as mirrors do, well or badly."""

from __future__ import annotations

import contextlib
import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.uint8]


def dense(table: Table) -> bytes:
    """A table, label first, in rows of 0 and 1."""
    return b"".join(b" ".join(b"%d" % bit for bit in row) + b"\n" for row in table.tolist())


def items(table: Table, first: int = 0, shuffle: bool = False) -> bytes:
    """The same in item lists, items numbered from ``first``."""
    columns = list(range(1, table.shape[1]))
    names = [f"@{first + column - 1}: feature {column} = yes" for column in columns]
    if shuffle:
        names.reverse()
    lines = ["@relation made-up", *names, "@class: 0/1", "", "@data"]
    for row in table.tolist():
        held = [first + column - 1 for column in columns if row[column]]
        lines.append(" ".join(map(str, [*(reversed(held) if shuffle else held), row[0]])))
    return "\n".join(lines).encode() + b"\n"


class Mirror(ThreadingHTTPServer):
    """Answers ``/HOW/NAME.txt`` with ``table``, in the way that HOW says; counts the answers."""

    daemon_threads = True

    def __init__(self, table: Table) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.table = table
        self.asked: list[str] = []

    def url(self, how: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{how}/{{name}}.txt"


class _Handler(BaseHTTPRequestHandler):
    server: Mirror

    def do_GET(self) -> None:  # the name that http.server asks for
        self.server.asked.append(self.path)
        how = self.path.split("/")[1]
        table = self.server.table
        if how == "gone":
            self.send_error(404, "Not Found")
        elif how == "broken":
            self.send_error(500)
        elif how == "moved":
            self.send_response(302)
            self.send_header("Location", self.path.replace("moved", "dense"))
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif how == "cut-off":
            self._send(dense(table)[:-7], promised=len(dense(table)))
        elif how == "cut-off-unsaid":
            self._send(dense(table)[:-7], promised=None)
        elif how == "cut-off-gzip":
            self._send(gzip.compress(dense(table))[:-9])
        elif how == "silent":
            self._be_silent()
        elif how == "drip":
            self._drip(dense(table))
        elif how == "other-values":
            self._send(dense(1 - table))
        elif how == "other-shape":
            self._send(dense(table[:-1]))
        elif how == "page":
            self._send(b"<html>Sign in to this network</html>\n")
        elif how == "noise":
            self._send(b"\xff\xfe\x00\x01" * 50)
        elif how == "empty":
            self._send(b"")
        elif how == "dense-gzip":
            self._send(gzip.compress(dense(table)))
        elif how == "items-gzip":
            self._send(gzip.compress(items(table)))
        elif how == "items-shuffled":
            self._send(items(table, first=1, shuffle=True))
        elif how == "items":
            self._send(items(table))
        else:
            self._send(dense(table))

    def _send(self, body: bytes, promised: int | None = -1) -> None:
        self.send_response(200)
        if promised is not None:
            self.send_header("Content-Length", str(len(body) if promised < 0 else promised))
        self.end_headers()
        self.wfile.write(body)

    def _drip(self, body: bytes) -> None:
        """Send a byte, and nothing more: the answer has begun and does not end."""
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:1])
        self._be_silent()

    def _be_silent(self) -> None:
        """Wait until the client has gone."""
        with contextlib.suppress(OSError):
            self.rfile.read(1)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextlib.contextmanager
def serving(table: Table) -> Iterator[Mirror]:
    """Run a mirror for as long as the block lasts."""
    with Mirror(table) as mirror:
        thread = threading.Thread(target=mirror.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield mirror
        finally:
            mirror.shutdown()
            thread.join()
