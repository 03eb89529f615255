"""How a model was fitted, as JSON values, and back."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import asdict
from datetime import datetime
from itertools import pairwise
from typing import Any

from maptree.files.json_values import fields, items, number, show, text, whole
from maptree.model_file.measured_scores import read_measured_scores
from maptree.trees.measured_scores import MeasuredScores
from maptree.trees.seen_rows import SAMPLE, SeenRows
from maptree.trees.training import BaselineScores, HeldOutScores, TrainingSummary
from maptree.trees.tree import Tree

_COUNT = 2**62
_HASH_BYTES = 6
_LINE = 96  # characters of base64: twelve hashes
_DIGEST = re.compile(r"[0-9a-f]{32}")


def write_training(training: TrainingSummary) -> dict[str, Any]:
    """Return JSON values for a training summary."""
    values = asdict(training)
    if training.seen is not None:
        packed = b"".join(value.to_bytes(_HASH_BYTES, "big") for value in training.seen.hashes)
        encoded = base64.b64encode(packed).decode("ascii")
        values["seen"]["hashes"] = [encoded[i : i + _LINE] for i in range(0, len(encoded), _LINE)]
    return values


def read_training(value: object, tree: Tree, version: int) -> TrainingSummary:
    """Return what ``write_training`` wrote, checked; in version 1 there was no ``seen``."""
    where = "training"
    names = list(TrainingSummary.__dataclass_fields__)
    if version == 1:
        names.remove("seen")
    counts = tree.counts[0].tolist()
    measured = tree.sums.shape[1] > 0
    if measured:
        names.remove("class_counts")
    given = fields(value, where, names)
    wrong = not measured and given["class_counts"] != counts
    if wrong or isinstance(given["rows"], bool) or given["rows"] != sum(counts):
        raise ValueError(f"{where}.rows and class_counts differ from those of the tree's root.")
    date = text(given["date"], f"{where}.date")
    try:
        datetime.fromisoformat(date)
    except ValueError:
        raise ValueError(f"{where}.date is {show(date)}: it must be a date and time.") from None
    target = given["target"]
    return TrainingSummary(
        rows=sum(counts),
        class_counts=() if measured else tuple(counts),
        date=date,
        library=text(given["library"], f"{where}.library"),
        target=None if target is None else text(target, f"{where}.target"),
        held_out=_read_held_out(given["held_out"], f"{where}.held_out", tree, version),
        seen=_read_seen(given.get("seen"), f"{where}.seen", sum(counts)),
    )


def _read_held_out(
    value: object, where: str, tree: Tree, version: int
) -> HeldOutScores | MeasuredScores | None:
    """Return the scores of what the tree predicts."""
    if tree.sums.shape[1]:
        return read_measured_scores(value, where)
    return _read_scores(value, where, version)


def _read_scores(value: object, where: str, version: int) -> HeldOutScores | None:
    """Return the scores; before version 6 there was no ROC AUC, and there were no baselines."""
    if value is None:
        return None
    names = list(HeldOutScores.__dataclass_fields__)
    added: dict[str, Any] = {"roc_auc": None, "baselines": []} if version < 6 else {}
    given = added | fields(value, where, [name for name in names if name not in added])
    baselines = [
        _read_baseline(baseline, f"{where}.baselines[{i}]")
        for i, baseline in enumerate(items(given["baselines"], f"{where}.baselines"))
    ]
    return HeldOutScores(
        method=text(given["method"], f"{where}.method"),
        rows=whole(given["rows"], f"{where}.rows", 1, _COUNT),
        accuracy=number(given["accuracy"], f"{where}.accuracy", 0.0, 1.0),
        log_loss=number(given["log_loss"], f"{where}.log_loss", least=0.0),
        calibration_error=number(
            given["calibration_error"], f"{where}.calibration_error", 0.0, 1.0
        ),
        roc_auc=_read_area(given["roc_auc"], f"{where}.roc_auc"),
        baselines=tuple(baselines),
    )


def _read_baseline(value: object, where: str) -> BaselineScores:
    given = fields(value, where, list(BaselineScores.__dataclass_fields__))
    return BaselineScores(
        name=text(given["name"], f"{where}.name"),
        accuracy=number(given["accuracy"], f"{where}.accuracy", 0.0, 1.0),
        log_loss=number(given["log_loss"], f"{where}.log_loss", least=0.0),
        roc_auc=_read_area(given["roc_auc"], f"{where}.roc_auc"),
    )


def _read_area(value: object, where: str) -> float | None:
    return None if value is None else number(value, where, 0.0, 1.0)


def _read_seen(value: object, where: str, n_rows: int) -> SeenRows | None:
    if value is None:
        return None
    given = fields(value, where, list(SeenRows.__dataclass_fields__))
    digest = text(given["digest"], f"{where}.digest")
    if not _DIGEST.fullmatch(digest):
        raise ValueError(f"{where}.digest is {show(digest)}: it must be 32 hexadecimal digits.")
    hashes = _read_hashes(given["hashes"], f"{where}.hashes")
    rows = whole(given["rows"], f"{where}.rows", len(hashes), n_rows)
    if len(hashes) < SAMPLE and rows != n_rows:
        raise ValueError(f"{where}.rows is {rows}, but the model was fitted to {n_rows} rows.")
    return SeenRows(
        digest=digest,
        hashes=hashes,
        rows=rows,
        repeated=whole(given["repeated"], f"{where}.repeated", 0, rows),
    )


def _read_hashes(value: object, where: str) -> tuple[int, ...]:
    lines = [text(line, f"{where}[{i}]") for i, line in enumerate(items(value, where))]
    try:
        packed = base64.b64decode("".join(lines), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(f"{where} is not base64 text.") from None
    n, rest = divmod(len(packed), _HASH_BYTES)
    if rest or not 1 <= n <= SAMPLE:
        raise ValueError(f"{where} must have 1 to {SAMPLE:,} hashes of {_HASH_BYTES} bytes.")
    hashes = tuple(
        int.from_bytes(packed[i : i + _HASH_BYTES], "big")
        for i in range(0, len(packed), _HASH_BYTES)
    )
    if any(a >= b for a, b in pairwise(hashes)):
        raise ValueError(f"{where} must increase.")
    return hashes
