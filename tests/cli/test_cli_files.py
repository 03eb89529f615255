"""Reading tables from files: formats, types of text, and what is wrong with a file."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command import people, write_text
from maptree.cli.delimited import read_delimited
from maptree.cli.files import read_source
from maptree.cli.header import MISSING, Dialect
from maptree.cli.mistakes import Refusal
from maptree.cli.text_columns import as_fitted, infer
from maptree.schema.columns import Column
from problems import examples


def typed(*values, **options):
    return infer(pa.chunked_array([pa.array(values, pa.string())]), **options)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "-2", None, "+30"], [1, -2, None, 30]),
        (["1", "2.5", ".5", "3."], [1.0, 2.5, 0.5, 3.0]),
        (["1e3", "-inf", "Infinity"], [1000.0, -np.inf, np.inf]),
        (["0", "10"], [0, 10]),
        (["01067", "10115"], ["01067", "10115"]),  # a postcode
        (["007"], ["007"]),
        (["12345678901234567890"], ["12345678901234567890"]),  # beyond 64 bits: an identifier
        (["1", "x"], ["1", "x"]),
        (["1,5", "2"], ["1,5", "2"]),
        (["true", "FALSE", None], [True, False, None]),
        (["yes", "no"], ["yes", "no"]),
        (["2021-03-04", None], [dt.date(2021, 3, 4), None]),
        (["2021-02-30"], ["2021-02-30"]),
        (["03/04/2021"], ["03/04/2021"]),  # of March or of April
        (["2021-03-04T10:00", "2021-03-04 10:00:01.5"], None),
        (["10:30", "23:59:59.25"], [dt.time(10, 30), dt.time(23, 59, 59, 250000)]),
        ([None, None], [None, None]),
    ],
)
def test_what_text_means(values, expected):
    column = typed(*values)
    if expected is None:
        assert column.to_pylist() == [
            dt.datetime(2021, 3, 4, 10),
            dt.datetime(2021, 3, 4, 10, 0, 1, 500000),
        ]
    else:
        assert column.to_pylist() == expected
        assert [type(v) for v in column.to_pylist()] == [type(v) for v in expected]


def test_times_with_a_zone_are_in_utc():
    column = typed("2021-03-04T10:00+02:00", "2021-03-04 10:00Z")
    assert column.type.tz == "UTC"
    assert [moment.hour for moment in column.to_pylist()] == [8, 10]


def test_decimal_commas():
    assert typed("1,5", "-2,25", "3", decimal=",").to_pylist() == [1.5, -2.25, 3.0]
    assert typed("a,5", "b", decimal=",").to_pylist() == ["a,5", "b"]


@examples(40)
@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_whole_numbers_come_back(numbers):
    texts = [None if number is None else str(number) for number in numbers]
    assert typed(*texts).to_pylist() == numbers


@examples(40)
@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_floats_come_back(numbers):
    assert typed(*map(repr, numbers)).to_pylist() == numbers


@examples(40)
@given(st.lists(st.text(max_size=6), min_size=1))
def test_any_text_is_read_as_something(texts):
    column = typed(*texts)
    assert len(column) == len(texts)


def read(text, **dialect):
    content = text if isinstance(text, bytes) else text.encode()
    return read_delimited(content, "table.csv", Dialect(**dialect))


def test_cells_that_are_missing():
    cells = [*MISSING, *(word.lower() for word in MISSING), " na ", '""']
    table = read("a,b\n" + "".join(f"{cell},x\n" for cell in cells))
    assert table.column("a").null_count == len(cells)
    assert read("a\nx\n.\n", missing=(".",)).column("a").to_pylist() == ["x", None]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_in_the_header(mark):
    table = read(f'"a,b"{mark}c\n"1;2"{mark}3\n')
    assert table.to_pylist() == [{"a,b": "1;2", "c": "3"}]


def test_quotes_line_ends_and_marks():
    table = read('\ufeffa,b\r\n"x\ny","say ""no"""\r\n')
    assert table.to_pylist() == [{"a": "x\ny", "b": 'say "no"'}]
    assert read("a,b\n5' 3\",x\n").to_pylist() == [{"a": "5' 3\"", "b": "x"}]


def test_empty_lines_of_one_column_are_rows():
    for end in ("\n", "\r\n"):
        for mark in ("", "\ufeff"):
            text = mark + "\n\na\n1\n\n3\n\n".replace("\n", end)
            assert read(text).column("a").to_pylist() == ["1", None, "3"]
    assert read("a\n\n2\n\n\n".encode("utf-16")).column("a").to_pylist() == [None, "2", None]
    assert read('a\n1\n""\n').column("a").to_pylist() == ["1", None]
    assert read("a,b\n1,2\n\n3,4\n").column("a").to_pylist() == ["1", "3"]


