"""Reading a fitted model from a file. Everything is checked, and nothing is executed."""

from __future__ import annotations

import errno
import math
import os
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.files.json_values import (
    boolean,
    fields,
    items,
    number,
    number_or_infinity,
    repeated,
    show,
    text,
    whole,
)
from maptree.files.strict_json import parse, read_bytes
from maptree.model_file import (
    CHAINS,
    FORMAT,
    LIMITS,
    PARAMETERS,
    PARTICLES,
    VERSION,
    VERSION_OF_CLASSES,
    WISHES,
    StoredModel,
)
from maptree.model_file.average import read_average
from maptree.model_file.foreign_files import refuse_table
from maptree.model_file.labels import read_labels
from maptree.model_file.outcome import MOST_SUM, read_outcome
from maptree.model_file.path_checks import refuse_impossible_paths
from maptree.model_file.training import read_training
from maptree.parameters.budget import Budget, Constraints
from maptree.parameters.columns import find_wishes, read_columns
from maptree.parameters.limits import MAX_TOTAL_WEIGHT, n_threads, time_limit
from maptree.parameters.numbers import whole_number
from maptree.parameters.outcomes import read_count_prior, read_likelihood, read_number_prior
from maptree.parameters.prior import MAX_RHO, MIN_RHO, Prior, read_alpha, read_beta, read_rho
from maptree.parameters.sampling import Lengths, read_particles
from maptree.parameters.split_prior import Odds, by_column, read_column_weights, read_split_prior
from maptree.schema.columns import Schema
from maptree.schema.kept_thresholds import NotKeptError
from maptree.schema.schema_json import read_encoder_parameters, read_schema
from maptree.schema.weights_of_tests import weights_of_levels
from maptree.trees.certificate import STATUSES, Certificate
from maptree.trees.fitted import SAMPLER_TRACE, TRACE, FittedTree
from maptree.trees.outcomes import Numbers
from maptree.trees.tree import Tree, TreeError

_FIELDS = (
    "format",
    "version",
    "training",
    "classes",
    "schema",
    "matrix",
    "tree",
    "rho",
    "certificate",
    "feature_importances",
    "parameters",
    "trace",
    "average",
)
_COUNT = 2**62  # all counts stay below this, here and in the core
_MOST_COLUMNS = 2**31 - 1
_MESSAGE = 200  # characters kept at each end of a message that is cut


class _NewerVersionError(ValueError):
    """The file is valid, but needs a newer version of maptree."""


def read_model(path: str | os.PathLike[str]) -> StoredModel:
    """Return what ``write_model`` wrote.

    Nothing in the file is executed, so a file from an unknown source is safe to load. An OSError
    says why a file cannot be read, a ValueError what is wrong in it and where.
    """
    if os.path.isdir(path):
        raise IsADirectoryError(
            errno.EISDIR, "This is a folder, not a model file: name a file in it", str(path)
        )
    try:
        return parse_model(parse(read_bytes(path)))
    except FileNotFoundError:
        raise FileNotFoundError(
            errno.ENOENT, "There is no such model file: check the name and the folder", str(path)
        ) from None
    except ValueError as error:
        refuse_table(path)
        message = str(error)
        if len(message) > 2 * _MESSAGE:
            message = f"{message[:_MESSAGE]} ... {message[-_MESSAGE:]}"
        if not isinstance(error, _NewerVersionError):
            message = f"{message} Restore it from a copy, or fit and save the model again."
        raise ValueError(f"{os.fspath(path)} cannot be used as a model file: {message}") from None


