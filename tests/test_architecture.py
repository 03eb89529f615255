"""The rooms of the package and of the core: who may use whom, and the picture of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import draw_architecture
import maptree
from draw_architecture import CORE, PYTHON, core_rooms, python_rooms

PACKAGE = Path(maptree.__file__).parent


def against_the_direction(edges, places):
    """The imports that go up or sideways."""
    return [(a, b) for a, uses in edges.items() for b in uses if places[a][1] >= places[b][1]]


def test_imports_go_downwards():
    assert against_the_direction(python_rooms(), PYTHON) == []


def test_libraries_of_the_core_use_those_below():
    """That they include nothing else is seen to by the build."""
    assert against_the_direction(core_rooms(), CORE) == []
    assert set(core_rooms()) == {
        path.name for path in (PACKAGE.parents[1] / "core").iterdir() if path.is_dir()
    }


def test_an_import_upwards_is_seen():
    edges = python_rooms() | {"trees": ["words"]}
    assert against_the_direction(edges, PYTHON) == [("trees", "words")]


def test_every_room_has_a_place_and_a_door():
    assert set(python_rooms()) == set(PYTHON)
    for room in python_rooms():
        doc = (PACKAGE / room / "__init__.py").read_text(encoding="utf-8")
        assert doc.startswith('"""'), f"{room} does not say what it holds"


def test_nothing_lives_outside_of_the_rooms():
    assert {path.name for path in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py", "demo.py"}


def test_the_picture_is_of_the_code():
    """`python docs/design/draw_architecture.py` draws it again."""
    assert draw_architecture.drawn() == draw_architecture.read_code()


@pytest.mark.parametrize(
    ("script", "absent"),
    [
        ("import maptree", ["numpy", "sklearn", "importlib.metadata"]),
        (
            "from maptree import MAPTreeClassifier; MAPTreeClassifier().fit([[0], [1]], [0, 1])",
            [
                "maptree.export",
                "maptree.pictures",
                "maptree.model_file",
                "maptree.cli",
                "matplotlib",
            ],
        ),
        (
            "from maptree.model_file.reading import read_model\n"
            "import maptree.words.tree_text, maptree.words.certificate",
            ["sklearn", "scipy", "joblib", "maptree._core", "maptree.engine"],
        ),
    ],
)
def test_what_is_not_imported(script, absent):
    told = subprocess.run(
        [sys.executable, "-c", f"{script}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(told.stdout.split())
    assert [name for name in absent if name in loaded] == []
