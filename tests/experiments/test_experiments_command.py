"""The command line of the experiments."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import pytest

import experiments.__main__
from experiments.__main__ import main
from experiments.cells import Row
from experiments.families import cells
from experiments.store import Store
from maptree.datasets import DatasetNotFoundError


@pytest.fixture
def command(monkeypatch, tmp_path):
    before = signal.getsignal(signal.SIGTERM)

    def run(*words: str, results=tmp_path) -> int:
        monkeypatch.setattr(sys, "argv", ["experiments", *words, "--results", str(results)])
        return main()

    yield run
    signal.signal(signal.SIGTERM, before)


def test_a_second_run_finds_everything_done(command, tmp_path, capsys):
    words = ("run", "--family", "generalisation", "--sets", "tic-tac-toe", "--systems", "cart")
    assert command(*words, "--jobs", "1") == 0
    printed = capsys.readouterr()
    assert "3 cells, 0 already done" in printed.err
    assert "3/3 in" in printed.err
    assert "cart" in printed.out
    with Store(tmp_path / "results.sqlite") as store:
        rows = store.load()
    assert [(row["fold"], row["outcome"]) for row in sorted(rows, key=lambda row: row["fold"])] == [
        (fold, "ok") for fold in (0, 1, 2)
    ]
    assert all(0.5 < row["test_accuracy"] < 1 for row in rows)

    assert command(*words) == 0
    assert "3 cells, 3 already done" in capsys.readouterr().err


def test_a_system_of_ones_own(command, tmp_path, monkeypatch, capsys):
    """The module that the README shows, on the cells of CART 4."""
    readme = Path(experiments.__main__.__file__).with_name("README.md").read_text()
    (tmp_path / "mine.py").write_text(re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1])
    monkeypatch.syspath_prepend(tmp_path)
    root = Path(experiments.__main__.__file__).parents[1]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (tmp_path, root))))
    words = ("run", "--family", "generalisation", "--sets", "tic-tac-toe", "--jobs", "1")
    assert command(*words, "--systems", "mine", "cart") == 0
    with Store(tmp_path / "results.sqlite") as store:
        rows = store.load()
    assert [row["outcome"] for row in rows] == ["ok"] * 6
    assert {row["leaves"] for row in rows if row["system"] == "mine"} == {8}
    assert command(*words, "--systems", "mone") == 1
    assert "Not run: --systems mone: No module named 'mone'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "--jobs", "0"], "at least 1"),
        (["run", "--family", "cooking"], "invalid choice: 'cooking'"),
        (["run", "--sets", "atlantis"], "invalid choice: 'atlantis'"),
        (["run", "--budget", "endless"], "invalid choice: 'endless'"),
    ],
)
def test_mistakes_are_named(command, capsys, words, says):
    with pytest.raises(SystemExit) as stopped:
        command(*words)
    assert stopped.value.code == 2
    assert says in capsys.readouterr().err


def test_a_set_that_was_asked_for_has_to_be_there(command, monkeypatch, capsys):
    def load(name):
        raise DatasetNotFoundError(f"{name} is nowhere")

    monkeypatch.setattr(experiments.__main__, "load_cp4im", load)
    assert command("run", "--sets", "vote") == 1
    printed = capsys.readouterr()
    assert printed.err == "Not run: vote is nowhere\n"
    assert printed.out == ""


def test_a_run_of_nothing_fails(command, capsys):
    assert command("run", "--family", "synthetic", "--systems", "mcmc") == 1
    assert capsys.readouterr().err == "Not run: no cell matches this family, set and system.\n"


@pytest.mark.parametrize("step", ["run", "figures", "report"])
def test_results_that_cannot_be_kept_are_an_error(command, tmp_path, capsys, step):
    taken = tmp_path / "taken"
    taken.touch()
    assert command(step, results=taken) == 1
    error = capsys.readouterr().err
    assert str(taken) in error
    assert error.count("\n") == 1
    folder = tmp_path / "folder"
    (folder / "results.sqlite").mkdir(parents=True)
    assert command(step, results=folder) == 1
    assert capsys.readouterr().err == (
        f"Cannot store results in {folder}: unable to open database file\n"
    )


@pytest.mark.parametrize("step", ["figures", "report"])
def test_nothing_is_written_about_nothing(command, tmp_path, capsys, step):
    assert command(step) == 1
    at = tmp_path / "results.sqlite"
    assert capsys.readouterr().err == f"There is no {at}: run `python -m experiments run` first.\n"
    assert not at.exists()
    with Store(at) as store:
        store.append(Row.of(cells("synthetic", "full", [])[-1], "ok"))
    assert command(step, "--budget", "quick") == 1
    error = capsys.readouterr().err
    assert error.startswith("Nothing to show: of 1 rows in")
    assert error.endswith("none is of the budget quick.\n")
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".sqlite"] == []
