"""What a notebook shows: HTML with the same content as the text, safe, small, light and dark."""

from __future__ import annotations

import math
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from maptree import (
    BinaryEncoder,
    MAPTreeClassifier,
    MCMCTreeClassifier,
    SMCTreeClassifier,
    compare,
    size_path,
)
from maptree.engine.diagnostics import Diagnostics
from outline import Outline

HOSTILE = "</p><img src=x onerror=alert(1)>"
README = Path(__file__).resolve().parents[2] / "README.md"


def plain(html):
    """The words of a fragment, without its style and what is folded away."""
    html = re.sub(r"<style>.*?</style>|<details>.*</details>|<svg.*?</svg>", "", html, flags=re.S)
    return unescape(re.sub(r"<[^>]*>", " ", html)).split()


def table(n_rows=210):
    X = [[i % 2, i % 3 % 2, i % 5 % 2, i % 7 % 2] for i in range(n_rows)]
    return X, [(i * 7919) % 11 % 2 for i in range(n_rows)]


def named(n_rows=240):
    """A table whose columns and classes are named to break a page."""
    rng = np.random.default_rng(0)
    numbers, others = rng.integers(0, 9, n_rows), rng.integers(0, 9, n_rows)
    columns = {HOSTILE: numbers, "b & c\x1b": others, "d": rng.permutation(numbers)}
    labels = np.where((numbers < 4) ^ (rng.random(n_rows) < 0.1), HOSTILE, "well")
    return pd.DataFrame(columns), labels


@pytest.fixture(scope="module")
def shown():
    """Everything that a notebook shows, by name."""
    X, y = named()
    model = MAPTreeClassifier(max_expansions=500).fit(X, y)
    small = MAPTreeClassifier(max_expansions=500, max_depth=1, without_columns="d").fit(X, y)
    chains = MCMCTreeClassifier(random_state=0, n_samples=200, thin=1, burn_in=5).fit(X, y)
    filtered = SMCTreeClassifier(random_state=0, n_particles=300).fit(X, y)
    path = size_path(X, y, MAPTreeClassifier(max_expansions=50), max_leaf_nodes=4, cv=3)
    return {
        "model": model,
        "chains": chains,
        "particles": filtered,
        "certificate": model.certificate_,
        "constrained": small.certificate_,
        "columns": model.encoder_.report(),
        "alternatives": small.alternatives(4),
        "alternative": small.alternatives(2)[0],
        "sizes": path,
        "comparison": compare(model, small, X, y),
        "decisions": model.decisions(X, y, costs={HOSTILE: 5}),
        "posterior": chains.posterior_summary(),
        "diagnostics": chains.diagnostics(),
    }


def html_of(thing):
    if hasattr(thing, "get_params"):
        return thing._repr_mimebundle_()["text/html"]
    return thing._repr_html_()


NAMES = (
    "model",
    "chains",
    "particles",
    "certificate",
    "constrained",
    "columns",
    "alternatives",
    "alternative",
    "sizes",
    "comparison",
    "decisions",
    "posterior",
    "diagnostics",
)


@pytest.mark.parametrize("name", NAMES)
def test_all_of_it_is_small_safe_and_without_scripts(shown, name):
    html = html_of(shown[name])
    outline = Outline(html)
    assert len(html) < 20_000
    assert outline.elements[1] == ("div", {"class": "maptree-notebook"})
    for tag, attributes in outline.elements:
        assert tag not in ("script", "img", "link", "iframe")
        assert not {"style", "src", "href", *(a for a in attributes if a.startswith("on"))} & {
            *attributes
        }
    assert "url(" not in html.partition("</style>")[0]
    for tag in {tag for tag, _ in outline.elements} - {"path", "rect", "circle"}:
        assert len(re.findall(f"<{tag}[ >]", html)) == html.count(f"</{tag}>"), tag
    assert "\x1b" not in html
    assert str(shown[name])  # text where there is no HTML


def test_hostile_names_are_shown_as_they_are(shown):
    for name in ("decisions", "columns", "posterior", "alternatives", "model"):
        assert "</p><img " in Outline(html_of(shown[name])).text, name


@pytest.mark.parametrize("name", NAMES)
def test_the_colours_follow_the_theme(shown, name):
    css = html_of(shown[name]).partition("</style>")[0]
    for theme in ('[data-jp-theme-light="false"]', ".vscode-dark", "prefers-color-scheme: dark"):
        assert theme in css
    # What is not a class colour is a variable, or the colour of the text.
    inside = css.partition(".maptree-notebook:not(#maptree)")[2].partition("@keyframes")[0]
    assert set(re.findall(r"#[0-9A-Fa-f]{6}", inside)) == {"#E69F00", "#009E73"}


