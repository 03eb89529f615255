"""The compiled search and samplers. The package's own modules wrap it; nothing here is public."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

class PackedTable:
    """Columns of 0 and 1 as bits."""

    def __init__(self, n_rows: int, n_columns: int) -> None: ...
    def write(self, first: int, columns: NDArray[np.uint8]) -> None:
        """Set columns from ``first`` on; bytes as ``take`` returns them."""
    def take(self) -> NDArray[np.uint8]:
        """Hand over the columns, and be empty: (columns, ceil(rows / 8)) bytes, row r at bit r % 8
        of byte r // 8."""
    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...

def pack(X: NDArray[Any]) -> PackedTable | None:
    """Pack a matrix that is 0/1 throughout; None if it is not."""

def rank(
    keys: NDArray[np.uint64], weights: NDArray[np.int64] | None
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int64]]:
    """Return the rank of every key among the distinct ones; for every rank the first key that has
    it, and the weight of the keys up to it."""

def levels(below: NDArray[np.int64], total: int, last: int) -> NDArray[np.int8]:
    """Return the levels of thresholds, given the weight of the rows below each and of all; those
    that would be above ``last`` are of that one."""

class Dataset:
    """Takes the table, which is empty afterwards; not ``complete`` if ``seconds`` were too few.

    ``test_weights``: prior odds of the tests, whole numbers of 1 or more that sum to less than
    2^31 once their common divisor is taken out; None: all alike. ``ordered``: columns with all
    their thresholds, each as the rank of every row and the number of ranks; threshold t is the
    test rank <= t. Tests are numbered: the columns of the table, then these thresholds.
    ``uses``: where trees may test the columns, of the table and then the ordered ones: 0 anywhere,
    1 below the root, 2 nowhere; None: all of them anywhere. ``amounts``: (rows, 2), what a row of
    weight 1 adds to the sums of a leaf, of numbers (z, z^2) or of counts (y, units of exposure);
    the labels are then all 0, of one class, and no column is ordered. None: classes."""

    def __init__(
        self,
        table: PackedTable,
        labels: NDArray[np.uint8] | NDArray[np.int32],
        weights: NDArray[np.int64] | None,
        n_classes: int,
        fold_rows: bool = True,
        fold_columns: bool = True,
        memory_limit: int = -1,
        seconds: float = ...,
        clock: Callable[[], float] | None = None,
        test_weights: NDArray[np.uint32] | None = None,
        ordered: Sequence[tuple[NDArray[np.uint32], int]] = (),
        uses: NDArray[np.uint8] | None = None,
        amounts: NDArray[np.int64] | None = None,
    ) -> None: ...
    def rows_beside(self, tests: Sequence[int]) -> list[tuple[int, int]]:
        """Return, for each of some thresholds in increasing order, a row with the rank below it,
        and one with the rank above."""
    def use_keys(self, multipliers: NDArray[np.uint64]) -> None: ...
    @property
    def complete(self) -> bool: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_classes(self) -> int: ...
    @property
    def n_distinct_rows(self) -> int: ...
    @property
    def n_distinct_columns(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def peak_bytes(self) -> int: ...
    @property
    def total_weight(self) -> int: ...

class Prior:
    def __init__(self, alpha: float, beta: float, rho: NDArray[np.float64]) -> None: ...
    @staticmethod
    def of_numbers(
        alpha: float, beta: float, kappa: float, nu: float, lam: float, steps: int
    ) -> Prior:
        """Of numbers in whole steps, ``steps`` of which are a standard deviation."""
    @staticmethod
    def of_counts(alpha: float, beta: float, shape: float, rate: float, units: int) -> Prior:
        """Of counts; ``rate`` is in mean exposures, ``units`` of which are one."""

class Options:
    """Every shortcut of the search has a switch; Options() has all of them on."""

    def __init__(
        self,
        *,
        fold_columns: bool = True,
        fold_rows: bool = True,
        compact: bool = True,
        pair_expansion: bool = True,
        greedy_start: bool = True,
        improve: bool = True,
        depth_first: bool = True,
        depth_transfer: bool = True,
        graded_proof: bool = True,
        distinct_rows_bound: bool = True,
        equivalent_rows_bound: bool = True,
        few_leaves_bound: bool = True,
        structure_bound: bool = True,
        varying_bound: bool = True,
        kernel: str = "auto",
        max_depth: int = -1,
        min_samples_leaf: int = 1,
        max_leaves: int = -1,
        leaf_price: float = 0.0,
    ) -> None: ...
    @staticmethod
    def paper(**changes: object) -> Options: ...
    @property
    def fold_columns(self) -> bool: ...
    @property
    def fold_rows(self) -> bool: ...
    @property
    def compact(self) -> bool: ...
    @property
    def pair_expansion(self) -> bool: ...
    @property
    def greedy_start(self) -> bool: ...
    @property
    def improve(self) -> bool: ...
    @property
    def depth_first(self) -> bool: ...
    @property
    def depth_transfer(self) -> bool: ...
    @property
    def graded_proof(self) -> bool: ...
    @property
    def distinct_rows_bound(self) -> bool: ...
    @property
    def equivalent_rows_bound(self) -> bool: ...
    @property
    def few_leaves_bound(self) -> bool: ...
    @property
    def structure_bound(self) -> bool: ...
    @property
    def varying_bound(self) -> bool: ...
    @property
    def kernel(self) -> str: ...
    @property
    def max_depth(self) -> int: ...
    @property
    def min_samples_leaf(self) -> int: ...
    @property
    def max_leaves(self) -> int: ...
    @property
    def leaf_price(self) -> float: ...

class Limits:
    """``clock`` (in seconds, called from any thread) and how much work may be done between two
    readings of it are for tests; work is in units of about a nanosecond."""

    def __init__(
        self,
        *,
        seconds: float = ...,
        max_expansions: int = -1,
        memory: int = -1,
        threads: int = 1,
        patience: float = ...,
        poll_seconds: float = 0.05,
        clock: Callable[[], float] | None = None,
        work_per_reading: int = ...,
    ) -> None: ...

class Progress:
    @property
    def seconds(self) -> float: ...
    @property
    def expansions(self) -> int: ...
    @property
    def subproblems(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float: ...
    @property
    def proved_depth(self) -> int: ...
    @property
    def leaves(self) -> int: ...

class Result:
    @property
    def status(self) -> str: ...
    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float: ...
    @property
    def proved_depth(self) -> int: ...
    @property
    def expansions(self) -> int: ...
    @property
    def subproblems(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def peak_bytes(self) -> int: ...
    @property
    def clock_readings(self) -> int:
        """How often the clock was read to see whether to stop."""
    @property
    def most_work(self) -> int:
        """The most work that a thread did between two readings of the clock."""
    @property
    def trace(self) -> NDArray[np.float64]: ...
    @property
    def feature(self) -> NDArray[np.int32]: ...
    @property
    def left(self) -> NDArray[np.int32]: ...
    @property
    def right(self) -> NDArray[np.int32]: ...
    @property
    def counts(self) -> NDArray[np.int64]:
        """(nodes, classes); of numbers and counts (nodes, 3): rows, and the two sums."""
    @property
    def gain(self) -> NDArray[np.float64]:
        """By node, what its subtree costs less than a leaf in its place; 0 at leaves."""

def search(
    dataset: Dataset,
    prior: Prior,
    options: Options,
    limits: Limits,
    on_progress: Callable[[Progress], object] | None = None,
    known: list[Result] = ...,
) -> Result: ...
def sweep_sizes(
    dataset: Dataset,
    prior: Prior,
    options: Options,
    limits: Limits,
    on_progress: Callable[[Progress], object] | None = None,
) -> list[Result]: ...

Rival = tuple[
    float,
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.float64],
]

class RivalProgress:
    @property
    def seconds(self) -> float: ...
    @property
    def expansions(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def found(self) -> int: ...
    @property
    def examined(self) -> int: ...
    @property
    def best(self) -> float:
        """What the first tree costs; infinite before it is proved."""
    @property
    def complete(self) -> float: ...

class Rivals:
    @property
    def status(self) -> str:
        """``optimal``: all that was asked for is there; else what stopped it."""
    @property
    def complete(self) -> float:
        """Trees that part the rows in another way than these, and than those that were not
        accepted, cost as much or more."""
    @property
    def best(self) -> float:
        """What the most probable tree costs; infinite if that was not proved."""
    @property
    def examined(self) -> int:
        """Trees that were found, whether they were accepted or not."""
    @property
    def expansions(self) -> int: ...
    @property
    def first_expansions(self) -> int:
        """Of these, for the proof of the first tree."""
    @property
    def seconds(self) -> float: ...
    @property
    def peak_bytes(self) -> int: ...
    @property
    def trees(self) -> list[Rival]:
        """Cost, feature, left, right, counts and gain (``Result``) of each, the cheapest first."""

def rivals(
    dataset: Dataset,
    prior: Prior,
    options: Options,
    most: int,
    within: float,
    limits: Limits,
    on_progress: Callable[[RivalProgress], object] | None = None,
    accept: Callable[[Rival], object] | None = None,
) -> Rivals:
    """The cheapest ways to part the rows by a tree, each by its cheapest tree: at most ``most``,
    none that costs more than ``within`` nats more than the cheapest, and of these those that
    ``accept`` returns true for."""

def kernels() -> list[str]: ...
def route(
    n_rows: int,
    test: NDArray[np.int32],
    no: NDArray[np.int32],
    yes: NDArray[np.int32],
    tests: list[tuple[NDArray[Any], str, NDArray[Any], NDArray[np.bool_] | None]],
) -> NDArray[np.int64]:
    """The leaf of each row. By node its test, -1 at a leaf, and its children; by test the values of
    its column, "at most", "equals" or "missing", an array of one value of the same type to compare
    with, and where values are missing."""

class SampleProgress:
    @property
    def seconds(self) -> float: ...
    @property
    def steps(self) -> int:
        """Iterations of all chains, or decisions of all particles."""
    @property
    def total_steps(self) -> int:
        """0: not known."""
    @property
    def log_posterior(self) -> float:
        """Of the best tree so far; -inf before the first."""

class Samples:
    """Samples of trees; the distinct trees that were kept lie one after the other, in preorder."""

    @property
    def status(self) -> str:
        """complete, time_limit or interrupted"""
    @property
    def seconds(self) -> float: ...
    @property
    def clock_readings(self) -> int: ...
    @property
    def most_work(self) -> int: ...
    @property
    def trace(self) -> NDArray[np.float64]:
        """(n, 3): seconds, steps, log posterior of the best tree; improvements, and the end."""
    @property
    def offsets(self) -> NDArray[np.int64]:
        """Nodes of tree t: offsets[t] to offsets[t + 1]; there is one more than trees."""
    @property
    def feature(self) -> NDArray[np.int32]: ...
    @property
    def left(self) -> NDArray[np.int32]:
        """Numbered within the tree, as is ``right``."""
    @property
    def right(self) -> NDArray[np.int32]: ...
    @property
    def counts(self) -> NDArray[np.int64]:
        """(nodes, classes)"""
    @property
    def log_posterior(self) -> NDArray[np.float64]:
        """By tree."""
    @property
    def best(self) -> int:
        """The best tree seen; it may have no sample."""
    @property
    def sample(self) -> NDArray[np.int32]:
        """(chains or islands, samples): their trees, -1 where not reached. As many columns as the
        farthest chain has samples."""

class McmcSamples(Samples):
    @property
    def log_posteriors(self) -> NDArray[np.float64]:
        """(chains, iterations of the farthest chain), after each; NaN where not reached."""
    @property
    def proposed(self) -> NDArray[np.int64]:
        """(chains, 4): grow, prune, change, swap"""
    @property
    def accepted(self) -> NDArray[np.int64]: ...

class SmcSamples(Samples):
    @property
    def log_weights(self) -> NDArray[np.float64]:
        """(islands that were begun, particles)"""
    @property
    def log_evidence(self) -> NDArray[np.float64]:
        """(islands,): log of the sum of an island's weights; NaN where it was not begun"""
    @property
    def resamplings(self) -> NDArray[np.int64]: ...

def sample_mcmc(
    dataset: Dataset,
    prior: Prior,
    *,
    n_samples: int,
    burn_in: int,
    thin: int,
    n_chains: int,
    seed: int,
    initial: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]] | None = None,
    limits: Limits,
    on_progress: Callable[[SampleProgress], object] | None = None,
) -> McmcSamples:
    """Sample; ``dataset`` has rows folded and columns not, ``seed`` has 64 bits."""

def sample_smc(
    dataset: Dataset,
    prior: Prior,
    *,
    n_particles: int,
    n_islands: int,
    proposal: str,
    growth: str,
    resampling: str,
    ess_threshold: float,
    seed: int,
    limits: Limits,
    on_progress: Callable[[SampleProgress], object] | None = None,
) -> SmcSamples:
    """Sample; ``dataset`` has rows folded and columns not, ``seed`` has 64 bits."""
