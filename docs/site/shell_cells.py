"""Show a cell of commands, `!maptree demo`, as what is typed into a terminal: `$ maptree demo`.

Readers copy it there, where the `!` would be an error. Notebooks keep it: it belongs there.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx


def show_prompts(app: Sphinx, tree: nodes.document) -> None:
    """Replace the mark of IPython by a prompt, in cells of nothing else."""
    if str(tree["source"]).endswith(".ipynb"):
        return
    for cell in tree.findall(nodes.container):
        if "cell_input" not in cell["classes"]:
            continue
        for block in cell.findall(nodes.literal_block):
            lines = block.astext().splitlines()
            if all(line.startswith("!") for line in lines):
                text = "\n".join(f"$ {line[1:]}" for line in lines)
                block.rawsource, block.children = text, []
                block += nodes.Text(text)
                block["language"] = "console"


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", show_prompts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
