"""Reading tables from files, by their extension, and from standard input."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from maptree.cli.content import BLOCK, blocks, copied, file_content, start
from maptree.cli.delimited import read_delimited
from maptree.cli.header import Dialect
from maptree.cli.mistakes import USAGE, Refusal, refuse_absent
from maptree.files.json_values import repeated

if TYPE_CHECKING:
    from maptree.schema.columns import Column

EXTENSIONS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
_GZIP = b"\x1f\x8b"
_STREAM = b"\xff\xff\xff\xff"  # how an Arrow stream begins
_FORMATS = ("csv", "tsv", "parquet", "feather", "jsonl")


@dataclass(frozen=True)
class Source:
    """A table that was read. CSV columns have no type yet; in JSON only dates have none."""

    name: str  # for messages
    table: pa.Table
    format: str
    decimal: str | None = None

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.table.column_names)

    def typed(self, names: Sequence[str]) -> pa.Table:
        """Return some columns with their types inferred."""
        return pa.table({name: self.infer(name) for name in names})

    def infer(self, name: str) -> Any:
        """Return a column with its type inferred."""
        from maptree.cli.text_columns import infer  # for pyarrow.compute, as in delimited.py

        column = self.table.column(name)
        if not self._is_open(column):
            return column
        return infer(column, self.decimal, only_times=self.format == "jsonl")

    def as_fitted(self, name: str, about: Column) -> Any:
        """Return a column converted to the type it had when a model was fitted."""
        from maptree.cli.text_columns import TIMES, as_fitted

        column = self.table.column(name)
        if not self._is_open(column) or (self.format == "jsonl" and about.kind not in TIMES):
            return column
        return as_fitted(column, about, self.decimal)

    def _is_open(self, column: Any) -> bool:
        return self.format in ("csv", "tsv", "jsonl") and pa.types.is_string(column.type)


def read_source(path: str, format_: str | None, dialect: Dialect) -> Source:
    """Read a table; ``-`` is standard input."""
    refuse_absent(path)
    kind = _kind(path, format_)
    name = "standard input" if path == "-" else path
    if kind in ("csv", "tsv"):
        if kind == "tsv" and dialect.delimiter is None:
            dialect = Dialect("\t", dialect.encoding, dialect.missing, dialect.decimal)
        table = read_delimited(_content(path), name, dialect)
    elif kind == "jsonl":
        table = read_json_lines(_content(path), name)
    else:
        try:
            table = _READ[kind](_opened(path))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
            reason = str(error).splitlines()[0][:300]
            raise Refusal(f"{name} cannot be read as {kind}: {reason}") from None
    twice = repeated(table.column_names)
    if twice is not None:
        raise Refusal(f"{name} has two columns named {twice!r}: rename one.")
    if table.num_columns == 0 or table.num_rows == 0:
        raise Refusal(
            f"{name} has {table.num_rows} rows and {table.num_columns} columns: add rows below "
            "the header, or check whether the program that wrote it stopped early."
        )
    return Source(name, table, kind, dialect.decimal)


def _kind(path: str, format_: str | None) -> str:
    if format_ is not None:
        if format_ not in _FORMATS:
            known = ", ".join(_FORMATS)
            raise Refusal(f"--format {format_} is unknown: pass one of {known}.", USAGE)
        return format_
    if path == "-":
        return "csv"
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    if suffix not in EXTENSIONS:
        excel = " Save a workbook as CSV first." if suffix in (".xls", ".xlsx", ".ods") else ""
        raise Refusal(
            f"Cannot tell the format of {path}: {extension_fault(suffix)}. Pass --format csv (or "
            f"{', '.join(_FORMATS[1:])}), or name it {', '.join(EXTENSIONS)}.{excel}"
        )
    return EXTENSIONS[suffix]


def extension_fault(suffix: str) -> str:
    """Return why an extension does not determine a format."""
    return f"the extension {suffix} is unknown" if suffix else "it has no extension"


def _content(path: str) -> pa.Buffer:
    """Return the bytes of a file, decompressed."""
    if path == "-":
        return _stdin()
    try:
        return file_content(path, Path(path).suffix.lower() in _COMPRESSED)
    except OSError as error:
        raise Refusal(f"{path} cannot be read: {_reason(error)}.") from None


def _opened(path: str) -> pa.NativeFile:
    """Return a file of a format that is read in parts."""
    file = Path(path)
    whole = path == "-" or file.suffix.lower() in _COMPRESSED or not file.is_file()
    if whole or not file.stat().st_size:
        return pa.BufferReader(_content(path))
    try:
        return pa.memory_map(path)
    except OSError as error:
        raise Refusal(f"{path} cannot be read: {_reason(error)}.") from None


def _stdin() -> pa.Buffer:
    if sys.stdin is None or sys.stdin.isatty():
        raise Refusal(
            "- reads standard input, but that is a terminal: pipe a table into it.", USAGE
        )
    given = sys.stdin.buffer
    content = copied(iter(lambda: given.read(BLOCK), b""))
    if start(content).startswith(_GZIP):
        raise Refusal(
            "Standard input is compressed: decompress it first, as in gunzip -c FILE | maptree ..."
        )
    return content


def _reason(error: OSError) -> str:
    return error.strerror or str(error).splitlines()[0]


def _read_parquet(opened: Any) -> pa.Table:
    import pyarrow.parquet as parquet

    return parquet.read_table(opened)


def _read_feather(opened: Any) -> pa.Table:
    import pyarrow.feather as feather

    if opened.read(4) == _STREAM:  # an Arrow stream: same extension, another format
        opened.seek(0)
        return pa.ipc.open_stream(opened).read_all()
    opened.seek(0)
    return feather.read_table(opened)


_READ: dict[str, Callable[[Any], pa.Table]] = {
    "parquet": _read_parquet,
    "feather": _read_feather,
}


def read_json_lines(content: pa.Buffer, where: str) -> pa.Table:
    """Return the table in a JSON lines file."""
    import pyarrow.json

    if not _is_utf8(content):  # Arrow takes it, and fails when it hands out a name or a value
        _refuse_lines(content, where)
    try:
        table = pyarrow.json.read_json(pa.BufferReader(content))
    except pa.ArrowInvalid as error:
        _refuse_lines(content, where)
        reason = str(error).splitlines()[0][:300]
        raise Refusal(f"{where} cannot be read as jsonl: {reason}") from None
    if any(pa.types.is_nested(field.type) for field in table.schema):
        _refuse_lines(content, where)
    return table


def _is_utf8(content: pa.Buffer) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for block in blocks(content):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _refuse_lines(content: pa.Buffer, where: str) -> None:
    """Refuse the first line that does not fit, and name it."""
    first: dict[str, tuple[str, int]] = {}  # the type of a column, and the line that set it
    for number, line in enumerate(content.to_pybytes().splitlines(), start=1):
        if not line.strip():
            continue
        place = f"{where}, line {number:,}"
        for name, value in _record(line, place).items():
            kind = _KINDS[type(value)]
            if kind in _NESTED:
                raise Refusal(
                    f"{place}: {name!r} is {kind}, which is nested. Write its values as columns."
                )
            known, since = first.setdefault(name, (kind, number)) if kind else (kind, number)
            if known != kind:
                raise Refusal(
                    f"{place}: {name!r} is {kind}, but in line {since:,} it is {known}. Use one "
                    "type for all values of a column; write null for a missing value."
                )


_KINDS = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "",
}
_NESTED = ("an object", "a list")


def _record(line: bytes, place: str) -> dict[str, Any]:
    remedy = "Write one JSON object per line, not a list, with no commas between them."
    try:
        value = json.loads(line)
    except UnicodeDecodeError:
        raise Refusal(f"{place} is not valid UTF-8 text. Save the file as UTF-8.") from None
    except (json.JSONDecodeError, RecursionError) as error:
        reason = getattr(error, "msg", "it is nested too deeply")
        reason = "" if line.lstrip().startswith(b"[") else f" ({reason})"
        raise Refusal(f"{place} is not a JSON object{reason}. {remedy}") from None
    if not isinstance(value, dict):
        raise Refusal(f"{place} is {_KINDS[type(value)] or 'null'}. {remedy}")
    return value
