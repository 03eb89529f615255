"""The transcripts of docs/command-line.md are what the commands say."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

from command import call

PAGE = Path(__file__).resolve().parents[2] / "docs" / "command-line.md"
_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
_VARYING = re.compile(r"\d+\.\d\d s, [\d,]+ expansions?, [\d,]+ subproblems?, [\d.]+ MB")


def same_each_time(text: str) -> str:
    return _VARYING.sub("- s, - expansions, - subproblems, - MB", text)


def test_transcripts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert doctest.testfile(str(PAGE), module_relative=False).failed == 0  # makes the tables
    ran = 0
    for block in _BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        for command, expected in re.findall(r"^\$ maptree (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            told = call(capsys, *shlex.split(command))
            assert same_each_time(told.out + told.err) == same_each_time(expected), command
            ran += 1
    assert ran >= 6
