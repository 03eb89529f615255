"""``Comparison``: two fitted trees next to each other, and what the second costs, in words."""

from __future__ import annotations

from dataclasses import dataclass

from maptree.words.html_parts import fragment, paragraphs, table
from maptree.words.nats import FAR, NAT, gap_text, is_useful, times_text
from maptree.words.numbers import probability_texts
from maptree.words.values import count

EQUAL = 1e-6  # nats: log posteriors are equal up to the rounding of floats
_MOST = 10  # columns in a list


@dataclass(frozen=True)
class ComparedTree:
    """One of two trees.

    Attributes
    ----------
    name : str
        What it is called: "first" and "second", or the names of two files.
    leaves, depth : int
        The size of the tree.
    only : tuple of str
        Columns that it tests and the other does not.
    proved : str
        What its certificate states, in a few words; empty if it has none.
    log_posterior : float or None
        In nats, on the scale of the first; None if the two cannot be put on one scale.
    log_loss, accuracy : float or None
        On the rows that both were scored on; None if there were none.
    """

    name: str
    leaves: int
    depth: int
    only: tuple[str, ...]
    proved: str
    log_posterior: float | None = None
    log_loss: float | None = None
    accuracy: float | None = None


@dataclass(frozen=True)
class Difference:
    """A mean over rows, the second minus the first, and its standard error.

    The error is None where the rows are not at hand, as for scores that a model file holds.
    """

    mean: float
    standard_error: float | None = None


