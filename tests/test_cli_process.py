"""The program as users start it: pipes, terminals, Ctrl-C, exit codes."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from command import COMMAND, QUICK, environment, people, start, widest, write_text
from maptree import load_model

unix = pytest.mark.skipif(os.name == "nt", reason="no such terminals and signals")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    write_text(people(), tmp_path / "people.csv")
    return tmp_path


def hard_table(path):
    """Labels that follow nothing, so that no search ends in a test's time."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 100, (1500, 12)), columns=list("abcdefghijkl"))
    frame["y"] = rng.choice(["no", "yes"], 1500)
    frame.to_csv(path, index=False)


def test_pipes(here):
    told = start(
        "fit", "-", "-t", "buys", *QUICK, "-m", "m.json", input=(here / "people.csv").read_text()
    )
    assert (told.returncode, told.stderr) == (0, "")
    assert "standard input: 200 rows" in told.stdout
    assert "\033" not in told.stdout
    assert widest(told.stdout) <= 80
    table = pd.read_csv("people.csv", dtype=str).to_csv(sep="\t", index=False)
    told = start("predict", "m.json", "-", "--format", "tsv", input=table)
    assert (told.returncode, told.stderr) == (0, "")
    assert len(told.stdout.splitlines()) == 201


def test_standard_input_that_is_compressed(here):
    content = gzip.compress((here / "people.csv").read_bytes())
    for kind in ("csv", "jsonl", "parquet"):
        told = start("fit", "-", "-t", "buys", "--format", kind, input=content, text=False)
        assert told.returncode == 1
        assert b"gunzip -c FILE | maptree" in b" ".join(told.stderr.split())


def test_the_default_model_of_standard_input(here):
    told = start("fit", "-", "-t", "buys", *QUICK, input=(here / "people.csv").read_text())
    assert told.returncode == 0
    assert load_model("model.json").training_.target == "buys"


@unix
def test_a_reader_that_goes_away(here):
    assert start("fit", "people.csv", "-t", "buys", *QUICK).returncode == 0
    frame = people(20_000)
    write_text(frame, here / "many.csv")
    for lines in (1, 5000):
        child = subprocess.Popen(
            [*COMMAND, "predict", "people.model.json", "many.csv", "--proba", "--explain"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with child:
            for _ in range(lines):
                child.stdout.readline()
            child.stdout.close()
            errors = child.stderr.read()
        assert child.returncode == 141
        assert errors == b""


@unix
def test_output_that_cannot_be_written(here):
    assert start("fit", "people.csv", "-t", "buys", *QUICK).returncode == 0
    with open("/dev/full", "w") as full:
        told = subprocess.run(
            [*COMMAND, "predict", "people.model.json", "people.csv"],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=120,
        )  # fmt: skip
    assert told.returncode == 1
    assert "No space left on device" in told.stderr
    assert "Traceback" not in told.stderr
    for place, message in (
        ("/nowhere/out.csv", "The folder is not there"),
        ("out.docx", "cannot tell the format"),
        (".", "cannot tell the format"),
    ):
        told = start("predict", "people.model.json", "people.csv", "-o", place)
        assert told.returncode in (1, 2)
        assert message in " ".join(told.stderr.split())


def test_what_is_not_installed(here):
    script = (
        "import sys\n"
        "sys.modules['pyarrow'] = None\n"
        "import importlib.util as u\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'pyarrow' else find(name, *rest)\n"
        "sys.argv = ['maptree', 'demo']\n"
        "from maptree.cli import main\n"
        "main()\n"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert told.returncode == 3
    assert 'pip install "maptree[cli]"' in told.stderr


@pytest.mark.alone
def test_help_is_there_at_once(here):
    seconds = []
    for _ in range(3):
        before = os.times()
        assert start("--help").returncode == 0
        after = os.times()
        seconds.append(
            after.children_user + after.children_system - before.children_user
            - before.children_system
        )  # fmt: skip
    assert min(seconds) < 0.8


# On a terminal


def spawn(*arguments, columns=80):
    pexpect = pytest.importorskip("pexpect")
    child = pexpect.spawn(
        sys.executable,
        ["-m", "maptree", *arguments],
        dimensions=(40, columns),
        timeout=90,
        encoding="utf-8",
        env=environment(TERM="xterm-256color"),
        # What is started in the background ignores Ctrl-C, and so do its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    return pexpect, child


@unix
def test_the_panel_and_ctrl_c(here):
    hard_table("hard.csv")
    pexpect, child = spawn("fit", "hard.csv", "-t", "y", "--time-limit", "80", "--cv", "3")
    for words in ("elapsed", "best log posterior", "bound", "gap", "proved to depth", "leaves"):
        child.expect(words)
    child.expect("Ctrl-C keeps the best tree so far")
    shown = child.before + child.after
    assert max(len(line) for line in shown.replace("\r", "").split("\n")[:-1]) < 200
    time.sleep(0.5)
    child.sendintr()
    child.expect("Model written to hard.model.json")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    model = load_model("hard.model.json")
    assert model.certificate_.status == "interrupted"
    assert model.training_.held_out is None


@unix
def test_ctrl_c_while_scores_are_measured_keeps_the_model(here):
    hard_table("hard.csv")
    pexpect, child = spawn("fit", "hard.csv", "-t", "y", "--time-limit", "4", "--cv", "20")
    child.expect("Cross-validation, fold 1")
    time.sleep(1)
    child.sendintr()
    child.expect("Model written to hard.model.json")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    model = load_model("hard.model.json")
    assert model.certificate_.status == "time_limit"
    assert model.training_.held_out is None


@unix
def test_no_panel_where_errors_are_not_seen(here):
    """Piped, a search shows nothing; Ctrl-C keeps the tree all the same, also as JSON."""
    hard_table("hard.csv")
    script = (
        "import signal, sys\n"
        # What is started in the background ignores it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from maptree.cli.app import run\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    arguments = ["fit", "hard.csv", "-t", "y", "--time-limit", "80", "--json"]
    child = subprocess.Popen(
        [sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(8)  # nothing tells when the search has begun
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert err == b""
    document = json.loads(out)
    assert document["model"]["certificate"]["status"] == "interrupted"
    assert load_model("hard.model.json").certificate_.status == "interrupted"


@unix
@pytest.mark.parametrize("when", ["while it is answered", "at the end"])
def test_ctrl_c_again_is_no_death_by_a_signal(when):
    script = (
        "import atexit, os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import maptree.cli.app as app\n"
        "def interrupt(*_): os.kill(os.getpid(), signal.SIGINT)\n"
        "if sys.argv.pop() == 'at the end':\n"
        "    app.run = lambda _: 130\n"
        "    atexit.register(interrupt)\n"
        "else:\n"
        "    app.run = interrupt\n"
        "from maptree.cli import main\n"
        "main()\n"
    )
    told = subprocess.run([sys.executable, "-c", script, when], capture_output=True, timeout=120)
    assert (told.returncode, told.stdout, told.stderr) == (130, b"", b"")


@unix
def test_a_narrow_terminal_and_no_colour(here):
    pexpect, child = spawn("fit", "people.csv", "-t", "buys", *QUICK, columns=50)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert "\033[1mThe tree" in child.before
    plain = child.before.split("\033[1mColumns left out")[1].replace("\033[1m", "")
    lines = plain.replace("\033[0m", "").replace("\r", "").split("\n")
    assert max(map(len, lines)) <= 50
    _, child = spawn("demo", "--json")
    child.expect("}\r\n$")
