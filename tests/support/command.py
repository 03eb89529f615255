"""The command line, run in this process or in one of its own, and tables for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from control import HANGS
from maptree.cli.app import run

COMMAND = [sys.executable, "-m", "maptree"]
# Quick, and the same on every machine.
QUICK = ["--max-expansions", "30", "--time-limit", "none"]


class Told:
    """What a command said, and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


def call(capsys: Any, *arguments: object) -> Told:
    """Run a command in this process."""
    capsys.readouterr()
    code = run([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return Told(code, captured.out, captured.err)


def start(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command as a program of its own, without a terminal."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    options = pipes | {"timeout": HANGS} | options
    return subprocess.run([*COMMAND, *map(str, arguments)], **options)


def people(n: int = 200, seed: int = 1) -> pd.DataFrame:
    """A table as users have it: holes, dates, postcodes, an identifier, a constant."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n).astype(float)
    city = rng.choice(["Berlin", "Köln", "New York", "Oslo"], n)
    member = rng.random(n) < 0.4
    buys = (age > 45) ^ (rng.random(n) < 0.1)
    age[rng.random(n) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "id": [f"P{i:05d}" for i in range(n)],
            "age": age,
            "hours": rng.normal(38, 9, n).round(1),
            "city": city,
            "zip": rng.choice(["01067", "10115", "04109"], n),
            "joined": pd.to_datetime("2015-01-01") + pd.to_timedelta(rng.integers(0, 99, n), "D"),
            "member": member,
            "country": "DE",
            "buys": np.where(buys, "yes", "no"),
        }
    )


def write_text(frame: pd.DataFrame, path: Path, **options: Any) -> Path:
    """Write CSV as programs do: whole ages without a point, booleans in small letters."""
    frame = frame.copy()
    for name, column in frame.items():
        if column.dtype == bool:
            frame[name] = column.map({True: "true", False: "false"})
        if name == "age":
            frame[name] = column.map(lambda age: "" if age != age else f"{age:.0f}")
        if name == "joined":
            frame[name] = column.dt.strftime("%Y-%m-%d")
    frame.to_csv(path, **({"index": False} | options))
    return path


def widest(text: str) -> int:
    """Return the length of the longest line."""
    return max((len(line) for line in text.splitlines()), default=0)


def environment(**changes: str) -> dict[str, str]:
    """Return the environment with changes."""
    return os.environ | changes
