"""What libFuzzer found to reach something new, and what failed once: all of it still passes."""

from __future__ import annotations

import pytest

from fuzz.inputs import TARGETS, kept, target


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus(name):
    try_input = target(name).try_input
    assert len(kept(name)) > 10
    for file in kept(name):
        try:
            try_input(file.read_bytes())
        except BaseException as error:
            error.add_note(f"while trying {file}")
            raise
