"""The program as users start it: pipes, terminals, Ctrl-C, exit codes."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from command import COMMAND, QUICK, call, environment, people, start, widest, write_text
from control import HANGS, Terminal, ctrl_c_inside
from maptree import _core, load_model

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


@pytest.fixture
def given(monkeypatch):
    """Bytes on standard input."""

    def give(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return give


def test_standard_input_that_is_compressed(here, given, capsys):
    content = gzip.compress((here / "people.csv").read_bytes())
    for kind in ("csv", "jsonl", "parquet"):
        given(content)
        told = call(capsys, "fit", "-", "-t", "buys", "--format", kind)
        assert told.code == 1
        assert "gunzip -c FILE | maptree" in " ".join(told.err.split())


def test_the_default_model_of_standard_input(here, given, capsys):
    given((here / "people.csv").read_bytes())
    assert call(capsys, "fit", "-", "-t", "buys", *QUICK).code == 0
    assert load_model("model.json").training_.target == "buys"


@unix
def test_a_reader_that_goes_away(fitted):
    write_text(people(20_000), fitted / "many.csv")
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
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_leaves_the_model(here, unbuffered):
    child = subprocess.Popen(
        [*COMMAND, "fit", "people.csv", "-t", "buys", *QUICK],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(PYTHONUNBUFFERED=unbuffered),
    )
    with child:
        child.stdout.close()
        errors = child.stderr.read()
    assert child.returncode == 141
    assert errors == b"maptree: people.model.json was written.\n"
    assert load_model("people.model.json").training_.target == "buys"


class GoneTerminal(Terminal):
    """A terminal whose window was closed."""

    def write(self, text):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def flush(self):
        self.write("")


def test_a_terminal_that_goes_away_ends_no_search(here, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stderr", GoneTerminal())
    assert call(capsys, "fit", "people.csv", "-t", "buys", *QUICK, "--cv", 2).code == 0
    assert load_model("people.model.json").training_.held_out is not None


@unix
@pytest.mark.parametrize("closed", ["stdout", "stderr", "both"])
def test_streams_that_are_closed_from_the_start(fitted, closed):
    close = {"stdout": ">&-", "stderr": "2>&-", "both": ">&- 2>&-"}[closed]
    script = f'exec "$0" -m maptree predict people.model.json people.csv -o out.csv {close}'
    told = subprocess.run(["sh", "-c", script, sys.executable], capture_output=True, timeout=HANGS)
    assert told.returncode == 0
    assert told.stdout == b""
    assert len((fitted / "out.csv").read_text().splitlines()) == 201
    told = subprocess.run(
        ["sh", "-c", script.replace("-o out.csv", ""), sys.executable],
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    if closed == "stderr":
        assert (told.returncode, len(told.stdout.splitlines())) == (0, 201)
    else:
        assert told.returncode == 1
        assert closed == "both" or "Standard output cannot be written: it is closed." in told.stderr


@unix
def test_output_that_cannot_be_written(fitted, capsys):
    with open("/dev/full", "w") as full:
        told = start("predict", "people.model.json", "people.csv", stdout=full)
    assert told.returncode == 1
    assert "No space left on device" in told.stderr
    assert "Traceback" not in told.stderr
    for place, message in (
        ("/nowhere/out.csv", "The folder does not exist"),
        ("out.docx", "cannot tell the format"),
        (".", "cannot tell the format"),
    ):
        told = call(capsys, "predict", "people.model.json", "people.csv", "-o", place)
        assert told.code in (1, 2)
        assert message in " ".join(told.err.split())


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
    assert "Install with: pip install " in told.stderr
    assert "maptree[cli]" not in told.stderr  # there is no such package on the index yet


# On a terminal


def spawn(*arguments, columns=80):
    pexpect = pytest.importorskip("pexpect")
    child = pexpect.spawn(
        sys.executable,
        ["-m", "maptree", *arguments],
        dimensions=(40, columns),
        timeout=HANGS,
        encoding="utf-8",
        env=environment(TERM="xterm-256color"),
        # What is started in the background ignores Ctrl-C, under nohup also the end of a terminal,
        # and so do its children.
        preexec_fn=lambda: [
            signal.signal(number, signal.SIG_DFL)
            for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
        ],
    )
    child.delaybeforesend = None
    return pexpect, child


@unix
def test_the_panel_and_ctrl_c(here):
    hard_table("hard.csv")
    pexpect, child = spawn("fit", "hard.csv", "-t", "y", "--time-limit", str(HANGS), "--cv", "3")
    for words in ("elapsed", "best log posterior", "bound", "gap", "proved to depth", "leaves"):
        child.expect(words)
    child.expect("Ctrl-C keeps the best tree so far")
    shown = child.before + child.after
    assert max(len(line) for line in shown.replace("\r", "").split("\n")[:-1]) < 200
    child.sendintr()
    child.expect("Model written to hard.model.json")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    model = load_model("hard.model.json")
    assert model.certificate_.status == "interrupted"
    assert model.training_.held_out is None


@unix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_other_signals_keep_the_best_tree_too(here, number, code):
    hard_table("hard.csv")
    pexpect, child = spawn("fit", "hard.csv", "-t", "y", "--time-limit", str(HANGS))
    child.expect("Ctrl-C keeps the best tree so far")
    child.kill(number)
    child.expect("Model written to hard.model.json")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == code
    assert load_model("hard.model.json").certificate_.status == "interrupted"


def test_ctrl_c_while_scores_are_measured_keeps_the_model(here, capsys, monkeypatch):
    hard_table("hard.csv")
    searches = []

    def short_at_first(dataset, prior, options, limits, *rest, search=_core.search):
        searches.append(limits)
        few = _core.Limits(max_expansions=5)
        return search(dataset, prior, options, few if len(searches) == 1 else limits, *rest)

    monkeypatch.setattr(_core, "search", short_at_first)
    with ctrl_c_inside("search", call=2):
        told = call(capsys, "fit", "hard.csv", "-t", "y", "--time-limit", HANGS, "--cv", 3)
    assert told.code == 130
    assert "Model written to hard.model.json" in told.out
    assert len(searches) == 2
    model = load_model("hard.model.json")
    assert model.certificate_.status == "expansion_limit"
    assert model.training_.held_out is None


def test_no_panel_where_errors_are_not_seen(here, capsys):
    """Piped, a search shows nothing; Ctrl-C keeps the tree all the same, also as JSON."""
    hard_table("hard.csv")
    with ctrl_c_inside("search"):
        told = call(capsys, "fit", "hard.csv", "-t", "y", "--time-limit", HANGS, "--json")
    assert (told.code, told.err) == (130, "")
    assert json.loads(told.out)["model"]["certificate"]["status"] == "interrupted"
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
    told = subprocess.run([sys.executable, "-c", script, when], capture_output=True, timeout=HANGS)
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
