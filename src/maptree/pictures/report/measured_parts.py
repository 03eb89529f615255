"""The parts of the report that are about numbers and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import Template

from maptree.pictures.measured_view import MeasuredTree
from maptree.pictures.report.markup import piece, text
from maptree.pictures.report.measured_chart import observed_chart
from maptree.pictures.report.measured_held_out import Cover, MeasuredHeldOut
from maptree.pictures.report.tree_svg import spread_svg
from maptree.trees.measured_scores import Estimate, MeasuredBaseline, MeasuredScores
from maptree.trees.outcomes import Counts, Numbers
from maptree.words.baselines import TREE
from maptree.words.html_parts import paragraphs, table
from maptree.words.measured import measured_texts
from maptree.words.measured_scores import (
    ABOUT_ERRORS,
    estimate_with_error,
    measured_cells,
    short_number,
)
from maptree.words.numbers import probability_text
from maptree.words.scored_rows import rows_heading, rows_sentences
from maptree.words.values import count

_ABOUT_ERRORS = ABOUT_ERRORS.replace("+-", "±")
# Leaves in the table of held-out rows.
_MOST_LEAVES = 100


@dataclass(frozen=True)
class MeasuredParts:
    """What the page says of a tree of numbers or counts."""

    view: MeasuredTree

    scripts = ("measured.js",)

    @property
    def hint(self) -> str:
        """What the boxes of the tree show."""
        measured, target = self.view.measured, self.view.target
        everywhere = (
            "on the same scale everywhere; the mark across it is the mean of all rows. The "
            "lighter the colour, the higher the mean."
        )
        if isinstance(measured, Numbers):
            return (
                f"Curves show how {target} of new rows is distributed in a leaf, {everywhere} The "
                "line under a curve, and the numbers in brackets, hold 95% of new rows."
            )
        exposed = ""
        if measured.exposed:
            exposed = f" with an exposure of {short_number(self.view.usual)}, the mean,"
        return (
            f"Shapes show how {target} of new rows{exposed} is distributed in a leaf, {everywhere} "
            "The line under a shape, and the numbers in brackets, are the 95% credible interval of "
            "the rate."
        )

    @property
    def outcome(self) -> str:
        """What the tree predicts, in a few words."""
        measured, root = self.view.measured, self.view.nodes[0]
        if isinstance(measured, Numbers):
            return f"{self.view.target}: a number ({root.held})"
        return f"{self.view.target}: a count ({root.held})"

    @property
    def names(self) -> list[str]:
        """Names that the page shows."""
        return [self.view.target]

    def rules(self) -> str:
        """Return the table of rules, with the distribution in each leaf."""
        shape = measured_shape(self.view)
        heads = [
            ("leaf", ""),
            ("If", ""),
            (f"then {self.view.name}", ""),
            ("95% interval", "number"),
            (shape, ""),
            ("in its rows", ""),
            ("rows", "number"),
        ]
        head = "".join(
            f'<th scope="col"{_class(kind)}><bdi>{text(words)}</bdi></th>' for words, kind in heads
        )
        rows, view = [], self.view
        for number, node in enumerate(self._leaves(), start=1):
            leaf = view.nodes[node]
            mean, low, high = leaf.texts
            colour = view.colour(leaf)
            rows.append(
                f'<tr data-leaf="{node}"><td class="leaf">{number:,}</td>'
                f'<td class="rule">{text(leaf.rule)}</td>'
                f'<td class="label"><i class="k{colour}"></i>{text(mean)}</td>'
                f'<td class="number">{text(low)} to {text(high)}</td>'
                f'<td class="picture">{spread_svg(view.marks(leaf), colour)}</td>'
                f"<td>{text(leaf.held)}</td>"
                f'<td class="number">{leaf.n:,}</td></tr>'
            )
        body = "\n".join(rows)
        return (
            f'<table class="rules measured"><thead><tr>{head}</tr></thead>'
            f"<tbody>\n{body}\n</tbody></table>"
        )

    def _leaves(self) -> list[int]:
        """Return the leaves in reading order, in which they are numbered."""
        return [i for i in self.view.order if self.view.nodes[i].children is None]

    def kept_scores(self) -> str:
        """Return the scores of ``--cv`` or ``--test-fraction``, which the model keeps."""
        scores: object = self.view.fitted.training.held_out
        if not isinstance(scores, MeasuredScores):
            return ""
        method = f"{scores.method[:1].upper()}{scores.method[1:]}."
        compared = ""
        if scores.baselines:
            caption = "Compared on the same rows, in cross-validation fitted on the same folds."
            cells = measured_cells(scores.as_baseline(TREE), scores.baselines)
            compared = _captioned(cells, caption)
        share = _digits(scores.cover)
        cover = _score(
            f"In {scores.level:.0%} intervals", share, f"mean width: {short_number(scores.width)}"
        )
        return (
            '<section aria-labelledby="kept-heading">'
            f'<h2 id="kept-heading">On rows held out by fit</h2><p>{text(method)}</p>'
            f'<dl class="scores">{_score("Rows", f"{scores.rows:,}")}'
            f"{_scores(scores)}{cover}</dl>{paragraphs([_ABOUT_ERRORS], 'hint')}"
            f"{compared}</section>"
        )

    def held_out(self, held: MeasuredHeldOut) -> str:
        """Return the section about rows with known y."""
        scores, base, observed = held.scores, held.baseline, held.observed
        outside = ""
        if observed.outside:
            far = count(observed.outside, "row is", "rows are")
            outside = f"{far} far outside of the picture."
        drawn = (
            "Dots are rows"
            if len(observed.dots)
            else "The stronger the colour of a cell, the more rows"
        )
        groups = "; ".join(
            f"predicted {short_number(leaf.predicted)}, observed {short_number(leaf.observed)} in "
            f"{count(leaf.rows, 'row')}"
            for leaf in held.leaves[:12]
        )
        return Template(piece("held_out_measured.html")).substitute(
            heading=text(rows_heading(held.overlap)),
            seen=text(" ".join(rows_sentences(held.overlap, self.view.target))),
            n=f"{scores.rows:,}",
            scores=_scores(scores, base),
            about_errors=text(_ABOUT_ERRORS),
            density="probability" if isinstance(self.view.measured, Counts) else "density",
            chart=observed_chart(
                observed, held.leaves, f"Observed against predicted numbers by leaf: {groups}."
            ),
            drawn=drawn,
            outside=outside,
            at_least=" or a little more" if isinstance(self.view.measured, Counts) else "",
            covers=table(_cover_cells(held), "Intervals"),
            leaves=table(self._leaf_cells(held), "By leaf", words=(), most=_MOST_LEAVES),
        )

    def _leaf_cells(self, held: MeasuredHeldOut) -> list[list[str]]:
        """Return a row for each leaf that rows reached, numbered as in the table of rules."""
        found = {leaf.leaf: leaf for leaf in held.leaves}
        levels = [f"in {cover.level:.0%}" for cover in held.covers]
        head = ["leaf", "predicted", "observed", "rows", "RMSE", *levels, "95% width", "log score"]
        rows = [head]
        for number, node in enumerate(self._leaves(), start=1):
            if node not in found:
                continue
            leaf = found[node]
            rows.append(
                [
                    f"{number:,}",
                    short_number(leaf.predicted),
                    short_number(leaf.observed),
                    f"{leaf.rows:,}",
                    short_number(leaf.rmse),
                    *(probability_text(cover.share) for cover in leaf.covers),
                    short_number(leaf.covers[-1].width),
                    "-" if leaf.log_score is None else f"{leaf.log_score:.3f}",
                ]
            )
        return rows


def measured_shape(view: MeasuredTree) -> str:
    """Return what the pictures of distributions show, and their scale."""
    low, high = view.scale.low, view.scale.high
    if isinstance(view.measured, Counts):
        low = max(low, 0.0)
    _, first, last = measured_texts(low, low, high)
    return f"new rows, from {first} to {last}"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _scores(scores: MeasuredScores, base: MeasuredBaseline | None = None) -> str:
    """Return RMSE, R^2 and log score, perhaps next to those of the mean of y."""
    rmse = "" if base is None else short_number(base.rmse)
    r2 = "" if base is None or base.r2 is None else f"{round(base.r2, 3) + 0.0:.3f}"
    log_score = "" if base is None or base.log_score is None else f"{base.log_score:.3f}"
    rows = (
        ("RMSE", scores.rmse, rmse),
        ("R²", scores.r2, r2),
        ("Mean log score", scores.log_score, log_score),
    )
    return "".join(
        _score(name, _digits(found), f"mean of y: {baseline}" if baseline else "")
        for name, found, baseline in rows
        if found is not None
    )


def _digits(found: Estimate) -> str:
    return estimate_with_error(found).replace("+-", "±")


def _score(name: str, value: str, baseline: str = "") -> str:
    below = f'<dd class="baseline">{text(baseline)}</dd>' if baseline else ""
    return f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd>{below}</div>"


def _cover_cells(held: MeasuredHeldOut) -> list[list[str]]:
    """Return how many rows are in intervals, and how wide these are, next to one leaf's."""
    head = ["interval", "rows in it", "width", "no split", "width"]

    def cells(cover: Cover) -> Sequence[str]:
        return probability_text(cover.share, 3), short_number(cover.width)

    pairs = zip(held.covers, held.baseline_covers, strict=True)
    return [head, *([f"{a.level:.0%}", *cells(a), *cells(b)] for a, b in pairs)]


def _captioned(cells: Sequence[Sequence[str]], caption: str) -> str:
    return paragraphs([caption], "hint") + table(cells, caption)
