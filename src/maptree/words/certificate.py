"""A certificate in plain sentences: the same on the terminal, in reports and notebooks.

What is proved is a ``Certificate`` of numbers (``trees``). All sentences about it are here, what
nats say is in ``nats``, what the words mean in ``glossary``; other modules combine them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import fill

from maptree.trees.certificate import ALTERNATIVE, Certificate
from maptree.trees.fitted import FittedTree
from maptree.trees.outcomes import Numbers
from maptree.words.glossary import GLOSSARY
from maptree.words.html_parts import fragment, glossary, paragraphs, verdict
from maptree.words.nats import (
    FAR,
    NAT,
    NOT_THE_TREE,
    at_most_text,
    gap_text,
    is_useful,
    times_text,
)
from maptree.words.values import count, name_text

# What ended a search that did not prove its tree.
STOPPED_BY = {
    "time_limit": "the time limit",
    "memory_limit": "the memory limit",
    "class_limit": "the number of classes",
    "expansion_limit": "the limit on expansions",
    "patience": "patience, as no proof was in sight",
    "interrupted": "an interruption",
}
_SPLIT_PRIORS = {
    "tests": "all tests weigh the same",
    "columns": "all columns weigh the same, and thresholds from coarse to fine",
}
_MOST = 10  # columns whose weights are listed
_ONLY_A_LEAF = "A single leaf is the only tree of depth 0."
_CLASS_LIMIT = (
    "Every node of a tree holds a count of each class, and larger trees would take more than "
    "128 MiB: merge classes."
)
_DENSITY = (
    "That is about y rounded to 1/256 of its standard deviation, and log posteriors are of the "
    "density of y divided by that, which may be above 1."
)
_WIDTH = 79


@dataclass(frozen=True, repr=False)
class StatedCertificate(Certificate):
    """A certificate with its words, which also name the trees that it is about.

    Attributes
    ----------
    headline : str
        What is proved, in a few words.
    sentences : tuple of str
        The same in full; ``print`` shows them.
    """

    headline: str = field(default="", compare=False)
    sentences: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return "\n".join(fill(sentence, _WIDTH) for sentence in self.sentences)

    def _repr_html_(self) -> str:
        """Return the same for a notebook, and what the words mean."""
        # Where all is proved, the first sentence is the headline, and names the trees.
        first, *rest = self.sentences if self.optimal else (f"{self.headline}.", *self.sentences)
        return fragment(verdict(first, self.optimal), paragraphs(rest), glossary(GLOSSARY))


def stated(fitted: FittedTree) -> StatedCertificate | None:
    r"""Return the certificate of a tree with its words; None if there is none.

    >>> from maptree import MAPTreeClassifier
    >>> model = MAPTreeClassifier(max_depth=1).fit([[0], [1]] * 9, [0, 1] * 9)
    >>> print(*stated(model.fitted_).sentences[:3], sep="\n")
    Proved: no tree over this test, of depth 1 or less, is more probable than this one.
    Other trees were not considered.
    Log posterior -6.7849.
    """
    if fitted.certificate is None:
        return None
    return StatedCertificate(
        **fitted.certificate.numbers(),
        headline=headline(fitted),
        sentences=tuple(certificate_sentences(fitted)),
    )


def certificate_sentences(fitted: FittedTree) -> list[str]:
    """Return what is proved about a fitted tree, as a list of sentences."""
    certificate = fitted.certificate
    if certificate is None:
        return ["Nothing is proved about this tree: it was drawn by a sampler."]
    constraints = constraints_text(fitted)
    trees = f"tree{_over_tests(fitted)}" + (f", {constraints}," if constraints else "")
    if _only_a_leaf(fitted):
        statements = [_ONLY_A_LEAF, _log_posterior(certificate)]
    elif certificate.optimal:
        statements = [f"Proved: no {trees} is more probable than this one."]
        statements += ["Other trees were not considered."] * bool(constraints)
        statements.append(_log_posterior(certificate))
    elif certificate.status == ALTERNATIVE:
        statements = [
            f"{_chosen(certificate, constraints)} No {trees} is more probable than that one.",
            bounds_sentence(certificate, constraints),
            NAT,
        ]
    else:
        stopped = (
            f"Not proved to be the best {trees.removesuffix(',')}: the search was stopped by "
            f"{STOPPED_BY[certificate.status]}."
        )
        statements = [
            f"{stopped} {_left_open(certificate.gap)}",
            *[_CLASS_LIMIT] * (certificate.status == "class_limit"),
            *_proved_to_depth(fitted, certificate),
            bounds_sentence(certificate, constraints),
            NAT,
        ]
    if fitted.schema.n_unread:
        statements.append(
            f"The time limit left no time to read {fitted.schema.n_unread:,} of "
            f"{len(fitted.schema.columns):,} columns: the tree does not test them, and nothing is "
            "proved about trees that do."
        )
    if isinstance(fitted.measured, Numbers):
        statements.append(_DENSITY)
    return [*statements, _work(certificate)]


def headline(fitted: FittedTree) -> str:
    """State in a few words what is proved about a fitted tree; empty if there is no certificate.

    >>> from maptree import MAPTreeClassifier
    >>> model = MAPTreeClassifier(max_depth=1).fit([[0], [1]] * 9, [0, 1] * 9)
    >>> headline(model.fitted_)
    'Proved: no tree of depth 1 or less is more probable'
    """
    certificate, constraints = fitted.certificate, constraints_text(fitted)
    if certificate is None:
        return ""
    if _only_a_leaf(fitted):
        return _ONLY_A_LEAF.removesuffix(".")
    if certificate.optimal:
        return f"Proved: no tree {f'{constraints} ' if constraints else ''}is more probable"
    if certificate.status == ALTERNATIVE:
        return _chosen(certificate, constraints).removesuffix(".")
    words = f"Best found of the trees {constraints}" if constraints else "Best found"
    none = "none" if constraints else "no tree"
    useful = is_useful(certificate.gap)
    if useful:
        words += f"; {none} is more than {at_most_text(certificate.gap)} times as probable"
    else:
        words += "; no useful bound yet"
    if 1 <= certificate.proved_depth < math.inf:
        words += ", and none" if useful else f", but {none}"
        words += f" of depth {certificate.proved_depth:.0f} or less is more probable"
    return words


def bounds_sentence(certificate: Certificate, constraints: str = "") -> str:
    """Return the log posterior, its upper bound, and the gap."""
    no_tree = "no such tree" if constraints else "no tree"
    if math.isinf(certificate.log_posterior_bound):
        return f"{_log_posterior(certificate)} Nothing is known about other trees."
    return (
        f"Log posterior {certificate.log_posterior:.4f}; {no_tree} exceeds "
        f"{certificate.log_posterior_bound:.4f} (gap {gap_text(certificate.gap, 4)} nats)."
    )


def _log_posterior(certificate: Certificate) -> str:
    return f"Log posterior {certificate.log_posterior:.4f}."


def _chosen(certificate: Certificate, constraints: str) -> str:
    """Return that another tree is more probable, and by how much."""
    best = f"the best tree {constraints}".rstrip()
    times = times_text(certificate.gap)
    return f"Chosen among the alternatives: {best} is {times} times as probable."


def _left_open(gap: float) -> str:
    """Return how probable another tree may be, compared with the one that was found.

    >>> print(_left_open(4.0))
    Another may be up to 55 times as probable, but not more.
    >>> print(_left_open(30.0))  # doctest: +NORMALIZE_WHITESPACE
    No useful bound yet: as far as is proved, another could be more than a million times as
    probable. That is about the proof, not about the tree: a large gap does not mean that the tree
    is bad.
    >>> print(_left_open(3681.0))  # doctest: +NORMALIZE_WHITESPACE
    No useful bound yet: the proof is far from done. That is about the proof, not about the tree:
    a large gap does not mean that the tree is bad.
    """
    if is_useful(gap):
        return f"Another may be up to {at_most_text(gap)} times as probable, but not more."
    if gap <= FAR:
        how = "as far as is proved, another could be more than a million times as probable"
    else:
        how = "the proof is far from done"
    return f"No useful bound yet: {how}. {NOT_THE_TREE}"


def _proved_to_depth(fitted: FittedTree, certificate: Certificate) -> list[str]:
    """Return what is proved about trees of a limited depth; nothing if only about a leaf."""
    proved, depth = certificate.proved_depth, fitted.tree.depth
    if math.isinf(proved):
        return ["Proved: no tree of any depth is more probable."]
    if proved < 1:
        return []
    others = _joined(_other_phrases(fitted), "and")
    trees = f"tree of depth {proved:.0f} or less" + (f", {others}," if others else "")
    itself = f", which is of depth {depth:,} itself" if depth > proved else ""
    return [
        f"Proved to depth {proved:.0f}: no {trees} is more probable than this one{itself}. "
        "Deeper trees are not excluded."
    ]


def _work(certificate: Certificate) -> str:
    """Return the work that the search took."""
    return (
        f"{certificate.seconds:.2f} s, {count(certificate.expansions, 'expansion')}, "
        f"{count(certificate.subproblems, 'subproblem')}, {certificate.peak_bytes / 1e6:.1f} MB."
    )


def prior_sentence(fitted: FittedTree) -> str:
    """Return the parameters of the prior, and which tests it prefers.

    >>> from maptree import MAPTreeClassifier
    >>> model = MAPTreeClassifier(column_weights={0: 0}).fit([[0, 0], [1, 1]] * 9, [0, 1] * 9)
    >>> print(prior_sentence(model.fitted_))
    Prior: alpha 0.95, beta 0.5, rho 2.5; all tests weigh the same, times weights of columns: x0 0.
    """
    prior = fitted.prior
    preferred = "tests" if fitted.schema.binary else prior.split_prior  # there both are the same
    sentence = (
        f"Prior: alpha {prior.alpha:g}, beta {prior.beta:g}, {_prior_of_leaves(fitted)}; "
        f"{_SPLIT_PRIORS[preferred]}"
    )
    named = zip(fitted.schema.names, prior.column_weights, strict=False)
    weights = [f"{name_text(name)} {weight:g}" for name, weight in named if weight != 1]
    if weights:
        more = f" and {len(weights) - _MOST:,} more" if len(weights) > _MOST else ""
        sentence += f", times weights of columns: {', '.join(weights[:_MOST])}{more}"
    return f"{sentence}."


def _prior_of_leaves(fitted: FittedTree) -> str:
    if fitted.measured is not None:
        return ", ".join(f"{name} {value:g}" for name, value in vars(fitted.measured.prior).items())
    rho = fitted.prior.rho.tolist()
    shown = rho[:1] if len(set(rho)) == 1 else rho
    return f"rho {', '.join(f'{value:.4g}' for value in shown)}"


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
    """Return what is proved, in a few words."""
    if certificate.optimal:
        return "Proved"
    useful = is_useful(certificate.gap)
    return f"Gap {gap_text(certificate.gap, 1)} nats" if useful else "No useful bound yet"


def _why_one_leaf(fitted: FittedTree) -> str:
    if fitted.certificate is None or not fitted.certificate.optimal:
        return "the search ended before it found a better tree"
    constraints = constraints_text(fitted)
    if _only_a_leaf(fitted):
        return "the depth is limited to 0"
    if constraints:
        return f"no tree {constraints} is more probable"
    return "no test is worth a split"


def _only_a_leaf(fitted: FittedTree) -> bool:
    """Return whether the constraints leave only one tree, of which nothing needs a proof."""
    return fitted.constraints.max_depth == 0 or fitted.constraints.max_leaf_nodes == 1


def _over_tests(fitted: FittedTree) -> str:
    schema = fitted.schema
    n_tests = len(schema.tests)
    limited = schema.encoder is None or schema.encoder.max_thresholds is not None
    if n_tests == 0:  # no column varies, or none was read in time
        return ""
    if n_tests == 1:
        return " over this test"
    compared = [column for column in schema.columns if column.thresholds]
    numbers = [len(column.thresholds) for column in compared if column.kind != "sets"]
    if limited or schema.binary or sum(numbers) < 2:
        return f" over these {n_tests:,} tests"
    # Not all sets that there are: those in one order, which was learnt.
    n_sets = sum(len(column.thresholds) for column in compared if column.kind == "sets")
    others = n_tests - sum(numbers) - n_sets
    parts = [f"all {sum(numbers):,} thresholds of {count(len(numbers), 'column')}"]
    parts += [f"these {count(n_sets, 'set')} of categories"] * (n_sets > 0)
    parts += [count(others, "other test")] * (others > 0)
    return " over " + " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def constraints_text(fitted: FittedTree) -> str:
    """Return the user's constraints on trees."""
    return _joined(constraint_phrases(fitted), "and")


