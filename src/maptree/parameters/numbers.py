"""Numbers that users pass as parameters, and the errors for those that cannot be used."""

from __future__ import annotations

import math
from numbers import Integral, Real

_GREATEST = 2**62  # well within the core's integers


class ParameterError(Exception):
    """A parameter that cannot be used: its name, its value, what is wrong, and what to pass.

    It is raised as a ``ValueError`` or a ``TypeError``. The fields are for callers that know the
    parameter by another name, such as the command line.

    >>> str(bad_value("max_depth", -1, "is too small", "pass a whole number of at least 0"))
    'max_depth=-1 is too small: pass a whole number of at least 0.'
    """

    def __init__(self, parameter: str, value: object, fault: str, remedy: str) -> None:
        super().__init__(f"{parameter}={value!r} {fault}: {remedy}.")
        self.parameter = parameter
        self.value = value
        self.fault = fault
        self.remedy = remedy

    def __reduce__(self) -> tuple[object, ...]:
        # Through the constructor: an error may cross processes, as in a parallel grid search.
        return type(self), (self.parameter, self.value, self.fault, self.remedy)


class ParameterValueError(ParameterError, ValueError):
    """A value of the right type that is out of range."""


class ParameterTypeError(ParameterError, TypeError):
    """A value of the wrong type."""


def bad_value(parameter: str, value: object, fault: str, remedy: str) -> ParameterValueError:
    """Return the error for a value that is out of range."""
    return ParameterValueError(parameter, value, fault, remedy)


def bad_type(parameter: str, value: object, fault: str, remedy: str) -> ParameterTypeError:
    """Return the error for a value of the wrong type."""
    return ParameterTypeError(parameter, value, fault, remedy)


def whole_number(
    name: str, value: object, least: int, most: int = _GREATEST, remedy: str = ""
) -> int:
    """Return a parameter that must be a whole number from ``least`` to ``most``.

    >>> whole_number("min_samples_leaf", 5, least=1)
    5
    """
    limited = most < _GREATEST
    if not remedy:
        numbers = f"from {least} to {most:,}" if limited else f"of at least {least}"
        remedy = f"pass a whole number {numbers}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise bad_type(name, value, "is not a whole number", remedy)
    if value < least:
        raise bad_value(name, value, "is too small", remedy)
    if int(value) > most:
        raise bad_value(
            name,
            value,
            "is too large",
            remedy if limited else "pass a whole number of at most 2**62",
        )
    return int(value)


def real_number(name: str, value: object, remedy: str) -> float:
    """Return a parameter that must be a finite number.

    >>> real_number("beta", 1, "pass a number of at least 0")
    1.0
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise bad_type(name, value, "is not a number", remedy)
    try:
        number = float(value)
    except OverflowError:  # a whole number too large for a float
        number = math.inf
    if not math.isfinite(number):
        raise bad_value(name, value, "is not finite", remedy)
    return number
