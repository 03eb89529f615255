"""A story of text, output and tables, told on the terminal and kept as Markdown."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from statistics import mean, stdev
from textwrap import dedent, fill

from comparison import LEAST, N_PAIRS, Score

HEADER = ("system", "accuracy", "log loss", "size", "fit, CPU s")


class Page:
    """Collects Markdown, and prints it as it comes.

    >>> page = Page()
    >>> page.say('''Two lines
    ...             are one paragraph.''')
    Two lines are one paragraph.
    <BLANKLINE>
    """

    def __init__(self) -> None:
        self.scores: list[Score] = []
        self._parts: list[str] = []

    def say(self, text: str) -> None:
        """Add headings and paragraphs, with empty lines between them."""
        for part in dedent(text).strip().split("\n\n"):
            self.add(fill(" ".join(part.split()), 118, break_on_hyphens=False))

    def show(self, output: object) -> None:
        """Add what a program prints."""
        lines = "\n".join(line.rstrip() for line in str(output).splitlines())
        self.add(f"```text\n{lines}\n```")

    def compare(self, scores: Sequence[Score], folds: int, repeats: int) -> None:
        """Add a section with the scores of several systems."""
        times = f", {repeats} times" if repeats > 1 else ""
        self.scores += scores
        self.say(
            f"""
            ## Compared

            Stratified {folds}-fold cross-validation{times}: every system is fitted on the same rows
            and scored on the same rows that were left out. Mean and standard deviation over the
            folds. Log loss is in nats per row, lower is better, from probabilities clipped to
            [{LEAST}, {1 - LEAST}]. Depth, smallest leaf and pruning of CART are chosen by 3-fold
            cross-validation within the training rows. Seconds are processor time for one fit, that
            choice included. Ours is limited by work, not by the clock, so that its trees are
            reproducible. The forest and the EBM are not tuned; the EBM has {N_PAIRS} pairs of
            columns, not its default of three for every column, which takes several times as long.
            """
        )
        self.add(table(HEADER, lines(scores)))

    def add(self, part: str) -> None:
        """Add Markdown as it is."""
        self._parts.append(part)
        print(part, end="\n\n", flush=True)

    def __str__(self) -> str:
        return "\n\n".join(self._parts) + "\n"


def lines(scores: Sequence[Score]) -> list[list[str]]:
    """Return for each model the means over its folds, with standard deviations, as text."""
    made = []
    for name in dict.fromkeys(score.name for score in scores):
        of = [score for score in scores if score.name == name]
        size = mean(score.size for score in of)
        made.append(
            [
                name,
                _spread([score.accuracy for score in of]),
                _spread([score.log_loss for score in of]),
                f"{size:,.{0 if size >= 100 else 1}f} {of[0].unit}",
                f"{mean(score.seconds for score in of):.1f}",
            ]
        )
    return made


def _spread(values: Sequence[float]) -> str:
    return f"{mean(values):.3f} ± {stdev(values):.3f}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """Return a Markdown table: the first columns hold words, the others numbers.

    >>> print(table(["set", "cost"], [["vote", "84.46"]]))
    | set | cost |
    |---|---:|
    | vote | 84.46 |
    """
    text = [f"| {' | '.join(line)} |" for line in (header, *rows)]
    text.insert(1, "|" + "---|" * words + "---:|" * (len(header) - words))
    return "\n".join(text)


def tell(story: Callable[[Page, int | None], None]) -> None:
    """Run a story from the command line."""
    parser = argparse.ArgumentParser(description="Run one case of the gallery.")
    parser.add_argument("--rows", type=int, help="use only this many rows, for a quick try")
    story(Page(), parser.parse_args().rows)
