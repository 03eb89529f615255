"""Reading y: from labels of any type to class numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.tables.one_per_row import as_objects, one_per_row, refuse_length
from maptree.tables.written_numbers import find_numbers

# Class numbers: one byte each if that is enough, because with 100 columns of 0 and 1, four bytes
# would be a third of the packed table.
Codes = NDArray[np.uint8] | NDArray[np.int32]

# Labels read at a time, so that reading them takes almost no memory.
_BLOCK = 1 << 15

# Up to this many different labels are classes, whatever they are. More numbers are taken for
# measurements unless they are whole and there are at least this many rows per number, on average;
# and more of anything is taken for identifiers unless there are more than two rows per label.
# Where many numbers are taken for classes, that is pointed out.
FEW_LABELS = 20
_MANY = 100
_ROWS_PER_NUMBER = 50
_ROWS_PER_LABEL = 2


def target_fault(n_labels: int, n_rows: int, numbers: bool, whole: bool = True) -> str:
    """Return what labels look like if they are not classes, or "" if they may be.

    The classifiers warn of such a target. The command line refuses identifiers, and takes more
    numbers than ``FEW_LABELS`` for a number unless it is told otherwise.

    >>> target_fault(11_000, 54_000, numbers=True), target_fault(11_000, 54_000, numbers=False)
    ('measurement', '')
    >>> target_fault(38_000, 60_000, numbers=False), target_fault(20, 20, numbers=True)
    ('identifier', '')
    """
    if n_labels <= FEW_LABELS:
        return ""
    if numbers and (not whole or n_rows < _ROWS_PER_NUMBER * n_labels):
        return "measurement"
    return "identifier" if n_rows <= _ROWS_PER_LABEL * n_labels else ""


def in_order_if_numbers(texts: Sequence[str]) -> tuple[list[str], bool] | None:
    """Return labels in the order of the numbers that they are as text, and whether all are whole.

    None if they are not numbers such as ``$12.50`` or ``4,321``, or so few that they are classes.

    >>> in_order_if_numbers([f"${price},000" for price in range(120, 99, -1)])[0][0]
    '$100,000'
    >>> in_order_if_numbers(["$1", "$2"])
    """
    found = find_numbers([list(texts)], None) if len(texts) > FEW_LABELS else None
    if found is None:
        return None
    order = np.argsort(found.numbers, kind="stable")
    return [texts[i] for i in order], bool((found.numbers == np.floor(found.numbers)).all())


def doubtful_classes(classes: NDArray[Any], n_rows: int) -> str:
    """Return what is wrong with these classes of this many rows, in words; "" if nothing is."""
    number = not isinstance(classes[0], (bool, np.bool_)) and isinstance(classes[0], Number)
    numbers = number and classes.dtype.kind in "iufO"
    whole = not numbers or _are_whole(classes)
    if isinstance(classes[0], str) and (read := in_order_if_numbers(classes.tolist())):
        classes, (_, whole), numbers = np.array(read[0], dtype=object), read, True
    fault = target_fault(len(classes), n_rows, numbers, whole)
    if fault == "measurement":
        return (
            f"y has {len(classes):,} different numbers in {n_rows:,} rows, from {classes[0]} to "
            f"{classes[-1]}: it looks like a measurement, but this predicts classes. Bin it into a "
            "few classes, such as low and high, or use MAPTreeRegressor."
        )
    if fault == "identifier":
        return (
            f"y has {len(classes):,} classes in {n_rows:,} rows, such as {_few(classes)}: two rows "
            "or fewer per class are too few to learn from. Merge classes, or choose another target."
        )
    about = many_numbers(len(classes), classes[0], classes[-1]) if numbers else ""
    return f"y has {about}." if about else ""


def many_numbers(n: int, least: object, most: object) -> str:
    """Return what to consider where this many numbers are classes; "" if they are few.

    >>> many_numbers(320, -20, 299).split(":")[0]
    '320 different numbers, from -20 to 299. Each is a class of its own, without order'
    """
    if n <= _MANY:
        return ""
    return (
        f"{n:,} different numbers, from {least} to {most}. Each is a class of its own, without "
        "order: if they are measurements, use MAPTreeRegressor"
    )


def _are_whole(numbers: NDArray[Any]) -> bool:
    if numbers.dtype.kind != "O":
        return True  # others were refused
    return all(
        not isinstance(number, Decimal) or number == number.to_integral_value()
        for number in numbers
    )


def read_labels(y: Any, n_rows: int) -> tuple[NDArray[Any], Codes]:
    """Return the distinct labels in sorted order, and each row's position among them.

    >>> read_labels(["yes", "no", "yes"], 3)
    (array(['no', 'yes'], dtype='<U3'), array([1, 0, 1], dtype=uint8))
    """
    coded = _read_series(y, n_rows)
    if coded is not None:
        return coded
    labels = _as_column(y, n_rows)
    _refuse_unusable(labels)
    try:
        return _number_objects(labels) if labels.dtype.kind == "O" else _number(labels)
    except TypeError:
        raise TypeError(
            f"y has labels of type {type(labels[0]).__name__}, which cannot be sorted: "
            "convert them to str or int first."
        ) from None


def _number(labels: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    starts = range(0, len(labels), _BLOCK)
    distinct = [np.unique(labels[start : start + _BLOCK]) for start in starts]
    classes = np.unique(np.concatenate(distinct))
    codes = _empty_codes(len(labels), len(classes))
    for start in starts:
        block = slice(start, start + _BLOCK)
        codes[block] = np.searchsorted(classes, labels[block])
    return classes, codes


def _number_objects(labels: NDArray[np.object_]) -> tuple[NDArray[np.object_], Codes]:
    """Look up objects instead of sorting them all, which takes several times as long."""
    if isinstance(labels[0], Number):
        return _number_exact(labels)
    classes = np.array([*sorted(set(labels)), None], dtype=object)[:-1]  # None: one axis
    position = {label: i for i, label in enumerate(classes)}
    codes = _empty_codes(len(labels), len(classes))
    codes[:] = np.fromiter(map(position.__getitem__, labels), codes.dtype, len(labels))
    return classes, codes


def _number_exact(numbers: NDArray[np.object_]) -> tuple[NDArray[np.object_], Codes]:
    """Number Decimals and whole numbers beyond 64 bits without a set.

    Their hashes are public, unlike those of text: labels that all have one hash would be compared
    each with each.
    """
    hashes = np.fromiter(map(hash, numbers), np.int64, len(numbers))
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    if not (numbers[first][group] == numbers).all():  # different numbers share a hash
        return _number_by_sorting(numbers)
    classes, of_group = _number_by_sorting(numbers[first])
    codes = _empty_codes(len(numbers), len(classes))
    codes[:] = of_group[group]
    return classes, codes


def _number_by_sorting(objects: NDArray[np.object_]) -> tuple[NDArray[np.object_], Codes]:
    order = np.array(sorted(range(len(objects)), key=objects.tolist().__getitem__))
    ordered = objects[order]
    is_new = np.append(True, ordered[1:] != ordered[:-1]).astype(bool)
    classes = ordered[is_new]
    codes = _empty_codes(len(objects), len(classes))
    codes[order] = np.cumsum(is_new) - 1
    return classes, codes


def _empty_codes(n_rows: int, n_classes: int) -> Codes:
    return np.empty(n_rows, np.uint8) if n_classes <= 256 else np.empty(n_rows, np.int32)


def _read_series(y: Any, n_rows: int) -> tuple[NDArray[Any], Codes] | None:
    """Read polars or arrow text, which would be large as Python objects; None: y is not that."""
    if type(y).__module__.partition(".")[0] not in ("polars", "pyarrow"):
        return None
    import narwhals.stable.v2 as nw

    from maptree.tables.frames import read_series

    series = nw.from_native(y, allow_series=True, pass_through=True)
    if not isinstance(series, nw.Series) or series.dtype not in (
        nw.String,
        nw.Categorical,
        nw.Enum,
    ):
        return None
    refuse_length(len(series), n_rows, "label")
    values = read_series(series, "y")
    if values.missing is not None:
        row = int(np.argmax(values.missing))
        raise ValueError(f"y has a missing label at row {row}: drop the row or give it a label.")
    seen = np.bincount(values.data, minlength=len(values.categories)) > 0
    texts = np.array([c for c, there in zip(values.categories, seen, strict=True) if there])
    classes, position = np.unique(texts, return_inverse=True)
    number = np.zeros(len(seen), dtype=np.int32)
    number[seen] = position
    codes = _empty_codes(n_rows, len(classes))
    codes[:] = number[values.data]
    return classes, codes


def class_numbers(y: Any, n_rows: int, n_classes: int) -> Codes:
    """Return class numbers for a tree with ``n_classes`` classes.

    >>> class_numbers(["b", "a"], 2, n_classes=2)
    array([1, 0], dtype=uint8)
    >>> class_numbers([2, 0], 2, n_classes=3)
    array([2, 0], dtype=int32)
    """
    classes, codes = read_labels(y, n_rows)
    if len(classes) == n_classes:
        return codes
    if classes.dtype.kind in "iu" and classes[0] >= 0 and classes[-1] < n_classes:
        return classes[codes].astype(np.int32)
    raise ValueError(
        f"y has {len(classes):,} distinct labels but the tree has {n_classes:,} classes: pass all "
        f"classes, or class numbers from 0 to {n_classes - 1}."
    )


def numbers_among(classes: NDArray[Any], y: Any, n_rows: int) -> NDArray[np.intp]:
    """Return the position of each label among the classes of a fitted tree; -1 if unknown.

    >>> numbers_among(np.array(["no", "yes"]), ["yes", "maybe"], 2)
    array([ 1, -1])
    """
    labels, codes = read_labels(y, n_rows)
    numbers = np.array(_positions(labels.tolist(), classes.tolist()), dtype=np.intp)
    if (numbers < 0).all():
        raise ValueError(
            f"y has {_few(labels)}, but the tree was fitted with the labels {_few(classes)}: pass "
            "labels of the same type."
        )
    return numbers[codes]


def _positions(labels: list[Any], classes: list[Any]) -> list[int]:
    """Return the position of each label among the classes, which are sorted; -1 if unknown."""
    if not isinstance(classes[0], Number) or not isinstance(labels[0], Number):
        position = {label: k for k, label in enumerate(classes)}
        return [position.get(label, -1) for label in labels]
    # Without a dictionary: numbers can be chosen so that all have one hash.
    found = [bisect_left(classes, label) for label in labels]
    known = [
        k < len(classes) and classes[k] == label for k, label in zip(found, labels, strict=True)
    ]
    return [k if there else -1 for k, there in zip(found, known, strict=True)]


def _few(labels: NDArray[Any]) -> str:
    return ", ".join([*map(repr, labels[:3].tolist()), *(["..."] if len(labels) > 3 else [])])


def _as_column(y: Any, n_rows: int) -> NDArray[Any]:
    column = one_per_row(y, n_rows, "classifier", "label")
    if isinstance(y, (list, tuple)) and column.dtype.kind != "O" and np.ndim(y[:1]) == 1:
        # Read as objects: numpy has silently turned [1, "a"] into text, and whole numbers beyond
        # 64 bits into rounded ones.
        plain = _plain(as_objects(y))
        return plain if plain.dtype.kind == "O" and column.dtype.kind == "f" else column
    return _plain(column) if column.dtype.kind == "O" else column


def _family(label: object) -> str:
    """Name the kind of a label; labels of one column are all of one kind."""
    if isinstance(label, (bool, np.bool_)):
        return "bool"
    if isinstance(label, str):
        return "str"
    if isinstance(label, Number):
        return "number"
    return type(label).__name__


def _plain(labels: NDArray[np.object_]) -> NDArray[Any]:
    """Convert objects that are numbers to an array of numbers; refuse mixed and missing labels."""
    first_row: dict[str, int] = {}
    for kind in dict.fromkeys(map(type, labels)):
        row = next(i for i, label in enumerate(labels) if type(label) is kind)
        first_row.setdefault(_family(labels[row]), row)
    if first_row.keys() - {"str", "bool"}:  # testing every label takes long
        from maptree.tables.objects import find_missing

        missing = find_missing(labels.tolist())
        if missing.any():
            row = int(np.argmax(missing))
            raise ValueError(
                f"y has a missing label at row {row} ({labels[row]!r}; NaN is not a class): "
                "drop the row or give it a label."
            )
    if len(first_row) > 1:
        examples = ", ".join(f"{labels[row]!r} at row {row}" for row in first_row.values())
        raise TypeError(
            f"y has labels of mixed types ({examples}): convert them all to one type, such as str."
        )
    if first_row.keys() & {"bool", "number"}:
        numbers: NDArray[Any] = np.array(labels.tolist())
        if numbers.dtype.kind == "O":
            return labels
        # Numbers too large for an array of numbers stay objects: rounding could make them equal.
        return numbers if np.array_equal(numbers.astype(object), labels) else labels
    return labels


def _refuse_unusable(labels: NDArray[Any]) -> None:
    if len(labels) == 0:
        raise ValueError("y is empty: pass one label per row.")
    kind = labels.dtype.kind
    if kind == "c":
        raise ValueError("Complex data not supported: y has complex labels. Pass real ones.")
    if kind in "SV" or (kind == "O" and isinstance(labels[0], bytes)):
        raise TypeError(
            f"y has bytes as labels, such as {labels[0]!r}: decode them to str, which "
            "scikit-learn's scores need."
        )
    if kind in "Mm" and np.isnat(labels).any():
        row = int(np.argmax(np.isnat(labels)))
        raise ValueError(f"y has a missing label at row {row}: drop the row or give it a label.")
    if kind != "f":
        return
    for start in range(0, len(labels), _BLOCK):
        _refuse_not_whole(labels[start : start + _BLOCK], start)


def _refuse_not_whole(labels: NDArray[np.floating[Any]], first_row: int) -> None:
    bad = ~np.isfinite(labels)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"y has {labels[row]!s} at row {first_row + row} (NaN and inf are not classes): "
            "drop the row or give it a label."
        )
    bad = labels != np.floor(labels)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"Unknown label type: continuous. y has {labels[row]!s} at row {first_row + row}, but "
            "classes are whole numbers or text: bin the values into classes, or use "
            "MAPTreeRegressor."
        )
