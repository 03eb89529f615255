"""The likelihood of numbers and counts, and the prior of a leaf's parameters."""

from __future__ import annotations

from dataclasses import dataclass

from maptree.parameters.numbers import bad_type, bad_value, real_number

# Of a standard deviation of y, in which the search measures; of a mean exposure.
STEPS = 256
EXPOSURE_UNITS = 1 << 16

# The defaults of what does not come from the table, and what a first tree is grown with where
# ``noise`` does (docs/design/outcomes.md).
KAPPA, NU, NOISE = 0.1, 3.0, 0.1
SHAPE = 1.0
LEAST_NOISE, MOST_NOISE = 1e-3, 1.0

# Within these ranges costs are exact enough (core/model/sum_leaves.cpp).
_RANGES = {"kappa": (1e-6, 1e6), "nu": (1e-3, 1e6), "noise": (1e-9, 1e6), "shape": (1e-3, 1e4)}

LIKELIHOODS = ("normal", "poisson")


@dataclass(frozen=True)
class NumberPrior:
    """Of the mean and the variance of a leaf, where the standard deviation of all rows is 1.

    The variance is inverse gamma with ``nu`` degrees of freedom and scale ``noise``; the mean is
    normal around that of all rows, as certain as ``kappa`` rows would make it.
    """

    kappa: float = KAPPA
    nu: float = NU
    noise: float = NOISE


@dataclass(frozen=True)
class WantedNumberPrior:
    """The prior of numbers as it was asked for; what is None comes from the table."""

    kappa: float | None
    nu: float
    noise: float | None

    @property
    def start(self) -> NumberPrior:
        """The prior, with usual values for what is not known yet."""
        return NumberPrior(
            KAPPA if self.kappa is None else self.kappa,
            self.nu,
            NOISE if self.noise is None else self.noise,
        )

    @property
    def is_known(self) -> bool:
        """Whether nothing is left to be found."""
        return self.noise is not None

    def known(self, noise: float | None = None) -> NumberPrior:
        """Return the prior, given the variance within the leaves of a first tree.

        Without ``kappa`` the mean of a leaf varies as much as y does.

        >>> WantedNumberPrior(None, 3.0, None).known(0.25)
        NumberPrior(kappa=0.25, nu=3.0, noise=0.25)
        >>> WantedNumberPrior(None, 3.0, 0.5).known()
        NumberPrior(kappa=0.5, nu=3.0, noise=0.5)
        """
        if self.noise is not None:
            noise = self.noise
        assert noise is not None
        return NumberPrior(noise if self.kappa is None else self.kappa, self.nu, noise)


@dataclass(frozen=True)
class CountPrior:
    """Of the rate of a leaf: gamma, with this shape, around the rate of all rows."""

    shape: float = SHAPE


def read_likelihood(likelihood: object) -> str:
    """Return the name of a likelihood, checked."""
    remedy = 'pass "normal" for numbers or "poisson" for counts'
    if not isinstance(likelihood, str):
        raise bad_type("likelihood", likelihood, "is unknown", remedy)
    if likelihood not in LIKELIHOODS:
        raise bad_value("likelihood", likelihood, "is unknown", remedy)
    return likelihood


def read_number_prior(kappa: object, nu: object, noise: object) -> WantedNumberPrior:
    """Validate the prior of numbers.

    >>> read_number_prior(0.1, 3, None)
    WantedNumberPrior(kappa=0.1, nu=3.0, noise=None)
    """
    return WantedNumberPrior(
        None if kappa is None else _positive("kappa", kappa, KAPPA),
        _positive("nu", nu, NU),
        None if noise is None else _positive("noise", noise, NOISE),
    )


def read_count_prior(shape: object) -> CountPrior:
    """Validate the prior of counts.

    >>> read_count_prior(0)
    Traceback (most recent call last):
    maptree.parameters.numbers.ParameterValueError: shape=0 is out of range: pass a number from \
0.001 to 10000, such as 1.
    """
    return CountPrior(_positive("shape", shape, SHAPE))


def _positive(name: str, value: object, default: float) -> float:
    least, most = _RANGES[name]
    remedy = f"pass a number from {least:g} to {most:g}, such as {default:g}"
    number = real_number(name, value, remedy)
    if not least <= number <= most:
        raise bad_value(name, value, "is out of range", remedy)
    return number
