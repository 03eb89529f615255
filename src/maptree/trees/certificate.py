"""What is proved about a fitted tree: its log posterior, and how much better any tree could be."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

# A tree that was chosen among others, of which a more probable one is known.
ALTERNATIVE = "alternative"
STATUSES = (
    "optimal",
    "time_limit",
    "memory_limit",
    "class_limit",
    "expansion_limit",
    "patience",
    "interrupted",
    ALTERNATIVE,
)


@dataclass(frozen=True)
class Certificate:
    """The outcome of a search, in numbers.

    It is about trees over the binary tests that the search was given, within ``max_depth``,
    ``max_leaf_nodes``, ``min_samples_leaf``, ``first_columns`` and ``without_columns`` if those
    were set. The bounds are computed in fixed-point arithmetic (multiples of 2**-32 nats), in which
    they hold exactly, so "optimal" does not rest on floating-point equality. It rests on one
    assumption: no two sets of rows that the search meets share a 127-bit key. Keys are drawn from a
    cryptographic hash of the whole table, so nobody can choose rows by their keys; the probability
    that any two sets share one is at most (number of subproblems)**2 / 2**127. Where a set is
    recognised by its key, its weight and a 32-bit digest of its class counts and its number of
    distinct rows are compared, and a difference is an error.

    ``model.certificate_`` has it in words, too, which ``print`` shows: ``headline`` in a few, and
    ``sentences`` in full, a tuple.

    Attributes
    ----------
    status : str
        Why the search ended: ``optimal``, ``time_limit``, ``memory_limit``, ``expansion_limit``,
        ``patience`` or ``interrupted``; ``class_limit`` if no memory limit was set, but larger
        trees would take more than 128 MiB, because every node holds a count of each class;
        ``alternative`` if the tree was chosen among ``alternatives`` and is not the best.
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

    def numbers(self) -> dict[str, Any]:
        """Return the numbers alone, for JSON."""
        return {each.name: getattr(self, each.name) for each in fields(Certificate)}

    def of_a_better_tree(self, log_posterior: float) -> Certificate:
        """Return what is proved about another tree, if that is more probable; else this.

        What no tree exceeds does not depend on the tree that was found, and where no tree of a
        depth is more probable than one, none is more probable than a better one.
        """
        if log_posterior <= self.log_posterior:
            return self
        gap = max(0.0, self.log_posterior_bound - log_posterior)
        return replace(self, log_posterior=log_posterior, gap=gap)
