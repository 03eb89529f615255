"""Pictures, read by the programs that draw them: Graphviz, Mermaid, LaTeX."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from control import HANGS
from maptree.export.plain_tree import PlainTree, edge_words, node_lines
from mixed_table import mixed_case

pytestmark = pytest.mark.system

# Where make test-system installs mermaid and jsdom, without which it does not run outside a page.
MODULES = Path(os.environ.get("MAPTREE_NODE", "build/node")).resolve() / "node_modules"
READ_MERMAID = """
import { readFileSync } from "node:fs";
import { JSDOM } from "jsdom";
globalThis.window = new JSDOM("").window;
globalThis.document = window.document;
const { default: mermaid } = await import("mermaid");
mermaid.initialize({ maxTextSize: 10_000_000, maxEdges: 10_000 });
const diagram = await mermaid.mermaidAPI.getDiagramFromText(readFileSync("tree.mmd", "utf8"));
const nodes = [...diagram.db.getVertices().values()].map((v) => [v.id, v.text]);
const edges = diagram.db.getEdges().map((e) => [e.start, e.end, e.text]);
console.log(JSON.stringify({ nodes, edges }));
"""


@pytest.fixture(scope="module")
def tree():
    """A tree of a few hundred nodes about columns and categories with hostile names."""
    return PlainTree.of(mixed_case(n_rows=1).model.fitted_)


@pytest.fixture(scope="module")
def model():
    return mixed_case(n_rows=1).model


def expected_edges(tree, name):
    return sorted(
        (name(node.number), name(child), words)
        for node in tree.nodes
        if not node.is_leaf
        for child, words in zip((node.yes, node.no), edge_words(tree, node), strict=True)
    )


def shown(line):
    """What is not printable is replaced in pictures."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)


def test_dot(model, tree, tool, tmp_path, note):
    dot = tool("dot")
    ran = subprocess.run(
        [dot, "-Tjson"], input=model.to_dot().encode(), capture_output=True, check=True
    )
    assert ran.stderr == b""
    graph = json.loads(ran.stdout)
    assert len(graph["objects"]) == len(tree.nodes)
    for drawn in graph["objects"]:
        lines = node_lines(tree, tree.nodes[int(drawn["name"])])
        # What Graphviz draws, line by line, after its own reading of escapes and entities.
        texts = [step["text"] for step in drawn["_ldraw_"] if step["op"] == "T"]
        assert texts == list(map(shown, lines))
    edges = sorted((int(edge["tail"]), int(edge["head"]), edge["label"]) for edge in graph["edges"])
    assert edges == expected_edges(tree, int)
    version = subprocess.run([dot, "-V"], capture_output=True, text=True).stderr
    note("DOT, in Graphviz", version.split()[4], 0, f"{len(tree.nodes)} nodes, texts equal")


def test_mermaid(model, tree, tool, tmp_path, note):
    node = tool("node")
    if not (MODULES / "mermaid").is_dir() or not (MODULES / "jsdom").is_dir():
        pytest.skip(f"mermaid and jsdom are not in {MODULES}: make test-system installs them")
    (tmp_path / "node_modules").symlink_to(MODULES)
    (tmp_path / "tree.mmd").write_text(model.to_mermaid(), encoding="utf-8")
    (tmp_path / "read.mjs").write_text(READ_MERMAID)
    ran = subprocess.run([node, "read.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
    graph = json.loads(ran.stdout)
    assert len(graph["nodes"]) == len(tree.nodes)
    for name, text in graph["nodes"]:
        lines = node_lines(tree, tree.nodes[int(name.removeprefix("n"))])
        assert [decoded(line) for line in text.split("<br>")] == list(map(shown, lines))
    assert sorted(map(tuple, graph["edges"])) == expected_edges(tree, "n{}".format)
    version = json.loads((MODULES / "mermaid/package.json").read_text())["version"]
    note("Mermaid", version, 0, f"{len(tree.nodes)} nodes, texts equal")


def decoded(text):
    """Mermaid keeps entities in a form of its own until it draws."""
    return html.unescape(re.sub("ﬂ°°(\\d+)¶ß", r"&#\1;", text))


def test_latex(tool, tmp_path, note):
    pdflatex = tool("pdflatex")
    model = mixed_case(n_rows=1, depth=4).model
    source = model.to_latex(document=True)
    # pdfLaTeX has no fonts for these; what is hostile in TeX stays.
    latin = "".join(c if c in "éüöß…" or ord(c) < 128 else "?" for c in source)
    (tmp_path / "tree.tex").write_text(latin, encoding="utf-8")
    command = [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "tree.tex"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=HANGS)
    log = ran.stdout.decode(errors="replace")
    assert ran.returncode == 0, log[-3000:]
    assert (tmp_path / "tree.pdf").stat().st_size > 1000
    version = subprocess.run([pdflatex, "--version"], capture_output=True, text=True).stdout
    release = re.search(r"TeX Live (\d+)", version)
    nodes = model.tree_.node_count
    note(
        "LaTeX, pdflatex with forest", release[0] if release else "?", 0, f"{nodes} nodes, compiled"
    )
