"""Labels: finding them in a column, checking that they are classes, matching known classes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from maptree.cli.files import Source
from maptree.cli.mistakes import Refusal, hint, listed
from maptree.cli.text_columns import NUMBER
from maptree.tables.labels import in_order_if_numbers, many_numbers, target_fault


@dataclass(frozen=True)
class Target:
    """The labels of the rows that have one.

    They are checked as Arrow values: Arrow imports pandas to make arrays of them, if it is
    installed, and a refusal should not wait for that.
    """

    name: str
    column: Any  # whole numbers, booleans or text; null where there is no label
    counts: dict[str, int]  # rows of each class, in sorted order
    merged: str | None = None  # the class that all others were merged against
    note: str = ""  # what to consider, where many numbers are classes

    @cached_property
    def labels(self) -> NDArray[Any]:
        """Whole numbers, booleans, or text in an array of objects."""
        labels: NDArray[Any] = self.column.drop_null().to_numpy()
        if self.merged is None:
            return labels
        ours = labels.astype(str) == self.merged
        return np.where(ours, self.merged, f"not {self.merged}").astype(object)

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """Where the labels are in the table."""
        return np.flatnonzero(self.column.is_valid().to_numpy())

    @property
    def n_unlabelled(self) -> int:
        """The number of rows without a label."""
        missing: int = self.column.null_count
        return missing


def read_target(source: Source, name: str, positive: str | None = None) -> Target:
    """Return the labels to fit on; refuse values that are not classes."""
    column = source.infer(name)
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_floating(kind):  # NaN is missing, too
        column = pc.if_else(pc.is_nan(column), pa.nulls(1, kind)[0], column)
    if column.null_count == len(column):
        raise Refusal(f"The target {name!r} is missing in every row: there is nothing to learn.")
    note = _note_on_numbers(column, name)
    if not (pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        # Text labels stay as written: 1.0 stays 1.0.
        written = source.table.column(name).cast(pa.string())
        column = pc.if_else(column.is_valid(), written, pa.nulls(1, pa.string())[0])
    target = Target(name, column, _count(column), note=note)
    if positive is not None:
        target = _against_rest(target, positive)
    _refuse_few_or_many(target)
    return target


def _count(column: Any) -> dict[str, int]:
    found = pc.value_counts(column.drop_null())
    labels, counts = found.field("values").to_pylist(), found.field("counts").to_pylist()
    return {str(label): n for label, n in sorted(zip(labels, counts, strict=True))}


def _note_on_numbers(column: Any, name: str) -> str:
    """Return what to consider where numbers are classes; refuse measurements."""
    distinct = pc.unique(column.drop_null())
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        least, most = pc.min(distinct), pc.max(distinct)
        whole = pc.all(pc.equal(pc.floor(distinct), distinct)).as_py()
    elif _is_text(column.type) and (read := in_order_if_numbers(distinct.to_pylist())):
        ordered, whole = read
        least, most = ordered[0], ordered[-1]
    else:
        return ""
    n_rows = len(column) - column.null_count
    if target_fault(len(distinct), n_rows, numbers=True, whole=whole):
        raise Refusal(
            f"The target {name!r} has {len(distinct):,} different numbers, from "
            f"{least} to {most}: it looks like a measurement, but maptree predicts classes. Bin "
            "it into a few classes, such as low and high, or use a regression method."
        )
    return many_numbers(len(distinct), least, most)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _refuse_few_or_many(target: Target) -> None:
    counts = target.counts
    if len(counts) == 1:
        raise Refusal(
            f"The target {target.name!r} has only one class, {next(iter(counts))!r}: there is "
            "nothing to learn. Add rows of another class, or name another target."
        )
    n_rows = sum(counts.values())
    if target_fault(len(counts), n_rows, numbers=False):
        raise Refusal(
            f"The target {target.name!r} has {len(counts):,} classes in {n_rows:,} rows, such as "
            f"{listed(list(counts)[:3])}: choose a column with fewer."
        )


def _against_rest(target: Target, positive: str) -> Target:
    """Reduce several classes to two: this one, and all others."""
    counts = target.counts
    if positive not in counts:
        raise Refusal(
            f"--positive {positive}: the target {target.name!r} has no such class. "
            f"{hint([positive], list(counts))}"
        )
    if len(counts) <= 2:
        return target
    rest = sum(counts.values()) - counts[positive]
    merged = sorted({positive: counts[positive], f"not {positive}": rest}.items())
    return replace(target, counts=dict(merged), merged=positive, note="")


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
