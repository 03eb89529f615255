"""Importing the package is quick; what it offers is imported when it is asked for."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import maptree


def test_every_name_is_at_its_home():
    assert sorted(maptree.__all__) == sorted([*maptree._HOMES, "__version__"])
    for name, home in maptree._HOMES.items():
        assert getattr(maptree, name) is getattr(import_module(home), name)
    assert set(maptree.__all__) <= set(dir(maptree))


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(maptree.__file__).read_text(encoding="utf-8"))
    imported = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("maptree.")
        for alias in node.names
    }
    assert imported == maptree._HOMES


def test_an_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'Forest'"):
        _ = maptree.Forest
    with pytest.raises(ImportError, match="cannot import name 'Forest'"):
        from maptree import Forest  # noqa: F401


def test_what_is_not_imported():
    script = (
        "import sys, maptree, maptree.cli.app as app\n"
        "app.make_app()\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pyarrow', 'pandas', 'narwhals', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "from maptree import *\n"
        "print(MAPTreeClassifier.__name__)"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert told.stdout.split("\n")[:2] == ["[]", "MAPTreeClassifier"], told.stderr


def test_what_a_refused_fit_does_not_import(tmp_path):
    (tmp_path / "ragged.csv").write_text("a,b,c\n1,2,x\n3,4\n")
    rows = "".join(f"{i},x,{i % 3},{i}.5\n" for i in range(40))
    (tmp_path / "t.csv").write_text(f"a,one,three,number\n{rows}")
    refused = [
        ["ragged.csv", "-t", "c"],
        ["t.csv", "-t", "one"],
        ["t.csv", "-t", "three", "--positive", "9"],
        ["t.csv", "-t", "three", "--rho", "1,2"],
        ["t.csv", "-t", "three", "--drop", "a,one,number"],
        ["t.csv", "-t", "three", "--column-weights", "three=2"],
        ["t.csv", "-t", "three", "--column-weights", "a=0,one=0,number=0"],
    ]
    script = (
        "import sys, maptree.cli.app as app\n"
        f"codes = [app.run(['fit', *arguments]) for arguments in {refused}]\n"
        "heavy = {'scipy', 'sklearn', 'pandas', 'pydantic', 'narwhals', 'rich'}\n"
        "print(codes, sorted(heavy & set(sys.modules)))\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path
    )
    assert told.stdout == f"{[1] * 5 + [2] * 2} []\n", told.stderr
