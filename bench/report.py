"""What all benchmark reports share: a description of the machine, and atomic writing."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy
import sklearn

import maptree
from maptree import _core

RESULTS = Path(__file__).with_name("results")
NOTHING = "-"


def environment() -> dict[str, Any]:
    """Describe the machine and the versions; nothing that names a host, a user or a folder."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": _processor(),
        "cores": _cores(),
        "memory": _memory(),
        "load at the start": _load(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scikit-learn": sklearn.__version__,
        "maptree": maptree.__version__,
        "commit": _commit(),
        "kernel": _core.kernels()[0],  # the first is used
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> str | None:
    try:
        return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 1e9:.0f} GB"
    except (AttributeError, OSError, ValueError):
        return None


def _load() -> float | None:
    """The mean number of busy processes in the last minute: near 0 on an idle machine."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _commit() -> str:
    """The commit, with a "+" if the sources differ from it."""
    folder = Path(__file__).resolve().parents[1]

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True)
        done.check_returncode()
        return done.stdout.strip()

    try:
        changed = git("status", "--porcelain", "-uno", "--", ".", ":!bench/results")
        return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def name_of(
    limit: float, sets: list[str] | None, memory_limit: str | None = None, jobs: object = None
) -> str:
    """Return the name of a report, made of its settings.

    >>> name_of(60, None, "500MB", 2), name_of(1, ["vote", "lymph"])
    ('60s-500MB-jobs2', '1s-vote-lymph')
    """
    parts = [f"{limit:g}s"]
    if memory_limit is not None:
        parts.append(memory_limit.replace(" ", ""))
    if jobs is not None:
        parts.append(f"jobs{jobs}")
    if sets:
        parts += sets if len(sets) <= 3 else [f"{len(sets)}sets"]
    return "-".join(parts)


def output(given: str | None, name: str) -> Path:
    """Return the output path without its extension."""
    if given is None:
        return RESULTS / name
    return Path(given.removesuffix(".json").removesuffix(".md"))


def write(out: Path, document: dict[str, Any], markdown: str) -> None:
    """Write OUT.json and OUT.md, each atomically."""
    out.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    for ending, content in ((".json", text), (".md", markdown)):
        path = out.with_name(out.name + ending)
        unfinished = out.with_name(path.name + ".tmp")
        unfinished.write_text(content)
        unfinished.replace(path)


@contextmanager
def until_interrupted() -> Iterator[None]:
    """Continue after the block on Ctrl-C or SIGTERM."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        yield


def finish(out: Path, document: dict[str, Any], markdown: Callable[[dict[str, Any]], str]) -> bool:
    """Print the written report; return whether it has all sets."""
    measured, sets = len(document["rows"]), document["sets"]
    if measured < sets:
        print(f"Interrupted: {measured} of {sets} sets measured.", file=sys.stderr)
    if measured > 0:
        print(markdown(document))
        print(f"Written: {out}.json and .md", file=sys.stderr)
    return measured == sets


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table: the first column left-aligned, numbers right-aligned.

    >>> print(table(["set", "cost"], [["vote", "84.46"]]))
    | set | cost |
    |---|---:|
    | vote | 84.46 |
    """
    lines = [header, *rows]
    text = [f"| {' | '.join(line)} |" for line in lines]
    text.insert(1, "|---|" + "---:|" * (len(header) - 1))
    return "\n".join(text)


def number(value: float | None, decimals: int = 4) -> str:
    """Return a number for a table; a dash for None."""
    return NOTHING if value is None else f"{value:,.{decimals}f}"


def megabytes(value: int | None) -> str:
    """Return bytes in millions."""
    return number(None if value is None else value / 1e6, 1)


def facts(of: dict[str, Any]) -> str:
    """Return a Markdown list; None values are left out."""
    return "\n".join(f"- {name}: {value}" for name, value in of.items() if value is not None)
