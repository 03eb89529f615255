"""The stored rows, in one SQLite file.

Only the process that runs the experiment writes; workers send their rows to it. Every row is
committed when it is appended, so a kill loses none of them. A second run on the same file is safe:
keys are unique, and SQLite lets only one process write at a time.
"""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
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


class Store:
    """Rows by the key of their cell.

    >>> with Store(":memory:") as store:
    ...     store.load()
    []
    """

    def __init__(self, path: Path | str) -> None:
        # Autocommit; a second writer waits.
        self._file = sqlite3.connect(path, isolation_level=None, timeout=60)
        self._file.row_factory = sqlite3.Row
        self._file.execute("PRAGMA journal_mode = WAL")  # readers do not stop the writer
        self._file.execute("PRAGMA synchronous = NORMAL")
        (layout,) = self._file.execute("PRAGMA user_version").fetchone()
        if layout not in (0, LAYOUT):
            self._file.close()
            raise ValueError(
                f"{path} has rows of layout {layout}, but this version writes layout {LAYOUT}: "
                "choose another folder for the results."
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
        return {key for (key,) in self._file.execute(f"SELECT key FROM rows WHERE {final}")}

    def load(self) -> list[dict[str, Any]]:
        """Return all rows as dictionaries, in the order of their keys."""
        return list(self._decoded())

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.close()
