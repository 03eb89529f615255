"""The target: which rows have it, what it is taken for, and matching labels with known classes."""

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
from maptree.cli.numbers_in_columns import (
    ReadNumbers,
    find_measured,
    is_number,
    is_text,
    need_measured,
)
from maptree.cli.task import CLASSES, COUNT, NUMBER, choose_task
from maptree.cli.text_columns import NUMBER as NUMBER_FORM
from maptree.tables.labels import in_order_if_numbers, many_numbers, target_fault
from maptree.words.values import count

_EXAMINED = 1000  # labels that are looked at, to tell whether most are numbers


@dataclass(frozen=True)
class Target:
    """The labels or numbers of the rows that have one.

    They are checked as Arrow values: Arrow imports pandas to make arrays of them, if it is
    installed, and a refusal should not wait for that.
    """

    name: str
    column: Any  # numbers, booleans or text; null where there is none
    counts: dict[str, int]  # rows of each class, in sorted order; none of numbers and counts
    merged: str | None = None  # the class that all others were merged against
    note: str = ""  # what to consider, where many numbers are classes, or how text was read
    task: str = CLASSES
    assumed: str = ""  # what it was taken for where --task did not say, and how to change it

    @cached_property
    def labels(self) -> NDArray[Any]:
        """Whole numbers, booleans, text in an array of objects; or the numbers of a regression."""
        labels: NDArray[Any] = self.column.drop_null().to_numpy()
        if self.merged is None:
            return labels
        ours = labels.astype(str) == self.merged
        return np.where(ours, self.merged, f"not {self.merged}").astype(object)

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """Where the labels are in the table."""
        return np.flatnonzero(self.column.is_valid().to_numpy(zero_copy_only=False))

    @property
    def n_unlabelled(self) -> int:
        """The number of rows without a label."""
        missing: int = self.column.null_count
        return missing

    @property
    def measured(self) -> bool:
        """Whether it is a number or a count."""
        return self.task != CLASSES


def read_target(
    source: Source, name: str, positive: str | None = None, task: str | None = None
) -> Target:
    """Return the labels or numbers to fit on; refuse those that cannot be fitted.

    Without a task, the values decide; a class that is set against all others is one of classes.
    """
    column = source.infer(name)
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_floating(kind):  # NaN is missing, too
        column = pc.if_else(pc.is_nan(column), pa.nulls(1, kind)[0], column)
    if column.null_count == len(column):
        raise Refusal(f"The target {name!r} is missing in every row: there is nothing to learn.")
    assumed = ""
    if task is None and positive is None:
        found = find_measured(source, name)
        task = CLASSES
        if found is not None:
            task, assumed = choose_task(found, len(found.present))
    if task in (NUMBER, COUNT):
        return measured_target(source, name, task, assumed)
    note = _note_on_numbers(column)
    if not (pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        # Text labels stay as written: 1.0 stays 1.0.
        written = source.table.column(name).cast(pa.string())
        column = pc.if_else(column.is_valid(), written, pa.nulls(1, pa.string())[0])
    target = Target(name, column, _count(column), note=note, assumed=assumed)
    if positive is not None:
        target = _against_rest(target, positive)
    _refuse_few_or_many(target)
    return target


def measured_target(source: Source, name: str, task: str, assumed: str = "") -> Target:
    """Return numbers or counts to fit on; refuse those of which there is nothing to learn."""
    found = read_measured(source, name, task)
    n_rows = len(found.present)
    if n_rows == 1:
        raise Refusal(f"The target {name!r} is there in one row only: pass a table with more rows.")
    if task == NUMBER and found.n_different == 1:
        raise Refusal(
            f"The target {name!r} is {found.least:g} in every row: there is nothing to learn. Name "
            "another target."
        )
    missing = np.isnan(found.values)
    column = pa.array(found.values, mask=missing)
    return Target(name, column, {}, note=found.note, task=task, assumed=assumed)


def read_measured(source: Source, name: str, task: str) -> ReadNumbers:
    """Return the numbers or counts of a file, NaN where they are missing; refuse others."""
    remedy = "; or pass --task classes, if it is one of classes"
    found = need_measured(source, name, "The target", remedy)
    if task == COUNT:
        _refuse_other_than_counts(found)
    return found


def _refuse_other_than_counts(found: ReadNumbers) -> None:
    with np.errstate(invalid="ignore"):  # of NaN
        bad = (found.values < 0) | (found.values > np.floor(found.values))
    if not bad.any():
        return
    row = int(np.argmax(bad))
    value = found.values[row]
    more = " If they are rates, name the counts, and what they were divided by as --exposure."
    raise Refusal(
        f"The target {found.name!r} has {value:g} in row {row + 1:,}, but counts are whole numbers "
        f"of at least 0. Correct it, or pass --task number.{more if value > 0 else ''}"
    )


def read_exposure(source: Source, name: str, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the exposure of some rows; refuse what is not a number above 0."""
    found = need_measured(source, name, "The exposure").values[rows]
    with np.errstate(invalid="ignore"):  # of NaN
        bad = ~(found > 0)
    if bad.any():
        row = int(np.argmax(bad))
        value = "is missing" if np.isnan(found[row]) else f"is {found[row]:g}"
        others = "" if bad.sum() == 1 else f", and in {count(int(bad.sum()) - 1, 'other row')} too"
        raise Refusal(
            f"The exposure {name!r} {value} in row {rows[row] + 1:,}{others}: it must be a number "
            "above 0, such as the time during which the events of the row were counted. Correct "
            "it, or leave these rows out."
        )
    return found


def _count(column: Any) -> dict[str, int]:
    found = pc.value_counts(column.drop_null())
    labels, counts = found.field("values").to_pylist(), found.field("counts").to_pylist()
    return {str(label): n for label, n in sorted(zip(labels, counts, strict=True))}


def _note_on_numbers(column: Any) -> str:
    """Return what to consider where many numbers are classes."""
    distinct = pc.unique(column.drop_null())
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        least, most = pc.min(distinct), pc.max(distinct)
    elif is_text(column.type) and (read := in_order_if_numbers(distinct.to_pylist())):
        least, most = read[0][0], read[0][-1]
    else:
        return ""
    note = many_numbers(len(distinct), least, most)
    return note.replace("use MAPTreeRegressor", "pass --task number")


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
            f"{listed(list(counts)[:3])}: choose a column with fewer.{_mostly_numbers(target)}"
        )


def _mostly_numbers(target: Target) -> str:
    """Point to a regression, where a few values keep numbers from being read."""
    if not is_text(target.column.type) or target.merged is not None:
        return ""
    some = list(target.counts)[:_EXAMINED]
    n_numbers = sum(map(is_number, some))
    if n_numbers == len(some):
        return " These are numbers: pass --task number for a regression."
    if n_numbers * 2 <= len(some):
        return ""
    return " Most of these are numbers: pass --task number, which names the one that is not."


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
    plain = all(re.fullmatch(NUMBER_FORM, text) for text in texts)
    return plain and len({_numbers(text) for text in texts}) == len(classes)
