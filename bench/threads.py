"""Compare numbers of threads: seconds to the proof, or to the same lower bound without one.

    python bench/threads.py --sets vote lymph --limit 10 --rounds 5

The numbers take turns, each fit in a separate process, so that a temporary slowdown of the machine
affects both. README.md in this folder explains the table.
"""

from __future__ import annotations

import argparse
import sys
from statistics import median
from typing import Any

import sets
from marks import seconds_to_bound
from measure import Settings, measure
from report import (
    environment,
    facts,
    finish,
    megabytes,
    name_of,
    number,
    output,
    table,
    until_interrupted,
    write,
)

Run = dict[str, Any]

_CAPTION = (
    "Medians, in the order of the title. Seconds: to the proof where every run "
    "proved the tree; elsewhere to the lower bound that both reached, the smaller of the two "
    "medians at the limit. They are wall-clock time from the beginning of `fit`. Ratio: of the "
    "seconds, above 1 where the second is faster. Busy: processor seconds for each second of "
    "`fit`. MB: by how much the process grew, in millions of bytes."
)


def main() -> int:
    options = _read_options()
    names, jobs = options.sets, options.jobs
    document: dict[str, Any] = {
        "environment": environment(),
        "settings": {"limit": options.limit, "rounds": options.rounds, "jobs": jobs},
        "sets": len(names),
        "rows": [],
    }
    rows = document["rows"]
    with until_interrupted():
        for name in names:
            runs: dict[int, list[Run]] = {n: [] for n in jobs}
            for turn in range(options.rounds):
                for n in jobs if turn % 2 == 0 else jobs[::-1]:
                    runs[n].append(measure(name, Settings(options.limit, jobs=n)))
                print(f"{name}: round {turn + 1} of {options.rounds}", file=sys.stderr, flush=True)
            rows.append(compare(name, runs[jobs[0]], runs[jobs[1]], options.limit))
            write(options.out, document, markdown(document))
    if not finish(options.out, document, markdown):
        return 130
    return 1 if any(row["failed"] for row in rows) else 0


def compare(name: str, few: list[Run], many: list[Run], limit: float) -> dict[str, Any]:
    """Return the medians of two numbers of threads on one set, and the ratio of their seconds."""
    failed = [run["outcome"] for run in few + many if run["outcome"] != "measured"]
    row: dict[str, Any] = {"set": name, "failed": failed, "until": None, "ratio": None}
    if failed:
        return row
    sides = {"few": few, "many": many}
    if all(run["status"] == "optimal" for run in few + many):
        row["until"] = "proof"
        taken = {side: [run["seconds"] for run in runs] for side, runs in sides.items()}
    else:
        target = min(median(_last_bound(run) for run in runs) for runs in sides.values())
        row["until"] = target
        taken = {
            side: [_seconds_to(run, target, limit) for run in runs] for side, runs in sides.items()
        }
    for side, runs in sides.items():
        row[side] = {
            "seconds": median(taken[side]),
            "proofs": sum(run["status"] == "optimal" for run in runs),
            "cost": median(run["cost"] for run in runs),
            "lower_bound": median(run["lower_bound"] for run in runs),
            "expansions_per_second": median(run["expansions_per_second"] for run in runs),
            "busy": median(run["cpu_seconds"] / run["fit_seconds"] for run in runs),
            "resident_growth_bytes": _median_of_known(run["resident_growth_bytes"] for run in runs),
            "runs": [{k: v for k, v in run.items() if k not in _LONG} for run in runs],
        }
    row["ratio"] = row["few"]["seconds"] / row["many"]["seconds"]
    return row


_LONG = ("trace", "marks")


def _last_bound(run: Run) -> float:
    return float(run["trace"]["lower_bound"][-1])


def _seconds_to(run: Run, target: float, limit: float) -> float:
    """When a run reached a bound; if it did not, the time limit, which is a lower bound."""
    reached = seconds_to_bound(run["trace"]["seconds"], run["trace"]["lower_bound"], target)
    return limit if reached is None else reached


def _median_of_known(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def markdown(document: dict[str, Any]) -> str:
    """Return the whole report."""
    settings, rows = document["settings"], document["rows"]
    few, many = settings["jobs"]
    header = ["set", "until", "s", "ratio", "bound", "cost", "proofs", "expansions/s", "busy", "MB"]
    lines = [_line(row, settings["rounds"], len(header)) for row in rows]
    unfinished = document["sets"] - len(rows)
    parts = [
        f"# maptree, {few} and {many} threads, {settings['limit']:g} s",
        f"Not finished: {unfinished} of {document['sets']} sets are missing." if unfinished else "",
        facts(document["environment"]),
        f"Settings: limit {settings['limit']:g} s, {settings['rounds']} rounds.",
        _CAPTION,
        table(header, lines),
    ]
    ratios = [row["ratio"] for row in rows if row["ratio"] is not None]
    if ratios:
        parts.append(f"Median ratio: {median(ratios):.2f} over {len(ratios)} sets.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _line(row: dict[str, Any], rounds: int, width: int) -> list[str]:
    if row["failed"]:
        line = [row["set"], row["failed"][0]]
        return line + [number(None)] * (width - len(line))
    few, many = row["few"], row["many"]

    def both(what: str, decimals: int) -> str:
        return " / ".join(number(side[what], decimals) for side in (few, many))

    return [
        row["set"],
        "proof" if row["until"] == "proof" else f"bound {row['until']:.2f}",
        both("seconds", 3),
        number(row["ratio"], 2),
        both("lower_bound", 2),
        both("cost", 4),
        f"{few['proofs']} / {many['proofs']} of {rounds}",
        both("expansions_per_second", 0),
        both("busy", 2),
        " / ".join(megabytes(side["resident_growth_bytes"]) for side in (few, many)),
    ]


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--sets", nargs="+", metavar="NAME", help="sets to measure (all that are found)"
    )
    parser.add_argument(
        "--limit", type=float, default=10.0, help="time limit per fit in seconds (10)"
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="fits per set and number of threads (5)"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        nargs=2,
        default=[1, 2],
        metavar="N",
        help="the two numbers of threads to compare (1 2)",
    )
    parser.add_argument("--out", help="output path without .json (bench/results/SETTINGS)")
    options = parser.parse_args()
    compared = f"{options.jobs[0]}v{options.jobs[1]}"
    options.out = output(
        options.out, "threads-" + name_of(options.limit, options.sets, jobs=compared)
    )
    try:
        if options.limit <= 0 or options.rounds <= 0 or options.jobs[0] == options.jobs[1]:
            raise ValueError(
                "--limit and --rounds must be above 0, and --jobs two different numbers"
            )
        options.sets = sets.choose(options.sets)
    except ValueError as error:
        parser.error(str(error))
    return options


if __name__ == "__main__":
    sys.exit(main())
