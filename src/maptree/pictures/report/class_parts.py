"""The parts of the report that are about classes."""

from __future__ import annotations

from dataclasses import dataclass
from string import Template

from maptree.pictures.class_view import ClassTree
from maptree.pictures.report.average import of_tree_html
from maptree.pictures.report.charts import calibration_chart
from maptree.pictures.report.decision_tables import baselines_html, decisions_html
from maptree.pictures.report.held_out import HeldOut
from maptree.pictures.report.markup import piece, text
from maptree.pictures.short_text import shorten
from maptree.trees.training import HeldOutScores
from maptree.words.baselines import AVERAGE, TREE
from maptree.words.numbers import estimate_texts, probability_text
from maptree.words.scored_rows import rows_heading, rows_sentences
from maptree.words.values import count

# More classes need the whole width of the page for the confusion matrix, and names that go up.
_FEW_CLASSES = 5


@dataclass(frozen=True)
class ClassParts:
    """What the page says of a tree of classes."""

    view: ClassTree

    scripts = ("numbers.js", "classes.js")
    hint = (
        "Bars show the class probabilities, the most probable class first; the line under a bar is "
        "the 95% credible interval of that class."
    )

    @property
    def outcome(self) -> str:
        """What the tree predicts, in a word or two."""
        return count(len(self.view.classes), "class", "classes")

    @property
    def names(self) -> list[str]:
        """Names that the page shows."""
        return self.view.classes

    def rules(self) -> str:
        """Return the table of rules."""
        head = "".join(
            f'<th scope="col">{words}</th>'
            for words in ("If", "then", "probability", "95% interval", "rows")
        )
        return (
            f'<table class="rules"><thead><tr>{head}</tr></thead>'
            f"<tbody>\n{_rules(self.view)}\n</tbody></table>"
        )

    def kept_scores(self) -> str:
        """Return the scores of ``--cv`` or ``--test-fraction``, which the model keeps."""
        return _kept_scores(self.view)

    def held_out(self, held: HeldOut) -> str:
        """Return the section about rows with known classes."""
        return _held_out(self.view, held)


def _rules(view: ClassTree) -> str:
    rows = []
    for number in view.order:
        leaf = view.nodes[number]
        if leaf.children is None:
            mean, low, high = estimate_texts(leaf.mean[leaf.best], *leaf.interval[leaf.best])
            rows.append(
                f'<tr data-leaf="{number}"><td class="rule">{text(leaf.rule)}</td>'
                f'<td class="label">{_tag(view, leaf.best)}</td>'
                f"<td>{text(mean)}</td>"
                f"<td>{text(low)} to {text(high)}</td>"
                f"<td>{leaf.n:,}</td></tr>"
            )
    return "\n".join(rows)


def _tag(view: ClassTree, k: int) -> str:
    """Return a class with its colour."""
    return f'<i class="k{view.colours[k]}"></i><bdi>{text(view.classes[k])}</bdi>'


def _kept_scores(view: ClassTree) -> str:
    fitted = view.fitted
    scores = fitted.training.held_out
    if not isinstance(scores, HeldOutScores):
        return ""
    return Template(piece("kept_scores.html")).substitute(
        method=text(f"{scores.method[0].upper()}{scores.method[1:]}."),
        n=f"{scores.rows:,}",
        accuracy=text(probability_text(scores.accuracy, 3)),
        log_loss=text(probability_text(scores.log_loss, 3)),
        calibration_error=text(probability_text(scores.calibration_error, 3)),
        roc_auc=_area(scores.roc_auc),
        baselines=baselines_html(TREE if fitted.average is None else AVERAGE, scores),
    )


def _held_out(view: ClassTree, held: HeldOut) -> str:
    groups = [
        f"predicted {probability_text(g.predicted)}, correct {probability_text(g.right)} of {g.n:,}"
        for g in held.groups
    ]
    words = f"Share of correct predictions by predicted probability: {'; '.join(groups)}."
    return Template(piece("held_out.html")).substitute(
        heading=text(rows_heading(held.overlap)),
        seen=text(" ".join(rows_sentences(held.overlap))),
        n=f"{held.scores.rows:,}",
        unknown=_unknown(held.scores.unknown),
        accuracy=text(probability_text(held.scores.accuracy, 3)),
        majority=text(probability_text(held.baseline.accuracy, 3)),
        roc_auc=_area(held.scores.roc_auc, "most frequent class: 0.500"),
        log_loss=text(probability_text(held.scores.log_loss, 3)),
        prior_log_loss=text(probability_text(held.baseline.log_loss, 3)),
        calibration=calibration_chart(held.groups, words),
        confusion=_confusion(view, held),
        of_tree=of_tree_html(held.of_tree),
        many=" many" if len(held.classes) > _FEW_CLASSES else "",
        decisions=decisions_html(held.decisions),
    )


def _area(roc_auc: float | None, baseline: str = "") -> str:
    if roc_auc is None:
        return ""
    line = f'<dd class="baseline">{text(baseline)}</dd>' if baseline else ""
    return f"<div><dt>ROC AUC</dt><dd>{text(probability_text(roc_auc, 3))}</dd>{line}</div>"


def _unknown(n: int) -> str:
    """Return a note on labels that the tree does not know."""
    if not n:
        return ""
    return (
        f'<p class="hint">{count(n, "row has", "rows have")} a class that the tree does not know; '
        "counted as wrong and left out of the log loss.</p>"
    )


def _confusion(view: ClassTree, held: HeldOut) -> str:
    names = ["others" if k < 0 else shorten(view.classes[k], 24) for k in held.classes]
    head = "".join(f'<th scope="col"><bdi>{text(name)}</bdi></th>' for name in names)
    rows = []
    for i, name in enumerate([*names, "unknown to the tree"][: len(held.confusion)]):
        total = max(1, int(held.confusion[i].sum()))
        cells = "".join(
            f'<td class="{"right " if i == j else ""}heat{round(4 * n / total)}">{n:,}</td>'
            for j, n in enumerate(held.confusion[i])
        )
        rows.append(f'<tr><th scope="row"><bdi>{text(name)}</bdi></th>{cells}</tr>')
    return f"<thead><tr><td></td>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
