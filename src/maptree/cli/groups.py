"""Groups of options that several commands share: dataclasses, whose fields are options.

A command takes such a dataclass as a parameter. Name, type, default and help of an option are in
one place, its field, whichever commands have it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def ungrouped(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Return a command with a signature that typer can read: one parameter for every field.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Place:
    ...     folder: str
    ...     name: str = "a"
    >>> def show(place: Place, deep: bool = False) -> None:
    ...     print(place, deep)
    >>> signature(ungrouped(show))
    <Signature (*, folder: str, name: str = 'a', deep: bool = False)>
    >>> ungrouped(show)(folder="here", name="b", deep=True)
    Place(folder='here', name='b') True
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[Parameter] = []
    for one in signature(command).parameters.values():
        if one.name in groups:
            parameters += _of_fields(groups[one.name])
        else:
            kind = Parameter.KEYWORD_ONLY
            parameters.append(one.replace(kind=kind, annotation=hints[one.name]))

    @wraps(command)
    def run(**options: Any) -> int | None:
        for name, group in groups.items():
            inside = {field.name: options.pop(field.name) for field in fields(group)}
            options[name] = group(**inside)
        return command(**options)

    run.__dict__["__signature__"] = Signature(parameters)
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _of_fields(group: Any) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