def parse_model(values: Any) -> StoredModel:
    """Return the model that JSON values describe; a ValueError says what is wrong."""
    _refuse_foreign(values)
    given = _read_fields(values)
    measured = given["outcome"] is not None
    classes = np.empty(0) if measured else read_labels(given["classes"], "classes")
    found_by = "measured" if measured else _found_by(given["average"])
    parameters, constraints = _read_parameters(
        given["parameters"], len(classes), given["version"], found_by
    )
    odds = read_column_weights(parameters["column_weights"])
    schema, column_weights = _read_schema(given["schema"], given["matrix"], odds)
    constraints = _with_wishes(constraints, parameters, schema, column_weights)
    twice = repeated(schema.names) if schema.named else None
    if twice is not None:
        raise ValueError(f"two columns are named {show(twice)}: names must be distinct.")
    prior = Prior(
        float(parameters["alpha"]),
        float(parameters["beta"]),
        _numbers(given["rho"], "rho", MIN_RHO, MAX_RHO, len(classes)),
        parameters["split_prior"],
        column_weights if odds else (),
    )
    weights_of_levels(schema.columns, prior.split_prior, column_weights)  # refuses missing levels
    tree = _read_tree(given["tree"], len(schema.tests), None if measured else len(classes))
    outcome = read_outcome(given["outcome"], tree)
    _refuse_tests_not_kept(tree, schema)
    _refuse_unwished_tests(tree, schema, constraints)
    refuse_impossible_paths(tree, schema)
    alone = given["average"] is None
    certificate, importances = given["certificate"], given["feature_importances"]
    fitted = FittedTree(
        tree=tree,
        schema=schema,
        classes=classes,
        prior=prior,
        training=read_training(given["training"], tree, given["version"]),
        trace=_read_trace(given["trace"], TRACE if alone else SAMPLER_TRACE),
        certificate=_read_certificate(certificate, isinstance(outcome, Numbers))
        if alone or certificate is not None
        else None,
        constraints=constraints,
        importances=_read_importances(importances, len(schema.columns))
        if alone or importances is not None
        else None,
        average=read_average(given["average"], schema, tree),
        measured=outcome,
    )
    _refuse_contradiction(fitted)
    return StoredModel(fitted, parameters)


