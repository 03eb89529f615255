"""What was asked of one fit and not of another, in words."""

from __future__ import annotations

from maptree.trees.fitted import FittedTree
from maptree.words.certificate import constraint_phrases
from maptree.words.values import name_text

_MOST = 5  # columns in a list


def wishes(model: FittedTree, other: FittedTree) -> tuple[str, ...]:
    """Return what was asked of the second tree and not of the first.

    >>> from maptree import MAPTreeClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
    >>> model = MAPTreeClassifier().fit(X, y)
    >>> other = MAPTreeClassifier(without_columns=0, column_weights={1: 3}).fit(X, y)
    >>> wishes(model.fitted_, other.fitted_)
    ('without a test of x0', 'with weight 3 of x1')
    """
    mine, theirs = constraint_phrases(model), constraint_phrases(other)
    return (
        *(phrase for phrase in theirs if phrase not in mine),
        *(f"not limited to trees {phrase}" for phrase in mine if phrase not in theirs),
        *_columns(model, other),
        *_prior(model, other),
    )


def _columns(model: FittedTree, other: FittedTree) -> list[str]:
    if not (model.schema.named and other.schema.named):
        return []
    theirs, mine = set(other.schema.names), set(model.schema.names)
    gone = [name_text(name) for name in model.schema.names if name not in theirs]
    new = [name_text(name) for name in other.schema.names if name not in mine]
    return [f"without the column {_few(gone)}"] * bool(gone) + [
        f"with the column {_few(new)}"
    ] * bool(new)


def _prior(model: FittedTree, other: FittedTree) -> list[str]:
    mine, theirs = model.prior, other.prior
    words = [
        f"with {name} {b:g} instead of {a:g}"
        for name, a, b in (
            ("alpha", mine.alpha, theirs.alpha),
            ("beta", mine.beta, theirs.beta),
        )
        if a != b
    ]
    if mine.rho.tolist() != theirs.rho.tolist():
        words.append("with other pseudo-counts")
    if mine.split_prior != theirs.split_prior and not model.schema.binary:
        words.append(f'with split_prior "{theirs.split_prior}"')
    odds = [
        dict(zip(fitted.schema.names, fitted.prior.column_weights, strict=False))
        for fitted in (model, other)
    ]
    changed = [
        f"{weight:g} of {name_text(name)}"
        for name in other.schema.names
        if (weight := odds[1].get(name, 1.0)) != odds[0].get(name, 1.0)
    ]
    return [*words, f"with weight {_few(changed)}"] if changed else words


def _few(names: list[str]) -> str:
    more = [f"{len(names) - _MOST:,} more"] if len(names) > _MOST else []
    return ", ".join([*names[:_MOST], *more])
