"""What a result depends on besides its cell: machine and versions. No host, user or folder."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from experiments.environments import ROOT

EVERYWHERE = ("maptree", "numpy", "scipy", "scikit-learn")


def machine() -> str:
    """Return processor, number of cores and system in a few words."""
    cores = _cores()
    count = f"{cores} core" if cores == 1 else f"{cores} cores"
    return f"{_processor()}, {count}, {platform.system()} {platform.machine()}"


def versions(packages: Iterable[str] = EVERYWHERE) -> dict[str, str]:
    """Return the versions of packages; those that are not installed are left out."""
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """Return the commit of the sources, with a "+" if they differ from it."""
    try:
        git = ["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+"]
        done = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown processor"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
