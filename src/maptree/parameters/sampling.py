"""The parameters of the samplers, checked: the lengths of chains, the number of particles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from maptree.parameters.limits import MOST_CHAINS, MOST_ISLANDS, MOST_PARTICLES, MOST_SAMPLES
from maptree.parameters.numbers import bad_type, bad_value, real_number, whole_number


@dataclass(frozen=True)
class Lengths:
    """How many trees each of some chains keeps, and when.

    ``burn_in`` None: half as many iterations as trees are kept from. ``thin`` None: rounds, each
    with longer chains, until these have mixed or further work would be too much.
    """

    n_samples: int
    burn_in: int | None
    thin: int | None
    n_chains: int

    @classmethod
    def read(cls, *, n_samples: object, burn_in: object, thin: object, n_chains: object) -> Self:
        """Check the parameters of chains; "auto" is None."""
        return cls(
            whole_number("n_samples", n_samples, 1, MOST_SAMPLES),
            _number_or_auto("burn_in", burn_in, least=0),
            _number_or_auto("thin", thin, least=1),
            whole_number("n_chains", n_chains, 1, MOST_CHAINS),
        )

    @property
    def kept_from(self) -> int:
        """Iterations of a chain from the end of the burn-in on."""
        assert self.thin is not None
        return self.n_samples * self.thin

    @property
    def burnt(self) -> int:
        """Iterations of a chain before the first tree is kept."""
        return self.kept_from // 2 if self.burn_in is None else self.burn_in

    @property
    def iterations(self) -> int:
        """Iterations of all chains."""
        return self.n_chains * (self.burnt + self.kept_from)

    def of(self, kept_from: float) -> Lengths:
        """Return these lengths with about this many iterations from which trees are kept.

        >>> Lengths(n_samples=250, burn_in=None, thin=None, n_chains=4).of(10_000).iterations
        60000
        """
        return replace(self, thin=max(1, round(kept_from / self.n_samples)))


def read_particles(
    *,
    n_particles: object,
    n_islands: object,
    proposal: object,
    growth: object,
    resampling: object,
    ess_threshold: object,
) -> dict[str, Any]:
    """Check the parameters of particle filters."""
    remedy = "pass a number from 0 to 1, such as 0.5"
    share = real_number("ess_threshold", ess_threshold, remedy)
    if not 0 <= share <= 1:
        raise bad_value("ess_threshold", ess_threshold, "is out of range", remedy)
    return {
        "n_particles": whole_number("n_particles", n_particles, 1, MOST_PARTICLES),
        "n_islands": whole_number("n_islands", n_islands, 1, MOST_ISLANDS),
        "proposal": _one_of("proposal", proposal, "optimal", "prior"),
        "growth": _one_of("growth", growth, "node", "level"),
        "resampling": _one_of("resampling", resampling, "systematic", "multinomial"),
        "ess_threshold": share,
    }


def _number_or_auto(name: str, value: object, least: int) -> int | None:
    """Return a whole number; None for "auto"."""
    if isinstance(value, str):
        if value != "auto":
            remedy = f'pass "auto" or a whole number of at least {least}'
            raise bad_value(name, value, "is unknown", remedy)
        return None
    return whole_number(name, value, least=least)


def _one_of(name: str, value: object, *known: str) -> str:
    if isinstance(value, str) and value in known:
        return value
    bad = bad_value if isinstance(value, str) else bad_type
    raise bad(name, value, "is unknown", f"pass {' or '.join(map(repr, known))}")
