"""CSV and TSV as columns of text. Their types are decided later, column by column."""

from __future__ import annotations

import codecs
import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from maptree.cli.header import (
    FOREIGN,
    Dialect,
    find_delimiter,
    find_encoding,
    first_line,
    name_columns,
)
from maptree.cli.mistakes import Refusal


def read_delimited(content: bytes, where: str, dialect: Dialect) -> pa.Table:
    """Return the columns as text, trimmed; missing values are null."""
    encoding = dialect.encoding or find_encoding(content)
    _refuse_foreign(content, where, encoding)
    delimiter = dialect.delimiter or find_delimiter(first_line(content, encoding))
    parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    # On one thread, so that errors name the row.
    read = csv.ReadOptions(use_threads=False, encoding=encoding)
    try:
        names = csv.open_csv(
            pa.BufferReader(content), read_options=read, parse_options=parse
        ).schema.names
        if len(names) == 1:
            # An empty line is a row with a missing value, but not before the header.
            parse.ignore_empty_lines = False
            read.skip_rows = _empty_lines_in_front(content, encoding)
        table = csv.read_csv(
            pa.BufferReader(content),
            read_options=read,
            parse_options=parse,
            convert_options=csv.ConvertOptions(
                column_types={name: pa.string() for name in names}, strings_can_be_null=False
            ),
        )
    except (pa.ArrowInvalid, UnicodeError) as error:  # UTF-16 without a mark is no DecodeError
        raise Refusal(_explain(str(error), where, encoding, content)) from None
    if not parse.ignore_empty_lines and _ends_with_empty_line(content):
        table = table.slice(0, table.num_rows - 1)
    _refuse_open_quote(content, table, where)
    return table.from_arrays(
        [_clean(column, dialect) for column in table.columns],
        names=name_columns(table.column_names),
    )


def _refuse_foreign(content: bytes, where: str, encoding: str) -> None:
    if not content.strip():
        raise Refusal(f"{where} is empty: it needs a header with column names, and rows.")
    for beginning, what in FOREIGN.items():
        if content.startswith(beginning):
            raise Refusal(f"{where} is not CSV. It looks like {what}.")
    if encoding == "utf-8" and b"\0" in content[:4096]:
        raise Refusal(f"{where} is not text: it contains zero bytes. Save the table as CSV.")
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise Refusal(f"--encoding {encoding} is unknown: try utf-8 or latin-1.", 2) from None


def _empty_lines_in_front(content: bytes, encoding: str) -> int:
    start = content[: 1 << 16].decode(encoding, errors="replace").lstrip("\ufeff")
    return len(start[: len(start) - len(start.lstrip("\r\n"))].splitlines())


def _ends_with_empty_line(content: bytes) -> bool:
    end = content[-8:].replace(b"\0", b"")  # UTF-16 has zero bytes between ASCII characters
    return end.endswith((b"\n\n", b"\r\n\r\n", b"\r\r"))


def _explain(error: str, where: str, encoding: str, content: bytes) -> str:
    open_quote = content.count(b'"') % 2 == 1
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
        line = f", line {int(row_of[1]):,}," if row_of else ""
        return (
            f"{where}{line} is not valid {encoding} text. Pass the --encoding it was saved in, "
            "such as latin-1, or save it as UTF-8."
        )
    return f"{where} cannot be read as CSV: {error.splitlines()[0][:300]}"


def _refuse_open_quote(content: bytes, table: pa.Table, where: str) -> None:
    """Refuse a quote that is never closed: it would swallow the rest of the file as one cell."""
    if table.num_rows == 0 or content.count(b'"') % 2 == 0:
        return
    if any("\n" in (column[-1].as_py() or "") for column in table.columns):
        raise Refusal(
            f"{where}, row {table.num_rows:,}: a quote is opened and never closed. "
            'Close it; write a quote inside a cell as "".'
        )


def _clean(column: Any, dialect: Dialect) -> Any:
    trimmed = pc.utf8_trim_whitespace(column)
    # A regular expression, not pc.is_in, and null without pa.scalar: converting Python values to
    # Arrow imports pandas if it is installed, which takes longer than everything else here.
    words = "|".join(re.escape(word.strip().lower()) for word in dialect.missing)
    missing = pc.match_substring_regex(pc.utf8_lower(trimmed), f"^(?:{words})$")
    return pc.if_else(missing, pa.nulls(1, pa.string())[0], trimmed)
