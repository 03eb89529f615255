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
        columns_text,
        measured_text,
        model_document,
        outcome_text,
        scores_sentence,
        task_of,
    )
    from maptree.cli.screen import emit, heading, say
    from maptree.files.controls import shown
    from maptree.model_file.reading import read_model
    from maptree.trees.measured_scores import MeasuredScores
    from maptree.trees.training import HeldOutScores
    from maptree.words.baselines import AVERAGE, TREE, comparison_cells
    from maptree.words.certificate import size_sentence
    from maptree.words.text_table import columns_of
    from maptree.words.tree_text import indented, rules

    fitted = read_model(model).fitted
    if json:
        emit({"command": "show", "model_file": model, "model": model_document(fitted)})
        return
    training = fitted.training
    what = "a class" if fitted.measured is None else f"a {task_of(fitted)}"
    say(
        f"{model}: predicts {shown(training.target or what)}, from {training.rows:,} rows, "
        f"{training.date}, maptree {training.library}."
    )
    say(outcome_text(fitted), indent="  ")
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
        said = scores_sentence(scores) if isinstance(scores, HeldOutScores) else ""
        say(f"{scores.method}: {scores.rows:,} rows. {said}".rstrip())
        if isinstance(scores, MeasuredScores):
            say(measured_text(scores))
        elif scores.baselines:
            name = TREE if fitted.average is None else AVERAGE
            say(columns_of(comparison_cells(scores.as_baseline(name), scores.baselines)))
    heading("Columns")
    say(columns_text(fitted), indent="    ")
