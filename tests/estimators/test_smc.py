"""What only SMCTreeClassifier has: islands, the evidence, ways to filter."""

from __future__ import annotations

import math

import numpy as np
import pytest

from maptree import SMCTreeClassifier
from samples import noisy, sampler


def test_evidence_of_islands():
    X, y = noisy()
    model = sampler(SMCTreeClassifier, n_islands=8).fit(X, y)
    assert model.log_evidences_.shape == model.resamplings_.shape == (8,)
    mean = np.exp(model.log_evidences_).mean()
    assert model.log_evidence_ == pytest.approx(math.log(mean))
    spread = np.exp(model.log_evidences_).std(ddof=1) / math.sqrt(8) / mean
    assert model.log_evidence_error_ == pytest.approx(spread)
    one = sampler(SMCTreeClassifier).fit(X, y)
    assert one.log_evidence_ == one.log_evidences_[0]
    assert math.isnan(one.log_evidence_error_)
    # The first island of many is the only one of one.
    assert one.log_evidences_[0] == model.log_evidences_[0]
    # No tree is more probable than all of them together.
    assert model.log_evidence_ > model.log_posterior_


@pytest.mark.parametrize("proposal", ["optimal", "prior"])
@pytest.mark.parametrize("growth", ["node", "level"])
@pytest.mark.parametrize("resampling", ["systematic", "multinomial"])
def test_ways_to_filter(proposal, growth, resampling):
    X, y = noisy(n_classes=3)
    model = sampler(
        SMCTreeClassifier, proposal=proposal, growth=growth, resampling=resampling, n_particles=500
    ).fit(X, y)
    assert model.score(X, y) > 0.6


def test_particles_are_drawn_anew_by_the_threshold():
    X, y = noisy(n_classes=3)
    never, often = (
        sampler(SMCTreeClassifier, proposal="prior", ess_threshold=t).fit(X, y) for t in (0, 1)
    )
    assert never.resamplings_[0] == 0
    assert often.resamplings_[0] > 0
