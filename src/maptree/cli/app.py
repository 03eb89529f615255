"""The program: its commands, and how errors are reported."""

from __future__ import annotations

import os
import pkgutil
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from maptree.cli import commands, mistakes
from maptree.cli.groups import ungrouped
from maptree.cli.mistakes import USAGE, Refusal
from maptree.cli.screen import complain, note
from maptree.cli.streams import OutputLost, guarded, what_was_written

# What click calls UsageError. Older versions of typer use click, newer ones have a copy of it.
_UsageError = typer.BadParameter.__mro__[1]

# Types of options that the user is told about in words.
_NUMBERS: dict[Any, str] = {int: "a whole number", float: "a number"}

_ORDER = (
    "fit",
    "predict",
    "score",
    "compare",
    "show",
    "report",
    "path",
    "alternatives",
    "export",
)  # then the others, by name

_ABOUT = """
Find the decision tree with the highest posterior probability for your table.

\b
maptree fit people.csv --target income      find the tree, write a model file
maptree predict people.model.json new.csv   predict the class of new rows

Run maptree COMMAND --help for details and an example.
"""

_CODES = """
Exit codes: 0 success; 1 a file, column or value cannot be used; 2 invalid
options; 3 a package is not installed; 4 a bug in maptree; 130 stopped by
Ctrl-C (fit prints whether it saved the best tree so far), 129 and 143 by a
hangup or termination in the same way; 141 the reader of the output closed the
pipe.
"""


def make_app(asked: str | None = None) -> typer.Typer:
    """Return the program with every command in the package ``commands``.

    If one of them is asked for, it is made alone: typer reads the signatures of all that there are.
    """
    app = typer.Typer(
        name="maptree",
        cls=_Group,
        help=_ABOUT,
        epilog=_CODES.replace("\n", " "),
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    )
    app.callback(help=_ABOUT)(_version)
    names = [module.name for module in pkgutil.iter_modules(commands.__path__)]
    names = [asked] if asked in names else names
    for name in sorted(names, key=lambda name: (name not in _ORDER, *_rank(name))):
        command = getattr(import_module(f"{commands.__name__}.{name}"), name)
        app.command(name, cls=_Command)(_past_typer(ungrouped(command)))
    return app


class _Adapted:
    """Differs from typer in two details of its newer versions."""

    def get_help_option(self, ctx: Any) -> Any:
        """Show ``--help`` without a type, which they call <bool>."""
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.metavar = ""
        return option

    def get_params(self, ctx: Any) -> list[Any]:
        """Convert plain values without pydantic."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if hasattr(param, "get_runtime_param") and "get_runtime_param" not in vars(param):
                param.get_runtime_param = _Quick(param).itself
        return params


class _Command(_Adapted, TyperCommand):
    pass


class _Group(_Adapted, TyperGroup):
    pass


class _Quick:
    """Converts the plain values of an option; all others are left to typer.

    Newer versions of typer import pydantic to convert any value, which takes almost as long as
    importing numpy: a mistake should be reported sooner.
    """

    def __init__(self, param: Any) -> None:
        self._typers = param.get_runtime_param
        self._annotation = param.type_descriptor.annotation

    def itself(self) -> _Quick:
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        kind = self._annotation
        if value is None:
            return () if param.multiple else None
        if isinstance(kind, type) and type(value) is kind:
            return value
        if kind == list[str] and all(isinstance(part, str) for part in value):
            return list(value)
        if kind in _NUMBERS and isinstance(value, str):
            try:
                return kind(value)
            except ValueError:
                option = max(param.opts, key=len)
                raise Refusal(f"{option} takes {_NUMBERS[kind]}, not {value!r}.", USAGE) from None
        return self._typers().coerce(value, param=param, ctx=ctx)


class _Interrupted(Exception):  # noqa: N818
    """Ctrl-C."""


def _past_typer(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Let Ctrl-C through: typer would exit without a message."""

    @wraps(command)
    def run_command(*args: Any, **options: Any) -> int | None:
        try:
            return command(*args, **options)
        except KeyboardInterrupt:
            raise _Interrupted from None

    return run_command


def _rank(name: str) -> tuple[int, str]:
    return (_ORDER.index(name) if name in _ORDER else 0), name


def _say_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"maptree {version('maptree')}")
        raise typer.Exit


def _version(
    version: bool = typer.Option(
        False,
        "--version",
        metavar="",
        callback=_say_version,
        is_eager=True,
        help="Print the version and exit.",
    ),
) -> None:
    """Options of the program itself."""


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code. Users' mistakes give a message, not a traceback."""
    with guarded():
        try:
            code = _run(arguments)
            sys.stdout.flush()
        except OutputLost as lost:
            if lost.reader_gone:
                code = mistakes.BROKEN_PIPE
                if what_was_written():
                    note(f"maptree:{what_was_written()}")
            else:
                fault = f"Standard output cannot be written: {lost}.{what_was_written()}"
                code = complain(fault, mistakes.UNUSABLE, as_json=False)
        return code


def _run(arguments: Sequence[str]) -> int:
    as_json = "--json" in arguments
    try:
        given = list(arguments) or ["--help"]
        code = make_app(given[0])(given, prog_name="maptree", standalone_mode=False)
        if code == 130:  # typer's own, while it prints help, whatever the signal
            return mistakes.interrupted_code()
        return code if isinstance(code, int) else 0
    except OutputLost:
        raise
    except (_Interrupted, KeyboardInterrupt, typer.Abort):
        none = " No model was written." if "fit" in arguments[:1] else ""
        message = f"Interrupted.{what_was_written() or none}"
        return complain(message, mistakes.interrupted_code(), as_json)
    except Refusal as refused:
        return complain(str(refused), refused.code, as_json)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return complain(f"{place}{error.strerror or error}.", mistakes.UNUSABLE, as_json)
    except ImportError as error:
        return complain(str(error), mistakes.NOT_INSTALLED, as_json)
    except (ValueError, TypeError) as error:
        if os.environ.get("MAPTREE_DEBUG"):
            traceback.print_exc()
        return complain(str(error), mistakes.UNUSABLE, as_json)
    except MemoryError:
        return complain(
            "Out of memory. Pass --memory-limit, or fewer rows or columns.",
            mistakes.UNUSABLE,
            as_json,
        )
    except Exception as error:
        if isinstance(error, _UsageError):
            return complain(_usage(error), mistakes.USAGE, as_json)
        if os.environ.get("MAPTREE_DEBUG"):
            traceback.print_exc()
        return complain(
            f"This is a bug in maptree: {type(error).__name__}: {error}. Please report it, with "
            "the output of the same command after MAPTREE_DEBUG=1.",
            mistakes.FAULT,
            as_json,
        )


def _usage(error: Any) -> str:
    message = error.format_message().rstrip(".") + (
        "" if error.format_message().endswith("?") else "."
    )
    where = error.ctx.command_path if error.ctx is not None else "maptree"
    return f"{message} See {where} --help."
