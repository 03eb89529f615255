"""The options of ``maptree fit``, checked before any file is read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maptree.cli.mistakes import USAGE, Refusal
from maptree.model_file import FORMAT
from maptree.parameters.budget import Budget
from maptree.parameters.numbers import ParameterError, whole_number
from maptree.parameters.prior import read_alpha, read_beta, read_rho
from maptree.parameters.split_prior import read_split_prior

# Options whose names differ from the parameter's, and remedies that differ from the library's.
_OPTIONS = {"n_jobs": "jobs"}
_REMEDIES = {
    "time_limit": "pass a number of seconds above 0, or none to search until the tree is proved",
    "n_jobs": "pass a number of threads, or -1 for all cores",
    "memory_limit": "pass a size such as 4GiB or 500MB",
    "split_prior": "pass tests or columns",
    "rho": "pass a number from 1e-9 to 1e8, or one per class in sorted order, separated by commas",
}


@dataclass(frozen=True)
class Settings:
    """The classifier's parameters as given on the command line."""

    alpha: float
    beta: float
    rho: str | None
    split_prior: str
    time_limit: str
    max_expansions: int | None
    memory_limit: str | None
    max_depth: int | None
    min_samples_leaf: int
    jobs: int

    def parameters(self) -> dict[str, Any]:
        """Return the parameters for the classifier; values out of range are refused."""
        rho = _numbers(self.rho)
        limits: dict[str, Any] = {
            "time_limit": _seconds(self.time_limit),
            "max_expansions": self.max_expansions,
            "memory_limit": self.memory_limit,
            "max_depth": self.max_depth,
            "min_samples_leaf": self.min_samples_leaf,
            "n_jobs": self.jobs,
        }
        try:
            prior: dict[str, Any] = {
                "alpha": read_alpha(self.alpha),
                "beta": read_beta(self.beta),
                "rho": rho,
                "split_prior": read_split_prior(self.split_prior),
            }
            Budget.read(**limits)
        except ParameterError as error:
            raise Refusal(_as_option(error), USAGE) from None
        try:
            if rho is not None:
                read_rho(rho, len(rho) if isinstance(rho, list) else 1)
        except ParameterError as error:
            raise Refusal(f"--rho {self.rho} {error.fault}: {_REMEDIES['rho']}.", USAGE) from None
        return prior | limits


def _as_option(error: ParameterError) -> str:
    """Word a parameter error in terms of command-line options.

    >>> from maptree.parameters.numbers import bad_value
    >>> _as_option(bad_value("max_depth", -1, "is too small", "pass a whole number of at least 0"))
    '--max-depth -1 is too small: pass a whole number of at least 0.'
    """
    name = error.parameter
    option = _OPTIONS.get(name, name).replace("_", "-")
    return f"--{option} {error.value} {error.fault}: {_REMEDIES.get(name, error.remedy)}."


def refuse_number_of_rho(rho: object, n_classes: int) -> None:
    """Refuse a number of pseudo-counts that differs from the number of classes."""
    if isinstance(rho, list) and len(rho) != n_classes:
        fault = f"--rho has {len(rho):,} values but there are {n_classes:,} classes"
        raise Refusal(f"{fault}: {_REMEDIES['rho']}.")


def _seconds(text: str) -> float | None:
    if text.lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise Refusal(f"--time-limit {text}: pass a number of seconds, or none.", USAGE) from None


def _numbers(text: str | None) -> float | list[float] | None:
    if text is None:
        return None
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise Refusal(f"--rho {text}: {_REMEDIES['rho']}.", USAGE) from None
    return numbers[0] if len(numbers) == 1 else numbers


@dataclass(frozen=True)
class HoldingOut:
    """Which rows to hold out, to score the tree on new rows."""

    test_fraction: float | None
    cv: int | None
    seed: int

    def __post_init__(self) -> None:
        if self.test_fraction is not None and self.cv is not None:
            raise Refusal("--test-fraction and --cv cannot be combined: pass one.", USAGE)
        if self.test_fraction is not None and not 0 < self.test_fraction < 1:
            given = f"--test-fraction {self.test_fraction:g}"
            raise Refusal(f"{given} is out of range: pass a fraction such as 0.2.", USAGE)
        if self.cv is not None and self.cv < 2:
            raise Refusal(f"--cv {self.cv}: pass 2 folds or more.", USAGE)
        if not 0 <= self.seed < 2**32:
            raise Refusal(f"--seed {self.seed}: pass a whole number from 0 to 4294967295.", USAGE)


@dataclass(frozen=True)
class TextReading:
    """What decides where text can be read in two ways; None: nothing does."""

    dates: str | None
    decimal: str | None

    def __post_init__(self) -> None:
        if self.dates not in ("dmy", "mdy", None):
            raise Refusal(f"--dates {self.dates} is unknown: pass dmy or mdy.", USAGE)


def read_max_thresholds(text: str) -> int | None:
    """Return the largest number of thresholds of a column; None: all.

    >>> read_max_thresholds("32"), read_max_thresholds("all")
    (32, None)
    """
    if text.lower() == "all":
        return None
    try:
        return whole_number("max_thresholds", int(text), least=1)
    except ValueError:
        given = f"--max-thresholds {text}"
        raise Refusal(f"{given}: pass a whole number of at least 1, or all.", USAGE) from None


@dataclass(frozen=True)
class Plan:
    """What the user asked for."""

    data: str
    target: str
    model: str | None
    drop: list[str]
    column_weights: list[str]
    positive: str | None
    holding_out: HoldingOut
    parameters: dict[str, Any]
    reading: TextReading
    max_thresholds: int | None
    category_sets: bool
    as_json: bool

    @property
    def model_path(self) -> str:
        """Where the model goes: in the working directory, named after the table."""
        if self.model is not None:
            return self.model
        name = "model" if self.data == "-" else Path(self.data).name.partition(".")[0] or "model"
        return f"{name}.model.json" if name != "model" else "model.json"


def refuse_place(path: str) -> None:
    """Refuse an unusable place for the model before the search, not after it."""
    file = Path(path)
    folder = file.resolve().parent
    if file.is_dir():
        raise Refusal(f"--model {path} is a folder: name a file in it.")
    if not folder.is_dir():
        raise Refusal(f"--model {path}: there is no folder {folder}. Create it first.")
    if not os.access(folder, os.W_OK):
        raise Refusal(f"--model {path}: the folder {folder} is not writable. Name another.")
    if file.exists():
        with open(file, "rb") as old:
            start = old.read(200)
        if start.strip() and FORMAT.encode() not in start:
            raise Refusal(f"--model {path} exists and is not a model file: name another.")
