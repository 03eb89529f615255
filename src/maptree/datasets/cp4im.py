"""The CP4IM collection: its sets, their two file formats, and the places to look for a set.

A set comes from a folder, from the cache or from a mirror, as dense rows or as item lists, either
of them plain or gzipped. Dense: one row per line, 0/1 separated by spaces, the label first. Item
list: a header that names each item (``@0: hair``), ``@data``, then one row per line with the
numbers of the items that are 1, and the label last. Both give the same matrix: the label, then the
items by number.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maptree.datasets.tic_tac_toe import Dataset, load_tic_tac_toe
from maptree.files.whole_file import write_whole

# The collection's own site, with item lists, and the DL8.5 repository, with dense rows.
MIRRORS = (
    "https://dtai.cs.kuleuven.be/CP4IM/datasets/data/{name}.txt",
    "https://raw.githubusercontent.com/aia-uclouvain/pydl8.5/master/datasets/{name}.txt",
)
_FOLDER_VARIABLE = "MAPTREE_DATA"
_GZIP = b"\x1f\x8b"


class Cp4imSet(NamedTuple):
    """Name and shape of a set, and the checksum of its matrix."""

    name: str
    rows: int
    columns: int
    sha256: str


# Name, rows, columns, checksum.
_TABLE = """
anneal             812  93 1bfb9fb17f0c82073bc488548f6053e37c2d00e5a7f8aaf52583c2465bee8073
audiology          216 148 047681a757aa13c7485131d7a154d5685dc8c02eb73e1a3b76b8504484d42a3b
australian-credit  653 125 d51cdc453f3b4a087a1e5adcd8eb45acdbe712ef8cd92cccff0cfeb84c683f00
german-credit     1000 112 e5959fcd409569e1de32f7bb634c5aba8a063ff1e37a3aa60687ba2b12035b83
heart-cleveland    296  95 94caa90f0766496cbad365bb680bf5d018dac09ba10143d215893c0c576fc2f0
hepatitis          137  68 e142131f9b3b0f45012d194cda09204309b43e43d1a9f29f9dd04861fe7a9374
hypothyroid       3247  88 ee5d65975f689e0125b2ea2662d68e80a41fc7728b948707a5b52d6fc8919097
kr-vs-kp          3196  73 2a108e173caccf66db01fa3fe33855938abcfcab20868da3afd1b57df1789bfc
lymph              148  68 940f3b53d5eb8089f246e759136c3988c55e45ce890bb27d79d07821f29d3d08
mushroom          8124 119 88455ec3e99fbf7f7bd2ed71727aa8b9dba51b9ecccc160a66ee7d064ed0ca14
primary-tumor      336  31 65c4d33211de6dc5a3d539d2719ddb69d42447fa906f74410d0948a743ebcb4a
soybean            630  50 f3dffa86553a119763af4781c319236e43b90c0ed4950fde37d81357c0f14a6b
splice-1          3190 287 5cdad23c4f67e38cad88ee29682f931f87978f0aae49bb41caebb250a0c98534
tic-tac-toe        958  27 b17bf5c9c8f6df288bd960d0c00a5fc4fe65447b3e9de968eb827a2b01fbe838
vote               435  48 afb3ae171c89ef19df87a82356b3c4a3824bdaa4e497c218c7b42cbff16db671
zoo-1              101  36 47f65925057d65a10bc1ccf9eaefa90715ee8c10fe6878e1c3085b0939017340
"""

CP4IM_SETS = tuple(
    Cp4imSet(name, int(rows), int(columns), sha256)
    for name, rows, columns, sha256 in map(str.split, _TABLE.split("\n")[1:-1])
)


class DatasetNotFoundError(OSError):
    """A set is not on this machine and cannot be downloaded; the message lists what was tried."""


def load_cp4im(name: str, *, download: bool = True) -> Dataset:
    """Return a set of the CP4IM collection: 0/1 items, 0/1 labels.

    It is looked up in the folder named by ``$MAPTREE_DATA`` (``NAME.txt`` or ``NAME.txt.gz``, in
    either format), then in the user's cache directory; otherwise it is downloaded into that cache.
    A file is checked against a known checksum, so everybody who loads a set gets the same rows and
    columns in the same order. tic-tac-toe needs no file.

    Parameters
    ----------
    name : str
        One of the names in ``CP4IM_SETS``.
    download : bool, default=True
        If False, look on this machine only.

    Raises
    ------
    DatasetNotFoundError
        The set could not be loaded. The message says what was tried, why it failed and what to do.

    Examples
    --------
    >>> from maptree.datasets import CP4IM_SETS, load_cp4im
    >>> len(CP4IM_SETS), CP4IM_SETS[-1].name, CP4IM_SETS[-1].rows, CP4IM_SETS[-1].columns
    (16, 'zoo-1', 101, 36)
    >>> load_cp4im("tic-tac-toe").data.shape
    (958, 27)
    """
    known = next((known for known in CP4IM_SETS if known.name == name), None)
    if known is None:
        names = ", ".join(known.name for known in CP4IM_SETS)
        raise ValueError(f"There is no CP4IM set {name!r} here: choose one of {names}.")
    if name == "tic-tac-toe":
        return load_tic_tac_toe()

    tried: list[str] = []
    for where, read in _sources(name, download):
        try:
            table = _verified(read(), known)
        except FileNotFoundError:
            tried.append(f"{where}: no such file")
        except OSError as error:
            tried.append(f"{where}: {error.strerror or error}")
        except ValueError as error:
            tried.append(f"{where}: {error}")
            if not where.startswith(("http:", "https:")):
                warnings.warn(f"{where} is ignored: {error}.", stacklevel=2)
        else:
            if where.startswith(("http:", "https:")):
                _keep(name, table)
            return _dataset(table)
    raise DatasetNotFoundError(_not_found(name, tried, download))


def _sources(name: str, download: bool) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the places where a set may be, in order, each with the function that reads it."""
    folder = os.environ.get(_FOLDER_VARIABLE)
    if folder:
        for path in (Path(folder) / f"{name}.txt.gz", Path(folder) / f"{name}.txt"):
            yield str(path), path.read_bytes
    cached = _cached(name)
    yield str(cached), cached.read_bytes
    if download:
        from maptree.datasets.download import fetch  # which takes a while to import

        for mirror in MIRRORS:
            url = mirror.format(name=name)
            yield url, partial(fetch, url)


