"""The most probable trees in order, next to each other, and what is proved about all others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import NamedTuple, overload

from maptree.trees.fitted import FittedTree
from maptree.trees.tree import Tree
from maptree.words.certificate import STOPPED_BY
from maptree.words.html_parts import fragment, preformatted
from maptree.words.nats import NAT, gap_text, odds_text, times_text
from maptree.words.tests import TestWords
from maptree.words.tree_text import indented, rules
from maptree.words.values import count

_WIDTH = 79
_TEST = 24  # characters of a test in the list of trees
_NAME = 40  # characters of a column or test in a table; longer ones are shortened
_LINES = 20  # the most trees, columns and tests that the text shows
# What to do where nothing was listed, by what stopped the search.
_GO_ON = {
    "time_limit": "Raise time_limit",
    "memory_limit": "Raise memory_limit",
    "expansion_limit": "Raise max_expansions",
    "interrupted": "Let it run for longer",
}


@dataclass(frozen=True, eq=False)
class Alternative:
    """One of the most probable trees.

    Attributes
    ----------
    rank : int
        1 is the most probable.
    log_posterior : float
        Unnormalised log P(tree, labels | table), in nats.
    odds : float
        How probable it is, compared with the most probable tree: 1 or less.
    fitted : FittedTree
        The tree with its schema: for ``plot_tree``, ``write_report``, and ``model.choose``.
    """

    rank: int
    log_posterior: float
    odds: float
    fitted: FittedTree

    @property
    def tree(self) -> Tree:
        """The tree, over the tests of ``fitted.schema``."""
        return self.fitted.tree

    @property
    def nats(self) -> float:
        """How far its log posterior is below that of the most probable tree."""
        return max(0.0, -math.log(self.odds)) if self.odds > 0 else math.inf

    @property
    def first_test(self) -> str | None:
        """The test of the root in words; None for a single leaf."""
        test = int(self.tree.feature[0])
        return None if test < 0 else TestWords(self.fitted.schema).test(test)

    @property
    def columns(self) -> list[str]:
        """The names of the columns that it tests, in the order of the table."""
        return [self.fitted.schema.names[j] for j in self.fitted.used_columns]

    def rules(self) -> list[str]:
        """Return one rule per leaf, as ``rules`` of a classifier does."""
        return rules(self.fitted)

    def __str__(self) -> str:
        return indented(self.fitted)

    def _repr_html_(self) -> str:
        """Return the tree as text, for a notebook."""
        return fragment(preformatted(str(self)))


class ColumnUse(NamedTuple):
    """How many of the trees test a column."""

    name: str
    trees: int


class FirstSplit(NamedTuple):
    """How many of the trees begin with a test, and the rank of the best of them."""

    test: str | None  # None: a single leaf
    trees: int
    best: int


@dataclass(frozen=True, eq=False)
class Alternatives(Sequence[Alternative]):
    """The most probable trees, in order. Trees that part the rows alike are one entry.

    It is a sequence of ``Alternative``; ``print`` shows it as a table, with what the trees have in
    common and where they differ.

    Attributes
    ----------
    status : str
        ``complete`` if all that was asked for is there; otherwise what stopped it, as in
        ``Certificate``.
    log_posterior : float
        Of the most probable tree; ``nan`` if it was stopped before that was proved.
    log_posterior_bound : float
        No tree that parts the rows in another way than these has a log posterior above this;
        ``-inf`` if there is none.
    constraints : str
        Which trees the list is about, in words: those within ``max_depth`` and the like; empty if
        all.
    wish : str
        What the trees listed have to satisfy, in words; empty if nothing was wished for. The bound
        is then about the trees that do, each the most probable of those that part the rows alike.
    examined : int
        Trees that were found, including those that do not satisfy a wish.
    expansions, seconds, peak_bytes
        Work, time and memory, as in ``Certificate``.
    """

    trees: tuple[Alternative, ...]
    status: str
    log_posterior: float
    log_posterior_bound: float
    constraints: str
    wish: str
    examined: int
    expansions: int
    seconds: float
    peak_bytes: int

    def __len__(self) -> int:
        return len(self.trees)

    def __iter__(self) -> Iterator[Alternative]:
        return iter(self.trees)

    @overload
    def __getitem__(self, place: int) -> Alternative: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Alternative]: ...
    def __getitem__(self, place: int | slice) -> Alternative | Sequence[Alternative]:
        return self.trees[place]

    @property
    def complete_within(self) -> float:
        """Up to how many nats below the most probable tree the list is proved complete.

        ``inf`` if there is no other tree; 0 if not even the most probable tree was proved.
        """
        if math.isnan(self.log_posterior):
            return 0.0
        return max(0.0, self.log_posterior - self.log_posterior_bound)

    @property
    def columns(self) -> tuple[ColumnUse, ...]:
        """For every column that some tree tests: how many do. The most frequent come first."""
        uses = Counter(name for one in self.trees for name in one.columns)
        return tuple(ColumnUse(name, trees) for name, trees in uses.most_common())

    @property
    def first_splits(self) -> tuple[FirstSplit, ...]:
        """For every first test: how many trees begin with it, and the rank of the best of them."""
        firsts = [one.first_test for one in self.trees]
        counts = Counter(firsts)
        best = {test: one.rank for test, one in zip(firsts[::-1], self.trees[::-1], strict=True)}
        return tuple(FirstSplit(test, n, best[test]) for test, n in counts.most_common())

    @property
    def sentences(self) -> list[str]:
        """What is proved about the list, and what ended it, in words."""
        return _sentences(self)

    def named(self, feature_names: Sequence[str] | None) -> Alternatives:
        """Return the same with names for a table that had none; None changes nothing."""
        named = (replace(one, fitted=one.fitted.named(feature_names)) for one in self.trees)
        return replace(self, trees=tuple(named))

    def __str__(self) -> str:
        lines = wrap(" ".join(self.sentences), _WIDTH)
        if self.trees:
            lines += ["", *_tree_lines(self)]
        if len(self.trees) > 1:
            lines += ["", *_column_lines(self), "", *_first_lines(self)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the trees next to each other, for a notebook."""
        from maptree.words.alternatives_html import alternatives_html

        return alternatives_html(self)


