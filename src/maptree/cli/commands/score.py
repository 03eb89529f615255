"""``maptree score``: how good a model is on rows with known classes."""

from __future__ import annotations

from typing import Any

from maptree.cli import options
from maptree.cli.mistakes import refuse_absent


def score(
    model: options.Model,
    data: options.Data,
    target: options.KnownTarget = None,
    json: options.Json = False,
    format: options.Format = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    decimal: options.Decimal = None,
    missing: options.Missing = None,
) -> None:
    """Score a model on rows with known classes.

    Prints accuracy, log loss, calibration and a confusion matrix, and whether
    the model was fitted to these rows.

    \b
    Example:
      maptree score people.model.json test.csv
    """
    refuse_absent(data)  # before anything slow is imported
    from maptree.cli.descriptions import confusion_text, scores_document, scores_text
    from maptree.cli.rows import labelled_rows
    from maptree.cli.screen import emit, heading, say
    from maptree.model_file.reading import read_model
    from maptree.trees.scores import score as compare
    from maptree.words.scored_rows import overlap_document, rows_heading, rows_sentences

    fitted = read_model(model).fitted
    source = options.read_data(data, format, delimiter, encoding, missing, decimal)
    rows = labelled_rows(fitted, source, target)
    classes = fitted.labels
    scores = compare(fitted.probabilities, rows.codes, rows.leaves)
    if json:
        document: dict[str, Any] = {
            "command": "score",
            "model_file": model,
            "data": data,
            "target": rows.target,
        }
        document |= {"rows_without_target": rows.without}
        document |= {"training_rows": overlap_document(rows.overlap)}
        emit(document | scores_document(scores, classes))
        return
    say(f"{source.name}: {scores.rows:,} rows with a class in {rows.target}.")
    if rows.without:
        say(f"{rows.without:,} rows without a target were left out.")
    heading(rows_heading(rows.overlap))
    say(" ".join(rows_sentences(rows.overlap)))
    say(scores_text(scores))
    say(confusion_text(scores, classes))
