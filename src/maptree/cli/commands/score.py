"""``maptree score``: how good a model is on rows whose class is known."""

from __future__ import annotations

from typing import Annotated

import typer

from maptree.cli import options


def score(
    model: options.Model,
    data: options.Data,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", metavar="NAME", help="The column of classes; as in fit if not given."
        ),
    ] = None,
    json: options.Json = False,
    format: options.Format = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    decimal: options.Decimal = ".",
    missing: options.Missing = None,
) -> None:
    """Score a model on rows whose class is known.

    Accuracy, log loss, calibration, and what was taken for what.

    \b
    Example:
      maptree score people.model.json test.csv
    """
    import numpy as np
    import pyarrow as pa

    from maptree import load_model
    from maptree.cli.names import refuse_unknown
    from maptree.cli.new_rows import rows_for
    from maptree.cli.refusal import USAGE, Refusal
    from maptree.cli.scoring import confusion_text, scores_document, scores_text
    from maptree.cli.scoring import score as compare
    from maptree.cli.screen import emit, say
    from maptree.cli.target import class_texts, known_labels

    loaded = load_model(model)
    name = target or loaded.training_.target
    if name is None:
        raise Refusal(f"{model} does not say what it predicts: pass --target.", USAGE)
    source = options.read_data(data, format, delimiter, encoding, missing, decimal)
    refuse_unknown([name], source.columns, source.name)
    codes, unknown = known_labels(source, name, loaded.classes_)
    rows = np.flatnonzero(codes != -2)
    classes = class_texts(loaded.classes_)
    if len(rows) == unknown:
        raise Refusal(
            f"{source.name}: no row has a class of the model in {name!r}. It knows "
            f"{', '.join(classes[:12])}."
        )
    X = rows_for(loaded, source)
    X = X.take(pa.array(rows)) if isinstance(X, pa.Table) else X[rows]
    scores = compare(loaded.predict_proba(X), codes[rows])
    without = len(codes) - len(rows)
    if json:
        document = {"command": "score", "model_file": model, "data": data, "target": name}
        emit(document | {"rows_without_target": without} | scores_document(scores, classes))
        return
    say(f"{source.name}: {scores.rows:,} rows with a class in {name}.")
    if without:
        say(f"{without:,} rows without a target are left out.")
    say(scores_text(scores))
    say(confusion_text(scores, classes))