# Another tree that parts the rows alike may satisfy a wish that the most probable one does not:
# between the rows its leaves are others.
_EXAMINED = "Of trees that part the rows alike, the most probable one was examined."


def _sentences(found: Alternatives) -> list[str]:
    n, of = len(found), f" {found.constraints}" if found.constraints else ""
    stopped = "" if found.status == "complete" else f"Stopped by {STOPPED_BY[found.status]}"
    if math.isnan(found.log_posterior):
        shallower = "a smaller max_depth" if "of depth" in of else "max_depth, such as max_depth=3"
        return [
            f"{stopped} before the most probable tree{of} was proved, so there is no list. No "
            f"tree{of} exceeds {found.log_posterior_bound:.4f}.",
            f"{_GO_ON[found.status]}, or pass {shallower}, for a list of trees of that depth.",
        ]
    said = []
    if stopped:
        said.append(f"{stopped} after {count(n, 'tree')}.")
    if found.wish:
        said.append(f"Wish: {found.wish}.")
        said.append(_of_wish(found))
    that = " that satisfies it" if found.wish else ""
    if math.isinf(found.log_posterior_bound):
        none = f"no other tree{of}{that}"
        others = f"there is {none}" if that else f"no other tree{of} parts the rows differently"
        return [*said, f"The list is complete: {others}.", *[_EXAMINED] * bool(that)]
    nats = found.complete_within
    if nats == 0:
        return [*said, f"No tree{of} is more probable than the best; others may be as probable."]
    also = " and parts" if that else " that parts"
    said.append(
        f"Proved complete to {gap_text(nats, 2)} nats below the best tree{of}: that is at least "
        f"{times_text(nats)} times as probable as any other{that}{also} the rows in another way "
        "than these."
    )
    return [*said, *([_EXAMINED] if found.wish else []), NAT]


def _of_wish(found: Alternatives) -> str:
    """Which tree is the first that satisfies a wish, and that none before it does."""
    if not found:
        return f"None of the {found.examined:,} most probable trees satisfies it."
    first = found[0].rank
    if first == 1:
        return "The most probable tree satisfies it."
    before = "tree 1 does not" if first == 2 else f"none of the {first - 1:,} before it does"
    return f"Tree {first:,} is the first that satisfies it: {before}."


def _tree_lines(found: Alternatives) -> list[str]:
    lines = [
        f"{'Tree':>4}  {'log posterior':>13}  {'nats':>6}  {'odds':>9}  {'leaves':>6}  "
        f"{'depth':>5}  first test"
    ]
    for one in found.trees[:_LINES]:
        first = cut(one.first_test or "none: a single leaf", _TEST)
        odds = odds_text(one.nats)
        lines.append(
            f"{one.rank:>4}  {one.log_posterior:13.4f}  {one.nats:6.2f}  {odds:>9}  "
            f"{one.tree.n_leaves:6d}  {one.tree.depth:5d}  {first}"
        )
    return [*lines, *_more(len(found) - _LINES)]


def _column_lines(found: Alternatives) -> list[str]:
    """Which columns all trees test, and which some do."""
    uses, n = found.columns, len(found)
    lines = [f"{'Column':<{_NAME}}  {'tested by':>12}"]
    for name, trees in uses[:_LINES]:
        by = "all trees" if trees == n else f"{trees:,} of {n:,}"
        lines.append(f"{cut(name):<{_NAME}}  {by:>12}")
    if not uses:
        lines.append("none: every tree is a single leaf")
    return [*lines, *_more(len(uses) - _LINES)]


def _first_lines(found: Alternatives) -> list[str]:
    """What the trees begin with."""
    firsts, n = found.first_splits, len(found)
    lines = [f"{'First test':<{_NAME}}  {'trees':>12}  {'best':>6}"]
    for test, trees, best in firsts[:_LINES]:
        by = "all trees" if trees == n else f"{trees:,} of {n:,}"
        lines.append(f"{cut(test or 'none: a single leaf'):<{_NAME}}  {by:>12}  {best:6d}")
    return [*lines, *_more(len(firsts) - _LINES)]


def _more(n: int) -> list[str]:
    return [f"and {n:,} more"] if n > 0 else []


def cut(name: str, longest: int = _NAME) -> str:
    """Shorten a name in the middle: long names often differ at the end."""
    if len(name) <= longest:
        return name
    tail = longest // 2 - 2
    return f"{name[: longest - tail - 3]}...{name[-tail:]}"
