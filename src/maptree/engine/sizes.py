"""The best trees of each number of leaves: found together, then proved one by one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from maptree import _core
from maptree.engine.interrupts import Noted
from maptree.engine.problem import Problem
from maptree.engine.progress import Progress, ProgressLine
from maptree.engine.search import Opened, Outcome
from maptree.parameters.budget import Budget

# Of the time for all of it, what the search for trees may take; the rest is for proofs.
_FOR_TREES = 1 / 3
# Of the search for trees where there is no limit of time: nothing else might end it within hours.
# Where there is one, all of it is used: on 300,000 rows trees keep getting better.
_PATIENCE = 4.0


def sweep_sizes(
    problem: Problem, budget: Budget, most: int, started: float, interrupt: Noted
) -> list[Outcome]:
    """Return the best trees found of 1 to ``most`` leaves, of which nothing is proved.

    Only sizes that are worth having: those whose tree is more probable than all smaller ones.
    """
    opened = Opened.of(problem, budget, started, interrupt)
    monitor = opened.monitor(None, None, interrupt)
    found = _sweep(opened, most, opened.seconds_left, monitor)
    seconds = time.perf_counter() - started
    return [opened.outcome(result, seconds, False) for result in _worth_having(found)]


def find_sizes(
    problem: Problem,
    budget: Budget,
    most: int,
    callback: Callable[[Progress], object] | None,
    line: ProgressLine | None,
    started: float,
    interrupt: Noted,
) -> list[Outcome]:
    """Return the best trees of 1 to ``most`` leaves, each with what is proved of trees as small.

    Proofs share what is left of the budget since ``started``. First come the sizes that the sweep
    found worth having, the smaller ones, whose proofs are the shorter ones, before the larger; and
    the largest, whose proof is about all. The others follow if there is time. An interrupt ends all
    searches, and what was found stays. Work and seconds of a certificate are those of the search
    that made it.
    """
    opened = Opened.of(problem, budget, started, interrupt)
    monitor = opened.monitor(callback, line, interrupt)
    known = _sweep(opened, most, opened.seconds_left * _FOR_TREES, monitor)
    claims = [_Claim(_leaves(tree), tree) for tree in known]
    worth = {_leaves(tree) for tree in _worth_having(known)} | {most}
    spent = 0
    for sizes in (sorted(worth), sorted(set(range(1, most + 1)) - worth)):
        for left, size in zip(range(len(sizes), 0, -1), sizes, strict=True):
            expansions = budget.expansions
            if expansions >= 0:
                expansions = max(0, budget.expansions - spent) // left
            if opened.seconds_left == 0 and len(claims) > len(known):
                break
            if any(claim.settles(size) for claim in claims):
                continue
            result = _core.search(
                opened.dataset,
                opened.problem.core_prior(),
                opened.options(size),
                opened.limits(opened.seconds_left / left, expansions),
                monitor,
                [one.result for one in claims if _leaves(one.result) <= size],
            )
            spent += result.expansions
            claims.append(_Claim(size, result))
            if result.status == "interrupted":
                break
        if claims[-1].result.status == "interrupted":
            break
    entries = _entries(claims)
    if line is not None:
        ended = time.perf_counter() - started
        proved = sum(entry.lower == entry.result.upper for entry in entries)
        line.close(f"{ended:6.1f} s | {proved} of {len(entries)} sizes proved")
    stopped = monitor.stopped_by_callback
    return [
        _bounded(
            opened.outcome(entry.result, entry.result.seconds, stopped),
            0.0 - entry.lower - problem.constant,
        )
        for entry in entries
    ]


@dataclass(frozen=True)
class _Claim:
    """A search of trees of at most ``leaves`` leaves: its tree, and that none of these is cheaper
    than its lower bound."""

    leaves: int
    result: _core.Result

    def settles(self, size: int) -> bool:
        """Whether its tree is proved to be the cheapest of at most ``size`` leaves."""
        return self.result.status == "optimal" and _leaves(self.result) <= size <= self.leaves


@dataclass(frozen=True)
class _Entry:
    """A tree, and a lower bound on the cost of all trees of as many leaves or fewer."""

    result: _core.Result
    lower: float


def _entries(claims: list[_Claim]) -> list[_Entry]:
    """Return the sizes that are worth having: of each the cheapest tree and the best bound.

    A claim about trees of at most k leaves is one about those of fewer.
    """
    entries: list[_Entry] = []
    for size in sorted({_leaves(claim.result) for claim in claims}):
        # Of one tree, what the search of just this size says, or the last search that found it.
        best = min(
            (claim for claim in reversed(claims) if _leaves(claim.result) <= size),
            key=lambda claim: (claim.result.upper, claim.leaves != size),
        ).result
        if not entries or best.upper < entries[-1].result.upper:
            lower = max(claim.result.lower for claim in claims if claim.leaves >= size)
            entries.append(_Entry(best, min(lower, best.upper)))
    return entries


def _bounded(outcome: Outcome, bound: float) -> Outcome:
    """Return an outcome with a bound that may be better than that of its own search."""
    certificate = outcome.certificate
    if bound >= certificate.log_posterior_bound:
        return outcome
    gap = max(0.0, bound - certificate.log_posterior)
    certificate = replace(certificate, log_posterior_bound=bound, gap=gap)
    if gap == 0:
        certificate = replace(certificate, status="optimal", optimal=True, proved_depth=math.inf)
    return replace(outcome, certificate=certificate)


def _sweep(
    opened: Opened, most: int, seconds: float, monitor: Callable[[_core.Progress], object]
) -> list[_core.Result]:
    return _core.sweep_sizes(
        opened.dataset,
        opened.problem.core_prior(),
        opened.options(most),
        opened.limits(seconds, -1, patience=_PATIENCE if math.isinf(seconds) else math.inf),
        monitor,
    )


def _leaves(result: _core.Result) -> int:
    return (len(result.feature) + 1) // 2


def _worth_having(results: list[_core.Result]) -> list[_core.Result]:
    kept: list[_core.Result] = []
    for result in results:
        if not kept or result.upper < kept[-1].upper:
            kept.append(result)
    return kept
