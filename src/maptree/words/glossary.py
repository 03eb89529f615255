"""What the words of certificates mean, for readers who are not of the field."""

from __future__ import annotations

from maptree.words.nats import NAT

GLOSSARY = (
    ("test", "A yes-or-no question about one column, such as age <= 45.5."),
    (
        "log posterior",
        "How probable a tree is, given the rows, on a scale of logarithms. One number alone says "
        "nothing; the difference of two is how many times as probable one tree is as the other.",
    ),
    ("nat", f"The unit of that scale. {NAT}"),
    (
        "gap",
        "What the proof has left open: no tree is above this one by more. A small gap says that "
        "this tree is nearly as probable as the best. A large one says little, and nothing "
        "against the tree.",
    ),
    (
        "proved to depth 5",
        "No tree of depth 5 or less is more probable than this one. Deeper trees are not excluded; "
        "this one may be deeper itself. Depth: the most tests that a row passes.",
    ),
    ("expansion", "A step of the search: all splits of one set of rows are examined."),
    ("subproblem", "A set of rows that the search has something to remember of."),
)
