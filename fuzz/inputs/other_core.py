"""Runs the package with the extension of another build, such as one with sanitizers."""

from __future__ import annotations

import importlib.util
import os
import sys


def use_other_core() -> None:
    """Import the extension that MAPTREE_CORE names, if it does, in place of the installed one."""
    path = os.environ.get("MAPTREE_CORE")
    if not path:
        return
    assert "maptree._core" not in sys.modules
    spec = importlib.util.spec_from_file_location("maptree._core", path)
    assert spec is not None
    assert spec.loader is not None
    core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(core)
    sys.modules["maptree._core"] = core