def _read_fields(values: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the file, and those that its version has not."""
    if values["version"] > VERSION_OF_CLASSES:
        added: dict[str, Any] = {"classes": None, "rho": [], "average": None}
        given = fields(values, "the file", [*(n for n in _FIELDS if n not in added), "outcome"])
        if given["outcome"] is None:
            raise ValueError("outcome is null: it must say what the tree predicts.")
        return given | added
    added = {"outcome": None} | ({} if values["version"] > 6 else {"average": None})
    return fields(values, "the file", [name for name in _FIELDS if name not in added]) | added


def _found_by(average: object) -> str:
    if average is None:
        return "search"
    if not isinstance(average, dict):
        raise ValueError(f"average is {show(average)}: it must be null or have fields.")
    return "chains" if "samples" in average else "particles"


def _refuse_contradiction(fitted: FittedTree) -> None:
    """Refuse a certificate about a tree other than the most probable one of an average."""
    certificate, average = fitted.certificate, fitted.average
    if certificate is None or average is None:
        return
    if certificate.log_posterior != average.log_posterior:
        raise ValueError("certificate.log_posterior differs from average.log_posterior.")


def _refuse_foreign(values: Any) -> None:
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise ValueError(f'it is JSON, but not a model: it has no "format": "{FORMAT}".')
    version = whole(values.get("version"), "version", 1, _COUNT)
    if version > VERSION:
        raise _NewerVersionError(
            f"it has format version {version}, but this maptree reads versions up to {VERSION}. "
            "Install a newer one."
        )


def _read_parameters(
    value: object, n_classes: int, version: int, found_by: str
) -> tuple[dict[str, Any], Constraints]:
    """Return the parameters of an estimator; all are values that ``fit`` accepts."""
    added: dict[str, Any] = {}
    if version < 7:
        added |= {"max_leaf_nodes": None, "patience": None}
    if version < 6:  # and no samplers
        added |= dict.fromkeys(WISHES)
    if version < 3:
        added |= {"split_prior": "tests", "column_weights": None}
    names = [name for name in PARAMETERS[found_by] if name not in added]
    given = fields(value, "parameters", names) | added
    given["column_weights"] = _read_pairs(given["column_weights"], "parameters.column_weights")
    if isinstance(given["encoder"], dict):
        read_encoder_parameters(given["encoder"], "parameters.encoder")
    elif given["encoder"] not in ("auto", None):
        raise ValueError(
            f'parameters.encoder is {show(given["encoder"])}: it must be "auto", null or the '
            "parameters of an encoder."
        )
    if given["random_state"] is not None:
        whole(given["random_state"], "parameters.random_state", 0, 2**32 - 1)
    if given.get("initial_tree") not in (None, "search"):
        raise ValueError(
            f'parameters.initial_tree is {show(given["initial_tree"])}: it must be "search" or '
            "null."
        )
    constraints = Constraints()
    try:
        read_alpha(given["alpha"])
        read_beta(given["beta"])
        if found_by == "measured":
            read_likelihood(given["likelihood"])
            read_number_prior(given["kappa"], given["nu"], given["noise"])
            read_count_prior(given["shape"])
        else:
            read_rho(given["rho"], n_classes)
        read_split_prior(given["split_prior"])
        read_column_weights(given["column_weights"])
        for name in WISHES:
            read_columns(name, given.get(name))
        if not isinstance(given["verbose"], bool):
            whole_number("verbose", given["verbose"], least=0)
        if found_by in ("search", "measured"):
            limits = {name: given[name] for name in ("time_limit", *LIMITS, "n_jobs")}
            constraints = Budget.read(**limits).constraints
        else:
            time_limit(given["time_limit"])
            n_threads(given["n_jobs"])
        if found_by == "chains":
            Lengths.read(**{name: given[name] for name in CHAINS})
        if found_by == "particles":
            read_particles(**{name: given[name] for name in PARTICLES})
    except TypeError as error:
        raise ValueError(f"parameters: {error}") from None
    return given, constraints


def _read_pairs(value: object, where: str) -> dict[Any, Any] | None:
    """Return the dict that was written as pairs; null is None."""
    if value is None:
        return None
    pairs = [items(pair, f"{where}[{i}]", 2) for i, pair in enumerate(items(value, where))]
    keys = [key for key, _ in pairs]
    for i, key in enumerate(keys):
        if isinstance(key, bool) or not isinstance(key, (str, int)):
            raise ValueError(f"{where}[{i}][0] is {show(key)}: it must be text or a whole number.")
    if len(set(keys)) < len(keys):
        raise ValueError(f"{where} has a column twice.")
    return dict(pairs)


def _read_schema(schema: object, matrix: object, odds: Odds) -> tuple[Schema, tuple[float, ...]]:
    """Return the columns, with the encoder that chose their tests, and the columns' weights."""
    if (schema is None) == (matrix is None):
        raise ValueError("schema and matrix: exactly one of them must be null.")
    if schema is None:
        found = _read_matrix(matrix)
    else:
        try:
            found = read_schema(schema)
        except ValueError as error:
            raise ValueError(f"schema: {error}") from None
    weights = (1.0,) * len(found.columns)
    if odds:
        try:
            weights = by_column(odds, found.names)
        except ValueError as error:
            raise ValueError(f"parameters: {error}") from None
    unused = {j for j, weight in enumerate(weights) if weight == 0}
    if schema is None:
        if not unused:
            return found, weights
        names = found.names if found.named else None
        return Schema.of_matrix(len(found.columns), names, unused), weights
    for j, column in enumerate(found.columns):
        if (column.kind == "unused") != (j in unused):
            raise ValueError(
                f"schema: columns[{j}] is of kind {column.kind!r}, but its weight is {weights[j]:g}"
                " in parameters.column_weights: columns of weight 0 are unused, and no others."
            )
    return found, weights


def _with_wishes(
    constraints: Constraints,
    parameters: dict[str, Any],
    schema: Schema,
    column_weights: tuple[float, ...],
) -> Constraints:
    """Return the constraints with those on columns."""
    first, without = (read_columns(name, parameters.get(name)) for name in WISHES)
    if not first and not without:
        return constraints
    unused = {j for j, weight in enumerate(column_weights) if weight == 0}
    try:
        come_first, left_out = find_wishes(first, without, schema.names, unused)
    except ValueError as error:
        raise ValueError(f"parameters: {error}") from None
    return replace(constraints, first_columns=come_first, without_columns=left_out)


def _refuse_unwished_tests(tree: Tree, schema: Schema, constraints: Constraints) -> None:
    for node, test in enumerate(tree.feature.tolist()):
        if test < 0:
            continue
        j = schema.column_of_test[test]
        first, without = constraints.first_columns, constraints.without_columns
        if j in without or (node == 0 and first and j not in first):
            wish = "without_columns" if j in without else "first_columns"
            raise ValueError(
                f"tree.feature[{node}] is {test}, a test of column {j}, which "
                f"parameters.{wish} does not allow there."
            )


def _read_matrix(value: object) -> Schema:
    """Read the entry that replaces the schema for a 0/1 matrix without an encoder."""
    given = fields(value, "matrix", ("columns", "names"))
    n_columns = whole(given["columns"], "matrix.columns", 1, _MOST_COLUMNS)
    if given["names"] is None:
        return Schema.of_matrix(n_columns)
    names = items(given["names"], "matrix.names", n_columns)
    return Schema.of_matrix(
        n_columns, [text(name, f"matrix.names[{j}]") for j, name in enumerate(names)]
    )


def _read_tree(value: object, n_tests: int, n_classes: int | None) -> Tree:
    """Return a tree of classes, or of numbers or counts if their number is None."""
    held = ("rows", "sums") if n_classes is None else ("counts",)
    given = fields(value, "tree", ("feature", "left", "right", *held))
    n = len(items(given["feature"], "tree.feature"))

    def nodes(name: str, most: int) -> NDArray[np.int32]:
        entries = items(given[name], f"tree.{name}", n)
        checked = [whole(v, f"tree.{name}[{i}]", -1, most) for i, v in enumerate(entries)]
        return np.array(checked, dtype=np.int32)

    def table(name: str, width: int, least: int, most: int) -> NDArray[np.int64]:
        checked = [
            [
                whole(entry, f"tree.{name}[{i}][{k}]", least, most)
                for k, entry in enumerate(items(row, f"tree.{name}[{i}]", width))
            ]
            for i, row in enumerate(items(given[name], f"tree.{name}", n))
        ]
        return np.array(checked, dtype=np.int64).reshape(n, width)

    sums = None
    if n_classes is None:
        rows = enumerate(items(given["rows"], "tree.rows", n))
        listed = [whole(v, f"tree.rows[{i}]", 1, MAX_TOTAL_WEIGHT) for i, v in rows]
        counts = np.array(listed, dtype=np.int64).reshape(n, 1)
        sums = table("sums", 2, -MOST_SUM, MOST_SUM)
    else:
        counts = table("counts", n_classes, 0, MAX_TOTAL_WEIGHT)
    try:
        tree = Tree(
            nodes("feature", n_tests - 1), nodes("left", n - 1), nodes("right", n - 1), counts, sums
        )
    except TreeError as error:
        raise ValueError(f"tree: {error}") from None
    _refuse_wrong_sums(tree, tree.counts, held[0])
    if sums is not None:
        _refuse_wrong_sums(tree, tree.sums, "sums")
    if not tree.counts[0].all() or tree.counts[0].sum() > MAX_TOTAL_WEIGHT:
        raise ValueError(f"tree.{held[0]}[0] has a class without rows, or too many rows.")
    return tree


def _refuse_tests_not_kept(tree: Tree, schema: Schema) -> None:
    for node, test in enumerate(tree.feature.tolist()):
        try:
            if test >= 0:
                schema.tests[test]
        except NotKeptError:
            j = schema.column_of_test[test]
            raise ValueError(
                f"tree.feature[{node}] is {test}, threshold {test - schema.first_tests[j]} of "
                f"schema.columns[{j}], which is not among its kept.positions."
            ) from None


def _refuse_wrong_sums(tree: Tree, of_nodes: NDArray[np.int64], name: str) -> None:
    inner = np.flatnonzero(tree.feature >= 0)
    below = of_nodes[tree.left[inner]] + of_nodes[tree.right[inner]]
    wrong = inner[(of_nodes[inner] != below).any(axis=1)]
    if len(wrong):
        raise ValueError(
            f"tree.{name}[{wrong[0]}] is not the sum of the {name} of its two children."
        )


def _read_certificate(value: object, density: bool) -> Certificate:
    """Return the certificate; the bound on a density may be infinite, on a probability it is 0."""
    where = "certificate"
    given = fields(value, where, list(Certificate.__dataclass_fields__))
    status = text(given["status"], f"{where}.status")
    if status not in STATUSES:
        raise ValueError(f"{where}.status is {show(status)}: it must be {' or '.join(STATUSES)}.")
    unbounded = density and given["log_posterior_bound"] == given["gap"] == "inf"
    certificate = Certificate(
        status=status,
        optimal=boolean(given["optimal"], f"{where}.optimal"),
        log_posterior=number(given["log_posterior"], f"{where}.log_posterior"),
        log_posterior_bound=math.inf
        if unbounded
        else number(given["log_posterior_bound"], f"{where}.log_posterior_bound"),
        gap=math.inf if unbounded else number(given["gap"], f"{where}.gap", least=0),
        proved_depth=math.inf
        if given["proved_depth"] == "inf"
        else whole(given["proved_depth"], f"{where}.proved_depth", 0, _COUNT),
        expansions=whole(given["expansions"], f"{where}.expansions", 0, _COUNT),
        subproblems=whole(given["subproblems"], f"{where}.subproblems", 0, _COUNT),
        seconds=number(given["seconds"], f"{where}.seconds", least=0),
        peak_bytes=whole(given["peak_bytes"], f"{where}.peak_bytes", 0, _COUNT),
    )
    if certificate.optimal != (status == "optimal"):
        raise ValueError(f"{where}.optimal contradicts {where}.status.")
    if certificate.optimal and (certificate.gap > 0 or not math.isinf(certificate.proved_depth)):
        raise ValueError(f'{where}: an optimal tree must have gap 0 and proved_depth "inf".')
    difference = certificate.log_posterior_bound - certificate.log_posterior
    if not math.isclose(certificate.gap, difference, rel_tol=1e-9, abs_tol=1e-6):
        raise ValueError(f"{where}.gap is not log_posterior_bound - log_posterior.")
    return certificate


def _read_importances(value: object, n_columns: int) -> NDArray[np.float64]:
    shares = _numbers(value, "feature_importances", 0.0, 1.0, n_columns)
    if shares.any() and not math.isclose(shares.sum(), 1.0, abs_tol=1e-6):
        raise ValueError("feature_importances do not sum to 1.")
    return shares


def _read_trace(value: object, dtype: np.dtype[Any]) -> NDArray[Any]:
    assert dtype.names is not None
    given = fields(value, "trace", dtype.names)
    trace = np.empty(len(items(given["seconds"], "trace.seconds")), dtype=dtype)
    for name in dtype.names:
        entries = items(given[name], f"trace.{name}", len(trace))
        for i, entry in enumerate(entries):
            where = f"trace.{name}[{i}]"
            trace[name][i] = (
                whole(entry, where, 0, _COUNT)
                if name in ("expansions", "steps")
                else number_or_infinity(entry, where)
            )
    return trace


def _numbers(
    value: object, where: str, least: float, most: float, length: int
) -> NDArray[np.float64]:
    entries = items(value, where, length)
    checked = [number(entry, f"{where}[{i}]", least, most) for i, entry in enumerate(entries)]
    return np.array(checked, dtype=np.float64)
