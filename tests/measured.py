"""What a fit takes, measured: seconds beyond its limit, memory in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from maptree import MAPTreeClassifier

# Part of a script: bytes that the process holds, or held at most.
MEMORY = """
def memory(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))

def start_of_peak():
    try:
        with open("/proc/self/clear_refs", "w") as refs:
            refs.write("5")  # the peak starts from here
    except OSError:
        return memory("VmHWM")
    return memory("VmRSS")
"""


def printed(script):
    """Run a script that measures memory in a fresh process; return what it prints."""
    if not Path("/proc/self/status").exists():
        pytest.skip("no /proc to read memory from")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def fit_in_time(seconds, *data, **params):
    """Fit until a limit of time is kept to 0.1 s; return the model and by how much it was over.

    The machine may be busy: the limit has to be kept once in five fits.
    """
    for _ in range(5):
        started = time.perf_counter()
        model = MAPTreeClassifier(time_limit=seconds, **params).fit(*data)
        over = time.perf_counter() - started - seconds
        assert model.certificate_.status == "time_limit"
        if over < 0.1:
            break
    assert over < 0.1
    return model, over
