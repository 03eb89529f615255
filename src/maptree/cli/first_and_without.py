"""``--first`` and ``--without``: columns that a tree is to test first, or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from maptree.cli.mistakes import USAGE, Refusal
from maptree.parameters.columns import find_wishes
from maptree.parameters.numbers import ParameterError

_OPTIONS = {"first_columns": "--first", "without_columns": "--without"}


def refuse_wishes(
    first: Sequence[str],
    without: Sequence[str],
    used: Sequence[str],
    target: str,
    drop: Sequence[str],
    weights: Mapping[str, float],
) -> None:
    """Refuse columns that no tree tests anyway, and wishes that contradict each other.

    >>> refuse_wishes(["age"], [], ["sex"], "age", [], {})
    Traceback (most recent call last):
    maptree.cli.mistakes.Refusal: --first age is the target: name other columns.
    """
    for option, names in (("--first", first), ("--without", without)):
        for name in names:
            if name == target:
                raise Refusal(f"{option} {name} is the target: name other columns.", USAGE)
            if name in drop:
                fault = f"{option} {name} is a column that --drop leaves out"
                raise Refusal(f"{fault}: pass one of the two.", USAGE)
    unused = [j for j, name in enumerate(used) if weights.get(name) == 0]
    try:
        find_wishes(first, without, used, unused)
    except ParameterError as error:
        option = _OPTIONS[error.parameter]
        given = first if error.parameter == "first_columns" else without
        told = f"{error.fault}: {error.remedy}"
        for parameter, name in {**_OPTIONS, "column_weights": "--column-weights"}.items():
            told = told.replace(parameter, name)
        raise Refusal(f"{option} {','.join(given)} {told}.", USAGE) from None
