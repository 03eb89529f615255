"""The systems that are compared and their settings, with the names used in figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

PRIOR = {"alpha": 0.95, "beta": 0.5, "rho": 2.5}


@dataclass(frozen=True)
class Setting:
    """A system with its parameters."""

    label: str
    system: str
    params: Mapping[str, Any] = field(default_factory=dict)
    main: bool = True  # in the main figures, and in the quick budget

    def is_of(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row belongs to this setting."""
        return row["system"] == self.system and row["params"] == self.params


MAPTREE = Setting("MAPTree", "maptree", PRIOR)
CART_4 = Setting("CART 4", "cart", {"depth": 4})  # the paper's reference

# STreeD and CART by cross-validation are not in the paper. STreeD optimises the same likelihood of
# the leaves, without a prior on trees, up to a depth: the closest competitor.
COMPARED = (
    MAPTREE,
    *(
        CART_4 if depth == 4 else Setting(f"CART {depth}", "cart", {"depth": depth}, main=False)
        for depth in range(2, 9)
    ),
    Setting("CART CV", "cart-cv"),
    *(
        Setting(f"DL8.5 {depth}", "dl85", {"depth": depth}, main=depth in (4, 5))
        for depth in range(2, 7)
    ),
    Setting("GOSDT 1/32", "gosdt", {"regularization": 1 / 32}),
    Setting("GOSDT 10/32", "gosdt", {"regularization": 10 / 32}),
    *(
        Setting(
            f"STreeD {depth}",
            "streed",
            {"depth": depth, "objective": "bayes", "rho": 2.5},
            main=depth in (4, 5),
        )
        for depth in range(2, 7)
    ),
)
MAIN = tuple(setting for setting in COMPARED if setting.main)


def in_words(settings: Iterable[Setting]) -> str:
    """Name settings in few words.

    >>> in_words(setting for setting in COMPARED if not setting.main)
    'CART 2, 3, 5 to 8; DL8.5 2, 3, 6; STreeD 2, 3, 6'
    """
    of_system: dict[str, list[str]] = {}
    for setting in settings:
        name, _, value = setting.label.rpartition(" ")
        of_system.setdefault(name, []).append(value)
    return "; ".join(f"{name} {_ranges(values)}" for name, values in of_system.items())


def _ranges(values: list[str]) -> str:
    """Join values; runs of three or more whole numbers become ranges."""
    runs: list[list[str]] = []
    for value in values:
        if runs and value.isdigit() and runs[-1][-1] == str(int(value) - 1):
            runs[-1].append(value)
        else:
            runs.append([value])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs)


_PRIORS = ((0.999, 0.1), (0.99, 0.2), (0.95, 0.5), (0.9, 1.0), (0.8, 2.0), (0.5, 4.0), (0.2, 8.0))
HYPERPARAMETERS = tuple(
    Setting(f"{alpha:g}, {beta:g}", "maptree", {"alpha": alpha, "beta": beta, "rho": 2.5})
    for alpha, beta in _PRIORS
)

EXPANSIONS = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
DRAWS = (10, 30, 100, 300, 1000)  # iterations of MCMC, particles of SMC
SEEDS = tuple(range(42, 52))
SEARCHES = {"maptree": "MAPTree", "maptree-paper": "MAPTree, paper mode"}
SAMPLERS = {"mcmc": ("MCMC", "iterations"), "smc": ("SMC", "particles")}
NOISES = (0.0, 0.1, 0.25)
