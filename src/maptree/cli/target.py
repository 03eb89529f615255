"""Labels: finding them in a column, checking that they are classes, matching known classes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from maptree.cli.files import Source
from maptree.cli.mistakes import Refusal, hint, listed
from maptree.cli.text_columns import NUMBER
from maptree.tables.labels import target_fault


@dataclass(frozen=True)
class Target:
    """The labels of the rows that have one."""

    name: str
    labels: NDArray[Any]  # whole numbers, booleans, or text in an array of objects
    rows: NDArray[np.intp]  # where they are in the table
    n_unlabelled: int

    def counts(self) -> dict[str, int]:
        """Return how many rows each class has."""
        classes, counts = np.unique(self.labels, return_counts=True)
        return {str(label): int(n) for label, n in zip(classes, counts, strict=True)}


def read_target(source: Source, name: str, positive: str | None = None) -> Target:
    """Return the labels to fit on; refuse values that are not classes."""
    column = source.infer(name)
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_floating(kind):  # NaN is missing, too
        column = pc.if_else(pc.is_nan(column), pa.nulls(1, kind)[0], column)
    present = column.is_valid().to_numpy()
    rows = np.flatnonzero(present)
    if len(rows) == 0:
        raise Refusal(f"The target {name!r} is missing in every row: there is nothing to learn.")
    _refuse_measurements(column, name)
    if not (pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        # Text labels stay as written: 1.0 stays 1.0.
        column = source.table.column(name).cast(pa.string())
    labels = _array(column.drop_null())
    if positive is not None:
        labels = _against_rest(labels, positive, name)
    target = Target(name, labels, rows, len(present) - len(rows))
    _refuse_few_or_many(target)
    return target


def _array(column: Any) -> NDArray[Any]:
    labels: NDArray[Any] = column.to_numpy()
    return labels


def _refuse_measurements(column: Any, name: str) -> None:
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return
    distinct = pc.unique(column.drop_null())
    broken = (
        pa.types.is_floating(column.type)
        and not pc.all(pc.equal(pc.floor(distinct), distinct)).as_py()
    )
    n_rows = len(column) - column.null_count
    if target_fault(len(distinct), n_rows, numbers=True, whole=not broken):
        raise Refusal(
            f"The target {name!r} has {len(distinct):,} different numbers, from "
            f"{pc.min(distinct)} to {pc.max(distinct)}: it looks like a measurement, but maptree "
            "predicts classes. Bin it into a few classes, such as low and high, or use a "
            "regression method."
        )


def _refuse_few_or_many(target: Target) -> None:
    counts = target.counts()
    if len(counts) == 1:
        raise Refusal(
            f"The target {target.name!r} has only one class, {next(iter(counts))!r}: there is "
            "nothing to learn. Add rows of another class, or name another target."
        )
    if target_fault(len(counts), len(target.labels), numbers=False):
        raise Refusal(
            f"The target {target.name!r} has {len(counts):,} classes in "
            f"{len(target.labels):,} rows, such as {listed(list(counts)[:3])}: choose a column "
            "with fewer."
        )


def _against_rest(labels: NDArray[Any], positive: str, name: str) -> NDArray[Any]:
    """Reduce several classes to two: this one, and all others."""
    classes, codes = np.unique(labels, return_inverse=True)
    texts = [str(label) for label in classes]
    if positive not in texts:
        raise Refusal(
            f"--positive {positive}: the target {name!r} has no such class. "
            f"{hint([positive], texts)}"
        )
    if len(texts) <= 2:
        return labels
    ours = codes == texts.index(positive)
    return np.where(ours, positive, f"not {positive}").astype(object)


def known_labels(source: Source, name: str, classes: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return each row's class number (-1: unknown label, -2: no label) and the number of unknowns.

    Labels are compared in the type of the classes: numbers, booleans or text. Text such as 1.0 also
    matches as a number, unless two labels stand for the same number.
    """
    column = source.table.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    key = _booleans if classes.dtype.kind == "b" else _numbers if _are_numbers(classes) else str
    position = {key(label): k for k, label in enumerate(classes.tolist())}
    encoded = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = encoded.dictionary_encode()
    numbers = [
        -2 if value is None or value != value else position.get(key(value), -1)
        for value in encoded.dictionary.to_pylist()
    ]
    codes = encoded.indices.fill_null(len(numbers)).to_numpy()
    found = np.array([*numbers, -2], dtype=np.intp)[codes]
    if len(classes) == 2 and str(classes[0]) == f"not {classes[1]}":
        found[found == -1] = 0  # fitted with --positive: all other labels are one class
    if len(classes) == 2 and str(classes[1]) == f"not {classes[0]}":
        found[found == -1] = 1
    return found, int((found == -1).sum())


# A label in a form in which equal labels compare equal, whatever file they come from.


def _booleans(label: Any) -> bool | str:
    text = str(label).strip().lower()
    return text in ("true", "1") if text in ("true", "false", "0", "1") else str(label)


def _numbers(label: Any) -> int | float | str:
    try:
        return int(label) if str(label).strip().lstrip("+-").isdigit() else float(label)
    except ValueError:
        return str(label)


def _are_numbers(classes: NDArray[Any]) -> bool:
    texts = [label for label in classes.tolist() if isinstance(label, str)]
    if not texts:
        return True
    # As in columns: 01067 is a postcode.
    plain = all(re.fullmatch(NUMBER, text) for text in texts)
    return plain and len({_numbers(text) for text in texts}) == len(classes)