def test_encodings():
    assert read("a\nKöln\n".encode("latin-1"), encoding="latin-1").column("a")[0].as_py() == "Köln"
    assert read("a\nKöln\n".encode("utf-16")).column("a")[0].as_py() == "Köln"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"a,b\n1,2\n3\n", r"line 3: 1 cell, but the header has 2"),
        (b"a,b\n1,2,3\n", r"line 2: 3 cells, but the header has 2"),
        (b'a,b\n1,"x\n2,y\n', "a quote is opened and never closed"),
        (
            b'a,b\n1,2\n"3,4\n5,6\n',
            "line 3: 1 cell, .* A quote seems to be opened there and never closed",
        ),
        (b'a,"b\n1,2\n', "a quote is opened in the header and never closed"),
        (b"a\nK\xf6ln\n", "not valid utf-8 text. Pass the --encoding"),
        (b"PAR1xxxx", "looks like a Parquet file"),
        (b"PK\x03\x04xxxx", "workbook"),
        (b"\x1f\x8bxxx", "gzip file"),
        (b'{"a": 1}\n', "JSON"),
        (b"a\x00b\n\x00\n", "not text"),
    ],
)
def test_what_is_no_table(content, message):
    with pytest.raises(Refusal, match=message):
        read(content)


def test_utf_16_without_a_mark():
    with pytest.raises(Refusal, match=r"cannot be read as CSV: UTF-16 .* not start with BOM"):
        read("a,b\n1,2\n".encode("utf-16-le"), encoding="utf-16")


def test_an_unknown_encoding():
    with pytest.raises(Refusal, match="unknown") as caught:
        read("a\n1\n", encoding="klingon")
    assert caught.value.code == 2


# Columns as they were when a model was fitted

NUMBER = Column("age", "number", "int64", thresholds=(45.5,))
TEXT = Column("zip", "category", "string", categories=("01067", "10115"))


def fitted(column, *values):
    return as_fitted(pa.chunked_array([pa.array(values, pa.string())]), column).to_pylist()


def test_columns_are_read_as_they_were_fitted():
    assert fitted(NUMBER, "1", None, "02") == [1, None, 2]
    assert fitted(NUMBER, "1.5", "-3") == [1.5, -3.0]
    assert fitted(TEXT, "10115", "99999") == ["10115", "99999"]  # numbers, were they not postcodes
    codes = Column("grade", "category", "int64", categories=(1, 2, 3))
    assert fitted(codes, "1", "2") == [1, 2]
    flags = Column("member", "boolean", "bool", categories=(False, True))
    assert fitted(flags, "True", "false") == [True, False]
    assert fitted(flags, "1", "0") == [1, 0]
    constant = Column("country", "constant", "string", has_missing=True)
    assert fitted(constant, "DE", None) == ["DE", None]
    zoned = Column("seen", "datetime", "timestamp", thresholds=(0,), zone="Europe/Berlin")
    assert fitted(zoned, "2021-03-04 10:00Z") == [dt.datetime(2021, 3, 4, 10, tzinfo=dt.UTC)]


def test_a_number_does_not_depend_on_the_other_rows():
    last = 2**63 - 1
    near = Column("key", "number", "int64", thresholds=(2**53,))
    assert fitted(near, str(2**53 + 1), "1") == [2**53 + 1, 1]
    assert fitted(near, str(2**53 + 1), "inf", None) == [2**53 + 1, last, None]
    assert fitted(near, str(2**53 + 1), "-Infinity", "9" * 20) == [2**53 + 1, -last - 1, last]
    floats = Column("key", "number", "double", thresholds=(2.0**53,))
    for others in (["1"], ["inf"], ["1.5"]):
        assert fitted(floats, str(2**53 + 1), *others)[0] == 2.0**53
    # What is asked lies beyond 64 bits itself.
    far = Column("key", "number", "int64", thresholds=(np.inf,))
    assert fitted(far, "1", "inf") == [1.0, np.inf]


@examples(20)
@given(
    st.lists(st.integers(-(2**70), 2**70).map(str) | st.sampled_from(["inf", "-inf"]), min_size=1),
    st.integers(-(2**61), 2**61),
)
def test_numbers_beyond_64_bits_answer_as_they_are(texts, threshold):
    column = Column("key", "number", "int64", thresholds=(threshold,))
    exact = [float(text) if "inf" in text else int(text) for text in texts]
    answers = [number <= threshold for number in fitted(column, *texts)]
    assert answers == [number <= threshold for number in exact]


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        (NUMBER, ["1", "old"], "'age' has 'old' in row 2, but the model was fitted on numbers"),
        (NUMBER, ["1,5", "2"], "Pass --decimal , for decimal commas"),
        (Column("d", "date", "date", thresholds=(1,)), ["4.3.2021"], "dates such as 2021-03-04"),
        (Column("w", "duration", "duration", thresholds=(1,)), ["PT3S"], "use Parquet"),
    ],
)
def test_cells_that_do_not_fit(column, values, message):
    with pytest.raises(Refusal, match=message):
        fitted(column, *values)


