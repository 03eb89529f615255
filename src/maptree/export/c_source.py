"""A tree as C99."""

from __future__ import annotations

import re

from maptree.export.decision_list import Rule, written_rules
from maptree.export.encoded_inputs import Input, c_names, encoded_inputs
from maptree.export.plain_tree import PlainTree, short
from maptree.schema.columns import IN_ORDER, Column, Test
from maptree.trees.fitted import FittedTree

# The longest string literal that every C99 compiler must accept.
_LONGEST = 4000
_TYPES = {"float": "double ", "whole": "int64_t ", "text": "const char *"}
_MISSING = {"float": "NaN", "whole": "INT64_MIN", "text": "NULL"}


def write_c(fitted: FittedTree, prefix: str = "maptree") -> str:
    """Return a C file: a struct for a row, and functions for its leaf, and what it predicts."""
    tree = PlainTree.of(fitted)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,30}", prefix) or c_names([prefix]) != [prefix]:
        raise ValueError(
            f"prefix={prefix!r} is not a C identifier of at most 31 characters: pass another."
        )
    inputs = {given.column: given for given in encoded_inputs(tree, "C")}
    position = {leaf.number: i for i, leaf in enumerate(tree.leaves)}
    rules = "\n".join(
        _rule(tree, rule, inputs, position[rule.leaf]) for rule in written_rules(tree, "C")
    )
    fields = "\n".join(_field(tree.columns[i.column], i) for i in inputs.values())
    nodes = ", ".join(str(leaf.number) for leaf in tree.leaves)
    unused = "" if inputs else "  (void)row;\n"
    of_leaves = _of_classes if tree.outcome == "classes" else _of_measured
    called, size, constants, functions = of_leaves(tree, prefix)
    return f"""\
/* A decision tree as standalone C99. Fill in a row and call {prefix}_{called}. */
#include <float.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
{size}
typedef struct {{
{fields or "  char unused; /* the tree is a single leaf */"}
}} {prefix}_row;

{constants}
static const int {prefix}_nodes[{len(tree.leaves)}] = {{{nodes}}};

/* The first true condition decides. */
static int {prefix}_find(const {prefix}_row *row) {{
{unused}{rules}
}}

/* The number of the leaf's node in the tree. */
int {prefix}_leaf(const {prefix}_row *row) {{
  return {prefix}_nodes[{prefix}_find(row)];
}}

{functions}"""


def _of_classes(tree: PlainTree, prefix: str) -> tuple[str, str, str, str]:
    """Return the function to call, a definition, what is known of leaves, functions for it."""
    n_classes = len(tree.labels)
    labels = ",\n".join(f"    {c_text(str(label))}" for label in tree.labels)
    best = ", ".join(str(leaf.prediction) for leaf in tree.leaves)
    size = f"\n#define {prefix.upper()}_N_CLASSES {n_classes}\n"
    constants = f"""\
const char *const {prefix}_labels[{n_classes}] = {{
{labels}
}};

static const double {prefix}_probabilities[{len(tree.leaves)}][{n_classes}] = {{
{_rows([leaf.probabilities for leaf in tree.leaves])}
}};
static const int {prefix}_classes[{len(tree.leaves)}] = {{{best}}};"""
    functions = f"""\
/* The most probable class: an index into {prefix}_labels. */
int {prefix}_predict(const {prefix}_row *row) {{
  return {prefix}_classes[{prefix}_find(row)];
}}

void {prefix}_predict_proba(const {prefix}_row *row, double probabilities[{n_classes}]) {{
  memcpy(probabilities, {prefix}_probabilities[{prefix}_find(row)], {n_classes} * sizeof(double));
}}
"""
    return "predict_proba", size, constants, functions


