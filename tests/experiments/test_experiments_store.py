"""Cells and the store: keys, rows that come back as they went in, what is left to compute."""

from __future__ import annotations

import math
import signal
import sqlite3
import sys
from dataclasses import asdict, replace

import pytest

import experiments.__main__ as main_module
from experiments.cells import OUTCOMES, Cell, Row
from experiments.run import missing, summary
from experiments.store import Store

FOLD = {"kind": "cp4im", "name": "vote", "fold": 3}
CELL = Cell("generalisation", "cart", {"depth": 4}, FOLD, None, 2.0)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        yield store


def test_equal_cells_have_equal_keys():
    same = Cell("generalisation", "cart", {"depth": 4}, dict(reversed(FOLD.items())), None, 2)
    assert same.key == CELL.key
    assert hash(same) == hash(CELL)
    assert Cell.from_json(CELL.to_json()) == CELL


@pytest.mark.parametrize(
    "change",
    [
        {"family": "speed"},
        {"system": "dl85"},
        {"params": {"depth": 5}},
        {"data": FOLD | {"fold": 4}},
        {"seed": 42},
        {"limit": 3.0},
        {"limit": None},
    ],
)
def test_everything_in_a_cell_is_in_its_key(change):
    assert replace(CELL, **change).key != CELL.key


def test_the_key_is_the_same_tomorrow():
    """Rows of earlier runs are found by it."""
    assert CELL.key == "706c4d2b3eb4a8ab2a2d"


def test_synthetic_data_has_a_name():
    cell = replace(CELL, data={"kind": "synthetic", "tree": 3, "rows": 100, "noise": 0.1})
    assert cell.set == "tree 3"
    assert cell.name == "cart depth=4 on tree 3, rows 100, noise 0.1"


def test_rows_come_back_as_they_went_in(store):
    row = Row.of(
        CELL,
        "ok",
        seconds=0.1,
        log_posterior=-math.inf,
        trace=[[0.1, 1, -5.0, None]],
        extra={"a": [1]},
        versions={"numpy": "2"},
    )
    store.append(row)
    assert store.load() == [asdict(row)]
    assert set(asdict(row)) == set(store.load()[0])


def test_a_result_stays_and_a_failure_gives_way(store):
    store.append(Row.of(CELL, "timeout", "no answer"))
    store.append(Row.of(CELL, "ok", seconds=1.0))
    store.append(Row.of(CELL, "ok", seconds=2.0))
    store.append(Row.of(CELL, "crash"))
    (row,) = store.load()
    assert (row["outcome"], row["seconds"]) == ("ok", 1.0)


def test_only_what_has_no_row_is_missing(store):
    cells = [replace(CELL, seed=seed) for seed in range(len(OUTCOMES) + 1)]
    for cell, outcome in zip(cells, OUTCOMES, strict=False):
        store.append(Row.of(cell, outcome))
    # The system that was missing, the cell without a row; each once.
    assert missing(cells + cells, store) == cells[-2:]
    assert missing(cells, store, retry=True) == cells[1:]
    slow = replace(CELL, seed=100, limit=60.0)
    assert missing([*cells, slow], store) == [slow, *cells[-2:]]


def test_the_summary_counts_and_gives_reasons(store):
    store.append(Row.of(CELL, "ok"))
    store.append(Row.of(replace(CELL, seed=1), "crash", "killed by SIGSEGV"))
    text = summary(store.load())
    assert text.splitlines()[1].split() == ["cart", "1", "-", "-", "1", "-", "-"]
    assert "1 x cart crash: killed by SIGSEGV" in text


def test_two_may_write_and_one_may_read(store, tmp_path):
    cells = [replace(CELL, seed=seed) for seed in range(20)]
    with Store(tmp_path / "results.sqlite") as other:
        for number, cell in enumerate(cells):
            (store, other)[number % 2].append(Row.of(cell, "ok"))
        assert len(store.load()) == len(other.load()) == 20


def test_rows_of_another_layout_are_refused(tmp_path):
    path = tmp_path / "results.sqlite"
    Store(path).close()
    file = sqlite3.connect(path, isolation_level=None)
    file.execute("PRAGMA user_version = 99")
    file.close()
    with pytest.raises(ValueError, match="layout 99"):
        Store(path)


def test_a_commit_is_on_the_disk(store):
    """FULL: in WAL mode, NORMAL leaves the last commits to the next checkpoint."""
    assert store._file.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert store._file.execute("PRAGMA synchronous").fetchone()[0] == 2


def written(path):
    with Store(path) as store:
        for seed in range(200):
            store.append(Row.of(replace(CELL, seed=seed), "ok", extra={"a": ["b"] * 20}))
        store._file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


@pytest.mark.parametrize("command", ["run", "figures", "report"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"no database at all, but long enough to be one" * 100,
        lambda content: content[: len(content) // 2],
        lambda content: content[:4096] + b"\xff" * (len(content) - 4096),
        lambda content: content.replace(b'{"a": ["b"', b'{"a": ["b\x01'),
        lambda content: content.replace(b"CREATE TABLE rows", b"CREATE TABLE raws"),
    ],
)
def test_a_damaged_file_gives_a_message(tmp_path, monkeypatch, capsys, damage, command):
    path = tmp_path / "results.sqlite"
    path.write_bytes(damage(written(path)))
    monkeypatch.setattr(sys, "argv", ["experiments", command, "--results", str(tmp_path)])
    handler = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(main_module, "_sets", lambda asked: ["vote"])
    monkeypatch.setattr(main_module, "_compute", lambda left, options, store: None)
    try:
        assert main_module.main() == 1
    finally:
        signal.signal(signal.SIGTERM, handler)
    told = capsys.readouterr().err
    assert str(tmp_path) in told
    assert "Traceback" not in told
