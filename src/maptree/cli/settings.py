"""The options of ``maptree fit`` and ``maptree path``, checked before any file is read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from maptree.cli.column_weights import parse_weights
from maptree.cli.mistakes import USAGE, Refusal, refuse_absent, refuse_unknown, split_names
from maptree.cli.options import FileOptions, TrainingOptions
from maptree.cli.search_options import LimitOptions, SearchOptions
from maptree.cli.task import CLASSES, COUNT, LIKELIHOODS, NUMBER, read_task
from maptree.model_file import FORMAT
from maptree.parameters.budget import Budget
from maptree.parameters.numbers import ParameterError, whole_number
from maptree.parameters.outcomes import (
    NU,
    SHAPE,
    read_count_prior,
    read_number_prior,
)
from maptree.parameters.prior import read_alpha, read_beta, read_rho
from maptree.parameters.split_prior import read_split_prior

# Options whose names differ from the parameter's, and remedies that differ from the library's.
_OPTIONS = {"n_jobs": "jobs"}
_REMEDIES = {
    "time_limit": "pass a number of seconds above 0, or none to search until the tree is proved",
    "patience": "pass a number of at least 1, such as 4, or none to search until a limit",
    "n_jobs": "pass a number of threads, or -1 for all cores",
    "max_leaf_nodes": "pass 1 to 128",
    "within": "pass a number of nats of at least 0",
    "memory_limit": "pass a size such as 4GiB or 500MB",
    "split_prior": "pass tests or columns",
    "rho": "pass a number from 1e-9 to 1e8, or one per class in sorted order, separated by commas",
}
# What other values save and lose: bench/patience.py.
PATIENCE_OF_FOLDS = 4.0

SAMPLES = 250  # trees kept from each chain
# The prior of a leaf, by task: the options, and what they are without them.
_OF_LEAVES: dict[str, dict[str, float | None]] = {
    CLASSES: {"rho": None},
    NUMBER: {"kappa": None, "nu": NU, "noise": None},
    COUNT: {"shape": SHAPE},
}
# Constraints on trees, and what means none.
_CONSTRAINTS = {"max_depth": None, "max_leaf_nodes": None, "min_samples_leaf": 1}


@dataclass(frozen=True)
class Settings:
    """The estimator's parameters as given on the command line."""

    search: SearchOptions
    time_limit: str
    max_leaf_nodes: int | None
    patience: str | None = None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters for the estimator; values out of range are refused.

        Those of the prior of leaves are None where they were not given.
        """
        search = self.search
        rho = _numbers(search.rho)
        limits: dict[str, Any] = {
            "time_limit": _number("time_limit", self.time_limit),
            "max_expansions": search.max_expansions,
            "memory_limit": search.memory_limit,
            "max_depth": search.max_depth,
            "max_leaf_nodes": self.max_leaf_nodes,
            "min_samples_leaf": search.min_samples_leaf,
            "n_jobs": search.jobs,
            "patience": None if self.patience is None else _number("patience", self.patience),
        }
        try:
            prior: dict[str, Any] = {
                "alpha": read_alpha(search.alpha),
                "beta": read_beta(search.beta),
                "rho": rho,
                "split_prior": read_split_prior(search.split_prior),
                **self._measured_prior(),
            }
            Budget.read(**limits)
        except ParameterError as error:
            raise Refusal(as_option(error), USAGE) from None
        try:
            if rho is not None:
                read_rho(rho, len(rho) if isinstance(rho, list) else 1)
        except ParameterError as error:
            raise Refusal(f"--rho {search.rho} {error.fault}: {_REMEDIES['rho']}.", USAGE) from None
        return prior | limits

    def _measured_prior(self) -> dict[str, float | None]:
        """Return the prior of numbers and counts, checked; None where it was not given."""
        names = [*_OF_LEAVES[NUMBER], *_OF_LEAVES[COUNT]]
        given: dict[str, float | None] = {name: getattr(self.search, name) for name in names}
        numbers, counts = (
            {name: value if given[name] is None else given[name] for name, value in some.items()}
            for some in (_OF_LEAVES[NUMBER], _OF_LEAVES[COUNT])
        )
        read_number_prior(**numbers)
        read_count_prior(**counts)
        return given

    def of_folds(self) -> dict[str, Any]:
        """Return the parameters for the folds of a cross-validation, whose proofs nobody reads."""
        given = self.parameters()
        return given if self.patience is not None else given | {"patience": PATIENCE_OF_FOLDS}


def as_option(error: ParameterError) -> str:
    """Word a parameter error in terms of command-line options.

    >>> from maptree.parameters.numbers import bad_value
    >>> as_option(bad_value("max_depth", -1, "is too small", "pass a whole number of at least 0"))
    '--max-depth -1 is too small: pass a whole number of at least 0.'
    """
    name = error.parameter
    option = _OPTIONS.get(name, name).replace("_", "-")
    dashes = "-" if len(option) == 1 else "--"
    return f"{dashes}{option} {error.value} {error.fault}: {_REMEDIES.get(name, error.remedy)}."


def read_limits(time_limit: str, given: LimitOptions) -> dict[str, Any]:
    """Return the limits of a search as parameters of the classifier; refuse those out of range."""
    limits = {
        "time_limit": _number("time_limit", time_limit),
        "max_expansions": given.max_expansions,
        "memory_limit": given.memory_limit,
    }
    try:
        Budget.read(**limits, max_depth=None, min_samples_leaf=1, n_jobs=1)
    except ParameterError as error:
        raise Refusal(as_option(error), USAGE) from None
    return limits


def refuse_number_of_rho(rho: object, n_classes: int) -> None:
    """Refuse a number of pseudo-counts that differs from the number of classes."""
    if isinstance(rho, list) and len(rho) != n_classes:
        fault = f"--rho has {len(rho):,} values but there are {n_classes:,} classes"
        raise Refusal(f"{fault}: {_REMEDIES['rho']}.")


def estimator_parameters(given: dict[str, Any], task: str) -> dict[str, Any]:
    """Return the parameters that the estimator for a task has; those not given as they are there.

    >>> found = estimator_parameters({"alpha": 0.9, "rho": None, "nu": None, "shape": 2.0}, COUNT)
    >>> found
    {'alpha': 0.9, 'shape': 2.0, 'likelihood': 'poisson'}
    """
    of_leaves = {name for some in _OF_LEAVES.values() for name in some}
    found = {name: value for name, value in given.items() if name not in of_leaves}
    for name, value in _OF_LEAVES[task].items():
        found[name] = value if given.get(name) is None else given[name]
    return found if task == CLASSES else found | {"likelihood": LIKELIHOODS[task]}


def refuse_other_tasks(given: dict[str, Any], task: str) -> None:
    """Refuse options about the leaves of another task."""
    for other, names in _OF_LEAVES.items():
        wrong = [name for name in names if other != task and given.get(name) is not None]
        if wrong:
            raise Refusal(
                f"--{wrong[0]} is for --task {other}, but the target is taken as "
                f"{'classes' if task == CLASSES else f'a {task}'}: leave it out, or pass --task "
                f"{other}.",
                USAGE,
            )


def _number(name: str, text: str) -> float | None:
    if text.lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        option = name.replace("_", "-")
        raise Refusal(f"--{option} {text} is not a number: {_REMEDIES[name]}.", USAGE) from None


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
class Averaging:
    """Chains over which predictions are averaged; ``iterations`` None: until they have mixed."""

    iterations: int | None

    @classmethod
    def read(cls, wanted: bool, iterations: int | None, settings: Settings) -> Self | None:
        """Check the options; None without ``--average``."""
        if not wanted:
            if iterations is not None:
                raise Refusal("--iterations has no effect without --average: pass both.", USAGE)
            return None
        if iterations is not None and not SAMPLES <= iterations <= 10**9:
            remedy = f"pass a whole number from {SAMPLES} to 1000000000"
            raise Refusal(f"--iterations {iterations}: {remedy}.", USAGE)
        given = settings.parameters()
        wishes = settings.search.first or settings.search.without
        if wishes or any(given[name] != none for name, none in _CONSTRAINTS.items()):
            raise Refusal(
                "--average cannot be combined with --max-depth, --max-leaf-nodes, "
                "--min-samples-leaf, --first or --without: the chains draw from all trees. Leave "
                "out one or the other.",
                USAGE,
            )
        return cls(iterations)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters for the chains."""
        if self.iterations is None:
            return {}
        return {"n_samples": SAMPLES, "thin": self.iterations // SAMPLES}


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
    first: list[str]
    without: list[str]
    positive: str | None
    holding_out: HoldingOut
    parameters: dict[str, Any]
    of_folds: dict[str, Any]  # parameters
    reading: TextReading
    max_thresholds: int | None
    category_sets: bool
    as_json: bool
    average: Averaging | None = None
    task: str | None = None  # None: the values of the target decide
    exposure: str | None = None  # a column

    @classmethod
    def of(
        cls,
        data: str,
        training: TrainingOptions,
        settings: Settings,
        holding_out: HoldingOut,
        *,
        decimal: str | None,
        as_json: bool,
        average: Averaging | None = None,
    ) -> Self:
        """Check all options that can be checked without the table."""
        search = settings.search
        return cls(
            data=data,
            target=training.target,
            model=training.model,
            drop=training.drop or [],
            column_weights=search.column_weights or [],
            first=search.first or [],
            without=search.without or [],
            positive=training.positive,
            holding_out=holding_out,
            parameters=settings.parameters(),
            of_folds=settings.of_folds(),
            reading=TextReading(training.dates, decimal),
            max_thresholds=read_max_thresholds(search.max_thresholds),
            category_sets=search.category_sets,
            as_json=as_json,
            average=average,
            task=read_task(training.task, training.exposure),
            exposure=training.exposure,
        )

    @property
    def model_path(self) -> str:
        """Where the model goes: in the working directory, named after the table."""
        if self.model is not None:
            return self.model
        name = "model" if self.data == "-" else Path(self.data).name.partition(".")[0] or "model"
        return f"{name}.model.json" if name != "model" else "model.json"


def refuse_at_once(plan: Plan, file: FileOptions) -> None:
    """Report mistakes before the slow imports, and before the table is read."""
    refuse_absent(plan.data)
    refuse_place(plan.model_path)
    names = file.quick_names(plan.data)
    if names is not None:
        refuse_unknown([plan.target, *split_names(plan.drop, names)], names, plan.data)
        refuse_unknown(split_names([*plan.first, *plan.without], names), names, plan.data)
        refuse_unknown([plan.exposure] if plan.exposure is not None else [], names, plan.data)
        parse_weights(plan.column_weights, names, plan.data)


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
