"""What a release rests on: the workflows call targets that exist, and versions agree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([\w-]+):(?!=)", (ROOT / "Makefile").read_text(), flags=re.M))
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_call_targets_of_the_makefile(workflow):
    called = re.findall(r"^ *(?:- )?run: make ([\w-]+)$", workflow.read_text(), flags=re.M)
    assert called, "no step calls make: is the pattern still right?"
    assert set(called) <= TARGETS


def test_the_steps_of_a_release_are_targets_of_the_makefile():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    steps = re.search(r"^## Releases\n(.*?)^## ", text, flags=re.M | re.S)[1]
    called = set(re.findall(r"`make ([\w-]+)", steps))
    assert {"dist", "tag"} <= called <= TARGETS


def test_versions_agree():
    citation = (ROOT / "CITATION.cff").read_text()
    dated = re.findall(r"^## (\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)$", CHANGELOG, flags=re.M)
    assert dated[0][0] == VERSION
    assert f"\nversion: {VERSION}\ndate-released: {dated[0][1]}\n" in citation


def test_the_changelog_keeps_the_form():
    headings = re.findall(r"^## (\S+)", CHANGELOG, flags=re.M)
    assert headings[0] == "Unreleased"
    versions = [tuple(map(int, version.split("."))) for version in headings[1:]]
    assert versions == sorted(set(versions), reverse=True)
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", CHANGELOG, flags=re.M)) <= kinds
