"""What the certificate says, in plain words."""

from __future__ import annotations

import math
from typing import Any

from maptree.drawing.search_view import seconds_text

_STOPPED = {
    "time_limit": "its time was up",
    "memory_limit": "its memory was used up",
    "expansion_limit": "it had done the number of steps that was allowed",
    "interrupted": "somebody stopped it",
}
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def certificate_words(classifier: Any) -> list[str]:
    """Return sentences about what is proved of a fitted classifier's tree, one paragraph each."""
    certificate = getattr(classifier, "certificate_", None)
    if certificate is None:
        return ["Nothing is known of how this tree was found."]
    among = f"among all trees {_over(classifier)}"
    took = seconds_text(certificate.seconds)
    if certificate.optimal:
        words = [
            f"Proved: {among}, none is more probable given the data than this one. "
            f"The search took {took}."
        ]
    else:
        words = [
            f"This is the most probable tree that was found in {took}; the search ended because "
            f"{_STOPPED[certificate.status]}. It is not proved to be the best: {among}, there may "
            f"be one that is up to {_times(certificate.gap)} as probable "
            f"(a gap of {certificate.gap:.2f} nats).",
        ]
        depth = certificate.proved_depth
        if depth >= 1 and math.isfinite(depth):
            tests = "a single test" if depth == 1 else f"at most {depth:.0f} tests"
            words.append(
                f"Proved: no tree that asks {tests} on the way to an answer is more probable."
            )
    words.append(
        f"Log posterior {certificate.log_posterior:.4f}; no tree exceeds "
        f"{certificate.log_posterior_bound:.4f}. {count(certificate.expansions, 'step')}, "
        f"{count(certificate.subproblems, 'subproblem')}, {certificate.peak_bytes / 1e6:.1f} MB. "
        f"Prior: alpha {classifier.alpha:g}, beta {classifier.beta:g}, rho "
        f"{', '.join(f'{rho:.4g}' for rho in _few(classifier.rho_))}."
    )
    return words


def count(n: int, one: str, many: str | None = None) -> str:
    """Write a number of things.

    >>> count(1, "leaf", "leaves"), count(2000, "row")
    ('1 leaf', '2,000 rows')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _few(rho: Any) -> list[float]:
    values = [float(value) for value in rho]
    return values[:1] if len(set(values)) == 1 else values


def _over(classifier: Any) -> str:
    """Say what the trees are that the certificate speaks of."""
    encoder = classifier.encoder_
    n_tests = classifier.n_features_in_ if encoder is None else len(encoder.test_columns_)
    questions = "this yes/no question" if n_tests == 1 else f"these {n_tests:,} yes/no questions"
    words = f"that can be made of {questions} about the columns"
    if getattr(classifier, "max_depth", None) is not None:
        words += f", of depth {classifier.max_depth} or less"
    if getattr(classifier, "min_samples_leaf", 1) > 1:
        words += f", with at least {classifier.min_samples_leaf} rows in every leaf"
    return words


def _times(gap: float) -> str:
    """Write e to the power of the gap.

    >>> _times(0.4), _times(4.0), _times(55.7)
    ('1.5 times', '55 times', '10²⁵ times')
    """
    if gap < math.log(1e6):
        times = math.exp(gap)
        return f"{times:.1f} times" if times < 10 else f"{times:,.0f} times"
    exponent = str(math.ceil(gap / math.log(10)))
    return f"10{exponent.translate(_RAISED)} times"
