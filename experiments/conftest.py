"""Keeps pytest from collecting doctests of modules whose packages are not installed here."""

from __future__ import annotations

from importlib.util import find_spec

from experiments.systems import MODULES, OF_PEERS

collect_ignore = [f"systems/{MODULES[system]}.py" for system in OF_PEERS]
if find_spec("distributed") is None:
    collect_ignore.append("cluster.py")
