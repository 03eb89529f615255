"""Control characters from files, and files that are not the command's to replace."""

from __future__ import annotations

import json
import os

import pandas as pd
import pytest
from test_cli_process import spawn, unix

from command import QUICK, call, people, start, write_text
from maptree.cli.commands.export import FORMATS

EVIL = "\x1b[2J\x9b31m\x7f"
MODEL = "people.model.json"


@pytest.fixture
def evil(here, capsys):
    """A model whose classes and a category hold codes for a terminal."""
    frame = people()
    frame["buys"] = frame["buys"] + EVIL
    frame["city"] = frame["city"] + EVIL
    write_text(frame, here / "evil.csv")
    assert call(capsys, "fit", "evil.csv", "-t", "buys", "-m", "evil.json", *QUICK).code == 0
    return here


def harmless(text):
    return not any(c in text for c in "\x1b\x7f\x9b")


@unix
@pytest.mark.parametrize(
    "arguments",
    [["predict", "evil.json", "evil.csv", "--proba", "--explain"]]
    + [["export", "evil.json", "--to", kind] for kind in ("sql", "python", "text", "mermaid")],
    ids=" ".join,
)
def test_data_on_a_terminal_is_shown_with_escapes(evil, arguments):
    pexpect, child = spawn(*arguments)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert "yes" in child.before
    assert harmless(child.before)


def test_data_in_a_pipe_is_unchanged(evil):
    told = start("predict", "evil.json", "evil.csv")
    assert f"yes{EVIL}" in told.stdout
    told = start("export", "evil.json", "--to", "text")
    assert f"yes{EVIL}" in told.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "evil.json", "evil.csv", "--explain"],
        ["show", "evil.json"],
        ["score", "evil.json", "evil.csv"],
        ["export", "evil.json", "--to", "text"],
    ],
    ids=" ".join,
)
def test_json_has_escapes(evil, capsys, arguments):
    told = call(capsys, *arguments, "--json")
    assert told.code == 0
    assert harmless(told.out)
    assert EVIL in json.dumps(json.loads(told.out), ensure_ascii=False).replace("\\u001b", "\x1b")


def test_files_of_json_have_escapes(evil, capsys):
    assert harmless((evil / "evil.json").read_text())
    assert call(capsys, "predict", "evil.json", "evil.csv", "-o", "out.jsonl").code == 0
    assert harmless((evil / "out.jsonl").read_text())
    assert set(pd.read_json("out.jsonl", lines=True)["prediction"]) <= {f"yes{EVIL}", f"no{EVIL}"}


# Files that others wrote


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "feather", "jsonl"])
def test_predict_replaces_predictions_and_nothing_else(fitted, capsys, kind):
    out = f"out.{kind}"
    (fitted / out).write_bytes(b"")  # an empty file is nobody's
    for options in ([], ["--proba", "--keep", "id"], ["--explain"]):
        assert call(capsys, "predict", MODEL, "people.csv", "-o", out, *options).code == 0
    frame = people(5)
    write = {
        "csv": lambda: frame.to_csv(out, index=False),
        "tsv": lambda: frame.to_csv(out, index=False, sep="\t"),
        "parquet": lambda: frame.to_parquet(out),
        "feather": lambda: frame.to_feather(out),
        "jsonl": lambda: frame.to_json(out, orient="records", lines=True, date_format="iso"),
    }[kind]
    foreign = [b"my notes", b"\xff\xfe\0\0", b"[1]\n", b'"prediction"', b"{}"]
    write()
    foreign.append((fitted / out).read_bytes())
    for content in foreign:
        if kind in ("csv", "tsv") and content == b'"prediction"':
            continue  # that is a table of no predictions
        (fitted / out).write_bytes(content)
        told = call(capsys, "predict", MODEL, "people.csv", "-o", out)
        assert told.code == 1
        assert "exists and is not a table of predictions" in " ".join(told.err.split())
        assert (fitted / out).read_bytes() == content


@pytest.mark.parametrize("kind", FORMATS)
def test_export_replaces_exports_and_nothing_else(fitted, capsys, kind):
    if kind == "onnx":
        pytest.importorskip("onnx")
    for _ in range(2):
        assert call(capsys, "export", MODEL, "--to", kind, "-o", "tree").code == 0
    for content in (
        b"my thesis",
        b"\\documentclass{article}\n",
        b"import os\n",
        b"age,buys\n1,2\n",
    ):
        (fitted / "tree").write_bytes(content)
        told = call(capsys, "export", MODEL, "--to", kind, "-o", "tree")
        assert told.code == 1
        assert "exists and is not an exported tree" in " ".join(told.err.split())
        assert (fitted / "tree").read_bytes() == content
    assert os.path.getsize(MODEL) > 0
    told = call(capsys, "export", MODEL, "--to", kind, "-o", MODEL)
    assert told.code == 1
    assert "is the model itself" in told.err
