"""What is proved about a fitted tree: its log posterior, and how much better any tree could be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

# What ended a search that did not prove its tree. These words and the sentences of ``Certificate``
# are the only ones for it; other modules combine them.
STOPPED_BY = {
    "time_limit": "the time limit",
    "memory_limit": "the memory limit",
    "class_limit": "the number of classes",
    "expansion_limit": "the limit on expansions",
    "interrupted": "an interruption",
}
STATUSES = ("optimal", *STOPPED_BY)


@dataclass(frozen=True)
class Certificate:
    """The outcome of a search, in numbers.

    It is about trees over the binary tests that the search was given, within ``max_depth`` and
    ``min_samples_leaf`` if those were set. The bounds are computed in fixed-point arithmetic
    (multiples of 2**-32 nats), in which they hold exactly, so "optimal" does not rest on
    floating-point equality. It rests on one assumption: no two sets of rows that the search meets
    share a 127-bit key. Keys are drawn from a cryptographic hash of the whole table, so nobody can
    choose rows by their keys; the probability that any two sets share one is at most
    (number of subproblems)**2 / 2**127. Where a set is recognised by its key, its weight and a
    32-bit digest of its class counts and its number of distinct rows are compared, and a
    difference is an error.

    Attributes
    ----------
    status : str
        Why the search ended: ``optimal``, ``time_limit``, ``memory_limit``, ``expansion_limit``
        or ``interrupted``; ``class_limit`` if no memory limit was set, but larger trees would take
        more than 128 MiB, because every node holds a count of each class.
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
        Work done: node expansions, and distinct subproblems reached.
    seconds : float
        Time from the start of ``fit`` to the end of the search.
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
            stopped = " ".join(
                filter(None, (f"Stopped by {STOPPED_BY[self.status]}.", self.advice))
            )
            lines = [self.bounds, f"{stopped} {self.proved_to_depth}".rstrip()]
        return "\n".join([*lines, self.work])

    def _repr_html_(self) -> str:
        """Return the same for a notebook: what is proved in bold, then the rest."""
        first, *rest = str(self).split("\n")
        lines = [f"<p><b>{escape(first)}</b></p>", *(f"<p>{escape(line)}</p>" for line in rest)]
        return f"<div>{''.join(lines)}</div>"

    @property
    def bounds(self) -> str:
        """The log posterior, its upper bound, and the gap."""
        return (
            f"Log posterior {self.log_posterior:.4f}; no tree exceeds "
            f"{self.log_posterior_bound:.4f} (gap {gap_text(self.gap, 4)} nats)."
        )

    @property
    def advice(self) -> str:
        """What to do where no limit of the user's stopped the search; empty otherwise."""
        if self.status != "class_limit":
            return ""
        return (
            "Every node of a tree holds a count of each class, and larger trees would take more "
            "than 128 MiB: merge classes."
        )

    @property
    def proved_to_depth(self) -> str:
        """What is proved about trees of a limited depth; empty if only about the single leaf."""
        if math.isinf(self.proved_depth):
            return "No tree of any depth is more probable."
        if self.proved_depth < 1:
            return ""
        return f"No tree of depth {self.proved_depth:.0f} or less is more probable."

    @property
    def work(self) -> str:
        """The work that the search took."""
        expansions = "expansion" if self.expansions == 1 else "expansions"
        subproblems = "subproblem" if self.subproblems == 1 else "subproblems"
        return (
            f"{self.seconds:.2f} s, {self.expansions:,} {expansions}, "
            f"{self.subproblems:,} {subproblems}, {self.peak_bytes / 1e6:.1f} MB."
        )


def gap_text(gap: float, digits: int) -> str:
    """Write a gap, with enough digits that it does not read 0 unless it is.

    >>> gap_text(12.34, 1), gap_text(0.0004, 1), gap_text(0.0, 1), gap_text(1e-9, 4)
    ('12.3', '0.0004', '0.0', '1e-09')
    """
    texts = [f"{gap:,.{d}f}" for d in range(digits, 7)]
    return texts[0] if gap == 0 else next((t for t in texts if t.strip("0.,")), f"{gap:.0g}")
