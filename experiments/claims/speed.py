"""Claims on speed: faster than the samplers on 12 of 16 sets, proofs on 5 of 16."""

from __future__ import annotations

import math
from typing import NamedTuple

from experiments.claims.claim import FAILS, HOLDS, OPEN, PARTLY, Claim, no_rows
from experiments.curves import TOLERANCE, Point, curve, long_run, search_reaches, sets_of
from experiments.markdown import number, seconds, table
from experiments.results import Results, Rows
from experiments.settings import SAMPLERS, SEARCHES

NAMES = {"maptree": "MAPTree", "maptree-paper": "MAPTree in paper mode"}
SETS = 16
FASTER_ON = 12
PROVED_ON = 5
LEAST_RUN = 60  # seconds; the claims are about runs of a minute at least

FASTER_RULE = (
    "For each set and sampler, take the setting with the best mean log posterior over the seeds, "
    "and its mean seconds. The search is *faster* if one of its runs ended sooner with a tree at "
    "least as probable: whole runs, as in the paper. Beside it stands when the search had such a "
    "tree by its trace. It is *ahead* if from the end of its shortest run on it is never behind "
    "the sampler at the same time, and ends at least as good; what a sampler has before that time "
    "does not count. The claim holds if the search is faster than both samplers on 12 of 16 sets; "
    "in part, if it is ahead of both on 12."
)
PROOF_RULE = "The search ends with status `optimal`: no tree is more probable. On 5 of 16 sets."


class Race(NamedTuple):
    """A search against a sampler on a set."""

    value: float | None  # the sampler's best mean
    sampler: float | None  # its seconds
    run: float | None  # seconds of the shortest run of the search that is as good
    trace: float | None  # seconds until the search had such a tree
    ahead: bool  # from its first tree on

    @property
    def faster(self) -> bool:
        return None not in (self.sampler, self.run) and self.run < self.sampler

    @property
    def faster_by_trace(self) -> bool:
        return None not in (self.sampler, self.trace) and self.trace < self.sampler


def claims(results: Results) -> list[Claim]:
    """Return the claims, as built and in paper mode."""
    rows = results.of("speed")
    faster = "faster than SMC and MCMC on 12 of 16 sets"
    proofs = "finds and proves the most probable tree on 5 of 16 sets"
    if not rows:
        return [
            no_rows(f"MAPTree is {faster}", FASTER_RULE, "speed"),
            no_rows(f"MAPTree {proofs}", PROOF_RULE, "speed"),
        ]
    made = [_faster(results, rows, system, faster) for system in SEARCHES]
    return made + [_proofs(results, rows, system, proofs) for system in SEARCHES]


def _verdict(results: Results, sets: int, count: int, needed: int) -> tuple[str, str]:
    """Judge a count, or say why it cannot be judged."""
    why = []
    if sets < SETS:
        why.append(f"only {sets} of {SETS} sets were run")
    if results.budget.long_run < LEAST_RUN:
        why.append(f"runs are of {results.budget.long_run:g} s, not {LEAST_RUN} s")
    if why:
        return OPEN, f" Not judged: {' and '.join(why)}."
    return (HOLDS if count >= needed else FAILS), ""


def race(rows: Rows, search: str, sampler: str, name: str) -> Race:
    """Compare a search with a sampler's best setting."""
    theirs = [point for point in curve(rows, sampler, name) if point.value is not None]
    ours = [point for point in curve(rows, search, name) if point.value is not None]
    if not theirs or not ours:
        return Race(None, None, None, None, ahead=False)
    top = max(point.value.value for point in theirs)
    return Race(
        value=top,
        sampler=_first(theirs, top),
        run=_first(ours, top),
        trace=search_reaches(rows, search, name, top),
        ahead=_ahead(ours, theirs),
    )


def _first(points: list[Point], value: float) -> float | None:
    """Return the seconds of the shortest runs that are as good as this."""
    times = [point.seconds for point in points if point.value.value >= value - TOLERANCE]
    return min(times, default=None)


def _ahead(ours: list[Point], theirs: list[Point]) -> bool:
    start = min(point.seconds for point in ours)
    for point in theirs:
        # What the sampler has before our first tree is compared with our last.
        until = point.seconds if point.seconds >= start else math.inf
        best = max(mine.value.value for mine in ours if mine.seconds <= until)
        if best < point.value.value - TOLERANCE:
            return False
    return max(mine.value.value for mine in ours) >= max(p.value.value for p in theirs) - TOLERANCE


def _faster(results: Results, rows: Rows, search: str, words: str) -> Claim:
    names = sets_of(rows)
    races = {name: {s: race(rows, search, s, name) for s in SAMPLERS} for name in names}
    both = [n for n in names if all(r.faster for r in races[n].values())]
    by_trace = [n for n in names if all(r.faster_by_trace for r in races[n].values())]
    ahead = [n for n in names if all(r.ahead for r in races[n].values())]
    verdict, why = _verdict(results, len(names), len(both), FASTER_ON)
    if verdict == FAILS and len(ahead) >= FASTER_ON:
        verdict = PARTLY
    slower = [name for name in names if name not in both]
    but = f" (not: {', '.join(slower)})" if both and slower else ""
    header = ["set"]
    for label, _ in SAMPLERS.values():
        header += [f"{label}: best mean", "its s", "search: run, s", "trace, s"]
    header += ["faster than both", "ahead of both"]
    lines = []
    for name in names:
        line = [name]
        for one in races[name].values():
            line += [number(one.value, 3), *map(seconds, (one.sampler, one.run, one.trace))]
        lines.append([*line, _yes(name in both), _yes(name in ahead)])
    return Claim(
        title=f"{NAMES[search]} is {words}",
        verdict=verdict,
        finding=(
            f"Faster than both on {len(both)} of {len(names)} sets{but}, by its trace on "
            f"{len(by_trace)}; ahead of both from its first tree on, on {len(ahead)}.{why}"
        ),
        rule=FASTER_RULE,
        detail=table(header, lines),
    )


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _proofs(results: Results, rows: Rows, search: str, words: str) -> Claim:
    names = sets_of(rows)
    proved = {}
    lines = []
    for name in names:
        run = long_run(rows, search, name)
        if run is None:
            lines.append([name, "no result", "-", "-"])
            continue
        if run["status"] == "optimal":
            proved[name] = run["seconds"]
        gap = None if run["bound"] is None else max(0.0, run["bound"] - run["log_posterior"])
        status = str(run["status"]).replace("_", " ")
        lines.append([name, status, seconds(proved.get(name)), number(gap, 2)])
    verdict, why = _verdict(results, len(names), len(proved), PROVED_ON)
    listed = ", ".join(f"{name} {seconds(at)} s" for name, at in proved.items())
    return Claim(
        title=f"{NAMES[search]} {words}",
        verdict=verdict,
        finding=(
            f"Proved on {len(proved)} of {len(names)} sets within {results.budget.long_run:g} s"
            f"{f' ({listed})' if listed else ''}.{why}"
        ),
        rule=PROOF_RULE,
        detail=table(["set", "status", "s to proof", "gap, nats"], lines, words=2),
    )
