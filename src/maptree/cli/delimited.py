"""CSV and TSV as columns of text. Their types are decided later, column by column."""

from __future__ import annotations

import codecs
import re
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv

from maptree.cli.content import blocks, copied, start
from maptree.cli.header import (
    FOREIGN,
    Dialect,
    find_delimiter,
    find_encoding,
    first_line,
    name_columns,
)
from maptree.cli.mistakes import Refusal


def read_delimited(content: pa.Buffer, where: str, dialect: Dialect) -> pa.Table:
    """Return the columns as text, with all its blanks; missing values are null.

    Arrow has to own the content (``maptree.cli.content`` says why).
    """
    encoding = dialect.encoding or find_encoding(start(content))
    _refuse_foreign(content, where, encoding)
    content = _as_utf8(content, where, encoding)
    delimiter = dialect.delimiter or find_delimiter(first_line(start(content), "utf-8"))
    parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    # On one thread, so that errors name the row.
    read = csv.ReadOptions(use_threads=False)
    try:
        names = csv.open_csv(
            pa.BufferReader(content), read_options=read, parse_options=parse
        ).schema.names
        if len(names) == 1:
            # An empty line is a row with a missing value, but not before the header.
            parse.ignore_empty_lines = False
            read.skip_rows = _empty_lines_in_front(content)
        table = csv.read_csv(
            pa.BufferReader(content),
            read_options=read,
            parse_options=parse,
            convert_options=csv.ConvertOptions(
                column_types={name: pa.string() for name in names}, strings_can_be_null=False
            ),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise Refusal(_explain(str(error), where, content)) from None
    if not parse.ignore_empty_lines and _ends_with_empty_line(content):
        table = table.slice(0, table.num_rows - 1)
    _refuse_open_quote(content, table, where)
    return table.from_arrays(
        [_clean(column, dialect) for column in table.columns],
        names=name_columns(table.column_names),
    )


def _refuse_foreign(content: pa.Buffer, where: str, encoding: str) -> None:
    if not re.search(rb"\S", content):
        raise Refusal(f"{where} is empty: it needs a header with column names, and rows.")
    for beginning, what in FOREIGN.items():
        if start(content).startswith(beginning):
            raise Refusal(f"{where} is not CSV. It looks like {what}.")
    if encoding == "utf-8" and b"\0" in start(content)[:4096]:
        raise Refusal(f"{where} is not text: it contains zero bytes. Save the table as CSV.")
    try:
        codecs.getincrementaldecoder(encoding)
        b"a".decode(encoding, errors="replace")  # refuses codecs that are not of text
    except (LookupError, UnicodeError):
        raise Refusal(f"--encoding {encoding} is unknown: try utf-8 or latin-1.", 2) from None


def _as_utf8(content: pa.Buffer, where: str, encoding: str) -> pa.Buffer:
    """Return the text as UTF-8. Arrow would call Python for that, on a thread of its own."""
    if codecs.lookup(encoding).name == "utf-8":
        return content
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        return copied(
            decoder.decode(block, final=not block).encode() for block in (*blocks(content), b"")
        )
    except UnicodeError:
        raise Refusal(_not_text(where, encoding)) from None


def _not_text(place: str, encoding: str) -> str:
    return (
        f"{place} is not valid {encoding} text. Pass the --encoding it was saved in, such as "
        "latin-1, or save it as UTF-8."
    )


def _empty_lines_in_front(content: pa.Buffer) -> int:
    beginning = start(content).decode(errors="replace").lstrip("\ufeff")
    return len(beginning[: len(beginning) - len(beginning.lstrip("\r\n"))].splitlines())


def _ends_with_empty_line(content: pa.Buffer) -> bool:
    end: bytes = content.slice(max(0, content.size - 4)).to_pybytes()
    return end.endswith((b"\n\n", b"\r\n\r\n", b"\r\r"))


def _has_open_quote(content: pa.Buffer) -> bool:
    return sum(block.count(b'"') for block in blocks(content)) % 2 == 1


def _explain(error: str, where: str, content: pa.Buffer) -> str:
    open_quote = _has_open_quote(content)
    ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", error)
    if ragged:
        row, expected, got = (int(group) for group in ragged.groups())
        remedy = (
            "A quote seems to be opened there and never closed. Close it."
            if open_quote
            else "Fix the line; put quotes around a cell that contains the delimiter."
        )
        return (
            f"{where}, line {row:,}: {got} cell{'' if got == 1 else 's'}, but the header has "
            f"{expected}. {remedy}"
        )
    if open_quote and "Empty CSV file or block" in error:
        return f"{where}: a quote is opened in the header and never closed. Close it."
    if "UTF8" in error or "codec" in error:
        row_of = re.search(r"Row #(\d+)", error)
        return _not_text(f"{where}, line {int(row_of[1]):,}," if row_of else where, "utf-8")
    return f"{where} cannot be read as CSV: {error.splitlines()[0][:300]}"


def _refuse_open_quote(content: pa.Buffer, table: pa.Table, where: str) -> None:
    """Refuse a quote that is never closed: it would swallow the rest of the file as one cell."""
    if table.num_rows == 0 or not _has_open_quote(content):
        return
    if any("\n" in (column[-1].as_py() or "") for column in table.columns):
        raise Refusal(
            f"{where}, row {table.num_rows:,}: a quote is opened and never closed. "
            'Close it; write a quote inside a cell as "".'
        )


def _clean(column: Any, dialect: Dialect) -> Any:
    # Here, because it takes long to import: a file that cannot be read is refused without it.
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(column)
    # A regular expression, not pc.is_in, and null without pa.scalar: converting Python values to
    # Arrow imports pandas if it is installed, which takes longer than everything else here.
    words = "|".join(re.escape(word.strip().lower()) for word in dialect.missing)
    missing = pc.match_substring_regex(pc.utf8_lower(trimmed), f"^(?:{words})$")
    return pc.if_else(missing, pa.nulls(1, pa.string())[0], column)