@dataclass(frozen=True)
class Comparison:
    """Two fitted trees next to each other, and what the second costs.

    Attributes
    ----------
    model, other : ComparedTree
        The first and the second.
    wishes : tuple of str
        What was asked of the second and not of the first, such as "without a test of postcode".
    same_tree : bool
        Whether both are the same tree.
    scale : str
        How the log posteriors came to be on one scale; empty if they are not.
    obstacle : str
        Why they are not; empty if they are.
    cost : float or None
        By how many nats the second tree is less probable than the first; negative if it is more
        probable. None if they are not on one scale.
    cost_bounds : (float, float) or None
        The same for the best tree of the second kind and the best of the first, as far as both
        certificates prove it: at least, and at most. None if they prove nothing about it, or if
        both searches considered the same trees.
    log_loss, accuracy : Difference or None
        On the same rows; None if there are none.
    scored_on : str
        Which rows these are: "held-out", "training", or empty if it is not known.
    notes : tuple of str
        What else is to be known.
    """

    model: ComparedTree
    other: ComparedTree
    wishes: tuple[str, ...]
    same_tree: bool
    scale: str
    obstacle: str
    cost: float | None = None
    cost_bounds: tuple[float, float] | None = None
    log_loss: Difference | None = None
    accuracy: Difference | None = None
    scored_on: str = ""
    notes: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """What the second tree costs, in one sentence."""
        subject = " and ".join(self.wishes) or f"the {self.other.name} tree"
        if subject.startswith(("of ", "whose ")):
            subject = f"a tree {subject}"
        parts = ["the same tree"] if self.same_tree else []
        if self.cost is not None and not self.same_tree:
            parts.append(odds_words(self.cost))
        scored = self.other.log_loss, self.model.log_loss
        if scored[0] is not None and scored[1] is not None:
            theirs, mine = probability_texts((scored[0], scored[1]), 3)
            if theirs != mine or not self.same_tree:  # those of a cross-validation may differ
                parts.append(f"{self.scored_on} log loss {theirs} instead of {mine}".lstrip())
        if not parts:
            parts = [f"{self.other.leaves:,} leaves instead of {self.model.leaves:,}"]
        return f"{subject[0].upper()}{subject[1:]}: {'; '.join(parts)}."

    @property
    def proof(self) -> str:
        """What is proved about the best trees of both kinds; empty if nothing is."""
        if self.cost_bounds is None:
            return ""
        low, high = self.cost_bounds
        if high - low < EQUAL and abs(high) < EQUAL:
            return "Proved: the best trees of both kinds are equally probable."
        if high - low < EQUAL:
            return "Proved: the best trees of both kinds differ by exactly this."
        more, less = max(-low, 0.0), max(high, 0.0)
        if more > EQUAL and less > EQUAL:
            ends = [f"at most {_nats(more)} more"] * is_useful(more)
            ends += [f"at most {_nats(less)} less"] * is_useful(less)
        else:
            least, most = (low, high) if high > EQUAL else (-high, -low)
            ends = [f"at least {_nats(least)}"] * (least > EQUAL)
            ends += [f"at most {_nats(most)}"] * is_useful(most)
            if ends:
                ends[-1] += " less" if high > EQUAL else " more"
            else:
                ends = [f"not {'more' if high > EQUAL else 'less'}"]
        if not ends:
            return "No useful bound yet on the difference between the best trees of both kinds."
        best = "the best tree of the second kind is"
        return f"Proved: {best} {' and '.join(ends)} probable than that of the first."

    def __str__(self) -> str:
        return "\n".join([self.summary, "", *self._table(), "", *self._sentences()]).rstrip()

    def _repr_html_(self) -> str:
        """Return the same for a notebook: the sentence in bold, then a table."""
        return fragment(
            paragraphs([self.summary], "headline"),
            table(self._cells(), "The two trees"),
            paragraphs(self._sentences()),
        )

    def _cells(self) -> list[tuple[str, ...]]:
        both = (self.model, self.other)
        rows = [
            ("", *(tree.name for tree in both)),
            ("leaves", *(f"{tree.leaves:,}" for tree in both)),
            ("depth", *(f"{tree.depth:,}" for tree in both)),
        ]
        if self.cost is not None:
            rows.append(("log posterior", *(f"{tree.log_posterior:.4f}" for tree in both)))
        for name in ("log_loss", "accuracy"):
            values = [getattr(tree, name) for tree in both]
            if None not in values:
                rows.append((name.replace("_", " "), *probability_texts(values, 3)))
        return rows

    def _table(self) -> list[str]:
        rows = self._cells()
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        return [
            f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}".rstrip()
            for row in rows
        ]

    def _sentences(self) -> list[str]:
        lines = [
            f"Only the {tree.name} tree tests {_listed(tree.only)}."
            for tree in (self.model, self.other)
            if tree.only
        ]
        if self.scale:
            lines.append(f"Log posteriors on one scale: {self.scale}. {NAT}")
        if self.obstacle:
            lines.append(f"The log posteriors are not on one scale: {self.obstacle}.")
        if self.proof:
            lines.append(self.proof)
        lines += [
            f"{tree.name.capitalize()} tree. {tree.proved}."
            for tree in (self.model, self.other)
            if tree.proved
        ]
        for name, found in (("log loss", self.log_loss), ("accuracy", self.accuracy)):
            if found is not None and found.standard_error is not None and not self.same_tree:
                lines.append(
                    f"Difference of {name}: {found.mean:+.4f}, standard error "
                    f"{found.standard_error:.4f}."
                )
        return [*lines, *self.notes]


def odds_words(cost: float) -> str:
    """Return how much less probable a tree is than another, given the difference in nats.

    >>> odds_words(3.2), odds_words(-0.4), odds_words(0.0)
    ('3.2 nats, 25 times less probable', '0.4 nats, 1.49 times more probable', 'as probable')
    >>> odds_words(20.0), odds_words(3681.0)  # doctest: +NORMALIZE_WHITESPACE
    ('20.0 nats, more than a million times less probable',
     'more than a million times less probable')
    """
    if abs(cost) < EQUAL:
        return "as probable"
    times = f"{times_text(abs(cost))} times {'less' if cost > 0 else 'more'} probable"
    return times if abs(cost) >= FAR else f"{_nats(abs(cost))}, {times}"


def _nats(amount: float) -> str:
    return f"{gap_text(amount, 1)} nats"


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - _MOST
    return ", ".join(names[:_MOST]) + (f" and {count(more, 'more column')}" if more > 0 else "")
