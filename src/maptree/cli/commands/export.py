"""``maptree export``: the tree in another language, to run or to look at elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from maptree.cli import options

if TYPE_CHECKING:
    from maptree import MAPTreeClassifier

# Formats that are text, and the method that writes them.
_TEXTS = {
    "python": "to_python",
    "c": "to_c",
    "javascript": "to_javascript",
    "dot": "to_dot",
    "mermaid": "to_mermaid",
    "latex": "to_latex",
    "json": "to_json",
    "text": "export_text",
}
_DIALECTS: dict[str, Literal["ansi", "duckdb", "postgresql", "sqlite"]] = {
    "sql": "ansi",
    "duckdb": "duckdb",
    "postgresql": "postgresql",
    "sqlite": "sqlite",
}
FORMATS = (*_DIALECTS, *_TEXTS, "onnx")


def export(
    model: options.Model,
    to: Annotated[
        str,
        typer.Option("--to", metavar="FORMAT", help=f"{', '.join(FORMATS)}.", show_default=False),
    ],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write there, not to the terminal."),
    ] = None,
    table: Annotated[
        str, typer.Option(metavar="NAME", help="The table that SQL selects from.")
    ] = "data",
    json: options.Json = False,
) -> None:
    """Write the tree as SQL, ONNX, Python, C, JavaScript, a picture or JSON.

    Its answers there are those of maptree predict.

    \b
    Example:
      maptree export people.model.json --to postgresql --table people
    """
    from maptree import load_model
    from maptree.cli.names import nearest
    from maptree.cli.output_file import refuse_output
    from maptree.cli.refusal import USAGE, Refusal
    from maptree.cli.screen import emit, note
    from maptree.whole_file import write_whole

    if to not in FORMATS:
        meant = "".join(f" Did you mean {name}?" for name in nearest(to, FORMATS)[:1])
        raise Refusal(f"--to {to} is unknown: pass one of {', '.join(FORMATS)}.{meant}", USAGE)
    if to == "onnx" and output is None:
        raise Refusal("--to onnx is not text: pass --output FILE.onnx.", USAGE)
    loaded = load_model(model)
    if output is not None:
        refuse_output(output, model)
    content = _exported(loaded, to, table)
    if output is not None:
        write_whole(output, content)
    if json:
        said = {"output": output} if output is not None else {"content": content.decode()}
        emit({"command": "export", "model_file": model, "format": to} | said)
    elif output is None:
        print(content.decode(), end="")
    else:
        note(f"Written to {output}.")


def _exported(loaded: MAPTreeClassifier, to: str, table: str) -> bytes:
    if to in _DIALECTS:
        return _lines(loaded.to_sql(_DIALECTS[to], table=table))
    if to == "onnx":
        serialized: bytes = loaded.to_onnx().SerializeToString()
        return serialized
    return _lines(getattr(loaded, _TEXTS[to])())


def _lines(text: str) -> bytes:
    return (text.rstrip("\n") + "\n").encode()
