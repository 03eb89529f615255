"""Downloading one file, with an error that says why it failed."""

from __future__ import annotations

import http.client
import time
from typing import NoReturn
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

TIMEOUT = 20.0  # seconds, for the whole file
MAX_BYTES = 64 << 20  # a longer file is not one of ours


class DownloadError(OSError):
    """A download that failed; the message says why."""


def fetch(url: str) -> bytes:
    """Return the whole file at a URL."""
    ends = time.monotonic() + TIMEOUT
    request = Request(url, headers={"User-Agent": "maptree", "Accept-Encoding": "identity"})
    try:
        with urlopen(request, timeout=TIMEOUT) as response:
            promised = response.headers.get("Content-Length")
            body = _read(response, ends)
    except DownloadError:
        raise
    except HTTPError as error:
        with error:
            raise DownloadError(f"the server answered {error.code} {error.reason}") from error
    except TimeoutError:
        _too_slow()
    except URLError as error:
        if isinstance(error.reason, TimeoutError):
            _too_slow()
        raise DownloadError(f"no connection ({error.reason})") from error
    except (OSError, http.client.HTTPException) as error:
        raise DownloadError(f"the transfer failed ({error!r})") from error
    # http.client takes a connection that closes early for the end of the file.
    if promised is not None and promised.isdigit() and int(promised) != len(body):
        raise DownloadError(f"the transfer ended after {len(body)} of {promised} bytes")
    return body


def _read(response: http.client.HTTPResponse, ends: float) -> bytes:
    parts: list[bytes] = []
    length = 0
    while part := response.read1(1 << 16):
        parts.append(part)
        length += len(part)
        if length > MAX_BYTES:
            raise DownloadError(f"the file is longer than {MAX_BYTES} bytes")
        # A server that sends a few bytes at a time never reaches the socket's timeout.
        if time.monotonic() > ends:
            _too_slow()
    return b"".join(parts)


def _too_slow() -> NoReturn:
    raise DownloadError(f"no complete answer within {TIMEOUT:g} s")
