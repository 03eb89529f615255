"""The systems that are compared, one module each.

A module has `fit(X, y, params, seed, limit) -> Fitted` and imports its package at the top: where
that fails the system is missing. `PACKAGES` names what its rows give versions of, `WARM_UP` has the
parameters of a fit on a tiny table that comes before the first one that counts.

To add one: write the module, name it in `MODULES`, and if it needs packages of its own, name them
in peers.txt and the system in `OF_PEERS`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from experiments.environments import MAIN, PEERS

MODULES = {
    "maptree": "maptree_as_built",
    "maptree-paper": "maptree_paper",
    "mcmc": "mcmc",
    "smc": "smc",
    "cart": "cart",
    "cart-cv": "cart_cv",
    "dl85": "dl85",
    "gosdt": "gosdt",
    "streed": "streed",
}
OF_PEERS = ("dl85", "gosdt", "streed")


def environment_of(system: str) -> str:
    """Return the environment that a system lives in."""
    return PEERS if system in OF_PEERS else MAIN


def load(system: str) -> Any:
    """Import a system's module. A name that is none of ours is that of a module: your own system.

    ImportError if it, or the package behind it, is not installed.
    """
    module = MODULES.get(system)
    return import_module(system if module is None else f"{__name__}.{module}")
