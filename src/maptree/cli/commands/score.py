"""``maptree score``: how good a model is on rows with known classes or numbers."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from maptree.cli import options
from maptree.cli.mistakes import refuse_absent


def score(
    model: options.Model,
    data: options.Data,
    *,
    target: options.KnownTarget = None,
    exposure: options.KnownExposure = None,
    costs: options.Costs = None,
    positive: options.Positive = None,
    thresholds: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            help="Probability thresholds to show, separated by commas. Default: all that decide "
            "differently, or some of them.",
        ),
    ] = None,
    json: options.Json = False,
    file: options.FileOptions,
) -> None:
    """Score a model on rows with known classes, numbers or counts.

    Prints accuracy, log loss, calibration and a confusion matrix, what
    probability thresholds and costs do, and whether the model was fitted to
    these rows. Of numbers and counts: RMSE, R^2, the mean log score, and the
    share of rows in their 90% intervals.

    \b
    Examples:
      maptree score people.model.json test.csv
      maptree score people.model.json test.csv --costs yes=5
      maptree score claims.model.json test.csv --exposure years
    """
    refuse_absent(data)  # before anything slow is imported
    from maptree.cli.deciding import read_deciding
    from maptree.cli.descriptions import (
        confusion_text,
        scores_document,
        scores_sentence,
        scores_text,
    )
    from maptree.cli.measured_rows import refuse_exposure_of_classes
    from maptree.cli.rows import labelled_rows
    from maptree.cli.screen import emit, heading, say
    from maptree.model_file.reading import read_model
    from maptree.trees.scores import most_frequent
    from maptree.trees.scores import score as compare
    from maptree.words.baselines import AVERAGE, TREE, comparison_cells
    from maptree.words.decisions import decide
    from maptree.words.scored_rows import overlap_document, rows_heading, rows_sentences
    from maptree.words.text_table import columns_of

    fitted = read_model(model).fitted
    if fitted.measured is not None:
        from maptree.cli.measured_scoring import run_score

        about_classes = {"--costs": costs, "--positive": positive, "--thresholds": thresholds}
        options.refuse_for_measured(fitted, about_classes)
        files = {"model_file": model, "data": data}
        run_score(fitted, fitted.measured, file.read(data), files, target, exposure, json)
        return
    refuse_exposure_of_classes(fitted, exposure)
    deciding = read_deciding(fitted.labels, costs, positive, thresholds)
    source = file.read(data)
    rows = labelled_rows(fitted, source, target)
    classes = fitted.labels
    scores = compare(rows.probabilities, rows.codes, rows.leaves)
    of_tree = None
    if fitted.average is not None:
        of_tree = compare(fitted.probabilities, rows.codes, rows.of_tree)
    counts = fitted.tree.counts[0]
    decisions = decide(
        rows.probabilities, rows.codes, classes, counts, rows.leaves, **vars(deciding)
    )
    baseline = most_frequent(counts, rows.codes)
    if json:
        document: dict[str, Any] = {
            "command": "score",
            "model_file": model,
            "data": data,
            "target": rows.target,
        }
        document |= {"rows_without_target": rows.without}
        document |= {"training_rows": overlap_document(rows.overlap)}
        if of_tree is not None:
            document |= {"most_probable_tree": scores_document(of_tree, classes)}
        document |= scores_document(scores, classes) | {"baselines": [vars(baseline)]}
        emit(document | {"decisions": decisions.document()})
        return
    say(f"{source.name}: {scores.rows:,} rows with a class in {rows.target}.")
    if rows.without:
        say(f"{rows.without:,} rows without a target were left out.")
    heading(rows_heading(rows.overlap))
    say(" ".join(rows_sentences(rows.overlap)))
    say(scores_text(scores))
    if of_tree is not None:
        say(f"The most probable tree alone: {scores_sentence(of_tree)}")
    say(confusion_text(scores, classes))
    name = TREE if of_tree is None else AVERAGE
    say(columns_of(comparison_cells(scores.as_baseline(name), [baseline])))
    heading("Decisions")
    for part in decisions.tables():
        say(part)
