"""A model file that is as it should be."""

from __future__ import annotations

import json

import pytest

from models import good_model


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The values of a valid file, and its text."""
    return saved(good_model(), tmp_path_factory)


@pytest.fixture(scope="module", params=[3, None])
def either(request, good, tmp_path_factory):
    """The same, and that of a tree over all thresholds, which has only some of them."""
    return good if request.param else saved(good_model(None, 20), tmp_path_factory)


def saved(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "model.json"
    model.save(path)
    return json.loads(path.read_bytes()), path.read_text(encoding="utf-8")
