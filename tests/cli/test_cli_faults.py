"""Faults of input and output at every call that writes, in every command.

A pipe that nobody reads, a full disk, a disk that cannot be written, a failing disk, a write that
stops halfway; Ctrl-C, a hangup, a termination. What was found is kept, or a message says that it is
not; a file is complete or as it was; there is no traceback; and the exit code is a documented one.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys

import pytest

from command import people, write_text
from io_faults import Server
from maptree import load_model
from maptree.cli.commands.export import FORMATS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it preloads a library")

FIT = ["fit", "people.csv", "-t", "buys", "--max-expansions", "10", "--time-limit", "none"]
MODEL = "people.model.json"
MODELS = (MODEL, "demo.json")
RIVALS = ["alternatives", MODEL, "people.csv", "-n", "2", "--max-depth", "1"]
DOCUMENTED = {0, 1, 129, 130, 141, 143}
SIGNALS = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)

# The command, the file it writes, and whether an older file is there that it replaces.
QUICK = {"fit": (FIT, MODEL, False)}
OTHERS = {
    "fit again, scores, JSON": ([*FIT, "--cv", "2", "--json"], MODEL, True),
    "predict into a file": (["predict", MODEL, "people.csv", "-o", "new.csv"], "new.csv", True),
    "fit, rows held out": ([*FIT, "--test-fraction", "0.3"], MODEL, True),
    "fit, a target that is not there": ([*FIT, "-t", "buy"], None, False),
    "the same, JSON": ([*FIT, "-t", "buy", "--json"], None, False),
    "demo": (["demo", "-m", "demo.json"], "demo.json", False),
    "predict": (["predict", MODEL, "people.csv", "--proba", "--explain"], None, False),
    "predict, JSON": (["predict", MODEL, "people.csv", "--json"], None, False),
    "score": (["score", MODEL, "people.csv"], None, False),
    "score, JSON": (["score", MODEL, "people.csv", "--json"], None, False),
    "compare": (["compare", MODEL, MODEL, "--data", "people.csv"], None, False),
    "compare, JSON": (["compare", MODEL, MODEL, "--json"], None, False),
    "path": (
        ["path", "people.csv", "-t", "buys", "--max-leaf-nodes", "2", "--cv", "0"],
        MODEL,
        True,
    ),
    "show": (["show", MODEL], None, False),
    "show, JSON": (["show", MODEL, "--json"], None, False),
    "report": (["report", MODEL, "--data", "people.csv"], "people.html", True),
    "report, JSON": (["report", MODEL, "--json"], "people.html", False),
    "alternatives": (RIVALS, None, False),
    "alternatives, JSON": ([*RIVALS, "--json"], None, False),
    "alternatives, report": ([*RIVALS, "--report", "rivals.html"], "rivals.html", True),
    "help": (["fit", "--help"], None, False),
    "version": (["--version"], None, False),
    **{
        f"predict into {kind}": (
            ["predict", MODEL, "people.csv", "--json", "-o", f"new.{kind}"],
            f"new.{kind}",
            True,
        )
        for kind in ("tsv", "parquet", "feather", "jsonl")
    },
    **{
        f"export {kind}": (["export", MODEL, "--to", kind, "-o", "tree"], "tree", True)
        for kind in FORMATS
    },
    **{
        f"export {kind}, printed": (["export", MODEL, "--to", kind], None, False)
        for kind in ("sql", "python", "json")
    },
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("library"))
    yield server
    server.close()


def fresh(folder, older):
    """A folder with a table and a model, and with files that a command wrote before."""
    place = folder / "place"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder / "made", place)
    (place / "tmp").mkdir()
    for name, content in older.items():
        (place / name).write_bytes(content)
    return place


def faults(what, to):
    """The faults for a call: (error, stays, half)."""
    if to in ("stdout", "stderr"):
        return [(errno.EPIPE, 1, 0), (errno.ENOSPC, 1, 0), (errno.EIO, 1, 0)]
    if what == "write":
        return [(errno.ENOSPC, 1, 0), (errno.ENOSPC, 1, 1), (errno.EIO, 0, 0)]
    if what in ("open", "rename", "chmod", "mkdir"):
        return [(errno.EROFS, 1, 0), (errno.ENOSPC, 0, 0)]
    return [(errno.EIO, 0, 0)]


def complete(place, name, reference):
    """Whether a file is there and as the command writes it."""
    path = place / name
    if not path.exists():
        return False
    if name in MODELS:  # they tell when they were fitted, and how long that took
        (place / "reference").write_bytes(reference)
        return load_model(path).rules() == load_model(place / "reference").rules()
    return path.read_bytes() == reference


def strike_everywhere(server, folder, arguments, output, replaces, tally, label):
    older = {}
    if output is not None and replaces:
        place = fresh(folder, {})
        server.run(place, arguments)
        older = {output: (place / output).read_bytes()}
    if output == MODEL and not replaces:
        (folder / "made" / MODEL).rename(folder / MODEL)
    place = fresh(folder, older)
    plain = server.run(place, arguments)
    assert plain["code"] in (0, 1)
    reference = (place / output).read_bytes() if output is not None else b""
    calls = [line.split()[1:] for line in plain["told"].splitlines()]
    assert calls
    for at, (what, to) in enumerate(calls, start=1):
        cases = [{"error": e, "stays": s, "half": h} for e, s, h in faults(what, to)]
        cases += [{"signal": int(number)} for number in SIGNALS]
        for case in cases:
            place = fresh(folder, older)
            told = server.run(place, arguments, at=at, **case)
            where = f"{label}: {case} at {at} {what} {to}: {told}"
            check(place, told, plain, case, to, output, older, reference, where)
            tally[f"faults of output: {kind(case)}"] += 1


def kind(case):
    """A fault in a word or two."""
    if "signal" in case:
        return signal.Signals(case["signal"]).name
    return (
        errno.errorcode[case["error"]] + " halfway" * case["half"] + " once" * (1 - case["stays"])
    )


def check(place, told, plain, case, to, output, older, reference, where):
    assert told["code"] in DOCUMENTED, where
    assert "Traceback" not in told["err"], where
    assert "Exception ignored" not in told["err"], where
    assert not list(place.glob(".maptree-*")), where
    whole = output is not None and complete(place, output, reference)
    if output is not None and not whole:  # then it is as it was
        before = older.get(output)
        assert (place / output).exists() == (before is not None), where
        assert before is None or (place / output).read_bytes() == before, where
    if told["code"] == 0:
        assert output is None or whole, where
        assert told["out"] == plain["out"] or "seconds" in plain["out"] or " s, " in plain["out"]
    if "signal" in case:
        assert told["code"] in (plain["code"], 128 + case["signal"]), where
        if output in MODELS:
            assert whole, where
    elif to == "stdout":
        assert told["code"] == (141 if case["error"] == errno.EPIPE else 1), where
        assert output is None or whole, where
        assert output is None or f"{output} was written" in " ".join(told["err"].split()), where
        assert case["error"] == errno.EPIPE or os.strerror(case["error"]) in told["err"], where
    elif to == "stderr":
        assert told["code"] == plain["code"], where
        assert output is None or whole, where
    elif not whole:
        assert told["code"] == 1, where
        said = " ".join((told["err"] + told["out"]).split())
        assert output in said, where
        if output == MODEL:
            kept = list((place / "tmp").glob(f"*/{MODEL}"))
            assert ("was not saved" in said) or load_model(*kept), where
            assert "hours" in told["out"] or "age" in told["out"], where


@pytest.fixture
def folder(tmp_path, server):
    made = tmp_path / "made"
    made.mkdir()
    write_text(people(60), made / "people.csv")
    (made / "tmp").mkdir()
    assert server.run(made, FIT)["code"] == 0
    for name in ("out", "err", "told"):
        (made / name).unlink()
    (made / "tmp").rmdir()
    return tmp_path


@pytest.mark.parametrize("label", QUICK)
def test_faults_at_every_write(server, folder, tally, label):
    strike_everywhere(server, folder, *QUICK[label], tally, label)


@pytest.mark.long
@pytest.mark.parametrize("label", OTHERS)
def test_faults_at_every_write_of_the_other_commands(server, folder, tally, label):
    strike_everywhere(server, folder, *OTHERS[label], tally, label)
