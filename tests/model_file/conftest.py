"""A model file that is as it should be."""

from __future__ import annotations

import json

import pytest

from models import good_model


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The values of a valid file, and its text."""
    model = good_model()
    path = tmp_path_factory.mktemp("good") / "model.json"
    model.save(path)
    return json.loads(path.read_bytes()), path.read_text(encoding="utf-8")
