"""What every test module shares: the tally of random cases, printed at the end of a run."""

from __future__ import annotations

from collections import Counter

import pytest

# Its assertions explain themselves like those of the tests.
pytest.register_assert_rewrite("checks")

TALLY = pytest.StashKey[Counter[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TALLY] = Counter()


@pytest.fixture(scope="session")
def tally(pytestconfig: pytest.Config) -> Counter[str]:
    """Count a case with `tally["what: which kind"] += 1`.

    It lives for the session, so that Hypothesis tests may use it as well.
    """
    return pytestconfig.stash[TALLY]


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
