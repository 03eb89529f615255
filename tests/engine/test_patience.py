"""Patience: a search ends where its tree has stood for long and a proof is not in sight."""

from __future__ import annotations

import json
import warnings
from functools import partial

import numpy as np
import pytest

from control import Clock, ctrl_c_inside, press_ctrl_c
from maptree import InterruptedWarning, MAPTreeClassifier, _core, load_model, log_posterior
from maptree.datasets import load_tic_tac_toe
from samples import hard

ENOUGH = 10**6  # expansions: a search that does not lose its patience ends, too
COUNTED = ("status", "log_posterior", "log_posterior_bound", "proved_depth", "expansions")


def patient(patience, **params):
    """Fit labels that follow nothing, without a time limit."""
    X, y = hard()
    given = {"time_limit": None, "max_expansions": ENOUGH} | params
    return MAPTreeClassifier(patience=patience, **given).fit(X, y)


def counted(model):
    return [getattr(model.certificate_, name) for name in COUNTED]


@pytest.fixture(scope="module")
def impatient():
    return patient(1)


def test_it_ends_the_search(impatient):
    certificate = impatient.certificate_
    assert certificate.status == "patience"
    assert not certificate.optimal
    assert 0 < certificate.expansions < ENOUGH
    assert certificate.gap > 0
    X, y = hard()
    assert log_posterior(impatient.tree_, X, y) == pytest.approx(certificate.log_posterior)


def test_it_repeats(impatient):
    again = patient(1)
    assert counted(again) == counted(impatient)
    assert again.tree_ == impatient.tree_


def test_the_clock_decides_nothing(impatient, monkeypatch):
    """Neither one that stands still nor one that runs."""
    limits = _core.Limits
    for step in (0.0, 0.01):
        by_clock = partial(limits, clock=Clock(step=step))
        monkeypatch.setattr(_core, "Limits", by_clock)
        assert counted(patient(1)) == counted(impatient)


def test_more_patience_takes_the_same_steps_further(impatient):
    longer = patient(3)
    assert longer.certificate_.status == "patience"
    assert longer.certificate_.expansions > impatient.certificate_.expansions
    assert longer.certificate_.log_posterior >= impatient.certificate_.log_posterior
    assert longer.certificate_.log_posterior_bound <= impatient.certificate_.log_posterior_bound


def test_a_limit_that_comes_first_is_the_reason(impatient):
    few = impatient.certificate_.expansions // 2
    assert counted(patient(1, max_expansions=few)) == counted(patient(None, max_expansions=few))
    assert patient(1, max_expansions=few).certificate_.status == "expansion_limit"


def test_none_is_never(impatient):
    more = 2 * impatient.certificate_.expansions
    assert patient(None, max_expansions=more).certificate_.status == "expansion_limit"


def test_proofs_in_sight_are_not_cut():
    boards = load_tic_tac_toe()
    models = [
        MAPTreeClassifier(time_limit=None, encoder=None, patience=p).fit(boards.data, boards.target)
        for p in (None, 4)
    ]
    assert models[1].certificate_.status == "optimal"
    assert counted(models[0]) == counted(models[1])


def test_several_threads():
    certificate = patient(1, n_jobs=2).certificate_
    assert certificate.status == "patience"
    assert certificate.log_posterior < certificate.log_posterior_bound


def test_little_memory(impatient):
    limit = int(0.8 * impatient.certificate_.peak_bytes)
    certificate = patient(4, memory_limit=limit).certificate_
    assert certificate.status == "patience"
    assert certificate.peak_bytes <= limit


def test_a_callback_that_only_looks_changes_nothing(impatient):
    seen = []
    assert counted(patient(1, callback=seen.append)) == counted(impatient)
    assert seen


def test_a_callback_that_stops_is_the_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert patient(1, callback=lambda _: True).certificate_.status == "interrupted"


def test_ctrl_c_is_the_reason():
    with ctrl_c_inside(), pytest.warns(InterruptedWarning, match="best tree so far was kept"):
        model = patient(1, callback=press_ctrl_c)
    assert model.certificate_.status == "interrupted"


def test_what_is_said(impatient):
    said = " ".join(str(impatient.certificate_).split())
    assert "the search was stopped by patience, as no proof was in sight." in said


def test_the_model_file_keeps_it(impatient, tmp_path):
    impatient.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.patience == 1
    assert again.certificate_ == impatient.certificate_
    values = json.loads((tmp_path / "model.json").read_bytes())
    values["parameters"]["patience"] = 0.5
    (tmp_path / "bad.json").write_text(json.dumps(values))
    with pytest.raises(ValueError, match=r"patience=0\.5 is too small"):
        load_model(tmp_path / "bad.json")


@pytest.mark.parametrize("value", [0, 0.99, -4, np.nan, np.inf, -np.inf])
def test_values_that_make_no_sense(value):
    with pytest.raises(ValueError, match=r"patience=.*: pass a number of at least 1, such as 4"):
        MAPTreeClassifier(patience=value).fit([[0], [1]], [0, 1])


@pytest.mark.parametrize("value", ["4", True, [4], "none"])
def test_values_of_another_type(value):
    with pytest.raises(TypeError, match=r"patience=.* is not a number: pass a number of at least"):
        MAPTreeClassifier(patience=value).fit([[0], [1]], [0, 1])
