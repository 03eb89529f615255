"""``fit`` changes all of an estimator or nothing, whatever strikes it at whatever line."""

from __future__ import annotations

import signal
import warnings

import numpy as np
import pandas as pd
import pytest

from maptree import (
    BinaryEncoder,
    InterruptedWarning,
    MAPTreeClassifier,
    MCMCTreeClassifier,
    SMCTreeClassifier,
    _core,
)
from maptree.engine import interrupts
from strikes import places, strike

ESTIMATORS = {
    "search": lambda: MAPTreeClassifier(max_expansions=20, time_limit=None),
    # From a single leaf and of a given length: what the core returns first is what is kept.
    "chains": lambda: MCMCTreeClassifier(
        n_samples=5, burn_in=0, thin=1, n_chains=2, initial_tree=None, random_state=0
    ),
    "particles": lambda: SMCTreeClassifier(n_particles=10, random_state=0),
    "encoder": BinaryEncoder,
}


# What depends on the table alone, however early the core was stopped.
TABLE = {"fitted_", "encoder_", "n_features_in_", "feature_names_in_"}


def old_table():
    return pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0] * 4}), ["no", "no", "yes", "yes"] * 4


def new_table():
    X = np.array([["x", 1], ["y", 2], ["z", None]] * 6, dtype=object)
    return X, [1, 2, 3] * 6


def summary(estimator):
    """Every fitted attribute, as text that is the same after the same fit."""

    def text(name, value):
        if name == "fitted_":
            return repr((value.classes, value.schema, value.prior.rho, value.tree.counts[0]))
        if name in ("encoder_", "trees_"):
            return repr(sorted(vars(value).items()))
        return repr(value)

    state = {name: text(name, value) for name, value in vars(estimator).items()}
    return {name: told for name, told in state.items() if name.endswith("_")}


@pytest.fixture
def core_returned(monkeypatch):
    """Whether the core has found what ``fit`` is to keep."""
    returned = []

    def watch(name, real):
        def call(*arguments, **named):
            result = real(*arguments, **named)
            returned.append(name)
            return result

        monkeypatch.setattr(_core, name, call)

    for name in ("search", "sample_mcmc", "sample_smc"):
        watch(name, getattr(_core, name))
    return returned


def fitted_again(make, core_returned):
    """An estimator that was fitted, and what fits it again."""
    estimator = make().fit(*old_table())
    core_returned.clear()
    X, y = new_table()
    return estimator, lambda: estimator.fit(X, y)


def no_memory():
    raise MemoryError


@pytest.fixture
def nothing_noted():
    """Call it after an error: one that strikes as a block is left keeps Python from leaving it."""

    def leave():
        interrupts._inside.clear()
        signal.signal(signal.SIGINT, before)

    before = signal.getsignal(signal.SIGINT)
    return leave


def struck(work, phase, all_lines):
    """The lines to strike at: all, or those that put a fitted estimator together."""
    found = places(work, phase)
    near = ("estimators/", "engine/", "encoding/encoder")
    return [place for place in found if all_lines or place[1].startswith(near)]


# Quickly, or at all lines of all estimators.
CASES = [("search", False), ("encoder", False)]
CASES += [pytest.param(name, True, marks=pytest.mark.long) for name in ESTIMATORS]


@pytest.mark.parametrize(("name", "all_lines"), CASES)
def test_an_error_at_any_line_leaves_all_as_it_was_or_all_as_it_will_be(
    name, all_lines, core_returned, nothing_noted, tally
):
    make = ESTIMATORS[name]
    old, new = summary(make().fit(*old_table())), summary(make().fit(*new_table()))
    same = {name for name in old.keys() & new.keys() if old[name] == new[name]}
    assert same <= {"status_", "passthrough_", "resamplings_", "log_evidence_error_"}
    _, again = fitted_again(make, core_returned)
    phase = lambda: len(core_returned)  # noqa: E731
    for place in struck(again, phase, all_lines):
        if place[1] == "engine/interrupts.py":  # it allocates nothing
            continue
        estimator, again = fitted_again(make, core_returned)
        with pytest.raises(MemoryError):
            strike(again, place, no_memory, phase)
        nothing_noted()
        assert summary(estimator) in (old, new), place
        tally[f"errors at a line of fit: {name}"] += 1


@pytest.mark.parametrize(("name", "all_lines"), CASES)
def test_ctrl_c_at_any_line_keeps_what_was_found(name, all_lines, core_returned, tally):
    make = ESTIMATORS[name]
    old, new = summary(make().fit(*old_table())), summary(make().fit(*new_table()))
    _, again = fitted_again(make, core_returned)
    phase = lambda: len(core_returned)  # noqa: E731
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for place in struck(again, phase, all_lines):
            estimator, again = fitted_again(make, core_returned)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    strike(again, place, lambda: signal.raise_signal(signal.SIGINT), phase)
                    raised = False
                except KeyboardInterrupt:
                    raised = True
            told = [warning for warning in caught if warning.category is InterruptedWarning]
            now = summary(estimator)
            if not place[0] and not raised:  # stopped early: fewer trees, but of the new table
                now = {name: told if name in TABLE else new[name] for name, told in now.items()}
            assert now in (old, new), place
            assert raised or told, f"{place}: Ctrl-C was not heard"
            if place[0]:  # the core had returned
                assert now == new, f"{place}: the tree was lost"
            tally[f"Ctrl-C at a line of fit: {name}"] += 1
            signal.signal(signal.SIGINT, signal.default_int_handler)
    finally:
        signal.signal(signal.SIGINT, handler)
