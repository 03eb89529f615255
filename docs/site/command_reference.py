"""The directive `commands`: a section for each command of the program, from its own help."""

from __future__ import annotations

import inspect
import re
from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from maptree.cli.app import make_app


def reference() -> str:
    """Return the commands in Markdown: what each does, an example, its arguments and options."""
    program: Any = typer.main.get_command(make_app())
    parts = [_described(program.help)]
    for name, command in program.commands.items():
        usage = f"maptree {name} [OPTIONS] " + " ".join(
            _usage_of(param) for param in command.params if param.param_type_name == "argument"
        )
        parts += [f"## maptree {name}", _code(usage.strip()), _described(command.help)]
        panels: dict[str, list[Any]] = {}
        for param in command.params:
            kind = "Arguments" if param.param_type_name == "argument" else "Options"
            panels.setdefault(getattr(param, "rich_help_panel", None) or kind, []).append(param)
        for panel, params in panels.items():
            rows = [f"| {_names_of(param)} | {_help_of(param)} |" for param in params]
            parts.append("\n".join([f"| {panel} | |", "|---|---|", *rows]))
    parts += ["## Exit codes", _plain(program.epilog).removeprefix("Exit codes: ")]
    return "\n\n".join(parts) + "\n"


def _usage_of(param: Any) -> str:
    return param.metavar if param.required else f"[{param.metavar}]"


def _names_of(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"`{param.metavar}`"
    names = ", ".join(f"`{name}`" for name in [*param.opts, *param.secondary_opts])
    value = (param.metavar or "").replace("|", "\\|")
    return f"{names} {value}" if value and not param.is_flag else names


def _help_of(param: Any) -> str:
    text = _plain(param.help or "")
    if param.required:
        return f"{text} Required."
    if param.default in (None, "", [], ()) or param.is_flag or "efault" in text:
        return text
    return f"{text} Default: {param.default}."


def _described(text: str) -> str:
    """Paragraphs as they are; what click must not wrap is code."""
    text = inspect.cleandoc(text)
    parts = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.strip("\n").split("\n")
        if lines[0] == "\b":
            lines = [line for line in lines[1:] if line not in ("Example:", "Examples:")]
            parts.append(_code(inspect.cleandoc("\n".join(lines))))
        else:
            parts.append(_plain(block))
    return "\n\n".join(parts)


def _code(text: str) -> str:
    return f"```text\n{text}\n```"


def _plain(text: str) -> str:
    """One line, without what Markdown would take for markup."""
    text = " ".join(text.replace("\b", "").split())
    text = re.sub(r"(?<![\w`-])(--[a-z][a-z-]*)", r"`\1`", text)
    return re.sub(r"([|*_<])", r"\\\1", text)


class Commands(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(reference(), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
