"""Random fits whose use of time and memory has a limit: tables, labels, limits and estimators.

A case is made from its seed and is the same for ever. The tests count what a fit does under it
(`tests/estimators/test_envelopes.py`), the benchmark measures it (`envelopes.py`).
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

# Every tenth case is a 0/1 matrix with more columns than others have, up to this many.
WIDE, MOST_COLUMNS = 200, 100_000
# What can be in a column, and what a label can be.
COLUMNS = ("bits", "numbers", "whole", "text", "decimals", "huge", "dates")
LABELS = ("whole", "text", "decimals", "huge")
# How many classes there are.
CLASSES = ("two", "few", "hundreds", "many", "two rows each", "all differ")
# Every eighth case has a column of many words that the labels follow, to be tested in sets.
WORDS, MANY_WORDS = 40, 5_000
ESTIMATORS = ("MAPTreeClassifier", "MCMCTreeClassifier", "SMCTreeClassifier")


@dataclass(frozen=True)
class Case:
    """A table with labels in words, and the parameters of the estimator."""

    seed: int
    n_rows: int
    columns: tuple[str, ...]
    n_classes: int  # at most
    label: str
    missing: float  # the share of missing values
    repeated: bool  # rows are repeated, with other labels
    weighted: bool
    estimator: str
    params: dict[str, Any] = field(default_factory=dict)
    n_words: int = WORDS  # in a column of text, at most

    @property
    def in_sets(self) -> bool:
        """Whether many categories are tested in sets."""
        return self.n_words > WORDS

    def model(self) -> Any:
        """Make the estimator."""
        import maptree

        encoder = maptree.BinaryEncoder(category_sets=True) if self.in_sets else "auto"
        return getattr(maptree, self.estimator)(**self.params, encoder=encoder)

    @property
    def name(self) -> str:
        """The case in words."""
        kinds = ", ".join(f"{self.columns.count(k)} {k}" for k in COLUMNS if k in self.columns)
        params = ", ".join(f"{name}={value}" for name, value in self.params.items())
        extra = " repeated" * self.repeated + " weighted" * self.weighted
        extra += f" of up to {self.n_words:,} words in sets" * self.in_sets
        return (
            f"{self.seed}: {self.estimator}({params}) on {self.n_rows:,} rows{extra} ({kinds}), "
            f"up to {self.n_classes:,} classes of {self.label}"
        )

    def table(self) -> tuple[Any, Any, Any]:
        """Make X, y and the weights."""
        rng = np.random.default_rng(self.seed)
        n_distinct = max(1, self.n_rows // 20) if self.repeated else self.n_rows
        if len(self.columns) > WIDE:
            drawn = list(rng.integers(0, 2, (len(self.columns), n_distinct), dtype=np.uint8))
        else:
            drawn = [
                _column(kind, n_distinct, self.missing, rng, self.n_words) for kind in self.columns
            ]
        rows = rng.integers(0, n_distinct, self.n_rows) if self.repeated else slice(None)
        if set(self.columns) <= {"bits", "numbers", "whole"}:
            X = np.column_stack(drawn)[rows]
        else:
            X = np.empty((n_distinct, len(drawn)), dtype=object)
            for j, values in enumerate(drawn):
                X[:, j] = values
            X = X[rows]
        codes = rng.integers(0, self.n_classes, self.n_rows)
        if self.n_classes >= self.n_rows:
            codes = rng.permutation(self.n_rows)
        # Something to find: a column that tells half of the classes from the others.
        first = np.array([v if isinstance(v, (int, float)) else 0 for v in X[:, 0]], dtype=float)
        high = first > np.nanmedian(first)
        if self.in_sets:  # half of the words
            words = X[:, self.columns.index("text")]
            high = np.array([word is not None and int(word[5:]) % 2 == 1 for word in words])
        codes = np.where(rng.random(self.n_rows) < 0.5, codes, codes // 2 * 2 + high)
        codes[:2] = 0, 1
        weights = rng.integers(0, 5, self.n_rows) if self.weighted else None
        if weights is not None:
            weights[:2] = 1
        return X, _labels(self.label, codes), weights


def make(seed: int, most_cells: int = 1_000_000, most_seconds: float = 1.0) -> Case:
    """Make the case of a seed; ``most_cells`` limits rows times columns."""
    rng = np.random.default_rng([seed, 1])
    n_rows = int(np.exp(rng.uniform(np.log(3), np.log(min(100_000, most_cells)))))
    n_columns = int(np.exp(rng.uniform(0, np.log(min(WIDE, max(1.5, most_cells / n_rows))))))
    kinds = rng.choice(COLUMNS, rng.integers(1, 4), replace=False, p=_shares(n_rows * n_columns))
    columns = tuple(sorted(str(rng.choice(kinds)) for _ in range(n_columns)))
    if seed % 10 == 9:
        most = min(MOST_COLUMNS, most_cells // 3)
        n_columns = int(np.exp(rng.uniform(np.log(WIDE + 1), np.log(most))))
        n_rows = min(n_rows, most_cells // n_columns)
        columns = ("bits",) * n_columns
    n_words = WORDS
    if seed % 8 == 4:
        columns = tuple(sorted([*columns[:3], "text"]))
        most = min(100_000, most_cells // len(columns))
        n_rows = int(np.exp(rng.uniform(np.log(2_000), np.log(max(2_001, most)))))
        most = min(MANY_WORDS, n_rows // 10)
        n_words = int(np.exp(rng.uniform(np.log(WORDS + 1), np.log(most))))
    n_classes = {
        "two": 2,
        "few": int(rng.integers(3, 30)),
        "hundreds": int(rng.integers(30, 600)),
        "many": n_rows // 5,
        "two rows each": n_rows // 2,
        "all differ": n_rows,
    }[str(rng.choice(CLASSES, p=[0.2, 0.15, 0.15, 0.25, 0.15, 0.1]))]
    if n_words > WORDS:
        n_classes = int(rng.integers(2, 5))
    estimator = str(rng.choice(ESTIMATORS, p=[0.6, 0.2, 0.2]))
    params: dict[str, Any] = {
        "time_limit": round(float(np.exp(rng.uniform(np.log(0.02), np.log(most_seconds)))), 3),
        "n_jobs": int(rng.choice([1, 1, 2, 3])),
    }
    if estimator == "MAPTreeClassifier":
        params["memory_limit"] = rng.choice(np.array([None, "2MB", "20MB", "200MB"], dtype=object))
        params["max_depth"] = rng.choice(np.array([None, None, 3], dtype=object))
    elif estimator == "MCMCTreeClassifier":
        params["n_chains"] = int(np.exp(rng.uniform(0, np.log(20_000))))
        params["n_samples"] = int(10 ** rng.uniform(0, 6))
        params["random_state"] = 0
    else:
        params["n_particles"] = int(10 ** rng.uniform(0, 5))
        params["n_islands"] = int(10 ** rng.uniform(0, 2))
        params["random_state"] = 0
    return Case(
        seed,
        n_rows,
        columns,
        max(2, n_classes),
        str(rng.choice(LABELS, p=[0.4, 0.4, 0.1, 0.1])),
        float(rng.choice([0.0, 0.1])),
        bool(rng.random() < 0.3),
        bool(rng.random() < 0.15),
        estimator,
        params,
        n_words,
    )


def _shares(n_cells: int) -> Any:
    """How often each kind of column is drawn; objects take long to make, so fewer of many."""
    objects = 1.0 if n_cells < 300_000 else 0.2
    shares = np.array([2, 3, 2, *4 * [objects]])
    return shares / shares.sum()


def _column(kind: str, n: int, missing: float, rng: Any, n_words: int) -> Any:
    if kind == "bits":
        return rng.integers(0, 2, n)
    if kind == "numbers":
        values = rng.normal(size=n)
        values[rng.random(n) < missing] = np.nan
        return values
    whole = rng.integers(0, 1_000, n)
    if kind == "whole":
        return whole
    values = np.empty(n, dtype=object)
    if kind == "text":
        numbers = whole % n_words if n_words == WORDS else rng.integers(0, n_words, n)
        values[:] = [f"word {i}" for i in numbers]
    elif kind == "decimals":
        values[:] = [Decimal(int(i)) / 7 for i in whole]
    elif kind == "huge":
        values[:] = [int(i) * 10**25 for i in whole]
    else:
        values[:] = [dt.date(2000, 1, 1) + dt.timedelta(days=int(i)) for i in whole]
    values[rng.random(n) < missing] = None
    return values


def _labels(kind: str, codes: Any) -> Any:
    if kind == "whole":
        return codes
    if kind == "text":
        return np.array([f"class {code}" for code in codes.tolist()])
    if kind == "decimals":
        return [Decimal(code) / 4 for code in codes.tolist()]
    return [code * 10**25 for code in codes.tolist()]
