"""A certificate in plain sentences: the same on the terminal, in reports and notebooks."""

from __future__ import annotations

import math

from maptree.trees.certificate import STOPPED_BY, Certificate, gap_text
from maptree.trees.fitted import FittedTree
from maptree.words.values import count, name_text

# A larger gap, in nats, only says that the proof is far from done: e to its power is unimaginable.
_USEFUL = math.log(1e6)
_SPLIT_PRIORS = {
    "tests": "all tests weigh the same",
    "columns": "all columns weigh the same, and thresholds from coarse to fine",
}
_MOST = 10  # columns whose weights are listed
_ONLY_A_LEAF = "A single leaf is the only tree of depth 0."


def certificate_sentences(fitted: FittedTree) -> list[str]:
    """Return what is proved about a fitted tree, as a list of sentences."""
    certificate = fitted.certificate
    if certificate is None:
        return ["Nothing is proved about this tree: it was drawn by a sampler."]
    constraints = _constraints(fitted)
    trees = f"tree over {_tests(fitted)}" + (f", {constraints}," if constraints else "")
    if _only_a_leaf(fitted):
        statements = [_ONLY_A_LEAF, f"Log posterior {certificate.log_posterior:.4f}."]
    elif certificate.optimal:
        statements = [
            f"Proved: no {trees} is more probable than this one.",
            f"Log posterior {certificate.log_posterior:.4f}.",
        ]
    else:
        statements = [
            "Not proved to be the best tree: the search was stopped by "
            f"{STOPPED_BY[certificate.status]}. There may be a {trees} that is "
            f"{_times(certificate.gap)}.",
            certificate.bounds,
        ]
        if certificate.advice:
            statements.append(certificate.advice)
        if certificate.proved_to_depth:
            statements.append(f"Proved: {_lower_first(certificate.proved_to_depth)}")
    if fitted.schema.n_unread:
        statements.append(
            f"The time limit left no time to read {fitted.schema.n_unread:,} of "
            f"{len(fitted.schema.columns):,} columns: the tree does not test them, and nothing is "
            "proved about trees that do."
        )
    return [*statements, certificate.work]


def headline(fitted: FittedTree) -> str:
    """State in a few words what is proved about a fitted tree; empty if there is no certificate.

    >>> from maptree import MAPTreeClassifier
    >>> model = MAPTreeClassifier(max_depth=1).fit([[0], [1]] * 9, [0, 1] * 9)
    >>> headline(model.fitted_)
    'Proved: no tree of depth 1 or less is more probable'
    """
    certificate, constraints = fitted.certificate, _constraints(fitted)
    if certificate is None:
        return ""
    if _only_a_leaf(fitted):
        return _ONLY_A_LEAF.removesuffix(".")
    if certificate.optimal:
        return f"Proved: no tree {f'{constraints} ' if constraints else ''}is more probable"
    words, but = "Best found; no useful bound yet", "but"
    if certificate.gap < _USEFUL:
        gap = gap_text(certificate.gap, 1)
        words, but = f"Best found; at most {gap} nats below the best possible", "and"
    if 1 <= certificate.proved_depth < math.inf:
        words += f", {but} proved best to depth {certificate.proved_depth:.0f}"
    return words


def prior_sentence(fitted: FittedTree) -> str:
    """Return the parameters of the prior, and which tests it prefers.

    >>> from maptree import MAPTreeClassifier
    >>> model = MAPTreeClassifier(column_weights={0: 0}).fit([[0, 0], [1, 1]] * 9, [0, 1] * 9)
    >>> print(prior_sentence(model.fitted_))
    Prior: alpha 0.95, beta 0.5, rho 2.5; all tests weigh the same, times weights of columns: x0 0.
    """
    prior = fitted.prior
    preferred = "tests" if fitted.schema.binary else prior.split_prior  # there both are the same
    rho = prior.rho.tolist()
    shown = rho[:1] if len(set(rho)) == 1 else rho
    sentence = (
        f"Prior: alpha {prior.alpha:g}, beta {prior.beta:g}, "
        f"rho {', '.join(f'{value:.4g}' for value in shown)}; {_SPLIT_PRIORS[preferred]}"
    )
    named = zip(fitted.schema.names, prior.column_weights, strict=False)
    weights = [f"{name_text(name)} {weight:g}" for name, weight in named if weight != 1]
    if weights:
        more = f" and {len(weights) - _MOST:,} more" if len(weights) > _MOST else ""
        sentence += f", times weights of columns: {', '.join(weights[:_MOST])}{more}"
    return f"{sentence}."


def size_sentence(fitted: FittedTree) -> str:
    """Return the size of a tree, and how many columns it tests."""
    tree = fitted.tree
    if tree.n_leaves == 1:
        return f"A single leaf: {_why_one_leaf(fitted)}."
    return (
        f"{tree.n_leaves:,} leaves, depth {tree.depth:,}; tests {len(fitted.used_columns):,} of "
        f"{count(len(fitted.schema.columns), 'column')}."
    )


def short_verdict(certificate: Certificate) -> str:
    """Return what is proved, in two or three words."""
    return "Proved" if certificate.optimal else f"Gap {gap_text(certificate.gap, 1)} nats"


def _why_one_leaf(fitted: FittedTree) -> str:
    if fitted.certificate is None or not fitted.certificate.optimal:
        return "the search ended before it found a better tree"
    constraints = _constraints(fitted)
    if _only_a_leaf(fitted):
        return "the depth is limited to 0"
    if constraints:
        return f"no tree {constraints} is more probable"
    return "no test is worth a split"


def _only_a_leaf(fitted: FittedTree) -> bool:
    """Return whether the constraints leave only one tree, of which nothing needs a proof."""
    return fitted.constraints.max_depth == 0


def _tests(fitted: FittedTree) -> str:
    schema = fitted.schema
    n_tests = len(schema.tests)
    limited = schema.encoder is None or schema.encoder.max_thresholds is not None
    if n_tests == 1:
        return "this test"
    if limited or schema.binary:
        return f"these {n_tests:,} tests"
    compared = [column for column in schema.columns if column.thresholds]
    numbers = [len(column.thresholds) for column in compared if column.kind != "sets"]
    if sum(numbers) < 2:
        return f"these {n_tests:,} tests"
    # Not all sets that there are: those in one order, which was learnt.
    n_sets = sum(len(column.thresholds) for column in compared if column.kind == "sets")
    others = n_tests - sum(numbers) - n_sets
    parts = [f"all {sum(numbers):,} thresholds of {count(len(numbers), 'column')}"]
    parts += [f"these {count(n_sets, 'set')} of categories"] * (n_sets > 0)
    parts += [count(others, "other test")] * (others > 0)
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _constraints(fitted: FittedTree) -> str:
    """Return the user's constraints on trees."""
    constraints, words = fitted.constraints, []
    if constraints.max_depth is not None:
        words.append(f"of depth {constraints.max_depth:,} or less")
    if constraints.min_samples_leaf > 1:
        words.append(f"with at least {constraints.min_samples_leaf:,} rows in every leaf")
    return " and ".join(words)


def _times(gap: float) -> str:
    """Return how probable another tree may be, compared with the one that was found.

    >>> print(_times(0.4), _times(4.0), _times(55.7), sep="; ")
    up to 1.5 times as probable; up to 55 times as probable; far more probable: no useful bound yet
    """
    if gap >= _USEFUL:
        return "far more probable: no useful bound yet"
    times = math.exp(gap)
    return f"up to {f'{times:.1f}' if times < 10 else f'{times:,.0f}'} times as probable"


def _lower_first(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
