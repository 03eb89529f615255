"""The best trees of each size in a table: what is proved about them, and how well they predict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any

from maptree.trees.certificate import Certificate
from maptree.trees.fitted import FittedTree
from maptree.words.certificate import StatedCertificate, stated
from maptree.words.html_parts import fragment, paragraphs, table
from maptree.words.nats import NAT, gap_text, is_useful
from maptree.words.values import count

_WIDTH = 79
_OPEN = "open"  # a gap beyond what can be imagined
HEAD = ("leaves", "depth", "log posterior", "gap", "log loss", "accuracy", "")


@dataclass(frozen=True)
class Spread:
    """The mean of a score over folds, and its standard error."""

    mean: float
    error: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Summarise the scores of the folds.

        >>> Spread.of([0.2, 0.3, 0.4])
        Spread(mean=0.3, error=0.05773502691896258)
        """
        mean = math.fsum(values) / len(values)
        if len(values) < 2:
            return cls(mean, math.nan)
        squares = math.fsum((value - mean) ** 2 for value in values)
        return cls(mean, math.sqrt(squares / (len(values) - 1) / len(values)))


@dataclass(frozen=True, eq=False)
class SizeEntry:
    """The best tree of a size.

    Attributes
    ----------
    fitted : FittedTree
        The tree; its certificate is about all trees of at most as many leaves.
    log_loss, accuracy : Spread or None
        On held-out rows, of trees of at most as many leaves that were fitted without these rows;
        None without cross-validation.
    """

    fitted: FittedTree
    log_loss: Spread | None = None
    accuracy: Spread | None = None

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return self.fitted.tree.n_leaves

    @property
    def certificate(self) -> StatedCertificate:
        """What is proved about trees of at most this many leaves.

        Seconds and expansions are those of the search that proved it; what all sizes share,
        reading the table and finding trees to begin with, is only in ``seconds`` of the path.
        """
        certificate = stated(self.fitted)
        assert certificate is not None  # a search always has one
        return certificate


@dataclass(frozen=True, eq=False)
class SizePath:
    """The best tree of each size that is worth having, from one leaf on.

    A size is worth having if its tree is more probable than every smaller one.

    Attributes
    ----------
    entries : tuple of SizeEntry
        By number of leaves.
    elbow : int
        The smallest number of leaves whose held-out log loss is within one standard error of the
        least; without cross-validation, that of the most probable tree. ``mark`` says which.
    folds : int or None
        Of the cross-validation.
    max_leaf_nodes : int
        The largest size that was searched. A path may end before it: then no larger tree that was
        found is more probable.
    seconds : float
        For all sizes, cross-validation apart.
    parameters : dict
        Of the estimator, apart from ``callback``: the parameters of what ``choose_size`` makes.
    """

    entries: tuple[SizeEntry, ...]
    elbow: int
    folds: int | None
    max_leaf_nodes: int
    seconds: float
    parameters: Mapping[str, Any] = field(default_factory=dict, repr=False)
    training_table: Any = field(default=None, repr=False)  # references, which pickles leave out

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[SizeEntry]:
        return iter(self.entries)

    def __getitem__(self, leaves: int) -> SizeEntry:
        """Return the best tree of at most this many leaves."""
        if not 1 <= leaves <= self.max_leaf_nodes:
            raise KeyError(f"{leaves} leaves: the path is about 1 to {self.max_leaf_nodes}")
        return [entry for entry in self.entries if entry.leaves <= leaves][-1]

    def __str__(self) -> str:
        rows = [HEAD, *(self.row(entry) for entry in self.entries)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, *(fill(note, _WIDTH) for note in self.notes)])

    def _repr_html_(self) -> str:
        """Return the table for a notebook, with the elbow marked, and a picture of the path."""
        from maptree.words.size_path_svg import size_path_svg

        rows = [HEAD, *(self.row(entry) for entry in self.entries)]
        elbow = [i for i, entry in enumerate(self.entries, 1) if entry.leaves == self.elbow]
        shown = table(rows, "Trees by size", words=(), marked=elbow)
        return fragment(shown, size_path_svg(self), paragraphs(self.notes, "hint"))

    @property
    def mark(self) -> str:
        """What the size that ``elbow`` names is: "elbow", or "most probable"."""
        scored = any(entry.log_loss is not None for entry in self.entries)
        return "elbow" if scored else "most probable"

    @property
    def notes(self) -> list[str]:
        """What the columns of the table mean, in sentences."""
        proved = [entry.leaves for entry in self.entries if entry.certificate.optimal]
        if len(proved) == len(self.entries):
            first = "Every tree is proved to be the most probable of its size or smaller."
        else:
            first = (
                f"Proved to be the most probable of their size or smaller: {len(proved)} of "
                f"{count(len(self.entries), 'tree')}. Of the others, no tree as small is more "
                f"probable by more than the gap, in nats. {NAT}"
            )
        notes = [first]
        if any(not is_useful(entry.certificate.gap) for entry in self.entries):
            notes.append(
                f"{_OPEN}: no useful bound yet. That is about the proof, and does not mean that "
                "the tree is bad."
            )
        if self.folds is not None:
            notes.append(
                f"Log loss and accuracy on held-out rows: mean and standard error of "
                f"{self.folds} folds. Elbow: the smallest size within one standard error of the "
                "least log loss."
            )
        return notes

    def row(self, entry: SizeEntry) -> tuple[str, ...]:
        """Return a row of the table, as text."""
        certificate = entry.certificate
        return (
            f"{entry.leaves:,}",
            f"{entry.fitted.tree.depth:,}",
            f"{certificate.log_posterior:.4f}",
            _gap(certificate),
            _spread(entry.log_loss),
            _spread(entry.accuracy),
            self.mark if entry.leaves == self.elbow else "",
        )


def find_elbow(entries: Sequence[SizeEntry]) -> int:
    """Return the size to choose."""
    losses = [(entry.leaves, entry.log_loss) for entry in entries if entry.log_loss is not None]
    if not losses:
        return entries[-1].leaves
    least = min((loss for _, loss in losses), key=lambda loss: loss.mean)
    slack = 0.0 if math.isnan(least.error) else least.error
    return next(leaves for leaves, loss in losses if loss.mean <= least.mean + slack)


def _gap(certificate: Certificate) -> str:
    if certificate.optimal:
        return "proved"
    return gap_text(certificate.gap, 1) if is_useful(certificate.gap) else _OPEN


def _spread(found: Spread | None) -> str:
    if found is None:
        return "-"
    error = "" if math.isnan(found.error) else f" +- {found.error:.3f}"
    return f"{found.mean:.3f}{error}"
