"""``maptree score``: how good a model is on rows with known classes."""

from __future__ import annotations

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
    decimal: options.Decimal = ".",
    missing: options.Missing = None,
) -> None:
    """Score a model on rows with known classes.

    Prints accuracy, log loss, calibration and a confusion matrix.

    \b
    Example:
      maptree score people.model.json test.csv
    """
    refuse_absent(data)  # before anything slow is imported
    from maptree.cli.descriptions import confusion_text, scores_document, scores_text
    from maptree.cli.rows import labelled_rows
    from maptree.cli.screen import emit, say
    from maptree.model_file.reading import read_model
    from maptree.trees.scores import score as compare

    fitted = read_model(model).fitted
    source = options.read_data(data, format, delimiter, encoding, missing, decimal)
    rows = labelled_rows(fitted, source, target)
    classes = fitted.labels
    scores = compare(fitted.probabilities, rows.codes, rows.leaves)
    if json:
        document = {"command": "score", "model_file": model, "data": data, "target": rows.target}
        emit(document | {"rows_without_target": rows.without} | scores_document(scores, classes))
        return
    say(f"{source.name}: {scores.rows:,} rows with a class in {rows.target}.")
    if rows.without:
        say(f"{rows.without:,} rows without a target were left out.")
    say(scores_text(scores))
    say(confusion_text(scores, classes))