def constraint_phrases(fitted: FittedTree) -> list[str]:
    """Return the user's constraints on trees, one by one, such as "of depth 3 or less"."""
    depth = fitted.constraints.max_depth
    words = [] if depth is None else [f"of depth {depth:,} or less"]
    return words + _other_phrases(fitted)


def _other_phrases(fitted: FittedTree) -> list[str]:
    """Return the constraints on trees other than that on their depth."""
    constraints, words = fitted.constraints, []
    if constraints.max_leaf_nodes is not None:
        words.append(f"of at most {count(constraints.max_leaf_nodes, 'leaf', 'leaves')}")
    if constraints.min_samples_leaf > 1:
        words.append(f"with at least {constraints.min_samples_leaf:,} rows in every leaf")
    return words + wish_phrases(fitted)


def wish_phrases(fitted: FittedTree) -> list[str]:
    """Return the constraints on the columns of a tree, such as "without a test of postcode".

    >>> from maptree import MAPTreeClassifier
    >>> model = MAPTreeClassifier(first_columns=[0, 1], without_columns=2)
    >>> wish_phrases(model.fit([[0, 0, 1], [1, 1, 0]] * 9, [0, 1] * 9).fitted_)
    ['whose first test is of x0 or x1', 'without a test of x2']
    """
    constraints, words = fitted.constraints, []
    if constraints.first_columns:
        words.append(f"whose first test is of {_listed(fitted, constraints.first_columns)}")
    if constraints.without_columns:
        words.append(f"without a test of {_listed(fitted, constraints.without_columns)}")
    return words


def _listed(fitted: FittedTree, columns: Sequence[int]) -> str:
    names = [name_text(fitted.schema.columns[j].name) for j in columns]
    if len(names) > _MOST:
        names = [*names[:_MOST], f"{len(names) - _MOST:,} more"]
    return _joined(names, "or")


def _joined(words: Sequence[str], conjunction: str) -> str:
    parts = [", ".join(words[:-1]), words[-1]] if len(words) > 1 else words
    return f" {conjunction} ".join(parts)
