"""Ctrl-C at every line of ``maptree fit`` after the search: the model is kept."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from command import QUICK, call
from maptree import _core, load_model
from strikes import places, strike

NEAR = ("cli/fitting.py", "engine/interrupts.py", "files/whole_file.py")


@pytest.mark.parametrize("all_lines", [False, pytest.param(True, marks=pytest.mark.long)])
def test_ctrl_c_after_the_search_keeps_the_model(here, capsys, monkeypatch, tally, all_lines):
    searched = []

    def search(*arguments, real=_core.search):
        result = real(*arguments)
        searched.append(result)
        return result

    def fit():
        searched.clear()
        Path("people.model.json").unlink(missing_ok=True)
        return call(capsys, "fit", "people.csv", "-t", "buys", *QUICK)

    monkeypatch.setattr(_core, "search", search)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    phase = lambda: len(searched)  # noqa: E731
    try:
        rules = fit() and load_model("people.model.json").rules()
        found = [
            place
            for place in places(fit, phase)
            if place[0] and (all_lines or place[1].startswith(NEAR))
        ]
        assert len(found) > 40
        for place in found:
            try:
                told = strike(fit, place, lambda: signal.raise_signal(signal.SIGINT), phase)
                assert told.code in (0, 130), place
                assert told.code or "Model written to people.model.json." in told.out, place
            except KeyboardInterrupt:  # while the last message was on its way
                assert not place[1].startswith(NEAR), place
            assert load_model("people.model.json").rules() == rules, place
            assert not list(here.glob(".maptree-*")), place
            signal.signal(signal.SIGINT, signal.default_int_handler)
            tally["Ctrl-C at a line of maptree fit, after the search"] += 1
    finally:
        signal.signal(signal.SIGINT, handler)
