"""Limits, from the user's notation to the core's."""

from __future__ import annotations

import math
import re
from numbers import Integral

from maptree.parameters.numbers import bad_type, bad_value, real_number, whole_number

# Counts have 26 bits or more everywhere; one bit is reserved for sums of two.
MAX_TOTAL_WEIGHT = 2**25

# Of a sampler. Samples are numbered in 32 bits. Every chain and particle takes memory from the
# start, whatever the time limit.
MOST_SAMPLES = 2**31 - 1
MOST_CHAINS = 2**16
MOST_PARTICLES = 2**20
MOST_ISLANDS = 2**16

_MOST_THREADS = 256

_UNITS = {"": 1, "b": 1}
_UNITS.update({f"{letter}b": 1000**power for power, letter in enumerate("kmgt", start=1)})
_UNITS.update({f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", start=1)})
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([a-z]*)\s*", re.IGNORECASE)


def n_threads(n_jobs: object) -> int:
    """Return the number of threads that ``n_jobs`` means, by the conventions of joblib.

    >>> n_threads(None), n_threads(3)
    (1, 3)
    """
    remedy = "pass None, a number of threads, or -1 for all cores"
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise bad_type("n_jobs", n_jobs, "is not a whole number", remedy)
    if n_jobs == 0:
        raise bad_value("n_jobs", 0, "leaves no threads", remedy)
    if n_jobs == 1:
        return 1
    from joblib import effective_n_jobs  # not needed for one thread, and slow to import

    return min(int(effective_n_jobs(n_jobs)), _MOST_THREADS)


def time_limit(value: object, without: str = "to search until the tree is proved") -> float:
    """Return a time limit in seconds; None is infinite. ``without`` says what None is for.

    >>> time_limit(2), time_limit(None)
    (2.0, inf)
    """
    if value is None:
        return math.inf
    remedy = f"pass a number of seconds above 0, or None {without}"
    seconds = real_number("time_limit", value, remedy)
    if seconds <= 0:
        raise bad_value("time_limit", value, "leaves no time", remedy)
    return seconds


def max_expansions(value: object) -> int:
    """Return a limit on expansions for the core; -1 is no limit.

    >>> max_expansions(1000), max_expansions(None)
    (1000, -1)
    """
    return -1 if value is None else whole_number("max_expansions", value, least=1)


def patience(value: object) -> float:
    """Return how patient a search is, for the core; None is infinite.

    >>> patience(4), patience(None)
    (4.0, inf)
    """
    if value is None:
        return math.inf
    remedy = "pass a number of at least 1, such as 4, or None to search until a limit is reached"
    number = real_number("patience", value, remedy)
    if number < 1:
        raise bad_value("patience", value, "is too small", remedy)
    return number


def memory_limit(value: object) -> int:
    """Return a memory limit in bytes; -1 is no limit.

    Text is a number and a unit: kB, MB, GB, TB in thousands, KiB, MiB, GiB, TiB in 1024s,
    in upper or lower case.

    >>> memory_limit("4GiB"), memory_limit("1.5 MB"), memory_limit(None)
    (4294967296, 1500000, -1)
    """
    if value is None:
        return -1
    remedy = 'pass bytes as an int, or text such as "4GiB" or "500MB"'
    if isinstance(value, str):
        match = _SIZE.fullmatch(value)
        unit = match.group(2).lower() if match else ""
        if match is None or unit not in _UNITS:
            raise bad_value("memory_limit", value, "is not a size", remedy)
        size = int(min(float(match.group(1)) * _UNITS[unit], 2.0**63))
    elif isinstance(value, bool) or not isinstance(value, Integral):
        raise bad_type("memory_limit", value, "is not a size", remedy)
    else:
        size = int(value)
    if size <= 0:
        raise bad_value("memory_limit", value, "leaves no memory", remedy)
    if size >= 2**63:
        raise bad_value("memory_limit", value, "is too large", remedy)
    return size


def total_weight(total: int) -> int:
    """Return the number of rows, counted with their weights; refuse more than the search can count.

    >>> total_weight(1000)
    1000
    """
    if total > MAX_TOTAL_WEIGHT:
        count = f"{total:,}" if total < 10**15 else f"{float(total):.3g}"
        raise ValueError(
            f"The weights of the rows sum to {count}, but counts overflow above "
            f"{MAX_TOTAL_WEIGHT:,}: draw a sample of the rows, or divide the weights by a common "
            "factor."
        )
    return total
