"""A fitted model in words: its tree, what is proved about it, and its columns."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from maptree.encoding.schema import Column
from maptree.map_classifier import MAPTreeClassifier

_STOPPED = {
    "time_limit": "the time limit ended it",
    "memory_limit": "the memory limit ended it",
    "expansion_limit": "the limit on expansions ended it",
    "interrupted": "Ctrl-C ended it",
}


def certificate_words(model: MAPTreeClassifier) -> str:
    """Say in plain words what is proved about a tree."""
    certificate, constraints = model.certificate_, _constraints(model)
    work = (
        f"{certificate.seconds:.1f} s, {certificate.expansions:,} expansions, "
        f"{certificate.peak_bytes / 1e6:.1f} MB."
    )
    if certificate.optimal:
        return (
            f"Proved: no tree over these tests {f'with {constraints} ' if constraints else ''}is "
            "more probable than this one.\n"
            f"Log posterior {certificate.log_posterior:.4f}. {work}"
        )
    lines = [
        f"Not proved to be the best tree: {_STOPPED[certificate.status]}.",
        f"Log posterior {certificate.log_posterior:.4f}; no tree has more than "
        f"{certificate.log_posterior_bound:.4f}, which leaves a gap of {certificate.gap:.4f} nats.",
    ]
    if math.isinf(certificate.proved_depth):
        lines.append("Proved: no tree of any depth is more probable.")
    elif certificate.proved_depth > 0:
        lines.append(
            f"Proved: no tree of depth {certificate.proved_depth:.0f} or less is more probable."
        )
    unread = sum(column.kind == "unread" for column in _schema(model))
    if unread:
        lines.append(
            f"There was no time to read {unread:,} of {model.n_features_in_:,} columns, so the "
            "tree cannot ask about them, and nothing is proved about trees that do."
        )
    if certificate.status == "time_limit":
        lines.append("A longer --time-limit may find a better tree, or prove this one.")
    return "\n".join([*lines, work])


def size_words(model: MAPTreeClassifier) -> str:
    """Say how large a tree is."""
    leaves = model.tree_.n_leaves
    if leaves == 1:
        return f"A single leaf: {_why_one_leaf(model)}."
    used = int((model.feature_importances_ > 0).sum())
    return (
        f"{leaves} leaves, depth {model.tree_.depth}; asks about {used} of "
        f"{model.n_features_in_} columns."
    )


def _why_one_leaf(model: MAPTreeClassifier) -> str:
    if not model.certificate_.optimal:
        return "the search ended before it found a better tree"
    constraints = _constraints(model)
    if constraints:
        return f"no tree is more probable with {constraints}"
    return "no test is worth a split"


def _constraints(model: MAPTreeClassifier) -> str:
    set_ = [f"--max-depth {model.max_depth}"] if model.max_depth is not None else []
    if model.min_samples_leaf > 1:
        set_.append(f"--min-samples-leaf {model.min_samples_leaf}")
    return " and ".join(set_)


def left_out(model: MAPTreeClassifier) -> list[tuple[str, str]]:
    """Return the columns that no tree can use, and why."""
    return [(column.name, _why(column)) for column in _schema(model) if not column.tests]


def _schema(model: MAPTreeClassifier) -> tuple[Column, ...]:
    return model.encoder_.schema_ if model.encoder_ is not None else ()


def _why(column: Column) -> str:
    if column.kind == "unread":
        return "no time to read it; raise --time-limit"
    if column.note:
        return column.note
    return "one value in all rows" if column.kind == "constant" else f"{column.kind}, no test"


def columns_document(model: MAPTreeClassifier) -> list[dict[str, Any]]:
    """Return the columns for ``--json``."""
    if model.encoder_ is None:
        names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])
        return [{"name": str(name), "kind": "boolean", "tests": 1, "note": ""} for name in names]
    return [
        {
            "name": column.name,
            "kind": column.kind,
            "tests": len(column.tests),
            "missing": column.has_missing,
            "note": column.note,
        }
        for column in model.encoder_.schema_
    ]


def model_document(model: MAPTreeClassifier) -> dict[str, Any]:
    """Return a model for ``--json``."""
    training = asdict(model.training_)
    importances = dict(
        zip((c["name"] for c in columns_document(model)), model.feature_importances_, strict=True)
    )
    return {
        "target": training["target"],
        "classes": model.classes_.tolist(),
        "training": training,
        "certificate": asdict(model.certificate_),
        "tree": {
            "leaves": model.tree_.n_leaves,
            "depth": model.tree_.depth,
            "rules": model.rules(),
        },
        "importances": {name: share for name, share in importances.items() if share > 0},
        "columns": columns_document(model),
    }
