"""A table of predictions, and how it is written."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from maptree.cli.files import EXTENSIONS, Source, extension_fault
from maptree.cli.measured_rows import exposure_in
from maptree.cli.mistakes import USAGE, Refusal, refuse_unknown, split_names
from maptree.cli.rows import answers_for
from maptree.cli.screen import emit
from maptree.cli.streams import data_output
from maptree.files.controls import json_escaped
from maptree.files.whole_file import whole_file
from maptree.parameters.costs import cheapest
from maptree.trees.average import Average
from maptree.trees.fitted import FittedTree
from maptree.trees.leaf_probabilities import credible_interval
from maptree.trees.measured_scores import in_rows, interval
from maptree.trees.outcomes import Counts, Measured
from maptree.words.tree_text import rules_by_leaf

if TYPE_CHECKING:
    from maptree.encoding.answering import Answers

_BLOCK = 1 << 14  # rows written together


@dataclass(frozen=True)
class Wanted:
    """What the predictions should include."""

    proba: bool
    interval: bool
    level: float
    explain: bool
    keep: list[str]
    costs: NDArray[np.float64] | None = None  # a row per true class, a column per predicted one
    exposure: str | None = None  # a column, for counts


def predictions(fitted: FittedTree, source: Source, wanted: Wanted) -> pa.Table:
    """Return one row for each row of a table."""
    if not 0 < wanted.level < 1:
        raise Refusal(
            f"--level {wanted.level:g}: pass a number above 0 and below 1, such as 0.95.", USAGE
        )
    keep = split_names(wanted.keep, source.columns)
    refuse_unknown(keep, source.columns, source.name)
    if wanted.explain and fitted.average is not None:
        raise Refusal(
            "--explain names the rule of one tree, but the model predicts by the average of many: "
            "pass --single-tree to predict with the most probable tree.",
            USAGE,
        )
    answers = answers_for(fitted, source)
    nodes, position = np.unique(answers.leaves(fitted.tree), return_inverse=True)
    if fitted.measured is not None:
        leaves = nodes[position]
        made = _of_measured(fitted, fitted.measured, source, leaves, wanted)
    elif fitted.average is not None:
        made = _of_rows(fitted, fitted.average, answers, wanted)
    else:
        # A prediction depends only on the row's leaf, so it is computed once per leaf.
        made = _of_leaves(fitted, nodes, wanted).take(pa.array(position))
    if wanted.explain:
        # Two rules per leaf: the longer one is for rows with values unlike any seen in fit.
        rules = [rules_by_leaf(fitted, unseen) for unseen in (False, True)]
        texts = [by_leaf[int(node)] for by_leaf in rules for node in nodes]
        chosen = position + len(nodes) * answers.unforeseen(fitted.tree)
        made = made.append_column("rule", pa.array(texts).take(pa.array(chosen)))
    clash = [name for name in keep if name in made.column_names]
    if clash:
        raise Refusal(
            f"--keep {clash[0]}: the predictions have a column of that name. Rename yours."
        )
    kept = {name: source.table.column(name) for name in keep}
    return pa.table(kept | dict(zip(made.column_names, made.columns, strict=True)))


def _of_leaves(fitted: FittedTree, nodes: NDArray[np.intp], wanted: Wanted) -> pa.Table:
    """Return the predictions at some leaves."""
    counts = fitted.tree.counts[nodes]
    return _columns(
        fitted,
        fitted.probabilities[nodes],
        lambda: credible_interval(counts, fitted.prior.rho, wanted.level),
        wanted,
    )


def _of_measured(
    fitted: FittedTree,
    measured: Measured,
    source: Source,
    leaves: NDArray[np.intp],
    wanted: Wanted,
) -> pa.Table:
    """Return the mean of each row's number or count, and its predictive interval."""
    rows = np.arange(len(leaves), dtype=np.intp)
    exposure = exposure_in(measured, source, wanted.exposure, rows)
    if exposure is None:  # once per leaf
        found = measured.predictive(fitted.tree)
        columns = [each.take(leaves) for each in (found.mean, *interval(found, wanted.level))]
    else:
        found = in_rows(measured, fitted.tree, leaves, exposure)
        columns = [found.mean, *interval(found, wanted.level)]
    if isinstance(measured, Counts):  # whose quantiles are whole
        columns[1:] = [each.astype(np.int64) for each in columns[1:]]
    names = ("prediction", "low", "high")
    return pa.table({name: pa.array(each) for name, each in zip(names, columns, strict=True)})


def _of_rows(fitted: FittedTree, average: Average, answers: Answers, wanted: Wanted) -> pa.Table:
    """Return the predictions of an average for the rows."""
    rho = fitted.prior.rho
    return _columns(
        fitted,
        average.probabilities(rho, answers),
        lambda: average.intervals(rho, answers, wanted.level),
        wanted,
    )


