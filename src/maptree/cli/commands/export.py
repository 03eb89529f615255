"""``maptree export``: the tree in another language, to run or to view elsewhere."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from maptree.cli import options

if TYPE_CHECKING:
    from maptree.trees.fitted import FittedTree

# Text formats: the module in ``maptree.export`` and its function.
_TEXTS = {
    "python": ("python_source", "write_python"),
    "c": ("c_source", "write_c"),
    "javascript": ("javascript_source", "write_javascript"),
    "dot": ("dot", "write_dot"),
    "mermaid": ("mermaid", "write_mermaid"),
    "latex": ("latex", "write_latex"),
    "json": ("description", "write_json"),
}
_DIALECTS = {
    "sql": "ansi",
    "duckdb": "duckdb",
    "postgresql": "postgresql",
    "sqlite": "sqlite",
}
# How exports begin. A tree as text has no beginning of its own, but leaves.
_BEGINNINGS = (
    b'WITH "leaves"',
    b'"""A decision tree as standalone Python.',
    b"/* A decision tree as standalone C99.",
    b"// A decision tree as a standalone ES module.",
    b"digraph tree {",
    b"flowchart TD\n  n0",
    b"\\begin{forest}",
    b'{\n  "format": "maptree.tree"',
    b"\x08\x08\x12\x07maptree",
)
_MARKS = (b"], n = ",)
_START = 4096  # bytes in which a leaf is found
FORMATS = (*_DIALECTS, *_TEXTS, "text", "onnx")


def export(
    model: options.Model,
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="FORMAT", help=f"One of {', '.join(FORMATS)}.", show_default=False
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to write. Default: standard output."
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Name of the table that the SQL selects from. Default: data."
        ),
    ] = None,
    single_tree: options.SingleTree = False,
    json: options.Json = False,
) -> None:
    """Export the tree as SQL, ONNX, Python, C, JavaScript, a picture or JSON.

    The exported tree gives the same predictions as maptree predict.

    \b
    Example:
      maptree export people.model.json --to postgresql --table people
    """
    from maptree.cli.mistakes import USAGE, Refusal
    from maptree.cli.screen import emit, note
    from maptree.cli.streams import data_output, written
    from maptree.files.whole_file import write_whole
    from maptree.model_file.reading import read_model
    from maptree.parameters.names import nearest

    to = "sql" if to == "ansi" else to  # as to_sql calls it
    if to not in FORMATS:
        meant = "".join(f" Did you mean {name}?" for name in nearest(to, FORMATS)[:1])
        raise Refusal(f"--to {to} is unknown: pass one of {', '.join(FORMATS)}.{meant}", USAGE)
    if to == "onnx" and output is None:
        raise Refusal("--to onnx writes a binary file: pass --output FILE.onnx.", USAGE)
    fitted = read_model(model).fitted
    if fitted.average is not None and not single_tree:
        raise Refusal(
            f"{model} predicts by the average of {len(fitted.average.weighted.trees):,} trees, and "
            "an export holds one. Pass --single-tree to export the most probable tree, whose "
            "predictions differ from those of the average.",
            USAGE,
        )
    if output is not None:
        options.refuse_model(output, model)
        options.refuse_foreign(output, "an exported tree", _is_export)
    content = _exported(fitted, to, table or "data")
    if output is not None:
        write_whole(output, content)
        written(output)
    if json:
        result = {"output": output} if output is not None else {"content": content.decode()}
        emit({"command": "export", "model_file": model, "format": to} | result)
    elif output is None:
        data_output().write(content.decode())
    else:
        note(f"Written to {output}.")
    if to in _DIALECTS and table is None and not json:
        note('The SQL selects from a table called "data": pass --table for another.')


def _exported(fitted: FittedTree, to: str, table: str) -> bytes:
    if to in _DIALECTS:
        from maptree.export.sql import write_sql

        return _lines(write_sql(fitted, _DIALECTS[to], table))
    if to == "onnx":
        from maptree.export.onnx_graph import write_onnx

        serialized: bytes = write_onnx(fitted).SerializeToString()
        return serialized
    if to == "text":
        from maptree.words.tree_text import indented

        return _lines(indented(fitted))
    module, function = _TEXTS[to]
    return _lines(getattr(import_module(f"maptree.export.{module}"), function)(fitted))


def _is_export(path: str) -> bool:
    """Return whether a file begins as an export does, of any format."""
    with open(path, "rb") as file:
        start = file.read(_START)
    return start.startswith(_BEGINNINGS) or any(mark in start for mark in _MARKS)


def _lines(text: str) -> bytes:
    return (text.rstrip("\n") + "\n").encode()
