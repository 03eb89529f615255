"""What readers of files are given: nothing of Python's, which their threads would have to free."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import threading
import tracemalloc

import pandas as pd
import pyarrow.csv
import pyarrow.feather
import pyarrow.json
import pyarrow.parquet
import pytest

from command import call

SIZE = 4 << 20  # bytes: four of the blocks in which content is copied
READERS = (
    (pyarrow.csv, "open_csv"),
    (pyarrow.csv, "read_csv"),
    (pyarrow.json, "read_json"),
    (pyarrow.parquet, "read_table"),
    (pyarrow.feather, "read_table"),
)


CONTENTS = {  # of tables that are refused late
    "csv": lambda: b"a,b,c\n" + b"1,2,x\n" * (SIZE // 6) + b"3,4\n",
    "jsonl": lambda: (b'{"a": "' + b"x" * 65536 + b'"}\n') * (SIZE >> 16) + b"[]\n",
    "parquet": lambda: b"PAR1" + b"?" * SIZE + b"PAR1",
    "feather": lambda: b"ARROW1\0\0" + b"?" * SIZE + b"ARROW1",
}


@pytest.fixture
def held(monkeypatch):
    """The bytes that Python holds at every call of a reader."""
    held = []

    def spy(module, name):
        real = getattr(module, name)

        def read(*arguments, **options):
            held.append(tracemalloc.get_traced_memory()[0])
            return real(*arguments, **options)

        monkeypatch.setattr(module, name, read)

    for module, name in READERS:
        spy(module, name)
    return held


@pytest.mark.parametrize("place", ["file", "compressed", "stdin"])
@pytest.mark.parametrize("kind", CONTENTS)
def test_no_reader_holds_memory_of_pythons(tmp_path, monkeypatch, capsys, held, kind, place):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"table.{kind}{'.gz' if place == 'compressed' else ''}"
    content = CONTENTS[kind]()
    path.write_bytes(gzip.compress(content, 1) if place == "compressed" else content)
    given = "-" if place == "stdin" else path
    for traced in (False, True):  # first without: what is imported is allocated, too
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        held.clear()
        if traced:
            tracemalloc.start()
        told = call(capsys, "fit", given, "-t", "c", "--format", kind)
    tracemalloc.stop()
    assert told.code == 1
    assert "Traceback" not in told.err
    assert held
    assert max(held) < SIZE // 4


def test_no_thread_of_a_reader_decodes_text(tmp_path, monkeypatch, capsys):
    threads = set()

    class Witness(codecs.IncrementalDecoder):
        def decode(self, text, final=False):
            threads.add(threading.get_ident())
            return bytes(text).decode("latin-1")

    def find(name):
        latin = codecs.lookup("latin-1")
        if name == "witness":
            return codecs.CodecInfo(
                latin.encode, latin.decode, incrementaldecoder=Witness, name="witness"
            )
        return None

    codecs.register(find)
    try:
        monkeypatch.chdir(tmp_path)
        frame = pd.DataFrame({"city": ["Köln", "Århus"] * 50_000, "y": ["a", "b"] * 50_000})
        frame.to_csv("table.csv", index=False, encoding="latin-1")
        with open("table.csv", "ab") as file:
            file.write(b"one cell\n")
        told = call(capsys, "fit", "table.csv", "-t", "y", "--encoding", "witness")
    finally:
        codecs.unregister(find)
    assert told.code == 1
    assert "line 100,002: 1 cell" in " ".join(told.err.split())
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("name", ["rot13", "nonsense", "undefined", "base64"])
def test_codecs_that_are_not_of_text(here, capsys, name):
    told = call(capsys, "fit", "people.csv", "-t", "buys", "--encoding", name)
    assert told.code == 2
    assert f"--encoding {name} is unknown" in told.err
