"""What the tests of exports and of the report share: rows, tools, what was compared, a browser.

With MAPTREE_SYSTEM=1 (``make test-system``) exports are compared on 10,000 rows, and a test that
is skipped, because a tool is not there, fails.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from control import HANGS
from mixed_table import Case, deep_case, mixed_case
from postgresql_server import programs, running_server
from report_cases import lacking

STRICT = os.environ.get("MAPTREE_SYSTEM") == "1"
COMPARED = pytest.StashKey[list["Compared"]]()


@dataclass(frozen=True)
class Compared:
    """A line of the table."""

    target: str
    version: str
    rows: int
    worst: str


def pytest_configure(config: pytest.Config) -> None:
    config.stash[COMPARED] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    report = yield
    if STRICT and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"Skipped, but make test-system has to run it: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def mixed() -> Case:
    """Rows of all kinds of columns, and a tree that asks about all."""
    return mixed_case(n_rows=10_000 if STRICT else 1_000)


@pytest.fixture(scope="session")
def deep() -> Case:
    """A tree of 600 levels."""
    return deep_case(n_levels=600, n_rows=1_000 if STRICT else 200)


@pytest.fixture(scope="session")
def every() -> Case:
    """A tree over all thresholds, of which the exports know those that it tests."""
    return mixed_case(n_rows=1_000 if STRICT else 200, seed=2, depth=6, max_thresholds=None)


@pytest.fixture(params=["mixed", "deep", "every"])
def case(request: pytest.FixtureRequest) -> Case:
    """Each of the three."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def compare(pytestconfig: pytest.Config) -> Callable[..., None]:
    """Compare what a target gives for every row with the model, and keep a line of the table."""

    def compare(target, version, case, leaves, probabilities, labels) -> None:
        model = case.model
        expected = model.predict_proba(case.table)
        np.testing.assert_array_equal(np.asarray(leaves), model.apply(case.table))
        worst = float(np.abs(np.asarray(probabilities) - expected).max())
        assert worst <= 1e-15
        assert [str(label) for label in labels] == model.predict(case.table).tolist()
        name = target if model.tree_.depth < 100 else f"{target}, {model.tree_.depth} levels"
        line = Compared(name, version, len(expected), f"{worst:.1e}" if worst else "0")
        pytestconfig.stash[COMPARED].append(line)

    return compare


@pytest.fixture(scope="session")
def note(pytestconfig: pytest.Config) -> Callable[..., None]:
    """Keep a line of the table for a target that computes nothing."""
    return lambda *line: pytestconfig.stash[COMPARED].append(Compared(*line))


@pytest.fixture(scope="session")
def tool() -> Callable[[str], str]:
    """Find a program, or skip the test."""

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is None:
            pytest.skip(f"{name} is not installed: make test-system says how")
        return path

    return find


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if not config.stash.get(COMPARED, []):
        return
    terminalreporter.section("exports compared with predict_proba")
    terminalreporter.write_line("| target | version | rows | worst difference |")
    terminalreporter.write_line("|---|---|---:|---:|")
    for line in config.stash[COMPARED]:
        terminalreporter.write_line(
            f"| {line.target} | {line.version} | {line.rows:,} | {line.worst} |"
        )


@pytest.fixture(scope="session")
def postgresql():
    """Connect to a PostgreSQL server that runs while the tests do, each time to a new database."""
    psycopg = pytest.importorskip("psycopg")
    folder = programs()
    if folder is None:
        pytest.skip("PostgreSQL is not installed: make test-system says how")
    with (
        running_server(folder) as socket,
        psycopg.connect(host=socket, user="tester", dbname="postgres", autocommit=True) as admin,
    ):
        names = iter(range(1000))

        def connect():
            name = f"test_{next(names)}"
            admin.execute(f"CREATE DATABASE {name}")
            return psycopg.connect(host=socket, user="tester", dbname=name)

        yield connect


# The report in a browser


@pytest.fixture(scope="module")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        lacking("playwright is not installed: pip install playwright")
    found = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if found is None:
        lacking("Chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox"], timeout=1000 * HANGS
        )
        yield started
        started.close()


@pytest.fixture
def open_report(browser, tmp_path):
    """Open a report; nothing may be fetched, and nothing may be complained of."""
    faults, contexts = [], []

    def open_it(model, X=None, y=None, width=1280, title=None, parts=None, **options):
        path = tmp_path / "report.html"
        model.to_html(path, X, y, title=title, **parts or {})
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        context.set_default_timeout(1000 * HANGS)
        page = context.new_page()

        def on_request(route):
            if route.request.url != path.as_uri():
                faults.append(f"asked for {route.request.url}")
                route.abort()
            else:
                route.continue_()

        page.route("**/*", on_request)
        page.on("console", lambda message: faults.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on(
            "dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss())
        )
        page.goto(path.as_uri())
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert faults == []
