"""Rows as a run would leave them, made up: for tests of figures, tables, report and claims."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from experiments.cells import Cell, Row
from experiments.families import FAMILIES, cells
from maptree.datasets import CP4IM_SETS

SETS = [known.name for known in CP4IM_SETS]
# How far below the best tree a system is, in nats, and how fast.
SEARCH = {"maptree": (0.5, 2e-5), "maptree-paper": (60.0, 2e-4)}
SAMPLER = {"mcmc": (80.0, 1e-5), "smc": (25.0, 3e-5)}
SKILL = {"maptree": 0.02, "cart-cv": 0.015, "streed": 0.01, "dl85": 0.005, "gosdt": -0.02}
NODES = {"maptree": 15, "cart-cv": 40, "streed": 25, "dl85": 27, "gosdt": 5, "cart": 22}


def made_up(
    budget: str = "quick",
    sets: list[str] = SETS,
    families: tuple[str, ...] = FAMILIES,
    **failing: str,
) -> list[dict[str, Any]]:
    """A row for every cell; `failing` names systems and how all of their rows end."""
    return [
        dataclasses.asdict(_row(cell, failing.get(cell.system.replace("-", "_"))))
        for family in families
        for cell in cells(family, budget, sets)
    ]


def _row(cell: Cell, outcome: str | None) -> Row:
    facts = {"versions": {"maptree": "0.1.0", "numpy": "2.4"}, "machine": "a processor, 2 cores"}
    if outcome is not None:
        return Row.of(cell, outcome, f"because of {outcome}", **facts)
    rng = np.random.default_rng(int(cell.key, 16) % 2**32)
    make = _speed if cell.family == "speed" else _scores
    return Row.of(cell, "ok", **make(cell, rng), **facts)


def _speed(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    best = 60.0 + 37.0 * SETS.index(cell.set)
    if cell.system in SEARCH:
        below, pace = SEARCH[cell.system]
        steps = cell.params.get("max_expansions") or cell.limit / pace
        seconds = min(float(steps * pace), cell.limit) + 0.001
        proved = SETS.index(cell.set) % 3 == 0 and cell.system == "maptree" and steps > 20_000
        value = -best - below * best / 100 / (1 + np.log10(steps))
        trace = [[seconds * part, 1, value - 5 * (1 - part), -best / 3] for part in (0.01, 0.5, 1)]
        return {
            "seconds": seconds,
            "status": "optimal" if proved else "time_limit",
            "log_posterior": value,
            "bound": value if proved else -best / 2,
            "trace": trace,
            "peak_bytes": 10_000_000,
            "extra": {"expansions": steps, "proved_depth": None if proved else 5},
        }
    below, pace = SAMPLER[cell.system]
    draws = cell.params.get("iterations") or cell.params["particles"]
    value = -best - below * (1 + rng.random()) * best / 100 / np.log10(draws)
    return {
        "seconds": draws * pace * (1 + rng.random()),
        "status": "complete",
        "log_posterior": value,
        "trace": [[0.001, 1, value, None]],
    }


def _scores(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    depth = cell.params.get("depth", 4)
    noise = cell.data.get("noise", 0.1)
    rows = cell.data.get("rows", 500)
    skill = SKILL.get(cell.system, 0.0) - 0.01 * abs(depth - 4) - noise * 100 / rows
    accuracy = float(np.clip(0.85 + skill + rng.normal(0, 0.03), 0, 1))
    nodes = int(NODES[cell.system] * 2 ** (depth - 4) * rng.uniform(0.7, 1.3)) // 2 * 2 + 1
    return {
        "seconds": rng.random(),
        "status": "complete",
        "log_posterior": -100.0,
        "nodes": nodes,
        "leaves": (nodes + 1) // 2,
        "depth": depth,
        "train_accuracy": accuracy,
        "test_accuracy": accuracy,
        "ll_own": -1.8 * (1 - accuracy),
        "ll_predictive": -1.5 * (1 - accuracy),
        "ll_marginal": -1.6 * (1 - accuracy),
    }
