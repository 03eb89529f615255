"""Run what a newcomer types from the README: its Python blocks in order, and its maptree commands.

    python tests/readme_from_wheel.py README.md

For the Python of an environment in which a wheel was installed with the extras cli and plot, and
nothing else: it uses the standard library and what the README says is enough.
"""

from __future__ import annotations

import csv
import os
import random
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

IMPORT = "import time; t = time.perf_counter(); import maptree; print(time.perf_counter() - t)"


def blocks(markdown: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", markdown, flags=re.M | re.S)


def commands(markdown: str) -> list[list[str]]:
    """Those of maptree; what comes before it is installation, and was done by whoever runs this."""
    lines = "".join(blocks(markdown, "console")).splitlines()
    typed = [shlex.split(line[2:], comments=True) for line in lines if line.startswith("$ ")]
    return [words for words in typed if words and words[0] == "maptree"]


def write_people(path: Path, n_rows: int, labelled: bool) -> None:
    """Numbers, categories and missing values; income depends on age and job."""
    draw = random.Random(n_rows)
    names = ["age", "job", "hours"] + ["income"] * labelled
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, names)
        table.writeheader()
        for _ in range(n_rows):
            age, job = draw.randint(18, 80), draw.choice(["baker", "clerk", "doctor"])
            high = draw.random() < (0.9 if age > 40 and job == "doctor" else 0.1)
            hours = draw.choice(["", str(draw.randint(10, 60))])
            row = {"age": age, "job": job, "hours": hours}
            table.writerow(row | {"income": "high" if high else "low"} if labelled else row)


def main() -> None:
    readme = Path(sys.argv[1]).read_text(encoding="utf-8")
    python, typed = blocks(readme, "python"), commands(readme)
    assert python, "no Python block found"
    assert typed, "no maptree command found"
    with tempfile.TemporaryDirectory() as folder:
        run = {"cwd": folder, "check": True, "text": True}
        seconds = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, **run).stdout

        Path(folder, "readme.py").write_text("\n".join(python), encoding="utf-8")
        start = time.perf_counter()
        environment = {"MPLBACKEND": "Agg", "PYTHONWARNINGS": "error::DeprecationWarning:maptree"}
        subprocess.run([sys.executable, "readme.py"], env=dict(os.environ) | environment, **run)
        took = time.perf_counter() - start

        write_people(Path(folder, "people.csv"), 600, labelled=True)
        write_people(Path(folder, "new.csv"), 20, labelled=False)
        scripts = Path(sysconfig.get_path("scripts"))
        for words in typed:
            print("$", *words, flush=True)
            subprocess.run([scripts / "maptree", *words[1:]], **run)
    print(
        f"README from the wheel, Python {sys.version.split()[0]}: import {float(seconds):.2f} s, "
        f"{len(python)} Python blocks in {took:.1f} s, {len(typed)} commands"
    )


if __name__ == "__main__":
    main()