def _of_measured(tree: PlainTree, prefix: str) -> tuple[str, str, str, str]:
    """Do the same for numbers and counts."""
    rows = [leaf.measured.values for leaf in tree.leaves]
    numbers = tree.outcome == "numbers"
    holds = "mean, interval, degrees of freedom, scale" if numbers else "rate, interval, size"
    constants = f"""\
/* Of each leaf: {holds}. */
static const double {prefix}_leaves[{len(rows)}][{len(rows[0])}] = {{
{_rows(rows)}
}};"""
    given = f"const {prefix}_row *row"
    at = f"{prefix}_leaves[{prefix}_find(row)]"
    if numbers:
        mean = f"""\
/* The mean of the predictive distribution. */
double {prefix}_predict({given}) {{
  return {at}[0];
}}
"""
        dist = f"""
/* Degrees of freedom, location and scale of the predictive Student's t distribution. */
void {prefix}_predict_dist({given}, double dist[3]) {{
  const double *found = {at};
  dist[0] = found[3];
  dist[1] = found[0];
  dist[2] = found[4];
}}
"""
    else:
        mean = f"""\
/* The mean of the predictive distribution: the rate of the leaf times the exposure, above 0. */
double {prefix}_predict({given}, double exposure) {{
  return {at}[0] * exposure;
}}
"""
        dist = f"""
/* n and p of the predictive negative binomial distribution; its mean is n (1 - p) / p. */
void {prefix}_predict_dist({given}, double exposure, double dist[2]) {{
  const double *found = {at};
  dist[0] = found[3];
  dist[1] = found[3] / (found[3] + found[0] * exposure);
}}
"""
    functions = f"""\
{mean}
/* The ends of the 95% predictive interval{"" if numbers else ", with an exposure of 1"}. */
void {prefix}_predict_interval({given}, double interval[2]) {{
  memcpy(interval, {at} + 1, 2 * sizeof(double));
}}
{dist}"""
    return "predict", "", constants, functions


def _rows(of_leaves: list[tuple[float, ...]]) -> str:
    return ",\n".join(f"    {{{', '.join(map(repr, values))}}}" for values in of_leaves)


def _field(column: Column, given: Input) -> str:
    name = short(column.name)
    called = "" if name == given.name else f"{c_text(name).replace('/', chr(92) + '057')}, "
    note = f"{called}{given.unit}; {_MISSING[given.type]}: missing"
    return f"  {_TYPES[given.type]}{given.name}; /* {note} */"


def _rule(tree: PlainTree, rule: Rule, inputs: dict[int, Input], position: int) -> str:
    returned = f"return {position};"
    if not rule.answers:
        return f"  {returned}"
    parts = []
    for answer in rule.answers:
        condition = _condition(tree.columns[answer.column], answer.test, inputs[answer.column])
        parts.append(condition if answer.yes else f"!({condition})")
    conditions = parts[0] if len(parts) == 1 else " && ".join(f"({c})" for c in parts)
    return f"  if ({conditions}) {returned}"


def _condition(column: Column, test: Test, given: Input) -> str:
    x = f"row->{given.name}"
    if test.asks == "missing":
        return {"float": f"{x} != {x}", "whole": f"{x} == INT64_MIN", "text": f"{x} == NULL"}[
            given.type
        ]
    if given.type == "text":
        inside, texts = True, [str(test.value)]
        if column.kind in IN_ORDER:
            inside, categories = column.categories_of(test)
            texts = [str(category) for category in categories]
        sign, either = ("==", " || ") if inside else ("!=", " && ")
        among = either.join(f"strcmp({x}, {c_text(text)}) {sign} 0" for text in texts)
        return f"{x} != NULL && ({among})" if len(texts) > 1 else f"{x} != NULL && {among}"
    bound = given.bound(column, test, "C")
    if given.type == "whole":
        known = f"{x} != INT64_MIN && "
        return f"{known}{x} {'<=' if test.asks == 'at most' else '=='} {c_int(bound)}"
    if test.asks == "equals":
        return f"{x} == {bound!r}"
    if bound == float("inf"):
        return f"{x} <= DBL_MAX"
    return f"{x} <= {bound!r}" if bound != float("-inf") else f"{x} < -DBL_MAX"


def c_int(value: int) -> str:
    """Write a 64-bit integer; the smallest has no literal of its own."""
    return "INT64_MIN" if value == -(2**63) else f"INT64_C({value})"


def c_text(text: str) -> str:
    r"""Write text as a C string in UTF-8.

    >>> print(c_text('say "no"??/ \n é'))
    "say \"no\"\?\?/ \012 \303\251"
    """
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise ValueError(
            f"The text {short(text)!r} has a character that C strings cannot hold (NUL, or half of "
            "a surrogate pair): replace it before fit."
        )
    if len(encoded) > _LONGEST:  # as an array, which has no such limit
        return f"(const char[]){{{', '.join(map(_c_char, encoded))}, 0}}"
    return '"' + "".join(map(_c_byte, encoded)) + '"'


def _c_byte(byte: int) -> str:
    if chr(byte) in '"\\?':
        return f"\\{chr(byte)}"
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def _c_char(byte: int) -> str:
    return f"(char){byte}"
