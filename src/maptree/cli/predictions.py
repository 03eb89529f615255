"""A table of predictions, and how it is written."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
import pyarrow as pa

from maptree.cli.files import EXTENSIONS, Source
from maptree.cli.labelled_rows import take
from maptree.cli.names import refuse_unknown, split_names
from maptree.cli.new_rows import rows_for
from maptree.cli.refusal import USAGE, Refusal
from maptree.cli.screen import emit
from maptree.cli.target import class_texts
from maptree.map_classifier import MAPTreeClassifier
from maptree.whole_file import whole_file

_BLOCK = 1 << 14  # rows written together


@dataclass(frozen=True)
class Wanted:
    """What a prediction should say."""

    proba: bool
    interval: bool
    level: float
    explain: bool
    keep: list[str]


def predictions(model: MAPTreeClassifier, source: Source, wanted: Wanted) -> pa.Table:
    """Return one row for each row of a table."""
    if not 0 < wanted.level < 1:
        raise Refusal(f"--level {wanted.level:g}: pass a number like 0.95.", USAGE)
    keep = split_names(wanted.keep, source.columns)
    refuse_unknown(keep, source.columns, source.name)
    X = rows_for(model, source)
    answers = model._ask(X)
    leaves = answers.leaves(model.tree_)
    # All that a row gets depends on its leaf only, so it is worked out for the leaves.
    nodes, position = np.unique(leaves, return_inverse=True)
    rows = np.unique(leaves, return_index=True)[1]
    one_each = take(X, rows)
    probabilities = model.predict_proba(one_each)
    best = probabilities.argmax(axis=1)
    names = class_texts(model.classes_)
    columns: dict[str, Any] = {}
    columns["prediction"] = _array(model.classes_[best])
    if wanted.proba:
        for k, name in enumerate(names):
            columns[f"probability_{name}"] = pa.array(probabilities[:, k])
    if wanted.interval:
        ends = model.predict_interval(one_each, wanted.level)
        if wanted.proba:
            for k, name in enumerate(names):
                columns[f"low_{name}"] = pa.array(ends[:, k, 0])
                columns[f"high_{name}"] = pa.array(ends[:, k, 1])
        else:
            each = np.arange(len(nodes))
            columns["probability"] = pa.array(probabilities[each, best])
            columns["low"] = pa.array(ends[each, best, 0])
            columns["high"] = pa.array(ends[each, best, 1])
    made = pa.table(columns).take(pa.array(position))
    if wanted.explain:
        # Two rules for a leaf: the longer one is for rows with values unlike any in fit.
        text = model._text(None)
        rules = [text.rules_by_leaf(unseen)[int(n)] for unseen in (False, True) for n in nodes]
        chosen = position + len(nodes) * answers.unforeseen(model.tree_)
        made = made.append_column("rule", pa.array(rules).take(pa.array(chosen)))
    clash = [name for name in keep if name in made.column_names]
    if clash:
        raise Refusal(f"--keep {clash[0]}: predictions have a column of that name. Rename it.")
    kept = {name: source.table.column(name) for name in keep}
    return pa.table(kept | dict(zip(made.column_names, made.columns, strict=True)))


def _array(labels: Any) -> pa.Array:
    return pa.array(labels.tolist())


def write(table: pa.Table, place: str) -> None:
    """Write a table to a file by its extension, whole or not at all; ``-`` is standard output."""
    if place == "-":
        _write_csv(table, sys.stdout, ",")
        return
    suffix = Path(place).suffix.lower()
    kind = EXTENSIONS.get(suffix)
    if kind is None:
        raise Refusal(
            f"--output {place}: the extension {suffix or 'is lacking, which'!s} does not tell the "
            "format. Known are .csv, .tsv, .parquet, .feather, .jsonl.",
            USAGE,
        )
    with whole_file(place) as file:
        _WRITE[kind](table, file)


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
            file.write(json.dumps(record, ensure_ascii=False, default=str).encode() + b"\n")


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
