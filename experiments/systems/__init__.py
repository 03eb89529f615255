"""The systems that are compared, one module each.

A module has `fit(X, y, params, seed, limit) -> Fitted` and imports its package at the top: if that
fails, the system is missing. `PACKAGES` lists the packages whose versions its rows record,
`WARM_UP` has the parameters of an unmeasured first fit on a tiny table.

To add one: write the module, add it to `MODULES`, and if it needs packages of its own, add them to
peers.txt and the system to `OF_PEERS`.
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
    """Return the environment of a system."""
    return PEERS if system in OF_PEERS else MAIN


def load(system: str) -> Any:
    """Import a system's module. A name that is not in `MODULES` is a module path: your own system.

    Raises ImportError if it, or its package, is not installed.
    """
    module = MODULES.get(system)
    return import_module(system if module is None else f"{__name__}.{module}")