@pytest.mark.parametrize("options", [{}, {"max_expansions": 1}])
def test_a_certificate(options):
    certificate = MAPTreeClassifier(**options).fit(*table()).certificate_
    html = certificate._repr_html_()
    said = plain(html)
    head = [] if certificate.optimal else f"{certificate.headline}.".split()
    assert said == head + str(certificate).split()
    assert certificate.optimal == ('class="verdict proved"' in html)
    assert "<dt>nat</dt>" in html


def test_a_report_on_columns():
    X = [[25, "red <b>"], [45, "blue"], [46, None], [60, "red <b>"]]
    encoder = BinaryEncoder().fit(X, ["no", "no", "yes", "yes"])
    report = encoder.report()
    assert isinstance(report, str)
    assert repr(report) == str(report)
    assert report.startswith("Column  Kind")
    html = report._repr_html_()
    assert sorted(plain(html)) == sorted(report.split())
    assert "<b>" not in html
    assert html.count("<tr>") == 3
    assert pickle.loads(pickle.dumps(report)) == report


def test_a_wide_table_is_cut():
    rng = np.random.default_rng(0)
    report = BinaryEncoder().fit(rng.random((20, 300)), [0, 1] * 10).report()
    html = report._repr_html_()
    assert "and 240 more" in html
    assert html.count("<tr>") == 61
    assert len(html) < 20_000


def test_sizes_have_the_elbow_marked_and_a_picture(shown):
    path, html = shown["sizes"], html_of(shown["sizes"])
    marked = re.search(r"<tr class=best>(.*?)</tr>", html)[1]
    assert html.count("class=best") == 1
    assert plain(marked)[0] == str(path.elbow)
    assert plain(marked)[-1] == "elbow"
    picture = re.search(r"<svg.*?</svg>", html, re.S)[0]
    assert picture.count("<circle") == len(path) + 1  # one is in the legend
    assert f"the elbow is at {path.elbow}." in picture
    assert f">elbow: {path.elbow}</text>" in picture
    without = replace(path, entries=tuple(replace(one, log_loss=None) for one in path), folds=None)
    assert "Log posterior by number of leaves" in without._repr_html_()
    assert "<svg" not in replace(path, entries=path.entries[:1], elbow=1)._repr_html_()


def test_alternatives_are_side_by_side(shown):
    found, html = shown["alternatives"], html_of(shown["alternatives"])
    head = re.search(r"<thead>(.*?)</thead>", html)[1]
    assert plain(head) == ["tree", *(str(one.rank) for one in found)]
    columns = sum(len(one.columns) for one in found)
    firsts = sum(one.first_test is not None or one.tree.n_leaves == 1 for one in found)
    assert html.count('class="mark"') == columns + firsts
    assert html.count("<details>") == len(found)
    for one in found:
        assert f"Tree {one.rank}: log posterior {one.log_posterior:.2f}, odds 1" in html


def test_a_sampler_shows_its_best_tree_and_says_so(shown):
    for name in ("chains", "particles"):
        model = shown[name]
        bundle = model._repr_mimebundle_()
        n_trees = len(model.trees_)
        assert n_trees > 1
        said = f"Predictions are averaged over {n_trees:,} trees; the most probable is shown."
        assert said in bundle["text/html"]
        assert said in bundle["text/plain"]
        assert 'class="tree"' in bundle["text/html"]
    assert "R-hat" in shown["chains"]._repr_mimebundle_()["text/html"]


def test_diagnostics_say_what_they_mean():
    good, bad = Diagnostics(1.01, 400.0, 4, 250), Diagnostics(1.32, 11.0, 4, 250)
    assert "another run would predict nearly the same" in good._repr_html_()
    assert "verdict proved" in good._repr_html_()
    assert "The chains have not mixed" in bad._repr_html_()
    assert "verdict proved" not in bad._repr_html_()
    assert "mixed" not in Diagnostics(math.nan, math.nan, 1, 3)._repr_html_()


@pytest.mark.parametrize(
    "model", [MAPTreeClassifier(), MCMCTreeClassifier(), SMCTreeClassifier()], ids=repr
)
def test_an_unfitted_model_shows_its_parameters(model):
    bundle = model._repr_mimebundle_()
    assert type(model).__name__ in bundle["text/html"]
    assert "maptree-notebook" not in bundle["text/html"]


def test_the_first_example_of_the_readme_needs_nothing_else(tmp_path):
    """Run it where only the packages are that maptree depends on."""
    example = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[1]
    refuse = (
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('pandas', 'polars', 'pyarrow', 'matplotlib'):\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
    )
    code = refuse + example.replace("time_limit=10", "max_expansions=50")
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "flavanoids" in told.stdout
    assert "Log posterior" in told.stdout
