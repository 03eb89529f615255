"""What test modules share: benchmark files, a folder for commands, the tally of random cases."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# Without it scikit-learn skips its check of array-API input. SciPy reads it when imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np

from fuzz.inputs.other_core import use_other_core

use_other_core()  # if MAPTREE_CORE names one: make test-sanitized

# Their assertions explain themselves like those of the tests.
pytest.register_assert_rewrite("checks", "control")

TALLY = pytest.StashKey[Counter[str]]()


@pytest.fixture
def cp4im() -> Callable[[str], tuple[np.ndarray, np.ndarray]]:
    """Load a CP4IM set by name: (X, y), the label in the file's first column."""

    def load(name: str) -> tuple[np.ndarray, np.ndarray]:
        for folder in _cp4im_folders():
            path = folder / f"{name}.txt.gz"
            if path.is_file():
                rows = np.loadtxt(path, dtype=np.uint8)
                return rows[:, 1:], rows[:, 0].astype(np.int64)
        pytest.skip(f"{name}.txt.gz is not in $MAPTREE_DATA")

    return load


def _cp4im_folders() -> list[Path]:
    given = [Path(os.environ["MAPTREE_DATA"])] if os.environ.get("MAPTREE_DATA") else []
    return [*given, Path(__file__).resolve().parents[2] / "shared" / "data" / "cp4im"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, where the commands run."""
    from command import people, write_text

    monkeypatch.chdir(tmp_path)
    write_text(people(), tmp_path / "people.csv")
    return tmp_path


@pytest.fixture
def fitted(here: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The same, with a model."""
    from command import QUICK, call

    assert call(capsys, "fit", "people.csv", "-t", "buys", *QUICK).code == 0
    return here


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The time that Python code reads: it passes when the test turns the clock."""
    from control import Clock

    clock = Clock()
    for name in ("perf_counter", "monotonic"):
        monkeypatch.setattr(time, name, clock)
    return clock


@pytest.fixture
def slowed(clock: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let a function of a module or class take this many seconds by the clock."""

    def slow(owner: Any, name: str, seconds: float) -> None:
        real = getattr(owner, name)

        def slower(*arguments: Any, **named: Any) -> Any:
            clock.turn(seconds)
            return real(*arguments, **named)

        monkeypatch.setattr(owner, name, slower)

    return slow


@pytest.fixture
def core_seconds(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The seconds that the core is given by a fit: for the table, and for its work.

    Those that are left are any number to the core, whose clock is not turned.
    """
    from maptree import _core

    given: dict[str, float] = {}

    def spy(name: str) -> None:
        real = getattr(_core, name)

        def make(*arguments: Any, seconds: float = np.inf, **named: Any) -> Any:
            given[name] = seconds
            return real(*arguments, seconds=np.inf if seconds > 0 else seconds, **named)

        monkeypatch.setattr(_core, name, make)

    spy("Dataset")
    spy("Limits")
    return given


@pytest.fixture(scope="session")
def tally(pytestconfig: pytest.Config) -> Counter[str]:
    """Count a case with `tally["what: which kind"] += 1`.

    It lives for the session, so that Hypothesis tests may use it as well.
    """
    return pytestconfig.stash[TALLY]


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TALLY] = Counter()
    # Chains of tests are short; tests/estimators/test_mixing.py is about the warning. Not in
    # pyproject.toml, where its name would import the package before the core can be replaced.
    config.addinivalue_line("filterwarnings", "ignore::maptree.MixingWarning")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the tally of a pytest-xdist worker to the process that started it."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["tally"] = dict(session.config.stash[TALLY])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    if error is None:
        node.config.stash[TALLY].update(node.workeroutput["tally"])


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    tally = config.stash[TALLY]
    if not tally:
        return
    terminalreporter.section("random cases")
    for what, count in sorted(tally.items()):
        terminalreporter.write_line(f"{count:7d}  {what}")
    terminalreporter.write_line(f"{sum(tally.values()):7d}  in all")
