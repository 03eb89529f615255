"""Seconds until a depth is proved over all thresholds, next to pycontree and pystreed.

    make bench-thresholds ARGS="--limit 10 --sets wine pima"

Every system minimises its own objective: maptree the cost, under both priors; ConTree the number of
errors; STreeD the number of errors or the likelihood of the leaves. Every fit is a process of its
own, one after the other, on one thread. A depth that a system does not prove is the last that it
is given for that set.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import raw_tables
from report import NOTHING, environment, facts, finish, number, output, table, until_interrupted
from report import write as write_report

SETS = [
    *("breast-cancer", "wine", "digits", "pima", "biopsy", "page-blocks"),
    *("satimage", "randhie", "diamonds"),
]
DEPTHS = [2, 3, 4]
SYSTEMS: dict[str, dict[str, Any]] = {
    "maptree, tests": {"package": "maptree", "split_prior": "tests"},
    "maptree, columns": {"package": "maptree", "split_prior": "columns"},
    "ConTree": {"package": "contree"},
    "STreeD": {"package": "streed", "objective": "accuracy"},
    "STreeD, bayes": {"package": "streed", "objective": "bayes", "classes": 2},
}
# STreeD takes 0/1 columns: all thresholds, or as many of a column as its memory allows.
CAPS: list[int | None] = [None, 256, 64, 16]
ONE_PROOF = Path(__file__).with_name("one_proof.py")
ENDED_BY_TIMER = (-signal.SIGPROF, -signal.SIGALRM)
PATIENCE = 3600.0  # seconds, whatever the limits


def peers_python() -> str:
    """Return the interpreter of the peers."""
    folder = os.environ.get("MAPTREE_PEERS") or ONE_PROOF.parents[1] / ".venv-peers"
    return str(Path(folder) / "bin" / "python")


def proofs(file: Path, system: str, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Fit one depth after the other, until one is not proved."""
    settings = SYSTEMS[system] | {
        "file": str(file),
        "limit": options.limit,
        # They go by the clock: if limits do not, a timer of the process ends them.
        "peer_limit": options.limit * (20 if options.processor else 1),
        "by_processor": options.processor,
    }
    caps = iter(CAPS)
    settings["cap"] = next(caps)
    for depth in options.depths:
        row = one_proof(settings | {"depth": depth}, options)
        while row["outcome"] == "failed" and settings["package"] == "streed":
            cap = next(caps, None)
            if cap is None:
                break
            settings["cap"] = cap
            row = one_proof(settings | {"depth": depth}, options)
        yield {"depth": depth} | row
        if not row.get("proved"):
            return


