"""What the trees of a sampler share, for notebooks."""

from __future__ import annotations

from maptree.words.html_parts import bar, fragment, paragraphs, table
from maptree.words.numbers import probability_texts
from maptree.words.posterior_summary import PosteriorSummary, cut
from maptree.words.values import count

_LINES = 10  # the most columns, first splits, sizes and trees that are shown


def summary_html(summary: PosteriorSummary) -> str:
    """Return tables of columns, first splits, sizes and trees."""
    parts = [paragraphs([f"What {count(summary.n_trees, 'distinct tree')} have in common."])]
    if summary.columns:
        parts += [_columns(summary), _firsts(summary)]
    else:
        parts.append(paragraphs(["Every tree is a single leaf."]))
    parts += [_sizes(summary.leaves, "Leaves"), _sizes(summary.depth, "Depth")]
    if summary.trees:
        parts.append(_trees(summary))
    return fragment(*parts)


def _columns(summary: PosteriorSummary) -> str:
    shares = _shares([column.probability for column in summary.columns])
    by_chain = any(column.low < column.high for column in summary.columns[:_LINES])
    cells = [["Column", "P(used)", *["by chain"] * by_chain, "splits", ""]]
    for column, share in zip(summary.columns, shares, strict=True):
        between = [f"{column.low:.2f} to {column.high:.2f}"] * by_chain
        splits = f"{column.expected_splits:.3f}"
        cells.append([cut(column.name), share, *between, splits, bar(column.probability)])
    return table(cells, "Columns", most=_LINES)


def _firsts(summary: PosteriorSummary) -> str:
    shares = _shares([first.probability for first in summary.first_splits])
    of_tests = _shares([first.test_probability for first in summary.first_splits])
    cells = [["First split", "P(first)", "most frequent test", "P(test)"]]
    for first, share, of_test in zip(summary.first_splits, shares, of_tests, strict=True):
        cells.append([cut(first.name), share, cut(first.test), of_test])
    return table(cells, "First splits", words=(0, 2), most=_LINES)


def _sizes(sizes: dict[int, float], name: str) -> str:
    """Return how large trees are; the most probable sizes, in order."""
    likely = sorted(sorted(sizes, key=lambda size: -sizes[size])[:_LINES])
    shares = _shares([sizes[size] for size in likely])
    cells = [[name, *(f"{size:,}" for size in likely)], ["P", *shares]]
    return table(cells, name)


def _trees(summary: PosteriorSummary) -> str:
    weights = probability_texts((round(one.weight, 12) for one in summary.trees), 4)
    cells = [["Tree", "weight", "log posterior", "leaves", "depth"]]
    for number, (one, weight) in enumerate(zip(summary.trees, weights, strict=True), start=1):
        numbers = f"{one.log_posterior:.4f}", f"{one.tree.n_leaves:,}", f"{one.tree.depth:,}"
        cells.append([f"{number:,}", weight, *numbers])
    return table(cells, "Trees", most=_LINES)


def _shares(values: list[float]) -> list[str]:
    return probability_texts((round(value, 12) for value in values), 3)
