"""The Python environments of the systems.

Peers have a separate one: their dependencies must not determine the versions that this library is
tested with, and `make test` must not wait for a peer to compile.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

MAIN = "main"
PEERS = "peers"
REMEDY = {MAIN: "make paper", PEERS: "make peers"}  # what builds them


def python_of(environment: str) -> Path:
    """Return the interpreter of an environment; it may not exist."""
    if environment == MAIN:
        return Path(sys.executable)
    folder = Path(os.environ.get("MAPTREE_PEERS") or ROOT / ".venv-peers")
    return folder / "bin" / "python"