def one_proof(settings: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    """Fit once in a process; ``outcome`` is "proved", "not proved" or "failed"."""
    python = sys.executable if settings["package"] == "maptree" else peers_python()
    memory = int(options.memory * 1e9)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    process = subprocess.Popen(
        [python, str(ONE_PROOF), json.dumps(settings)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | one_thread,
        preexec_fn=limited,
    )
    timer = threading.Timer(PATIENCE, process.kill)
    timer.start()
    try:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    except BaseException:
        process.kill()
        raise
    finally:
        timer.cancel()
    row: dict[str, Any] = {
        "process_processor_seconds": used.ru_utime + used.ru_stime,
        "resident_peak_bytes": used.ru_maxrss * 1024,
    }
    with contextlib.suppress(json.JSONDecodeError, IndexError):
        row |= json.loads(printed.splitlines()[-1])
    out_of_time = process.returncode in ENDED_BY_TIMER
    if row.get("proved"):
        # A system that looks at the clock too rarely proves after the limit: not within it.
        key = "processor_seconds" if options.processor else "seconds"
        row["proved"] = row[key] <= options.limit
    row["outcome"] = (
        "proved" if row.get("proved") else "not proved" if "seconds" in row or out_of_time
        else "failed"
    )  # fmt: skip
    if row["outcome"] == "failed":
        row["exit_code"] = process.returncode
    return row


def measured(name: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    X, labels = raw_tables.load_numbers(name)
    classes, y = np.unique(labels, return_inverse=True)
    file = folder / f"{name}.npz"
    np.savez(file, X=X.to_numpy(), y=y.astype(np.int32))
    row: dict[str, Any] = {
        "set": name,
        "rows": X.shape[0],
        "columns": X.shape[1],
        "classes": len(classes),
        "thresholds": int((X.nunique() - 1).sum()),
        "proofs": {},
    }
    for system in options.systems:
        if len(classes) > SYSTEMS[system].get("classes", len(classes)):
            continue
        row["proofs"][system] = list(proofs(file, system, options))
        for proof in row["proofs"][system]:
            took = number(proof.get("processor_seconds"), 2)
            print(f"{name}, {system}, depth {proof['depth']}: {proof['outcome']}, {took} s",
                  file=sys.stderr, flush=True)  # fmt: skip
    file.unlink()
    return row


def at(row: dict[str, Any], system: str, depth: int) -> dict[str, Any]:
    found = [proof for proof in row["proofs"].get(system, []) if proof["depth"] == depth]
    return found[0] if found else {"outcome": "not tried"}


def cell(proof: dict[str, Any], key: str, limit: float) -> str:
    if proof["outcome"] == "proved":
        return number(proof[key], 3)
    if proof["outcome"] == "failed":
        return "failed"
    return f"> {limit:g}" if proof["outcome"] == "not proved" else NOTHING


def markdown(document: dict[str, Any]) -> str:
    """Return the report: a table per depth, then who is ahead."""
    rows, settings = document["rows"], document["settings"]
    limit, systems = settings["limit"], settings["systems"]
    parts = [
        "# Proofs over all thresholds",
        facts(document["environment"] | {"limit": f"{limit:g} s of {settings['limits by']}"}),
        _CAPTION,
    ]
    for depth in settings["depths"]:
        header = ["set", "rows", "columns", "thresholds"]
        for system in systems:
            header += [system, "clock"]
        header += ["final tree, tests", "columns", "STreeD's tests"]
        lines = []
        for row in rows:
            line = [row["set"], *(f"{row[key]:,}" for key in ("rows", "columns", "thresholds"))]
            for system in systems:
                proof = at(row, system, depth)
                line += [cell(proof, "processor_seconds", limit), cell(proof, "seconds", limit)]
            ours = (at(row, f"maptree, {prior}", depth) for prior in ("tests", "columns"))
            line += [number(proof.get("tree_seconds"), 3) for proof in ours]
            line.append(number(at(row, "STreeD", depth).get("tests"), 0))
            lines.append(line)
        parts += [f"## Depth {depth}", table(header, lines)]
    ahead = [line for depth in settings["depths"] for line in comparisons(rows, systems, depth)]
    parts += ["## Who is ahead", "\n".join(f"- {line}" for line in ahead)]
    return "\n\n".join(parts) + "\n"


_CAPTION = (
    "Processor seconds of the fit until the depth is proved, and seconds by the clock; encoding "
    "is part of it for maptree, but not for STreeD, which is given 0/1 columns. \"> 60\": not "
    "proved within the limit; a dash: not tried, because a smaller depth was not proved, "
    "or because the objective is for two classes only. The "
    "objectives differ, and so do the trees. *Final tree*: when the tree was found that the fit "
    "returns (by the clock, or by processor time if limits go by it)."
)  # fmt: skip


def comparisons(rows: list[dict[str, Any]], systems: list[str], depth: int) -> Iterator[str]:
    """Compare each of ours with each of theirs by processor seconds, where either has a proof."""
    ours = [system for system in systems if SYSTEMS[system]["package"] == "maptree"]
    for our in ours:
        for their in (system for system in systems if system not in ours):
            ahead, behind = 0, []
            for row in rows:
                mine, other = at(row, our, depth), at(row, their, depth)
                proved = [proof["outcome"] == "proved" for proof in (mine, other)]
                if not any(proved):
                    continue
                if all(proved):
                    won = mine["processor_seconds"] <= other["processor_seconds"]
                else:
                    won = proved[0]
                ahead += won
                if not won:
                    behind.append(row["set"])
            but = f"; behind on {', '.join(behind)}" if behind else ""
            yield f"depth {depth}, {our}: ahead of {their} on {ahead} of {ahead + len(behind)}{but}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each fit (60)")
    parser.add_argument("--sets", nargs="+", default=SETS, choices=list(raw_tables.TABLES),
                        metavar="NAME", help="tables of raw_tables.py")  # fmt: skip
    parser.add_argument("--depths", nargs="+", type=int, default=DEPTHS)
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--memory", type=float, default=6.0, help="GB for each process (6)")
    parser.add_argument("--processor", action="store_true",
                        help="limits go by processor time, for a busy machine")  # fmt: skip
    parser.add_argument("--out", help="output path without .json (bench/results/thresholds)")
    options = parser.parse_args()
    if not Path(peers_python()).exists():
        parser.error("the environment of the peers is not installed: make peers")
    out = output(options.out, "thresholds")
    document: dict[str, Any] = {
        "environment": environment(),
        "settings": {
            "limit": options.limit,
            "limits by": "processor time" if options.processor else "the clock",
            "memory GB": options.memory,
            "depths": options.depths,
            "systems": options.systems,
        },
        "sets": len(options.sets),
        "rows": [],
    }
    with until_interrupted(), tempfile.TemporaryDirectory() as folder:
        for name in options.sets:
            document["rows"].append(measured(name, Path(folder), options))
            write_report(out, document, markdown(document))
    return 0 if finish(out, document, markdown) else 130


if __name__ == "__main__":
    sys.exit(main())
