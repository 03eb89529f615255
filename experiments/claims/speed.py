"""Claims on speed: faster than the samplers on 12 of 16 sets, proofs on 5 of 16."""

from __future__ import annotations

from typing import NamedTuple

from experiments.claims.claim import FAILS, HOLDS, OPEN, Claim, no_rows
from experiments.curves import TOLERANCE, Point, curve, long_run, sets_of, trace_reaches
from experiments.markdown import number, seconds, table
from experiments.results import Results, Rows
from experiments.settings import SAMPLERS, SEARCHES

NAMES = {"maptree": "MAPTree", "maptree-paper": "MAPTree in paper mode"}
SETS = 16
FASTER_ON = 12
PROVED_ON = 5
LEAST_RUN = 60  # seconds; the claims are about runs of a minute at least

FASTER_RULE = (
    "For each set and sampler, take the setting with the best mean log posterior over the seeds "
    "(of equal ones the shortest), and the median of its seconds. The search is faster if one of "
    "its runs ended sooner with a tree at least as probable: whole runs on both sides, as in the "
    "paper. The claim holds if the search is faster than both samplers on 12 of 16 sets. As a "
    "remark, traces on both sides: when the search's run by time had a tree as probable as that "
    "mean, and when the sampler had its best tree (mean over the seeds of that setting)."
)
PROOF_RULE = (
    "The search's run by time ends with status `optimal`: no tree is more probable. The seconds "
    "are those of that run, as in the figure and in the table of certificates. On 5 of 16 sets."
)


class Race(NamedTuple):
    """A search against a sampler on a set."""

    value: float | None = None  # the sampler's best mean
    sampler: float | None = None  # median seconds of its runs
    sampler_tree: float | None = None  # mean seconds until they had their best trees
    run: float | None = None  # seconds of the shortest run of the search that is as good
    tree: float | None = None  # seconds until the search's run by time had such a tree

    @property
    def faster(self) -> bool:
        return None not in (self.sampler, self.run) and self.run < self.sampler

    @property
    def sooner(self) -> bool:
        return None not in (self.sampler_tree, self.tree) and self.tree < self.sampler_tree


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
        return Race()
    top = max(point.value.value for point in theirs)
    best = min(_as_good(theirs, top), key=lambda point: point.median_seconds)
    run = long_run(rows, search, name)
    return Race(
        value=top,
        sampler=best.median_seconds,
        sampler_tree=best.tree_seconds,
        run=min((point.median_seconds for point in _as_good(ours, top)), default=None),
        tree=None if run is None else trace_reaches(run, top),
    )


def _as_good(points: list[Point], value: float) -> list[Point]:
    return [point for point in points if point.value.value >= value - TOLERANCE]


def _faster(results: Results, rows: Rows, search: str, words: str) -> Claim:
    names = sets_of(rows)
    races = {name: {s: race(rows, search, s, name) for s in SAMPLERS} for name in names}
    both = [n for n in names if all(r.faster for r in races[n].values())]
    sooner = [n for n in names if all(r.sooner for r in races[n].values())]
    verdict, why = _verdict(results, len(names), len(both), FASTER_ON)
    slower = [name for name in names if name not in both]
    but = f" (not: {', '.join(slower)})" if both and slower else ""
    header = ["set"]
    for label, _ in SAMPLERS.values():
        header += [f"{label}: best mean", "its run, s", "search's run, s"]
        header += ["its tree, s", "search's tree, s"]
    header += ["faster than both", "sooner than both, by traces"]
    lines = []
    for name in names:
        line = [name]
        for one in races[name].values():
            times = (one.sampler, one.run, one.sampler_tree, one.tree)
            line += [number(one.value, 3), *map(seconds, times)]
        lines.append([*line, _yes(name in both), _yes(name in sooner)])
    return Claim(
        title=f"{NAMES[search]} is {words}",
        verdict=verdict,
        finding=(
            f"Faster than both on {len(both)} of {len(names)} sets{but}. By traces on both sides "
            f"its tree is there sooner than both samplers' on {len(sooner)}.{why}"
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
            f"Proved on {len(proved)} of {len(names)} sets by the run of "
            f"{results.budget.long_run:g} s{f' ({listed})' if listed else ''}.{why}"
        ),
        rule=PROOF_RULE,
        detail=table(["set", "status", "s to proof", "gap, nats"], lines, words=2),
    )
