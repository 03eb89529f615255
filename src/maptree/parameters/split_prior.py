"""Which tests the prior prefers: ``split_prior`` and ``column_weights``, as users write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from numbers import Integral

from maptree.parameters.columns import NoSuchColumn, position
from maptree.parameters.numbers import bad_type, bad_value, real_number

SPLIT_PRIORS = ("tests", "columns")
# The largest odds between two columns. The weights of all tests have to fit into 31 bits, and the
# lightest column still needs some to tell its thresholds apart.
MOST_ODDS = 2**20

_NAME = "column_weights"
_ODDS = "pass a number above 0, or 0 to leave the column out"

Odds = dict[str | int, float]


def read_split_prior(value: object) -> str:
    """Return the name of a prior on splits.

    >>> read_split_prior("columns")
    'columns'
    """
    if isinstance(value, str) and value in SPLIT_PRIORS:
        return value
    bad = bad_value if isinstance(value, str) else bad_type
    raise bad("split_prior", value, "is unknown", 'pass "tests" or "columns"')


def read_column_weights(value: object) -> Odds:
    """Return the weights that are given, by name or number of a column; None gives none.

    >>> read_column_weights({"age": 2, 3: 0})
    {'age': 2.0, 3: 0.0}
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        remedy = 'pass a dict of names or numbers of columns and their weights, such as {"age": 2}'
        raise bad_type(_NAME, value, "is not a dict", remedy)
    odds: Odds = {}
    for column, weight in value.items():
        if isinstance(column, bool) or not isinstance(column, (str, Integral)):
            raise bad_type(
                _NAME, value, f"has the key {column!r}", "pass names or numbers of columns"
            )
        key = column if isinstance(column, str) else int(column)
        number = real_number(_of(key), weight, _ODDS)
        if number < 0:
            raise bad_value(_of(key), weight, "is negative", _ODDS)
        odds[key] = number
    return odds


def by_column(odds: Odds, names: Sequence[str]) -> tuple[float, ...]:
    """Return a weight for every column; those that are not given weigh 1.

    >>> by_column({"age": 2.0, 2: 0.0}, ["age", "sex", "postcode"])
    (2.0, 1.0, 0.0)
    """
    weights = [1.0] * len(names)
    given: dict[int, str | int] = {}
    for key, weight in odds.items():
        column = _find(key, weight, names)
        if column in given:
            also = _of(given[column])
            raise bad_value(_of(key), weight, f"is about the same column as {also}", "pass one")
        given[column] = key
        weights[column] = weight
    if not any(weights):
        raise bad_value(_NAME, odds, "leaves out every column", "pass a weight above 0")
    _refuse_extremes(weights, given, names)
    return tuple(weights)


def _find(key: str | int, weight: float, names: Sequence[str]) -> int:
    """Return the position of a column."""
    try:
        return position(key, names)
    except NoSuchColumn as error:
        raise bad_value(_of(key), weight, error.fault, error.remedy) from None


def _refuse_extremes(
    weights: Sequence[float], given: Mapping[int, str | int], names: Sequence[str]
) -> None:
    """Refuse odds that whole numbers cannot hold; ``given``: by what each column was named."""
    used = [j for j, weight in enumerate(weights) if weight > 0]
    light, heavy = min(used, key=lambda j: weights[j]), max(used, key=lambda j: weights[j])
    if Fraction(weights[heavy]) <= MOST_ODDS * Fraction(weights[light]):
        return
    one, other, than = (heavy, light, "more") if heavy in given else (light, heavy, "less")
    times = f"{MOST_ODDS:,} times" if one == heavy else f"1 / {MOST_ODDS:,} of"
    fault = f"is {than} than {times} the weight of {names[other]!r}, {weights[other]:g}"
    remedy = "pass weights that are closer, or 0 to leave a column out"
    raise bad_value(_of(given[one]), weights[one], fault, remedy)


def _of(key: str | int) -> str:
    return f"{_NAME}[{key!r}]"
