"""A cell is everything that determines one result; a row is that result.

Cells are pure data, so a result can be found again by its cell's key, on any machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Self

OUTCOMES = ("ok", "timeout", "memory", "crash", "error", "missing")


@dataclass(frozen=True)
class Cell:
    """One system with its parameters on one set of data.

    >>> data = {"kind": "cp4im", "name": "vote", "fold": 0}
    >>> cell = Cell("generalisation", "cart", {"depth": 4}, data, seed=None, limit=2)
    >>> cell.name
    'cart depth=4 on vote, fold 0'
    >>> cell == Cell.from_json(cell.to_json())
    True
    """

    family: str
    system: str
    params: Mapping[str, Any]  # JSON values, as in `data`
    data: Mapping[str, Any]
    seed: int | None = None
    limit: float | None = None  # seconds that the system is told

    def __post_init__(self) -> None:
        # 2 and 2.0 seconds are the same cell.
        object.__setattr__(self, "limit", None if self.limit is None else float(self.limit))

    def __hash__(self) -> int:
        return hash(self.key)

    @cached_property
    def key(self) -> str:
        """A hash of everything in the cell."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:20]

    def to_json(self) -> str:
        """One line; equal cells give the same."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote."""
        return cls(**json.loads(text))

    @property
    def set(self) -> str:
        """The name of the data."""
        name = self.data.get("name")
        return f"tree {self.data['tree']}" if name is None else str(name)

    @property
    def name(self) -> str:
        """The cell in words, for the progress display."""
        prior = ("alpha", "beta", "rho")
        settings = [f"{k}={v}" for k, v in self.params.items() if k not in prior]
        hidden = ("kind", "name", "tree")
        where = [f"{k} {v}" for k, v in self.data.items() if k not in hidden and v is not None]
        return f"{' '.join([self.system, *settings])} on {', '.join([self.set, *where])}"


@dataclass(frozen=True)
class Row:
    """The result of a cell. Fields are the columns of the store, in this order."""

    key: str
    family: str
    system: str
    params: Mapping[str, Any]
    data: Mapping[str, Any]
    set: str
    fold: int | None
    seed: int | None
    limit: float | None
    outcome: str  # one of OUTCOMES
    reason: str | None = None  # why it is not "ok"
    seconds: float | None = None  # of the system's own fit; until its end if it was killed
    peak_bytes: int | None = None  # by how much the process grew meanwhile
    status: str | None = None  # as the system says: optimal, time_limit, complete, ...
    log_posterior: float | None = None  # from here on what scores.score returns
    nodes: int | None = None
    leaves: int | None = None
    depth: int | None = None
    train_accuracy: float | None = None
    test_accuracy: float | None = None
    ll_own: float | None = None
    ll_predictive: float | None = None
    ll_marginal: float | None = None
    claimed: float | None = None  # the log posterior, as the system says
    bound: float | None = None
    trace: list[Any] | None = None  # [seconds, steps, log posterior, bound or None]
    extra: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: str | None = None
    date: str | None = None

    @classmethod
    def of(cls, cell: Cell, outcome: str, reason: str | None = None, **found: Any) -> Self:
        """Make the row of a cell, as of now."""
        return cls(
            key=cell.key,
            family=cell.family,
            system=cell.system,
            params=dict(cell.params),
            data=dict(cell.data),
            set=cell.set,
            fold=cell.data.get("fold"),
            seed=cell.seed,
            limit=cell.limit,
            outcome=outcome,
            reason=reason,
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            **found,
        )
