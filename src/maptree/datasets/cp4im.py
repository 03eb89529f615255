"""Load a set of the CP4IM collection: from a folder, from the cache, or from a mirror."""

from __future__ import annotations

import gzip
import os
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from maptree.datasets.cache import cache_folder, write_whole
from maptree.datasets.cp4im_sets import CP4IM_SETS, Cp4imSet, checksum
from maptree.datasets.dataset import Dataset
from maptree.datasets.download import DownloadError, fetch
from maptree.datasets.formats import parse
from maptree.datasets.tic_tac_toe import load_tic_tac_toe

# The collection's own site, in its item lists; and the repository of DL8.5, in dense rows.
MIRRORS = (
    "https://dtai.cs.kuleuven.be/CP4IM/datasets/data/{name}.txt",
    "https://raw.githubusercontent.com/aia-uclouvain/pydl8.5/master/datasets/{name}.txt",
)
_FOLDER_VARIABLE = "MAPTREE_DATA"


class DatasetNotFoundError(OSError):
    """A set is neither on this machine nor to be had; the message says what was tried."""


def load_cp4im(name: str, *, download: bool = True) -> Dataset:
    """Return a set of the CP4IM collection: 0/1 items, 0/1 labels.

    It is looked for in the folder that ``$MAPTREE_DATA`` names (``NAME.txt`` or ``NAME.txt.gz``,
    in either of the formats that are about), then in the user's cache directory, and then
    downloaded into that. What is found is checked against a known checksum, so all who load a set
    have the same rows and columns in the same order. tic-tac-toe needs no file.

    Parameters
    ----------
    name : str
        One of the names in ``CP4IM_SETS``.
    download : bool, default=True
        False: look on this machine only.

    Raises
    ------
    DatasetNotFoundError
        The set is not to be had. The message says what was tried, why it failed and what to do.

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
            tried.append(f"{where}: there is no such file")
        except DownloadError as error:
            tried.append(f"{where}: {error}")
        except OSError as error:
            tried.append(f"{where}: {error.strerror or error}")
        except ValueError as error:
            tried.append(f"{where}: {error}")
            if not where.startswith(("http:", "https:")):
                warnings.warn(f"{where} is passed over: {error}.", stacklevel=2)
        else:
            if where.startswith(("http:", "https:")):
                _keep(name, table)
            return _dataset(table)
    raise DatasetNotFoundError(_not_found(name, tried, download))


def _sources(name: str, download: bool) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield where to look, in order, and how to read it."""
    folder = os.environ.get(_FOLDER_VARIABLE)
    if folder:
        for path in (Path(folder) / f"{name}.txt.gz", Path(folder) / f"{name}.txt"):
            yield str(path), path.read_bytes
    cached = _cached(name)
    yield str(cached), cached.read_bytes
    if download:
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
        raise ValueError("its checksum is another: its values or their order differ")
    return table


def _cached(name: str) -> Path:
    return cache_folder() / "cp4im" / f"{name}.txt.gz"


def _keep(name: str, table: NDArray[np.uint8]) -> None:
    lines = (" ".join(map(str, row)) for row in table.tolist())
    content = gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)
    try:
        write_whole(_cached(name), content)
    except OSError as error:
        warnings.warn(
            f"{name} could not be kept in the cache and will be downloaded again next time: "
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
        f"With a connection, call load_cp4im again. Without, get {name}.txt from one of "
        f"{', '.join(mirror.format(name=name) for mirror in MIRRORS)} elsewhere, put it into a "
        f"folder, and let the environment variable {_FOLDER_VARIABLE} name that folder."
    )
    return "\n".join(lines)
