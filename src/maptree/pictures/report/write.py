"""The report: one HTML file with everything that is known about a fitted tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.encoding.answering import predicted, read_answers, training_overlap
from maptree.files.whole_file import write_whole
from maptree.parameters.costs import Costs, read_costs, read_positive
from maptree.parameters.numbers import bad_value
from maptree.pictures.class_view import ClassTree
from maptree.pictures.report.average import average_html, shown_of, what_if_note
from maptree.pictures.report.case_form import page_data
from maptree.pictures.report.charts import search_chart
from maptree.pictures.report.class_parts import ClassParts
from maptree.pictures.report.held_out import HeldOut, hold_out
from maptree.pictures.report.markup import data, fingerprint, piece, text
from maptree.pictures.report.measured_held_out import MeasuredHeldOut, hold_out_measured
from maptree.pictures.report.measured_parts import MeasuredParts
from maptree.pictures.report.side_by_side import side_by_side
from maptree.pictures.report.sizes import sizes_html
from maptree.pictures.report.tree_svg import legend, palette_css, tree_svg
from maptree.pictures.search_view import view_search
from maptree.pictures.short_text import shorten, visible
from maptree.pictures.tree_view import AnyTree, view_tree
from maptree.tables.labels import numbers_among
from maptree.tables.numbers import read_counts, read_exposure, read_numbers
from maptree.trees.fitted import FittedTree, HasFittedTree, fitted_tree
from maptree.trees.outcomes import Counts
from maptree.words.alternatives import Alternatives
from maptree.words.certificate import certificate_sentences, headline, prior_sentence
from maptree.words.column_report import to_check
from maptree.words.glossary import GLOSSARY
from maptree.words.html_parts import glossary, paragraphs
from maptree.words.size_path import SizePath
from maptree.words.values import count

# Those that every page has; what the leaves predict is between the two.
_FIRST_SCRIPTS, _LAST_SCRIPTS = ("exact.js", "fields.js"), ("tree.js", "what_if.js", "page.js")
# Characters of a name in the list of names that were cut.
_LONGEST_NAME = 500
# Wider trees are illegible on paper.
_WIDEST_PRINT = 1500
# Steps of the search in the chart; more cannot be seen.
_MOST_STEPS = 400


def write_report(
    classifier: FittedTree | HasFittedTree,
    path: str | PathLike[str],
    X: Any = None,
    y: Any = None,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
    costs: Costs | None = None,
    positive: Any = None,
    alternatives: Alternatives | None = None,
    sizes: SizePath | None = None,
    exposure: Any = None,
) -> None:
    """Write a report on a fitted classifier or regressor as one HTML file that works offline.

    The page shows the tree, which can be zoomed and folded; a form for a case, whose path through
    the tree is highlighted, with the prediction and its interval; the rules, ready to
    print; the course of the search, and what is proved. Of a sampler, the tree is the most probable
    one; next to it the page shows what all its trees share, and scores are those of their average.

    Parameters
    ----------
    classifier : fitted MAPTreeClassifier, MAPTreeRegressor, MCMCTreeClassifier or SMCTreeClassifier
    path : str or path
        The file to write.
    X, y : table and labels, numbers or counts, optional
        Rows with known y, best those that were not used for fitting: the page then shows how
        well the tree predicts them, and whether it was fitted to them. Rows with labels that the
        tree does not know count as wrong, and the page says how many.
    feature_names : sequence of str, optional
        Names of the columns if the table had none.
    title : str, optional
        The heading of the page.
    costs : array of shape (K, K) or dict, optional
        Of classes. What predictions cost, as in ``predict``: the page then shows what decisions
        cost on these rows.
    positive : label, optional
        Of classes. The class that probability thresholds are about; by default the second of two.
    alternatives : Alternatives, optional
        Of ``model.alternatives(n)``: the page then shows the best trees side by side.
    sizes : SizePath, optional
        Of ``size_path``: the page then lists the best trees of other sizes.
    exposure : array of shape (rows,), or a number, optional
        Of counts. The exposure of the rows in X; None is 1.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from maptree import MAPTreeClassifier, write_report
    >>> model = MAPTreeClassifier().fit([[25.0], [31.0], [47.0], [60.0]] * 5, [0, 0, 1, 1] * 5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(model, Path(folder) / "tree.html", feature_names=["age"])
    ...     (Path(folder) / "tree.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    page = report_html(
        classifier, X, y, feature_names, title, costs, positive, alternatives, sizes, exposure
    )
    write_whole(path, page.encode())


def report_html(
    classifier: FittedTree | HasFittedTree,
    X: Any = None,
    y: Any = None,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
    costs: Costs | None = None,
    positive: Any = None,
    alternatives: Alternatives | None = None,
    sizes: SizePath | None = None,
    exposure: Any = None,
) -> str:
    """Return the text of the report."""
    if (X is None) != (y is None):
        raise ValueError("X and y must be passed together: pass both, or neither.")
    fitted, held_out = fitted_tree(classifier), None
    for name, value in (("costs", costs), ("positive", positive), ("exposure", exposure)):
        if X is None and value is not None:
            raise bad_value(name, value, "is about rows to score", "pass X and y, too")
    if X is not None:
        read = _read_classes if fitted.measured is None else _read_measured
        held_out = read(fitted, X, y, costs, positive, exposure)
    for name, parts in (("alternatives", alternatives), ("sizes", sizes)):
        if not all(fitted.is_of_the_table_of(one.fitted) for one in parts or ()):
            raise ValueError(
                f"{name} is about trees of another table than the model: pass what belongs to it."
            )
    others = None if alternatives is None else alternatives.named(feature_names)
    return report_page(fitted.named(feature_names), held_out, title, others, sizes)


def _read_classes(
    fitted: FittedTree, X: Any, y: Any, costs: Costs | None, positive: Any, exposure: Any
) -> HeldOut:
    """Compare rows with known classes with what is predicted."""
    if exposure is not None:
        raise TypeError("exposure is for counts, and the tree predicts classes: omit it.")
    classes = fitted.classes.tolist()
    answers = read_answers(fitted.schema, X)
    labels = numbers_among(fitted.classes, y, answers.n_rows)
    overlap = training_overlap(fitted, answers.row_hashes(), labels)
    return hold_out(
        fitted,
        answers.leaves(fitted.tree),
        labels,
        overlap,
        None if costs is None else read_costs(costs, classes),
        read_positive(positive, classes) if positive is not None or len(classes) == 2 else None,
        None if fitted.average is None else predicted(fitted, answers)[0],
    )


def _read_measured(
    fitted: FittedTree, X: Any, y: Any, costs: Costs | None, positive: Any, exposure: Any
) -> MeasuredHeldOut:
    """Compare rows with known numbers or counts with what is predicted."""
    measured = fitted.measured
    assert measured is not None
    for name, value in (("costs", costs), ("positive", positive)):
        if value is not None:
            raise TypeError(
                f"{name} is for classes, and the tree predicts {measured.name}: omit it."
            )
    answers = read_answers(fitted.schema, X)
    if isinstance(measured, Counts):
        counts = read_counts(y, answers.n_rows)
        known_by, numbers = counts, counts.astype(np.float64)
        exposed = None if exposure is None else read_exposure(exposure, answers.n_rows)
    else:
        if exposure is not None:
            raise TypeError("exposure is for counts, and the tree predicts numbers: omit it.")
        numbers, exposed = read_numbers(y, answers.n_rows), None
        known_by = numbers.view(np.int64)
    overlap = training_overlap(fitted, answers.row_hashes(), known_by)
    return hold_out_measured(fitted, answers.leaves(fitted.tree), numbers, overlap, exposed)


def report_page(
    fitted: FittedTree,
    held_out: HeldOut | MeasuredHeldOut | None = None,
    title: str | None = None,
    alternatives: Alternatives | None = None,
    sizes: SizePath | None = None,
) -> str:
    """Return the text of the report, with scores and alternatives computed before."""
    view = view_tree(fitted, isolated=True)
    parts = ClassParts(view) if isinstance(view, ClassTree) else MeasuredParts(view)
    style = f"{piece('page.css')}\n{piece('tree.css')}\n{palette_css(view)}"
    if alternatives is not None or sizes is not None:
        style += f"\n{piece('alternatives.css')}"
    scripts = (*_FIRST_SCRIPTS, *parts.scripts, *_LAST_SCRIPTS)
    script = "\n".join(piece(name) for name in scripts)
    heading = "Decision tree" if title is None else shorten(visible(title), 200)
    return Template(piece("page.html")).substitute(
        style_hash=fingerprint(style),
        script_hash=fingerprint(script),
        style=style,
        script=script,
        title=text(heading),
        summary=_summary(view, parts.outcome),
        tree=tree_svg(view),
        large=" large" if view.place().width > _WIDEST_PRINT else "",
        legend=legend(view),
        hint=text(parts.hint),
        rules=parts.rules(),
        notes=_notes(fitted),
        average=average_html(view),
        what_if_note=what_if_note(fitted),
        certificate=_certificate(fitted),
        verdict=_verdict(fitted),
        search=_search(fitted),
        kept_scores=parts.kept_scores(),
        held_out="" if held_out is None else _held_out(parts, held_out),
        alternatives=side_by_side(alternatives),
        sizes=sizes_html(sizes, fitted.tree.n_leaves),
        names=_names(view, parts.names),
        data=data(page_data(view)),
    )


def _summary(view: AnyTree, outcome: str) -> str:
    root, leaves = view.nodes[0], len(view.leaves)
    return (
        f"{count(leaves, 'leaf', 'leaves')}, {count(len(view.fitted.used_columns), 'column')} "
        f"tested, {text(outcome)}, fitted to {count(root.n, 'row')}."
        f"{shown_of(view.fitted)}"
    )


def _held_out(parts: ClassParts | MeasuredParts, held: HeldOut | MeasuredHeldOut) -> str:
    if isinstance(parts, ClassParts):
        assert isinstance(held, HeldOut)
        return parts.held_out(held)
    assert isinstance(held, MeasuredHeldOut)
    return parts.held_out(held)


def _verdict(fitted: FittedTree) -> str:
    certificate = fitted.certificate
    if certificate is None:
        return ""
    proved = "proved" if certificate.optimal else "open"
    return f'<p class="verdict {proved}">{text(headline(fitted))}.</p>'


def _certificate(fitted: FittedTree) -> str:
    sentences = [*certificate_sentences(fitted), prior_sentence(fitted)]
    return paragraphs(sentences) + glossary(GLOSSARY)


def _notes(fitted: FittedTree) -> str:
    """Return what should be checked about the columns that the tree tests."""
    columns = [fitted.schema.columns[j] for j in fitted.used_columns]
    items = [
        f"<li><b><bdi>{text(shorten(visible(column.name), 60))}</bdi></b>: "
        f"{text(shorten(visible(part), 300))}.</li>"
        for column in columns
        for part in to_check(column)
    ]
    if not items:
        return ""
    return f"<section><h2>Notes on columns</h2><ul>{''.join(items)}</ul></section>"


def _search(fitted: FittedTree) -> str:
    view = view_search(fitted)
    # Chains that start from the best tree have no bound, and nothing to show.
    if view is None or (view.bound is None and np.ptp(view.best) == 0):
        return ""
    every = -(-len(view.seconds) // _MOST_STEPS)
    if every > 1:
        view = view.thin(every)
    words = f"Log posterior of the best tree: {_from_to(view.best)}"
    caption = '<span class="key best"></span> best tree so far'
    if view.bound is not None:
        words += f"; upper bound: {_from_to(view.bound)}"
        caption += (
            ', <span class="key bound"></span> upper bound: no tree can exceed it. The tree is '
            "proved optimal when the two meet"
        )
    chart = search_chart(view, f"{words}.")
    return f"<figure>{chart}<figcaption>{caption}.</figcaption></figure>"


def _from_to(values: NDArray[np.float64]) -> str:
    return f"{values[0]:.1f} at the start, {values[-1]:.1f} at the end"


def _names(view: AnyTree, names: Sequence[str]) -> str:
    """List the names that were cut and that the page shows."""
    full = {short: long for short, long in view.full.items() if visible(long) != short}
    shown = " ".join([*(node.rule for node in view.nodes), *names])
    found = _occurring(full, shown)
    cut = [(short, long) for short, long in full.items() if short in found]
    if not cut:
        return ""
    items = [
        f"<dt><bdi>{text(short)}</bdi></dt><dd><bdi>{text(_start(long))}</bdi></dd>"
        for short, long in cut
    ]
    return f"<section><h2>Names in full</h2><dl>{''.join(items)}</dl></section>"


def _start(name: str) -> str:
    return shorten(visible(name), _LONGEST_NAME)


def _occurring(names: Iterable[str], shown: str) -> set[str]:
    """Return the names that occur in a text.

    One search for each name would take names times text. Names that were cut have few lengths.
    """
    wanted, found = set(names), set()
    for length in {len(name) for name in wanted}:
        for first in range(len(shown) - length + 1):
            part = shown[first : first + length]
            if part in wanted:
                found.add(part)
    return found
