"""The command line of the experiments."""

from __future__ import annotations

import signal
import sys

import pytest

from experiments.__main__ import main
from experiments.store import Store


@pytest.fixture
def command(monkeypatch, tmp_path):
    before = signal.getsignal(signal.SIGTERM)

    def run(*words: str) -> int:
        monkeypatch.setattr(sys, "argv", ["experiments", *words, "--results", str(tmp_path)])
        return main()

    yield run
    signal.signal(signal.SIGTERM, before)


def test_a_second_run_finds_everything_done(command, tmp_path, capsys):
    words = ("run", "--family", "generalisation", "--sets", "tic-tac-toe", "--systems", "cart")
    assert command(*words, "--jobs", "1") == 0
    printed = capsys.readouterr()
    assert "3 cells, 0 of them done before" in printed.err
    assert "3/3 in" in printed.err
    assert "cart" in printed.out
    with Store(tmp_path / "results.sqlite") as store:
        rows = store.load()
    assert [(row["fold"], row["outcome"]) for row in sorted(rows, key=lambda row: row["fold"])] == [
        (fold, "ok") for fold in (0, 1, 2)
    ]
    assert all(0.5 < row["test_accuracy"] < 1 for row in rows)

    assert command(*words) == 0
    assert "3 cells, 3 of them done before" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "--jobs", "0"], "at least 1"),
        (["run", "--family", "cooking"], "invalid choice: 'cooking'"),
        (["run", "--systems", "oracle"], "invalid choice: 'oracle'"),
        (["run", "--sets", "atlantis"], "invalid choice: 'atlantis'"),
        (["run", "--budget", "endless"], "invalid choice: 'endless'"),
    ],
)
def test_mistakes_are_named(command, capsys, words, says):
    with pytest.raises(SystemExit) as stopped:
        command(*words)
    assert stopped.value.code == 2
    assert says in capsys.readouterr().err
