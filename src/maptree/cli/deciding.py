"""``--costs``, ``--positive``, ``--thresholds``: what decisions follow from probabilities.

Costs are typed as in ``yes=5`` (every error in rows of class yes costs 5) and ``yes:no=5`` (yes
predicted as no), or they are a matrix in a file.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from maptree.cli.header import find_delimiter, find_encoding, first_line
from maptree.cli.mistakes import USAGE, Refusal, hint, listed, refuse_absent
from maptree.parameters.costs import (
    costs_of_classes,
    read_costs,
    read_positive,
    read_thresholds,
)
from maptree.parameters.numbers import ParameterError

_FORM = "Pass CLASS=COST, TRUE:PREDICTED=COST, or a CSV file"
_FILE = (
    "its first line names the predicted classes, every other line begins with a true class, as in "
    "'true,no,yes', 'no,0,1', 'yes,5,0'"
)
_PROBABILITIES = "pass probabilities from 0 to 1, separated by commas, such as 0.2,0.5"


@dataclass(frozen=True)
class Deciding:
    """What the options ask for; None where they do not."""

    costs: NDArray[np.float64] | None = None
    positive: int | None = None
    thresholds: NDArray[np.float64] | None = None


def read_deciding(
    classes: Sequence[str],
    costs: Sequence[str] | None = None,
    positive: str | None = None,
    thresholds: str | None = None,
) -> Deciding:
    """Read the options for a model of these classes."""
    about = None
    if positive is not None and positive not in classes:
        raise Refusal(
            f"--positive {positive}: the model has no such class. {hint([positive], classes)}"
        )
    if positive is not None or len(classes) == 2:
        about = read_positive(positive, classes)
    elif thresholds is not None:
        raise Refusal(
            f"--thresholds {thresholds}: the model has {len(classes):,} classes. Pass the one that "
            "they are about, too: --positive CLASS.",
            USAGE,
        )
    given = None if thresholds is None else _numbers(thresholds)
    return Deciding(parse_costs(costs, classes) if costs else None, about, given)


def parse_costs(given: Sequence[str], classes: Sequence[str]) -> NDArray[np.float64]:
    """Return the costs of predictions: a row per true class, a column per predicted class.

    >>> parse_costs(["ill:well=9,ill=5"], ["ill", "unclear", "well"])
    array([[0., 5., 9.],
           [1., 0., 1.],
           [1., 1., 0.]])
    """
    if len(given) == 1 and (os.path.isfile(given[0]) or "=" not in given[0]):
        return _read_file(given[0], classes)
    costs: dict[str | tuple[str, str], float] = {}
    for item in _items(given, classes):
        name, equals, text = (part.strip() for part in item.rpartition("="))
        if not equals or not name:
            raise Refusal(f"--costs {item}: {_FORM}, such as {classes[0]}=5.", USAGE)
        key = _resolve(name, classes)
        if key is None:
            absent = [part for part in name.split(":", 1) if part not in classes]
            raise Refusal(
                f"--costs {item}: the model has no class {listed(absent)}. {hint(absent, classes)}"
            )
        if key in costs:
            raise Refusal(f"--costs has {name} twice: pass one cost.", USAGE)
        costs[key] = _cost(text, item)
    return costs_of_classes(costs, classes)


def _items(given: Sequence[str], classes: Sequence[str]) -> Iterator[str]:
    """Yield what is between commas, but no part of a name that has some."""
    for part in given:
        whole = _resolve(part.rpartition("=")[0].strip(), classes) is not None
        yield from [part] if whole else filter(None, map(str.strip, part.split(",")))


def _resolve(name: str, classes: Sequence[str]) -> str | tuple[str, str] | None:
    """Return a class, or a true and a predicted one; None: neither. Names may have colons."""
    if name in classes:
        return name
    parts = name.split(":")
    for i in range(1, len(parts)):
        true, predicted = ":".join(parts[:i]).strip(), ":".join(parts[i:]).strip()
        if true in classes and predicted in classes:
            return true, predicted
    return None


def _cost(text: str, where: str) -> float:
    try:
        cost = float(text)
    except ValueError:
        fault = f"--costs {where}: {text or 'nothing'} is not a number"
        raise Refusal(f"{fault}. {_FORM}.", USAGE) from None
    if not 0 <= cost < np.inf:
        fault = "is negative" if cost < 0 else "is not finite"
        raise Refusal(f"--costs {where}: {text} {fault}. Pass a number of at least 0.", USAGE)
    return cost


def _read_file(path: str, classes: Sequence[str]) -> NDArray[np.float64]:
    """Read a matrix with names; classes may be in any order, but all must be there."""
    if not Path(path).is_file() and not os.path.exists(path) and not Path(path).suffix:
        raise Refusal(f"--costs {path}: there is no such file. {_FORM}.", USAGE)
    refuse_absent(path)
    content = Path(path).read_bytes()
    encoding = find_encoding(content)
    delimiter = find_delimiter(first_line(content, encoding))
    try:
        text = content.decode(encoding).lstrip("\ufeff")
        lines = [
            [cell.strip() for cell in line]
            for line in csv.reader(text.splitlines(), delimiter=delimiter, strict=True)
            if any(map(str.strip, line))
        ]
    except (UnicodeDecodeError, csv.Error) as error:
        raise Refusal(f"--costs {path} is not a CSV file: {error}.") from None
    if not lines:
        raise Refusal(f"--costs {path} is empty: {_FILE}.")
    predicted, true = lines[0][1:], [line[0] for line in lines[1:]]
    for names, where in ((predicted, "its first line"), (true, "its first column")):
        _refuse_names(path, names, classes, where)
    costs = np.empty((len(classes), len(classes)))
    for label, line in zip(true, lines[1:], strict=True):
        if len(line) != len(classes) + 1:
            raise Refusal(
                f"--costs {path}: the line of {label!r} has {len(line) - 1:,} costs, but there are "
                f"{len(classes):,} classes."
            )
        for name, cell in zip(predicted, line[1:], strict=True):
            where = f"{path}, line of {label!r}, column {name!r}"
            costs[classes.index(label), classes.index(name)] = _cost(cell, where)
    return read_costs(costs, classes)


def _refuse_names(path: str, names: Sequence[str], classes: Sequence[str], where: str) -> None:
    unknown = [name for name in names if name not in classes]
    absent = [name for name in classes if name not in names]
    if unknown:
        raise Refusal(
            f"--costs {path}: {where} has {listed(unknown)}, but the model has no such class. "
            f"{hint(unknown, classes)} In the file, {_FILE}."
        )
    if absent:
        raise Refusal(f"--costs {path}: {where} has no class {listed(absent)}: {_FILE}.")
    if len(names) != len(classes):
        twice = next(name for name in names if names.count(name) > 1)
        raise Refusal(f"--costs {path}: {where} has {twice!r} twice: {_FILE}.")


def _numbers(text: str) -> NDArray[np.float64]:
    try:
        return read_thresholds([float(part) for part in text.split(",") if part.strip()])
    except ParameterError as error:
        raise Refusal(f"--thresholds {text} {error.fault}: {_PROBABILITIES}.", USAGE) from None
    except ValueError:
        raise Refusal(f"--thresholds {text}: {_PROBABILITIES}.", USAGE) from None
