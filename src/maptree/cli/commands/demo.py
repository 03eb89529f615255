"""``maptree demo``: the optimal tree for tic-tac-toe, without any file."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Annotated

import typer

from maptree.cli import options


def demo(
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="FILE", help="Also write the model to this file."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Find the optimal tree for tic-tac-toe and prove it. Needs no file.

    Has x won? 958 final boards, 27 tests. Takes a second or two.

    \b
    Example:
      maptree demo
    """
    return _run(model, json)


def _run(path: str | None, as_json: bool) -> int:
    # Imported here, so that --help stays fast.
    import numpy as np
    import pyarrow as pa

    from maptree.cli.descriptions import certificate_text, model_document
    from maptree.cli.fitting import was_interrupted
    from maptree.cli.mistakes import interrupted_code
    from maptree.cli.screen import Panel, emit, heading, say
    from maptree.cli.settings import refuse_place
    from maptree.cli.streams import written
    from maptree.datasets import load_tic_tac_toe
    from maptree.engine.interrupts import Noted
    from maptree.estimators.map_classifier import MAPTreeClassifier
    from maptree.estimators.saved import stored
    from maptree.model_file.writing import write_model
    from maptree.words.certificate import size_sentence
    from maptree.words.numbers import probability_text
    from maptree.words.tree_text import indented

    if path is not None:
        refuse_place(path)
    boards = load_tic_tac_toe()
    table = pa.table(dict(zip(boards.feature_names, boards.data.T, strict=True)))
    labels = np.array(["no", "yes"])[boards.target]
    if not as_json:
        say("Tic-tac-toe: has x won? 958 final boards, 27 tests such as 'centre = x'.")
    with Noted() as interrupt:
        with warnings.catch_warnings(), Panel("Tic-tac-toe", None) as panel:
            warnings.simplefilter("ignore")
            model = MAPTreeClassifier(time_limit=None, callback=panel.update).fit(table, labels)
        fitted = model.fitted_.with_training(target="x has won")
        if path is not None:
            write_model(replace(stored(model), fitted=fitted), path)
            written(path)
        interrupted = interrupt.arrived() or was_interrupted(fitted)
    if as_json:
        emit({"command": "demo", "model_file": path, "model": model_document(fitted)})
    else:
        heading("The tree")
        say(
            "A leaf shows the more probable class, its probability with a 95% credible interval, "
            "and the number n of boards with their classes.\n"
        )
        say(indented(fitted), indent="    ")
        accuracy = probability_text(model.score(table, labels), 3)
        say(f"{size_sentence(fitted)} Accuracy on these boards {accuracy}.")
        heading("Certificate")
        say(certificate_text(fitted))
        if path is not None:
            say(f"\nModel written to {path}.")
    return interrupted_code() if interrupted else 0
