"""Committed notebooks hold no results: `make docs` runs them, and diffs show what was changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
NOTEBOOKS = sorted(DOCS.rglob("*.ipynb"))


def test_there_is_a_notebook():
    assert NOTEBOOKS


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.name)
def test_notebook_is_cleared(file):
    text = file.read_text(encoding="utf-8")
    notebook = json.loads(text)
    cells = notebook["cells"]
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], f"clear the outputs of {cell['id']}"
            assert cell["execution_count"] is None, f"clear the count of {cell['id']}"
        assert cell["metadata"] == {}, f"{cell['id']} has metadata of an editor"
    names = [cell["id"] for cell in cells]
    assert len(set(names)) == len(names)
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    # Written as Jupyter writes it, so that saving it there changes nothing else.
    assert text == json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
