"""A tree as one SELECT."""

from __future__ import annotations

from collections.abc import Sequence

from maptree.export.decision_list import Rule, written_rules
from maptree.export.plain_tree import PlainTree, short
from maptree.export.sql_dialects import DIALECTS, Ansi
from maptree.parameters.numbers import bad_value
from maptree.trees.fitted import FittedTree


def write_sql(
    fitted: FittedTree,
    dialect: str,
    table: str | Sequence[str],
    keep: Sequence[str] | None = None,
    exposure: str | None = None,
) -> str:
    """Return a SELECT of the table's rows with their leaf, and what it predicts."""
    if dialect not in DIALECTS:
        raise bad_value("dialect", dialect, "is unknown", f"pass one of {', '.join(DIALECTS)}")
    sql, tree = DIALECTS[dialect](), PlainTree.of(fitted)
    if exposure is not None:
        tree.refuse_exposure()
    _refuse_ambiguous(tree, sql)
    parts = [table] if isinstance(table, str) else list(table)
    source = ".".join(sql.name(part) for part in parts)
    leaves = sql.name(_other_name("leaves", parts))
    kept = "data.*" if keep is None else ", ".join(f"data.{sql.name(name)}" for name in keep)
    outputs = [sql.name(name) for name in output_names(tree, keep or (), exposure)]
    # Numbers, and labels that are floats, are as real as probabilities.
    first_real = 1 if all(isinstance(label, float) for label in tree.labels) else 2
    of_leaf = [f"{leaves}.{name}" for name in outputs[:first_real]]
    of_leaf += [sql.as_real(leaves, name) for name in outputs[first_real:]]
    if exposure is not None:
        of_leaf[1] = sql.times(leaves, outputs[1], f"data.{sql.name(exposure)}")
    selected = ",\n  ".join(([kept] if kept else []) + of_leaf)
    rules = written_rules(tree, sql.title)
    cases = "\n".join([*_unread(tree, sql), *(_case(tree, rule, sql) for rule in rules)])
    if len(tree.nodes) == 1:
        cases = "    WHEN 1 = 1 THEN 0"
    rows = _leaf_rows(tree, sql, exposure is not None)
    return (
        f"WITH {leaves} ({', '.join(outputs)}) AS (\n  VALUES\n{rows}\n)\n"
        f"SELECT\n  {selected}\nFROM {source} AS data\n"
        f"LEFT JOIN {leaves} ON {leaves}.{outputs[0]} =\n  CASE\n{cases}\n  END"
    )


def output_names(
    tree: PlainTree, keep: Sequence[str] = (), exposure: str | None = None
) -> list[str]:
    """Return the names of the added columns: leaf, prediction, and one per class or interval's end.

    A class is named by its label, or by its number if labels are long or differ only in case. If
    the model or ``keep`` has a column of such a name, all added columns get a prefix. The interval
    of a count is that with an exposure of 1; with another one there is the size of its negative
    binomial distribution.
    """
    names = ["leaf", "prediction"]
    if tree.outcome != "classes":
        names += ["lower", "upper"] if exposure is None else ["size"]
    else:
        names += _class_names(tree)
    used = (*(column.name for column in tree.columns), *keep, *([exposure] if exposure else []))
    taken = {name.casefold() for name in used}
    prefix = ""
    while any(f"{prefix}{name}".casefold() in taken for name in names):
        prefix += "maptree_"
    return [f"{prefix}{name}" for name in names]


def _class_names(tree: PlainTree) -> list[str]:
    by_label = [f"proba_{label}" for label in tree.labels]
    usable = len({name.casefold() for name in by_label}) == len(by_label) and all(
        len(name) <= 40 and name.isprintable() and len(name.encode("utf-8", "replace")) <= 60
        for name in by_label
    )
    return by_label if usable else [f"proba_{k}" for k in range(len(tree.labels))]


def _case(tree: PlainTree, rule: Rule, sql: Ansi) -> str:
    if not rule.answers:
        return f"    ELSE {rule.leaf}"
    conditions = []
    for answer in rule.answers:
        condition = sql.condition(tree.columns[answer.column], answer.test)
        if answer.yes:
            conditions.append(condition)
        elif answer.test.asks == "missing":  # which is never NULL
            conditions.append(f"NOT {condition}")
        else:
            conditions.append(sql.not_true(condition))
    return f"    WHEN {' AND '.join(conditions)} THEN {rule.leaf}"


def _unread(tree: PlainTree, sql: Ansi) -> list[str]:
    """Return cases without a leaf: text where the tree compares numbers, dates or times."""
    found = [sql.is_unread(tree.columns[j]) for j in tree.used]
    return [f"    WHEN {condition} THEN NULL" for condition in found if condition is not None]


def _leaf_rows(tree: PlainTree, sql: Ansi, exposed: bool) -> str:
    rows = []
    for leaf in tree.leaves:
        if tree.outcome == "classes":
            first, others = sql.value(tree.labels[leaf.prediction]), leaf.probabilities
        else:
            found = leaf.measured
            first = sql.probability(found.mean)
            others = found.shape if exposed else (found.low, found.high)
        listed = ", ".join([first, *map(sql.probability, others)])
        rows.append(f"    ({leaf.number}, {listed})")
    return ",\n".join(rows)


def _other_name(name: str, taken: Sequence[str]) -> str:
    """Return a name that cannot be mistaken for a part of the table's name."""
    while name.casefold() in {part.casefold() for part in taken}:
        name += "_"
    return name


def _refuse_ambiguous(tree: PlainTree, sql: Ansi) -> None:
    tree.refuse_repeated_names(sql.title)
    if not sql.folds_case:
        return
    seen: dict[str, str] = {}
    for column in tree.columns:
        other = seen.setdefault(column.name.lower(), column.name)
        if other != column.name:
            raise ValueError(
                f"Columns {short(other)!r} and {short(column.name)!r} differ only in case, which "
                f"{sql.title} ignores: pass feature_names as the columns are called "
                "there."
            )