# Files


def write(frame, path):
    kind = path.suffix
    if kind in (".csv", ".tsv", ".gz"):
        return write_text(frame, path, sep="\t" if kind == ".tsv" else ",")
    if kind == ".parquet":
        frame.to_parquet(path)
    elif kind in (".feather", ".arrow"):
        frame.to_feather(path)
    else:
        frame.to_json(path, orient="records", lines=True, date_format="iso", force_ascii=False)
    return path


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t.feather", "t.arrow", "t.jsonl", "T.CSV"]
)
def test_every_format_gives_the_same_table(tmp_path, name):
    frame = people(50)
    path = tmp_path / name
    if name == "T.CSV":
        write_text(frame, path)
    else:
        write(frame, path)
    source = read_source(str(path), None, Dialect())
    table = source.typed(source.columns)
    expected = pa.Table.from_pandas(frame, preserve_index=False)
    for column in source.columns:
        read_back = table.column(column).to_pylist()
        original = expected.column(column).to_pylist()
        if column == "joined":
            read_back = [pd.Timestamp(day).date() for day in read_back]
            original = [day.date() for day in original]
        assert read_back == original, column


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.parquet", b"a,b\n1,2\n", "cannot be read as parquet"),
        ("t.feather", b"a,b\n1,2\n", "cannot be read as feather"),
        ("t.jsonl", b"a,b\n1,2\n", "line 1 is not a JSON object .*one JSON object per line"),
        ("t.jsonl", b'[{"a": 1}, {"a": 2}]', "line 1 is a list. .* not a list, with no commas"),
        ("t.jsonl", b'[\n{"a": 1},\n{"a": 2}\n]\n', "line 1 is not a JSON object. Write one"),
        ("t.jsonl", b'{"a": 1},\n{"a": 2},\n', "line 1 is not a JSON object .*no commas"),
        ("t.jsonl", b'{"a": 1}\n\n3\n', "line 3 is a number"),
        ("t.jsonl", b'{"a": 1}\n{"a": [2]}\n', "line 2: 'a' is a list, which is nested"),
        ("t.jsonl", b'{"b": 1}\n{"a": {"b": 1}}\n', "line 2: 'a' is an object, .*as columns"),
        ("t.jsonl", b'{"a": null}\n{"a": 1}\n{"a": "x"}', "line 3: 'a' is text, but in line 2 it"),
        ("t.jsonl", b'{"a": true}\n{"a": 1}\n', "'a' is a number, but in line 1 it is true or"),
        ("t.jsonl", b'{"a": 1, "a": 2}\n', "specified twice"),
        ("t.jsonl", b'{"a": "K\xf6ln"\n', "line 1 is not valid UTF-8 text"),
        ("t.jsonl", b'{"a": "x"}\n{"a": "K\xf6ln"}\n', "line 2 is not valid UTF-8 text"),
        ("t.jsonl", b'{"\xf6": 1}\n{"\xf6": 2}\n', "line 1 is not valid UTF-8 text"),
        ("t.arrow", b"\xff\xff\xff\xffxxxx", "cannot be read as feather"),
        ("t.parquet", b"", "cannot be read as parquet"),
        ("t.csv.gz", b"a,b\n1,2\n", "cannot be read"),
        ("t.csv", b"a,b\n", "has 0 rows and 2 columns: add rows below"),
        ("t.csv", b"a,a\n1,2\n", "two columns named 'a'"),
        ("t.xlsx", b"PK", "Save a workbook as CSV"),
        ("table", b"a\n1\n", "Cannot tell the format of .*: it has no extension"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(Refusal, match=message):
        read_source(str(path), None, Dialect())


def test_an_arrow_stream_is_read_too(tmp_path):
    table = pa.table({"a": [1, 2], "b": ["x", None]})
    with pa.ipc.new_stream(tmp_path / "t.arrow", table.schema) as stream:
        stream.write_table(table)
    assert read_source(str(tmp_path / "t.arrow"), None, Dialect()).table == table


def test_lines_of_a_long_file_are_counted_from_its_beginning(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\n' * 200_000 + '{"a": "x"}\n')  # more than pyarrow reads at once
    with pytest.raises(Refusal, match=r"line 200,001: 'a' is text, but in line 1 it is a number"):
        read_source(str(path), None, Dialect())


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "people.csv").write_text("a\n1\n")
    with pytest.raises(Refusal, match=r"no file .*peple.csv. Did you mean .*people.csv"):
        read_source(str(tmp_path / "peple.csv"), None, Dialect())
    with pytest.raises(Refusal, match=r"The folder .*nowhere does not exist, either"):
        read_source(str(tmp_path / "nowhere" / "people.csv"), None, Dialect())
    with pytest.raises(Refusal, match="is a folder"):
        read_source(str(tmp_path), None, Dialect())
