"""Words for binary tests and for the conditions along a path."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from maptree.schema.columns import Column, Schema, Test, Threshold
from maptree.tables.values import Category
from maptree.words.values import category_text, name_text, threshold_text

_FEW = 5  # categories that a condition names because they remain
# Of a set with more categories than the first number, a condition names as many as the second.
LONGEST_SET, _SHOWN = 8, 3
_OPPOSITE = {"=": "!=", "!=": "=", "<=": ">", ">": "<=", "<": ">=", ">=": "<"}
_COMPARISON = re.compile(r" (=|!=|<=|>=|<|>) ")
_IN_QUOTES = re.compile(r'"(?:[^"\\]|\\.)*"')

# A test, by number, and the answer to it.
Answered = tuple[int, bool]


def yes_and_no(name: str, yes: str = "1", no: str = "0") -> tuple[str, str]:
    """Return the words for the two values of a 0/1 column, true and false.

    A name that is itself a comparison needs no "= 1" after it:

    >>> yes_and_no("member")
    ('member = 1', 'member = 0')
    >>> yes_and_no("colour = red")
    ('colour = red', 'colour != red')

    But it must read as one comparison:

    >>> yes_and_no("a and b <= 3")
    ('"a and b <= 3" = 1', '"a and b <= 3" = 0')
    """
    parts = _COMPARISON.split(name)
    if len(parts) == 3:
        subject, sign, value = parts
        if _is_written(subject, name_text) and _is_written(value, category_text):
            return name, f"{subject} {_OPPOSITE[sign]} {value}"
    written = name_text(name)
    return f"{written} = {yes}", f"{written} = {no}"


def _is_written(text: str, write: Callable[[str], str]) -> bool:
    """Return whether text may appear in a rule as it is: plain, or quoted already."""
    return write(text) == text or _IN_QUOTES.fullmatch(text) is not None


@dataclass(frozen=True)
class TestWords:
    """Puts tests and conditions into words, in terms of the table's columns.

    >>> age = Column("age", "number", "int64", thresholds=(45.5, 60.0), has_missing=True)
    >>> colour = Column("colour", "category", "string", categories=("blue", "green", "red"))
    >>> words = TestWords(Schema((age, colour)))
    >>> words.test(0), words.test(2), words.test(5)
    ('age <= 45.5', 'age is missing', 'colour = red')
    >>> words.condition([(0, False), (5, True), (1, True)])
    '45.5 < age <= 60 and colour = red'
    >>> words.condition([(3, False), (5, False), (1, False)])
    'colour not in {blue, red} and (age > 60 or missing)'

    Where all categories of a column are known, a condition names those that remain, if they are
    not more than those that are ruled out:

    >>> colour = Column("colour", "category", "str", categories=("blue", "green", "red"), others=())
    >>> known = TestWords(Schema((colour,)))
    >>> known.condition([(0, False)]), known.condition([(0, False), (2, False)])
    ('colour != blue', 'colour = green')

    Sets never have unknown categories; what is outside of one has:

    >>> colour = Column("colour", "sets", "str", (0, 1, 2), ("red", "pink", "blue", "grey"),
    ...                 unknown=2)
    >>> sets = TestWords(Schema((colour,)))
    >>> sets.test(1), sets.test(2), sets.condition([(0, False), (2, True)])
    ('colour in {red, pink}', 'colour != grey', 'colour not in {red, grey}')

    Of a set of more than ``longest_set`` categories only the number and the first are named:

    >>> TestWords(Schema((colour,)), longest_set=1).test(1)
    'colour in a set of 2 (red, pink)'
    """

    __test__ = False  # not a test case, despite its name

    schema: Schema
    longest_set: float = LONGEST_SET

    def test(self, test: int) -> str:
        """Return a test in words: the condition for its true branch."""
        return self.condition([(test, True)])

    def condition(
        self,
        answers: Iterable[Answered],
        given: Iterable[Answered] = (),
        unseen: bool = False,
    ) -> str:
        """Return the answers along a path in words, with those about one column merged.

        Tests are false for a missing value, so a condition of false answers includes it and says
        so, unless an answer in ``given`` rules it out; ``given`` may also leave few categories.
        Columns without missing values in ``fit`` do not mention it, unless ``unseen``: then all do,
        and a condition that names categories also says whether one belongs here that was not seen
        in ``fit``.
        """
        known = self._collect(answers)
        context = self._collect([*given, *[answer for kept in known.values() for answer in kept]])
        parts = []
        for column, kept in known.items():
            about, tests = self.schema.columns[column], self.schema.tests
            whole = [(tests[t], a) for t, a in context[column]]
            remaining = _remaining(about, whole)
            # Sorted, so that categories are listed in their order.
            answered = [(tests[t], a) for t, a in sorted(kept)]
            words = _words(about, answered, remaining, self.longest_set)
            others = []
            if unseen and (remaining or (about.kind == "ordered" and _only_above(whole))):
                others.append("unknown")
            if (about.has_missing or unseen) and not _determines_missing(whole):
                others.append("missing")
            if others:
                words = " or ".join([words, *others])
                words = f"({words})" if len(known) > 1 else words
            parts.append(words)
        return " and ".join(parts) if parts else "always"

    def _collect(self, answers: Iterable[Answered]) -> dict[int, list[Answered]]:
        """Group answers by column, in the order in which the path reaches the columns."""
        by_column: dict[int, list[Answered]] = {}
        for test, answer in answers:
            by_column.setdefault(self.schema.column_of_test[test], []).append((test, answer))
        return by_column


def _determines_missing(answers: Iterable[tuple[Test, bool]]) -> bool:
    """Return whether the answers tell if the value is missing: tested, or another test is true."""
    return any(answer or test.asks == "missing" for test, answer in answers)


def _only_above(answers: Sequence[tuple[Test, bool]]) -> bool:
    """Return whether the answers only say that the value is above some threshold."""
    asked = [answer for test, answer in answers if test.asks == "at most"]
    missing = any(answer for test, answer in answers if test.asks == "missing")
    return bool(asked) and not any(asked) and not missing


def _remaining(column: Column, answers: Sequence[tuple[Test, bool]]) -> list[Category]:
    """Return the categories that false answers leave; none if they are better said by the others.

    An unknown category has only false answers, too.
    """
    if column.kind != "category" or column.others is None or any(answer for _, answer in answers):
        return []
    without = {_category(test) for test, _ in answers if test.asks == "equals"}
    remaining = [c for c in (*column.categories, *column.others) if c not in without]
    return remaining if len(remaining) <= min(len(without), _FEW) else []


def _words(
    column: Column,
    answers: Sequence[tuple[Test, bool]],
    remaining: Sequence[Category],
    longest_set: float,
) -> str:
    """Return what is known about one column in words, ignoring missing values.

    ``remaining`` are the categories to name instead of those that are ruled out; empty: none.
    """
    name = name_text(column.name)
    yes = [test for test, answer in answers if answer]
    no = [test for test, answer in answers if not answer]
    if any(test.asks == "missing" for test in yes):
        return f"{name} is missing"
    plain = [test for test, _ in answers if test.asks != "missing"]
    if not plain:
        return f"{name} is not missing"
    if column.kind == "boolean":
        words = yes_and_no(column.name, *(category_text(c) for c in reversed(column.categories)))
        return words[0] if yes else words[1]
    if column.kind == "category" and remaining:
        return _equals(name, remaining)
    if column.kind == "category":
        return _category_words(column, name, yes, no)
    above = [test.value for test in no if test.asks == "at most"]
    at_most = [test.value for test in yes if test.asks == "at most"]
    if column.kind == "sets":
        first = 1 + max((int(str(value)) for value in above), default=-1)
        last = min((int(str(value)) for value in at_most), default=len(column.categories) - 1)
        return _set_words(column, name, first, last, longest_set)
    return _between(column, name, max(above, default=None), min(at_most, default=None))  # type: ignore[type-var, arg-type]


def _equals(name: str, categories: Sequence[Category]) -> str:
    texts = [category_text(category) for category in categories]
    return f"{name} = {texts[0]}" if len(texts) == 1 else f"{name} in {{{', '.join(texts)}}}"


def _set_words(column: Column, name: str, first: int, last: int, longest: float) -> str:
    """Write that a category is between two positions, or treated like one that is.

    The categories farthest from unknown ones are named first.
    """
    categories, unknown = column.categories, column.unknown
    assert unknown is not None
    within = first <= unknown <= last
    if within:  # said by what is outside, at the one end and at the other
        parts = [part for part in (categories[:first], categories[last + 1 :][::-1]) if part]
    else:
        parts = [
            categories[first : last + 1] if last < unknown else categories[last : first - 1 : -1]
        ]
    listed = [category for part in parts for category in part]
    if len(listed) == 1:
        return f"{name} {'!=' if within else '='} {category_text(listed[0])}"
    verb = "not in" if within else "in"
    if len(listed) <= longest:
        return f"{name} {verb} {{{', '.join(map(category_text, listed))}}}"
    shown = [f"{len(part):,} ({_some(part)})" for part in parts]
    return f"{name} {verb} {'a set' if len(parts) == 1 else 'sets'} of {' and '.join(shown)}"


def _some(categories: Sequence[Category]) -> str:
    texts = [category_text(category) for category in categories[:_SHOWN]]
    return ", ".join([*texts, "..."] if len(categories) > _SHOWN else texts)


def _category_words(column: Column, name: str, yes: list[Test], no: list[Test]) -> str:
    if yes:
        return f"{name} = {category_text(_category(yes[0]))}"
    without = [_category(test) for test in no if test.asks == "equals"]
    if len(set(without)) == 1:
        return f"{name} != {category_text(without[0])}"
    listed = [category_text(c) for c in dict.fromkeys(without)]
    return f"{name} not in {{{', '.join(listed)}}}"


def _category(test: Test) -> Category:
    assert test.value is not None
    return test.value  # type: ignore[return-value]


def _between(column: Column, name: str, above: Threshold | None, at_most: Threshold | None) -> str:
    """Write above < name <= at_most; an end that is None is left out."""
    infinity = math.inf
    if above == infinity:
        return f"{name} = inf"
    if at_most == -infinity:
        return f"{name} = -inf"
    if column.kind == "ordered" and at_most is not None:
        lowest = 0 if above is None else int(above) + 1
        if lowest == at_most:
            return f"{name} = {threshold_text(column, at_most)}"
    left = "" if above is None else f"{threshold_text(column, above)} < "
    if at_most is None:
        return f"{name} > {threshold_text(column, above)}" if above is not None else name
    if at_most == infinity:
        return f"{left}{name} < inf"
    return f"{left}{name} <= {threshold_text(column, at_most)}"
