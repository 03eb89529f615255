"""The stored rows, in one SQLite file.

Only the process that runs the experiment writes; workers send their rows to it. Every row is
committed and on the disk when it was appended, so neither a kill nor a loss of power takes any of
them. A second run on the same file is safe: keys are unique, and SQLite lets only one process write
at a time.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from experiments.cells import Row

COLUMNS = [field.name for field in dataclasses.fields(Row)]
JSON_COLUMNS = ("params", "data", "trace", "extra", "versions")
# Raised when columns change: rows of another layout are not read by mistake.
LAYOUT = 1

# A result is never overwritten; anything else is replaced by a later attempt.
_APPEND = f"""
    INSERT INTO rows VALUES ({", ".join("?" * len(COLUMNS))})
    ON CONFLICT (key) DO UPDATE
    SET {", ".join(f'"{name}" = excluded."{name}"' for name in COLUMNS[1:])}
    WHERE rows.outcome <> 'ok'
"""


class DamagedError(Exception):
    """The file of rows cannot be read, or not all of it."""


class Store:
    """Rows by the key of their cell.

    >>> with Store(":memory:") as store:
    ...     store.load()
    []
    """

    def __init__(self, path: Path | str) -> None:
        # Autocommit; a second writer waits.
        self._path = path
        self._file = sqlite3.connect(path, isolation_level=None, timeout=60)
        self._file.row_factory = sqlite3.Row
        try:
            self._prepare()
        except BaseException:
            self._file.close()
            raise

    def _prepare(self) -> None:
        self._file.execute("PRAGMA journal_mode = WAL")  # readers do not stop the writer
        self._file.execute("PRAGMA synchronous = FULL")  # a commit is on the disk
        (layout,) = self._file.execute("PRAGMA user_version").fetchone()
        if layout not in (0, LAYOUT):
            raise ValueError(
                f"{self._path} has rows of layout {layout}, but this version writes layout "
                f"{LAYOUT}: choose another folder for the results."
            )
        names = ", ".join(f'"{name}"' for name in COLUMNS[1:])
        self._file.execute(f"CREATE TABLE IF NOT EXISTS rows (key TEXT PRIMARY KEY, {names})")
        self._file.execute(f"PRAGMA user_version = {LAYOUT}")

    def append(self, row: Row) -> None:
        """Store a row permanently; an existing row of the same key that is ok is kept."""
        values = dataclasses.asdict(row)
        for name in JSON_COLUMNS:
            values[name] = None if values[name] is None else json.dumps(values[name])
        self._file.execute(_APPEND, [values[name] for name in COLUMNS])

    def done(self, retry: bool = False) -> set[str]:
        """Return the keys that need no computing; with ``retry``, failures are not among them.

        Nor are missing systems, which may have been installed since.
        """
        final = "outcome = 'ok'" if retry else "outcome <> 'missing'"
        with self._read():
            return {key for (key,) in self._file.execute(f"SELECT key FROM rows WHERE {final}")}

    def load(self) -> list[dict[str, Any]]:
        """Return all rows as dictionaries, in the order of their keys."""
        with self._read():
            return list(self._decoded())

    @contextlib.contextmanager
    def _read(self) -> Iterator[None]:
        """Say what to do where SQLite finds the file damaged, or a row is not as it was written."""
        try:
            yield
        except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
            raise DamagedError(
                f"{self._path} is damaged: {error}. Restore a copy, save what can be saved with "
                "`sqlite3 FILE .recover`, or choose another folder for the results."
            ) from error

    def _decoded(self) -> Iterator[dict[str, Any]]:
        for found in self._file.execute("SELECT * FROM rows ORDER BY key"):
            row = dict(found)
            for name in JSON_COLUMNS:
                row[name] = None if row[name] is None else json.loads(row[name])
            yield row

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
