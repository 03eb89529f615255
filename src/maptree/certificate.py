"""What is known about a fitted tree: how probable it is, and how much better any tree could be."""

from __future__ import annotations

import math
from dataclasses import dataclass

_STOPPED = {
    "time_limit": "the time limit",
    "memory_limit": "the memory limit",
    "expansion_limit": "max_expansions",
    "interrupted": "an interruption",
}
STATUSES = ("optimal", *_STOPPED)


@dataclass(frozen=True)
class Certificate:
    """The outcome of a search, in numbers.

    It speaks about trees over the binary tests that the search was given, within ``max_depth``
    and ``min_samples_leaf`` where those were set. The bounds are computed in fixed-point
    arithmetic (multiples of 2**-32 nats) in which they hold exactly, so "optimal" does not rest on
    floating-point equality. It rests on one assumption: no two sets of rows share a random
    128-bit key, which has a chance of about (number of subproblems)**2 / 2**129.

    Attributes
    ----------
    status : str
        Why the search ended: ``optimal``, ``time_limit``, ``memory_limit``, ``expansion_limit``
        or ``interrupted``.
    optimal : bool
        True if no tree is more probable than this one.
    log_posterior : float
        Unnormalised log P(tree, labels | table), in nats.
    log_posterior_bound : float
        No tree has a log posterior above this.
    gap : float
        ``log_posterior_bound - log_posterior``, never negative; 0 when optimal.
    proved_depth : float
        The largest D for which it was proved that no tree of depth at most D is more probable
        than this one; ``math.inf`` when optimal.
    expansions, subproblems : int
        Work done: nodes expanded, and distinct subproblems met.
    seconds : float
        Time from the beginning of ``fit`` to the end of the search.
    peak_bytes : int
        The most memory held at once for the packed table and the search.

    Examples
    --------
    >>> certificate = Certificate(
    ...     status="time_limit", optimal=False, log_posterior=-120.5, log_posterior_bound=-118.0,
    ...     gap=2.5, proved_depth=3, expansions=900, subproblems=4000, seconds=1.0,
    ...     peak_bytes=10**6)
    >>> print(certificate)
    Log posterior -120.5000; no tree exceeds -118.0000 (gap 2.5000 nats).
    Stopped by the time limit. No tree of depth 3 or less is more probable.
    1.00 s, 900 expansions, 4,000 subproblems, 1.0 MB.
    """

    status: str
    optimal: bool
    log_posterior: float
    log_posterior_bound: float
    gap: float
    proved_depth: float
    expansions: int
    subproblems: int
    seconds: float
    peak_bytes: int

    def __str__(self) -> str:
        if self.optimal:
            lines = [f"Log posterior {self.log_posterior:.4f}: proved, no tree is more probable."]
        else:
            lines = [
                f"Log posterior {self.log_posterior:.4f}; no tree exceeds "
                f"{self.log_posterior_bound:.4f} (gap {self.gap:.4f} nats).",
                f"Stopped by {_STOPPED[self.status]}. {self._depth_sentence()}",
            ]
        lines.append(
            f"{self.seconds:.2f} s, {self.expansions:,} expansions, "
            f"{self.subproblems:,} subproblems, {self.peak_bytes / 1e6:.1f} MB."
        )
        return "\n".join(lines)

    def _depth_sentence(self) -> str:
        if math.isinf(self.proved_depth):
            return "No tree of any depth is more probable."
        return f"No tree of depth {self.proved_depth:.0f} or less is more probable."
