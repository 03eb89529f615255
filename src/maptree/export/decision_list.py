"""A tree as a flat list of rules; the first rule that is true decides."""

from __future__ import annotations

from dataclasses import dataclass

from maptree.export.plain_tree import PlainTree
from maptree.schema.columns import Test


@dataclass(frozen=True)
class Answer:
    """The answer that a rule requires to a test of a column."""

    column: int
    test: Test
    yes: bool


@dataclass(frozen=True)
class Rule:
    """If all answers match, the row ends in this leaf. The last rule has no conditions."""

    answers: tuple[Answer, ...]
    leaf: int


def written_rules(tree: PlainTree, target: str) -> list[Rule]:
    """Return the rules for a target that lists the categories of a test; refuse long lists."""
    rules = decision_list(tree)
    tree.refuse_long_lists(target, ((a.column, a.test) for rule in rules for a in rule.answers))
    return rules


def decision_list(tree: PlainTree) -> list[Rule]:
    """Return the leaves as rules; the first rule that is true decides.

    Nested conditions would break parsers at some depth, and a full path for every leaf grows with
    the square of the depth. Here the smaller side of a node comes first (the true side on ties),
    and only leaves on that side have the node's test among their conditions: a row that gets as far
    as a leaf of the other side, and is on the path to the node, was rejected by every leaf of the
    first side. So a leaf has at most log2(leaves) conditions.

    >>> from maptree import MAPTreeClassifier
    >>> X, y = [[40], [50], [70]] * 9, ["a", "b", "c"] * 9
    >>> tree = PlainTree.of(MAPTreeClassifier().fit(X, y).fitted_)
    >>> for rule in decision_list(tree):
    ...     print(rule.leaf, [(answer.test.value, answer.yes) for answer in rule.answers])
    4 [(45.0, True)]
    3 [(60.0, True)]
    2 []
    """
    n_leaves = [1] * len(tree.nodes)
    for node in reversed(tree.nodes):  # children follow their parents
        if not node.is_leaf:
            n_leaves[node.number] = n_leaves[node.no] + n_leaves[node.yes]
    rules = []
    stack: list[tuple[int, tuple[Answer, ...]]] = [(0, ())]
    while stack:
        number, answers = stack.pop()
        node = tree.nodes[number]
        if node.asks is None:
            rules.append(Rule(answers, number))
            continue
        yes_first = n_leaves[node.yes] <= n_leaves[node.no]
        first, second = (node.yes, node.no) if yes_first else (node.no, node.yes)
        stack.append((second, answers))
        stack.append((first, (*answers, Answer(node.column, node.asks, yes_first))))
    return rules