def _columns(
    fitted: FittedTree,
    probabilities: NDArray[np.float64],
    intervals: Callable[[], NDArray[np.float64]],
    wanted: Wanted,
) -> pa.Table:
    best = probabilities.argmax(axis=1)
    if wanted.costs is not None:
        best = cheapest(probabilities, wanted.costs)
    columns: dict[str, Any] = {"prediction": pa.array(fitted.classes[best].tolist())}
    if wanted.costs is not None:
        columns["expected_cost"] = pa.array((probabilities @ wanted.costs).min(axis=1))
    if wanted.proba:
        for k, name in enumerate(fitted.labels):
            columns[f"probability_{name}"] = pa.array(probabilities[:, k])
    if wanted.interval:
        ends = intervals()
        if wanted.proba:
            for k, name in enumerate(fitted.labels):
                columns[f"low_{name}"] = pa.array(ends[:, k, 0])
                columns[f"high_{name}"] = pa.array(ends[:, k, 1])
        else:
            each = np.arange(len(best))
            columns["probability"] = pa.array(probabilities[each, best])
            columns["low"] = pa.array(ends[each, best, 0])
            columns["high"] = pa.array(ends[each, best, 1])
    return pa.table(columns)


def write(table: pa.Table, place: str) -> None:
    """Write a table to a file by its extension, whole or not at all; ``-`` is standard output."""
    if place == "-":
        _write_csv(table, data_output(), ",")
        return
    suffix = Path(place).suffix.lower()
    kind = EXTENSIONS.get(suffix)
    if kind is None:
        raise Refusal(
            f"--output {place}: cannot tell the format: {extension_fault(suffix)}. Use .csv, "
            ".tsv, .parquet, .feather or .jsonl.",
            USAGE,
        )
    with whole_file(place) as file:
        _WRITE[kind](table, file)


def is_predictions(path: str) -> bool:
    """Return whether a file is a table with a column of predictions, as ``write`` writes it."""
    kind = EXTENSIONS.get(Path(path).suffix.lower())
    try:
        return kind is not None and "prediction" in _COLUMNS[kind](path)
    except (OSError, ValueError, StopIteration, csv.Error):
        return False


def _names_in_header(path: str, delimiter: str) -> list[str]:
    with open(path, encoding="utf-8", newline="") as file:
        return next(csv.reader(file, delimiter=delimiter))


def _names_in_parquet(path: str) -> list[str]:
    import pyarrow.parquet as parquet

    return list(parquet.read_schema(path).names)


def _names_in_feather(path: str) -> list[str]:
    with pa.OSFile(path) as file:
        return list(pa.ipc.open_file(file).schema.names)


def _names_in_lines(path: str) -> list[str]:
    with open(path, encoding="utf-8") as file:
        return list(json.loads(file.readline()))


_COLUMNS: dict[str, Callable[[str], list[str]]] = {
    "csv": lambda path: _names_in_header(path, ","),
    "tsv": lambda path: _names_in_header(path, "\t"),
    "parquet": _names_in_parquet,
    "feather": _names_in_feather,
    "jsonl": _names_in_lines,
}


def _write_text(table: pa.Table, file: BinaryIO, delimiter: str) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    _write_csv(table, text, delimiter)
    text.flush()
    text.detach()


def _write_csv(table: pa.Table, out: IO[str], delimiter: str) -> None:
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(table.column_names)
    for columns in _blocks(table):
        writer.writerows(zip(*columns, strict=True))


def _blocks(table: pa.Table) -> Iterator[list[list[Any]]]:
    for batch in table.to_batches(max_chunksize=_BLOCK):
        yield [column.to_pylist() for column in batch.columns]


def _write_parquet(table: pa.Table, file: BinaryIO) -> None:
    import pyarrow.parquet as parquet

    parquet.write_table(table, file)


def _write_feather(table: pa.Table, file: BinaryIO) -> None:
    import pyarrow.feather as feather

    feather.write_feather(table, file)


def _write_jsonl(table: pa.Table, file: BinaryIO) -> None:
    for columns in _blocks(table):
        for row in zip(*columns, strict=True):
            record = dict(zip(table.column_names, row, strict=True))
            line = json.dumps(record, ensure_ascii=False, default=str)
            file.write(json_escaped(line).encode() + b"\n")


_WRITE: dict[str, Callable[[pa.Table, BinaryIO], None]] = {
    "csv": lambda table, file: _write_text(table, file, ","),
    "tsv": lambda table, file: _write_text(table, file, "\t"),
    "parquet": _write_parquet,
    "feather": _write_feather,
    "jsonl": _write_jsonl,
}


def emit_predictions(table: pa.Table, output: str | None) -> None:
    """Print predictions as JSON, or where they were written."""
    document: dict[str, Any] = {"command": "predict", "rows": table.num_rows, "output": output}
    if output is None:
        document["predictions"] = [
            {
                name: value if isinstance(value, (int, float, bool, str)) else _text(value)
                for name, value in row.items()
            }
            for row in table.to_pylist()
        ]
    emit(document)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
