"""What the documentation site is made of. `make docs` builds it, and then runs these as well."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import check_links
import maptree

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_reference_has_every_public_name():
    pages = "".join(page.read_text() for page in (DOCS / "reference").glob("*.md"))
    listed = re.findall(r"^   (\w+)$", pages, re.MULTILINE)
    missing = {*maptree.__all__} - {*listed} - {"__version__"}
    assert missing == set()
    assert len(listed) == len(set(listed))


def test_the_reference_has_every_command_and_option():
    pytest.importorskip("sphinx", reason="left to make docs")
    import typer

    from command_reference import reference
    from maptree.cli.app import make_app

    text = reference()
    for name, command in typer.main.get_command(make_app()).commands.items():
        section = text.partition(f"## maptree {name}\n")[2].partition("\n## ")[0]
        options = [option for param in command.params for option in param.opts]
        assert section
        assert [option for option in options if option.startswith("-")]
        for option in options:
            if option.startswith("-"):
                assert f"`{option}`" in section


def test_sections_of_the_readme():
    pytest.importorskip("sphinx", reason="left to make docs")
    from readme import section

    text = "# Name\nWhat it is.\n\n```console\n$ run\n```\n\n## One\nfirst\n\n## Two\nsecond\n"
    assert section(text, None) == "What it is.\n\n"
    assert section(text, "One") == "first\n\n"
    with pytest.raises(ValueError, match="no section 'Three'; it has One, Two"):
        section(text, "Three")


@pytest.mark.parametrize(
    ("link", "fault"),
    [
        ("other.html#there", None),
        ("#here", None),
        ("https://example.org/x", None),
        ("gone.html", "gone.html: no such file"),
        ("other.html#gone", "other.html#gone: no such place on that page"),
        ("../outside.html", "../outside.html: no such file"),
        ("folder", "folder: a folder; without a server it shows nothing"),
    ],
)
def test_links_are_checked(tmp_path, link, fault):
    site = tmp_path / "site"
    (site / "folder").mkdir(parents=True)
    (tmp_path / "outside.html").touch()
    (site / "index.html").write_text(f'<p id="here"><a href="{link}">x</a>')
    (site / "other.html").write_text('<p id="there">')
    assert check_links.faults(site) == ([] if fault is None else [f"index.html: {fault}"])


def test_pages_load_nothing_from_elsewhere(tmp_path):
    (tmp_path / "index.html").write_text('<script src="https://cdn.example.org/x.js"></script>')
    assert check_links.faults(tmp_path) == ["index.html loads https://cdn.example.org/x.js"]


def test_a_cell_of_commands_is_shown_as_in_a_terminal():
    pytest.importorskip("sphinx", reason="left to make docs")
    from docutils import nodes
    from docutils.utils import new_document

    from shell_cells import show_prompts

    def shown(source, text):
        page = new_document(source)
        page += nodes.container("", nodes.literal_block(text, text), classes=["cell_input"])
        show_prompts(None, page)
        return page.astext()

    assert shown("a.md", "!maptree demo\n!ls") == "$ maptree demo\n$ ls"
    assert shown("a.md", "import maptree\n!ls") == "import maptree\n!ls"
    assert shown("a.ipynb", "!maptree demo") == "!maptree demo"


def test_a_command_that_fails_ends_the_build(capsys, monkeypatch):
    pytest.importorskip("IPython", reason="left to make docs")
    import warnings
    from types import SimpleNamespace

    monkeypatch.setattr("IPython.get_ipython", SimpleNamespace)
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    from kernel import run

    run("echo told; echo why >&2")
    assert capsys.readouterr().out == "told\nwhy\n"
    with pytest.raises(RuntimeError, match="exit code 3: exit 3"):
        run("exit 3")
