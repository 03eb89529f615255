"""Every link inside the built site leads somewhere, and no page loads anything from elsewhere.

python docs/site/check_links.py build/docs/html
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes whose address the browser follows by itself.
_LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
_NOT_LOADED = {"canonical", "next", "prev", "search", "index", "author", "license"}


@dataclass
class Page(HTMLParser):
    """The links of a page, what it loads, and what links can point at."""

    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if given.get(_LOADED.get(tag, "")) and given.get("rel") not in _NOT_LOADED:
            self.loaded.append(given[_LOADED[tag]])


def read(file: Path) -> Page:
    page = Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page


def faults(site: Path) -> list[str]:
    """Return a line for each link that leads nowhere, and each thing from another place."""
    files = [file for file in sorted(site.rglob("*.html")) if "_static" not in file.parts]
    pages = {file: read(file) for file in files}
    if not pages:
        return [f"{site} has no pages: build them first"]
    found = []
    for file, page in pages.items():
        where = file.relative_to(site)
        found += [f"{where} loads {address}" for address in page.loaded if urlsplit(address).netloc]
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.is_relative_to(site) or not target.exists():
                found.append(f"{where}: {link}: no such file")
            elif target.is_dir():
                found.append(f"{where}: {link}: a folder; without a server it shows nothing")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors | {""}:
                found.append(f"{where}: {link}: no such place on that page")
    return found


def main() -> int:
    site = Path(sys.argv[1]).resolve()
    found = faults(site)
    print("\n".join(found) or "All links inside the site lead somewhere.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
