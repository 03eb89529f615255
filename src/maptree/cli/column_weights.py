"""``--column-weights``: prior odds of columns, as in age=2,postcode=0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from maptree.cli.mistakes import USAGE, Refusal, refuse_unknown
from maptree.parameters.numbers import ParameterError
from maptree.parameters.split_prior import by_column, read_column_weights

_OPTION = "--column-weights"


def parse_weights(given: Iterable[str], names: Sequence[str], where: str) -> dict[str, float]:
    """Return the weights of an option that takes several, separated by commas or repeated.

    >>> parse_weights(["age=2,sex=0", "first, last=3"], ["age", "sex", "first, last"], "data.csv")
    {'age': 2.0, 'sex': 0.0, 'first, last': 3.0}
    """
    weights: dict[str, float] = {}
    for part in given:
        whole = part.rpartition("=")[0] in names  # a name may have commas
        for item in [part] if whole else filter(str.strip, part.split(",")):
            name, weight = _parse(item.strip())
            refuse_unknown([name], names, where)
            if name in weights:
                raise Refusal(f"{_OPTION} has {name} twice: pass one weight.", USAGE)
            weights[name] = weight
    return weights


def _parse(item: str) -> tuple[str, float]:
    name, equals, text = (part.strip() for part in item.rpartition("="))
    if not equals or not name:
        raise Refusal(f"{_OPTION} {item}: pass NAME=WEIGHT, such as age=2.", USAGE)
    try:
        weight = float(text)
    except ValueError:
        fault = f"{_OPTION} {item}: {text or 'nothing'} is not a number"
        raise Refusal(f"{fault}. Pass NAME=WEIGHT, such as age=2.", USAGE) from None
    try:
        read_column_weights({name: weight})
    except ParameterError as error:
        raise Refusal(f"{_OPTION} {item} {error.fault}: {error.remedy}.", USAGE) from None
    return name, weight


def refuse_weights(
    weights: dict[str, float], used: Sequence[str], target: str, drop: Sequence[str]
) -> None:
    """Refuse weights of columns that no tree tests anyway, and odds that are too extreme."""
    for name in weights:
        if name == target:
            fault = f"{_OPTION} {name}={weights[name]:g} is about the target"
            raise Refusal(f"{fault}: pass weights of other columns.", USAGE)
        if name in drop:
            fault = f"{_OPTION} {name}={weights[name]:g} is about a column that --drop leaves out"
            raise Refusal(f"{fault}: pass one of the two.", USAGE)
    if not weights:
        return
    try:
        by_column(read_column_weights(weights), used)
    except ParameterError as error:
        name = error.parameter.removeprefix("column_weights").strip("[]'\"")
        what = f" {name}={error.value:g}" if name else ""
        raise Refusal(f"{_OPTION}{what} {error.fault}: {error.remedy}.", USAGE) from None
