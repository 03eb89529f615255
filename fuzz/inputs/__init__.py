"""Fuzzing what comes from outside: model files, tables in text files, arguments of the core.

A target is a module with ``try_input(content)``. It returns if bytes are handled as documented, be
it with an error that is documented, and raises anything else. ``python -m fuzz.inputs`` lets
libFuzzer look for bytes that reach new code: Atheris counts branches in Python, clang those in C++.
What it found is kept in fuzz/corpus, and tests/inputs tries it again.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

# The targets, with the packages in which branches are counted.
TARGETS = {
    "model_bytes": (
        "maptree.export",
        "maptree.files",
        "maptree.model_file",
        "maptree.parameters",
        "maptree.schema",
        "maptree.trees",
        "maptree.words",
    ),
    "table_bytes": ("maptree.cli", "maptree.encoding", "maptree.schema", "maptree.tables"),
    "core_calls": (),  # the core itself
}
CORPUS = Path(__file__).parents[1] / "corpus"


def target(name: str) -> ModuleType:
    """Import a target."""
    return import_module(f"{__name__}.{name}")


def kept(name: str) -> list[Path]:
    """Return the files of a target's corpus."""
    return sorted((CORPUS / name).iterdir())
