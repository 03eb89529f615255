"""``maptree show``: what is in a model file."""

from __future__ import annotations

from maptree.cli import options


def show(model: options.Model, json: options.Json = False) -> None:
    """Show a model file: the tree, its rules, its certificate and its columns.

    \b
    Example:
      maptree show people.model.json
    """
    from maptree.cli.averaged import say_average
    from maptree.cli.descriptions import (
        certificate_text,
        classes_text,
        columns_text,
        model_document,
        scores_sentence,
    )
    from maptree.cli.screen import emit, heading, say
    from maptree.files.controls import shown
    from maptree.model_file.reading import read_model
    from maptree.words.baselines import AVERAGE, TREE, comparison_cells
    from maptree.words.certificate import size_sentence
    from maptree.words.text_table import columns_of
    from maptree.words.tree_text import indented, rules

    fitted = read_model(model).fitted
    if json:
        emit({"command": "show", "model_file": model, "model": model_document(fitted)})
        return
    training = fitted.training
    say(
        f"{model}: predicts {shown(training.target or 'a class')}, from {training.rows:,} rows, "
        f"{training.date}, maptree {training.library}."
    )
    shares = zip(fitted.classes, training.class_counts, strict=True)
    say(f"Classes: {classes_text(shares)}.", indent="  ")
    heading("The tree" if fitted.average is None else "The most probable tree")
    say(indented(fitted), indent="    ")
    say(size_sentence(fitted))
    heading("Rules")
    for rule in rules(fitted):
        say(rule, indent="    ")
    heading("Certificate")
    say(certificate_text(fitted))
    if fitted.average is not None:
        say_average(fitted)
    if training.held_out is not None:
        scores = training.held_out
        heading("On held-out rows")
        say(f"{scores.method}: {scores.rows:,} rows. {scores_sentence(scores)}")
        if scores.baselines:
            name = TREE if fitted.average is None else AVERAGE
            say(columns_of(comparison_cells(scores.as_baseline(name), scores.baselines)))
    heading("Columns")
    say(columns_text(fitted), indent="    ")
