"""``maptree show``: what is in a model file."""

from __future__ import annotations

from maptree.cli import options


def show(model: options.Model, json: options.Json = False) -> None:
    """Show what is in a model file: the tree, its rules, its proof, its columns.

    \b
    Example:
      maptree show people.model.json
    """
    from maptree import load_model
    from maptree.cli.column_lists import columns_text
    from maptree.cli.screen import emit, heading, say, shown
    from maptree.cli.words import certificate_words, model_document, size_words

    loaded = load_model(model)
    if json:
        emit({"command": "show", "model_file": model, "model": model_document(loaded)})
        return
    training = loaded.training_
    say(
        f"{model}: predicts {shown(training.target or 'a class')}, from {training.rows:,} rows, "
        f"{training.date}, maptree {training.library}."
    )
    shares = zip(loaded.classes_, training.class_counts, strict=True)
    say(
        "Classes: " + ", ".join(f"{shown(label)} {count:,}" for label, count in shares) + ".",
        indent="  ",
    )
    heading("The tree")
    say(loaded.export_text(), indent="    ")
    say(size_words(loaded))
    heading("Rules")
    for rule in loaded.rules():
        say(rule, indent="    ")
    heading("Certificate")
    say(certificate_words(loaded))
    if training.held_out is not None:
        scores = training.held_out
        heading("On held-out rows")
        say(
            f"{scores.method}: {scores.rows:,} rows. Accuracy {scores.accuracy:.3f}, log loss "
            f"{scores.log_loss:.3f} nats, calibration error {scores.calibration_error:.3f}."
        )
    heading("Columns")
    say(columns_text(loaded), indent="    ")
