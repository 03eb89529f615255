"""The documentation site in a browser, from its folder, without a server: `make docs` builds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from control import HANGS
from report_cases import lacking

SITE = Path(__file__).resolve().parents[2] / "build" / "docs" / "html"
# A page of each kind.
PAGES = [
    "docs/index",
    "docs/start/csv",
    "docs/start/python",
    "docs/tutorials/index",
    "docs/tutorials/read-a-certificate",
    "docs/tutorials/small-trees",
    "docs/tutorials/first-tree",
    "docs/compare/index",
    "docs/reference/python/maptree.MAPTreeClassifier",
    "docs/reference/commands",
    "docs/design/bounds",
    "docs/experiments/index",
    "CHANGELOG",
]


@pytest.fixture
def open_page(browser):
    """Open a page of the site; nothing may be fetched from elsewhere, or complained of."""
    if not (SITE / "docs" / "index.html").exists():
        lacking("the site is not built: make docs")
    faults, contexts = [], []

    def open_it(name, width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        context.set_default_timeout(1000 * HANGS)
        page = context.new_page()

        def on_request(route):
            if not route.request.url.startswith(SITE.as_uri()):
                faults.append(f"asked for {route.request.url}")
                route.abort()
            else:
                route.continue_()

        page.route("**/*", on_request)
        # Without a server, a browser refuses the search the sentences next to what it found.
        page.on(
            "pageerror",
            lambda error: None if "Failed to fetch" in str(error) else faults.append(str(error)),
        )
        page.goto((SITE / f"{name}.html").as_uri())
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert faults == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
@pytest.mark.parametrize("name", PAGES)
def test_accessibility(open_page, name, width, scheme):
    """No violation of axe's rules, and nothing that is wider than the window."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        lacking("axe is not installed: pip install axe-playwright-python")
    page = open_page(name, width, color_scheme=scheme)
    found = Axe().run(page).response["violations"]
    assert [(v["id"], [n["html"][:200] for n in v["nodes"]]) for v in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_search(open_page):
    page = open_page("search")
    page.locator("input[name=q]:visible").first.fill("min_samples_leaf")
    page.locator("input[name=q]:visible").first.press("Enter")
    results = page.locator("#search-results li a")
    results.first.wait_for()
    assert any("MAPTreeClassifier" in text for text in results.all_text_contents())


def test_the_reference_has_parameters_and_methods(open_page):
    page = open_page("docs/reference/python/maptree.MAPTreeClassifier")
    assert "max_leaf_nodes=None" in page.locator("dt.sig").first.inner_text()
    for method in ("fit", "predict_interval", "alternatives", "to_sql", "certificate_"):
        assert page.locator(f'[id="maptree.MAPTreeClassifier.{method}"]').count() == 1
