"""The directive `readme`: a section of the README, so that a page shows it without saying it twice.

    ```{readme} How it compares
    ```

Without a name it is what comes between the title and the first block of code.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

README = Path(__file__).resolve().parents[2] / "README.md"


def section(text: str, name: str | None) -> str:
    """Return a section of second level without its heading, or the opening."""
    if name is None:
        return text.partition("\n")[2].partition("```")[0]
    parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    if name not in found:
        raise ValueError(f"README.md has no section {name!r}; it has {', '.join(found)}")
    return found[name]


class Readme(SphinxDirective):
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(README))
        here = Path(self.env.doc2path(self.env.docname)).parent

        def from_here(link: re.Match[str]) -> str:
            return f"]({os.path.relpath(README.parent / link[1], here)}{link[2] or ''}"

        name = self.arguments[0] if self.arguments else None
        text = section(README.read_text(encoding="utf-8"), name)
        text = re.sub(r"\]\((?!\w+:|#)([^)#]+)(#[^)]*)?(?=\))", from_here, text)
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("readme", Readme)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
