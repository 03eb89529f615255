"""What an HTML page consists of."""

from __future__ import annotations

from html.parser import HTMLParser


class Outline(HTMLParser):
    """What elements, attributes and text a page has."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.scripts: dict[str, str] = {}
        self.styles: list[str] = []
        self._inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside == "script":
            kind = self.elements[-1][1].get("type") or ""
            self.scripts[kind] = self.scripts.get(kind, "") + data
        elif self._inside == "style":
            self.styles.append(data)
        else:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def shape(self) -> set[tuple[str, frozenset[str]]]:
        return {(tag, frozenset(attributes)) for tag, attributes in self.elements}
