"""Where the system refuses memory or a thread the core raises MemoryError or returns a true result.

The same is tested in C++ with small pieces of memory (tests/core/search/no_memory.cpp); here it is
the extension as it is shipped, with the C library's functions replaced (refuse_memory.c).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from control import HANGS
from maptree import _core

SUPPORT = Path(__file__).parent.parent / "support"


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="replaces functions of the GNU C library")
def test_every_refusal_of_memory_is_an_error_or_a_true_result(
    tmp_path: Path, tally: Counter[str]
) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler is not None, "the core could not have been built"
    library = tmp_path / "librefuse.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library)]
    subprocess.run([*command, str(SUPPORT / "refuse_memory.c"), "-ldl"], check=True)
    child = subprocess.run(
        [sys.executable, str(SUPPORT / "refused.py"), str(library), "50"],
        env={**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": str(SUPPORT)},
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert child.returncode == 0, f"ended with {child.returncode}: {child.stderr[-2000:]}"
    outcomes = json.loads(child.stdout)
    for name, outcome in outcomes.items():
        tally[f"refused: {name}"] += outcome["refused"]
        assert outcome["wrong"] == 0, (name, outcome)
        assert outcome["errors"] > 0, (name, outcome)


def test_other_extensions_do_not_change_what_is_raised() -> None:
    # DuckDB is made with nanobind, too, and has its own exception where there is no memory.
    pytest.importorskip("duckdb")
    with pytest.raises(MemoryError):
        _core.PackedTable(2**60, 2)