def _verified(raw: bytes, known: Cp4imSet) -> NDArray[np.uint8]:
    table = parse(raw)
    rows, width = table.shape
    if (rows, width - 1) != (known.rows, known.columns):
        raise ValueError(
            f"it has {rows} rows and {width - 1} columns, not {known.rows} and {known.columns}"
        )
    if checksum(table) != known.sha256:
        raise ValueError("its checksum differs: other values, or another order")
    return table


def _cached(name: str) -> Path:
    return cache_folder() / "cp4im" / f"{name}.txt.gz"


def _keep(name: str, table: NDArray[np.uint8]) -> None:
    lines = (" ".join(map(str, row)) for row in table.tolist())
    content = gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)
    try:
        _cached(name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(_cached(name), content)
    except OSError as error:
        warnings.warn(
            f"{name} could not be saved in the cache and will be downloaded again next time: "
            f"{error}.",
            stacklevel=3,
        )


def _dataset(table: NDArray[np.uint8]) -> Dataset:
    return Dataset(
        data=np.ascontiguousarray(table[:, 1:]),
        target=table[:, 0].astype(np.int64),
        feature_names=[f"item {item}" for item in range(table.shape[1] - 1)],
        target_names=["0", "1"],
    )


def _not_found(name: str, tried: list[str], download: bool) -> str:
    lines = [f"The CP4IM set {name} was not found. Tried:"]
    if not os.environ.get(_FOLDER_VARIABLE):
        lines.append(f"  ${_FOLDER_VARIABLE}: it is not set")
    lines += [f"  {line}" for line in tried]
    if not download:
        lines.append("  no download: download=False")
    lines.append(
        f"With a network connection, call load_cp4im again. Without one, get {name}.txt on another "
        f"machine from {' or '.join(mirror.format(name=name) for mirror in MIRRORS)}, put it into "
        f"a folder, and set the environment variable {_FOLDER_VARIABLE} to that folder."
    )
    return "\n".join(lines)


def cache_folder() -> Path:
    """Return the folder for downloaded files; it may not exist yet."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "maptree"


# Formats


def checksum(table: NDArray[np.uint8]) -> str:
    """Return the SHA-256 of a table: the label first, then the items by number.

    It is computed from the parsed matrix, so it does not depend on format or compression.

    >>> checksum(np.array([[1, 0, 1], [0, 1, 1]], dtype=np.uint8))[:16]
    '7095bf38ade62ce9'
    """
    rows, width = table.shape
    shape = f"{rows} {width - 1}\n".encode()
    return hashlib.sha256(shape + np.ascontiguousarray(table).tobytes()).hexdigest()


class FormatError(ValueError):
    """The bytes are in neither format."""


def parse(raw: bytes) -> NDArray[np.uint8]:
    """Return the matrix, the label in its first column.

    >>> parse(b"1 0 1\\n0 1 1\\n")
    array([[1, 0, 1],
           [0, 1, 1]], dtype=uint8)
    >>> parse(b"@relation two\\n@0: hair\\n@1: eggs\\n@class: kind\\n@data\\n1 1\\n0 1 0\\n")
    array([[1, 0, 1],
           [0, 1, 1]], dtype=uint8)
    """
    lines = _text(raw).splitlines()
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        raise FormatError("it is empty")
    return _parse_items(lines) if first.lstrip().startswith("@") else _parse_dense(lines)


def _text(raw: bytes) -> str:
    if raw.startswith(_GZIP):
        try:
            raw = gzip.decompress(raw)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(f"it is truncated or damaged: {error}") from error
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError("it is not text") from error


def _parse_dense(lines: list[str]) -> NDArray[np.uint8]:
    rows: list[bytes] = []
    width = 0
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            continue
        width = width or len(fields)
        digits = "".join(fields)
        if not width == len(fields) == len(digits) or digits.strip("01"):
            raise FormatError(
                f"line {number} does not have {width} values of 0 or 1: {line[:40]!r}"
            )
        rows.append(digits.encode())
    table = np.frombuffer(b"".join(rows), dtype=np.uint8) - np.uint8(ord("0"))
    return table.reshape(len(rows), width)


def _parse_items(lines: list[str]) -> NDArray[np.uint8]:
    items: list[int] = []
    rows: list[tuple[int, list[str]]] = []
    in_data = False
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if in_data:
            rows.append((number, line.split()))
        elif line.startswith("@data"):
            in_data = True
        elif line.startswith("@"):
            item = line[1:].partition(":")[0].strip()
            if item.isascii() and item.isdigit():  # otherwise @relation or @class
                items.append(int(item))
        else:
            raise FormatError(f"line {number} is before @data but has no @: {line[:40]!r}")
    if not in_data:
        raise FormatError("it has no line @data: it is truncated, or not a CP4IM file")

    column = {str(item): at for at, item in enumerate(sorted(set(items)), start=1)}
    table = np.zeros((len(rows), 1 + len(column)), dtype=np.uint8)
    for row, (number, (*held, label)) in zip(table, rows, strict=True):
        unknown = [item for item in held if item not in column]
        if unknown or label not in ("0", "1"):
            raise FormatError(
                f"line {number} ends with the label {label!r}, not 0 or 1"
                if not unknown
                else f"line {number} has an item {unknown[0]!r} that the header does not name"
            )
        row[0] = int(label)
        row[[column[item] for item in held]] = 1
    return table
